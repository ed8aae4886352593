#!/usr/bin/env python3
"""Measures what `prof report` and `prof diff` of large pprof files cost, and the same with `go tool pprof`, in turn.

reports.py BENCH_FORMATS PROF BUILD [RUNS]

The files have a million distinct stacks, about 30 frames deep: in prof's order, where consecutive samples share
their callers, and in random order, as by other producers. prof diff compares one half of the samples with the other.
Prints medians without judging them. recordings.py compares with `perf report`.
"""

import gzip
import multiprocessing
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import ended

SAMPLES, STACKS = "10000000", "1000000"
SAMPLE_FIELD = b"\x12"


def number(data, at):
    """Returns a protobuf varint, and its end."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def parted(data):
    """Returns the samples of a pprof message, and everything else."""
    samples, rest, at = [], [], 0
    while at < len(data):
        began = at
        tag, at = number(data, at)
        value, at = number(data, at)
        at += value if tag & 7 == 2 else 0
        (samples if data[began:began + 1] == SAMPLE_FIELD else rest).append(data[began:at])
    return samples, rest


def make_files(bench, folder):
    """Makes FOLDER/sorted, random, old and new, each .pb.gz."""
    subprocess.run([bench, folder, SAMPLES, STACKS, "pprof"], check=True, stdout=subprocess.DEVNULL)
    (folder / "bench.pb.gz").rename(folder / "sorted.pb.gz")
    samples, rest = parted(gzip.decompress((folder / "sorted.pb.gz").read_bytes()))
    halves = {"old": samples[::2], "new": samples[1::2]}
    random.Random(1).shuffle(samples)
    for name, some in {**halves, "random": samples}.items():
        (folder / f"{name}.pb.gz").write_bytes(gzip.compress(b"".join(some + rest), 1))


def run(command):
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        result = ended(process)
    if process.returncode:
        sys.exit(f"reports: {command} fails")
    return result.end - began, result.cpu_s, result.peak_mib


def compare(runs, title, *commands):
    """Prints wall-clock time, CPU time and peak memory of each command. The first one is prof's."""
    rows = [[run(command) for command in commands] for _ in range(runs)]
    medians = [[statistics.median(values) for values in zip(*column)] for column in zip(*rows)]
    for command, (wall, cpu, peak) in zip(commands, medians):
        print(f"{title:36} {Path(command[0]).name:5} {wall:6.2f} s {cpu:6.2f} s CPU {peak:6.0f} MiB   "
              f"({wall / medians[0][0]:.1f} x)", flush=True)


def main():
    bench, prof, build = sys.argv[1:4]
    runs = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    go = shutil.which("go", path=f"{build}/clients/bin:{os.environ['PATH']}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own, because children of a large process count as large, too.
        maker = multiprocessing.Process(target=make_files, args=(bench, folder))
        maker.start()
        maker.join()
        if maker.exitcode:
            sys.exit("reports: no files to read")
        for order in ("sorted", "random"):
            file = folder / f"{order}.pb.gz"
            compare(runs, f"report, a million stacks, {order}", [prof, "report", file],
                    *([[go, "tool", "pprof", "-top", file]] if go else []))
        old, new = folder / "old.pb.gz", folder / "new.pb.gz"
        compare(runs, "diff of two half millions", [prof, "diff", old, new],
                *([[go, "tool", "pprof", "-top", f"-diff_base={old}", new]] if go else []))


if __name__ == "__main__":
    main()
