"""Probes of code: uprobe:, uretprobe:, usdt:, kprobe: and --calls, on tests/targets/probed.c."""

import json
import os
import re
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from lacking import tool
from profiles import Pprof, Stacks

PMU = Path("/sys/bus/event_source/devices/uprobe")


@pytest.fixture
def probed(root, targets):
    if not PMU.exists():
        pytest.skip("needs uprobes")
    return targets / "probed"


def hits(recording):
    return recording.stacks.total


def stay_on_one_cpu():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def by_caller(stacks, function="hit"):
    """Hits by the frame that calls the function."""
    sums = Counter()
    for frames, count in stacks.counts.items():
        assert frames[-1] == function, frames
        sums[frames[-2]] += count
    return sums


def test_each_hit_is_a_sample_below_its_true_callers(prof, probed):
    recording = prof.record("-e", "uprobe:often", "-e", "uprobe:hit", "--show-event", "uprobe:hit", probed, "calls", 300)
    assert "0 lost, 0 truncated" in recording.result.stderr
    assert by_caller(recording.stacks) == {"often": 200, "seldom": 100, "only_inlined": 1}
    assert all("main" in frames for frames in recording.stacks.counts)


def test_a_period_takes_one_of_so_many_hits(prof, probed):
    """Each CPU counts its own hits. On one CPU no remainder is left on another."""
    recording = prof.record("-e", "uprobe:hit/period=10/", probed, "calls", 999, preexec_fn=stay_on_one_cpu)
    assert hits(recording) == 100


def test_children_and_threads_go_on_and_are_probed(prof, probed):
    """Inherited probes would make fork() fail; these do not. Hits of other processes are not recorded."""
    with subprocess.Popen(["sh", "-c", f"while :; do {probed} calls 10; done"], stdout=subprocess.DEVNULL,
                          start_new_session=True) as other:
        try:
            recording = prof.record("-e", "uprobe:hit", probed, "forks", 20)
        finally:
            os.killpg(other.pid, signal.SIGKILL)
    assert hits(recording) == 201
    assert recording.stacks.holding("start_thread", "hit_five_times", "hit") == 100


def test_a_running_process_is_probed_with_its_children(prof, probed):
    """The command starts when the process is probed, and then resumes it."""
    gate = prof.folder / "gate"
    os.mkfifo(gate)
    with subprocess.Popen(["sh", "-c", f"read go < {gate}; {probed} forks 5; exec {probed} calls 7"],
                          stdout=subprocess.DEVNULL) as process:
        recording = prof.record("-e", f"uprobe:{probed}:hit", "-p", process.pid, "--", "sh", "-c",
                                f"echo > {gate}; exec tail -f --pid={process.pid} /dev/null")
    assert hits(recording) == 5 * 10 + 1 + 7 + 1


def test_a_library_is_probed_that_is_opened_later(prof, probed, targets):
    library = targets / "plugin_one.so"
    recording = prof.record("-e", f"uprobe:{library}:plugin_one_work", probed, "opens", library)
    assert hits(recording) == 3
    assert recording.stacks.holding("main", "plugin_one_work") == 3


def test_a_library_is_found_by_its_name(prof, probed):
    recording = prof.record("-e", "uprobe:libc:nanosleep", probed, "naps", 3, 0)
    assert {frames[-2] for frames in recording.stacks.counts} == {"nap"}


def test_a_pattern_has_several_places(prof, probed):
    recording = prof.record("-e", "uprobe:*o?*e*n", probed, "calls", 30)
    assert {frames[-1] for frames in recording.stacks.counts} == {"often"}
    recording = prof.record("-e", "uprobe:*it*", probed, "calls", 3)
    assert "places: " in recording.result.stderr
    assert recording.stacks.count(lambda frames: frames[-1] == "hit") == 4


def test_a_line_of_the_source_is_a_place(prof, probed):
    source = (Path(__file__).parents[1] / "targets" / "probed.c").read_text(encoding="utf-8").splitlines()
    line = source.index("NOINLINE void often(void)") + 3
    assert hits(prof.record("-e", f"uprobe:probed.c:{line}", probed, "calls", 30)) == 20
    result = prof("record", "-e", "uprobe:probed.c:1", probed, "calls", 1)
    assert result.returncode == 2
    assert re.search(r"it has no code at probed\.c:1\n  the nearest line with code is \d+", result.stderr)


