"""The logical view: code of runtimes is folded into the functions of the program."""

import json
import subprocess

import pytest

from conftest import SOURCE
from profiles import Stacks
from time_limit import TIME_LIMIT_S

GOLDEN = SOURCE / "tests" / "golden"
TOKIO = "shop;clone3;start_thread;tokio::runtime::blocking::pool::Inner::run;tokio::runtime::task::raw::poll"
STACKS = f"""\
{TOKIO};shop::handler;shop::query;core::ops::function::FnOnce::call_once;shop::crunch 60
{TOKIO};shop::handler;shop::query;shop::crunch;core::iter::range::next 20
{TOKIO};shop::handler;alloc::vec::Vec::push;alloc::raw_vec::RawVec::grow_one;malloc 10
{TOKIO};tokio::runtime::park;std::sync::Condvar::wait;__futex_wait 10
"""
SHOWN = """\
in.folded
samples: 100

   self   total            function
 80.0 %  80.0 % ██████████ shop::crunch
 10.0 %  10.0 % █▎         [tokio runtime]
 10.0 %  10.0 % █▎         malloc

  total    self  calls
 90.0 %          shop::handler [4 folded]
 80.0 %  80.0 %  ├ shop::query → shop::crunch [1 folded]
 10.0 %  10.0 %  └ Vec::push → malloc [1 folded]
 10.0 %  10.0 %  [tokio runtime] [7 folded]
[N folded] calls of runtime code before it
"""


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PAGER", "LESS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def stacks(prof):
    """The file with STACKS."""
    path = prof.folder / "in.folded"
    path.write_text(STACKS, encoding="utf-8")
    return path


def report_json(prof, *options):
    return json.loads(prof("report", "in.folded", "--logical", "--json", *options).stdout)


def names_of(nodes):
    return [node["name"] for node in nodes]


def test_the_report_shows_the_functions_of_the_program(prof, stacks):
    assert prof("report", "in.folded", "--logical").stdout == SHOWN


def stack_of(glue, own):
    """A folded stack with this many frames of a runtime and of the program."""
    names = [*(f"tokio::runtime::f{number}" for number in range(glue)), *(f"shop::f{number}" for number in range(own))]
    return ";".join(names) + " 1\n"


@pytest.mark.parametrize("glue, own, is_folded", [(8, 7, True), (8, 8, False), (4, 1, True), (3, 1, False)])
def test_the_view_is_the_default_of_the_report_if_most_frames_are_a_runtimes(prof, glue, own, is_folded):
    (prof.folder / "in.folded").write_text(stack_of(glue, own), encoding="utf-8")
    shown = prof("report", "in.folded").stdout
    line = f"logical view: {glue} of {glue + own} frames per stack folded; --logical=no shows them\n"

    assert (line in shown) == (f"shop::f0 [{glue} folded]" in shown) == is_folded
    assert ("tokio::runtime::f0" in shown) != is_folded
    assert shown.replace(line, "") == prof("report", "in.folded", f"--logical={'yes' if is_folded else 'no'}").stdout


def test_the_view_can_be_turned_off(prof, stacks):
    (prof.folder / "in.folded").write_text(stack_of(8, 1), encoding="utf-8")
    shown = prof("report", "in.folded", "--logical=no").stdout

    assert "tokio::runtime::f0" in shown and "logical" not in shown
    assert 'unknown choice "maybe" (yes, no)' in prof("report", "in.folded", "--logical=maybe").stderr


def test_a_function_of_a_runtime_can_be_named(prof):
    (prof.folder / "in.folded").write_text(stack_of(8, 1), encoding="utf-8")

    for option in "--callers", "--callees", "--focus", "--ignore":
        assert "logical view" not in prof("report", "in.folded", option, "f1").stdout
    assert "tokio::runtime::f0" in prof("report", "in.folded", "--callers", "tokio::runtime::f1").stdout


def test_outputs_for_programs_have_every_frame(prof):
    (prof.folder / "in.folded").write_text(stack_of(8, 1), encoding="utf-8")
    report = json.loads(prof("report", "in.folded", "--json").stdout)
    prof("convert", "in.folded", "-o", "out.folded", "-o", "out.pb.gz")
    prof("convert", "out.pb.gz", "-o", "again.folded")
    changes = json.loads(prof("diff", "in.folded", "in.folded", "--json").stdout)["functions"]

    assert "logical" not in report and len(report["calls"]) == 9
    for name in "out.folded", "again.folded":
        assert (prof.folder / name).read_text(encoding="utf-8") == stack_of(8, 1)
    assert any(function["name"] == "tokio::runtime::f0" for function in changes)


