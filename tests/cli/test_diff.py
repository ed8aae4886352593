"""prof diff: which functions became slower, and whether the change is significant."""

import html
import json
import os
import re
import subprocess

import pytest

from profiles import profile_message

QUIET = {"_start": 10, "_start;main": 90, "_start;main;lex": 1900, "_start;main;parse": 2000, "_start;main;emit": 1000}


RECORDINGS = 5


def write(folder, name, stacks):
    """Writes folded stacks of a process `app`."""
    path = folder / name
    path.write_text("".join(f"app;{stack} {count}\n" for stack, count in sorted(stacks.items())))
    return path


def side(folder, name, stacks, recordings=RECORDINGS):
    """Writes several recordings, whose functions differ by one or two permille."""
    return [write(folder, f"{name}.{number}.folded", {stack: count + count * (number % 3 - 1) // 1000 for stack, count in stacks.items()})
            for number in range(recordings)]


def sides(old, new):
    """The arguments that compare lists of files."""
    return *old, "--", *new


@pytest.fixture
def old(tmp_path):
    return write(tmp_path, "old.folded", QUIET)


@pytest.fixture
def olds(tmp_path):
    return side(tmp_path, "old", QUIET)


@pytest.fixture
def same(tmp_path):
    """Another run of the same program."""
    return write(tmp_path, "same.folded", {**QUIET, "_start;main;lex": 1921, "_start;main;parse": 1985})


@pytest.fixture
def slow(tmp_path):
    """parse() takes 1.5 times as long: 1,000 of 5,000 samples more."""
    return write(tmp_path, "slow.folded", {**QUIET, "_start;main;parse": 3000})


@pytest.fixture
def sames(tmp_path):
    return side(tmp_path, "same", {**QUIET, "_start;main;lex": 1921, "_start;main;parse": 1985})


@pytest.fixture
def slows(tmp_path):
    return side(tmp_path, "slow", {**QUIET, "_start;main;parse": 3000})


@pytest.fixture
def diff(prof):
    """diff(...) returns the output of a comparison, which must succeed; with as_json, as parsed JSON."""

    def run(*arguments, as_json=False, status=0):
        result = prof("diff", *arguments, *["--json"] * as_json)
        assert result.returncode == status, result.stderr
        return json.loads(result.stdout) if as_json else result.stdout

    return run


def function(comparison, name):
    found, = [row for row in comparison["functions"] if row["name"] == name]
    return found


def test_the_function_that_takes_longer_is_named(diff, olds, slows):
    text = diff("--normalize", "samples", *sides(olds, slows))
    assert re.search(r"^more: \+20\.0 % ± \d\.\d % samples$", text, re.MULTILINE)
    assert re.search(r"▲ +\+20\.0 ±[\d.]+ +40\.0 +60\.0 .* parse$", text, re.MULTILINE)
    assert "parse +20.0 points" in text
    assert re.search(r"▲ +\+20\.0 .* _start › main › parse$", text, re.MULTILINE)
    comparison = diff("--normalize", "samples", *sides(olds, slows), as_json=True)
    assert ["_start", "main", "parse"] in [entry["stack"] for entry in comparison["stacks"]]


@pytest.fixture
def tenants(tmp_path):
    """Two recordings of two processes. In the second one, a uses twice as much."""

    def record(name, a, b):
        for number in range(RECORDINGS):
            path = tmp_path / f"{name}.{number}.folded"
            path.write_text(f"a;_start;main;parse {a + number}\nb;_start;main;parse {b - number}\nb;_start;main {b}\n")
            yield path

    return sides(record("before", 1000, 2000), record("after", 2000, 2000))


def test_the_values_of_a_label_are_compared(diff, tenants):
    shown = diff("--by", "label:comm", "--normalize", "samples", *tenants)
    assert re.search(r"total change.* comm$", shown, re.MULTILINE)
    assert re.search(r"▲ +\+20\.0 .* a$", shown, re.MULTILINE)
    assert "where it is called" not in shown
    told = diff("--by", "label:comm", "--normalize", "samples", *tenants, as_json=True)
    assert told["label"] == "comm" and "functions" not in told and "stacks" not in told
    assert [(row["name"], row["self"]["significant"]) for row in told["values"]] == [("a", True), ("b", False)]


def test_only_samples_of_a_label_are_compared(diff, tenants):
    told = diff("--label", "comm=b", "--normalize", "samples", *tenants, as_json=True)
    assert told["verdict"] == "no significant change"
    assert told["old"]["samples"] == told["new"]["samples"] == RECORDINGS * 4000 - 10


def test_two_values_of_a_label_are_compared_also_of_one_file(diff, tenants):
    told = diff("--old-label", "comm=a", "--new-label", "comm=b", "--normalize", "samples", *sides(tenants[:RECORDINGS], tenants[:RECORDINGS]), as_json=True)
    both = {name: diff("--label", f"comm={name}", "--normalize", "samples", *tenants, as_json=True)["old"]["samples"] for name in "ab"}
    assert (told["old"]["samples"], told["new"]["samples"]) == (both["a"], both["b"])


def test_a_label_that_one_file_lacks_is_an_error_that_names_the_file(prof, tenants):
    result = prof("diff", "--label", "tenant=b", *tenants)
    assert result.returncode == 2
    assert f'{tenants[0]}: no sample has a label "tenant"' in result.stderr
    assert "the labels are: comm" in result.stderr


def test_equal_programs_have_no_significant_change(diff, olds, sames):
    for how in ("time", "samples", "share"):
        comparison = diff("--normalize", how, *sides(olds, sames), as_json=True)
        assert comparison["verdict"] == "no significant change"
        assert not any(row[part]["significant"] for row in comparison["functions"] for part in ("self", "total"))
        assert comparison["stacks"] == []
    text = diff(*sides(olds, sames))
    assert "no significant change" in text and "▲" not in text


@pytest.mark.parametrize("how", ["samples", "share"])
def test_one_recording_on_a_side_is_a_guess_and_no_verdict(prof, diff, old, olds, slow, slows, how):
    """The program is twice as slow, but it is unknown how much its runs differ."""
    for arguments in ((old, slow), sides(olds, [slow]), sides([old], slows)):
        text = diff("--normalize", how, *arguments)
        assert re.search(r"^cannot be judged with one recording on a side" + (r": \+20\.0 % ± [\d.]+ % \(a guess\)" if how == "samples" else "$"),
                         text, re.MULTILINE)
        assert "▲" not in text and "parse" in text and "two runs of one program vary by 2 % (--noise), which is a guess" in text
        told = diff("--normalize", how, *arguments, as_json=True)
        changes = [row[part] for row in told["functions"] for part in ("self", "total")] + told["stacks"] + [told["whole"]] * (how == "samples")
        assert told["verdict"] == "cannot be judged"
        assert all(change["guess"] and change["p"] is None and not change["significant"] for change in changes)
        result = prof("diff", "-q", "--normalize", how, "--fail-if", "parse>1%", *arguments)
        assert result.returncode == 2 and "parse>1% cannot be judged with one recording on a side" in result.stderr
        assert "compare at least two recordings per side" in result.stderr


def test_an_interval_that_is_wider_than_the_limit_does_not_pass(prof, tmp_path):
    """Runs that differ by a third neither show nor exclude a difference of 5 %."""
    noisy = [[write(tmp_path, f"{name}{i}.folded", {**QUIET, "_start;main;parse": 2000 + 1500 * i}) for i in range(3)] for name in "ab"]
    result = prof("diff", "-q", "--normalize", "samples", "--fail-if", "slower>5%", *sides(*noisy))
    assert result.returncode == 2
    assert re.search(r"slower>5% cannot be judged: \+0\.0 % ± [1-9]\d[\d.]* % is too wide for this limit", result.stderr)
    assert prof("diff", "-q", "--normalize", "samples", "--fail-if", "slower>200%", *sides(*noisy)).returncode == 0
    assert prof("diff", "-q", "--normalize", "samples", *sides(*noisy)).returncode == 0


def test_a_side_without_samples_does_not_pass(prof, olds, tmp_path):
    empty = write_pprof(tmp_path, "empty.pb", "samples", "count", {})
    result = prof("diff", "-q", "--fail-if", "slower>5%", "--normalize", "samples", *sides(olds, [empty, empty]))
    assert result.returncode == 2 and result.stderr


def test_the_summary_for_a_pull_request_says_what_has_changed_and_what_is_uncertain(prof, diff, olds, slows, old, slow):
    text = diff("--markdown", "--normalize", "samples", *sides(olds, slows))
    assert re.match(r"### prof diff: <code>more&#58; &#43;20&#46;0 &#37; ± ", text)
    assert re.search(r"^\| old \| 5 \| 2[45],\d{3} \| [\d,]+ \|$", text, re.MULTILINE)
    assert re.search(r"^\| <code>parse</code> \| ▲ \+20\.0 ± [\d.]+ \| 40\.0 \| 60\.0 \| ▲ \+20\.0 ± [\d.]+ \|$", text, re.MULTILINE)
    assert "99 % confidence; most functions vary by" in text
    text = diff("--markdown", "--normalize", "samples", old, slow)
    assert "<code>cannot be judged with one recording on a side" in text and "▲ +" not in text and "is a guess" in text
    result = prof("diff", "--markdown", "--json", old, slow)
    assert result.returncode == 2 and "exclude each other" in result.stderr


def test_hostile_names_are_text_in_the_summary_for_a_pull_request(diff, tmp_path):
    names = ["<script>alert(1)</script>", "a|b\\|c", "`rm`", "[x](https://evil.example)", "@everyone #1 **b** __c__", "&lt", "x\ry\x1b[31m\u202e"]
    files = [[write(tmp_path, f"{side}{i}.folded", {name: 500 + i + 500 * (side == "b") for name in names}) for i in range(2)] for side in "ab"]
    text = diff("--markdown", "--normalize", "samples", *sides(*files))
    rows = [line for line in text.splitlines() if line.startswith("| <code>")]
    assert len(rows) >= len(names) and all(row.count("|") == 6 for row in rows)
    shown = [re.fullmatch(r"\| <code>(.*?)</code> \|.*", row)[1] for row in rows]
    assert not any(re.search(r"[^\w &#;\ufffd]", name) or re.search(r"&(?!#\d+;)", name) for name in shown)
    assert {"<script>alert(1)</script>", "a|b\\|c", "`rm`", "&lt"} <= {html.unescape(name) for name in shown}


def test_a_change_within_the_noise_of_several_recordings_is_not_significant(diff, tmp_path):
    noisy = [write(tmp_path, f"noisy{i}.folded", {**QUIET, "_start;main;parse": 2000 + 400 * i}) for i in (-1, 0, 1)]
    slower = [write(tmp_path, f"slower{i}.folded", {**QUIET, "_start;main;parse": 2600 + 400 * i}) for i in (-1, 0, 1)]
    together = diff("--normalize", "samples", *noisy, "--", *slower, as_json=True)
    assert not function(together, "parse")["self"]["significant"]
    assert together["verdict"] == "no significant change"
    assert len(together["old"]["files"]) == len(together["new"]["files"]) == 3


@pytest.mark.parametrize("condition, status", [
    ("slower>10%", 1), ("slower>10", 1), ("slower>25%", 0), ("parse>15%", 1), ("parse>25%", 0), ("lex>10%", 0), ("lex>0%", 2),
])
def test_a_condition_that_holds_sets_the_exit_status(prof, olds, slows, condition, status):
    result = prof("diff", "-q", "--normalize", "samples", "--fail-if", condition, *sides(olds, slows))
    assert result.returncode == status and result.stdout == ""
    assert bool(result.stderr) == bool(status)


def test_a_change_that_is_not_significant_meets_no_condition(prof, olds, sames):
    assert prof("diff", "--normalize", "samples", "--fail-if", "slower>5%", *sides(sames, olds)).returncode == 0
    assert prof("diff", "--fail-if", "parse>5%", "--fail-if", "lex>5%", *sides(olds, sames)).returncode == 0


def test_one_condition_of_several_is_enough(prof, olds, slows):
    result = prof("diff", "--normalize", "time", "--fail-if", "slower>90%", "--fail-if", "parse>15%", *sides(olds, slows))
    assert result.returncode == 1 and "parse" in result.stderr and "slower" not in result.stderr
    result = prof("diff", "--normalize", "time", "--fail-if", "lex>0%", "--fail-if", "parse>15%", *sides(olds, slows))
    assert result.returncode == 1 and "lex>0% cannot be judged" in result.stderr


def test_a_condition_on_an_unknown_function_cannot_be_judged(prof, old, slow):
    result = prof("diff", "-q", "--fail-if", "pares>1%", old, slow)
    assert result.returncode == 2 and "no function is called pares" in result.stderr


def test_brackets_of_a_name_may_be_left_out(prof, tmp_path):
    files = [side(tmp_path, str(count), {"f": 4000, "std::sort<int>(int*, int*)": count}) for count in (100, 900)]
    result = prof("diff", "-q", "--fail-if", "std::sort<int>>5%", *sides(*files))
    assert result.returncode == 1, result.stderr


def test_folded_differences_have_two_counts_as_those_of_difffolded(prof, old, tmp_path):
    new = write(tmp_path, "new.folded", {"_start;main;parse": 3000, "_start;other": 7})
    assert prof("diff", "-q", "-o", "diff.folded", "--normalize", "samples", old, new).returncode == 0
    assert (tmp_path / "diff.folded").read_text() == (
        "app;_start 10 0\napp;_start;main 90 0\napp;_start;main;emit 1000 0\napp;_start;main;lex 1900 0\n"
        "app;_start;main;parse 2000 3000\napp;_start;other 0 7\n")


def test_a_folded_difference_is_drawn_red(prof, client, old, slow):
    lines = prof("diff", "-o", "-", "--normalize", "samples", old, slow).stdout
    drawn = subprocess.run([client("inferno-flamegraph")], input=lines, capture_output=True, text=True, check=True)
    frame, = re.findall(r"<title>parse [^<]*</title><rect [^>]*>", drawn.stdout)
    red, green, blue = map(int, re.search(r'fill="rgb\((\d+),(\d+),(\d+)\)"', frame).groups())
    assert red > green + 50 and red > blue + 50 and "+16.67%" in frame


def test_a_format_that_shows_no_differences_is_refused(prof, old, slow):
    result = prof("diff", "-o", "diff.pb.gz", old, slow)
    assert result.returncode == 2 and "pprof" in result.stderr
    assert not (prof.folder / "diff.pb.gz").exists()


@pytest.fixture
def diff_page(prof, browser, tmp_path):
    """Opens the page of a comparison, which must have no problems."""
    opened = []

    def show(*arguments):
        assert prof("diff", "-q", "-o", "diff.html", *arguments).returncode == 0
        opened.append(browser.open(f"file://{tmp_path}/diff.html"))
        opened[-1].until("document.documentElement.dataset.ready")
        return opened[-1]

    yield show
    for page in opened:
        assert page.problems == []
        page.close()


BOXES = """prof.graph.boxes.node.filter((node) => node >= 0).map((node) => [prof.graph.nameOf(node), prof.graph.fillOf(node)])"""


def texts(page, selector):
    return page.value(f"[...document.querySelectorAll('{selector}')].filter((element) => element.offsetParent).map((element) => element.innerText.trim())")


@pytest.mark.parametrize("how, parse, lex", [("samples", "▲ +20.0  parse", "▼ -18.0  lex"), ("share", "▲ +18.8  parse", "▼ -18.4  lex")])
def test_the_page_shows_growth_in_orange_and_decrease_in_blue(diff_page, olds, tmp_path, how, parse, lex):
    news = side(tmp_path, "new", {**QUIET, "_start;main;parse": 3000, "_start;main;lex": 1000})
    drawn = dict(diff_page("--normalize", how, *sides(olds, news)).value(BOXES))
    orange, blue = ([int(drawn[name][at:at + 2], 16) for at in (1, 3, 5)] for name in (parse, lex))
    assert orange[0] > orange[2] + 100 and blue[2] > blue[0] + 100


def test_the_page_of_a_pure_slow_down_has_no_blue(diff_page, olds, slows):
    """Only parse() has changed, however much smaller the shares of the others are."""
    names = [name for name, _ in diff_page("--normalize", "samples", *sides(olds, slows)).value(BOXES)]
    assert "▲ +20.0  parse" in names and "=  lex" in names and not any("▼" in name for name in names)


def test_the_page_opens_on_the_verdict_and_the_changed_functions(diff_page, olds, slows):
    page = diff_page("--normalize", "samples", *sides(olds, slows))
    assert re.fullmatch(r"More: \+20\.0 % ± \d\.\d % samples", page.value("document.getElementById('title').textContent"))
    assert page.value("document.title").startswith("More: +20.0 %")
    assert page.value("document.getElementById('subtitle').textContent") == "parse +20.0 points"
    assert "old: 4,998 per recording, 24,990 samples, old.0.folded and 4 more" in page.value("document.getElementById('went').textContent")
    page.until("document.querySelector('#details li') !== null")
    assert re.fullmatch(r"▲ \+20\.0 ± \d\.\d\s*parse", texts(page, "#details li")[0])
    assert "6,000" not in page.value("document.getElementById('state').textContent")
    page.press_on("#tab-functions")
    rows = page.until("prof.table.body.rows.length && [...prof.table.body.rows].map((row) => [...row.cells].map((cell) => cell.innerText))")
    assert re.fullmatch(r"▲ \+20\.0 ± \d\.\d", rows[0][0]) and rows[0][1:3] == ["40.0%", "60.0%"] and rows[0][4] == "parse"
    page.press_on("#tab-calls")
    assert "▲ +20.0" in texts(page, "#call-tree .change")


def test_the_page_of_one_recording_per_side_marks_nothing_as_proven(diff_page, old, slow):
    page = diff_page("--normalize", "samples", old, slow)
    assert page.value("document.getElementById('title').textContent").startswith("Cannot be judged with one recording on a side")
    assert page.value("document.getElementById('subtitle').textContent").startswith("perhaps parse +20.0 points")
    assert "perhaps more than before" in texts(page, "#legend span") and "▲" not in page.value("document.body.innerText")


def test_equal_programs_have_a_pale_page(diff_page, olds, sames):
    page = diff_page("--normalize", "samples", *sides(olds, sames))
    assert page.value("document.getElementById('title').textContent").startswith("No significant change")
    fills = [[int(fill[at:at + 2], 16) for at in (1, 3, 5)] for _, fill in page.value(BOXES)]
    assert all(max(fill) - min(fill) < 50 for fill in fills)


def test_the_page_has_no_control_without_a_function(diff_page, olds, slows):
    page = diff_page("--normalize", "samples", *sides(olds, slows))
    page.press_on("#options summary")
    shown = texts(page, "#options label")
    assert "Full names" in shown and "Inlined functions" not in shown
    assert page.value("[...document.getElementById('measure').options].map((option) => option.text)") == ["Widths: new", "Widths: old"]
    assert page.value("[...document.getElementById('group').options].map((option) => option.value)") == ["none", "name", "process"]
    for control in ("timeline", "states", "time-kinds", "memory-kinds"):
        assert page.value(f"document.getElementById('{control}').offsetParent") is None


def record(prof, name, *command):
    prof.run("record", "-q", "-o", name, *command)
    return name


def test_runs_of_a_command_are_compared_by_their_cost(prof, diff, target):
    olds, news = ([record(prof, f"{seconds}.{i}.pb.gz", target("shares"), seconds) for i in range(RECORDINGS)] for seconds in ("0.2", "0.6"))
    comparison = diff(*sides(olds, news), as_json=True)
    assert comparison["compared"] == "recordings" and comparison["verdict"] == "slower"
    assert comparison["whole"]["change"] == pytest.approx(2, abs=0.9)
    assert function(comparison, "half")["total"]["change"] > 0
    assert "CPU time" in diff(*sides(olds, news))
    assert diff(*sides(news, olds), as_json=True)["verdict"] == "faster"


def test_waiting_becomes_more_or_less_rather_than_slower_or_faster(diff, tmp_path):
    olds, news = ([write_pprof(tmp_path, f"{ms + i}.pb", "off-cpu", "nanoseconds", {"[read pipe]": (ms + i) * 10**6}, [ms + i]) for i in range(2)]
                  for ms in (500, 900))
    assert diff("--normalize", "time", *sides(olds, news), as_json=True)["verdict"] == "more"
    assert diff("--normalize", "time", *sides(news, olds), as_json=True)["verdict"] == "less"
    assert "off-CPU time" in diff("--normalize", "time", *sides(olds, news))


def test_recordings_of_running_processes_are_compared_by_shares(prof, diff, service, until_busy):
    for name, seconds in (("short.pb.gz", 0.3), ("long.pb.gz", 0.9)):
        record(prof, name, "-p", service.pid, "--", *until_busy(service.pid, seconds))
    assert diff("short.pb.gz", "long.pb.gz", as_json=True)["compared"] == "shares"
    assert prof("diff", "--fail-if", "slower>5%", "short.pb.gz", "long.pb.gz").returncode == 2


def test_folded_stacks_compare_with_anything_and_the_event_may_be_chosen(prof, diff, target):
    prof.run("record", "-q", "-e", "cpu-clock", "-e", "page-faults", "-o", "one.folded", "-o", "two.pb.gz", target("shares"), "0.3")
    # Only in folded stacks, unsampled time counts as samples.
    folded = prof.folder / "one.folded"
    folded.write_text("".join(line for line in folded.read_text().splitlines(True) if "[not sampled]" not in line))
    comparison = diff("one.folded", "two.pb.gz", as_json=True)
    assert comparison["quantity"] == "samples"
    assert function(comparison, "half")["total"]["change"] == pytest.approx(0, abs=1e-5)
    assert diff("-e", "page-faults", "two.pb.gz", "two.pb.gz", as_json=True)["event"].startswith("page-faults")
    assert diff("-e", "cpu-clock", "two.pb.gz", "two.pb.gz", as_json=True)["quantity"] == "CPU time"


def test_files_without_an_event_in_common_are_not_compared(prof, target):
    record(prof, "clock.pb.gz", target("shares"), "0.1")
    record(prof, "faults.pb.gz", "-e", "page-faults", "-c", "1", target("shares"), "0.1")
    result = prof("diff", "clock.pb.gz", "faults.pb.gz")
    assert result.returncode == 2 and "no event in common" in result.stderr and "page-faults" in result.stderr


@pytest.mark.parametrize("arguments", [
    (), ("old.folded",), ("old.folded", "old.folded", "old.folded"), ("old.folded", "--"), ("--", "old.folded"),
    ("old.folded", "nothing.there"), ("old.folded", "/dev/null"), ("damaged.pb.gz", "old.folded"),
    ("--fail-if", "slower", "old.folded", "old.folded"), ("--fail-if", ">5%", "old.folded", "old.folded"),
    ("--fail-if", "slower>5%x", "old.folded", "old.folded"), ("--normalize", "size", "old.folded", "old.folded"),
    ("--confidence", "100", "old.folded", "old.folded"), ("--noise", "-1", "old.folded", "old.folded"),
    ("-e", "page-faults", "old.folded", "damaged.pb.gz"), ("begun.data", "old.folded"), ("old.folded", "begun.data"),
])
def test_an_error_is_one_line_and_status_2(prof, old, arguments):
    (prof.folder / "damaged.pb.gz").write_bytes(b"\x1f\x8b\x08\x00damaged")
    # from a pipe, truncated after the header, so it has no event
    (prof.folder / "begun.data").write_bytes(b"PERFILE2\x10" + bytes(7))
    result = prof("diff", *arguments)
    assert result.returncode == 2 and result.stdout == ""
    assert 0 < len(result.stderr.splitlines()) <= 2


def test_control_characters_in_names_do_not_reach_the_terminal(prof, tmp_path):
    evil = [write(tmp_path, f"\x1b]0;{count}.folded", {"a" * 80: 1, "b\x1b[31mred\x07": count}) for count in (100, 900)]
    result = prof("diff", "--normalize", "samples", *evil)
    assert result.returncode == 0 and "red" in result.stdout
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", result.stdout + result.stderr)


def test_colours_are_printed_on_request(prof, olds, slows):
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "CLICOLOR_FORCE")}
    for wish, coloured in (({}, False), ({"CLICOLOR_FORCE": "1"}, True), ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False)):
        result = prof("diff", *sides(olds, slows), env={**environment, **wish})
        assert ("\x1b[1;31m" in result.stdout) == coloured
        assert "▲" in result.stdout


