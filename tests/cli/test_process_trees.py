"""A command whose processes are shorter than the sampling interval, recorded on whole CPUs if that is allowed."""

import json
import math
import re
import shutil
import subprocess
import sys
from collections import Counter

import pytest

from conftest import Prof
from elsewhere import elsewhere_ns
from profiles import SIGMAS, Stacks, assert_same_but_late

# Starts each program this many times, and prints the kernel's counts for all runs of each, and for itself.
RUNS = """
import json, os, resource, sys

def seconds(usage):
    return usage.ru_utime + usage.ru_stime

used = {}
for _ in range(int(sys.argv[1])):
    for program in sys.argv[2:]:
        pid = os.posix_spawn(program, [program, "0.002"], os.environ)
        _, status, usage = os.wait4(pid, 0)
        assert status == 0
        name = os.path.basename(program)
        used[name] = used.get(name, 0) + seconds(usage)
used["all"] = sum(used.values()) + seconds(resource.getrusage(resource.RUSAGE_SELF))
print(json.dumps(used))
"""


@pytest.fixture
def programs(target, tmp_path):
    """programs("a", "b"): copies of `shares` under these names."""

    def copies(*names):
        return [shutil.copy(target("shares"), tmp_path / name) for name in names]

    return copies


@pytest.fixture(scope="module")
def whole_cpus(tmp_path_factory):
    result = Prof(tmp_path_factory.mktemp("probe"))("record", "-v", "-o", "probe.folded", "--", "true")
    if "process tree" not in result.stderr:
        pytest.skip("no permission to sample whole CPUs")


@pytest.fixture
def strangers(programs, started):
    """Busy programs that do not belong to the command."""
    for program in programs("stranger", "stranger"):
        started(subprocess.Popen([program, "600"], start_new_session=True))


def assert_sampled(ns, used_ns, rate):
    """The timers of the CPUs are independent of the programs, so the number of samples varies by chance."""
    expected = used_ns * rate / 1e9
    assert abs(ns * rate / 1e9 - expected) < SIGMAS * math.sqrt(expected), (ns, used_ns)


@pytest.fixture
def assert_counted(prof):
    """Asserts that the CPU time that the kernel counted for record.pb.gz is what the processes used. What a hypervisor
    took away since the test began counts for perf's clock, and not for a process."""
    before_ns = elsewhere_ns()

    def check(used_ns):
        event, = json.loads(prof("report", "--json", "record.pb.gz").stdout)["quality"]["events"]
        assert 0.95 * used_ns < event["counted"] < 1.05 * used_ns + elsewhere_ns() - before_ns

    return check


def test_short_processes_add_up_to_the_cpu_time_that_they_used(prof, programs, whole_cpus, strangers, assert_counted):
    """Timers of their own threads would never expire."""
    recording = prof.record("-F", 199, "--weight", "ns", "--", sys.executable, "-c", RUNS, 120, *programs("short_a", "short_b"))
    used = {name: seconds * 1e9 for name, seconds in json.loads(recording.result.stdout).items()}
    stacks = recording.stacks
    assert_sampled(stacks.total, used["all"], 199)
    for name in "short_a", "short_b":
        assert_sampled(stacks.of_process(name), used[name], 199)
    assert_counted(used["all"])
    assert stacks.of_process("stranger") == 0


def test_a_daemon_stays_in_the_tree_of_its_command(prof, programs, whole_cpus, tmp_path):
    daemon, = programs("daemon")
    command = "mkfifo ended; (setsid sh -c './daemon 0.3; echo > ended' &); read x < ended"
    recording = prof.record("--", "sh", "-c", command)
    assert recording.stacks.of_process(daemon.name) > 100, recording.stacks.hottest()


def test_without_inheritance_children_are_not_in_it(prof, programs, whole_cpus, tmp_path):
    programs("parent", "child")
    recording = prof.record("-i", "--", "sh", "-c", "./child 0.3; exec ./parent 0.3")
    assert recording.stacks.of_process("parent") > 100, recording.stacks.hottest()
    assert recording.stacks.of_process("child") == 0


