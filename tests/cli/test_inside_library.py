"""libprof-inside.so: its records, and that programs behave as without it."""

import os
import platform
import re
import shutil
import subprocess
import sys

import pytest

import inside_file
from conftest import BUILD
from inside_file import ALLOC, CPU, FREE, FREE_RESERVE, LANE_BYTES, MAPPING, MAPS, START, InsideFile
from lacking import lacking
from time_limit import TIME_LIMIT_S

SP, PC = (7, 8) if platform.machine() == "x86_64" else (31, 32)


@pytest.fixture
def library():
    path = BUILD / "lib" / "inside" / "library" / "libprof-inside.so"
    return path if path.exists() else lacking("libprof-inside.so")


@pytest.fixture
def run(library, tmp_path):
    """Runs a command with the library and its file. The result's output is what the command has written."""

    def run(file, *command, **options):
        options = {"env": file.environment(library), "cwd": tmp_path, "close_fds": False, "timeout": TIME_LIMIT_S,
                   "stdin": subprocess.DEVNULL, "text": True, "capture_output": True, **options}
        return subprocess.run([str(word) for word in command], check=False, **options)

    return run


@pytest.fixture
def without(tmp_path):
    def without(*command, **options):
        options = {"cwd": tmp_path, "timeout": TIME_LIMIT_S, "stdin": subprocess.DEVNULL, "text": True,
                   "capture_output": True, **options}
        return subprocess.run([str(word) for word in command], check=False, **options)

    return without


# ---- What is recorded ----


def calls_of(output):
    for line in output.splitlines():
        pid, name, address, size, end = line.split()
        yield int(pid), name, int(address, 16), int(size), end == "freed"


def test_every_function_of_the_allocator_is_recorded_with_its_block_and_its_end(run, target):
    with InsideFile(alloc_period=1, alloc_maps=1) as file:
        result = run(file, target("hooks"), "threads")
        assert result.returncode == 0, result.stderr
        records = file.records()
        assert file.counters()["lost"] == 0
    calls = list(calls_of(result.stdout))
    assert len(calls) == 31
    for pid, name, address, size, is_freed in calls:
        begins = [record for record in records if record.type == ALLOC and record.pid == pid
                  and (record.fields["address"], record.fields["size"]) == (address, size)]
        assert begins, name
        assert all(bool(record.flags & MAPPING) == (name == "mmap") for record in begins), name
        ends = [record for record in records if record.type == FREE and record.pid == pid
                and record.fields["address"] == address and record.time >= begins[0].time]
        assert bool(ends) == is_freed or not is_freed and name == "malloc", name


def test_a_stack_begins_at_its_stack_pointer(run, target):
    with InsideFile(alloc_period=1) as file:
        assert run(file, target("hooks"), "threads").returncode == 0
        stacks = [record.stack for record in file.records() if record.type == ALLOC]
    assert len(stacks) > 20
    for registers, words in stacks:
        assert registers[SP] % 8 == 0 and registers[PC] and len(words) > 8


def test_a_process_says_what_it_is_and_maps_and_whose_child_it_is(run, target):
    with InsideFile(alloc_period=1 << 19) as file:
        assert run(file, target("hooks"), "threads").returncode == 0
        records = file.records()
    starts = [record for record in records if record.type == START]
    parent, child = starts
    assert parent.flags == inside_file.START_EXEC and not child.flags
    assert child.fields["parent"] == parent.pid
    assert parent.fields["comm"] == child.fields["comm"] == "hooks"
    text = "".join(record.fields["text"] for record in records if record.type == MAPS and record.pid == parent.pid)
    assert "hooks" in text and "libprof-inside.so" in text
    assert all("x" in line.split()[1] for line in text.splitlines())