def write_pprof(folder, name, event, unit, functions, samples=()):
    """Writes a pprof profile of one event, with numbers of samples if they are given."""
    strings = ["", event, unit, "samples", "count", *functions]
    message = profile_message()(string_table=strings)
    message.sample_type.add(type=1, unit=2)
    if samples:
        message.sample_type.add(type=3, unit=4)
    for id, weight in enumerate(functions.values(), 1):
        message.function.add(id=id, name=4 + id)
        message.location.add(id=id).line.add(function_id=id)
        message.sample.add(location_id=[id], value=[weight, *samples[id - 1:id]])
    (folder / name).write_bytes(message.SerializeToString())
    return folder / name


def test_time_that_was_not_sampled_is_no_function_that_grew(diff, tmp_path):
    olds, news = ([write_pprof(tmp_path, f"{name}{number}.pb", "cpu", "nanoseconds", {"work": 10**9, "[kernel]": kernel * 10**6, "[not sampled]": 10**8},
                               (1000 + number, 0, 0)) for number in range(2)] for name, kernel in (("old", 300), ("new", 600)))
    text = diff("--normalize", "time", *sides(olds, news))
    assert "slower: +21.4 %" in text
    assert "+21.4 points were not sampled and belong to no function: 28.6 % before, 50.0 % after" in text
    assert not re.search(r"\[kernel\]|\[not sampled\]", text)
    assert "points were not sampled" in diff("--normalize", "time", "--markdown", *sides(olds, news))
    comparison = diff("--normalize", "time", *sides(olds, news), as_json=True)
    assert [row["name"] for row in comparison["functions"]] == ["work"] and comparison["stacks"] == []
    assert comparison["unsampled"] == {"before": pytest.approx(0.286, abs=0.001), "after": pytest.approx(0.5, abs=0.001)}
    shares = diff("--normalize", "share", *sides(olds, news), as_json=True)
    assert shares["unsampled"]["after"] == pytest.approx(0.412, abs=0.001)


