"""Recording off-CPU time: --wall and --off-cpu."""

import os
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from asleep import state_of
from conftest import NOBODY
from elsewhere import elsewhere_ns
from profiles import Pprof, Stacks
from time_limit import TIME_LIMIT_S

WANTED = "[runnable]"

# The functions in which the threads of the target `waits` wait, and the reasons.
REASONS = {
    "naps": r"\[nanosleep\]", "wants_lock": r"\[mutex held by holds_lock( in .*)?\]", "holds_lock": r"\[nanosleep\]",
    "awaits_signal": r"\[futex pairs\]", "reads_pipe": r"\[read pipe\]", "polls_pipe": r"\[poll\]", "joins_thread": r"\[end of .*\]",
}


def wait_for(true):
    end = time.monotonic() + TIME_LIMIT_S
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def record(prof, *arguments, **options):
    """Returns the stacks of off-cpu in nanoseconds, and the output."""
    result = prof.run("record", "--weight", "ns", "--show-event", "off-cpu", "-o", "record.folded", "-o", "record.pb.gz", *arguments,
                      **options)
    return Stacks.read(prof.folder / "record.folded"), result


def duration_ns(prof):
    """Returns the length of the recording. No thread waits longer, however late the machine wakes threads and prof."""
    return Pprof.read(prof.folder / "record.pb.gz").message.duration_nanos


def assert_waited(prof, stacks, threads, *names):
    """Asserts that threads waited for at least 0.4 s, and not longer than the recording. On a busy machine they are
    also runnable without a CPU before they wait."""
    waited = stacks.holding(*names)
    wanted = stacks.count(lambda frames: frames[-1] == WANTED)
    assert waited <= threads * duration_ns(prof) and waited + wanted > threads * 0.39e9, stacks.hottest()


def reasons(stacks, function):
    """The nanoseconds of each leaf below a function."""
    sums = {}
    for frames, ns in stacks.counts.items():
        if function in frames:
            sums[frames[-1]] = sums.get(frames[-1], 0) + ns
    return sums


def own_clock(stdout):
    return {name: int(ns) for name, ns, _ in (line.split() for line in stdout.splitlines())}


def assert_agrees(prof, stacks, measured):
    """Asserts that each function has a thread with its name, which waits at least as long as measured by the program.
    The place of a wait is known from snapshots, of which a busy machine has fewer. tests/bench/waiting.py measures
    their accuracy."""
    pprof = Pprof.read(prof.folder / "record.pb.gz")
    waits, of_thread = pprof.sample_types().index(("off-cpu", "nanoseconds")), Counter()
    for sample in pprof.message.sample:
        of_thread[pprof.labels(sample)["thread"]] += sample.value[waits]
    for function, ns in measured.items():
        assert of_thread[function] > 0.99 * ns - 5e6, f"{function}: {of_thread[function]} ns of {ns}"
        recorded = stacks.holding(function)
        assert recorded == pytest.approx(ns, rel=0.15), f"{function}: {recorded} ns of {ns}\n{stacks.hottest()}"


def test_waiting_has_the_functions_and_times_that_the_program_measures_itself(ordinary, paranoid, target):
    paranoid(2)
    stacks, result = record(ordinary, "--off-cpu", "--", ordinary.bring(target("waits")), "2")
    measured = own_clock(result.stdout)
    assert {"naps", "wants_lock", "reads_pipe", "joins_thread"} <= set(measured)
    del measured["brief_life"], measured["threads"]  # threads of the first may end before a snapshot
    assert_agrees(ordinary, stacks, measured)
    for function, reason in REASONS.items():
        leaves = reasons(stacks, function)
        fitting = sum(ns for leaf, ns in leaves.items() if re.fullmatch(reason, leaf))
        assert fitting > 0.85 * (sum(leaves.values()) - leaves.get(WANTED, 0)), f"{function}: {leaves}"


def test_waits_shorter_than_asked_for_are_left_out_and_their_sum_is_told(prof, target):
    """Naps take 0.1 to 20 ms, with a log-uniform distribution. A busy machine only makes them longer. The omitted waits
    belong to the two threads, so they are bounded by the measurement of naps and by the total time."""
    stacks, result = record(prof, "--off-cpu=5ms", "--", target("waits"), "1.5", "100", "20000", "sleep")
    left_out = re.search(r"([\d.]+) ms of waiting were omitted", result.stderr)
    assert left_out, result.stderr
    assert 0.97 * 2 * own_clock(result.stdout)["naps"] < stacks.total + float(left_out[1]) * 1e6 < 2.03 * duration_ns(prof)
    assert 0 < stacks.holding("naps") < own_clock(result.stdout)["naps"]


