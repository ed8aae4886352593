#!/usr/bin/env python3
"""Measures prof's main benchmarks, each compared with another profiler in the same run.

figures.py PROF BUILD [RUNS]

The recorded program is ripgrep with full debug info (built by ./bootstrap --tests), which searches on all CPUs. prof
and perf attach to it in turn, so that their own CPU time and memory are separate. After some seconds the program is
killed, and the time until the files are complete is measured. prof is compared with `perf record --call-graph
dwarf`, with the same size of stack copies, followed by `perf script` and inferno-collapse-perf, by the machine's perf
and by perf 7 if ./bootstrap --bench could get it. Prints medians of RUNS runs without judging them.
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

# No measurement depends on the symbols that earlier ones have left in the cache.
os.environ["XDG_CACHE_HOME"] = os.devnull

RECORD_S = 10
FREQUENCY_HZ = 999
STACK_BYTES = 32768  # prof's default size of a copy

Run = namedtuple("Run", "samples lost rooted cpu_us whole_us late_s peak_mib written_bytes")
Ended = namedtuple("Ended", "cpu_s peak_mib end")
Recorded = namedtuple("Recorded", "ended cpu_s written_bytes killed errors")


def until_busy(pid):
    """Waits until all its threads run, because it has used some CPU time."""
    while int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11]) < 20:
        time.sleep(0.01)


def library(folder):
    """Makes a folder with enough to read: one text under many names."""
    books = folder / "books"
    if not books.exists():
        books.mkdir()
        lines = (f"line {i} of the text, {i * 7919 % 1013} {i * 104729 % 7}\n" for i in range(400_000))
        (books / "0").write_text("".join(lines), encoding="ascii")
        for number in range(1, 5000):
            os.link(books / "0", books / str(number))
    return books


class Search:
    """A ripgrep that is busy on all CPUs until it is killed."""

    PATTERN = r"(\w+) (\w+) of .*, \d*[13579]\d* [0-3]$"

    def __init__(self, rg, folder):
        self.process = subprocess.Popen([rg, "--no-mmap", "-c", self.PATTERN, library(folder)],
                                        stdout=subprocess.DEVNULL)
        until_busy(self.process.pid)

    def kill(self):
        self.process.kill()
        self.process.wait()
        return time.monotonic()


def ended(process):
    """Waits for a process. Returns its CPU time, its peak memory, and its end time."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Ended(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, time.monotonic())


def stacks(folded):
    for line in folded.splitlines():
        frames, _, count = line.rpartition(" ")
        yield frames.split(";"), int(count)


ROOTS = re.compile(r"_start|_?_?clone3?|thread_start|(entry|asm|ret_from)_\w+")


def shape(folded):
    """Returns (samples, share of them that reaches the root)."""
    total = rooted = 0
    for frames, count in stacks(folded):
        total += count
        if len(frames) > 1 and ROOTS.fullmatch(frames[1]):
            rooted += count
    return total, rooted / max(total, 1)


def written(pid):
    """Returns the bytes that a process has passed to write(2) and similar calls."""
    text = Path(f"/proc/{pid}/io").read_text(encoding="ascii")
    return int(re.search(r"wchar: (\d+)", text)[1])