def write_elapsed(path, parts):
    """Writes elapsed time. parts: {(function, number of running threads): seconds}."""
    functions = sorted({function for function, _ in parts})
    message = profile_message()(string_table=["", "elapsed", "nanoseconds", "parallelism", "samples", "count", *functions])
    message.sample_type.add(type=4, unit=5)
    message.sample_type.add(type=1, unit=2)
    for id, _ in enumerate(functions, 1):
        message.function.add(id=id, name=5 + id)
        message.location.add(id=id).line.add(function_id=id)
    for (function, running), seconds in parts.items():
        message.sample.add(location_id=[1 + functions.index(function)], value=[100, round(seconds * 1e9)]).label.add(key=3, num=running)
    path.write_bytes(message.SerializeToString())
    return path


ELAPSED = {("load_index", 1): 0.5, ("search", 2): 2, ("commit", 0): 0.5}


@pytest.mark.parametrize("change, words", [
    ({("load_index", 1): 1.1, ("search", 2): 2.2}, "800 ms longer: +600 ms in load_index, which ran alone"),
    ({("commit", 0): 2.5}, "2.00 s longer: +2.00 s in commit, while no thread ran"),
    ({(f"pass_{i}", 1): 0.1 for i in range(8)}, "800 ms longer: +800 ms while one thread ran"),
    ({("search", 2): 1.5, ("search", 1): 0.1}, "400 ms shorter: -500 ms in search, which ran with other threads")])
