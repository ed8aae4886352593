"""The stacks of sleeping threads are found from their stack pointer and pc alone, and none is wrong.

tests/truth/sleeping_threads unwinds threads from /proc/TID/syscall. The result is compared with the chain of
functions that each thread prints before it sleeps.
"""

import bisect
import re
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from conftest import BUILD, SOURCE
from time_limit import TIME_LIMIT_S

TOOL = BUILD / "tests" / "truth" / "sleeping_threads"
THREADS = 15 * 8
WALKED = r"thread (\d+) of .*\n(?:  from sp.*\n)?  from {}: (\w+), needs (\d+) bytes: (.*)"
# The functions of the program that add themselves to the chain.
NAMES = set(re.findall(r"^static (?:NOINLINE )?(?:void \*?|int )(\w+)\(", (SOURCE / "tests/targets/sleepers.c").read_text(),
                       re.MULTILINE)) - {"jumps", "say", "return_from_others"}


class Symbols:
    """Finds the function at an address of a program."""

    def __init__(self, path):
        lines = subprocess.run(["nm", path], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
        fields = [line.split() for line in lines]
        self.symbols = sorted((int(address, 16), name) for address, kind, name in (f for f in fields if len(f) == 3)
                              if kind in "tTwW")

    def at(self, vaddr):
        _, name = self.symbols[bisect.bisect_right(self.symbols, (vaddr, "~")) - 1]
        return name.partition(".")[0]  # many.constprop.0


def is_asleep(pid, tid):
    try:
        return not Path(f"/proc/{pid}/task/{tid}/syscall").read_text(encoding="utf-8").startswith("running")
    except OSError:
        return False


@contextmanager
def asleep(path, *arguments):
    """Runs the program until all of its threads sleep: its pid, and the chain of each thread, outermost first."""
    with subprocess.Popen([path, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            lines = (process.stdout.readline().split() for _ in range(THREADS))
            chains = {int(tid): [name for name in chain if name != "jumps"] for tid, *chain in lines}
            end = time.monotonic() + TIME_LIMIT_S
            while not all(is_asleep(process.pid, tid) for tid in chains):
                assert time.monotonic() < end
                time.sleep(0.01)
            yield process.pid, chains
        finally:
            process.kill()


def walked(path, pid, known):
    """Returns, for each thread, how the walk ended, and the program's functions on its stack, outermost first."""
    symbols = Symbols(path)
    text = subprocess.run([TOOL, "-v", str(pid)], text=True, check=False, timeout=TIME_LIMIT_S,
                          stdout=subprocess.PIPE).stdout
    result = {}
    for tid, stop, _, frames in re.findall(WALKED.format(known), text):
        files = (frame.rpartition("+") for frame in frames.split())
        names = [symbols.at(int(vaddr, 16)) for file, _, vaddr in files if file == path.name]
        result[int(tid)] = stop, [name for name in reversed(names) if name in NAMES]
    return result


def look(path, *arguments, known="sp and pc"):
    """The number of threads whose stack reached its root, and the wrong ones. A thread that ran in between is walked again."""
    with asleep(path, *arguments) as (pid, chains):
        found = {}
        end = time.monotonic() + TIME_LIMIT_S
        while not chains.keys() <= found.keys():
            assert time.monotonic() < end, chains.keys() - found.keys()
            found = {**walked(path, pid, known), **found}
    wrong = []
    for tid, chain in chains.items():
        stop, names = found[tid]
        if names != (chain if stop == "root" else chain[len(chain) - len(names):]):
            wrong.append((stop, names, chain))
    rooted = sum(found[tid][0] == "root" for tid in chains)
    return rooted, wrong


# musl's C library has no call frame information, only symbols.
@pytest.mark.parametrize("arguments", [(), ("stale",)])
def test_threads_in_code_without_cfi_are_unwound_by_the_code(target, arguments):
    rooted, wrong = look(target("sleepers_musl"), *arguments, known="all registers")
    assert not wrong
    assert rooted == THREADS


# In sleepers, a tenth of the stacks have a frame of variable size where no lower frame has saved the frame pointer,
# on a stack full of stale return addresses. Two chains are possible then.
@pytest.mark.parametrize(("name", "least"), [("sleepers", 0.85), ("sleepers_static", 0.85), ("sleepers_musl", 0.85),
                                             ("sleepers_framed", 0.99),
                                             ("sleepers_unoptimized", 0.99)])
@pytest.mark.parametrize("arguments", [(), ("stale",)])
def test_sleeping_threads_are_unwound_from_sp_and_pc(target, name, least, arguments):
    rooted, wrong = look(target(name), *arguments)
    assert not wrong
    assert rooted >= least * THREADS


@pytest.mark.parametrize("name", ["parked", "parked_stripped"])
def test_threads_of_go_are_unwound_from_sp_and_pc(target, name):
    with subprocess.Popen([target(name)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "asleep\n"
            result = subprocess.run([TOOL, str(process.pid)], text=True, check=False, timeout=TIME_LIMIT_S,
                                    stdout=subprocess.PIPE).stdout
        finally:
            process.kill()
    threads, from_registers, rooted, wrong = map(int, re.findall(r"\d+", result.splitlines()[-1])[:4])
    assert not wrong, result
    assert threads >= 10
    # Without CFI, the start of the monitor (runtime.sysmon), which is called through a pointer, is unknown.
    assert rooted >= from_registers - (name == "parked_stripped")
