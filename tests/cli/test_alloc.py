"""Memory by prof record --alloc: the profile must show the amounts that the program reports.

A block of S bytes is sampled with probability p = 1 - exp(-S / R) and counts 1 / p times. A sum over N blocks therefore
has the standard deviation S * sqrt(N * (1 - p) / p), which is computed from the program's output, not from the profile.
A test compares about twenty sums: one of them deviates by 3 standard deviations in one of twenty runs, by 4 in one of
800, and by 5 in one of 90,000. If nearly all blocks are sampled, the missing blocks have a Poisson distribution
instead: of 120 blocks of 1 MiB at 128 KiB, one is missed in one of 25 runs, and three in one of 100,000. A sum may
therefore also deviate by two samples of its largest block.

Nothing may be lost, however late prof reads. A record has about 2 KB and the shared memory 16 MB, so a test takes
fewer than 7,000 samples.
"""

import json
import math
import os
import signal
import subprocess
import sys
from collections import defaultdict

import pytest

from conftest import Prof
from control_channel import Phases
from lacking import tool
from profiles import SIGMAS
from segment_directory import wait_for
from time_limit import TIME_LIMIT_S

KB, MB = 1 << 10, 1 << 20
SAMPLES = 2
# The environment is at the start of a program's stack, which every sample copies.
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
FUNCTIONS = {"small", "medium", "large", "zeroed", "grown", "array", "aligned", "created", "hand_over", "threaded"}


class Sum:
    """The amount that a function has allocated, or that is in use, with the standard deviation of its sampling."""

    def __init__(self):
        self.bytes = self.objects = self.bytes_variance = self.objects_variance = 0
        self.bytes_sample = self.objects_sample = 0  # the largest value of one sample

    def add(self, size, number, period):
        sampled = -math.expm1(-size / period)
        variance = abs(number) * (1 - sampled) / sampled
        self.bytes += size * number
        self.objects += number
        self.bytes_variance += size * size * variance
        self.objects_variance += variance
        self.bytes_sample = max(self.bytes_sample, size / sampled)
        self.objects_sample = max(self.objects_sample, 1 / sampled)


def said(output, period, is_counted=lambda function, pid: True):
    """The output of the target `allocations`: sums of allocated memory and of memory in use, by function."""
    allocated, live = defaultdict(Sum), defaultdict(Sum)
    for line in output.splitlines():
        pid, function, size, number, living = line.split()
        if is_counted(function, int(pid)):
            allocated[function].add(int(size), int(number), period)
            if int(living):
                live[function].add(int(size), int(living), period)
    return allocated, live


def report(prof, path, *arguments):
    result = prof.run("report", "--json", "--min", "0", *arguments, path)
    return json.loads(result.stdout)


def weights(prof, path, event, *arguments):
    """Self weights by function, or by the argument of --by."""
    rows = report(prof, path, "-e", event, *arguments)["rows"]
    return {row["name"]: row["self"]["weight"] for row in rows if row["self"]["weight"]}


def assert_nothing_lost(prof, path):
    quality = {event["event"]: event for event in report(prof, path)["quality"]["events"]}
    assert not quality["alloc_space"].get("lost"), quality


def assert_sums(found, expected, which):
    """Fractions of objects and bytes are carried over from one block to the next."""
    for function, exact in expected.items():
        value, variance, sample = (getattr(exact, which + suffix) for suffix in ("", "_variance", "_sample"))
        slack = SIGMAS * math.sqrt(variance) + SAMPLES * sample
        assert abs(found.get(function, 0) - value) <= slack, (function, which, found.get(function), value, math.sqrt(variance))


def assert_true(prof, path, output, period, **which):
    """Asserts that bytes and objects, allocated and in use, are those that the program has printed."""
    assert_nothing_lost(prof, path)
    allocated, live = said(output, period, **which)
    for event, expected, unit in (("alloc_space", allocated, "bytes"), ("alloc_objects", allocated, "objects"),
                                  ("inuse_space", live, "bytes"), ("inuse_objects", live, "objects")):
        assert_sums(weights(prof, path, event), expected, unit)
    return allocated, live


