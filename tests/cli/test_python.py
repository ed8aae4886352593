"""The functions of Python between native frames, as copiers and pollers read them (docs/PYTHON.md)."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import NOBODY
from profiles import Stacks
from test_waiting import wait_for

PROGRAM = Path(__file__).parent / "python_stacks.py"
SHORT_THREADS = Path(__file__).parent / "python_short_threads.py"
WAITS = Path(__file__).parent / "python_waits.py"
MISSING = "[python?]"
FUNCTION = re.compile(r"py::(?P<name>[^:]+):(?P<file>.*)")
VERSIONS = ["3.11", "3.12", "3.13", "3.14", "3.15"]


def interpreter(version):
    """The path of an interpreter that prof can read, which Debian 12 has in one version."""
    path = shutil.which(f"python{version}")
    if path and subprocess.run([path, "-c", "import ctypes"], cwd="/", capture_output=True, check=False).returncode:
        path = None
    if not path and version == "3.11" and sys.version_info[:2] == (3, 11):
        path = os.path.realpath(sys.executable)
    return path or pytest.skip(f"python{version} is missing")


@pytest.fixture(params=VERSIONS)
def python(request):
    return interpreter(request.param)


def skip_unless_ordinary_users_can_run(python):
    try:
        subprocess.run([python, "-c", "import ctypes"], user=NOBODY, cwd="/", capture_output=True, check=True)
    except (PermissionError, subprocess.CalledProcessError):
        pytest.skip("an ordinary user cannot run this interpreter")


def functions(frames, file=PROGRAM.name):
    """The names of the functions of a file in a stack, outermost first."""
    found = [FUNCTION.fullmatch(frame) for frame in frames]
    return [match["name"].split(".")[-1] for match in found if match and Path(match["file"]).name == file]


def is_possible(names):
    """Whether each function is called by the one that its name says. The others are called by anything."""
    for caller, name in zip([""] + names, names):
        wanted = name.partition("_of_")[2]
        if wanted and caller.partition("_of_")[0] != wanted and caller != name:
            # A comprehension is a function of its own before 3.12.
            if not caller.startswith("<"):
                return False
    return True


def assert_possible(stacks):
    wrong = [frames for frames in stacks.counts if not is_possible(functions(frames))]
    assert not wrong, wrong[:3]


def assert_complete_or_counted(recording, least):
    """Each sample in a loop of the interpreter has its functions, or says that they are missing and is counted."""
    stacks = recording.stacks
    missing = stacks.holding(MISSING)
    said = re.search(r"([\d,]+) without their Python frames", recording.result.stderr)
    assert missing == (int(said[1].replace(",", "")) if said else 0)
    known = stacks.count(lambda frames: functions(frames) != [])
    in_work = stacks.count(lambda frames: "_PyEval_EvalFrameDefault" in frames or functions(frames) != [])
    assert known + missing >= 0.9 * in_work, stacks.hottest()
    assert known >= least, stacks.hottest()


def test_no_stack_is_impossible(prof, python):
    recording = prof.record("-F", "999", "--", python, PROGRAM, "1.5", "2")
    assert_possible(recording.stacks)
    assert_complete_or_counted(recording, least=300)
    assert "whose functions have no names" not in recording.result.stderr


def test_no_stack_of_an_ordinary_user_is_impossible(ordinary, python):
    program = Path(shutil.copy(PROGRAM, ordinary.folder))
    program.chmod(0o644)
    skip_unless_ordinary_users_can_run(python)
    recording = ordinary.record("-F", "999", "--", python, program, "1.5", "2")
    assert_possible(recording.stacks)
    assert_complete_or_counted(recording, least=1)


def test_functions_have_their_files_and_lines(prof, python, tmp_path):
    program = tmp_path / "lines.py"
    program.write_text("import time\n"
                       "class Outer:\n"
                       "    def burn(self, count):\n"
                       "        total = 0\n"
                       "        for i in range(count):\n"
                       "            total += i * i\n"
                       "        return total\n"
                       "while time.process_time() < 1:\n"
                       "    Outer().burn(100000)\n")
    prof.record("-F", "999", "--", python, program)
    rows = json.loads(prof.run("report", "--json", "--by", "line", prof.folder / "record.pb.gz").stdout)["rows"]
    burning = {row["line"]: row["self"]["samples"] for row in rows if row.get("name", "").startswith("py::Outer.burn:")}
    assert burning and set(burning) <= {3, 4, 5, 6, 7}, rows
    assert burning.get(5, 0) + burning.get(6, 0) > 0.8 * sum(burning.values()), burning


def test_names_of_every_width_are_right(prof, python, tmp_path):
    names = ["plain", "stra\u00dfe", "\u540d\u524d", "\U00020000\U00020001"]
    program = tmp_path / "names.py"
    program.write_text("import time\n" +
                       "".join(f"def {name}():\n    for i in range(10000): pass\n" for name in names) +
                       "while time.process_time() < 1.5:\n" + "".join(f"    {name}()\n" for name in names), encoding="utf-8")
    stacks = prof.record("-F", "999", "--", python, program).stacks
    found = {name for frames in stacks.counts for name in functions(frames, "names.py")}
    assert set(names) <= found, found


def test_forks_and_programs_that_a_python_starts(prof, python, tmp_path):
    """A child has the functions of its own; a program that it executes has none of the parent's."""
    program = tmp_path / "forks.py"
    program.write_text("import os, sys, time\n"
                       "def burn_in_child():\n    while time.process_time() < 0.7: pass\n"
                       "def burn_in_parent():\n    while time.process_time() < 0.7: pass\n"
                       "if os.fork() == 0:\n    burn_in_child()\n"
                       "    os.execv('/bin/sh', ['sh', '-c', 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'])\n"
                       "burn_in_parent()\nos.wait()\n")
    stacks = prof.record("-F", "999", "--", python, program).stacks
    assert stacks.holding("burn_in_child", "burn_in_parent") == 0
    for name in "burn_in_child", "burn_in_parent":
        assert stacks.count(lambda frames, name=name: name in functions(frames, "forks.py")) > 50, stacks.hottest()
    of_shell = [frames for frames in stacks.counts if frames[0] in ("sh", "dash")]
    assert of_shell and not [frames for frames in of_shell if functions(frames, "forks.py") or MISSING in frames]


