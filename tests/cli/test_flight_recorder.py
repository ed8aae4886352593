"""prof record --overwrite: the last seconds are kept in memory, and are written on an event."""

import re
import signal
import subprocess
import sys
import time

import pytest

from control_channel import end, weights
from profiles import Pprof
from time_limit import TIME_LIMIT_S

# Allocates memory on request.
MEMORY = "import sys; print('ready', flush=True); sys.stdin.readline(); taken = b'x' * (256 << 20); print('taken', flush=True); sys.stdin.readline()"


def files(folder):
    return sorted(path for path in folder.iterdir() if re.fullmatch(r"out\.\d{8}-\d{8}\.pb\.gz", path.name))


def next_file(process, folder, before=()):
    """Returns the first file that is not in `before`."""
    deadline = time.monotonic() + TIME_LIMIT_S
    while not set(files(folder)) - set(before):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    return min(set(files(folder)) - set(before))


def reason(path):
    return next(comment for comment in Pprof.read(path).comments() if comment.startswith("written because of "))


@pytest.fixture
def flight(phases, controlled):
    """flight(…) returns a prof that keeps the last second of a target, and the target."""

    def start(*arguments, keep="1s"):
        target = phases()
        return controlled(target.pid, "-o", "out.pb.gz", "--keep-last", keep, *arguments, delay=()), target

    return start


def stop(process):
    process.send_signal(signal.SIGINT)
    return end(process)


def test_a_signal_and_the_end_write_the_last_seconds_alone(prof, flight):
    process, target = flight()
    target("left 0.5")
    target("right 1.5")
    target.begin("right 1000")  # until both files are written
    process.send_signal(signal.SIGUSR2)
    written = next_file(process, prof.folder)
    assert "SIGUSR2" in stop(process)
    assert reason(written).endswith("SIGUSR2")
    assert len(files(prof.folder)) == 2
    for path in files(prof.folder):
        sums = weights(path)
        assert sums["left"] == 0 and sums["right"] > 0, sums
        assert Pprof.read(path).message.duration_nanos >= 1e9


def test_what_is_kept_is_complete(prof, flight):
    """The wait is longer than an eighth of the kept time, which is the unit in which the history forgets."""
    process, target = flight(keep="20s")
    target("left 0.1")
    target("wait 2.6")
    target("right 0.1")
    stop(process)
    sums = weights(files(prof.folder)[0])
    assert min(sums["left"], sums["right"]) > 0 and sums["left"] + sums["right"] + sums["[not sampled]"] == pytest.approx(0.2, abs=0.03), sums


def test_snapshots_of_a_control_channel_may_overlap(prof, flight, channel):
    process, target = flight(keep="60s")
    target("left 0.3")
    channel("snapshot first.pb.gz")
    target("right 0.3")
    channel("snapshot second.pb.gz", "snapshot /dev/null", "snapshot nothing.pb.gz")
    stop(process)
    assert weights(prof.folder / "first.pb.gz")["left"] > 0
    second = weights(prof.folder / "second.pb.gz")
    assert second["left"] > 0 and second["right"] > 0
    nothing = weights(prof.folder / "nothing.pb.gz")
    assert nothing["left"] == 0 and nothing["right"] == 0


def test_waiting_is_kept_too(prof, flight):
    process, target = flight("--wall", keep="60s")
    begun = time.monotonic()
    target("wait 0.5")
    waited = time.monotonic() - begun
    target("left 0.2")
    stop(process)
    # prof knows both ends of a wait to within some milliseconds.
    assert 0.48 < weights(files(prof.folder)[0], "off-cpu")["wait_for"] < waited + 0.02


def test_a_busy_target_fires_once(prof, flight):
    """The condition may fire again when the kept time has passed."""
    process, target = flight("--trigger", "cpu>1%", "--trigger", "rss>900G", keep="60s")
    target("wait 1.2")
    assert not files(prof.folder)
    target("left 1.2")
    written = next_file(process, prof.folder)
    target("wait 0.1")
    errors = stop(process)
    assert weights(written)["left"] > 0
    assert re.fullmatch(r"written because of cpu>1%: \d+ %", reason(written))
    assert re.search(rf"{written.name}: .* samples of .* s \(cpu>1%: \d+ %\)", errors)
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
    result = prof.run("record", "--overwrite", "--trigger-event", "sched:sched_process_exec", "-o", "out.pb.gz", "--",
                      "sh", "-c", "true; /bin/true; sleep 1")
    assert "(sched:sched_process_exec)" in result.stderr