def record(prof, target, how, *words, options=(), out="out.pb.gz"):
    result = prof.run("record", f"--alloc={how}", *options, "-o", out, "--", target("allocations"), *words, env=ENVIRONMENT)
    return result


@pytest.fixture(scope="module")
def everything(target, tmp_path_factory):
    """A prof in the directory of a recording of each function, and the output of the program."""
    prof = Prof(tmp_path_factory.mktemp("alloc"))
    return prof, record(prof, target, "128k", "all*60").stdout


def test_bytes_and_objects_of_each_function_are_true(everything):
    prof, output = everything
    allocated, live = assert_true(prof, "out.pb.gz", output, 128 * KB, is_counted=lambda function, pid: function != "mapped")
    assert allocated.keys() == FUNCTIONS and live.keys() == {"medium", "large", "grown", "threaded"}
    assert "mapped" not in weights(prof, "out.pb.gz", "alloc_space")
    # Each block in use belongs to its function, even if another thread frees it.
    assert weights(prof, "out.pb.gz", "inuse_space").keys() <= live.keys() | {"start_worker", "main"}


def test_root_can_record_every_call_of_malloc_without_the_library(prof, root, target):
    if not os.path.exists("/sys/bus/event_source/devices/uprobe"):
        pytest.skip("needs uprobes")
    result = prof.run("record", "--alloc=uprobe", "-o", "out.pb.gz", "--", target("allocations"), "medium", "keep", env=ENVIRONMENT)
    allocated = said(result.stdout, KB)[0]
    if " 0 lost" in result.stderr:
        found = weights(prof, "out.pb.gz", "alloc_space")
        assert {name: found[name] for name in allocated} == {name: sums.bytes for name, sums in allocated.items()}


def test_sums_are_unbiased(prof, target):
    """Four runs together have 18,000 samples, so the standard deviation of their mean is 0.7 %."""
    found = exact = variance = 0
    for _ in range(4):
        result = record(prof, target, "32k", "small*48", "medium*48", "array*48")
        assert_nothing_lost(prof, "out.pb.gz")
        sums = weights(prof, "out.pb.gz", "alloc_space")
        for function, expected in said(result.stdout, 32 * KB)[0].items():
            found += sums[function]
            exact += expected.bytes
            variance += expected.bytes_variance
    assert abs(found - exact) < SIGMAS * math.sqrt(variance) < 0.04 * exact, found / exact


def test_a_leak_among_two_hundred_times_as_much_is_found(prof, target):
    result = record(prof, target, "64k", "zeroed*100", "leak", "zeroed*100")
    allocated, _ = assert_true(prof, "out.pb.gz", result.stdout, 64 * KB)
    assert allocated["zeroed"].bytes > 180 * allocated["leak"].bytes
    leaks = report(prof, "out.pb.gz", "--leaks")["rows"]
    assert leaks[0]["name"] == "leak"


def test_mappings_count_if_asked_for_and_can_be_given_back_in_parts(prof, target):
    result = record(prof, target, "512k,maps", "mapped*20", "large*20")
    allocated, live = said(result.stdout, 512 * KB)
    for event, sums in ("alloc_space", allocated), ("inuse_space", live):
        assert_sums(weights(prof, "out.pb.gz", event), sums, "bytes")
    # Both sums come from the same 20 samples, because each mapping is larger than the period.
    found = (weights(prof, "out.pb.gz", event)["mapped"] for event in ("inuse_space", "alloc_space"))
    assert next(found) == pytest.approx(next(found) / 2, rel=0.01)


