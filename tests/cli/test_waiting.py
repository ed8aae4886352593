"""Recording what threads wait for: --wall and --off-cpu."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import NOBODY
from profiles import Pprof, Stacks

WANTED = "[wanted a CPU]"

# What the threads of the target `waits` are in, and for what reason.
REASONS = {
    "naps": r"\[nanosleep\]", "wants_lock": r"\[mutex held by holds_lock in .*\]", "holds_lock": r"\[nanosleep\]",
    "awaits_signal": r"\[futex pairs\]", "reads_pipe": r"\[read pipe\]", "polls_pipe": r"\[poll\]", "joins_thread": r"\[end of .*\]",
}


def wait_for(true, seconds=20):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def state_of(pid, tid=None):
    return Path(f"/proc/{pid}/task/{tid or pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]


def record(prof, *arguments, **options):
    """The stacks of off-cpu in nanoseconds, and what was printed."""
    result = prof("record", "--weight", "ns", "--show-event", "off-cpu", "-o", "record.folded", "-o", "record.pb.gz", *arguments,
                  **options)
    assert result.returncode == 0, result.stderr
    return Stacks.read(prof.folder / "record.folded"), result


def reasons(stacks, function):
    """The nanoseconds of each leaf below a function."""
    sums = {}
    for frames, ns in stacks.counts.items():
        if function in frames:
            sums[frames[-1]] = sums.get(frames[-1], 0) + ns
    return sums


def own_clock(stdout):
    return {name: int(ns) for name, ns, _ in (line.split() for line in stdout.splitlines())}


def assert_agrees(stacks, measured):
    """The times of functions are those that the program's own clock says, within 3 %."""
    for function, ns in measured.items():
        recorded = stacks.holding(function)
        assert abs(recorded - ns) <= 0.03 * ns + 5e6, f"{function}: {recorded} ns of {ns}\n{stacks.hottest()}"


def test_waiting_has_the_functions_and_times_that_the_program_measures_itself(ordinary, paranoid, target):
    paranoid(2)
    stacks, result = record(ordinary, "--off-cpu", "--", ordinary.bring(target("waits")), "2")
    measured = own_clock(result.stdout)
    assert {"naps", "wants_lock", "reads_pipe", "joins_thread"} <= set(measured)
    del measured["brief_life"], measured["threads"]  # the first is of threads that may end before a look
    assert_agrees(stacks, measured)
    for function, reason in REASONS.items():
        leaves = reasons(stacks, function)
        fitting = sum(ns for leaf, ns in leaves.items() if re.fullmatch(reason, leaf))
        assert fitting > 0.85 * (sum(leaves.values()) - leaves.get(WANTED, 0)), f"{function}: {leaves}"


def test_waits_shorter_than_asked_for_are_left_out_and_their_sum_is_told(prof, target):
    stacks, result = record(prof, "--off-cpu=5ms", "--", target("waits"), "1.5", "100", "20000", "sleep")
    naps, measured = stacks.holding("naps"), own_clock(result.stdout)["naps"]
    assert 0.4 * measured < naps < 0.95 * measured  # of lengths at random, as many of each order of magnitude
    left_out = re.search(r"([\d.]+) ms of waiting were left out", result.stderr)
    assert left_out, result.stderr
    assert stacks.total + float(left_out[1]) * 1e6 == pytest.approx(2 * measured, rel=0.03), "with main's"


def test_threads_that_die_asleep_have_waited_until_then(prof, target):
    stacks, _ = record(prof, "--off-cpu", "--", target("asleep"), "dies")
    assert 2 * 0.39e9 < stacks.holding("sleeps_for_ever", "[pause]") < 2 * 0.6e9, stacks.hottest()
    assert 0.39e9 < stacks.holding("sleeps", "[nanosleep]") < 0.5e9


def test_a_thread_that_sleeps_while_another_one_executes_a_program_has_waited_until_then(prof, target):
    stacks, _ = record(prof, "--off-cpu", "--", target("asleep"), "execs")
    assert 0.39e9 < stacks.holding("sleeps_for_ever", "[pause]") < 0.6e9, stacks.hottest()
    assert 0.39e9 < stacks.count(lambda frames: frames[0] == "sleep" and frames[-1] == "[nanosleep]") < 0.6e9


@pytest.mark.parametrize("program", ["asleep", "asleep_musl"])
def test_a_parent_waits_for_a_child_that_shares_its_memory(prof, target, program):
    stacks, _ = record(prof, "--off-cpu", "--", target(program), "vforks")
    assert 0.39e9 < stacks.holding("main", "vforks", "[vfork]") < 0.6e9, stacks.hottest()


def test_a_child_that_shares_its_parents_memory_waits_by_its_own_stack(prof, target):
    stacks, _ = record(prof, "--off-cpu", "--", target("asleep"), "vforks")
    assert 0.39e9 < stacks.holding("vforks", "sleeps", "[nanosleep]") < 0.6e9, stacks.hottest()


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
    stacks, _ = record(prof, "--off-cpu", "-p", sleeper.pid, "--duration", "0.5")
    assert stacks.holding("main", "sleeps_for_ever", "[pause]") == pytest.approx(0.5e9, rel=0.1)
    assert stacks.total == stacks.holding("[pause]")


def kernel_stack(pid):
    """The kernel's functions in which a thread waits, from the system call on, as /proc says."""
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
    stacks, _ = record(ordinary, "--off-cpu", "-p", process.pid, "--duration", "0.5")
    assert stacks.holding("main", "sleeps_for_ever", "pause", "[pause]") == pytest.approx(0.5e9, rel=0.1), stacks.hottest()