def test_json_has_the_number_of_folded_calls(prof, stacks):
    report = report_json(prof)
    calls = {node["name"]: node.get("folded") for node in report["calls"]}

    assert report["logical"] and calls["shop::handler"] == 4
    assert calls["shop::query"] is None


def test_callers_and_callees_are_logical_too(prof, stacks):
    assert names_of(report_json(prof, "--callers", "malloc")["callers"]) == [
        "malloc", "alloc::vec::Vec::push", "shop::handler"]
    assert names_of(report_json(prof, "--callees", "shop::query")["callees"]) == ["shop::query", "shop::crunch"]


def test_a_selection_finds_logical_functions_only(prof, stacks):
    assert report_json(prof, "--focus", "shop::query")["all"]["samples"] == 80
    assert report_json(prof, "--focus", "start_thread")["all"]["samples"] == 0


def test_convert_writes_logical_stacks(prof, stacks):
    prof("convert", "in.folded", "--logical", "-o", "out.folded")

    assert (prof.folder / "out.folded").read_text(encoding="utf-8") == """\
shop;[tokio runtime] 10
shop;shop::handler;alloc::vec::Vec::push;malloc 10
shop;shop::handler;shop::query;shop::crunch 80
"""


def test_a_difference_of_logical_views_is_of_the_programs_functions(prof, stacks):
    (prof.folder / "new.folded").write_text(STACKS.replace(" 60\n", " 600\n"), encoding="utf-8")
    functions = json.loads(prof("diff", "in.folded", "new.folded", "--logical", "--json").stdout)["functions"]

    assert "shop::crunch" in names_of(functions)
    assert not any(name.startswith(("tokio::runtime", "core::", "start_thread")) for name in names_of(functions))


def test_recorded_stacks_of_every_runtime_become_those_of_their_programs(prof):
    """Recordings of programs with tokio (several threads, one thread), rayon, std::thread and std::function, and Go."""
    result = prof("convert", GOLDEN / "runtimes.folded", "--logical", "-o", "out.folded")

    assert result.returncode == 0, result.stderr
    expected = (GOLDEN / "runtimes_logical.folded").read_text(encoding="utf-8")
    assert (prof.folder / "out.folded").read_text(encoding="utf-8") == expected


@pytest.mark.parametrize("source", ["in.folded", GOLDEN / "runtimes.folded"])
def test_the_page_folds_the_same_stacks(prof, stacks, client, source):
    prof("convert", source, "-o", "page.html")
    prof("convert", source, "--logical", "-o", "out.folded")
    shown = subprocess.run([client("node"), SOURCE / "web" / "tests" / "logical_folded.mjs", prof.folder / "page.html"],
                           check=True, capture_output=True, text=True, timeout=TIME_LIMIT_S).stdout

    assert sorted(shown.splitlines()) == sorted((prof.folder / "out.folded").read_text(encoding="utf-8").splitlines())


def test_convert_writes_every_format(prof, stacks):
    names = ["out.pb.gz", "out.html", "out.svg", "out.speedscope.json", "out.firefox.json.gz"]
    prof("convert", "in.folded", "--logical", *(word for name in names for word in ("-o", name)))
    assert all((prof.folder / name).stat().st_size for name in names)


def test_the_hottest_stack_of_a_program_of_tokio_has_six_rows_at_most(prof, client):
    prof("record", "-F", "999", "-o", "tasks.pb.gz", "--", client("tasks"))
    for name, options in (("plain", []), ("logical", ["--logical"])):
        prof("convert", "tasks.pb.gz", *options, "-o", f"{name}.folded")
    plain, logical = (Stacks.read(prof.folder / f"{name}.folded") for name in ("plain", "logical"))
    hottest = logical.counts.most_common(1)[0][0]

    assert logical.total == plain.total
    assert max(map(len, plain.counts)) > 30
    assert len(hottest) <= 1 + 6, logical.hottest()
    assert hottest[-1] == "tasks::work", logical.hottest()
    assert not any(name.startswith(("tokio::runtime::", "std::", "core::", "start_thread")) for name in hottest)