def test_threads_that_die_asleep_have_waited_until_then(prof, target):
    stacks, _ = record(prof, "--off-cpu", "--", target("asleep"), "dies")
    assert_waited(prof, stacks, 2, "sleeps_for_ever", "[pause]")
    assert_waited(prof, stacks, 1, "sleeps", "[nanosleep]")


def test_a_thread_that_sleeps_while_another_one_executes_a_program_has_waited_until_then(prof, target):
    stacks, _ = record(prof, "--off-cpu", "--", target("asleep"), "execs")
    assert_waited(prof, stacks, 1, "sleeps_for_ever", "[pause]")
    assert stacks.count(lambda frames: frames[0] == "sleep" and frames[-1] == "[nanosleep]") > 0.39e9, stacks.hottest()


@pytest.mark.parametrize("program", ["asleep", "asleep_musl"])
def test_parent_and_child_that_share_memory_wait_by_their_own_stacks(prof, target, program):
    stacks, _ = record(prof, "--off-cpu", "--", target(program), "vforks")
    assert_waited(prof, stacks, 1, "main", "vforks", "[vfork]")
    if program == "asleep":  # otherwise stacks lack functions of musl's child
        assert_waited(prof, stacks, 1, "vforks", "sleeps", "[nanosleep]")


@pytest.fixture
def sleeper(target, started):
    """The target `asleep stays`, in pause(2)."""
    process = started(subprocess.Popen([target("asleep"), "stays"], text=True, stdout=subprocess.PIPE))
    assert process.stdout.readline() == "ready\n"
    wait_for(lambda: state_of(process.pid) == "S")
    return process


def test_a_stopped_thread_says_so(prof, sleeper):
    sleeper.send_signal(signal.SIGSTOP)
    wait_for(lambda: state_of(sleeper.pid) == "T")
    stacks, _ = record(prof, "--off-cpu", "-p", sleeper.pid, "--duration", "0.5")
    assert stacks.holding("sleeps_for_ever", "[stopped]") > 0.4e9, stacks.hottest()


def test_a_thread_that_never_runs_is_found_where_it_waits(prof, sleeper):
    stacks, _ = record(prof, "--off-cpu", "-p", sleeper.pid, "--duration", "0.5", "--fail-if", "placeless>5%")
    assert stacks.holding("main", "sleeps_for_ever", "[pause]") == pytest.approx(duration_ns(prof), rel=0.02)
    assert stacks.total == stacks.holding("[pause]")


def kernel_stack(pid):
    """Returns the kernel functions in which a thread waits, from the system call on, according to /proc."""
    lines = Path(f"/proc/{pid}/stack").read_text(encoding="utf-8").splitlines()
    return tuple(re.fullmatch(r"\[<0>\] (\S+)\+0x\S+( \[.*\])?", line)[1] for line in reversed(lines))


def functions_below(stacks, function):
    return {frames[frames.index(function) + 1:-1] for frames in stacks.counts if function in frames}


def test_root_sees_where_in_the_kernel_a_thread_waits(root, prof, sleeper):
    expected = kernel_stack(sleeper.pid)
    assert len(expected) > 2
    stacks, _ = record(prof, "--off-cpu", "--annotate", "-p", sleeper.pid, "--duration", "0.3")
    for frames in functions_below(stacks, "sleeps_for_ever"):
        kernel = tuple(name for name in frames if name.endswith("_[k]"))
        assert kernel == tuple(f"{name}_[k]" for name in expected)
        assert frames[-len(kernel):] == kernel, "between the user's frames and the reason"


def test_functions_of_the_kernel_are_the_same_for_running_and_waiting(root, prof, target):
    record(prof, "--wall", "-F", "5000", "--", target("waits"), "1", "100", "1000", "pipe")
    message = Pprof.read(prof.folder / "record.pb.gz").message
    kernel = {mapping.id for mapping in message.mapping if "kernel" in message.string_table[mapping.filename]}
    places = [(bool(location.address), [line.function_id for line in location.line])
              for location in message.location if location.mapping_id in kernel]
    ran = {id for has_address, ids in places if has_address for id in ids}
    waited = {id for has_address, ids in places if not has_address for id in ids}
    assert len(kernel) == 1 and len(waited & ran) > 2
    names = [(message.string_table[f.name], f.filename) for f in message.function if f.id in ran | waited]
    assert len(names) == len(set(names)), "a function of the same name is the same one"


