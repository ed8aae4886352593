"""Unsampled time: sums and shares are correct although samples are missing."""

import json
import re
import signal
import subprocess
import time
from collections import Counter

import pytest

from conftest import NOBODY
from elsewhere import elsewhere_ns
from profiles import Pprof, Stacks

MISSING = "[not sampled]"

# Each program is shorter than a period of 99 Hz.
SHORT = "200 true + 50 ls -l /usr/bin + 50 sed s/a/b/ /etc/services".split()


def record_script(prof, target, *options, programs=None):
    """Returns the messages, the folded stacks in nanoseconds, the nanoseconds that each program used, and those that
    belong to no process, of which perf's clock counts some."""
    before = elsewhere_ns()
    result = prof.run("record", "-o", "out.folded", "-o", "out.pb.gz", "--weight", "ns", *options,
                      "--", prof.bring(target("script")), "used", *SHORT)
    return result.stderr, Stacks.read(prof.folder / "out.folded"), what_was_used(prof), elsewhere_ns() - before


def all_of(stacks):
    return stacks.total + stacks.missing.total()


def what_was_used(prof):
    lines = (prof.folder / "used").read_text(encoding="ascii").splitlines()
    return {name: int(ns) for name, ns in map(str.split, lines)}


@pytest.mark.parametrize("hz", [49, 999])
def test_the_sum_of_short_processes_is_what_the_kernel_says_they_used(ordinary, paranoid, target, hz):
    paranoid(2)
    messages, stacks, used, elsewhere = record_script(ordinary, target, "-e", "cpu-clock", "-F", hz)
    # Only the profile has the script's own time after it has written the file.
    assert 0.98 * used["all"] < all_of(stacks) < 1.04 * used["all"] + elsewhere, stacks.missing
    assert stacks.missing.total() > stacks.total
    assert f"{MISSING} is of processes that ended before their first sample, [kernel] is time in the kernel" in messages
    assert "kernel.perf_event_paranoid=0" in messages
    for name in ["ls", "sed"]:
        recorded = stacks.of_process(name) + stacks.missing[name]
        assert 0.75 * used[name] < recorded < 1.25 * used[name] + elsewhere, stacks.missing
    assert not stacks.holding(MISSING)
    assert_quality(ordinary, stacks)
    assert ordinary("convert", "-q", "-o", "n.folded", "out.pb.gz").returncode == 0
    samples = hz * all_of(stacks) / 1e9
    assert abs(all_of(Stacks.read(ordinary.folder / "n.folded")) - samples) <= 1 + 0.02 * samples


def assert_quality(prof, stacks):
    """Asserts that the profile contains the counts, also after it was read and written."""
    quality = json.loads(prof("report", "--json", "out.pb.gz").stdout)["quality"]
    [event] = quality["events"]
    assert abs(event["counted"] / all_of(stacks) - 1) < 0.011
    assert event["sampled"] == stacks.total
    assert "% not sampled" in quality["text"]
    assert "% not sampled" in prof("report", "out.pb.gz").stdout
    again = prof("convert", "-q", "-o", "again.pb.gz", "out.pb.gz")
    assert again.returncode == 0, again.stderr
    assert json.loads(prof("report", "--json", "again.pb.gz").stdout)["quality"] == quality


def test_a_profile_of_nothing_but_what_was_not_sampled_does_not_lack_samples(ordinary, paranoid):
    paranoid(2)
    result = ordinary.run("record", "-F", "1", "-o", "out.folded", "--", "sh", "-c", "ls /etc; ls /etc")
    assert "100.0 % not sampled" in result.stderr and f"{MISSING} is" in result.stderr
    assert "no samples: " not in result.stderr


def test_too_much_that_is_not_sampled_can_be_a_failure(ordinary, paranoid, target):
    paranoid(2)
    command = ["--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do ls /etc; done"]
    result = ordinary("record", "-q", "-o", "out.folded", "--fail-if", "unsampled>5%", *command)
    assert result.returncode == 1 and "unsampled: " in result.stderr
    assert ordinary("record", "-q", "-o", "out.folded", "--fail-if", "unsampled>100%", *command).returncode == 0


@pytest.mark.parametrize("event", ["cpu-clock:u", "task-clock:k"])
def test_of_a_clock_of_one_side_it_is_unknown_what_was_not_sampled(prof, event, target):
    recording = prof.record("-v", "-e", event, "--", target("shares"), "0.3")
    assert not recording.stacks.missing
    assert "of it sampled" not in recording.result.stderr


def test_a_long_program_is_sampled_nearly_whole_and_that_is_said_in_a_few_words(prof, target):
    before = elsewhere_ns()
    recording = prof.record("-v", "-e", "cpu-clock", "--weight", "ns", "--", target("shares"), "1")
    assert recording.stacks.missing.total() < recording.stacks.total / 20 + elsewhere_ns() - before
    assert re.search("of it sampled|its samples add up to", recording.result.stderr)
    assert f"{MISSING} is" not in recording.result.stderr