def test_the_function_that_makes_the_run_longer_is_named_with_the_threads_that_ran(prof, diff, tmp_path, change, words):
    olds, news = ([write_elapsed(tmp_path / f"{name}{number}.pb", {part: seconds * (0.999 + 0.001 * number) for part, seconds in parts.items()})
                   for number in range(3)] for name, parts in (("old", ELAPSED), ("new", ELAPSED | change)))
    assert words in diff("--normalize", "time", *sides(olds, news))
    assert words in html.unescape(diff("--normalize", "time", "--markdown", *sides(olds, news)))
    assert "elapsed time" in diff("--normalize", "time", "-e", "elapsed", *sides(olds, news))
    assert " longer" not in diff("--normalize", "time", *sides(olds, olds))
    assert re.search(r" (longer|shorter): ", diff("--normalize", "time", olds[0], news[0]))


def test_elapsed_time_without_the_number_of_threads_is_compared_like_other_events(diff, tmp_path):
    olds, news = ([write_pprof(tmp_path, f"{name}{number}.pb", "elapsed", "nanoseconds", {"work": seconds * 10**9}, [100]) for number in range(2)]
                  for name, seconds in (("old", 2), ("new", 3)))
    text = diff("--normalize", "time", *sides(olds, news))
    assert "slower: +50.0 %" in text and " longer" not in text


