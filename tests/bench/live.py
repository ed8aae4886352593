#!/usr/bin/env python3
"""Measures what the live view costs: prof top and perf top on the whole machine, at 99 Hz on a terminal of 120 x 40.

live.py PROF BUILD [SECONDS]

They run one after the other, each with the same work, which keeps all CPUs busy: ripgrep searches, and RustPython
interprets if it is installed. The CPU time of the process is read after SECONDS (60), and after the same time again,
when the hot functions have been seen. Needs root, like perf top. Prints results without judging them.
"""

import contextlib
import fcntl
import math
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

from figures import Search, cpu_seconds
from recordings import SCRIPT

FREQUENCY_HZ = 99
ROWS, COLUMNS = 40, 120
FOREVER = 1_000_000
ATTEMPTS = 3  # perf top 6.1 sometimes ends by itself ("stack smashing detected")


def drain(terminal):
    """Reads a screen that is not used."""
    with contextlib.suppress(OSError):
        while os.read(terminal, 65536):
            pass


@contextlib.contextmanager
def on_terminal(command):
    """Runs the process on a terminal of its own, and kills it at the end."""
    pid, terminal = pty.fork()
    if not pid:
        os.environ["TERM"] = "xterm-256color"
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.execvp(command[0], command)
    reader = threading.Thread(target=drain, args=[terminal])
    reader.start()
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        reader.join()
        os.close(terminal)


@contextlib.contextmanager
def work(tools, folder):
    """Keeps all CPUs busy."""
    script = folder / "work.py"
    script.write_text(SCRIPT.format(rounds=FOREVER), encoding="ascii")
    search = Search(tools["rg"], folder)
    others = [subprocess.Popen([tools["rustpython"], script], stdout=subprocess.DEVNULL)] if tools["rustpython"] else []
    try:
        yield
    finally:
        search.kill()
        for other in others:
            other.kill()
            other.wait()


def resident_mib(pid):
    """Returns the peak memory, or None if the process has ended."""
    peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    return peak and int(peak[1]) / 1024


def measure(command, tools, seconds, folder):
    """Returns the share of a CPU in the first and in the second period, and the peak memory, or None if the process has
    ended."""
    with work(tools, folder), on_terminal(command) as pid:
        began, used = time.monotonic(), [0.0]
        for while_ in 1, 2:
            while time.monotonic() < began + while_ * seconds:
                time.sleep(0.1)
                if not resident_mib(pid):
                    return None
            used.append(cpu_seconds(pid))
        return used[1] / seconds, (used[2] - used[1]) / seconds, resident_mib(pid)


def main():
    prof, build = sys.argv[1], Path(sys.argv[2])
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 60
    path = f"{build}/clients/bin:{os.environ['PATH']}"
    tools = {name: shutil.which(name, path=path) for name in ("perf", "rg", "rustpython")}
    if os.geteuid() != 0 or not tools["rg"]:
        print("live: needs root, and ripgrep with debug info: ./bootstrap --tests brings it")
        return
    commands = {"prof top": [prof, "top"]}
    if tools["perf"]:
        commands["perf top"] = [tools["perf"], "top", "-F", str(FREQUENCY_HZ)]
        commands["perf top -g"] = [*commands["perf top"], "-g"]
    print(f"{'on the whole machine at 99 Hz':32}{'first':>9}{'then':>9}{'memory':>10}   (whiles of {seconds:.0f} s)")
    with tempfile.TemporaryDirectory(prefix="prof-bench.") as folder:
        for name, command in commands.items():
            attempts = (measure(command, tools, seconds, Path(folder)) for _ in range(ATTEMPTS))
            first, then, mib = next(filter(None, attempts), (math.nan, math.nan, math.nan))
            print(f"{name:32}{first:9.2%}{then:9.2%}{mib:6.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