def test_children_and_executed_programs_have_their_own_blocks(prof, target):
    result = record(prof, target, "8k", "medium*4", "fork", "keep", "fork", "medium", "exec", "leak", "threaded")
    lines = result.stdout.splitlines()
    pids = list(dict.fromkeys(int(line.split()[0]) for line in lines))
    main = next(int(line.split()[0]) for line in lines if line.split()[1] == "leak")
    assert len(pids) == 3
    # The memory of a program is released when it executes another one.
    gone = f"{main} medium "
    output = "\n".join(line if not line.startswith(gone) else line.rpartition(" ")[0] + " 0" for line in lines)
    assert_true(prof, "out.pb.gz", output, 8 * KB)
    for pid in pids:
        one = {"is_counted": lambda function, of, pid=pid: of == pid}
        allocated, live = said(output, 8 * KB, **one)
        for event, sums in ("alloc_space", allocated), ("inuse_space", live):
            assert_sums(weights(prof, "out.pb.gz", event, "--pid", pid), sums, "bytes")


def test_samples_have_the_names_of_their_process_and_thread(everything):
    prof, output = everything
    allocated, _ = said(output, 128 * KB)
    pid = int(output.split()[0])
    only = report(prof, "out.pb.gz", "--by", "thread", "-e", "alloc_space")["rows"]
    threads = {row["name"]: row for row in only}
    assert {row["pid"] for row in only} == {pid}
    assert_sums({"threaded": threads["worker"]["self"]["weight"]}, {"threaded": allocated["threaded"]}, "bytes")
    processes = report(prof, "out.pb.gz", "--by", "process", "-e", "alloc_space")["rows"]
    assert [row["name"] for row in processes] == ["allocations"]


def test_sizes_and_lifetimes_are_classes(everything):
    prof, output = everything
    allocated, live = said(output, 128 * KB)
    sizes = weights(prof, "out.pb.gz", "alloc_space", "--by", "size", "--focus", "^(small|medium)$")
    assert sizes.keys() == {"16 B to 31 B", "512 B to 1,023 B"}
    lifetimes = weights(prof, "out.pb.gz", "alloc_space", "--by", "lifetime", "--focus", "^medium$")
    assert_sums(lifetimes, {"live": live["medium"]}, "bytes")
    assert_sums({"medium": sum(lifetimes.values())}, {"medium": allocated["medium"]}, "bytes")


def test_leaks_show_the_ages_of_what_lives(prof, target):
    record(prof, target, "16k", "leak", "pause*100", "keep")
    rows = {row["name"]: row for row in report(prof, "out.pb.gz", "--leaks")["rows"]}
    # The pauses are 200 ms, or more on a busy machine.
    assert rows["leak"]["ages"].keys() <= {"100 ms to 1 s", "1 s to 10 s", "10 s to 100 s"} and rows["keep"]["ages"]
    assert sum(rows["leak"]["ages"].values()) == rows["leak"]["self"]["weight"]
    text = prof("report", "--leaks", "--no-tree", "out.pb.gz").stdout
    shown = next(line for line in text.splitlines()[5:] if " leak " in line)
    assert any(age in shown for age in rows["leak"]["ages"])
    ages = weights(prof, "out.pb.gz", "inuse_space", "--by", "age", "--focus", "^leak$")
    assert ages == rows["leak"]["ages"]


# ---- Kinds of programs ----


@pytest.mark.parametrize("level", [2, 4])
def test_an_ordinary_user_needs_no_rights(ordinary_with_library, target, paranoid, level):
    prof = ordinary_with_library
    paranoid(level)
    output = record(prof, lambda name: prof.bring(target(name)), "64k", "medium*20", "grown*20").stdout
    assert_true(prof, "out.pb.gz", output, 64 * KB)


def test_no_perf_event_is_opened(prof, target):
    result = subprocess.run([target("without_perf"), "EPERM", prof.binary, "record", "--alloc=64k", "-o", "out.pb.gz", "--",
                             target("allocations"), "medium*20"], text=True, capture_output=True, cwd=prof.folder,
                            check=False, env=ENVIRONMENT)
    assert result.returncode == 0, result.stderr
    assert_true(prof, "out.pb.gz", result.stdout, 64 * KB)


