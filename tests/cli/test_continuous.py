"""prof record --every: segments in a directory, continuously."""

import gzip
import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from datetime import datetime, timezone

import pytest

from control_channel import end, weights
from profiles import Pprof, Stacks
from segment_directory import samples, segments, wait_for
from time_limit import TIME_LIMIT_S
from written_segments import name_at, write_segment

KILLS = int(os.environ.get("PROF_KILLS", "5"))


@pytest.fixture
def ring(tmp_path):
    folder = tmp_path / "ring"
    folder.mkdir()
    return folder


@pytest.fixture
def recorded(phases, controlled, channel, ring):
    """recorded(…) returns a prof that records an idle target, and the target."""

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
    sums = sum(map(weights, segments(ring)), Counter())
    assert sums["left"] + sums["[not sampled]"] == pytest.approx(3.5, abs=0.1), sums
    for path, message in zip(segments(ring), messages):
        assert path.name == name_at(message.time_nanos // 10**9)
    for former, message in zip(messages, messages[1:]):
        assert abs(message.time_nanos - former.time_nanos - former.duration_nanos) < 10e6, "no gap"
    beginnings = [message.time_nanos % 10**9 for message in messages[1:-1]]
    assert sorted(beginnings)[0] < 3e8, "most begin with a second, however busy the machine is"


def test_a_whole_machine_says_host_and_processes(prof, ring, started, target):
    process = started(prof.start("record", "-a", "-F", "99", "--every", "1s", "-o", f"{ring}/"))
    started(subprocess.Popen([target("shares"), "200"], stdout=subprocess.DEVNULL))
    wait_for(process, lambda: len(segments(ring)) >= 2)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=TIME_LIMIT_S)
    profiles = [Pprof.read(path) for path in segments(ring)]
    for profile in profiles:
        profile.check()
        assert f"host: {os.uname().nodename}" in profile.comments()
    assert any("shares" in profile.strings for profile in profiles)


def test_old_segments_and_the_oldest_above_the_size_are_removed_and_nothing_else(recorded, ring):
    now = time.time()
    old = ring / name_at(now - 3700)
    others = [ring / name for name in ("notes", "20200101T000000Z.pb", "20200101T000000Z.pb.gz.old", "2020.pb.gz",
                                       "20201301T000000Z.pb.gz", "x20200101T000000Z.pb.gz")]
    for path in (old, *others):
        path.write_bytes(b"of an earlier recording")
    for age in range(10, 20):
        (ring / name_at(now - age)).write_bytes(bytes(10000))
    (ring / "20200101T000001Z.pb.gz").mkdir()
    process, target = recorded("--every", "1s", "--keep", "1h", "--max-size", "50K")
    target("left 1.1")
    process.send_signal(signal.SIGINT)
    errors = end(process)
    assert not old.exists()
    assert all(path.exists() for path in others) and (ring / "20200101T000001Z.pb.gz").is_dir()
    left = [path for path in segments(ring) if path.is_file()]
    assert sum(path.stat().st_size for path in left) <= 50 << 10
    own = sum(path.stat().st_size for path in left if path.stat().st_size != 10000)
    assert len([path for path in left if path.stat().st_size == 10000]) == ((50 << 10) - own) // 10000, "the newest"
    assert "removed " in errors


def test_a_second_recorder_is_refused(prof, recorded, ring):
    process, _ = recorded("--every", "1m")
    second = prof("record", "-a", "--every", "1m", "-o", f"{ring}/")
    assert second.returncode == 1
    assert f"another prof record writes to {ring}" in second.stderr
    process.kill()
    process.wait()
    third = prof("record", "--every", "1m", "-o", f"{ring}/", "--", "true")
    assert third.returncode == 0, third.stderr


def test_a_recorder_that_was_killed_leaves_nothing_that_lasts(prof, ring):
    hidden, other = ring / ".prof.0123456789abcdef", ring / ".prof.notes"
    for path in (hidden, other):
        path.write_bytes(b"x")
    prof.run("record", "--every", "1m", "-o", f"{ring}/", "--", "true")
    assert not hidden.exists() and other.exists()


