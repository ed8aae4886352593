"""prof record --every: segments of minutes are merged into hours."""

import os
import random
import signal
import subprocess
import time

import pytest

from profiles import Pprof
from segment_directory import samples, segments, wait_for
from time_limit import TIME_LIMIT_S
from written_segments import name_at, write_merged_segment, write_own_segment, write_segment

KILLS = int(os.environ.get("PROF_KILLS", "20"))
OURS = ("command: prof record -a --every 1m", "host: here", "kernel: Linux", "prof: samples=70 lost=0 truncated=0 unnamed=0")
HOUR = 3600


@pytest.fixture
def ring(tmp_path):
    folder = tmp_path / "ring"
    folder.mkdir()
    return folder


def hours_ago(number):
    """Returns the second in which a past hour started; 0 is the current hour."""
    return int(time.time()) // HOUR * HOUR - number * HOUR


def fill(ring, start, count=60, comments=OURS, step=60):
    for number in range(count):
        begin = start + number * step
        write_own_segment(ring, begin, step, {f"f{number}": 50, "always": 20}, comments)


def of_hour(ring, start):
    return [path for path in segments(ring) if name_at(start) <= path.name < name_at(start + HOUR)]


def utc(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


@pytest.fixture
def recorder(prof, ring, started):
    """A prof that writes a segment every second."""

    def start(*options):
        return started(prof.start("record", "-q", "-F", "99", "--every", "1s", *options, "-o", f"{ring}/", "--",
                                  "sh", "-c", "while :; do :; done"))

    return start


def stop(process):
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=TIME_LIMIT_S)


@pytest.fixture
def merged(recorder, ring):
    """Makes a prof merge past hours, until none of them has this many segments."""

    def merge(start, count=1, options=()):
        process = recorder(*options)
        wait_for(process, lambda: len(of_hour(ring, start)) <= count)
        stop(process)

    return merge


def test_the_minutes_of_an_hour_become_one_file(prof, ring, merged, client):
    start, last = hours_ago(3), hours_ago(1)
    fill(ring, start)
    fill(ring, last, 5)
    minutes = sum(path.stat().st_size for path in of_hour(ring, start))
    ranges = [(start, start + HOUR), (start + 330, start + 437), (start + 59, start + 61), (start, last + 100)]

    def reports():
        return [samples(prof("report", ring, "--json", "--since", utc(since), "--until", utc(until))) for since, until in ranges]

    before = reports()
    assert before[1]["f6"] == 50 and before[1]["f5"] < 50, "the range begins within a minute"
    merged(start)
    merged(last)
    hour = ring / name_at(start)
    assert of_hour(ring, start) == [hour], "it has the name of its first minute"
    assert reports() == before
    assert hour.stat().st_size < minutes / 3
    profile = Pprof.read(hour)
    profile.check()
    assert profile.total() == 60 * 70 and set(OURS[:3]) <= set(profile.comments())
    assert profile.message.time_nanos == start * 10**9 and profile.message.duration_nanos == HOUR * 10**9
    top = subprocess.run([client("go"), "tool", "pprof", "-top", hour], capture_output=True, text=True, check=True)
    assert "always" in top.stdout


def test_a_minute_beside_its_hour_counts_once_and_is_removed(prof, ring, merged, recorder):
    """prof was killed before it could remove the segment."""
    start = hours_ago(2)
    fill(ring, start, 10)
    minutes = {path: path.read_bytes() for path in segments(ring)}
    before = samples(prof("report", ring, "--json"))
    merged(start)
    for path in list(minutes)[1:]:
        path.write_bytes(minutes[path])
    assert samples(prof("report", ring, "--json", "--until", utc(start + HOUR))) == before
    assert samples(prof("report", ring, "--json", "--since", utc(start + 65), "--until", utc(start + HOUR)))["f2"] == 50
    process = recorder()
    wait_for(process, lambda: len(of_hour(ring, start)) == 1)
    stop(process)
    assert samples(prof("report", ring, "--json", "--until", utc(start + HOUR))) == before