def test_a_running_process_shows_its_functions(prof, python, started, until_busy):
    process = started(subprocess.Popen([python, PROGRAM, "60", "3"], start_new_session=True))
    recording = prof.record("-F", "499", "-p", str(process.pid), "--", *until_busy(process.pid, 1))
    assert_possible(recording.stacks)
    assert_complete_or_counted(recording, least=50)


def test_threads_of_a_running_process_that_soon_end(prof, python, started, until_busy):
    process = started(subprocess.Popen([python, SHORT_THREADS, "60"], start_new_session=True))
    recording = prof.record("-F", "999", "-p", str(process.pid), "--", *until_busy(process.pid, 1))
    stacks = recording.stacks
    own = {frames: functions(frames, SHORT_THREADS.name) for frames in stacks.counts}
    assert not [frames for frames, names in own.items() if not is_possible(names)]
    # A system call belongs to the function that makes it, although the kernel writes its result on the stack.
    calls = {"clock_of_work": "posix_cpu_clock_get|time_thread_time", "file_of_work": "fstatat|statx", "pause_of_work": "nanosleep"}
    for frames, names in own.items():
        made = {name for name, call in calls.items() if any(re.search(call, frame) for frame in frames)}
        assert not names or names[-1] not in calls or made <= {names[-1]}, frames
    known = stacks.count(lambda frames: functions(frames, SHORT_THREADS.name) != [])
    assert known >= (50 if os.geteuid() == 0 else 1), stacks.hottest()
    assert "whose functions have no names" not in recording.result.stderr


def test_functions_are_not_shown_twice_with_perf_support(prof, tmp_path):
    python = next((path for version in VERSIONS[1:] if (path := shutil.which(f"python{version}"))), None)
    if not python or subprocess.run([python, "-X", "perf", "-c", ""], cwd=tmp_path, capture_output=True, check=False).returncode:
        pytest.skip("a python with -X perf is missing")
    recording = prof.record("-F", "999", "--", python, "-X", "perf", PROGRAM, "1", "1")
    names = [functions(frames) for frames in recording.stacks.counts if MISSING not in frames]
    assert not [stack for stack in names for caller, name in zip(stack, stack[1:]) if caller == name and not name.startswith("deep_")]


def test_other_programs_have_no_such_frames(prof, target):
    recording = prof.record("-F", "499", "--", target("shares"), "0.5")
    assert not recording.stacks.holding(MISSING)
    assert "Python" not in recording.result.stderr


def test_shares_are_those_of_the_program_s_own_clock(prof, python, tmp_path):
    """Samples without functions are of both functions alike."""
    program = tmp_path / "shares.py"
    program.write_text("import time\n"
                       "def third():\n"
                       "    until = time.thread_time() + 0.01\n"
                       "    while time.thread_time() < until: sum(range(300))\n"
                       "def rest():\n"
                       "    until = time.thread_time() + 0.02\n"
                       "    while time.thread_time() < until: sorted(range(300), key=negative)\n"
                       "def negative(x):\n    return -x\n"
                       "times = {third: 0, rest: 0}\n"
                       "while sum(times.values()) < 1.5:\n"
                       "    for function in times:\n"
                       "        start = time.thread_time()\n"
                       "        function()\n"
                       "        times[function] += time.thread_time() - start\n"
                       "print(times[third] / sum(times.values()))\n")
    recording = prof.record("-F", "999", "--", python, program)
    wanted = float(recording.result.stdout)
    counts = {name: recording.stacks.count(lambda frames, name=name: name in functions(frames, "shares.py")) for name in ("third", "rest")}
    total = sum(counts.values())
    assert total > 200, recording.stacks.hottest()
    assert abs(counts["third"] / total - wanted) < 0.02 + 3 * (wanted * (1 - wanted) / total) ** 0.5, (counts, wanted)


