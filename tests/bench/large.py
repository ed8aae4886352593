#!/usr/bin/env python3
"""Measures symbolization with gigabytes of debug information, as in Chromium (large_program.py).

large.py PROF BUILD [RUNS [GIGABYTES]]      (3 runs, 2 GB)

A recording that hits some hundred of the program's units is read into a report and into folded stacks, with the
program's file in the page cache and without (as right after a recording, before anything has read the debug
information). Memory is the anonymous memory of prof and its workers together (RssAnon), read every few milliseconds:
pages of the file do not count as prof's. Needs 4 GB of disk and half a minute of CPU time for each program. Prints
results without judging them.
"""

import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

import large_program

PROGRAMS = [("clang, DWARF 5", ("clang++", "-gdwarf-5")), ("gcc, DWARF 4", ("g++", "-gdwarf-4")), ("gcc, DWARF 5", ("g++", "-gdwarf-5"))]
RECORD_S = 4
LOOK_S = 0.004

Run = namedtuple("Run", "seconds cpu_s peak_mb")


def processes_of(pid):
    """Returns the process and its descendants."""
    found = [pid]
    for process in found:
        for task in Path(f"/proc/{process}/task").glob("*/children"):
            found += map(int, text_of(task).split())
    return found


def text_of(path):
    """Returns the text of a file in /proc, or an empty text if the process has ended."""
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""


def anonymous_bytes(pid):
    found = re.search(r"RssAnon:\s+(\d+)", text_of(Path(f"/proc/{pid}/status")))
    return int(found[1]) << 10 if found else 0


def measure(command):
    before, began, peak = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic(), 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, sum(map(anonymous_bytes, processes_of(process.pid))))
            time.sleep(LOOK_S)
        seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.returncode == 0, command
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(seconds, cpu_s, peak / 1e6)


def drop(path):
    """Drops the file from the page cache."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def record(prof, program, data):
    process = subprocess.Popen([program])
    try:
        subprocess.run([prof, "record", "-q", "--call-graph", "fp", "--all-user", "--duration", str(RECORD_S), "-p", str(process.pid), "-o",
                        data], check=True)
    finally:
        process.kill()
        process.wait()


def size_of(program):
    """Returns the gigabytes of .debug_info and of all debug sections."""
    sections = {name: int(size, 16) for name, size in re.findall(
        r"\] (\.debug\S*)\s+PROGBITS\s+\w+ \w+ (\w+)",
        subprocess.run(["readelf", "-SW", program], check=True, capture_output=True, text=True).stdout)}
    return sections[".debug_info"] / 1e9, sum(sections.values()) / 1e9


def row(title, runs, goal=""):
    middle = Run(*map(statistics.median, zip(*runs)))
    print(f"  {title:44}{goal:>18}{middle.seconds:8.2f} s {middle.cpu_s:8.2f} s {middle.peak_mb:8.0f} MB", flush=True)


def compare(prof, runs, gigabytes, name, compiler, folder):
    program, data, folded = folder / "large", folder / "large.data", folder / "large.folded"
    units = large_program.write(program, gigabytes, compiler)
    record(prof, program, data)
    report, convert = [prof, "report", data], [prof, "convert", "-q", data, "-o", folded]
    measure(convert)
    names = set(re.findall(r"unit_\d+", folded.read_text(encoding="utf-8")))
    info, debug = size_of(program)
    print(f"{name}: {units:,} units, {info:.2f} GB of .debug_info, {debug:.2f} GB of debug sections; samples in {len(names)} units")
    row("report", [measure(report) for _ in range(runs)], "<= 3 s, 300 MB")
    row("convert to folded stacks", [measure(convert) for _ in range(runs)], "<= 3 s, 300 MB")
    row("report --no-inline: symbol table only", [measure([*report, "--no-inline"]) for _ in range(runs)])
    cold = []
    for _ in range(runs):
        drop(program)
        cold.append(measure(report))
    row("report, the file not in the page cache", cold)
    drop(program)
    began, read = time.monotonic(), 0
    with open(program, "rb", buffering=0) as file:
        while read < info * 1e9:
            read += len(file.read(1 << 20))
    print(f"  (the disk reads {read / 1e6 / (time.monotonic() - began):.0f} MB/s)")


def main():
    prof = sys.argv[1]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    gigabytes = float(sys.argv[4]) if len(sys.argv) > 4 else 2.0
    print(f"{os.uname().release}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.0f}; medians of {runs} runs")
    print(f"  {'':44}{'must reach':>18}{'time':>10}{'CPU time':>11}{'memory':>12}")
    for name, compiler in PROGRAMS:
        if not shutil.which(compiler[0]) or not shutil.which("ld.bfd"):
            continue
        with tempfile.TemporaryDirectory(dir=sys.argv[2]) as folder:
            compare(prof, runs, gigabytes, name, compiler, Path(folder))


if __name__ == "__main__":
    main()