def test_nothing_is_lost_or_counts_twice_whenever_prof_is_killed(prof, ring, recorder, merged):
    """PROF_KILLS=100 kills it 100 times."""
    moments = random.Random(7)
    hours = [hours_ago(number) for number in range(3 * KILLS, 1, -1)]
    end = hours_ago(1)
    for start in hours:
        fill(ring, start, 4, step=900)
    expected = {"always": 80 * len(hours), **{f"f{number}": 50 * len(hours) for number in range(4)}}
    for _ in range(KILLS // 4):
        process = recorder()
        before = len(segments(ring))
        wait_for(process, lambda: len(segments(ring)) != before)  # pylint: disable=cell-var-from-loop
        time.sleep(moments.uniform(0, 0.05))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert samples(prof("report", ring, "--json", "--until", utc(end))) == expected
    for start in hours:
        if len(of_hour(ring, start)) > 1:
            merged(hours[-1])
    assert samples(prof("report", ring, "--json", "--until", utc(end))) == expected
    assert all(len(of_hour(ring, start)) == 1 for start in hours)
    assert segments(ring) == sorted(ring.iterdir()), "nothing else is there"


def test_what_does_not_fit_together_is_not_merged(ring, merged):
    start, other = hours_ago(3), hours_ago(2)
    fill(ring, start, 4)
    fill(ring, start + 240, 4, comments=("command: prof record -a -F 99 --every 1m", *OURS[1:]))
    fill(ring, start + 480, 2, comments=(*OURS, "a remark"))
    write_segment(ring, start + 600, 60, {"f": 1})
    write_segment(ring, start + 660, 60, {"f": 1})
    (ring / name_at(start + 720)).write_bytes(b"\x1f\x8bdamaged")
    fill(ring, other, 2)
    merged(other)
    assert [path.name for path in of_hour(ring, start)] == [name_at(start + second) for second in (0, 240, 480, 540, 600, 660, 720)]


def test_an_hour_goes_with_its_last_minute(ring, merged, recorder):
    begin = int(time.time()) // 60 * 60
    old, young = hours_ago(30), hours_ago(28)
    for start in old, young:
        fill(ring, start)
        merged(start)
    keep = begin - young - HOUR // 2
    process = recorder("--keep", f"{keep}s")
    wait_for(process, lambda: not of_hour(ring, old))
    stop(process)
    assert len(of_hour(ring, young)) == 1


def test_minutes_that_stay_for_less_than_two_hours_stay_minutes(ring, recorder):
    start = hours_ago(1)
    fill(ring, start)
    process = recorder("--keep", "119m")
    wait_for(process, lambda: len(segments(ring)) > 62)
    stop(process)
    # In the last minute of an hour, the first one expires; if the next hour has started since, the second one, too.
    assert len(of_hour(ring, start)) >= 58


def test_only_what_was_delivered_is_merged(ring, merged):
    """Minutes are the queue of --push."""
    start, other = hours_ago(3), hours_ago(2)
    target = "otlp:http://127.0.0.1:9"
    fill(ring, start, 4)
    fill(ring, other, 4)
    done = [*of_hour(ring, start)[:3], *of_hour(ring, other)]
    (ring / ".pushed").write_text("".join(f"{target} {path.name}\n" for path in done), encoding="ascii")
    merged(other, options=("--push", target, "--push-timeout", "1"))
    assert len(of_hour(ring, start)) == 4
    merged(start, 2)
    assert [path.name for path in of_hour(ring, start)] == [name_at(start), name_at(start + 180)], "delivered, and not yet"


def test_a_new_segment_never_has_the_name_of_one_that_was_merged(ring, recorder):
    """The clock was set back to an hour that was merged."""
    now = int(time.time())
    taken = range(now - 1, now + 100)
    write_merged_segment(ring, taken, {"f": 1})
    process = recorder()
    wait_for(process, lambda: len(segments(ring)) >= 3)
    stop(process)
    assert not {name_at(second) for second in taken[1:]} & {path.name for path in segments(ring)}