def test_a_perf_data_file_holds_the_records_of_the_tree_alone(prof, programs, whole_cpus, strangers, client):
    arguments = "-F", 999, "-o", "out.data", "-o", "out.folded", "--", sys.executable, "-c", RUNS, 50, *programs("short")
    prof.run("record", *arguments)
    assert prof("convert", "out.data", "-o", "again.folded").returncode == 0
    direct, converted = (Stacks.read(prof.folder / name) for name in ("out.folded", "again.folded"))
    # The functions of Python are not in a perf.data file.
    for stacks in direct, converted:
        stacks.counts = Counter({frames: count for frames, count in stacks.counts.items() if frames[0] == "short"})
    assert_same_but_late(direct, converted)
    assert direct.of_process("short") > 0
    script = subprocess.run([client("perf"), "script", "-i", prof.folder / "out.data", "-F", "comm,event", "--show-task-events",
                             "--show-mmap-events"], check=True, capture_output=True, text=True).stdout
    assert "short" in script and "stranger" not in script


def test_an_event_whose_rate_others_would_change_is_recorded_by_threads(prof, programs, whole_cpus):
    short, = programs("short")
    for event in ("-e", "page-faults"), ("-e", "cpu-clock", "-e", "page-faults"), ("-e", "page-faults", "-c", 1):
        result = prof("record", "-v", *event, "-o", "out.folded", "--", short, "0.1")
        assert result.returncode == 0 and "process tree" not in result.stderr, event


def test_who_may_not_sample_whole_cpus_records_by_threads(ordinary, paranoid, target):
    paranoid(2)
    recording = ordinary.record("-v", "--", "sh", "-c", f"{ordinary.bring(target('shares'))} 0.3; exit 0")
    assert "process tree" not in recording.result.stderr
    assert recording.stacks.of_process("shares") > 100


@pytest.mark.parametrize("kind", ["threads", "forks", "switches"])
def test_what_a_storm_uses_is_in_the_profile_or_said_to_be_missing(prof, whole_cpus, target, assert_counted, kind):
    """A timer that expires while the kernel switches to the idle task samples the idle task. Threads that switch all
    the time lose up to half of their samples this way."""
    storm = "timeout", "0.5", target("storms"), kind
    recording = prof.record("-e", "cpu-clock", "-F", 999, "--weight", "ns", "--", target("script"), "used", 1, *storm)
    used = int((prof.folder / "used").read_text(encoding="ascii").split("all ")[1])
    assert_counted(used)
    sampled, errors = recording.stacks.total, recording.result.stderr
    assert 0.2 * used < sampled < used + SIGMAS * math.sqrt(used * 1e9 / 999), errors
    assert sampled > 0.95 * used or "% not sampled" in errors, errors


def test_no_file_is_opened_twice_however_many_processes_map_it(prof, programs, tmp_path):
    trace = tmp_path / "trace.txt"
    command = [prof.binary, "record", "-F", "999", "-o", "x.folded", "--", sys.executable, "-c", RUNS, "30", *programs("a", "b")]
    prof.binary = shutil.which("strace") or pytest.skip("no strace")
    # One file per thread: in a common file, a call is split if a call of another thread comes in between. strace
    # stops prof only at these calls: if it were slowed down at all calls, prof would miss mappings and read
    # /proc/PID/maps.
    assert prof("-ff", "--seccomp-bpf", "-y", "-o", trace, "-e", "trace=openat", *command).returncode == 0
    calls = "".join(file.read_text(errors="replace") for file in tmp_path.glob("trace.txt.*"))
    # A file that was looked up by its name is opened through its descriptor.
    opened = Counter(re.findall(r'"/proc/self/fd/\d+".* = \d+<(/[^>]+)>', calls))
    assert any(path.endswith("/a") for path in opened) and any("libc.so" in path for path in opened)
    # A debug file is opened to unwind, and to symbolize. Two threads can open a file at once. Thirty processes map each.
    assert not [path for path, times in opened.items() if times > 2 + ("/debug/" in path)]
