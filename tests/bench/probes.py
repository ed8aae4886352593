#!/usr/bin/env python3
"""Measures what a hit of a probe costs the program, compared with perf and bpftrace on the same function.

probes.py PROF BUILD [RUNS]

The program is tests/targets/probed, which calls a function CALLS times and prints its own CPU time. The time of a
run without a probe is subtracted. Also prints the CPU time of the recorder. perf's probe is in tracefs (perf probe,
deleted afterwards). Needs root. Missing tools are omitted. Prints medians of RUNS runs, taken in turn, without
judging them.
"""

import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

CALLS = 200_000
PERF_EVENT = "probed:hit"


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Ways:
    def __init__(self, prof, build, folder):
        self.folder, self.program = folder, str(build / "tests" / "targets" / "probed")
        self.ways = {"no probe": [], "prof": self.prof(prof, "uprobe:hit"), "prof, no stacks": self.prof(prof, "uprobe:hit/call-graph=no/"),
                     "prof --calls": self.prof(prof, "latency:hit")}
        perf, bpftrace = shutil.which("perf"), shutil.which("bpftrace")
        if perf and self.add_perf_probe(perf):
            options = [perf, "record", "-q", "-o", folder / "perf.data", "-e", PERF_EVENT]
            self.ways["perf record --call-graph dwarf"] = [*options, "--call-graph", "dwarf", "--"]
            self.ways["perf record"] = [*options, "--"]
        if bpftrace:
            for name, key in (("bpftrace ustack", "ustack"), ("bpftrace count", "")):
                self.ways[name] = [bpftrace, "-e", f"uprobe:{self.program}:hit {{ @{f'[{key}]' if key else ''} = count(); }}", "-c"]

    def prof(self, prof, event):
        return [prof, "record", "-q", "-e", event, "-o", self.folder / "out.pb.gz", "--"]

    def add_perf_probe(self, perf):
        self.remove_perf_probe()
        return not subprocess.run([perf, "probe", "-q", "-x", self.program, f"{PERF_EVENT}=hit"], capture_output=True,
                                  check=False).returncode

    def remove_perf_probe(self):
        if shutil.which("perf"):
            subprocess.run(["perf", "probe", "-q", "-d", PERF_EVENT], capture_output=True, check=False)

    def run(self, name):
        """Returns nanoseconds per call for the program and for the recorder, or None if it does not work here."""
        words = self.ways[name]
        program = [self.program, "calls", str(CALLS)]
        before = cpu_seconds()
        done = subprocess.run([*words, " ".join(program)] if words and words[-1] == "-c" else [*words, *program], text=True,
                              capture_output=True, check=False, cwd=self.folder)
        whole_ns = (cpu_seconds() - before) * 1e9
        own = re.search(r"^(\d{4,})$", done.stdout, re.M)
        return (int(own[1]) / CALLS, max(whole_ns - int(own[1]), 0) / CALLS) if own else None


def main(prof, build, runs=5):
    if os.geteuid():
        sys.exit("takes root")
    with tempfile.TemporaryDirectory() as folder:
        ways = Ways(Path(prof).resolve(), Path(build).resolve(), Path(folder))
        taken = defaultdict(list)
        try:
            for _ in range(int(runs)):
                for name in ways.ways:
                    taken[name].append(ways.run(name))
        finally:
            ways.remove_perf_probe()
    bare = statistics.median(program for program, _ in taken["no probe"])
    print(f"{'a hit costs':34}{'the program':>14}{'the recorder':>14}")
    for name, figures in taken.items():
        if name == "no probe" or None in figures:
            continue
        program, recorder = (statistics.median(figure[i] for figure in figures) for i in (0, 1))
        print(f"{name:34}{program - bare:11.0f} ns{recorder:11.0f} ns")


if __name__ == "__main__":
    main(*sys.argv[1:])
