"""Run by gdb. Stops a program at random instructions, and writes its state and the callers that gdb finds, in the
format of replay_stops.c.

    FOLDER=… STOPS=1000 gdb -batch -x take_stops.py --args PROGRAM …
    build/tests/truth/replay_stops FOLDER

The program repeatedly runs for a random time and is then single-stepped; each step is a stop. Stops in the functions
that FOOLING names (separated by spaces) are skipped, because gdb finds wrong callers in them, or more than prof can.
"""

import os
import random
import re
import signal
import struct
import subprocess
from pathlib import Path

import gdb

REGISTERS = "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15".split()  # by DWARF number
SP = REGISTERS.index("rsp")
EM_X86_64 = 62
STACK_BYTES_MAX = 64 << 10
BURST = 40  # instructions
START_TICKS = 5  # CPU time in ticks (100 per second) until the program has started
FOOLING = os.environ.get("FOOLING", "").split()
FRAMES_OF_GDB = (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME)  # frames that are not on the stack


def setup():
    for command in ("pagination off", "confirm off", "debuginfod enabled off", "backtrace past-main on",
                    "backtrace past-entry on", "backtrace limit unlimited", "startup-with-shell off",
                    "disable-randomization off", "print inferior-events off"):
        gdb.execute(f"set {command}")
    gdb.execute("handle all nostop noprint pass", to_string=True)
    gdb.execute("handle SIGALRM stop print nopass", to_string=True)


# In another process, because gdb does not let threads of its own process run at that time.
ALARM = """pid=$0 until=$1 more=$2
while read -r line </proc/$pid/stat && set -- $line && [ $((${14} + ${15})) -lt $until ]; do sleep 0.001; done
sleep $more
kill -ALRM $pid"""


def cpu_ticks(pid):
    return sum(map(int, Path(f"/proc/{pid}/stat").read_text().split()[13:15]))


def run_for_a_while(pid, ticks, seconds):
    """Runs for some CPU time, because on a busy machine wall-clock time may pass without any, and for some wall-clock
    time."""
    alarm = subprocess.Popen(["sh", "-c", ALARM, str(pid), str(cpu_ticks(pid) + ticks), f"{seconds:.4f}"])
    gdb.execute("continue", to_string=True)
    while gdb.selected_inferior().pid and gdb.parse_and_eval("$_siginfo.si_signo") == signal.SIGTRAP:
        # by an int3 of its own, which gdb takes for a breakpoint of gdb's
        gdb.execute("signal SIGTRAP", to_string=True)
    alarm.wait()


def mappings(maps):
    """Returns start, end and permissions."""
    for line in maps.splitlines():
        start, end, permissions = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
        yield int(start, 16), int(end, 16), permissions


def is_code(maps, pc):
    return any(start <= pc < end and "x" in permissions for start, end, permissions in mappings(maps))


def callers(maps):
    """Returns the pc of each frame, starting with the leaf. Above the outermost frame, gdb may report more than
    exists."""
    pcs = []
    frame = gdb.newest_frame()
    while frame:
        if frame.type() not in FRAMES_OF_GDB:
            if not is_code(maps, frame.pc()):
                break
            pcs.append(frame.pc())
        try:
            frame = frame.older()
        except gdb.error:
            break
    return pcs


def registers():
    # Not those of an inlined frame, which are the same but are read through one more layer.
    frame = gdb.newest_frame()
    mask = (1 << 64) - 1
    return [int(frame.read_register(name)) & mask for name in REGISTERS]


def stack_end(maps, sp):
    return next((end for start, end, _ in mappings(maps) if start <= sp < end), sp)


def stop_bytes(maps):
    values = registers()
    pcs = callers(maps)
    sp = values[SP]
    end = min(stack_end(maps, sp), sp + STACK_BYTES_MAX)
    stack = bytes(gdb.selected_inferior().read_memory(sp, end - sp)) if end > sp else b""
    return struct.pack(f"<Q{len(values)}QQ{len(pcs)}QQ", pcs[0], *values, len(pcs), *pcs, len(stack)) + stack


def may_be_compared():
    """Returns True if gdb finds the callers of the stop."""
    return gdb.selected_inferior().pid and gdb.newest_frame().name() not in FOOLING


def take(folder, count):
    gdb.execute("starti", to_string=True)
    pid = gdb.selected_inferior().pid
    taken = 0
    with open(folder / "stops", "wb") as out:
        out.write(struct.pack("<Q", EM_X86_64))
        run_for_a_while(pid, START_TICKS, 0)
        while taken < count and gdb.selected_inferior().pid:
            run_for_a_while(pid, 1, random.uniform(0.001, 0.02))
            for _ in range(BURST):
                if taken == count or not may_be_compared():
                    break
                maps = Path(f"/proc/{pid}/maps").read_text()
                out.write(stop_bytes(maps))
                taken += 1
                gdb.execute("stepi", to_string=True)
    (folder / "maps").write_text(maps)
    if gdb.selected_inferior().pid:
        gdb.execute("kill", to_string=True)
    print(f"{taken} stops")


random.seed(int(os.environ.get("SEED", "1")))
setup()
take(Path(os.environ["FOLDER"]), int(os.environ["STOPS"]))