def test_segments_are_whole_whenever_prof_is_killed(prof, ring, started):
    """PROF_KILLS=100 kills it 100 times."""
    moments = random.Random(14)
    for _ in range(KILLS):
        process = started(prof.start("record", "-F", "99", "--every", "1s", "-o", f"{ring}/", "--", "sh", "-c", "while :; do :; done"))
        before = len(segments(ring))
        wait_for(process, lambda: len(segments(ring)) > before)
        # The moments include the next cut, which takes about 100 ms.
        time.sleep(moments.uniform(0, 1.3))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert len(segments(ring)) >= KILLS
    for path in segments(ring):
        assert Pprof.read(path).message.duration_nanos
    assert segments(ring) == sorted(ring.iterdir()), "nothing else is there"


@pytest.mark.parametrize("every", ["1s", "1h"], ids=["while it records", "at its end"])
def test_on_a_full_disk_the_oldest_segments_make_room(recorded, small_disk, every):
    now = time.time()
    for age in range(100, 110):
        (small_disk / name_at(now - age)).write_bytes(bytes(24 << 10))
    (small_disk / "filling").write_bytes(bytes(small_disk_left(small_disk)))
    process, target = recorded("--every", every, output=small_disk)
    target("left 1.1" if every == "1s" else "left 0.2")
    process.send_signal(signal.SIGINT)
    errors = end(process)
    assert f"the disk is full: removed {name_at(now - 109)}" in errors
    assert not (small_disk / name_at(now - 109)).exists() and (small_disk / name_at(now - 100)).exists()
    own = [weights(path) for path in segments(small_disk) if path.name >= name_at(now)]
    assert sum(sums["left"] for sums in own) > 0


def small_disk_left(folder):
    free = os.statvfs(folder)
    return free.f_bavail * free.f_frsize


def test_a_clock_that_was_set_back_replaces_no_segment(recorded, ring):
    now = int(time.time())
    taken = [ring / name_at(now + offset) for offset in range(-2, 1000)]
    for path in taken:
        path.write_bytes(b"from before the clock was set back")
    process, target = recorded("--every", "1s", "--keep", "1h")
    target("left 1.1")
    process.send_signal(signal.SIGINT)
    end(process)
    assert all(path.read_bytes() == b"from before the clock was set back" for path in taken)
    assert len(segments(ring)) > len(taken)


def test_a_directory_is_made(prof):
    prof.run("record", "--every", "1m", "-o", "100% new/", "--", "true")
    assert (prof.folder / "100% new").stat().st_mode & 0o777 == 0o700
    assert len(segments(prof.folder / "100% new")) == 1


def test_a_directory_that_cannot_be_written_is_refused_at_once(ordinary):
    os.chmod(ordinary.folder, 0o555)
    result = ordinary("record", "--every", "1m", "-o", f"{ordinary.folder}/ring/", "--", "true")
    os.chmod(ordinary.folder, 0o755)
    assert result.returncode == 1
    assert "create the directory" in result.stderr and "Permission denied" in result.stderr


# ---- Reading ----

START = int(datetime(2026, 11, 24, 14, 0, tzinfo=timezone.utc).timestamp())
UTC = {**os.environ, "TZ": "UTC"}


@pytest.fixture
def day(ring):
    """Segments of a minute from 14:00 to 14:10 of 2026-11-24, UTC. The hot functions are f0, f1, …"""
    for minute in range(10):
        start = START + 60 * minute
        write_segment(ring, start, 60, {f"f{minute}": 60, "always": 10})
    return ring


@pytest.mark.parametrize("since, until, expected", [
    ("2026-11-24 14:05", "2026-11-24 14:07", {"f5": 60, "f6": 60, "always": 20}),
    ("2026-11-24 14:08", None, {"f8": 60, "f9": 60, "always": 20}),
    (None, "2026-11-24T14:01:00Z", {"f0": 60, "always": 10}),
    ("2026-11-24", "2026-11-25", {"always": 100, **{f"f{minute}": 60 for minute in range(10)}}),
])
def test_a_range_of_time_is_reported(prof, day, since, until, expected):
    options = (["--since", since] if since else []) + (["--until", until] if until else [])
    assert samples(prof("report", day, "--json", *options, env=UTC)) == expected


def test_a_selection_and_a_range_go_together(prof, day):
    report = prof("report", day, "--since", "2026-11-24 14:05", "--comm", "nobody", env=UTC)
    assert report.returncode == 0 and "no samples" in report.stdout