@pytest.mark.parametrize("who", ["all-user", "ordinary"])
def test_without_the_kernel_stacks_end_at_the_system_call(request, paranoid, target, who):
    paranoid(2)
    user = request.getfixturevalue("prof" if who == "all-user" else who)
    program = target("asleep") if who == "all-user" else user.bring(target("asleep"))
    options = ["--all-user"] if who == "all-user" else []
    stacks, _ = record(user, "--off-cpu", "--annotate", *options, "--", program, "halves", "0.5")
    assert stacks.holding("sleeps", "[nanosleep]") > 0
    assert not [name for name in stacks.names() if name.endswith("_[k]")]


def test_an_ordinary_user_attaches_to_a_program_of_their_own(ordinary, paranoid, target, started):
    paranoid(2)
    process = started(subprocess.Popen([ordinary.bring(target("asleep")), "stays"], text=True, stdout=subprocess.PIPE,
                                       user=NOBODY, group=NOBODY, extra_groups=[]))
    assert process.stdout.readline() == "ready\n"
    wait_for(lambda: state_of(process.pid) == "S")
    stacks, _ = record(ordinary, "--off-cpu", "-p", process.pid, "--duration", "0.5")
    assert stacks.holding("main", "sleeps_for_ever", "pause", "[pause]") == pytest.approx(duration_ns(ordinary), rel=0.02), stacks.hottest()


@pytest.mark.parametrize("option", ["--wall", "--off-cpu"])
def test_a_program_that_ends_at_once_can_be_recorded(prof, option):
    prof.run("record", option, "-o", "out.pb.gz", "--", "true")
    assert (prof.folder / "out.pb.gz").exists()


def assert_whole(pprof, stdout, elsewhere):
    """Running and waiting add up to the time of all threads of `asleep halves`. Waiting time is exact. Running time is
    sampled: if a host takes CPUs from a virtual machine, late timers lose samples. A thread whose CPU is elsewhere for
    some nanoseconds neither waits nor uses CPU time."""
    least_ns, most_ns, cpu_ns = map(int, stdout.split())
    sums = {name: sum(sample.value[i] for sample in pprof.message.sample)
            for i, (name, unit) in enumerate(pprof.sample_types()) if unit == "nanoseconds"}
    assert set(sums) == {"cpu", "off-cpu"}
    most_ns += pprof.message.duration_nanos
    assert 0.99 * (least_ns - cpu_ns) - elsewhere < sums["off-cpu"] < 1.01 * (most_ns - cpu_ns)
    assert 0.8 * cpu_ns < sums["cpu"] < 1.05 * cpu_ns + 20e6, "with the start of the program"


@pytest.mark.parametrize("who", ["prof", "ordinary"])
def test_running_and_waiting_are_the_whole_time_of_all_threads(request, paranoid, target, who):
    paranoid(2)
    user, before = request.getfixturevalue(who), elsewhere_ns()
    _, result = record(user, "--wall", "--", target("asleep") if who == "prof" else user.bring(target("asleep")), "halves", "1.5")
    assert_whole(Pprof.read(user.folder / "record.pb.gz"), result.stdout, elsewhere_ns() - before)


