#!/usr/bin/env python3
"""Compares prof with other profilers on the same recordings and the same work.

recordings.py PROF BUILD [RUNS]

Programs: RustPython (a Rust binary of about 200 MB with full debug info, built by `./bootstrap --bench`) and
ripgrep, and libstdc++ with its debug info for C++ names. Other tools: perf script with inferno-collapse-perf, by the
machine's perf and by perf 7; samply, llvm-symbolizer, gimli's addr2line. Missing tools are omitted. Prints medians of
RUNS paired runs without judging them.
"""

import contextlib
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import ended, library, perfs, shape

FREQUENCY_HZ = 999
STACK_BYTES = 32768
LOOKUPS = 3000

# A fixed amount of typical work of an interpreter. Prints how long it took, and when it ended.
SCRIPT = """
import json, random, re, string, time
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)
began = time.time()
draw = random.Random(1)
for _ in range({rounds}):
    fib(20)
    words = ["".join(draw.choice(string.ascii_letters) for _ in range(8)) for _ in range(2000)]
    index = {{word: [len(word), word.lower(), i * 1.5] for i, word in enumerate(sorted(words))}}
    json.loads(json.dumps(index))
    re.sub("[aeiou]+", lambda match: match[0].upper(), " ".join(words))
    sum((Point(i, -i) for i in range(3000)), Point(0, 0))
    [divmod(3 ** i, 7 ** (i // 2)) for i in range(300)]
print(time.time() - began, time.time(), flush=True)
"""


def wall(pipeline, output, cwd):
    """Runs commands as a pipeline. Returns the seconds until the last one ends, and the CPU time and peak memory of the
    first one."""
    began = time.monotonic()
    with open(output, "wb") as file, open(os.devnull, "wb") as silent:
        processes, source = [], subprocess.DEVNULL
        for number, command in enumerate(pipeline):
            last = number + 1 == len(pipeline)
            process = subprocess.Popen(command, stdin=source, stdout=file if last else subprocess.PIPE,
                                       stderr=silent, cwd=cwd)
            if source != subprocess.DEVNULL:
                source.close()
            source = process.stdout
            processes.append(process)
        results = [ended(process) for process in processes]
    return results[-1].end - began, results[0].cpu_s, max(result.peak_mib for result in results)


def paired(runs, *measures):
    """Returns the medians of several measurements, taken in turn so that noise affects all of them equally."""
    rows = [[measure() for measure in measures] for _ in range(runs)]
    return [statistics.median(column) for column in zip(*rows)]


def row(title, goal, ours, theirs, unit="s", form="{:.3f}"):
    """theirs: {name: value}"""
    beside = "".join(f"   {name} {form.format(value)} {unit} ({value / ours:.1f} x)" for name, value in theirs.items())
    print(f"{title:58}{goal:>9}   prof {form.format(ours)} {unit}{beside}", flush=True)


@contextlib.contextmanager
def paranoid(level):
    """samply requires it, even for root."""
    sysctl = Path("/proc/sys/kernel/perf_event_paranoid")
    before = sysctl.read_text(encoding="ascii")
    if os.geteuid() == 0:
        sysctl.write_text(str(level), encoding="ascii")
    yield
    if os.geteuid() == 0:
        sysctl.write_text(before, encoding="ascii")