def test_offsets_are_those_of_instructions(prof, probed):
    address = next(line.split()[0] for line in subprocess.check_output(["nm", probed], text=True).splitlines()
                   if line.endswith(" T often"))
    assert hits(prof.record("-e", f"uprobe:0x{int(address, 16):x}", probed, "calls", 3)) == 2
    listing = subprocess.check_output(["objdump", "-d", "--disassemble=often", probed], text=True)
    starts = [int(found[1], 16) - int(address, 16) for found in re.finditer(r"^\s+([0-9a-f]+):\t", listing, re.M)]
    assert hits(prof.record("-e", f"uprobe:often+0x{starts[1]:x}", probed, "calls", 3)) == 2
    inside = next(offset for offset in range(1, starts[-1]) if offset not in starts)
    result = prof("record", "-e", f"uprobe:often+{inside}", probed, "calls", 3)
    assert result.returncode == 2
    assert f"no instruction starts at often+0x{inside:x}" in result.stderr


def test_what_is_not_there_is_said(prof, probed, targets):
    def error_of(event, program=probed):
        result = prof("record", "-e", event, program, "calls", 1)
        assert result.returncode == 2, result.stderr
        return result.stderr

    assert "did you mean often?" in error_of("uprobe:oftn")
    assert re.search(r"only_inlined is inlined everywhere, for example at \S+probed\.c:\d+\n  a line can be probed",
                     error_of("uprobe:only_inlined"))
    assert "is stripped\n  install its debug symbols" in error_of("uprobe:hit", targets / "probed_stripped")
    assert "there is no program or library no_such" in error_of("uprobe:no_such:f")
    assert "memcpy is chosen when the program starts (IFUNC)" in error_of("uprobe:libc:memcpy")
    assert "No such process" in error_of("uprobe:4194303:f")
    assert "it has no static probes" in error_of("usdt:libc:x")


def test_kernels_say_whether_they_have_kprobes(prof, probed):
    result = prof("record", "-e", "kprobe:vfs_read", probed, "calls", 1)
    if PMU.with_name("kprobe").exists():
        assert result.returncode == 0, result.stderr
    else:
        assert "this kernel has no kprobes (CONFIG_KPROBES)" in result.stderr


def test_a_static_probe_is_hit_because_its_semaphore_is_set(prof, probed):
    assert subprocess.check_output([probed, "static", "5"], text=True) == "0\n"
    recording = prof.record("-e", "usdt:probed:shop:query", probed, "static", 5)
    assert recording.result.stdout == "5\n"
    assert recording.stacks.holding("main", "query") == 5
    result = prof("record", "-e", "usdt:probed:qery", probed, "static", 5)
    assert "did you mean query?" in result.stderr


def test_a_return_is_in_the_caller(prof, probed):
    recording = prof.record("-e", "uretprobe:hit", probed, "calls", 300)
    sums = Counter()
    for frames, count in recording.stacks.counts.items():
        sums[frames[-1]] += count
    assert sums == {"often": 200, "seldom": 100, "main": 1}
    assert all("main" in frames for frames in recording.stacks.counts) and "0 lost, 0 truncated" in recording.result.stderr


def test_callers_of_calls_whose_returns_are_sampled_are_known(prof, probed):
    """The kernel replaces return addresses of active calls."""
    recording = prof.record("-e", "uretprobe:down", "-o", "record.data", probed, "recursion", 5)
    assert sorted(frames.count("down") for frames in recording.stacks.counts) == [0, 1, 2, 3, 4, 5]
    assert "6 samples, 0 lost, 0 truncated" in recording.result.stderr
    assert all("main" in frames for frames in recording.stacks.counts)
    assert sum(row["self"]["samples"] for row in json.loads(prof("report", "record.data", "--json").stdout)["rows"]) == 6
    recording = prof.record("-e", "uretprobe:down/period=2/", "-e", "uprobe:nap", "--show-event", "uprobe:nap", probed, "recursion", 5)
    assert "4 samples, 0 lost, 0 truncated" in recording.result.stderr
    (frames,) = recording.stacks.counts
    assert frames[-7:] == ("down",) * 6 + ("nap",)


