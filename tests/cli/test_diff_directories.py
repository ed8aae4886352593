"""prof diff of two directories: a row per benchmark, and conditions that a CI job checks."""

import json
import random
import re

import pytest

from profiles import profile_message

RUN = "recorded: a command, from its start to its end"


RECORDINGS = 5


def write_all(folder, name, parse=2000, rest=1000, recordings=RECORDINGS):
    """Writes several recordings of a benchmark, which differ a little."""
    for number in range(recordings):
        write(folder, f"{name}.{number}.folded", parse + 10 * (number % 5 - 2), rest)


def write(folder, name, parse=2000, rest=1000):
    """Writes folded stacks of a benchmark."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"app;main;parse {parse}\napp;main;emit {rest}\n")
    return path


@pytest.fixture
def base(tmp_path):
    for name in ("json/small", "json/large", "lex"):
        write_all(tmp_path / "base", name)
    return tmp_path / "base"


@pytest.fixture
def head(tmp_path):
    """json/large takes 20 percent longer, in parse()."""
    for name in ("json/small", "json/large", "lex"):
        write_all(tmp_path / "head", name, parse=2600 if name == "json/large" else 2003)
    return tmp_path / "head"


@pytest.fixture
def compare(prof):
    """compare(…) returns the parsed JSON of a comparison by samples."""

    def run(*arguments, status=0):
        result = prof("diff", "--normalize", "samples", "--json", *arguments)
        assert result.returncode == status, result.stderr
        return json.loads(result.stdout)

    return run


def write_run(path, stacks):
    """Writes a prof profile of a command from start to end: number of samples of 1 ms by stack, root first."""
    message = profile_message()(string_table=["", "samples", "count", "cpu", "nanoseconds", RUN], comment=[5])
    message.sample_type.add(type=1, unit=2)
    message.sample_type.add(type=3, unit=4)
    names = sorted({name for stack in stacks for name in stack})
    for number, name in enumerate(names, 1):
        message.string_table.append(name)
        message.function.add(id=number, name=len(message.string_table) - 1)
        message.location.add(id=number).line.add(function_id=number)
    for stack, samples in stacks.items():
        locations = [names.index(name) + 1 for name in reversed(stack)]
        message.sample.add(location_id=locations, value=[samples, samples * 10**6])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(message.SerializeToString())


def rows(comparison):
    return {row["name"]: row for row in comparison["benchmarks"]}


def test_profiles_of_one_name_are_compared(compare, base, head):
    compared = rows(compare(base, head))
    assert sorted(compared) == ["json/large", "json/small", "lex"]
    assert compared["json/large"]["verdict"] == "more"
    assert compared["json/large"]["whole"]["change"] == pytest.approx(0.2, abs=1e-4)
    assert compared["json/large"]["function"]["name"] == "parse"
    assert compared["lex"]["verdict"] == "no significant change" and compared["lex"]["function"] is None


def test_the_table_has_a_row_per_benchmark_and_the_largest_change_first(prof, base, head):
    text = prof("diff", "--normalize", "samples", base, head).stdout
    assert "1 more, 2 no significant change" in text
    assert re.search(r"▲ +\+20\.0 ±[\d.]+ +3,000 +3,600  json/large  parse \+20\.0 ±[\d.]+ points", text)
    assert text.index("json/large") < text.index("json/small") < text.index("lex")


def test_conditions_judge_each_benchmark_and_say_which_meets_them(prof, base, head):
    result = prof("diff", "--normalize", "samples", "-q", "--fail-if", "slower>5%", "--fail-if", "emit>9%", base, head)
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr == "prof: json/large: slower: +20.0 %, significant and more than 5 %\n"


def test_the_conditions_that_are_met_are_in_the_json(compare, base, head):
    compared = rows(compare("--fail-if", "slower>5%", "--fail-if", "parse>2%", base, head, status=1))
    assert compared["json/large"]["met"] == ["slower>5%", "parse>2%"] and compared["lex"]["met"] == []


def test_a_function_need_not_be_in_every_benchmark(prof, base, head):
    for path in head.glob("lex.*"):
        path.write_text("app;main;lexer 3000\n")
    result = prof("diff", "--normalize", "samples", "-q", "--fail-if", "lexer>2%", base, head)
    assert result.returncode == 1 and "prof: lex: lexer: +100.0 %" in result.stderr
    result = prof("diff", "--normalize", "samples", "-q", "--fail-if", "nothing>2%", base, head)
    assert result.returncode == 2 and "nothing>2% cannot be judged: no function is called nothing" in result.stderr


def test_benchmarks_of_one_side_only_are_listed(prof, compare, base, head):
    write(base, "old.folded")
    write(head, "new.folded")
    compared = compare(base, head)
    assert compared["only_old"] == ["old"] and compared["only_new"] == ["new"]
    text = prof("diff", base, head).stdout
    assert "only on the old side: old\n" in text and "only on the new side: new\n" in text


def test_numbers_and_default_names_of_files_are_not_part_of_the_name(compare, tmp_path):
    write(tmp_path / "b", "lex.folded")
    for number, name in enumerate(("lex.folded", "lex.7.folded", "lex/profile.folded", "lex/profile/profile.2.folded", "lex/prof.folded")):
        write(tmp_path / f"a{number}", name)
        assert list(rows(compare(tmp_path / f"a{number}", tmp_path / "b"))) == ["lex"]


def test_numbered_profiles_are_repetitions(compare, tmp_path):
    for number in range(3):
        write(tmp_path / "a", f"lex.{number}.folded", parse=2000 + number)
        write(tmp_path / "b", f"lex.{number}.folded", parse=2040 + number)
    row = rows(compare(tmp_path / "a", tmp_path / "b"))["lex"]
    assert [len(row[side]["files"]) for side in ("old", "new")] == [3, 3]
    assert row["verdict"] == "more", "the recordings of a side hardly differ"
    directories = [tmp_path / side for side in ("a", "a", "b", "b")]
    row = rows(compare(*directories[:2], "--", *directories[2:]))["lex"]
    assert [len(row[side]["files"]) for side in ("old", "new")] == [6, 6], "directories of one side are repetitions"


def test_a_profile_in_two_formats_counts_once(compare, prof, base, head):
    assert prof("convert", base / "lex.0.folded", "-o", base / "lex.0.pb.gz").returncode == 0
    files = rows(compare(base, head))["lex"]["old"]["files"]
    assert len(files) == RECORDINGS and files[0] == str(base / "lex.0.pb.gz")


def test_other_files_are_ignored(compare, base, head):
    (base / "report.html").write_text("<p>")
    (base / ".hidden").mkdir()
    write(base / ".hidden", "secret.folded")
    (base / "again").symlink_to(base)
    write(base, "lex.folded.old")
    compared = compare(base, head)
    assert len(compared["benchmarks"]) == 3 and compared["only_old"] == []


def test_the_more_benchmarks_the_larger_a_significant_change(compare, tmp_path):
    """9 percent are significant for one benchmark, but not for one of 200 whose noise does not show the noise of this
    one."""
    for side, parse in (("a", 20000), ("b", 22700)):
        for number in range(3):
            write(tmp_path / side, f"x.{number}.folded", parse=parse + 500 * number, rest=10000)
    alone = rows(compare(tmp_path / "a", tmp_path / "b"))["x"]["whole"]
    for number in range(199):
        for side in "ab":
            write(tmp_path / side, f"y{number}y.0.folded")
    together = rows(compare(tmp_path / "a", tmp_path / "b"))["x"]["whole"]
    assert alone["significant"] and not together["significant"]
    assert together["margin"] > together["change"] > alone["margin"] and together["p"] > 0.01 > alone["p"]


def test_benchmarks_tell_of_the_noise_of_each_other(compare, tmp_path):
    """Three recordings per side are too few to measure the noise of one benchmark, but ten benchmarks are enough."""
    chance = random.Random(1)
    for number in range(10):
        for side, slower in (("a", 1), ("b", 1.06 if number == 3 else 1)):
            for recording in range(3):
                factor = slower * (1 + 0.01 * chance.gauss(0, 1))
                write(tmp_path / side, f"b{number}x.{recording}.folded", round(20000 * factor), round(10000 * factor))
    together = rows(compare(tmp_path / "a", tmp_path / "b"))
    assert [name for name, row in together.items() if row["whole"]["significant"]] == ["b3x"]
    assert all(row["whole"]["margin"] < 0.05 for row in together.values())


def test_few_samples_are_not_judged(prof, tmp_path):
    write(tmp_path / "a", "brief.folded", parse=20, rest=1)
    write(tmp_path / "b", "brief.folded", parse=90, rest=1)
    result = prof("diff", "--normalize", "samples", "--fail-if", "slower>5%", tmp_path / "a", tmp_path / "b")
    assert result.returncode == 2 and "1 too few samples" in result.stdout
    assert "prof: brief: slower>5% cannot be judged: too few samples\n" in result.stderr
    assert prof("diff", "--normalize", "samples", tmp_path / "a", tmp_path / "b").returncode == 0


def test_one_recording_on_a_side_is_not_judged(prof, compare, base, head):
    for path in head.glob("lex.[1-9].*"):
        path.unlink()
    row = rows(compare(base, head))["lex"]
    assert row["verdict"] == "cannot be judged" and row["whole"]["guess"] and row["whole"]["p"] is None
    result = prof("diff", "--normalize", "samples", "--fail-if", "slower>30%", base, head)
    assert result.returncode == 2 and "1 cannot be judged" in result.stdout
    assert "prof: lex: slower>30% cannot be judged with one recording on a side: " in result.stderr and "prof: json" not in result.stderr


def test_an_interval_that_is_wider_than_the_limit_does_not_pass(prof, tmp_path):
    for side in "ab":
        for number in range(3):
            write(tmp_path / side, f"lex.{number}.folded", parse=2000 + 1000 * number)
    result = prof("diff", "-q", "--normalize", "samples", "--fail-if", "slower>5%", tmp_path / "a", tmp_path / "b")
    assert result.returncode == 2 and re.search(r"prof: lex: slower>5% cannot be judged: \+0\.0 % ± \d+\.\d % is too wide", result.stderr)


def test_the_summary_for_a_pull_request_has_a_row_per_benchmark(prof, base, head):
    write(base, "<img src=x>|y.folded")
    text = prof("diff", "--markdown", "--normalize", "samples", base, head).stdout
    assert text.startswith("### prof diff: 1 more, 2 no significant change\n")
    assert re.search(r"^\| <code>json&#47;large</code> \| more \| 5 / 5 \| ▲ \+20\.0 ± [\d.]+ \| <code>parse</code> \+20\.0 ± [\d.]+ points \|$",
                     text, re.MULTILINE)
    assert "Only on the old side: <code>&#60;img src&#61;x&#62;&#124;y</code>" in text and "99 % confidence" in text


def test_shares_cannot_be_slower_which_is_an_error_that_names_the_benchmark(prof, base, head):
    result = prof("diff", "--fail-if", "slower>5%", base, head)
    assert result.returncode == 2
    assert "prof: lex: shares do not tell whether the whole is slower\n" in result.stderr
    result = prof("diff", "--fail-if", "parse>2%", base, head)
    assert result.returncode == 1 and "prof: json/large: parse: +5.6 %" in result.stderr


def test_a_damaged_profile_is_an_error_and_the_others_are_compared(prof, base, head):
    (head / "lex.0.folded").write_text("nonsense")
    result = prof("diff", "--normalize", "samples", "--json", base, head)
    compared = rows(json.loads(result.stdout))
    assert result.returncode == 2 and f"prof: lex: {head}/lex.0.folded: " in result.stderr
    assert compared["lex"]["verdict"] == "failed" and "read folded stacks" in compared["lex"]["error"]
    assert compared["json/large"]["verdict"] == "more"


@pytest.mark.parametrize(
    "arguments, error",
    [
        (["{base}", "{base}/lex.0.folded"], "cannot compare directories with files"),
        (["{base}", "{empty}"], "{empty} has no profiles"),
        (["{base}", "{other}"], "no benchmark is on both sides"),
        (["-o", "x.html", "{base}", "{base}"], "-o cannot show many benchmarks"),
    ],
)
def test_what_cannot_be_compared_is_refused(prof, base, tmp_path, arguments, error):
    (tmp_path / "empty").mkdir()
    write(tmp_path / "other", "other.folded")
    places = {"base": base, "empty": tmp_path / "empty", "other": tmp_path / "other"}
    result = prof("diff", *[argument.format(**places) for argument in arguments])
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.startswith(f"prof: {error.format(**places)}\n")


def test_names_do_not_control_the_terminal(prof, tmp_path):
    for side in "ab":
        write(tmp_path / side, "x\x1b[31my.folded")
        write(tmp_path / side / side, "z\x07.folded")
    result = prof("diff", "--color", "never", tmp_path / "a", tmp_path / "b")
    assert "\x1b" not in result.stdout and "\x07" not in result.stdout


def test_what_a_harness_repeats_for_a_fixed_time_is_compared_by_shares(prof, tmp_path):
    """Even if the profiles are of whole commands, as made by `prof cargo bench`."""
    for side, parse in (("a", 2000), ("b", 2600)):
        harness = "criterion::bencher::Bencher<M>::iter"
        write_run(tmp_path / side / "lex.pb", {("main", harness, "parse"): parse, ("main", "emit"): 900})
    compared = json.loads(prof("diff", "--json", tmp_path / "a", tmp_path / "b").stdout)
    assert rows(compared)["lex"]["compared"] == "shares" and rows(compared)["lex"]["harness"] == "criterion"
    result = prof("diff", "--fail-if", "slower>5%", tmp_path / "a", tmp_path / "b")
    assert result.returncode == 2
    assert "criterion runs for a fixed time, however slow a function is" in result.stdout
    assert "prof: lex: shares do not tell whether the whole is slower\n  criterion runs for a fixed" in result.stderr


def estimates(nanoseconds, error=0.001):
    """Estimates in criterion's format, with a standard error."""
    return json.dumps({"mean": {"point_estimate": 1.0, "standard_error": 0.1},
                       "slope": {"point_estimate": nanoseconds, "standard_error": nanoseconds * error}})