def test_an_older_python_is_named_in_a_notice(prof, tmp_path):
    python = next((path for minor in range(10, 6, -1) if (path := shutil.which(f"python3.{minor}"))), None)
    if not python or subprocess.run([python, "-c", ""], cwd=tmp_path, capture_output=True, check=False).returncode:
        pytest.skip("a python before 3.11 is missing")
    result = prof.record("-F", "499", "--", python, "-c", "sum(i * i for i in range(3000000))").result
    assert "are not shown: it is older than Python 3.11" in result.stderr


# Waits

RUNNABLE = "[runnable]"
# The functions in which the threads of WAITS wait all the time, and the reasons.
REASONS = {"sleeps_for_work": "[nanosleep]", "holds_lock": "[nanosleep]", "wants_lock": "[futex]", "gets_from_queue": "[futex]",
           "receives_from_socket": "[recv socket]"}
HOLDER = re.compile(r"\[GIL held by (?P<thread>.+?)( in (?P<function>.+))?\]")


def record_waits(prof, *arguments):
    """The nanoseconds of each stack that waits, and the sums of the recording."""
    prof.run("record", "--weight", "ns", "--show-event", "off-cpu", "-o", "record.folded", "-o", "record.pb.gz", *arguments)
    sums = json.loads(prof.run("report", "--json", "-e", "off-cpu", prof.folder / "record.pb.gz").stdout)["waiting"]
    return Stacks.read(prof.folder / "record.folded"), sums


def waited(stacks, function):
    """The nanoseconds for each reason for which a function of WAITS waits."""
    sums = {}
    for frames, ns in stacks.counts.items():
        if functions(frames, WAITS.name)[-1:] == [function] and frames[-1] != RUNNABLE:
            sums[frames[-1]] = sums.get(frames[-1], 0) + ns
    return sums


def is_possible_wait(frames):
    """Whether the function that waits, and the one that holds the GIL, run in the same phase (or in any)."""
    holder = HOLDER.fullmatch(frames[-1])
    phases = {name[-5:] for name in functions(frames, WAITS.name) + [holder["function"] if holder else None] if name and "_in_" in name}
    return len(phases) < 2 and not (holder and (holder["function"] or "").startswith(("spends", "brief")) and holder["thread"] != "hog")


def assert_waits_are_right(stacks, sums, seconds):
    """On a busy machine, threads reach the place where they wait later."""
    for function, reason in REASONS.items():
        assert waited(stacks, function).get(reason, 0) > 0.7e9 * seconds, (function, waited(stacks, function))
    assert not [frames for frames in stacks.counts if not is_possible_wait(frames)]
    missing = stacks.count(lambda frames: MISSING in frames and frames[-1] != RUNNABLE)
    assert missing == sums.get("frameless_ns", 0) <= 0.02 * sums["waiting_ns"], stacks.hottest()


def assert_holders_are_known(stacks):
    """On a busy machine, the next holder often waits for a CPU, and no thread holds the GIL."""
    for phase in "a", "b":
        reasons = waited(stacks, f"wants_in_{phase}")
        known = sum(ns for reason, ns in reasons.items() if reason in (f"[GIL held by hog in {name}_in_{phase}]" for name in ("spends", "brief")))
        assert known > 0.2 * sum(ns for reason, ns in reasons.items() if reason != "[nanosleep]"), reasons


@pytest.mark.parametrize("event", ["--wall", "--off-cpu"])
def test_waits_have_the_functions_that_wait_and_that_hold_the_gil(prof, python, event):
    stacks, sums = record_waits(prof, event, "--", python, WAITS, "1.5")
    assert_waits_are_right(stacks, sums, 1.5)
    assert_holders_are_known(stacks)


def test_waits_of_an_ordinary_user_have_their_functions(ordinary, python):
    program = Path(shutil.copy(WAITS, ordinary.folder))
    program.chmod(0o644)
    skip_unless_ordinary_users_can_run(python)
    stacks, sums = record_waits(ordinary, "--wall", "--", python, program, "1.5")
    assert_waits_are_right(stacks, sums, 1.5)
    assert_holders_are_known(stacks)


def are_asleep(pid, count):
    stats = [path.read_text(encoding="utf-8") for path in Path(f"/proc/{pid}/task").glob("*/stat")]
    return len(stats) == count and all(stat.rpartition(")")[2].split()[0] == "S" for stat in stats)


def test_a_running_process_shows_where_its_threads_wait_all_the_time(prof, python, started):
    process = started(subprocess.Popen([python, WAITS, "60"], start_new_session=True))
    wait_for(lambda: are_asleep(process.pid, len(REASONS) + 1))
    stacks, sums = record_waits(prof, "--off-cpu", "-p", str(process.pid), "--", "sleep", "1")
    assert_waits_are_right(stacks, sums, 1)
