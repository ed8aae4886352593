"""Common viewers read prof's outputs."""

import re
import subprocess

import pytest

from conftest import Prof
from time_limit import TIME_LIMIT_S
from profiles import Stacks


@pytest.fixture(scope="module")
def recorder(tmp_path_factory):
    return Prof(tmp_path_factory.mktemp("clients"))


@pytest.fixture(scope="module")
def recording(recorder, target):
    return recorder.record("-F", "1999", "--", target("geometry"), "0.6")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=TIME_LIMIT_S).stdout


def test_inferno_draws_every_function(recorder, client, recording):
    svg = output_of(client("inferno-flamegraph"), str(recorder.folder / "record.folded"))
    for name in ("geometry::Circle::area() const", "void geometry::sum&lt;int, long&gt;(int, long)", "spend"):
        assert name in svg
    assert f"{recording.stacks.total:,} samples" in svg


def pprof(client, prof, *options):
    return output_of(client("go"), "tool", "pprof", *options, str(prof.folder / "record.pb.gz"))


def test_pprof_shows_functions_callers_lines_and_mappings(recorder, client, recording):
    top = pprof(client, recorder, "-top", "-sample_index=samples")
    assert "spin" in top and "geometry::Circle::area" in top
    assert re.findall(r"of (\d+) total", top) == [str(recording.stacks.total)]
    top = pprof(client, recorder, "-top")
    assert re.search(r"Type: cpu", top) and re.search(r"Duration: \d", top), "CPU time is the default"
    peek = pprof(client, recorder, "-peek", "Circle::area")
    assert "render" in peek and "squared" in peek
    listing = pprof(client, recorder, "-list", "Circle::squared")
    assert re.search(r"squared\(\) const", listing) and "spin();" in listing
    raw = pprof(client, recorder, "-raw")
    mappings = raw.partition("Mappings\n")[2].strip().splitlines()
    main = next(line for line in mappings if line.startswith("1:"))
    assert "geometry" in main and "[FN]" in main, "nothing is left to symbolize"


def test_pprof_shows_waiting_beside_cpu_time(prof, client, target):
    prof.run("record", "--wall", "-o", "record.pb.gz", "--", target("asleep"), "halves", "0.5")
    waiting = pprof(client, prof, "-top", "-cum", "-sample_index=off-cpu")
    assert "Type: off-cpu" in waiting and re.search(r"\bsleeps\b", waiting) and "[nanosleep]" in waiting, waiting
    running = pprof(client, prof, "-top", "-cum")
    assert "Type: cpu" in running and "computes" in running and "[nanosleep]" not in running, running


def test_the_profile_passes_a_strict_reader(recording):
    recording.pprof.check()
    assert recording.pprof.strings[recording.pprof.message.default_sample_type] == "cpu"


def test_inlined_calls_are_lines_of_one_location(recording):
    pprof = recording.pprof
    chains = [[pprof.strings[pprof.functions[line.function_id].name] for line in location.line]
              for location in pprof.message.location]
    area = "geometry::Circle::area() const"
    assert ["spin", "geometry::Circle::squared() const", area] in chains, chains


def total_of(folded):
    return sum(int(line.rsplit(" ", 1)[1]) for line in folded)


def test_inferno_folds_the_text_of_perf_script_into_the_same_stacks(prof, client, target):
    prof.run("record", "-F", "999", "-o", "record.folded", "-o", "record.perf.txt", "--", target("interpreter"), "0.3")
    collapsed = output_of(client("inferno-collapse-perf"), str(prof.folder / "record.perf.txt")).splitlines()
    # Unsampled time has no timestamps.
    folded = [line for line in (prof.folder / "record.folded").read_text(encoding="utf-8").splitlines()
              if "[not sampled]" not in line]
    # inferno takes "->" as the mark of an inlined Java method, even in "fn(u8) -> u8".
    assert {line for line in folded if "->" not in line} <= set(collapsed)
    assert len(folded) == len(collapsed)
    assert total_of(folded) == total_of(collapsed)


def test_flamescope_finds_the_time_of_every_sample(prof, target):
    prof.run("record", "-F", "999", "-o", "record.folded", "-o", "record.perf.txt", "--", target("threads"), "0.3")
    text = (prof.folder / "record.perf.txt").read_text(encoding="utf-8")
    # finds the times with a regular expression of that tool
    times = [float(time) for time in re.findall(r" +([0-9.]+): .+?:", text)]
    assert len(times) == Stacks.read(prof.folder / "record.folded").total
    frames = [line for line in text.splitlines() if line.startswith("\t")]
    assert all(re.match(r"^[\t ]*[0-9a-fA-F]+ (.+) \((.*?)\)$", line) for line in frames)