@pytest.fixture
def criterion(tmp_path):
    """Two directories in the layout of criterion and its profilers: parsing takes 100 and 125 ns, for 3 seconds."""
    for side, nanoseconds in (("a", 100), ("b", 125)):
        harness = "criterion::bencher::Bencher<M>::iter"
        for recording in range(3):
            folder = tmp_path / f"{side}{recording}" / "json" / "parse"
            write_run(folder / "profile" / "profile.pb", {("main", harness, "parse"): 2000, ("main", "emit"): 1000})
            (folder / "new").mkdir()
            (folder / "new" / "estimates.json").write_text(estimates(nanoseconds))
    return *(tmp_path / f"a{i}" for i in range(3)), "--", *(tmp_path / f"b{i}" for i in range(3))


def test_the_time_per_iteration_of_criterion_tells_what_is_slower(prof, criterion):
    result = prof("diff", "--json", "--fail-if", "slower>5%", *criterion)
    row = rows(json.loads(result.stdout))["json/parse"]
    assert result.returncode == 1 and row["met"] == ["slower>5%"]
    assert row["compared"] == "iterations" and row["quantity"] == "time per iteration" and "harness" not in row
    assert row["old"]["weight"] == pytest.approx(100) and row["new"]["weight"] == pytest.approx(125)
    assert row["whole"]["change"] == pytest.approx(0.25, abs=1e-4)
    text = prof("diff", *criterion).stdout
    assert re.search(r"▲ +\+25\.0 ±[\d.]+ +100 ns +125 ns +json/parse", text)


