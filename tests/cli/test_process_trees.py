"""A command whose processes live shorter than the time between two samples, recorded by whole CPUs where that is allowed."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter

import pytest

from profiles import Stacks

# Starts each program so many times and reports what the kernel counted for all of each, and for itself.
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


@pytest.fixture
def whole_cpus(root, prof):
    result = prof("record", "-v", "-o", "probe.folded", "--", "true")
    if "process tree" not in result.stderr:
        pytest.skip("no permission to sample whole CPUs")


@pytest.fixture
def filtered(prof, whole_cpus):
    if "the kernel drops" not in prof("record", "-v", "-o", "probe.folded", "--", "true").stderr:
        pytest.skip("no permission to load BPF programs, or a kernel that filters no samples")


@pytest.fixture
def strangers(programs, started):
    """Busy programs that do not belong to the command."""
    for program in programs("stranger", "stranger"):
        started(subprocess.Popen([program, "600"], start_new_session=True))


@pytest.mark.parametrize("rate, few", [(999, 0.75), (99, 0.6)])
def test_short_processes_add_up_to_the_cpu_time_that_they_used(prof, programs, whole_cpus, strangers, rate, few):
    recording = prof.record("-F", rate, "--", sys.executable, "-c", RUNS, 120, *programs("short_a", "short_b"))
    used = json.loads(recording.result.stdout)
    stacks = recording.stacks
    assert few < stacks.total / rate / used["all"] < 2 - few, stacks.hottest()
    for name in "short_a", "short_b":
        assert few - 0.1 < stacks.of_process(name) / rate / used[name] < 2.1 - few, stacks.hottest()
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
    result = prof("record", *arguments)
    assert result.returncode == 0, result.stderr
    assert prof("convert", "out.data", "-o", "again.folded").returncode == 0
    direct, converted = ((prof.folder / name).read_text(encoding="utf-8") for name in ("out.folded", "again.folded"))
    assert converted == direct and "\nshort;" in direct
    script = subprocess.run([client("perf"), "script", "-i", prof.folder / "out.data", "-F", "comm,event", "--show-task-events",
                             "--show-mmap-events"], check=True, capture_output=True, text=True).stdout
    assert "short" in script and "stranger" not in script


@pytest.mark.parametrize("event", [("-e", "page-faults"), ("-e", "cpu-clock", "-e", "page-faults"), ("-e", "page-faults", "-c", 1)])
def test_an_event_whose_rate_others_would_change_is_recorded_by_threads(prof, programs, whole_cpus, event):
    result = prof("record", "-v", *event, "-o", "out.folded", "--", *programs("short"), "0.1")
    assert result.returncode == 0 and "process tree" not in result.stderr


def test_who_may_not_sample_whole_cpus_records_by_threads(ordinary, paranoid, target):
    paranoid(2)
    recording = ordinary.record("-v", "--", "sh", "-c", f"{ordinary.bring(target('shares'))} 0.3; exit 0")
    assert "process tree" not in recording.result.stderr
    assert recording.stacks.of_process("shares") > 100


@pytest.fixture
def busy_machine(programs, started):
    """Thirty busy programs, every second one of lower priority."""
    stranger, = programs("stranger")
    for number in range(30):
        lower = ["nice"] if number % 2 else []
        started(subprocess.Popen([*lower, stranger, "600"], start_new_session=True))


def test_beside_thirty_busy_programs_nothing_is_lost_and_weights_add_up(prof, programs, whole_cpus, busy_machine, target, filtered):
    arguments = "-e", "cpu-clock", "-F", 999, "--weight", "ns", "-o", "out.folded", "--", target("script"), "used", 1, *programs("own"), "0.4"
    result = prof("record", *arguments)
    assert result.returncode == 0, result.stderr
    used = int((prof.folder / "used").read_text(encoding="ascii").split("all ")[1])
    stacks = Stacks.read(prof.folder / "out.folded")
    assert 0.8 < stacks.total / used < 1.02, result.stderr
    assert stacks.of_process("stranger") == 0
    assert " 0 lost" in result.stderr


@pytest.mark.parametrize("kind", ["threads", "forks", "switches"])
def test_what_a_storm_uses_is_in_the_profile_or_said_to_be_missing(prof, whole_cpus, target, kind):
    """A timer that expires while the kernel switches to the idle task samples that: of threads that switch all the time
    up to half is missing."""
    storm = "timeout", "0.5", target("storms"), kind
    result = prof("record", "-e", "cpu-clock", "-F", 999, "--weight", "ns", "-o", "out.folded", "--", target("script"), "used", 1, *storm)
    assert result.returncode == 0, result.stderr
    used = int((prof.folder / "used").read_text(encoding="ascii").split("all ")[1])
    sampled = Stacks.read(prof.folder / "out.folded").total / used
    assert 0.2 < sampled < 1.1, result.stderr
    assert sampled > 0.95 or "% not sampled" in result.stderr, result.stderr
    assert " 0 lost" in result.stderr


def test_no_file_is_opened_twice_however_many_processes_map_it(prof, programs, tmp_path):
    trace = tmp_path / "trace.txt"
    command = [prof.binary, "record", "-F", "999", "-o", "x.folded", "--", sys.executable, "-c", RUNS, "30", *programs("a", "b")]
    prof.binary = shutil.which("strace") or pytest.skip("no strace")
    assert prof("-f", "-y", "-o", trace, "-e", "trace=openat", *command).returncode == 0
    # A file that was looked up by its name is opened by its descriptor.
    opened = Counter(re.findall(r'"/proc/self/fd/\d+".* = \d+<(/[^>]+)>', trace.read_text(errors="replace")))
    assert any(path.endswith("/a") for path in opened) and any("libc.so" in path for path in opened)
    # A debug file is opened to unwind, and for its names.
    assert not [path for path, times in opened.items() if times > 1 + ("/debug/" in path)]