def test_cpu_time_and_allocations_are_recorded_together(prof, target):
    result = record(prof, target, "64k", "medium*40", "small*40", options=["-e", "cpu-clock", "-F", "1999"])
    assert_true(prof, "out.pb.gz", result.stdout, 64 * KB)
    found = report(prof, "out.pb.gz", "-e", "cpu")
    assert found["quality"]["samples"] > 20
    assert "small" in {row["name"] for row in found["rows"] if row["total"]["weight"]}


# ---- Code that is mapped late ----


def test_a_library_that_is_opened_later_has_its_functions(prof, target):
    prof.run("record", "--alloc=512k", "-o", "out.pb.gz", "--", target("opener"), "0.3",
             target("allocating_plugin.so"), "plugin_allocates", env=ENVIRONMENT)
    found = report(prof, "out.pb.gz", "-e", "alloc_space")
    rows = {row["name"]: row["self"]["weight"] for row in found["rows"]}
    assert rows["plugin_allocates"] > 0.9 * found["all"]["weight"]
    assert {"main", "use"} <= {row["name"] for row in found["rows"] if row["total"]["weight"] > 0.9 * found["all"]["weight"]}
    # Files mapped in the last few milliseconds of a process are gone when prof reads its mappings.
    assert found["quality"]["events"][0]["truncated"] < 0.05 * found["quality"]["events"][0]["samples"]


def test_extensions_of_python_are_unwound(prof):
    code = "import bz2\nfor _ in range(20000): bz2.BZ2Compressor(9).compress(b'x')"  # a few MB each
    prof.run("record", "--alloc=64m", "-o", "out.pb.gz", "--", sys.executable, "-c", code, env=ENVIRONMENT)
    found = report(prof, "out.pb.gz", "-e", "alloc_space", "--by", "module")
    through = {os.path.basename(row["name"]).split(".")[0]: row["total"]["weight"] for row in found["rows"]}
    assert through["_bz2"] > 0.9 * found["all"]["weight"], through
    allocations = report(prof, "out.pb.gz")["quality"]["events"][0]
    assert allocations["truncated"] < 0.01 * allocations["samples"], allocations


def test_jit_code_has_its_callers_and_names(prof):
    node = tool("node")
    script = prof.folder / "grow.js"
    script.write_text("""
        function grow(size) { return Buffer.alloc(size); }
        function often() { let sum = 0; for (let i = 0; i < 4000; i++) sum += grow(100000).length; return sum; }
        for (let round = 0; round < 5; round++) often();
        """)
    prof.run("record", "--alloc=2m", "-o", "out.pb.gz", "--", node, "--perf-basic-prof", script)
    allocations = report(prof, "out.pb.gz")["quality"]["events"][0]
    assert allocations["samples"] > 500 and allocations["truncated"] < 0.05 * allocations["samples"]
    through, all_of_it = (report(prof, "out.pb.gz", "-e", "alloc_space", *focus)["all"]["weight"]
                          for focus in (("--focus", "grow"), ()))
    assert through > 0.9 * all_of_it


# ---- Phases and snapshots ----


@pytest.fixture
def steps(prof, target, started, channel):
    """steps(…) starts a recording of `allocations`. The result carries out each word."""

    def start(*options):
        process = started(prof.start("record", *options, "--control", channel.how, "--", target("allocations"),
                                     stdin=subprocess.PIPE, bufsize=1, env=ENVIRONMENT))
        steps = Phases(process)
        channel("ping")
        return steps

    return start


def finish(steps):
    """Returns the sums of the program."""
    output, errors = steps.process.communicate(timeout=TIME_LIMIT_S)
    assert steps.process.returncode == 0, errors
    return output


