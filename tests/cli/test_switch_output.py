"""prof record --switch-output: several profiles of one recording without a gap, and other options that end or name
files."""

import os
import re
import signal
import time

import pytest

from control_channel import end, weights
from elsewhere import elsewhere_ns
from profiles import Pprof, Stacks
from time_limit import TIME_LIMIT_S
from until_busy import cpu_seconds, wait

STAMP = r"\d{8}-\d{8}"


def names(folder, extension="pb.gz"):
    """Returns the profiles in the folder, oldest first."""
    return sorted(path for path in folder.iterdir() if re.fullmatch(rf"out\.{STAMP}\.{extension}", path.name))


def wait_for(process, condition):
    deadline = time.monotonic() + TIME_LIMIT_S
    while not condition():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)


def cut(process, folder):
    """Ends a segment, and returns when its files exist."""
    before = len(names(folder))
    process.send_signal(signal.SIGUSR2)
    wait_for(process, lambda: len(names(folder)) > before)


def assert_whole(path):
    Pprof.read(path).check()


@pytest.fixture
def recorded(prof, phases, controlled, channel):
    """recorded(…) returns a prof that records an idle target, and the target."""

    def start(*arguments, output="out.pb.gz", **options):
        target = phases()
        process = controlled(target.pid, "-o", output, *arguments, delay=(), **options)
        channel("snapshot /dev/null")
        return process, target

    return start


def test_each_signal_ends_a_segment(prof, recorded):
    process, target = recorded("--switch-output")
    for phase in ("left", "right"):
        target(f"{phase} 0.3")
        cut(process, prof.folder)
    target("left 0.2")
    process.send_signal(signal.SIGINT)
    errors = end(process)
    first, second, last = map(weights, names(prof.folder))
    assert first["left"] > 0.25 and first["right"] == 0
    assert second["right"] > 0.25 and second["left"] == 0
    assert last["left"] > 0.15 and last["right"] == 0
    assert "wrote 2 profiles before this one" in errors
    assert len(os.listdir(prof.folder)) == 3 + 2, "the segments and the FIFOs"


def test_segments_add_up_to_the_time_of_the_program(prof, recorded):
    process, target = recorded("--switch-output=signal")
    before, began, elsewhere = cpu_seconds(target.pid), time.monotonic(), elsewhere_ns()
    target.begin("left 1.5")
    for _ in range(5):
        wait(target.pid, 0.2)
        cut(process, prof.folder)
    target.finish("left 1.5")
    used, elapsed = cpu_seconds(target.pid) - before, time.monotonic() - began
    process.send_signal(signal.SIGINT)
    end(process)
    segments = names(prof.folder)
    assert len(segments) >= 6
    # Time that a hypervisor takes away counts for perf's clock, but not for the process.
    assert used - 0.03 <= sum(weights(path)[""] for path in segments) <= elapsed + 0.03
    missing = sum(weights(path)["[not sampled]"] for path in segments)
    assert missing < 0.01 * len(segments) + (elsewhere_ns() - elsewhere) / 1e9


def test_segments_by_time_add_up_to_the_command(prof, target):
    prof.run("record", "--switch-output=1s", "-o", "out.pb.gz", "--", "sh", "-c", f"echo left 2.1 | {target('phases')}")
    segments = names(prof.folder)
    assert len(segments) >= 3
    assert sum(weights(path)["left"] for path in segments) == pytest.approx(2.1, abs=0.1)
    for path in segments[:-1]:
        assert Pprof.read(path).message.duration_nanos >= 1e9
    starts = [Pprof.read(path).message.time_nanos for path in segments]
    ends = [start + Pprof.read(path).message.duration_nanos for start, path in zip(starts, segments)]
    for following, ended in zip(starts[1:], ends):
        assert abs(following - ended) < 1e6, "they follow each other"


def test_a_time_without_samples_makes_no_file(prof, recorded):
    process, target = recorded("--switch-output=1s")
    target("wait 1.5")
    assert not names(prof.folder)
    target("left 0.2")
    wait_for(process, lambda: names(prof.folder))
    process.send_signal(signal.SIGINT)
    end(process)
    assert sum(weights(path)["left"] for path in names(prof.folder)) > 0.15


def test_a_segment_ends_at_its_size(prof, recorded):
    process, target = recorded("--switch-output=100B")
    target.begin("left 1.5")
    wait_for(process, lambda: len(names(prof.folder)) >= 2)
    process.send_signal(signal.SIGINT)
    end(process)


def test_an_event_ends_a_segment(prof, recorded):
    process, target = recorded("--switch-output-event", "page-faults/period=1/u")
    target("left 0.2")
    target("children 1")
    wait_for(process, lambda: names(prof.folder))
    process.send_signal(signal.SIGINT)
    end(process)
    assert any("written because of page-faults/period=1/u" in comment
               for comment in Pprof.read(names(prof.folder)[0]).comments())


def test_all_outputs_have_all_segments(prof, recorded):
    process, target = recorded("--switch-output", "-o", "out.folded", "-o", "out.html")
    target("left 0.2")
    cut(process, prof.folder)
    target("right 0.2")
    process.send_signal(signal.SIGINT)
    end(process)
    stacks = [Stacks.read(path) for path in names(prof.folder, "folded")]
    assert [stack.holding("right") > 0 for stack in stacks] == [False, True]
    for page in names(prof.folder, "html"):
        assert page.read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert len(names(prof.folder, "html")) == len(names(prof.folder)) == 2


