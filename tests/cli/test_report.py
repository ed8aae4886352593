"""prof report: the hottest functions and the calls that lead to them."""

import gzip
import json
import os
import re
import subprocess

import pytest

from conftest import SOURCE
from profiles import Stacks, profile_message
from terminal import Terminal

GO_HEAP = SOURCE / "tests" / "golden" / "go_heap.pb.gz"
SHOP = """\
shop;_start;main;serve;parse;lex 30
shop;_start;main;serve;parse;parse;lex 10
shop;_start;main;serve;parse 5
shop;_start;main;serve;reply;write 40
shop;_start;main;idle 140
shop;_start;main;seldom 1
other;_start;main;idle 4
"""
SHOWN = """\
in.folded
samples: 230

   self   total            function
 62.6 %  62.6 % ██████████ idle
 17.4 %  17.4 % ██▊        lex
 17.4 %  17.4 % ██▊        write
  2.2 %  19.6 % ▍          parse
  0.4 %                    and 1 more function

  total    self  calls
100.0 %          _start → main
 62.6 %  62.6 %  ├ idle
 37.0 %          └ serve
 19.6 %   2.2 %    ├ parse [r]
 17.4 %  17.4 %    │ └ lex
 17.4 %  17.4 %    └ reply → write
below 1 % omitted (--min); [r] recursive
"""


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    """The environment of the tests must not affect the output."""
    for name in ("COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PAGER", "LESS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def folded(prof):
    """folded(text) is a file of these stacks."""

    def make(text, name="in.folded"):
        data = text if isinstance(text, bytes) else text.encode()
        (prof.folder / name).write_bytes(data)
        return name

    return make


@pytest.fixture
def report(prof, folded):
    """report(words) is the report on the shop."""

    def run(*words, text=SHOP, env=None):
        result = prof.run("report", folded(text), *words, env={**os.environ, **(env or {})})
        return result.stdout

    return run


@pytest.fixture
def read(report):
    return lambda *words, **options: json.loads(report(*words, "--json", **options))


def rows(shown):
    """(self, total, name) of the lines of a table."""
    return [(float(own), float(total), name) for own, total, name
            in re.findall(r"^ *([0-9.]+) % +([0-9.]+) % [ █▏▎▍▌▋▊▉]{6,10} (\S+)", shown, re.MULTILINE)]


def names(answer):
    return [row["name"] for row in answer["rows"]]


def test_the_call_tree_opens_the_hot_path(prof, folded):
    folded("main;hot;inner;leaf 60\nmain;hot;near 2\nmain;cold;far 3\nmain;cold;large 35\n")

    def functions(*options):
        tree = prof("report", "in.folded", *options).stdout.partition("calls")[2]
        return {name for name in ("hot", "leaf", "near", "cold", "large", "far") if re.search(rf"\b{name}\b(?! path)", tree)}

    assert functions() == {"hot", "leaf", "near", "cold", "large"}
    assert prof("report", "in.folded").stdout.endswith("below 1 % omitted; below 5 % off the hot path (--min)\n")
    for options in ["--min", "1"], ["--json"]:
        assert functions(*options) == {*functions(), "far"}


def test_the_hottest_functions_and_the_tree_of_their_calls_are_shown(report):
    assert report() == SHOWN


def test_the_same_profile_always_gives_the_same_text(report):
    assert report(env={"TERM": "xterm", "LANG": "C"}) == report(env={"LANG": "de_DE.UTF-8"})


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_no_line_is_wider_than_the_limit(report, columns):
    deep = "app;" + ";".join(f"namespace::Class<int>::function_number_{i}(char const*)" for i in range(60)) + " 3\n"
    long = f"app;{'x' * 65536};{'<' * 65536} 50\n"
    shown = report(text=SHOP + deep + long, env={"COLUMNS": str(columns)})
    assert max(map(len, shown.splitlines())) <= columns
    assert "function_number_59" in shown


def test_every_function_has_a_line_when_nothing_is_folded(report):
    shown = report("--no-fold")
    assert re.search(r"^100.0 % +_start\n100.0 % +└ main\n", shown, re.MULTILINE), shown


def test_small_shares_are_omitted_unless_requested(report):
    assert "seldom" not in report()
    assert "seldom" in report("--min", "0.1")
    assert "serve" not in report("--percent-limit", "40%")


def test_the_number_and_order_of_rows_can_be_chosen(report):
    assert [name for *_, name in rows(report("-n", "2"))] == ["idle", "lex"]
    assert [name for *_, name in rows(report("--sort", "total", "--limit", 2))] == ["_start", "main"]
    assert [name for *_, name in rows(report("-s", "name"))] == ["_start", "idle", "lex", "main", "parse", "reply",
                                                                "serve", "write"]


def test_callers_have_their_share_of_the_function(report):
    shown = report("--callers", "lex")
    assert re.search(r"^ 17.4 % 100.0 %  lex ← parse \[r\] ← serve ← main ← _start$", shown, re.MULTILINE), shown


def test_callees_are_shown_below_the_outermost_call_of_the_function(report):
    shown = report("--callees", "parse")
    assert re.search(r"^ 19.6 % +2.2 %  parse \[r\]\n 17.4 % +17.4 %  └ lex$", shown, re.MULTILINE), shown


def test_a_part_of_a_name_selects_all_functions_that_contain_it(report):
    shown = report("--callers", "^[il]")
    assert {name for *_, name in rows(shown)} == {"idle", "lex"}


def test_focus_and_ignore_select_samples(report):
    assert rows(report("--focus", "serve")) == [(47.1, 47.1, "lex"), (47.1, 47.1, "write"), (5.9, 52.9, "parse")]
    assert "selected: 85 samples, 37.0 % of all" in report("--focus", "serve")
    assert [name for *_, name in rows(report("--ignore", "idle|lex"))] == ["write", "parse", "seldom"]
    assert "no samples" in report("--focus", "nothing has this name")


def test_processes_can_be_listed_and_selected(report):
    assert rows(report("--by", "process")) == [(98.3, 98.3, "shop"), (1.7, 1.7, "other")]
    assert rows(report("--comm", "other")) == [(100.0, 100.0, "idle")]


def test_common_options_of_perf_report_are_accepted(report):
    assert report("--stdio", "--no-children", "-g", "caller", "-s", "comm,dso,sym", "-f") == report()
    assert report("--children", "-g", "none") == report("--sort", "total", "--no-tree")
    assert re.search(r"^ 62.6 % +62.6 % +144 ", report("-n", "--stdio"), re.MULTILINE)
    assert rows(report("-s", "comm")) == rows(report("--by", "process"))


def test_of_several_events_one_is_shown_and_all_are_listed(prof):
    first, other = prof("report", GO_HEAP).stdout, prof("report", GO_HEAP, "-e", "alloc_space").stdout
    for text in first, other:
        assert "alloc_space: 71 MB in 65,604 objects" in text and "inuse_space: 68 MB in 64 objects" in text
    assert "> inuse_space: 68 MB" in first and "> alloc_space: 71 MB" in other
    wrong = prof("report", GO_HEAP, "-e", "cycles")
    assert wrong.returncode == 1 and "inuse_space, alloc_objects" in wrong.stderr


def test_json_has_the_figures_of_the_text_report(read):
    answer = read()
    assert answer["schema"] == "prof-report/1"
    assert (answer["file"], answer["event"], answer["by"]) == ("in.folded", "samples", "function")
    assert answer["all"] == {"samples": 230, "weight": 230}
    idle = next(row for row in answer["rows"] if row["name"] == "idle")
    assert idle["self"] == idle["total"] == {"samples": 144, "weight": 144}
    assert idle["kind"] == "user" and "file" not in idle
    assert names(answer) == ["idle", "lex", "write", "parse", "_start", "main", "serve", "reply"]
    assert names(read("-n", 1)) == ["idle"]


def test_the_tree_can_be_rebuilt_from_json(read):
    nodes = read("--min", 0)["calls"]
    paths = []
    for node in nodes:
        path = (*(paths[node["parent"]] if node["parent"] is not None else ()), node["name"])
        assert node["depth"] == len(path) - 1
        paths.append(path)
    assert ("_start", "main", "serve", "parse", "lex") in paths
    parse = nodes[paths.index(("_start", "main", "serve", "parse"))]
    assert parse["is_recursive"] and parse["self"]["samples"] == 5 and parse["total"]["samples"] == 45
    assert sum(node["self"]["samples"] for node in nodes) == 230


def test_json_has_the_callers(read):
    answer = read("--callers", "parse")
    assert [node["name"] for node in answer["callers"]] == ["parse", "serve", "main", "_start"]
    assert names(answer) == ["parse"]
    assert "calls" not in answer


def test_a_report_has_the_counts_of_the_recording_and_modules_are_selected_by_name_or_pattern(prof, target):
    recording = prof.record("-F", "499", target("shares"), "0.3")

    def read(*words):
        return json.loads(prof("report", "record.pb.gz", "--json", "--min", 0, "-n", 1000, *words).stdout)

    answer, total = read(), recording.stacks.total
    assert answer["all"]["samples"] == total
    for row in answer["rows"]:
        if row["kind"] == "user" and row["name"] in ("half", "third"):
            assert row["total"]["samples"] == recording.stacks.holding(row["name"])
    quality = answer["quality"]
    assert quality["text"].startswith(f"{total:,} samples, ")
    assert quality["samples"] == total
    assert f"{quality['lost']:,} lost" in quality["text"] and f"{quality['unnamed']:,} with" in quality["text"]
    assert f"{total:,} samples" in prof("report", "record.pb.gz").stdout

    def modules(*words):
        return {row["name"]: row["self"]["samples"] for row in read("--by", "module", *words)["rows"]}

    program = str(target("shares"))
    of_program = modules()[program]
    assert read("--module", "shares")["all"]["samples"] == of_program > 0
    for words in ["--dso", "sh?res"], ["-d", program], ["--module", f"[kernel],/nowhere*,{program}", "--ignore", "^no such$"]:
        assert modules(*words)[program] == of_program
    assert read("--module", "*")["all"]["samples"] == total
    assert read("--module", "share,nothing")["all"]["samples"] == 0


def stackless_files(folder):
    """Files in which some samples have no frames, and the number of those."""
    message = profile_message()(string_table=["", "samples", "count", "main"])
    message.sample_type.add(type=1, unit=2)
    message.function.add(id=1, name=3)
    message.location.add(id=1).line.add(function_id=1)
    message.sample.add(location_id=[1], value=[3])
    message.sample.add(value=[4])
    files = {"a.pb.gz": (gzip.compress(message.SerializeToString()), 4),
             "a.folded": (b"shop;_start;main 3\nshop 2\n; 5\n 5\n", 12),
             "perf.txt": (b"shop 1 1.0: 1 e: \n\nshop 1 1.5: 1 e: \n\t1 main (/shop)\n\n", 1),
             "a.heap": (b"heap_v2/1\n  t*: 2: 96 [0: 0]\n@\n  t*: 1: 32 [0: 0]\n@ 0x1234\n  t*: 1: 64 [0: 0]\n", 1)}
    for name, (data, count) in files.items():
        (folder / name).write_bytes(data)
        yield name, count


@pytest.mark.parametrize("by", ["function", "file", "line", "module", "process", "thread"])
def test_rows_add_up_to_the_header_where_samples_have_no_frames(prof, by):
    for name, count in stackless_files(prof.folder):
        answer = json.loads(prof.run("report", name, "--json", "--by", by).stdout)
        assert sum(row["self"]["samples"] for row in answer["rows"]) == answer["all"]["samples"], name
        assert sum(call["total"]["samples"] for call in answer["calls"] if not call["depth"]) == answer["all"]["samples"], name
        if by == "function":
            assert [row["self"]["samples"] for row in answer["rows"] if row["name"] == "[unnamed]"] == [count], name
        folded = prof.run("convert", "-q", name, "--format", "folded", "-o", "-").stdout.splitlines()
        assert sum(int(line.split()[-1]) for line in folded if "[unnamed]" in line) == count, name


def test_a_sample_without_a_stack_is_in_no_module(prof):
    message = profile_message().FromString(gzip.decompress((SOURCE / "tests/golden/go_cpu.pb.gz").read_bytes()))
    message.sample.add(value=[1000] * len(message.sample_type))
    (prof.folder / "stackless.pb.gz").write_bytes(gzip.compress(message.SerializeToString()))

    def samples(*words):
        return json.loads(prof("report", "stackless.pb.gz", "--json", *words).stdout)["all"]["samples"]

    everything = samples()
    assert everything > 1000
    assert samples("--module", "*") == everything - 1000
    assert samples("--module", "/nowhere") == 0


def test_a_recording_of_perf_is_reported(prof, target, client):
    subprocess.run([client("perf"), "record", "-q", "-B", "-F", "499", "-g", "-o", prof.folder / "perf.data",
                    target("shares"), "0.3"], check=True, capture_output=True)
    by_name = prof("report")  # perf.data is there
    assert by_name.returncode == 0, by_name.stderr
    assert "third" in by_name.stdout
    assert prof("convert", "perf.data", "-o", "perf.folded").returncode == 0
    answer = json.loads(prof("report", "-i", "perf.data", "--json").stdout)
    assert answer["all"]["samples"] == Stacks.read(prof.folder / "perf.folded").total


def test_without_a_file_the_default_file_is_read(prof, folded):
    missing = prof("report")
    assert missing.returncode == 2
    assert "prof record COMMAND" in missing.stderr
    folded(SHOP, "prof.pb.gz")  # recognized by its contents
    assert prof("report").stdout.splitlines()[1:] == SHOWN.splitlines()[1:]


@pytest.mark.parametrize("words, why", [
    (["--callers", "nobody"], 'no function is called "nobody"'),
    (["--focus", "("], "not a regular expression"),
    (["nowhere.pb.gz"], "more than one file"),
    (["--by", "colour"], 'unknown table "colour" (function, module'),
    (["--sort", "colour"], 'unknown sort key "colour" (self, total, name)'),
    (["--min", "much"], "not a number"),
    (["-e", "cycles"], 'has no event "cycles"'),
])
def test_invalid_arguments_are_errors_that_say_why(prof, folded, words, why):
    result = prof("report", folded(SHOP), *words)
    assert result.returncode in (1, 2)
    assert why in result.stderr and not result.stdout


GO_CPU = SOURCE / "tests" / "golden" / "go_cpu.pb.gz"


def test_samples_are_selected_by_their_labels(prof):
    def functions(*arguments):
        result = prof.run("report", GO_CPU, "--json", *arguments)
        return json.loads(result.stdout)["all"]["samples"]

    assert functions() == 18
    assert functions("--label", "request") == functions("--label", "request=check*") == 7
    assert functions("--label", "request", "--label", "request=other") == 0


def test_rows_may_be_the_values_of_a_label(prof):
    shown = json.loads(prof("report", GO_CPU, "--json", "--by", "label:request").stdout)
    assert (shown["by"], shown["label"]) == ("label", "request")
    assert [(row["name"], row["self"]["samples"]) for row in shown["rows"]] == [("(none)", 11), ("checkout", 7)]
    text = prof("report", GO_CPU, "--by", "label:request", "--no-tree").stdout
    assert "request" in text and "checkout" in text and "(none)" in text


@pytest.mark.parametrize("arguments", [("--label", "tenant=a"), ("--by", "label:tenant")])
def test_an_unknown_label_is_an_error_that_lists_the_known_ones(prof, arguments):
    result = prof("report", GO_CPU, *arguments)
    assert result.returncode == 1
    assert 'no sample has a label "tenant"' in result.stderr and "the labels are: request" in result.stderr


class Shown:
    def __init__(self, prof, *words, columns=80, rows=24, **environment):
        self.terminal = Terminal([str(prof.binary), "report", *words], prof.folder, columns, rows,
                                 {"TERM": "xterm", **environment})

    def read(self):
        assert self.terminal.end() == 0, self.terminal.text
        return self.terminal.text.replace("\r\n", "\n")


COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def test_a_terminal_gets_colours_and_its_own_width(prof, folded):
    folded(SHOP)
    shown = Shown(prof, "in.folded", PAGER="cat").read()
    assert COLOUR.search(shown)
    plain = COLOUR.sub("", shown)
    assert "\x1b" not in plain
    assert "█" in plain and max(map(len, plain.splitlines())) <= 80


@pytest.mark.parametrize("environment, words", [
    ({"NO_COLOR": "1"}, []), ({"CLICOLOR": "0"}, []), ({}, ["--color", "never"]), ({"TERM": "dumb"}, [])])
def test_colours_can_be_switched_off(prof, folded, environment, words):
    folded(SHOP)
    assert "\x1b" not in Shown(prof, "in.folded", *words, PAGER="cat", **environment).read()


def test_colours_can_be_forced(report):
    assert COLOUR.search(report(env={"CLICOLOR_FORCE": "1"}))
    assert COLOUR.search(report("--color", "always"))
    assert not COLOUR.search(report())


def test_the_users_pager_shows_the_report(prof, folded):
    folded(SHOP)
    shown = Shown(prof, "in.folded", PAGER="sed s/idle/paged/").read()
    assert "paged" in shown and "idle" not in shown
    assert "idle" in Shown(prof, "in.folded", "--no-pager", PAGER="sed s/idle/paged/").read()


def test_without_a_pager_the_report_is_printed(prof, folded):
    folded(SHOP)
    assert "idle" in Shown(prof, "in.folded", PAGER="exec /no/such/pager 2>&-").read()


def test_less_exits_immediately_if_the_report_fits_on_the_screen(prof, folded, client):
    client("less")
    folded(SHOP)
    assert "idle" in Shown(prof, "in.folded", rows=40).read()
    long = Shown(prof, "in.folded", rows=8)
    long.terminal.read_until("samples: 230")
    os.write(long.terminal.fd, b"q")
    long.read()


def test_waiting_is_summed_up_and_listed_by_the_functions_that_wait_with_their_reasons(prof, target):
    result = prof.run("record", "--wall", "-o", "run.pb.gz", "--", target("waits"), "1")
    sentence = r"[\d.]+ thread-seconds: [\d.]+ on CPU, [\d.]+ runnable, [\d.]+ waiting"
    report = prof("report", "run.pb.gz")
    assert re.search(sentence, report.stdout), report.stdout
    assert re.search(sentence, result.stderr), result.stderr
    sums = json.loads(prof("report", "--json", "run.pb.gz").stdout)["waiting"]
    assert re.fullmatch(sentence, sums["text"])
    assert sums["thread_ns"] == sums["running_ns"] + sums["wanted_ns"] + sums["waiting_ns"]
    file = json.loads(prof("report", "--json", "--min", "0", "-e", "off-cpu", "run.pb.gz").stdout)
    rows = {row["name"]: row for row in file["rows"]}
    for function, reason in (("reads_pipe", "[read pipe]"), ("polls_pipe", "[poll]"),
                             ("wants_lock", "[mutex held by holds_lock in sleep_at_random]")):
        assert rows[function]["reason"] == reason, rows[function]
        assert rows[function]["self"]["weight"] > 0.9 * rows[function]["total"]["weight"], rows[function]
    assert sum(row["self"]["weight"] for row in file["rows"]) == file["all"]["weight"]
    table = prof("report", "-e", "off-cpu", "--idle", "run.pb.gz", "--no-tree").stdout
    assert re.search(r"self +total +function +waits in\n", table), table
    assert re.search(r"reads_pipe +\[read pipe\]", table), table


def test_idle_time_is_hidden_and_its_sum_shown(prof, target):
    prof.run("record", "--wall", "-o", "run.pb.gz", "--", target("waits"), "1")
    hidden, shown = (prof("report", "-e", "off-cpu", *options, "run.pb.gz", "--no-tree").stdout for options in ([], ["--idle"]))

    assert re.search(r"^idle: [\d.]+ .?s of waiting for work hidden; --idle shows it$", hidden, re.M), hidden
    assert "polls_pipe" not in hidden and "reads_pipe" in hidden
    assert "polls_pipe" in shown and "idle:" not in shown
    for options in ["--json"], ["--focus", "."]:
        assert "polls_pipe" in prof("report", "-e", "off-cpu", *options, "run.pb.gz", "--no-tree").stdout