@pytest.mark.parametrize("is_coarse", [(True, False), (False, True), (True, True)])
def test_units_of_one_kind_are_converted(diff, tmp_path, is_coarse):
    coarse, fine = ("microseconds", 1), ("nanoseconds", 1000)
    old, new = (write_pprof(tmp_path, f"{name}.pb", "cpu", unit, {"parse": parse * scale, "lex": 4000000 * scale})
                for name, parse, (unit, scale) in zip(
                    ("old", "new"), (2000000, 3000000), (coarse if is_it else fine for is_it in is_coarse)))
    comparison = diff("--normalize", "time", old, new, as_json=True)
    assert comparison["event"] == "cpu" and comparison["quantity"] == "CPU time"
    text = diff("--normalize", "time", old, new)
    assert "6.00 s" in text and "7.00 s" in text
    lex, parse = function(comparison, "lex"), function(comparison, "parse")
    assert lex["total"]["before"] == lex["total"]["after"]
    assert parse["total"]["after"] / parse["total"]["before"] == pytest.approx(1.5, abs=1e-4)
    diff("--normalize", "time", "-o", "difference.folded", old, new)
    lines = (tmp_path / "difference.folded").read_text().splitlines()
    counts = {line.rsplit(" ", 2)[0]: line.split(" ")[-2:] for line in lines}
    lex_counts = next(counts[stack] for stack in counts if stack.endswith("lex"))
    assert lex_counts[0] == lex_counts[1]


def test_one_name_for_values_of_different_kinds_is_an_error(prof, tmp_path):
    old = write_pprof(tmp_path, "old.pb", "size", "bytes", {"parse": 10})
    new = write_pprof(tmp_path, "new.pb", "size", "nanoseconds", {"parse": 10})
    result = prof("diff", old, new)
    assert result.returncode == 2 and "the event size measures different kinds of values" in result.stderr
    assert "bytes in" in result.stderr and "wall-time in" in result.stderr
