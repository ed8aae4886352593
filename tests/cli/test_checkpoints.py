"""A recording that is killed leaves the profile up to its last checkpoint, and no other files."""

import os
import random
import signal
import subprocess
import time

import pytest

from conftest import end_group
from profiles import Pprof, Stacks
from time_limit import TIME_LIMIT_S
from until_busy import wait

# How often a recording is killed at a random moment; CI and developers may want more.
KILLS = int(os.environ.get("PROF_KILLS", "8"))


@pytest.fixture
def running(prof, started, target):
    """running(arguments) is prof, recording a program that would run for long."""

    def start(*arguments, interval="0.2"):
        script = f"echo running; exec {target('shares')} 50"
        process = started(prof.start("record", f"--checkpoint={interval}", *arguments, "--", "sh", "-c", script))
        assert process.stdout.readline() == "running\n"
        process.child = child_of(process.pid)
        return process

    return start


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return int(file.read().split()[0])


def total(path):
    return Stacks.read(path).total if path.exists() else 0


def wait_for_samples(recording, path, count):
    while total(path) < count:
        assert recording.poll() is None
        wait(recording.child, 0.02)


def group_members(group, name):
    """The processes of a process group that have this name and have not ended."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                comm, _, rest = file.read().partition("(")[2].rpartition(")")
        except OSError:
            continue
        fields = rest.split()
        if comm == name and int(fields[2]) == group and fields[0] != "Z":
            yield int(pid)


def stop(pid):
    """Stops the process even if it has just ended, which may happen to one that writes a checkpoint."""
    try:
        os.kill(pid, signal.SIGSTOP)
    except ProcessLookupError:
        pass


def open_files(pid, folder):
    """Returns stat() of the process's open files on the file system of the directory."""
    device = folder.stat().st_dev
    try:
        files = [os.stat(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return []
    return [file for file in files if file.st_dev == device]


def stop_between_checkpoints(recording, folder):
    """Stops prof when no checkpoint is being written, and no replaced checkpoint is open."""
    while True:
        recording.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, recording.pid, os.WSTOPPED)
        while any(pid != recording.pid and open_files(pid, folder) for pid in group_members(recording.pid, "prof")):
            time.sleep(0.01)
        if all(file.st_nlink for file in open_files(recording.pid, folder)):
            return
        recording.send_signal(signal.SIGCONT)
        wait(recording.child, 0.02)


def kill(recording):
    """Kills prof alone; returns when a checkpoint that was being written is complete."""
    recording.kill()
    recording.wait()
    deadline = time.monotonic() + TIME_LIMIT_S
    while list(group_members(recording.pid, "prof")):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def end(recording):
    os.killpg(recording.pid, signal.SIGINT)
    _, errors = recording.communicate(timeout=TIME_LIMIT_S)
    return errors


def test_a_killed_recording_leaves_its_last_checkpoint(prof, running):
    recording = running("-o", "out.folded", "-o", "out.pb.gz", "-o", "out.html")
    wait_for_samples(recording, prof.folder / "out.folded", 200)
    kill(recording)
    assert sorted(os.listdir(prof.folder)) == ["out.folded", "out.html", "out.pb.gz"]
    stacks = Stacks.read(prof.folder / "out.folded")
    assert stacks.share("main", "spend") > 0.5
    pprof = Pprof.read(prof.folder / "out.pb.gz")
    pprof.check()
    assert pprof.total() >= 100
    assert (prof.folder / "out.html").read_text(encoding="utf-8").rstrip().endswith("</html>")


def test_a_checkpoint_is_replaced_by_the_next_and_by_the_profile(prof, running):
    """Only the file that existed before the recording is kept."""
    (prof.folder / "out.folded").write_text("before", encoding="ascii")
    recording = running("-o", "out.folded")
    old = prof.folder / "out.folded.old"
    while not old.exists():
        wait(recording.child, 0.02)
    wait_for_samples(recording, prof.folder / "out.folded", 100)
    first = total(prof.folder / "out.folded")
    wait_for_samples(recording, prof.folder / "out.folded", first + 100)
    so_far = total(prof.folder / "out.folded")
    errors = end(recording)
    assert old.read_text(encoding="ascii") == "before"
    assert total(prof.folder / "out.folded") >= so_far
    assert sorted(os.listdir(prof.folder)) == ["out.folded", "out.folded.old"]
    assert "out.folded (" in errors and "checkpoint" not in errors


def test_a_snapshot_after_a_checkpoint_keeps_the_file_from_before(prof, running):
    (prof.folder / "out.folded").write_text("before", encoding="ascii")
    recording = running("-o", "out.folded", interval="0.1")
    while not (prof.folder / "out.folded.old").exists():
        wait(recording.child, 0.02)
    before = (prof.folder / "out.folded").stat().st_ino
    recording.send_signal(signal.SIGUSR2)
    while (prof.folder / "out.folded").stat().st_ino == before:
        wait(recording.child, 0.02)
    end(recording)
    assert total(prof.folder / "out.folded") > 0


def test_a_numbered_output_has_one_number_for_the_whole_recording(prof, running):
    recording = running("-o", "out.%n.folded")
    wait_for_samples(recording, prof.folder / "out.1.folded", 200)
    end(recording)
    assert os.listdir(prof.folder) == ["out.1.folded"]


def test_without_checkpoints_nothing_is_written_before_the_end(prof, running):
    recording = running("-o", "out.folded", interval="off")
    wait(recording.child, 0.6)
    assert os.listdir(prof.folder) == []


def test_a_fifo_gets_no_checkpoints(prof, running, started):
    os.mkfifo(prof.folder / "fifo")
    reader = started(subprocess.Popen(["cat", prof.folder / "fifo"], stdout=subprocess.PIPE, text=True))
    recording = running("-o", "fifo", "-o", "out.folded")
    wait_for_samples(recording, prof.folder / "out.folded", 200)
    end(recording)
    output, _ = reader.communicate(timeout=TIME_LIMIT_S)
    assert Stacks(output).total == total(prof.folder / "out.folded")


def test_the_records_of_a_killed_recording_can_be_converted(prof, running):
    (prof.folder / "out.data").write_text("before", encoding="ascii")
    recording = running("-o", "out.data")
    while not (prof.folder / "out.data.old").exists():
        wait(recording.child, 0.05)
    wait(recording.child, 0.6)
    kill(recording)
    assert (prof.folder / "out.data.old").read_text(encoding="ascii") == "before"
    assert sorted(os.listdir(prof.folder)) == ["out.data", "out.data.old"]
    result = prof("convert", "out.data", "-o", "out.folded")
    assert result.returncode == 0 and "was not finished" in result.stderr
    assert Stacks.read(prof.folder / "out.folded").share("main", "spend") > 0.5


def test_records_that_were_a_checkpoint_are_completed(prof, running):
    recording = running("-o", "out.data")
    while not (prof.folder / "out.data").exists():
        wait(recording.child, 0.05)
    end(recording)
    result = prof("convert", "out.data", "-o", "out.folded")
    assert result.returncode == 0 and "was not finished" not in result.stderr
    assert os.listdir(prof.folder).count("out.data.old") == 0


def test_a_checkpoint_that_fails_is_reported_once_and_the_recording_goes_on(prof, running):
    (prof.folder / "gone").mkdir()
    recording = running("-o", "gone/out.folded", "-o", "out.folded", interval="0.1")
    (prof.folder / "gone").rename(prof.folder / "elsewhere")
    wait_for_samples(recording, prof.folder / "out.folded", 300)
    errors = end(recording)
    assert errors.count("checkpoint: ") == 1, errors
    assert " instead" in errors


def test_a_checkpoint_that_stands_still_does_not_delay_the_end(prof, running):
    """Neither its symbolization nor its writing."""
    recording = running("-o", "out.folded", interval="0.1")
    wait_for_samples(recording, prof.folder / "out.folded", 50)
    helpers = [pid for pid in group_members(recording.pid, "prof") if pid != recording.pid]
    for pid in helpers:
        stop(pid)
    wait(recording.child, 0.3)
    os.killpg(recording.pid, signal.SIGINT)
    recording.wait(TIME_LIMIT_S)
    assert Stacks.read(prof.folder / "out.folded").share("main", "spend") > 0.5
    # They are killed when prof ends, and do not end in the same moment.
    deadline = time.monotonic() + TIME_LIMIT_S
    while set(group_members(recording.pid, "prof")) & set(helpers):
        assert time.monotonic() < deadline, helpers
        time.sleep(0.01)


def test_if_the_end_cannot_be_written_the_checkpoint_stays_and_is_named(prof, running, small_disk):
    recording = running("-o", small_disk / "out.folded")
    wait_for_samples(recording, small_disk / "out.folded", 100)
    # Replacing an old checkpoint would free space.
    stop_between_checkpoints(recording, small_disk)
    with open(small_disk / "filling", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    recording.send_signal(signal.SIGCONT)
    errors = end(recording)
    assert "No space left on device" in errors and "out.folded has the first" in errors, errors
    assert total(small_disk / "out.folded") >= 100
    assert sorted(os.listdir(small_disk)) == ["filling", "out.folded"]


def test_a_recording_killed_at_any_moment_leaves_whole_files_and_no_others(prof, started, target):
    """At any time: at the start, while it records, and while it writes checkpoints or the profile."""
    outputs = ("out.folded", "out.pb.gz", "out.html")
    seed = random.randrange(1 << 32)
    moments = random.Random(seed)
    found = set()
    for number in range(KILLS):
        for name in outputs:
            (prof.folder / name).write_text("before", encoding="ascii")
        recording = started(prof.start("record", "--checkpoint=0.05", *(word for name in outputs for word in ("-o", name)),
                                       "--", target("shares"), "0.3", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        time.sleep(moments.uniform(0, 0.6))
        while number == KILLS - 1 and recording.poll() is None and not (prof.folder / "out.folded.old").exists():
            time.sleep(0.01)
        kill(recording)
        names = set(os.listdir(prof.folder))
        assert names <= {*outputs, *(f"{name}.old" for name in outputs)}, (seed, number, names)
        for name in outputs:
            path = prof.folder / name
            if path.read_bytes() == b"before":
                continue
            found.add(name)
            assert (prof.folder / f"{name}.old").read_bytes() == b"before", (seed, number)
            if name.endswith(".html"):
                assert path.read_text(encoding="utf-8").rstrip().endswith("</html>"), (seed, number)
            elif name.endswith(".pb.gz"):
                Pprof.read(path).check()
            else:
                Stacks.read(path)
        end_group(recording)
        for name in names - set(outputs):
            (prof.folder / name).unlink()
    assert found, seed
