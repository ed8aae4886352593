"""prof record --every: segments in a directory, continuously."""

import os
import random
import re
import shutil
import signal
import subprocess
import time
from datetime import datetime, timezone

import pytest

from control_channel import end, weights
from profiles import Pprof
from time_limit import TIME_LIMIT_S
from until_busy import wait

NAME = re.compile(r"\d{8}T\d{6}Z\.pb\.gz")
KILLS = int(os.environ.get("PROF_KILLS", "20"))


def segments(folder):
    """The oldest first."""
    return sorted(path for path in folder.iterdir() if NAME.fullmatch(path.name))


def name_at(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y%m%dT%H%M%SZ.pb.gz")


def wait_for(process, condition):
    deadline = time.monotonic() + TIME_LIMIT_S
    while not condition():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def ring(tmp_path):
    folder = tmp_path / "ring"
    folder.mkdir()
    return folder


@pytest.fixture
def recorded(phases, controlled, channel, ring):
    """recorded(…) is prof, recording a target that does nothing yet, and the target."""

    def start(*arguments, output=ring):
        target = phases()
        process = controlled(target.pid, "-o", f"{output}/", *arguments, delay=())
        channel("snapshot /dev/null")
        return process, target

    return start


def test_segments_follow_each_other_and_begin_with_the_second(recorded, ring):
    process, target = recorded("--every", "1s")
    target("left 3.5")
    process.send_signal(signal.SIGINT)
    end(process)
    messages = [Pprof.read(path).message for path in segments(ring)]
    assert len(messages) >= 4
    assert sum(weights(path)["left"] for path in segments(ring)) == pytest.approx(3.5, abs=0.1)
    for path, message in zip(segments(ring), messages):
        assert path.name == name_at(message.time_nanos // 10**9)
    for former, message in zip(messages, messages[1:]):
        assert abs(message.time_nanos - former.time_nanos - former.duration_nanos) < 10e6, "no gap"
    beginnings = [message.time_nanos % 10**9 for message in messages[1:-1]]
    assert sorted(beginnings)[0] < 3e8, "most begin with a second, however busy the machine is"


def test_a_whole_machine_says_host_and_processes(prof, ring, target):
    process = prof.start("record", "-a", "-F", "99", "--every", "1s", "-o", f"{ring}/")
    worker = subprocess.Popen([target("shares"), "200"], stdout=subprocess.DEVNULL)
    wait_for(process, lambda: len(segments(ring)) >= 2)
    worker.wait()
    process.send_signal(signal.SIGTERM)
    process.communicate()
    profiles = [Pprof.read(path) for path in segments(ring)]
    for profile in profiles:
        profile.check()
        assert f"host: {os.uname().nodename}" in profile.comments()
    assert any("shares" in profile.strings for profile in profiles)


def test_old_segments_are_removed_and_nothing_else(recorded, ring):
    now = time.time()
    old, young = ring / name_at(now - 3700), ring / name_at(now - 3500)
    others = [ring / name for name in ("notes", "20200101T000000Z.pb", "20200101T000000Z.pb.gz.old", "2020.pb.gz",
                                       "20201301T000000Z.pb.gz", "x20200101T000000Z.pb.gz")]
    for path in (old, young, *others):
        path.write_bytes(b"of an earlier recording")
    (ring / "20200101T000001Z.pb.gz").mkdir()
    process, target = recorded("--every", "1s", "--keep", "1h")
    target("left 1.5")
    process.send_signal(signal.SIGINT)
    end(process)
    assert not old.exists() and young.exists()
    assert all(path.exists() for path in others) and (ring / "20200101T000001Z.pb.gz").is_dir()


def test_the_directory_stays_below_its_size(recorded, ring):
    now = time.time()
    for age in range(10, 20):
        (ring / name_at(now - age)).write_bytes(bytes(10000))
    process, target = recorded("--every", "1s", "--max-size", "50K")
    target("left 1.5")
    process.send_signal(signal.SIGINT)
    errors = end(process)
    left = segments(ring)
    assert sum(path.stat().st_size for path in left) <= 50 << 10
    assert len([path for path in left if path.stat().st_size == 10000]) == 4, "the newest"
    assert "removed " in errors


def test_a_second_recorder_is_refused(prof, recorded, ring):
    process, _ = recorded("--every", "1m")
    second = prof("record", "-a", "--every", "1m", "-o", f"{ring}/")
    assert second.returncode == 1
    assert f"another prof record writes into {ring}" in second.stderr
    process.kill()
    process.wait()
    third = prof("record", "--every", "1m", "-o", f"{ring}/", "--", "true")
    assert third.returncode == 0, third.stderr


def test_a_recorder_that_was_killed_leaves_nothing_that_lasts(prof, ring):
    hidden, other = ring / ".prof.0123456789abcdef", ring / ".prof.notes"
    for path in (hidden, other):
        path.write_bytes(b"x")
    result = prof("record", "--every", "1m", "-o", f"{ring}/", "--", "true")
    assert result.returncode == 0, result.stderr
    assert not hidden.exists() and other.exists()


def test_segments_are_whole_whenever_prof_is_killed(prof, recorded, ring):
    """PROF_KILLS=100 kills it that often."""
    moments = random.Random(14)
    for _ in range(KILLS):
        process = prof.start("record", "-a", "-F", "999", "--every", "1s", "-o", f"{ring}/")
        before = len(segments(ring))
        wait_for(process, lambda: len(segments(ring)) > before)
        # Around the next cut, too: it writes for some 100 ms.
        time.sleep(moments.uniform(0, 1.3))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert len(segments(ring)) >= KILLS
    for path in segments(ring):
        Pprof.read(path).check()
    assert segments(ring) == sorted(ring.iterdir()), "nothing else is there"


def test_on_a_full_disk_the_oldest_segments_make_room(recorded, small_disk):
    now = time.time()
    for age in range(100, 110):
        (small_disk / name_at(now - age)).write_bytes(bytes(24 << 10))
    (small_disk / "filling").write_bytes(bytes(small_disk_left(small_disk)))
    process, target = recorded("--every", "1s", output=small_disk)
    target("left 1.5")
    process.send_signal(signal.SIGINT)
    errors = end(process)
    assert f"the disk is full: removed {name_at(now - 109)}" in errors
    assert not (small_disk / name_at(now - 109)).exists() and (small_disk / name_at(now - 100)).exists()
    assert weights(segments(small_disk)[-2])["left"] > 0


def small_disk_left(folder):
    free = os.statvfs(folder)
    return free.f_bavail * free.f_frsize


def test_a_clock_that_was_set_back_replaces_no_segment(recorded, ring):
    now = int(time.time())
    taken = [ring / name_at(now + offset) for offset in range(-2, 120)]
    for path in taken:
        path.write_bytes(b"from before the clock was set back")
    process, target = recorded("--every", "1s", "--keep", "1h")
    target("left 1.5")
    process.send_signal(signal.SIGINT)
    end(process)
    assert all(path.read_bytes() == b"from before the clock was set back" for path in taken)
    assert len(segments(ring)) > len(taken)


def test_a_directory_is_made(prof):
    result = prof("record", "--every", "1m", "-o", "100% new/", "--", "true")
    assert result.returncode == 0, result.stderr
    assert (prof.folder / "100% new").stat().st_mode & 0o777 == 0o700
    assert len(segments(prof.folder / "100% new")) == 1


def test_a_directory_that_cannot_be_written_is_refused_at_once(ordinary):
    os.chmod(ordinary.folder, 0o555)
    result = ordinary("record", "--every", "1m", "-o", f"{ordinary.folder}/ring/", "--", "true")
    os.chmod(ordinary.folder, 0o755)
    assert result.returncode == 1
    assert "create the directory" in result.stderr and "Permission denied" in result.stderr


@pytest.mark.parametrize("arguments, reason", [
    (["--keep", "1h"], "--keep needs --every"),
    (["--every", "1m"], "one directory"),
    (["--every", "0.1s", "-o", "ring/"], "not a time"),
    (["--every", "1m", "-o", "ring/", "-o", "x.html"], "one directory"),
    (["--every", "1m", "-o", "ring/", "--format", "folded"], "writes pprof"),
    (["--every", "1m", "-o", "ring/", "--switch-output"], "exclude each other"),
    (["--every", "1m", "-o", "ring/", "--overwrite"], "--overwrite only the last seconds"),
])
def test_what_makes_no_sense_is_refused_before_the_command_runs(prof, arguments, reason):
    result = prof("record", *arguments, "--", "touch", "ran")
    assert result.returncode == 2, result.stderr
    assert reason in result.stderr
    assert not os.listdir(prof.folder)