def test_the_error_that_criterion_states_counts(prof, criterion):
    sides = criterion[0], criterion[-1]
    for side, nanoseconds in zip(sides, (100, 125)):
        (side / "json" / "parse" / "new" / "estimates.json").write_text(estimates(nanoseconds, error=0.07))
    row = rows(json.loads(prof("diff", "--json", *sides).stdout))["json/parse"]
    assert row["whole"]["guess"] and row["whole"]["margin"] == pytest.approx(2.576 * 1.25 * 0.0728 * 2**0.5, rel=0.05)


def test_the_functions_share_the_time_per_iteration(prof, criterion):
    files = [side if side == "--" else side / "json" / "parse" / "profile" / "profile.pb" for side in criterion]
    told = json.loads(prof("diff", "--json", *files).stdout)
    parse, = (row for row in told["functions"] if row["name"] == "parse")
    assert told["verdict"] == "slower" and told["compared"] == "iterations"
    assert parse["self"]["before"] == pytest.approx(2 / 3, abs=1e-4)
    assert parse["self"]["after"] == pytest.approx(2 / 3 * 1.25, abs=1e-4)
    assert "100 ns per iteration  9,000 samples" in prof("diff", *files).stdout


@pytest.mark.parametrize("text", [None, "{"])
def test_without_a_time_per_iteration_shares_are_compared(prof, criterion, text):
    path = criterion[-1] / "json" / "parse" / "new" / "estimates.json"
    path.unlink() if text is None else path.write_text(text)
    result = prof("diff", "--json", "--fail-if", "slower>5%", *criterion)
    assert rows(json.loads(result.stdout))["json/parse"]["compared"] == "shares" and result.returncode == 2
    assert "criterion runs for a fixed time, however slow a function is: run cargo bench" in result.stderr
    result = prof("diff", "--normalize", "iteration", *criterion)
    assert result.returncode == 2 and "json/parse: not all profiles have a time per iteration" in result.stderr
