#!/usr/bin/env python3
"""Compares prof with other profilers of Python: which functions they see, and what they cost.

python_peers.py PROF BUILD [RUNS [SECONDS]]

The program's stacks are known, and so are the times of its functions (python_peers_program.py). The profilers attach
to it in turn. Prints for each of them:

  complete    share of the samples that contain all functions from main() on, at 999 Hz; failed samples count
  impossible  samples in which a function is called by another one than in the program
  below C     share of the samples of f() that show which C function calls it
  error       share of third() in that of third() and rest(), compared with the thread's own clock, in percentage points
  slower      the program's time for the same work, relative to that without a profiler just before, at 99 and 999 Hz

Interpreters and profilers that are missing are omitted with a message. Any user can run it, and gets the figures of
an ordinary user. Prints medians of RUNS runs (3) of SECONDS seconds (4) without judging them.
"""

import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

PROGRAM = Path(__file__).with_name("python_peers_program.py")
CALLERS = {"chains": "main", "timed": "main", "third": "timed", "rest": "timed", "a": "chains", "b": "a", "c": "b",
           "d": "chains", "e": "d", "f": "e"}
VERSIONS = ["3.13", "3.15"]
ALONE_S = 2

# `functions`: a pattern that finds the name and the file of a frame's function.
Tool = namedtuple("Tool", "name command functions options")
Run = namedtuple("Run", "complete impossible below_c error slower")


def tools(prof, python, path):
    """Returns the profilers for an interpreter. {pid}, {hz}, {seconds} and {out} are replaced in their commands."""
    version = subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout.split()[1]
    minor = int(version.split(".")[1])
    named = re.compile(r"py::(?P<name>[^:]+):(?P<file>.*)")
    spied = re.compile(r"(?P<name>\S+) \((?P<file>.*):\d+\)")
    own = re.compile(r"(?P<file>.*):(?P<name>[^:]+):\d+")
    py_spy = ["py-spy", "record", "-p", "{pid}", "-r", "{hz}", "-d", "{seconds}", "-f", "raw", "-o", "{out}"]
    tachyon = [python, "-m", "profiling.sampling", "attach", "-r", "{hz}", "-d", "{seconds}", "--native", "--collapsed", "-o", "{out}"]
    found = [Tool("prof", [prof, "record", "-F", "{hz}", "-p", "{pid}", "-o", "{out}", "--", "sleep", "{seconds}"], named, [])]
    if minor <= 13:
        found += [Tool("py-spy", py_spy, spied, []), Tool("py-spy --native", [*py_spy, "--native"], spied, [])]
    if minor >= 15:
        found += [Tool("Tachyon", [*tachyon, "{pid}"], own, []), Tool("Tachyon --blocking", [*tachyon, "--blocking", "{pid}"], own, [])]
    found += [Tool("perf, -X perf", ["perf", "record", "-q", "-F", "{hz}", "-g", "-p", "{pid}", "-o", "{out}", "--", "sleep", "{seconds}"],
                   named, ["-X", "perf"])]
    for tool in found:
        program = shutil.which(tool.command[0], path=path)
        if program:
            yield tool._replace(command=[program, *tool.command[1:]], name=f"{tool.name}, {version}")
        else:
            print(f"python_peers: {tool.command[0]} is missing: ./bootstrap --bench installs it", file=sys.stderr)


class Program:
    """The program while it runs, and the lines that it has printed."""

    def __init__(self, python, options, folder):
        self.lines = folder / "lines"
        with open(self.lines, "wb") as output:
            self.process = subprocess.Popen([python, *options, PROGRAM], stdout=output, cwd=folder)
        while len(self.rounds(0, time.monotonic())) < 3:
            time.sleep(0.05)

    def rounds(self, start, end):
        """Returns the rounds that began and ended between two times."""
        found = [json.loads(line) for line in self.lines.read_text(encoding="ascii").splitlines()[:-1]]
        return [one for last, one in zip(found, found[1:]) if start <= last["at"] and one["at"] <= end]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def folded(perf, path, out):
    """Returns the folded stacks of a recording of perf."""
    collapse = shutil.which("inferno-collapse-perf", path=path)
    text = subprocess.run([perf, "script", "-i", out], capture_output=True, check=True).stdout
    return subprocess.run([collapse], input=text, capture_output=True, check=True).stdout.decode("utf-8", "replace")


def stacks(text):
    """Yields the frames and the count of each sampled stack. prof also shows how much CPU time was not sampled."""
    for line in text.splitlines():
        frames, _, count = line.rpartition(" ")
        if not frames.endswith((";[not sampled]", ";[kernel]")):
            yield frames.split(";"), int(count)