def cpu_seconds(pid):
    """CPU time of all threads of a process, to the nanosecond."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text(encoding="ascii").split()[0]) for thread in threads) / 1e9


def perfs(path):
    """Returns {"perf VERSION": its path} of the machine's perf and of perf 7, without those that are missing."""
    found = filter(None, (shutil.which(name, path=path) for name in ("perf", "perf7")))
    versions = {perf: subprocess.run([perf, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout for perf in found}
    matches = {perf: re.match(r"perf version (\d+\.\d+)", text) for perf, text in versions.items()}
    return {f"perf {match[1]}": perf for perf, match in matches.items() if match}


def record(command, rg, folder):
    """Runs a recorder during a search. The first second is not measured, because the recorder prints messages in it."""
    search = Search(rg, folder)
    with tempfile.TemporaryFile("w+") as errors:
        recorder = subprocess.Popen([*command, "-F", str(FREQUENCY_HZ), "-p", str(search.process.pid)],
                                    stdout=subprocess.DEVNULL, stderr=errors)
        time.sleep(1)
        before = written(recorder.pid)
        time.sleep(RECORD_S - 1)
        bytes_written, cpu_s = written(recorder.pid) - before, cpu_seconds(recorder.pid)
        killed = search.kill()
        end = ended(recorder)
        errors.seek(0)
        return Recorded(end, cpu_s, bytes_written, killed, errors.read())


def prof_run(prof, rg, folder):
    folded, pprof = folder / "prof.folded", folder / "prof.pb.gz"
    recorded = record([prof, "record", "-o", folded, "-o", pprof], rg, folder)
    samples, rooted = shape(folded.read_text(encoding="utf-8"))
    gzip.decompress(pprof.read_bytes())
    lost = int(re.search(r"(\d[\d,]*) lost", recorded.errors)[1].replace(",", ""))
    return Run(samples, lost, rooted, recorded.cpu_s / samples * 1e6, recorded.ended.cpu_s / samples * 1e6,
               recorded.ended.end - recorded.killed, recorded.ended.peak_mib, recorded.written_bytes)


def perf_script(perf, collapse, data, folded, options):
    """Symbolizes and folds a recording. Returns (its end, its start)."""
    began = time.monotonic()
    with open(folded, "wb") as output, open(os.devnull, "wb") as silent:
        script = subprocess.Popen([perf, "script", "-i", data, *options], stdout=subprocess.PIPE, stderr=silent)
        collapser = subprocess.Popen([collapse], stdin=script.stdout, stdout=output, stderr=silent)
        script.stdout.close()
        naming, last = ended(script), ended(collapser)
    return naming._replace(end=last.end), began


def perf_runs(perf, collapse, rg, folder):
    """Makes one recording, which is symbolized with inlined frames, as by prof, and without."""
    data, folded = folder / "perf.data", folder / "perf.folded"
    recorded = record([perf, "record", "-q", "--call-graph", f"dwarf,{STACK_BYTES}", "-o", data], rg, folder)
    lost = perf_lost(perf, data)
    for options in ([], ["--no-inline"]):
        naming, began = perf_script(perf, collapse, data, folded, options)
        samples, rooted = shape(folded.read_text(encoding="utf-8", errors="replace"))
        cpu_us = (recorded.ended.cpu_s + naming.cpu_s) / samples * 1e6  # it unwinds while it symbolizes
        yield Run(samples, lost, rooted, cpu_us, cpu_us, recorded.ended.end - recorded.killed + naming.end - began,
                  max(recorded.ended.peak_mib, naming.peak_mib), recorded.written_bytes)


def perf_lost(perf, data):
    """Returns the lost samples. perf counts lost events and lost samples separately."""
    stats = subprocess.run([perf, "report", "--stats", "-i", data], capture_output=True, text=True, check=False).stdout
    return sum(int(count) for count in re.findall(r"LOST(?:_SAMPLES)? events:\s+(\d+)", stats))


def median(runs):
    return Run(*map(statistics.median, zip(*runs)))


ROWS = [
    ("samples", "samples", "{:,.0f}", ""),
    ("lost", "lost samples, all CPUs busy", "{:,.0f}", "0"),
    ("rooted", "stacks that reach the root", "{:.2%}", ">= 99 %"),
    ("cpu_us", "CPU time a sample to unwind, us", "{:.1f}", "<= 10"),
    ("whole_us", "… to write the files, us", "{:.1f}", ""),
    ("late_s", "target's exit -> files written, s", "{:.2f}", "<= 0.5, 1/5"),
    ("peak_mib", "peak memory, MiB", "{:.0f}", "<= 100"),
    ("written_bytes", "bytes written while recording", "{:,.0f}", "0"),
]


def ratio(ours, theirs):
    return f"{theirs / ours:.1f} x" if ours else ""


def print_table(rg, columns):
    size = Path(rg).stat().st_size / 2**20
    print(f"ripgrep of {size:.0f} MiB with full debug info, {RECORD_S} s at {FREQUENCY_HZ} Hz, {os.cpu_count()} CPUs")
    print(f"{'':34}{'must reach':>14}" + "".join(f"{name:>26}" for name in columns))
    for field, title, form, goal in ROWS:
        values = [getattr(run, field) for run in columns.values()]
        cells = f"{form.format(values[0]):>26}"
        for value in values[1:]:
            cells += f"{form.format(value):>17} {ratio(values[0], value):>8}"
        print(f"{title:34}{goal:>14}{cells}")


def main():
    prof, build = sys.argv[1], Path(sys.argv[2])
    runs = range(int(sys.argv[3]) if len(sys.argv) > 3 else 3)
    path = f"{build}/clients/bin:{os.environ['PATH']}"
    rg, collapse = (shutil.which(name, path=path) for name in ("rg", "inferno-collapse-perf"))
    if not rg:
        sys.exit("figures: ripgrep with debug info is missing: ./bootstrap --tests brings it")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        columns = {"prof": median([prof_run(prof, rg, folder) for _ in runs])}
        for name, perf in perfs(path).items() if collapse else ():
            inlined, plain = zip(*(perf_runs(perf, collapse, rg, folder) for _ in runs))
            columns |= {name: median(inlined), f"{name} --no-inline": median(plain)}
        print_table(rg, columns)


if __name__ == "__main__":
    main()
