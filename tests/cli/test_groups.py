"""Groups of events: the samples of the leader tell what the others have counted."""

import re
import subprocess

import pytest

from lacking import tool
from profiles import Pprof


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
    prof.record("-e", "{task-clock,context-switches}", "--", target("shares"), "0.3")
    assert {"cpu", "context-switches"} <= set(dict(Pprof.read(prof.folder / "record.pb.gz").sample_types()))


@pytest.mark.parametrize("group", ["{cpu-clock", "{}", "{,cpu-clock}", "{cpu-clock}x"])
def test_a_malformed_group_is_a_usage_error(prof, group):
    assert prof("record", "-e", group, "true").returncode == 2