def names(tool, frames):
    """Returns the functions of the program in a stack and their places in it."""
    found = ((i, tool.functions.fullmatch(frame)) for i, frame in enumerate(frames))
    return [(i, match["name"]) for i, match in found if match and Path(match["file"]).name == PROGRAM.name and match["name"] != "<module>"]


def failed(errors):
    """Returns the share of the samples that a tool could not take."""
    spied = re.search(r"Samples: (\d+) Errors: (\d+)", errors)
    own = re.search(r"Error rate: ([\d.]+)", errors)
    if spied:
        return int(spied[2]) / max(int(spied[1]) + int(spied[2]), 1)
    return float(own[1]) / 100 if own else 0


def is_possible(found):
    return all(CALLERS.get(name) == caller for caller, name in zip(["main", *found], found) if name != "main")


def share(times):
    return times["third"] / max(times["third"] + times["rest"], 1e-9)


def judge(tool, text, errors, wanted):
    total = complete = impossible = below_c = of_f = 0
    times = {"third": 0, "rest": 0}
    for frames, count in stacks(text):
        placed = names(tool, frames)
        found = [name for _, name in placed]
        total += count
        complete += count if found and found[0] == "main" and is_possible(found) else 0
        impossible += 0 if is_possible(found) else count
        if found and found[-1] in times:
            times[found[-1]] += count
        if found[-2:] == ["e", "f"]:
            of_f += count
            below_c += count if {"<native>"} < {"<native>", *frames[placed[-2][0] + 1 : placed[-1][0]]} else 0
    return complete / max(total, 1) * (1 - failed(errors)), impossible, below_c / max(of_f, 1), abs(share(times) - wanted) * 100


def run(tool, python, hz, seconds, path):
    with tempfile.TemporaryDirectory() as name:
        with Program(python, [], Path(name)) as program:
            time.sleep(ALONE_S)
            alone = program.rounds(0, time.monotonic())
        return run_profiled(tool, Program(python, tool.options, Path(name)), hz, seconds, alone, path)


def run_profiled(tool, started, hz, seconds, alone, path):
    with started as program:
        out = program.lines.with_name("out.folded")
        start = time.monotonic()
        values = {"pid": program.process.pid, "hz": hz, "seconds": seconds, "out": out}
        result = subprocess.run([str(part).format(**values) for part in tool.command], capture_output=True, text=True, check=False, cwd=out.parent)
        profiled = program.rounds(start + 0.5, start + seconds)
        text = folded(tool.command[0], path, out) if tool.name.startswith("perf") else out.read_text(encoding="utf-8", errors="replace")
        wanted = share({name: sum(one[name] for one in profiled) for name in ("third", "rest")})
        slower = math.inf  # it has not finished a single round
        if profiled:
            slower = statistics.median(one["call_s"] for one in profiled) / statistics.median(one["call_s"] for one in alone)
        return Run(*judge(tool, text, result.stdout + result.stderr, wanted), slower)


def measure(tool, python, runs, seconds, path):
    """Prints the row of a tool. Returns nothing if it fails."""
    at_999 = [run(tool, python, 999, seconds, path) for _ in runs]
    at_99 = [run(tool, python, 99, seconds, path) for _ in runs]
    middle = Run(*map(statistics.median, zip(*at_999)))
    slower_99 = statistics.median(one.slower for one in at_99)
    print(f"{tool.name:28}{middle.complete:>10.1%}{max(one.impossible for one in at_999):>12}{middle.below_c:>10.1%}"
          f"{middle.error:>8.1f}{slower_99:>9.2f} x{middle.slower:>9.2f} x", flush=True)


def main():
    prof, build = (Path(argument).resolve() for argument in sys.argv[1:3])
    runs = range(int(sys.argv[3]) if len(sys.argv) > 3 else 3)
    seconds = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    path = f"{build}/clients/bin:{os.environ['PATH']}"
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} CPUs, {'root' if os.geteuid() == 0 else 'ordinary user'}")
    print(f"{'':28}{'complete':>10}{'impossible':>12}{'below C':>10}{'error':>8}{'99 Hz':>11}{'999 Hz':>11}")
    for version in VERSIONS:
        python = shutil.which(f"python{version}", path=path)
        if not python:
            print(f"python_peers: python{version} is missing: ./bootstrap --bench installs it", file=sys.stderr)
            continue
        for tool in tools(prof, python, path):
            measure(tool, python, runs, seconds, path)


if __name__ == "__main__":
    main()