def test_lost_allocations_are_told_with_what_helps(prof, steps):
    """More than the shared memory can hold is allocated while prof is stopped."""
    program = steps("--alloc=64", "--fail-if", "lost>1%", "-o", "out.pb.gz")
    program.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, program.process.pid, os.WSTOPPED)
    program("small*3")
    program.process.send_signal(signal.SIGCONT)
    _, errors = program.process.communicate(timeout=TIME_LIMIT_S)
    assert program.process.returncode == 1, errors
    assert "sample fewer with a larger --alloc=BYTES" in errors
    assert "lower -F" not in errors and "lost: " in errors
    quality = report(prof, "out.pb.gz")["quality"]
    assert quality["lost"] == 0
    events = {event["event"]: event for event in quality["events"]}
    assert events["alloc_space"]["lost"] > events["alloc_space"]["samples"] / 100


def test_a_signal_writes_what_lives_and_recording_goes_on(prof, steps):
    program = steps("--alloc=16k", "-o", "out.pb.gz")
    program("medium*4")
    program("keep")
    os.kill(program.pid, signal.SIGUSR2)
    wait_for(program.process, (prof.folder / "out.pb.gz").exists)
    os.rename(prof.folder / "out.pb.gz", prof.folder / "then.pb.gz")
    program("release")
    program("leak")
    _, live = assert_true(prof, "out.pb.gz", finish(program), 16 * KB)
    assert live.keys() == {"medium", "leak"}
    then = weights(prof, "then.pb.gz", "inuse_space")
    assert then.keys() >= {"medium", "keep"} and "leak" not in then
    assert "keep" not in weights(prof, "out.pb.gz", "inuse_space")


def test_snapshots_have_what_was_allocated_since_the_last_and_what_lives_at_their_end(prof, steps, channel):
    program = steps("--alloc=16k", "-o", "rest.pb.gz")
    program("keep")
    program("medium*2")
    channel("snapshot one.pb.gz")
    program("medium*2")
    channel("snapshot two.pb.gz")
    program("release")
    program("zeroed")
    output = finish(program)
    allocated, live = said(output, 16 * KB)
    files = ["one.pb.gz", "two.pb.gz", "rest.pb.gz"]
    for path in files:
        assert_nothing_lost(prof, path)
    for event, unit in ("alloc_space", "bytes"), ("alloc_objects", "objects"):
        parts = [weights(prof, path, event) for path in files]
        assert_sums({name: sum(part.get(name, 0) for part in parts) for name in allocated}, allocated, unit)
        assert "keep" not in parts[1] and "zeroed" not in parts[1] and parts[2].keys() >= {"zeroed"}
    one, two, rest = (weights(prof, path, "inuse_space") for path in files)
    assert one["keep"] == two["keep"] and "keep" not in rest
    assert two["medium"] > one["medium"] and rest["medium"] == two["medium"]
    assert_sums(rest, live, "bytes")


def test_in_a_pause_nothing_is_allocated_but_blocks_are_given_back(prof, steps, channel):
    program = steps("--alloc=16k", "-D", "-1", "-o", "out.pb.gz")
    program("medium")
    channel("enable")
    program("keep")
    program("leak")
    channel("disable")
    program("release")
    program("zeroed*2")
    channel("enable")
    program("threaded")
    output = finish(program)
    assert_nothing_lost(prof, "out.pb.gz")
    allocated, live = said(output, 16 * KB)
    found = weights(prof, "out.pb.gz", "alloc_space")
    assert not found.keys() & {"medium", "zeroed"}
    recorded = {name: allocated[name] for name in ("keep", "leak", "threaded")}
    assert_sums(found, recorded, "bytes")
    inuse = weights(prof, "out.pb.gz", "inuse_space")
    assert "keep" not in inuse and "zeroed" not in inuse
    assert_sums(inuse, {name: live[name] for name in ("leak", "threaded")}, "bytes")


def test_the_end_of_a_recording_is_not_that_of_the_program(prof, steps, channel):
    program = steps("--alloc=16k", "-o", "out.pb.gz")
    program("leak")
    program("keep")
    program("release")
    channel("stop")
    program.process.wait(TIME_LIMIT_S)
    found = weights(prof, "out.pb.gz", "inuse_space")
    assert "keep" not in found and abs(found["leak"] - MB) < SIGMAS * math.sqrt(MB * 16 * KB)