def test_the_children_of_an_attached_process_that_were_not_sampled_are_named_in_the_hint(prof, started):
    script = "while [ ! -e enough ]; do ls /etc; ls /etc; touch ran; done >/dev/null"
    parent = started(subprocess.Popen(["sh", "-c", script], cwd=prof.folder))
    result = prof("record", "-e", "cpu-clock", "-c", "100000000000", "-p", parent.pid, "-o", "out.folded", "--",
                  "sh", "-c", "for i in 1 2 3; do rm -f ran; until [ -e ran ]; do sleep 0.01; done; done")
    (prof.folder / "enough").touch()
    assert result.returncode == 0, result.stderr
    assert f"{MISSING} is mostly of children that ended before their first sample" in result.stderr


@pytest.mark.parametrize("way", ["launched", "attached"])
def test_time_in_the_kernel_is_of_the_thread_that_used_it(ordinary, paranoid, started, target, way):
    paranoid(2)
    reader = ordinary.bring(target("kernel_reader"))
    if way == "launched":
        what = ["--", reader, "now"]
    else:
        process = started(subprocess.Popen([reader], user=NOBODY, group=NOBODY, extra_groups=[], stdout=subprocess.PIPE,
                                           cwd=ordinary.folder))
        process.stdout.readline()
        what = ["-p", process.pid, "--", "sh", "-c", f"kill -USR1 {process.pid}; until [ -e used ]; do sleep 0.05; done"]
    result = ordinary.run("record", "-e", "cpu-clock", "-o", "out.pb.gz", "-o", "out.folded", "--weight", "ns", *what)
    used = {tid: int(ns) for tid, ns in map(str.split, (ordinary.folder / "used").read_text(encoding="ascii").splitlines())}
    total = sum(used.values())
    # perf's clock also runs while the hypervisor uses the CPU.
    assert all_of(Stacks.read(ordinary.folder / "out.folded")) > 0.97 * total
    pprof = Pprof.read(ordinary.folder / "out.pb.gz")
    column = [kind for kind, _ in pprof.sample_types()].index("cpu")
    by_thread, by_frame = Counter(), Counter()
    for sample in pprof.message.sample:
        by_thread[str(pprof.labels(sample).get("tid"))] += sample.value[column]
        by_frame[pprof.frames(sample)[-1]] += sample.value[column]
    for tid, used_ns in used.items():
        assert abs(by_thread[tid] / by_thread.total() - used_ns / total) < 0.1, (by_thread, used)
    assert by_frame["[kernel]"] > total / 2, by_frame
    assert "sudo sysctl kernel.perf_event_paranoid=" in result.stderr


def test_the_live_view_shows_time_in_the_kernel_that_may_not_be_sampled(ordinary, paranoid, target):
    paranoid(2)
    result = ordinary.run("top", "-b", "-d", "60", "--by", "function", "--", ordinary.bring(target("kernel_reader")), "now")
    shares = {line.split()[-1]: float(line.split()[0]) for line in result.stdout.splitlines() if " % " in line}
    assert shares["[kernel]"] > 50, result.stdout


def test_a_snapshot_and_the_end_each_have_what_was_counted_until_then(ordinary, paranoid, started):
    paranoid(2)
    script = "while [ ! -e enough ]; do ls /etc; touch ran; done >/dev/null"
    recording = started(ordinary.start("record", "-v", "-o", "out.folded", "--weight", "ns", "--", "sh", "-c", script,
                                       user=NOBODY, group=NOBODY, extra_groups=[]))
    ran = ordinary.folder / "ran"
    totals = []
    for _ in range(2):
        ran.unlink(missing_ok=True)
        while not ran.exists():
            assert recording.poll() is None
            time.sleep(0.01)
        recording.send_signal(signal.SIGUSR2)
        while "writing the samples so far" not in recording.stderr.readline():
            pass
        while not (ordinary.folder / "out.folded").exists():
            time.sleep(0.01)
        totals.append(all_of(Stacks.read(ordinary.folder / "out.folded")))
        (ordinary.folder / "out.folded").unlink()
    (ordinary.folder / "enough").touch()
    messages = recording.communicate()[1]
    assert recording.returncode == 0, messages
    totals.append(all_of(Stacks.read(ordinary.folder / "out.folded")))
    [(number, unit)] = re.findall(r"prof: ([0-9.]+) (m?s) of CPU time", messages)
    assert totals == sorted(totals) and totals[0] > 0
    unit_ns = 1e6 if unit == "ms" else 1e9
    rounded_ns = unit_ns / 2 / 10 ** len(number.partition(".")[2])
    assert abs(totals[-1] - float(number) * unit_ns) <= rounded_ns + 0.02 * totals[-1]