@pytest.mark.parametrize("option", ["--wall", "--off-cpu"])
def test_a_program_that_ends_at_once_can_be_recorded(prof, option):
    result = prof("record", option, "-o", "out.pb.gz", "--", "true")
    assert result.returncode == 0, result.stderr
    assert (prof.folder / "out.pb.gz").exists()


def sums_by_type(pprof):
    return {name: sum(sample.value[i] for sample in pprof.message.sample)
            for i, (name, unit) in enumerate(pprof.sample_types()) if unit == "nanoseconds"}


@pytest.mark.parametrize("who", ["prof", "ordinary"])
def test_running_and_waiting_are_the_whole_time_of_all_threads(request, paranoid, target, who):
    paranoid(2)
    user = request.getfixturevalue(who)
    _, result = record(user, "--wall", "--", target("asleep") if who == "prof" else user.bring(target("asleep")), "halves", "1.5")
    life_ns, cpu_ns = map(int, result.stdout.split())
    sums = sums_by_type(Pprof.read(user.folder / "record.pb.gz"))
    assert set(sums) == {"cpu", "off-cpu"}
    assert sums["cpu"] == pytest.approx(cpu_ns, rel=0.05)
    assert sums["cpu"] + sums["off-cpu"] == pytest.approx(life_ns, rel=0.015)


def test_idle_threads_are_one_and_can_be_ignored(prof, target, started):
    process = started(subprocess.Popen([target("idlers"), "20"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    assert process.stdout.readline() == "ready\n"
    arguments = ["--off-cpu", "-p", process.pid, "--duration", "0.5"]
    stacks, _ = record(prof, *arguments)
    assert stacks.holding("works_in_pool", "awaits_work", "[futex work]") == pytest.approx(20 * 0.5e9, rel=0.1), stacks.hottest()
    assert "pool × 20 threads" in prof("report", "--by", "thread", "record.pb.gz").stdout
    stacks, result = record(prof, *arguments, "--ignore-idle")
    assert stacks.total == 0
    left_out = re.search(r"([\d.]+) s of waiting were left out", prof("report", "record.pb.gz").stdout)
    assert left_out and float(left_out[1]) == pytest.approx(20 * 0.5, rel=0.2), result.stderr


def test_a_checkpoint_holds_what_was_waited_for_until_then(prof, sleeper, started):
    recording = started(prof.start("record", "-q", "--off-cpu", "--checkpoint=0.3", "-o", "out.pb.gz", "-p", sleeper.pid))
    wait_for((prof.folder / "out.pb.gz").exists)
    recording.kill()
    recording.wait()
    assert "[pause]" in prof("report", "-e", "off-cpu", "out.pb.gz").stdout


def test_folded_stacks_of_wall_time_hold_both_events(prof, target):
    result = prof("record", "--wall", "-o", "out.folded", "--", target("asleep"), "halves", "0.5")
    assert result.returncode == 0, result.stderr
    stacks = Stacks.read(prof.folder / "out.folded")
    assert stacks.holding("computes") and stacks.holding("sleeps", "[nanosleep]"), stacks.hottest()


def test_waits_and_samples_are_written_in_the_order_of_time(prof, target):
    result = prof("record", "--wall", "-o", "out.perf.txt", "--", target("asleep"), "halves", "0.5")
    assert result.returncode == 0, result.stderr
    times = [float(time) for time in re.findall(r"^\S.* ([\d.]+): +\d+ ", (prof.folder / "out.perf.txt").read_text(), re.M)]
    assert len(times) > 100 and times == sorted(times)


@pytest.fixture
def recorded(prof, target):
    """A profile of both events; prof knows its folder."""
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


def test_a_condition_can_be_of_the_time_without_a_stack(prof, sleeper):
    arguments = ["record", "-q", "--off-cpu", "-o", "out.folded", "-p", sleeper.pid, "--duration", "0.3"]
    assert prof(*arguments, "--fail-if", "placeless>5%").returncode == 0


def test_a_condition_of_waiting_needs_waiting(prof):
    result = prof("record", "--fail-if", "placeless>5%", "touch", "ran")
    assert result.returncode == 2
    assert "--wall" in result.stderr and os.listdir(prof.folder) == []


def test_what_a_look_lacks_is_told_with_what_gives_it(prof, paranoid, target, started, client):
    """Root without the capability may open events on other users' processes, but not read them."""
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


def test_the_live_view_shows_what_is_waited_for_now(prof, target):
    result = prof("top", "--off-cpu", "-b", "-d", "0.5", "-n", "2", "--", target("asleep"), "halves", "3")
    assert result.returncode == 0, result.stderr
    last = result.stdout.rstrip().rpartition("\n\n")[2]
    assert re.search(r"sleeps\b.*", last) and "nanosleep" in last, last


def test_the_live_view_shows_one_of_both_events(prof, target):
    result = prof("top", "--wall", "--show-event", "off-cpu", "-b", "-d", "0.5", "-n", "2", "--", target("asleep"), "halves", "3")
    assert "off-cpu" in result.stdout and "nanosleep" in result.stdout
    result = prof("top", "--wall", "-b", "-d", "0.5", "-n", "2", "--", target("asleep"), "halves", "3")
    assert "cpu-clock" in result.stdout and re.search(r"\b(computes|spin)\b", result.stdout)
