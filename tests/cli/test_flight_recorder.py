"""prof record --overwrite: the last seconds are kept in memory, and written when something happens."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from control_channel import end, weights
from profiles import Pprof
from time_limit import TIME_LIMIT_S

# Takes memory when its reader says so.
MEMORY = "import sys; print('ready', flush=True); sys.stdin.readline(); taken = b'x' * (256 << 20); print('taken', flush=True); sys.stdin.readline()"


def files(folder):
    return sorted(path for path in folder.iterdir() if re.fullmatch(r"out\.\d{8}-\d{8}\.pb\.gz", path.name))


def next_file(process, folder, before=()):
    """The first file that is not one of those."""
    deadline = time.monotonic() + TIME_LIMIT_S
    while not set(files(folder)) - set(before):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    return min(set(files(folder)) - set(before))


def reason(path):
    return next(comment for comment in Pprof.read(path).comments() if comment.startswith("written because of "))


@pytest.fixture
def flight(phases, controlled):
    """flight(…) is prof, keeping the last second of a target, and the target."""

    def start(*arguments, keep="1s"):
        target = phases()
        return controlled(target.pid, "-o", "out.pb.gz", "--keep-last", keep, *arguments, delay=()), target

    return start


def stop(process):
    process.send_signal(signal.SIGINT)
    return end(process)


def test_a_signal_writes_the_last_seconds_alone(prof, flight):
    process, target = flight()
    target("left 0.5")
    target("right 1.5")
    process.send_signal(signal.SIGUSR2)
    written = next_file(process, prof.folder)
    assert "SIGUSR2" in stop(process)
    sums = weights(written)
    assert sums["left"] == 0
    assert 0.1 < sums["right"] < 1.3
    assert 1 <= Pprof.read(written).message.duration_nanos / 1e9 < 1.6
    assert reason(written).endswith("SIGUSR2")


def test_the_end_writes_the_last_seconds(prof, flight):
    process, target = flight()
    target("left 0.5")
    target("right 1.5")
    stop(process)
    (written,) = files(prof.folder)
    assert weights(written)["left"] == 0 and weights(written)["right"] > 0.1


def test_what_is_kept_is_complete(prof, flight):
    process, target = flight(keep="60s")
    target("left 0.5")
    target("wait 8")
    target("right 0.5")
    stop(process)
    sums = weights(files(prof.folder)[0])
    assert sums["left"] == pytest.approx(0.5, abs=0.05)
    assert sums["right"] == pytest.approx(0.5, abs=0.05)


def test_snapshots_of_a_control_channel_may_overlap(prof, flight, channel):
    process, target = flight(keep="60s")
    target("left 0.3")
    channel("snapshot first.pb.gz")
    target("right 0.3")
    channel("snapshot second.pb.gz", "snapshot /dev/null", "snapshot nothing.pb.gz")
    stop(process)
    assert weights(prof.folder / "first.pb.gz")["left"] > 0.25
    second = weights(prof.folder / "second.pb.gz")
    assert second["left"] > 0.25 and second["right"] > 0.25
    nothing = weights(prof.folder / "nothing.pb.gz")
    assert nothing["left"] == 0 and nothing["right"] == 0


def test_waiting_is_kept_too(prof, flight):
    process, target = flight("--wall", keep="60s")
    target("wait 1.5")
    target("left 0.2")
    stop(process)
    assert 1.4 < weights(files(prof.folder)[0], "off-cpu")["wait_for"] < 2


def test_a_busy_target_fires_once(prof, flight):
    process, target = flight("--trigger", "cpu>5%", "--trigger", "rss>900G")
    target("wait 1.5")
    assert not files(prof.folder)
    target("left 2.5")
    written = next_file(process, prof.folder)
    target("wait 0.1")
    errors = stop(process)
    assert weights(written)["left"] > 0.02
    assert re.fullmatch(r"written because of cpu>5%: \d+ %", reason(written))
    assert re.search(rf"{written.name}: .* samples of .* s \(cpu>5%: \d+ %\)", errors)
    assert len(files(prof.folder)) == 2, "the trigger's and that of the end"


def test_memory_of_a_command_fires(prof, started):
    process = started(prof.start("record", "--keep-last", "10s", "--trigger", "rss>200M", "-o", "out.pb.gz", "--",
                                 sys.executable, "-c", MEMORY, stdin=subprocess.PIPE))
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "taken\n"
    written = next_file(process, prof.folder)
    assert reason(written).startswith("written because of rss>200M: 2")
    end(process)


def test_an_event_fires(prof, flight):
    process, target = flight("--trigger-event", "page-faults/period=1/u")
    target("left 0.2")
    target("children 1")
    written = next_file(process, prof.folder)
    stop(process)
    assert reason(written).endswith("page-faults/period=1/u")
    assert weights(written, "page-faults/period=1/u")[""] > 0


def test_a_tracepoint_fires(prof, root):
    if prof("record", "-q", "-e", "sched:sched_process_exec", "-o", "try.folded", "true").returncode:
        pytest.skip("needs tracepoints")
    result = prof("record", "--overwrite", "--trigger-event", "sched:sched_process_exec", "-o", "out.pb.gz", "--",
                  "sh", "-c", "true; /bin/true; sleep 1")
    assert result.returncode == 0, result.stderr
    assert "(sched:sched_process_exec)" in result.stderr


def test_perf_s_words_for_it_are_taken(prof):
    result = prof("record", "--overwrite", "--switch-output", "-o", "out.pb.gz", "--", "true")
    assert result.returncode == 0, result.stderr
    assert len(files(prof.folder)) == 1


@pytest.mark.parametrize("arguments, reason_of_it", [
    (["--trigger", "cpu>90%"], "needs --overwrite"),
    (["--overwrite", "--trigger", "disk>90%"], "cpu>90%"),
    (["--overwrite", "--switch-output=1s"], "only the last seconds"),
    (["--keep-last", "0s"], "a number with s, m, h or d"),
    (["--overwrite", "-o", "out.data"], "writes profiles"),
    (["--overwrite", "--alloc"], "exclude each other"),
])
def test_what_makes_no_sense_is_refused_before_the_command_runs(prof, arguments, reason_of_it):
    result = prof("record", *arguments, "--", "touch", "ran")
    assert result.returncode == 2, result.stderr
    assert reason_of_it in result.stderr
    assert not os.listdir(prof.folder)
