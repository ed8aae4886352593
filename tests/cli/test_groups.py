"""Groups of events: the samples of the leader contain the counts of the other events."""

import json
import re
import subprocess

import pytest

from lacking import tool
from profiles import Pprof, profile_message


def weight_of(prof, event):
    pprof = Pprof.read(prof.folder / "record.pb.gz")
    index = [name for name, _ in pprof.sample_types()].index(event)
    return sum(sample.value[index] for sample in pprof.message.sample)


def faults_of(*command):
    result = subprocess.run([tool("perf"), "stat", "-x,", "-e", "page-faults", *command], capture_output=True, text=True, check=True)
    return int(re.search(r"^(\d+),", result.stderr, re.MULTILINE)[1])


# Touches 4,000 pages ten times.
TOUCHES = ["python3", "-c", "import mmap\nfor _ in range(10):\n m = mmap.mmap(-1, 4000 * 4096)\n for i in range(4000): m[i * 4096] = 1\n m.close()"]


def test_members_are_counted_by_the_samples_of_the_leader(prof):
    prof.record("-e", "{task-clock,page-faults}:S", "--", *TOUCHES)
    assert weight_of(prof, "page-faults") == pytest.approx(faults_of(*TOUCHES), rel=0.03)


def test_a_recording_of_perf_has_the_same_counts(prof):
    subprocess.run([tool("perf"), "record", "-q", "-g", "-e", "{task-clock,page-faults}:S", "-o", prof.folder / "perf.data", *TOUCHES],
                   check=True, capture_output=True)
    assert prof("convert", "perf.data", "-o", "record.pb.gz").returncode == 0
    assert weight_of(prof, "page-faults") == pytest.approx(faults_of(*TOUCHES), rel=0.03)


def test_members_without_the_modifier_are_sampled_themselves(prof, target):
    prof.record("-e", "{task-clock,context-switches}", "--", target("shares"), "0.1")
    assert {"cpu", "context-switches"} <= set(dict(Pprof.read(prof.folder / "record.pb.gz").sample_types()))


@pytest.mark.parametrize("group", ["{cpu-clock", "{}", "{,cpu-clock}", "{cpu-clock}x"])
def test_a_malformed_group_is_a_usage_error(prof, group):
    assert prof("record", "-e", group, "true").returncode == 2


# By function: samples, cycles, instructions.
COUNTS = {"sum": (40, 4000, 10000), "chase": (100, 10000, 2500), "rare": (4, 400, 800), "main": (6, 600, 0)}


def write_counts(path):
    """Writes a pprof profile of a group in prof's format: the samples are those of the leader."""
    strings = ["", "samples", "cycles", "instructions", "count", *COUNTS]
    message = profile_message()(string_table=strings, default_sample_type=2)
    for type in (1, 2, 3):
        message.sample_type.add(type=type, unit=4)
    for id, (function, values) in enumerate(COUNTS.items(), 1):
        message.function.add(id=id, name=strings.index(function))
        message.location.add(id=id).line.add(function_id=id)
        message.sample.add(location_id=[id] if function == "main" else [id, len(COUNTS)], value=values)
    path.write_bytes(message.SerializeToString())
    return path


def ipc_of_rows(report):
    """{name: ratio} of a report's table."""
    return {name: ratio for ratio, name in re.findall(r"^ *[0-9.]+ % +[0-9.]+ % +(\S+) \S* +(\w+)$", report, re.MULTILINE)}


RATIOS = {"sum": "2.50", "chase": "0.25", "rare": "-", "main": "-"}


def test_a_report_of_cycles_has_the_instructions_per_cycle_of_functions(prof):
    """tests/unit/test_ipc.c tests names of other PMUs and modes."""
    profile = write_counts(prof.folder / "counts.pb")
    report = prof("report", "--no-tree", profile).stdout
    assert ipc_of_rows(report) == RATIOS
    assert "> cycles: 150 samples" in report and "\ninstructions per cycle: 0.89\n" in report
    assert "\ninstructions per cycle: 2.50\n" in prof("report", "--no-tree", "--focus", "sum", profile).stdout


def test_json_has_the_instructions_per_cycle(prof):
    report = json.loads(prof("report", "--json", write_counts(prof.folder / "counts.pb")).stdout)
    assert report["ipc"] == 0.8867
    assert {row["name"]: row.get("ipc") for row in report["rows"]} == {"sum": 2.5, "chase": 0.25, "rare": None, "main": None}
