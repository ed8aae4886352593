#!/usr/bin/env python3
"""The figures that prof stands for, each beside its neighbour's in the same run.

figures.py PROF BUILD [RUNS]

The program recorded is ripgrep with full debug info (./bootstrap --tests builds it), searching on all
CPUs. prof and perf attach to it in turn, so their own CPU time and memory are theirs alone; after some
seconds it is killed, and what counts is how long the files take from there. The neighbour is
`perf record --call-graph dwarf`, with the same copy of the stack, and `perf script` with
inferno-collapse-perf behind it. Medians of RUNS runs. Prints; never judges.
"""

import gzip
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

RECORD_S = 10
INLINED_S = 1
FREQUENCY_HZ = 999
STACK_BYTES = 32768  # what prof copies by default

Run = namedtuple("Run", "samples lost rooted cpu_us late_s peak_mib written_bytes cpu_ns_frame")
Ended = namedtuple("Ended", "cpu_s peak_mib end")


def until_busy(pid):
    """Until all its threads run: it has used some CPU time."""
    while int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11]) < 20:
        time.sleep(0.01)


class Search:
    """ripgrep, busy on all CPUs until it is killed."""

    PATTERN = r"(\w+) (\w+) of .*, \d*[13579]\d* [0-3]$"

    def __init__(self, rg, folder):
        text = folder / "text"
        if not text.exists():
            lines = (f"line {i} of the text, {i * 7919 % 1013} {i * 104729 % 7}\n" for i in range(400_000))
            text.write_text("".join(lines), encoding="ascii")
        self.process = subprocess.Popen([rg, "--no-mmap", "-c", self.PATTERN] + [str(text)] * 5000,
                                        stdout=subprocess.DEVNULL)
        until_busy(self.process.pid)

    def kill(self):
        self.process.kill()
        self.process.wait()
        return time.monotonic()