class Bench:
    def __init__(self, prof, build, runs, folder):
        self.prof, self.runs, self.folder = prof, runs, folder
        path = f"{build}/clients/bin:{os.environ['PATH']}"
        self.tools = {name: shutil.which(name, path=path)
                      for name in ("perf", "inferno-collapse-perf", "samply", "llvm-symbolizer", "rustpython", "rg")}
        self.perfs = perfs(path)
        gimli = build / "clients" / "bin" / "addr2line"  # binutils has a program of the same name
        self.tools["addr2line"] = str(gimli) if gimli.exists() else None
        self.resolve = build / "tests" / "unit" / "resolve_addresses"

    def script(self, rounds):
        path = self.folder / f"work{rounds}.py"
        path.write_text(SCRIPT.format(rounds=rounds), encoding="ascii")
        return [self.tools["rustpython"], str(path)]

    def has(self, *names):
        return all(self.tools[name] for name in names)

    def record(self, call_graph, data, command):
        subprocess.run([self.tools["perf"], "record", "-q", "-F", str(FREQUENCY_HZ), "--call-graph", call_graph, "-o", data,
                        *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def recordings(self, name, command, goal):
        """Converts a perf recording to folded stacks, and to a report. Then names alone: the kernel has followed frame
        pointers, so that all tools have the same frames."""
        data, chains, folded = self.folder / f"{name}.data", self.folder / "chains.data", self.folder / "out.folded"
        self.record(f"dwarf,{STACK_BYTES}", data, command)
        self.record("fp", chains, command)
        peaks, rooted = {}, {}

        def folds(name, *pipeline):
            def measure():
                seconds, _, peak = wall(pipeline, folded, self.folder)
                peaks[name] = max(peak, peaks.get(name, 0))
                rooted[name] = shape(folded.read_text(encoding="utf-8", errors="replace"))[1]
                return seconds

            return measure

        def reports(*command):
            return lambda: wall([command], os.devnull, self.folder)[0]

        def compared(title, goal, ours, theirs):
            mine, *others = paired(self.runs, ours, *theirs.values())
            row(title, goal, mine, dict(zip(theirs, others)))

        collapse = [self.tools["inferno-collapse-perf"]]
        ours = [self.prof, "convert", "-q", data, "-o", "-"]
        subprocess.run([*ours[:-1], folded], check=True)
        samples, share = shape(folded.read_text(encoding="utf-8"))
        print(f"\n{name}: {Path(command[0]).stat().st_size / 2**20:.0f} MiB; a recording of {samples:,} samples, "
              f"{data.stat().st_size / 2**20:.0f} MiB, {share:.1%} rooted")
        for title, wanted, options in (("with inlined frames", goal, []), ("without", "<= 1/10", ["--no-inline"])):
            compared(f"perf.data -> folded, {title}", wanted, folds("prof", [*ours, *options]),
                     {perf: folds(perf, [path, "script", "-i", data, *options], collapse) for perf, path in self.perfs.items()})
        for title, options in (("with inlined frames", []), ("without", ["--no-inline"]),
                               ("without, perf with --no-children", ["--no-inline", "--no-children"])):
            compared(f"perf.data -> report, {title}", "<= 1/10", reports(self.prof, "report", *options[:1], data),
                     {perf: reports(path, "report", "--stdio", "-i", data, *options) for perf, path in self.perfs.items()})
        for title, wanted, values, unit, form in (("peak memory of the conversion", "<= 100", peaks, "MiB", "{:.0f}"),
                                                  ("stacks that reach the root", "", rooted, "", "{:.1%}")):
            row(title, wanted, values["prof"], {perf: values[perf] for perf in self.perfs}, unit, form)
        compared("names of call chains -> folded, with inlined frames", "<= 1/10", folds("prof", [self.prof, "convert", "-q", chains, "-o", "-"]),
                 {perf: folds(perf, [path, "script", "-i", chains], collapse) for perf, path in self.perfs.items()})

    def launches(self):
        """Measures the time from the target's end to the written profile."""
        command = self.script(6)

        def after_end(*recorder):
            result = subprocess.run([*recorder, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                    cwd=self.folder, check=True, text=True)
            return time.time() - float(result.stdout.split()[-1])

        mine, samplys = paired(
            self.runs,
            lambda: after_end(self.prof, "record", "-F", str(FREQUENCY_HZ), "-o", "out.pb.gz", "--"),
            lambda: after_end(self.tools["samply"], "record", "-r", str(FREQUENCY_HZ), "--save-only",
                              "--unstable-presymbolicate", "-o", "out.json.gz", "--"))
        row("launched: target's end -> profile, inlined frames named", "<= 1/3", mine, {"samply": samplys})

    def slow_downs(self):
        """Measures by how much the target itself slows down."""
        command = self.script(6)

        def takes(*recorder):
            result = subprocess.run([*recorder, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                    cwd=self.folder, check=True, text=True)
            return float(result.stdout.split()[-2])

        def perf_takes(perf, frequency):
            return lambda: takes(perf, "record", "-q", "-F", frequency, "--call-graph", f"dwarf,{STACK_BYTES}", "-o", "slow.data")

        for frequency in ("99", "999", "10000"):
            recorded = [perf_takes(perf, frequency) for perf in self.perfs.values()]
            mine, alone, *others = paired(
                self.runs, lambda: takes(self.prof, "record", "-F", frequency, "-o", "out.pb.gz", "--"), takes, *recorded)
            row(f"the target's own time at {frequency} Hz", "<= 1.0 x", mine, {**dict(zip(self.perfs, others)), "alone": alone})

    def lookups(self, program):
        symbols = subprocess.run(["nm", "--defined-only", "-S", program], check=True, capture_output=True, text=True).stdout
        functions = [line.split() for line in symbols.splitlines() if line.split()[2:3] in (["t"], ["T"], ["W"])]
        places = random.Random(1).sample(functions, min(LOOKUPS, len(functions)))
        addresses = self.folder / "addresses"
        addresses.write_text("".join(f"0x{int(start, 16) + int(size, 16) // 2:x}\n" for start, size, *_ in places),
                             encoding="ascii")

        def asked(*command):
            def measure():
                began = time.monotonic()
                with open(addresses, "rb") as file:
                    subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, check=True)
                return time.monotonic() - began

            return measure

        neighbours = {}
        if self.has("llvm-symbolizer"):
            neighbours["llvm-symbolizer"] = asked(self.tools["llvm-symbolizer"], f"--obj={program}", "--inlines")
        if self.has("addr2line"):
            neighbours["gimli addr2line"] = asked(self.tools["addr2line"], "-i", "-f", "-e", program)
        mine, *theirs = paired(self.runs, asked(self.resolve, program), *neighbours.values())
        row(f"{len(places)} inline look-ups in {Path(program).name}, cold", "<= 1/3", mine,
            dict(zip(neighbours, theirs)))


def main():
    prof, build = sys.argv[1], Path(sys.argv[2]).resolve()
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(prof, build, runs, Path(name))
        print(f"{os.uname().release}, {os.cpu_count()} CPUs; medians of {runs} paired runs")
        perf = bench.has("perf", "inferno-collapse-perf")
        if perf and bench.has("rustpython"):
            bench.recordings("rustpython", bench.script(8), "<= 1/50")
        if perf and bench.has("rg"):
            search = [bench.tools["rg"], "--no-mmap", "-c", r"(\w+) (\w+) of .*, \d*[13579]\d* [0-3]$",
                      library(bench.folder) / "0", *[library(bench.folder) / str(i) for i in range(1, 60)]]
            bench.recordings("ripgrep", search, "<= 1/20")
        print()
        if bench.has("rustpython", "samply"):
            with paranoid(1):
                bench.launches()
        if bench.has("rustpython", "perf"):
            bench.slow_downs()
        for name in ("rustpython", "rg"):
            if bench.has(name):
                bench.lookups(bench.tools[name])
        for cplusplus in sorted(Path("/usr/lib").glob("*/debug/libstdc++.so.6")):
            bench.lookups(cplusplus)


if __name__ == "__main__":
    main()