def test_calls_that_were_left_leave_no_return_addresses(prof, probed):
    recording = prof.record("-e", "uretprobe:escape", "-e", "uprobe:nap", "--show-event", "uprobe:nap", probed, "leaves", 3)
    assert "0 truncated" in recording.result.stderr and "no matching return" not in recording.result.stderr
    assert all(frames[-3:] == ("main", "leave", "nap") for frames in recording.stacks.counts)


def test_go_programs_get_no_return_probes(prof, root, tmp_path):
    program = tmp_path / "sleeps"
    source = tmp_path / "sleeps.go"
    source.write_text("package main\nfunc main() {}\n", encoding="ascii")
    subprocess.run([tool("go"), "build", "-o", program, source], check=True, cwd=tmp_path, capture_output=True)
    result = prof("record", "-e", "uretprobe:main.main", program)
    assert "a return probe would crash it: it is a Go program" in result.stderr


def test_calls_are_measured(prof, probed):
    prof.run("record", "--calls", "nap", "-o", "naps.pb.gz", probed, "naps", 8, 4)
    pprof = Pprof.read(prof.folder / "naps.pb.gz")
    report = prof("report", "naps.pb.gz").stdout
    assert "latency:nap: 8 samples" in report
    assert re.search(r"calls took min \d+ms-\d+ms, median \d+ms", report)
    took = set(pprof.by_label("latency"))
    assert all(int(re.match(r"(\d+)ms-|\d+s", label)[1] or 1000) >= 4 for label in took), "naps are no shorter than asked for"
    rows = prof("report", "--by", "label:latency", "naps.pb.gz").stdout
    assert all(label in rows for label in took)


@pytest.mark.parametrize("options", [["--latency=nap"], ["--latency", "nap"], ["--latency", "nap", "--latency", "hit", "-F", "99"]])
def test_the_old_spelling_of_calls_is_understood_and_the_new_one_told(prof, probed, options):
    result = prof.run("record", *options, "-o", "naps.pb.gz", probed, "naps", 8, 4)
    assert result.stderr.count("--latency FUNCTION is now --calls FUNCTION") == 1
    report = prof("report", "naps.pb.gz").stdout
    assert "latency:nap: 8 samples" in report and "elapsed" not in report


def test_recursive_calls_keep_their_callers(prof, probed):
    """The kernel replaces return addresses of active calls."""
    result = prof("record", "--calls", "down", "-o", "down.folded", "-o", "down.pb.gz", probed, "recursion", 5)
    assert "6 samples, 0 lost, 0 truncated" in result.stderr
    stacks = Stacks.read(prof.folder / "down.folded")
    assert sorted(frames.count("down") for frames in stacks.counts) == [1, 2, 3, 4, 5, 6]
    assert all("main" in frames for frames in stacks.counts)


def test_calls_that_are_left_are_counted(prof, probed):
    result = prof("record", "--calls", "escape", "-o", "left.pb.gz", probed, "leaves", 3)
    assert "12 calls have no matching return" in result.stderr


def test_slow_calls_alone_are_kept(prof, probed):
    script = f"{probed} naps 5 0; {probed} naps 1 1000"
    result = prof("record", "--calls", f"{probed}:nap", "--slower", "1s", "-o", "slow.pb.gz", "sh", "-c", script)
    assert "1 sample" in result.stderr
    assert prof("record", "--slower", "20ms", "true").returncode == 2


def test_the_rights_that_are_missing_are_named(ordinary, root, targets):
    program = ordinary.bring(targets / "probed")
    result = ordinary("record", "-e", "uprobe:hit", program, "calls", 1)
    assert result.returncode == 1
    assert "probes need root or CAP_PERFMON" in result.stderr


def test_nothing_is_left_behind_by_a_prof_that_is_killed(prof, probed):
    recorder = prof.start("record", "-v", "-e", f"uprobe:{probed}:hit", "-a", "-o", "out.pb.gz")
    for line in recorder.stderr:
        if "descriptors" in line:
            break
    recorder.send_signal(signal.SIGKILL)
    recorder.wait()
    done = subprocess.run([probed, "calls", "100000"], check=True, capture_output=True, text=True)
    assert int(done.stdout) < 50_000_000, "it is still probed"