def ended(process):
    """Waits for a process: its CPU time, its peak of memory, and when it ended."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Ended(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, time.monotonic())


def stacks(folded):
    for line in folded.splitlines():
        frames, _, count = line.rpartition(" ")
        yield frames.split(";"), int(count)


ROOTS = re.compile(r"_start|_?_?clone3?|thread_start|(entry|asm|ret_from)_\w+")


def shape(folded):
    """(samples, share that reaches the root, frames)"""
    total = rooted = frames_seen = 0
    for frames, count in stacks(folded):
        total += count
        frames_seen += count * (len(frames) - 1)
        if len(frames) > 1 and ROOTS.fullmatch(frames[1]):
            rooted += count
    return total, rooted / max(total, 1), frames_seen


def written(pid):
    """Bytes that a process has handed to write(2) and its kin."""
    text = Path(f"/proc/{pid}/io").read_text(encoding="ascii")
    return int(re.search(r"wchar: (\d+)", text)[1])


def record(command, search, seconds):
    """Runs a recorder beside the search: (its end, bytes it wrote while recording, when the search ended, stderr)."""
    with tempfile.TemporaryFile("w+") as errors:
        recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        time.sleep(seconds)
        bytes_written = written(recorder.pid)
        killed = search.kill()
        result = ended(recorder)
        errors.seek(0)
        return result, bytes_written, killed, errors.read()


def prof_run(prof, rg, folder):
    search = Search(rg, folder)
    folded, pprof = folder / "prof.folded", folder / "prof.pb.gz"
    command = [prof, "record", "-F", str(FREQUENCY_HZ), "-p", str(search.process.pid), "-o", folded, "-o", pprof]
    result, bytes_written, killed, errors = record(command, search, RECORD_S)
    samples, rooted, frames = shape(folded.read_text(encoding="utf-8"))
    gzip.decompress(pprof.read_bytes())
    lost = re.search(r"(\d[\d,]*) lost", errors)
    return Run(samples, int(lost[1].replace(",", "")) if lost else 0, rooted, result.cpu_s / samples * 1e6,
               result.end - killed, result.peak_mib, bytes_written, result.cpu_s / frames * 1e9)


def perf_run(perf, collapse, rg, folder, options=("--no-inline",), seconds=RECORD_S):
    search = Search(rg, folder)
    data, folded = folder / "perf.data", folder / "perf.folded"
    command = [perf, "record", "-q", "-F", str(FREQUENCY_HZ), "--call-graph", f"dwarf,{STACK_BYTES}",
               "-p", str(search.process.pid), "-o", data]
    recorder, bytes_written, killed, _ = record(command, search, seconds)
    with open(folded, "wb") as output, open(os.devnull, "wb") as silent:
        script = subprocess.Popen([perf, "script", "-i", data, *options], stdout=subprocess.PIPE, stderr=silent)
        collapser = subprocess.Popen([collapse], stdin=script.stdout, stdout=output, stderr=silent)
        script.stdout.close()
        naming, last = ended(script), ended(collapser)
    samples, rooted, frames = shape(folded.read_text(encoding="utf-8", errors="replace"))
    cpu_s = recorder.cpu_s + naming.cpu_s
    return Run(samples, perf_lost(perf, data), rooted, cpu_s / samples * 1e6, last.end - killed,
               max(recorder.peak_mib, naming.peak_mib), bytes_written, naming.cpu_s / frames * 1e9)


def perf_lost(perf, data):
    """Lost samples; perf counts the events and the samples in them apart."""
    stats = subprocess.run([perf, "report", "--stats", "-i", data], capture_output=True, text=True, check=False).stdout
    return sum(int(count) for count in re.findall(r"LOST(?:_SAMPLES)? events:\s+(\d+)", stats))


def median(runs):
    return Run(*(statistics.median(values) for values in zip(*runs)))


def warm_unwinding(build):
    """What the benchmark of the unwinder says, if it was built."""
    program = build / "tests" / "bench" / "bench_unwind"
    if not program.exists():
        return None
    return subprocess.run([program], capture_output=True, text=True, check=False).stdout.strip()


ROWS = [
    ("samples", "samples", "{:,.0f}", ""),
    ("lost", "lost samples, all CPUs busy", "{:,.0f}", "0"),
    ("rooted", "stacks that reach the root", "{:.2%}", ">= 99 %"),
    ("cpu_us", "recorder's CPU time a sample, us", "{:.1f}", "<= 10"),
    ("cpu_ns_frame", "… a frame, ns", "{:.0f}", ""),
    ("late_s", "target's exit -> files written, s", "{:.2f}", "<= 0.5"),
    ("peak_mib", "peak memory, MiB", "{:.0f}", "<= 100"),
    ("written_bytes", "bytes written while recording", "{:,.0f}", "0"),
]


def ratio(ours, theirs):
    return f"{theirs / ours:.1f} x" if ours else ""


def print_table(rg, columns):
    size = Path(rg).stat().st_size / 2**20
    print(f"ripgrep of {size:.0f} MiB with full debug info, {RECORD_S} s at {FREQUENCY_HZ} Hz, {os.cpu_count()} CPUs")
    print(f"{'':36}" + "".join(f"{name:>22}" for name in ["must reach", *columns]) + f"{'ratio':>10}")
    for field, title, form, goal in ROWS:
        values = [getattr(run, field) for run in columns.values()]
        cells = "".join(f"{form.format(value):>22}" for value in values)
        print(f"{title:36}{goal:>22}{cells}{ratio(values[0], values[1]) if len(values) > 1 else '':>10}")


def main():
    prof, build = sys.argv[1], Path(sys.argv[2])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    path = f"{build}/clients/bin:{os.environ['PATH']}"
    rg, perf, collapse = (shutil.which(name, path=path) for name in ("rg", "perf", "inferno-collapse-perf"))
    if not rg:
        sys.exit("figures: ripgrep with debug info is missing: ./bootstrap --tests brings it")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        columns = {"prof": median([prof_run(prof, rg, folder) for _ in range(runs)])}
        if perf and collapse:
            columns["perf --no-inline"] = median([perf_run(perf, collapse, rg, folder) for _ in range(runs)])
            # With inlined frames, as prof gives them: once, and briefly, since perf takes a minute a second.
            columns[f"perf, inlined, {INLINED_S} s"] = perf_run(perf, collapse, rg, folder, (), INLINED_S)
        print_table(rg, columns)
    unwinding = warm_unwinding(build)
    if unwinding:
        print(f"unwinding, warm (must reach 100 ns a frame):\n{unwinding}")


if __name__ == "__main__":
    main()