def test_memory_that_becomes_executable_is_told(run):
    program = """
import ctypes, mmap
memory = ctypes.CDLL(None)
memory.mmap.restype = ctypes.c_size_t
address = memory.mmap(None, ctypes.c_size_t(8192), 3, 0x22, -1, ctypes.c_size_t(0))
assert memory.mprotect(ctypes.c_size_t(address + 4096), ctypes.c_size_t(4096), 5) == 0
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)
print(f"{address + 4096:016x}-{address + 8192:016x}")
"""
    with InsideFile(alloc_period=1 << 19) as file:
        result = run(file, sys.executable, "-c", program)
        assert result.returncode == 0, result.stderr
        text = [record.fields["text"] for record in file.records() if record.type == MAPS]
    protected = [line for line in text if line.startswith(result.stdout.strip())]
    assert [line.split()[1:] for line in protected] == [["r-xp", "00000000", "00:00", "0"]]
    mapped = text[text.index(protected[0]) + 1].split()[0]
    start, end = (int(address, 16) for address in mapped.split("-"))
    assert end - start == 4096


def test_cpu_time_is_recorded_with_all_registers_and_sums_up(run, target):
    with InsideFile(cpu_hz=250, drain=True) as file:
        assert run(file, target("shares"), 1).returncode == 0
        file.end()
        samples = [record for record in file.records() if record.type == CPU]
    assert abs(sum(record.fields["period"] for record in samples) / 1e9 - 1) < 0.1
    assert all(len(registers) in (17, 33) for registers, _ in (record.stack for record in samples))


# how the target loads a library: whether it succeeds, whether the hooks see its allocations, and the number of
# counted calls
LOADS = {
    "plain": (1, True, 0), "base": (1, True, 0), "itself": (1, False, 0), "if_loaded": (0, False, 0),
    "deepbind": (1, False, 1), "base_deepbind": (1, False, 1), "namespace": (1, False, 1),
}


@pytest.mark.parametrize("how", LOADS)
def test_libraries_that_the_hooks_do_not_reach_are_counted_and_found_by_their_caller(run, target, how):
    has_library, is_seen, calls = LOADS[how]
    with InsideFile(alloc_period=1) as file:
        result = run(file, target("loads"), how)
        assert (result.returncode, result.stdout, result.stderr) == (0, f"{how} {has_library}\n", "")
        assert any(record.type == ALLOC and record.fields["size"] == 5000 for record in file.records()) == is_seen
        assert file.counters()["unhooked_loads"] == calls


@pytest.mark.parametrize("how", ["plain", "base", "deepbind", "namespace"])
def test_a_first_call_of_the_loader_is_that_of_its_caller(run, library, target, how):
    """Without a file, the library must not have called anything before the program does."""
    with InsideFile() as file:
        result = run(file, target("loads"), how, env={**os.environ, "LD_PRELOAD": str(library)})
        assert (result.returncode, result.stdout, result.stderr) == (0, f"{how} 1\n", "")
        assert not file.counters()["unhooked_loads"]


@pytest.mark.parametrize("options, missing", [(("--alloc",), "allocations"), (("--via", "inside"), "threads")])
def test_the_summary_says_which_libraries_the_hooks_do_not_reach(prof, target, options, missing):
    def summary(*loads):
        return prof.run("record", *options, "-o", "out.pb.gz", "--", target("loads"), *loads).stderr

    assert re.search(f"2 calls of dlopen.* with RTLD_DEEPBIND or of dlmopen.*: {missing} ", summary("deepbind", "plain", "namespace"))
    assert "dlopen" not in summary("plain", "base")


def test_a_file_of_another_version_or_namespace_is_left_alone(run, target):
    for offset in 0, 8, 12:
        with InsideFile(alloc_period=1) as file:
            file.memory[offset] ^= 1
            assert run(file, target("hooks")).returncode == 0
            assert not file.records()
            assert file.counters()["untrusted"] == (1 if offset == 12 else 0)


def test_a_thread_whose_lane_is_full_goes_on_in_the_others_and_never_waits(run, target):
    with InsideFile(alloc_period=1) as file:
        result = run(file, target("allocates"), 200000)  # the file is not read
        assert result.returncode == 0, result.stderr
        assert file.counters()["lost"] > 100000
        assert not any(file.owners())
        assert all(filled > LANE_BYTES - FREE_RESERVE - 40000 for filled in file.filled())
        file.records()


# ---- Hostile programs ----

CONFINED = ("filtered_by_prctl", "filtered_by_seccomp", "strict_by_prctl", "strict_by_seccomp", "forbids_tsc", "forbids_tsc_by_syscall")
MODES = ("keeps_errno", "first_calls", "weak_mallocx", "close_descriptors", "unmap", "jumps", "handlers",
         "default_signals", "every_signal", "waits_for_signals", "storm", "other_children", "another_user", "seccomp", *CONFINED)