def test_names_with_a_number_get_no_time(prof, recorded):
    process, target = recorded("--switch-output", output="part%n.pb.gz")
    for number in (1, 2):
        target("left 0.1")
        process.send_signal(signal.SIGUSR2)
        wait_for(process, (prof.folder / f"part{number}.pb.gz").exists)
    target("left 0.1")
    process.send_signal(signal.SIGINT)
    end(process)
    assert (prof.folder / "part3.pb.gz").exists()


def test_the_last_segments_are_kept_and_files_of_others(prof, recorded):
    others = prof.folder / "out.20200101-00000000.pb.gz"
    others.write_bytes(b"of another recording")
    process, target = recorded("--switch-output", "--switch-max-files", "2")
    written = []
    for _ in range(4):
        target("left 0.1")
        process.send_signal(signal.SIGUSR2)
        wait_for(process, lambda: set(names(prof.folder)) - {others, *written})
        written += set(names(prof.folder)) - {others, *written}
    target("right 0.1")
    process.send_signal(signal.SIGINT)
    errors = end(process)
    left = names(prof.folder)
    assert left[0] == others and others.read_bytes() == b"of another recording"
    assert len(left) == 3 and left[1] == written[-1]
    assert weights(left[2])["right"] > 0.05
    assert "removed the 3 oldest of them" in errors


def test_a_file_that_was_replaced_is_not_removed(prof, recorded):
    process, target = recorded("--switch-output", "--switch-max-files", "1")
    target("left 0.1")
    cut(process, prof.folder)
    first = names(prof.folder)[0]
    kept = first.rename(prof.folder / "kept")
    first.write_bytes(b"of another program")
    target("left 0.1")
    process.send_signal(signal.SIGINT)
    end(process)
    assert first.read_bytes() == b"of another program"
    assert_whole(kept)


def test_a_killed_recording_leaves_whole_segments(prof, recorded):
    process, target = recorded("--switch-output=1s")
    target.begin("left 5")
    wait_for(process, lambda: len(names(prof.folder)) >= 2)
    process.send_signal(signal.SIGUSR2)
    process.kill()
    process.wait()
    wait(target.pid, 0.5)
    for path in names(prof.folder):
        assert_whole(path)
    assert {path.name for path in prof.folder.iterdir()} == {path.name for path in names(prof.folder)} | {"ctl", "ack"}


def test_on_a_full_disk_the_oldest_make_room(recorded, small_disk):
    process, target = recorded("--switch-output", "--switch-max-files", "10", output=small_disk / "out.html")
    # An empty page has about 110 KiB. There is room for one and a half.
    (small_disk / "filling").write_bytes(bytes(90 << 10))
    newest = None
    for _ in range(3):
        target("left 0.1")
        process.send_signal(signal.SIGUSR2)
        wait_for(process, lambda: names(small_disk, "html")[-1:] not in ([], [newest]))
        newest = names(small_disk, "html")[-1]
    process.kill()
    process.wait()
    assert len(names(small_disk, "html")) == 1
    assert newest.read_text(encoding="utf-8").rstrip().endswith("</html>")


def test_on_a_full_disk_the_recording_goes_on_and_counts(prof, recorded, small_disk):
    process, target = recorded("--switch-output", output=small_disk / "out.html")
    (small_disk / "filling").write_bytes(bytes(200 << 10))
    target("left 0.1")
    process.send_signal(signal.SIGUSR2)
    assert "No space left on device" in process.stderr.readline() + process.stderr.readline()
    (small_disk / "filling").unlink()
    target("right 0.1")
    process.send_signal(signal.SIGINT)
    errors = end(process)
    assert "1 profile could not be written" in errors
    assert len(names(small_disk, "html")) == 1


@pytest.mark.parametrize("arguments, reason", [
    (["--switch-output=often"], "not signal, a size or a time"),
    (["--switch-output", "-o", "-"], "needs a regular file"),
    (["--switch-output", "-o", "out.data"], "writes profiles"),
    (["--switch-max-files", "3"], "needs --switch-output"),
    (["--switch-output-event", "no-such-event"], "no-such-event"),
    (["--max-size", "big"], "not a size"),
    (["-S"], "--overwrite"),
    (["-n"], "--dry-run"),
    (["-k", "tai"], "CLOCK_MONOTONIC"),
    (["--strict-freq", "-F", "100000000"], "kernel's limit"),
])
def test_what_makes_no_sense_is_refused_before_the_command_runs(prof, arguments, reason):
    result = prof("record", *arguments, "--", "touch", "ran")
    assert result.returncode == 2, result.stderr
    assert reason in result.stderr
    assert not os.listdir(prof.folder)


def test_names_have_the_time_if_asked(prof):
    prof.run("record", "--timestamp-filename", "-k", "mono", "-o", "out.pb.gz", "--", "true")
    assert [path.name for path in names(prof.folder)] == os.listdir(prof.folder)


@pytest.mark.parametrize("output, size", [("out.pb.gz", "500B"), ("out.data", "100K")])
def test_a_recording_ends_at_its_size(prof, target, output, size):
    result = prof.run("record", "--max-size", size, "-o", output, "--", target("shares"), "200")
    assert "(--max-size)" in result.stderr
    assert (prof.folder / output).stat().st_size < 10 << 20


def test_a_dry_run_says_what_would_be_recorded_and_runs_nothing(prof):
    result = prof.run("record", "--dry-run", "-e", "cpu-clock", "-F", "99", "-o", "out.pb.gz", "--", "touch", "ran")
    assert "would record touch ran" in result.stderr and "cpu-clock at 99 Hz" in result.stderr and "out.pb.gz (pprof)" in result.stderr
    assert not os.listdir(prof.folder)


def test_the_command_keeps_its_status(prof):
    result = prof("record", "--switch-output=1s", "-o", "out.pb.gz", "--", "sh", "-c", "exit 3")
    assert result.returncode == 3