def test_idle_threads_are_one_and_can_be_ignored(prof, target, started):
    process = started(subprocess.Popen([target("idlers"), "20"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    assert process.stdout.readline() == "ready\n"
    arguments = ["--off-cpu", "-p", process.pid, "--duration", "0.5"]
    stacks, _ = record(prof, *arguments)
    assert stacks.holding("works_in_pool", "awaits_work", "[futex work]") == pytest.approx(20 * duration_ns(prof), rel=0.02), stacks.hottest()
    assert "pool × 20 threads" in prof("report", "--by", "thread", "--idle", "record.pb.gz").stdout
    stacks, result = record(prof, *arguments, "--ignore-idle")
    assert stacks.total == 0
    left_out = re.search(r"([\d.]+) s of waiting were omitted", prof("report", "record.pb.gz").stdout)
    assert left_out and float(left_out[1]) == pytest.approx(21e-9 * duration_ns(prof), rel=0.02), result.stderr


def test_a_checkpoint_holds_what_was_waited_for_until_then(prof, sleeper, started):
    recording = started(prof.start("record", "-q", "--off-cpu", "--checkpoint=0.3", "-o", "out.pb.gz", "-p", sleeper.pid))
    wait_for((prof.folder / "out.pb.gz").exists)
    recording.kill()
    recording.wait()
    assert "[pause]" in prof("report", "-e", "off-cpu", "--idle", "out.pb.gz").stdout


def test_text_of_wall_time_holds_both_events_in_the_order_of_time(prof, target):
    prof.run("record", "--wall", "-o", "out.folded", "-o", "out.perf.txt", "--", target("asleep"), "halves", "0.5")
    stacks = Stacks.read(prof.folder / "out.folded")
    assert stacks.holding("computes") and stacks.holding("sleeps", "[nanosleep]"), stacks.hottest()
    times = [float(time) for time in re.findall(r"^\S.* ([\d.]+): +\d+ ", (prof.folder / "out.perf.txt").read_text(), re.M)]
    assert len(times) > 10 and times == sorted(times)


@pytest.fixture
def recorded(prof, target):
    """A profile with both events. prof knows its folder."""
    record(prof, "--wall", "--", target("asleep"), "halves", "0.6")
    return prof


def test_waiting_is_shown_by_all_commands_that_read_profiles(recorded):
    report = recorded("report", "-e", "off-cpu", "record.pb.gz").stdout
    assert re.search(r"sleeps\s.*nanosleep", report) and "computes" not in report.partition("sleeps")[0], report
    difference = recorded("diff", "-e", "off-cpu", "record.pb.gz", "record.pb.gz")
    assert difference.returncode == 0, difference.stderr
    converted = recorded("convert", "-e", "off-cpu", "record.pb.gz", "-o", "w.folded")
    assert converted.returncode == 0, converted.stderr
    assert Stacks.read(recorded.folder / "w.folded").holding("[nanosleep]")
    annotated = recorded("annotate", "-e", "off-cpu", "record.pb.gz", "sleeps")
    assert annotated.returncode == 0 and "usleep" in annotated.stdout, annotated.stdout + annotated.stderr


def test_a_condition_of_waiting_needs_waiting(prof):
    result = prof("record", "--fail-if", "placeless>5%", "touch", "ran")
    assert result.returncode == 2
    assert "--wall" in result.stderr and os.listdir(prof.folder) == []


def test_what_a_look_lacks_is_told_with_what_gives_it(prof, paranoid, target, started, client):
    """Root without the capability may open events on other users' processes, but not read these processes."""
    paranoid(2)
    process = started(subprocess.Popen([target("asleep"), "stays"], text=True, stdout=subprocess.PIPE,
                                       user=NOBODY, group=NOBODY, extra_groups=[]))
    assert process.stdout.readline() == "ready\n"
    result = subprocess.run([client("setpriv"), "--bounding-set=-sys_ptrace", prof.binary, "record", "--off-cpu",
                             "-o", "out.folded", "-p", str(process.pid), "--duration", "0.5"],
                            check=False, capture_output=True, text=True, cwd=prof.folder, timeout=60)
    assert result.returncode == 0, result.stderr
    assert f"process {process.pid}" in result.stderr and "SYS_PTRACE" in result.stderr
    assert Stacks.read(prof.folder / "out.folded").total, "times are known without stacks"


@pytest.mark.parametrize("options, event, row", [
    (["--off-cpu"], "off-cpu", "sleeps\\b.*nanosleep"), (["--wall", "--show-event", "off-cpu"], "off-cpu", "sleeps\\b.*nanosleep"),
    (["--wall"], "cpu-clock", "(computes|spin)\\b")])
def test_the_live_view_shows_one_event_of_now(prof, target, started, options, event, row):
    top = started(prof.start("top", *options, "-b", "-d", "0.2", "-n", 5 * TIME_LIMIT_S, "--", target("asleep"), "halves", 600))
    shown = ""
    while not re.search(rf", {event}: (.|\n)*{row}", shown):
        line = top.stdout.readline()
        assert line, shown
        shown += line