@pytest.mark.parametrize("mode", MODES)
def test_a_hostile_program_runs_as_without(run, without, target, mode):
    expected = without(target("hostile"), mode)
    assert expected.returncode == 0, expected
    for options in {"alloc_period": 1 << 12, "cpu_hz": 999}, {"alloc_period": 1, "alloc_maps": 1, "cpu_hz": 99}, {}:
        with InsideFile(**options) as file:
            result = run(file, target("hostile"), mode)
            assert (result.returncode, result.stdout, result.stderr) == (0, expected.stdout, expected.stderr), options
            file.records()


@pytest.mark.parametrize("mode", CONFINED)
def test_allocations_under_confinement_are_recorded_in_their_order(run, target, mode):
    with InsideFile(alloc_period=1 << 10, drain=True) as file:
        assert run(file, target("hostile"), mode).returncode == 0
        file.end()
        records = file.records()
    assert len({record.time for record in records if record.pid == records[0].pid}) == sum(
        record.pid == records[0].pid for record in records)
    live = set()
    for record in records:
        if record.type == ALLOC:
            assert (record.pid, record.fields["address"]) not in live
            live.add((record.pid, record.fields["address"]))
        elif record.type == FREE:
            live.discard((record.pid, record.fields["address"]))
    assert sum(record.type == ALLOC for record in records) > 1000


@pytest.mark.parametrize("mode", ("filtered_by_prctl", "filtered_by_seccomp"))
def test_a_child_under_a_filter_is_recorded_with_its_parent_and_its_own_number(run, target, mode):
    with InsideFile(alloc_period=1 << 16) as file:  # few enough that all have room
        assert run(file, target("hostile"), mode).returncode == 0
        parent, child = (record for record in file.records() if record.type == START)
        assert (child.fields["parent"], child.fields["comm"], child.tid) == (parent.pid, "", child.pid)
        assert child.pid != parent.pid and any(record.type == ALLOC and record.pid == child.pid for record in file.records())


def test_a_plugin_that_brings_the_library_of_cxx_runs_as_without(run, without, target):
    command = target("hostile"), "plugin", target("plugin_of_cxx.so")
    assert without(*command).returncode == 0
    with InsideFile(alloc_period=1 << 12) as file:
        result = run(file, *command)
    assert (result.returncode, result.stdout, result.stderr) == (0, "plugin 0\n", "")


def test_a_program_can_load_as_many_libraries_with_memory_of_threads_as_without(run, without, target, tmp_path):
    for number in range(64):
        shutil.copy(target("plugin_of_tls.so"), tmp_path / f"{number}.so")
    command = target("hostile"), "fill_tls", tmp_path
    expected = without(*command)
    assert re.fullmatch(r"[1-9]\d? loaded: fill_tls 0\n", expected.stdout), expected
    with InsideFile(alloc_period=1 << 12, cpu_hz=99) as file:
        assert run(file, *command).stdout == expected.stdout


@pytest.mark.parametrize("how", [("--alloc=4k",), ("--via", "inside"), ("--via", "inside", "--alloc=4k")])
def test_a_program_that_writes_over_all_that_is_shared_harms_nobody(prof, target, how):
    """The writer's own hooks also read the overwritten data."""
    result = prof("record", *how, "-o", "out.pb.gz", "--", target("hostile"), "garbage", timeout=TIME_LIMIT_S)
    assert (result.returncode, result.stdout.splitlines()[-1]) == (0, "garbage 0"), result
    assert re.search(r"the program overwrote the shared buffer \d+ times", result.stderr)
    assert prof("report", "out.pb.gz").returncode == 0


def test_a_child_that_the_c_library_has_not_made_does_not_write_in_its_parent_s_name(run, target):
    with InsideFile(alloc_period=1 << 12) as file:
        assert run(file, target("hostile"), "other_children").returncode == 0
        records = file.records()
    parent = next(record.pid for record in records if record.type == START)
    assert sum(record.type == ALLOC and record.pid == parent for record in records) < 100