def test_segments_without_times_count_whole_and_that_is_said(prof, day):
    report = prof("report", day, "--json", "--since", "2026-11-24 14:05:30", "--until", "2026-11-24 14:07", env=UTC)
    assert samples(report) == {"f5": 60, "f6": 60, "always": 20}
    assert "1 segment has no timestamps" in report.stderr


def test_a_segment_that_cannot_be_read_is_left_out(prof, day):
    (day / name_at(START + 60)).write_bytes(b"\x1f\x8bdamaged")
    (day / name_at(START + 120)).unlink()
    (day / name_at(START + 120)).symlink_to("/dev/zero")
    report = prof("report", day, "--json", "--since", "2026-11-24 14:00", "--until", "2026-11-24 14:04", env=UTC)
    assert samples(report) == {"f0": 60, "f3": 60, "always": 20}
    assert f"1 segment cannot be read and is omitted: {day}/{name_at(START + 60)}" in report.stderr


def test_ranges_are_compared(prof, day):
    result = prof.run("diff", "--json", f"{day}@2026-11-24 14:00..2026-11-24 14:01", f"{day}@2026-11-24 14:01..2026-11-24 14:02", env=UTC)
    told = json.loads(result.stdout)
    changed = {row["name"] for row in told["functions"] if abs(row["self"]["change"]) > row["self"]["margin"]}
    assert changed == {"f0", "f1"} and told["verdict"] == "cannot be judged"
    minutes = [f"{day}@2026-11-24 14:{minute:02}..2026-11-24 14:{minute + 1:02}" for minute in range(4)]
    told = json.loads(prof.run("diff", "--json", *minutes[:2], "--", *minutes[2:], env=UTC).stdout)
    assert told["verdict"] in ("changed", "no significant change")


def test_a_range_becomes_a_page(prof, day):
    prof.run("convert", day, "--since", "2026-11-24 14:05", "-o", "x.html", "-o", "x.folded", env=UTC)
    stacks = Stacks.read(prof.folder / "x.folded")
    assert stacks.total == 350 and stacks.holding("f5") == 60 and not stacks.holding("f4")


@pytest.mark.parametrize("arguments, reason", [
    (["report", "RING", "--since", "noon"], '"noon" is not a time'),
    (["report", "RING", "--since", "-1h", "--until", "-2h"], "-1h is not before -2h"),
    (["report", "RING@noon"], '"noon" is not a time'),
    (["report", "RING", "--since", "2020-01-01", "--until", "2020-01-02"], "has no segments of that time"),
    (["report", "RING/20261124T140000Z.pb.gz", "--since", "-1h"], "is not a directory of segments"),
    (["report", "."], "has no segments"),
])
def test_what_is_not_there_is_said(prof, day, arguments, reason):
    result = prof(*(word.replace("RING", str(day)) for word in arguments), env=UTC)
    assert result.returncode == 1 and reason in result.stderr


def test_the_edges_of_a_range_are_exact_and_other_readers_skip_times(prof, recorded, ring, client):
    """left runs, then right. The moment between them is in the middle of a segment."""
    process, target = recorded("--every", "1h", "-F", "999")
    target("left 1.3")
    middle = time.time()
    target("right 1")
    process.send_signal(signal.SIGINT)
    end(process)
    assert len(segments(ring)) <= 2
    before, after, whole = (Counter(samples(prof("report", ring, "--json", *option), "total"))
                            for option in (["--until", second(middle)], ["--since", second(middle)], []))
    # The times on the command line are whole seconds.
    assert before["left"] and after["right"] and not before["right"]
    assert before["left"] + after["left"] == whole["left"] and after["right"] == whole["right"]
    page = prof("convert", ring, "-o", "x.firefox.json.gz")
    assert page.returncode == 0, page.stderr
    threads = json.loads(gzip.decompress((prof.folder / "x.firefox.json.gz").read_bytes()))["threads"]
    assert sum(len(thread["samples"]["stack"]) for thread in threads) > 100
    top = subprocess.run([client("go"), "tool", "pprof", "-top", segments(ring)[-1]], capture_output=True, text=True, check=True)
    assert "right" in top.stdout


def second(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
