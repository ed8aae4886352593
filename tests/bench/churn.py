#!/usr/bin/env python3
"""Measures what `prof record -a` costs while processes come and go.

churn.py PROF BUILD [FREQUENCY [EXECS_PER_SECOND [SECONDS [RUNS [OTHER_PROF…]]]]]

Shells, sed, Python and the compiler run on small files, with this number of execs per second (default 20; 0: as fast
as two shells can, as in a parallel build), while prof records at FREQUENCY (default 99). OTHER_PROF, which may have
options ("prof --checkpoint=off"), records the same processes at the same time, so that the CPU times are comparable
however busy the machine is.

Prints medians of RUNS (default 5) of SECONDS (default 20):

- CPU time of the start, which reads the running processes
- CPU time of prof itself, without its child processes, per second, per sample, and per new process or thread of the
  machine
- CPU time of the end, and of all processes that prof has started
- peak memory
- opened files outside of /proc and /sys, and how many opens were of a file that was opened before (measured with
  strace(1) in a separate run)

Needs root. Prints results without judging them.
"""

import collections
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from figures import cpu_seconds, ended

START_S = 2  # by then, prof has read the running processes
SOURCE = "#include <stdio.h>\n" + "".join(f"int f{i}(int x) {{ return x * {i} + printf(\"%d\", x); }}\n" for i in range(20))
# Programs of a round: the shell and sed; Python; gcc, cc1 and as.
ROUND = [
    ["sh", "-c", "sed s/x/y/ unit.c > sed.out; :"],
    ["python3", "-S", "-c", "import json"],
    ["gcc", "-c", "unit.c", "-o", "/dev/null"],
]
EXECS = 6

Cost = collections.namedtuple("Cost", "start_ms cpu_permille sample_us fork_us end_ms samples peak_mib")


class Churn:
    """Runs programs until stop()."""

    def __init__(self, folder, execs_per_second):
        (folder / "unit.c").write_text(SOURCE, encoding="ascii")
        self.folder = folder
        self.interval_s = EXECS / execs_per_second if execs_per_second else 0
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self.run) for _ in range(1 if execs_per_second else 2)]
        for thread in self.threads:
            thread.start()

    def run(self):
        due = time.monotonic()
        while not self.is_over.is_set():
            for command in ROUND:
                subprocess.run(command, cwd=self.folder, check=False, stdout=subprocess.DEVNULL)
            due += self.interval_s
            self.is_over.wait(max(due - time.monotonic(), 0))

    def stop(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()


def forks():
    """Returns the number of processes and threads that the machine has started."""
    return int(re.search(r"^processes (\d+)", Path("/proc/stat").read_text(encoding="ascii"), re.M)[1])


def command_of(prof, frequency, folder, name):
    return [*shlex.split(prof)[:1], "record", *shlex.split(prof)[1:], "-a", "-F", str(frequency), "-o", folder / f"{name}.pb.gz"]


def record(profs, frequency, seconds, folder):
    """Records with all of them at the same time. Returns the cost of each."""
    running = []
    for name, prof in enumerate(profs):
        with (folder / f"{name}.txt").open("w") as errors:
            running.append(subprocess.Popen(command_of(prof, frequency, folder, name), stderr=errors))
    time.sleep(START_S)
    first_s, first_forks, began = [cpu_seconds(process.pid) for process in running], forks(), time.monotonic()
    time.sleep(seconds)
    last_s, last_forks, passed_s = [cpu_seconds(process.pid) for process in running], forks(), time.monotonic() - began
    for process in running:
        process.send_signal(signal.SIGINT)
    costs = []
    for name, process in enumerate(running):
        end = ended(process)
        text = (folder / f"{name}.txt").read_text(encoding="utf-8")
        samples = int(re.search(r"([\d,]+) samples, [\d,]+ lost", text)[1].replace(",", ""))
        spent_s = last_s[name] - first_s[name]
        sampled = samples * passed_s / (passed_s + START_S)
        costs.append(Cost(first_s[name] * 1e3, spent_s / passed_s * 1e3, spent_s / sampled * 1e6,
                          spent_s / max(last_forks - first_forks, 1) * 1e6, (end.cpu_s - last_s[name]) * 1e3,
                          samples, end.peak_mib))
    return costs


def opened(prof, frequency, seconds, folder):
    """Returns (opened files outside of /proc and /sys, how many of these opens were of a file opened before)."""
    trace = folder / "trace.txt"
    command = command_of(prof, frequency, folder, "traced")
    process = subprocess.Popen(["strace", "-f", "-o", trace, "-e", "trace=open,openat,openat2", *command],
                               stderr=subprocess.DEVNULL)
    time.sleep(START_S + seconds)
    tracer = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    for pid in tracer.split():
        subprocess.run(["kill", "-INT", pid], check=False)
    process.wait()
    paths = re.findall(r'open(?:at2?)?\([^"]*"([^"]+)".* = \d+$', trace.read_text(errors="replace"), re.M)
    # The path of an output file is opened component by component.
    files = [path for path in paths if "/" in path and not re.match(r"/?(proc|sys|dev)?(/|$)", path) or "map_files" in path]
    return len(files), len(files) - len(set(files))


def main():
    prof, build = sys.argv[1], sys.argv[2]
    frequency, execs, seconds, runs = (int(given) for given in [*sys.argv[3:7], *(99, 20, 20, 5)[len(sys.argv[3:7]):]])
    profs = [prof, *sys.argv[7:]]
    with tempfile.TemporaryDirectory(dir=build) as name:
        folder = Path(name)
        churn = Churn(folder, execs)
        try:
            costs = [record(profs, frequency, seconds, folder) for _ in range(runs)]
            files = [opened(each, frequency, seconds, folder) if shutil.which("strace") and seconds < 60 else (0, 0) for each in profs]
        finally:
            churn.stop()
    print(f"prof record -a -F {frequency}, {execs or 'unbounded'} execs per second, medians of {runs} runs of {seconds} s")
    print(f"{'':30} {'start':>7} {'1 s':>7} {'sample':>8} {'fork':>8} {'end':>7} {'samples':>8} {'peak':>8} {'opened':>12}")
    for i, each in enumerate(profs):
        cost = Cost(*(statistics.median(values) for values in zip(*(run[i] for run in costs))))
        print(f"{each[-30:]:30} {cost.start_ms:4.0f} ms {cost.cpu_permille / 10:5.2f} % {cost.sample_us:5.1f} us "
              f"{cost.fork_us:5.1f} us {cost.end_ms:4.0f} ms {cost.samples:8.0f} {cost.peak_mib:4.0f} MiB "
              f"{files[i][0]:5} ({files[i][1]} again)")


if __name__ == "__main__":
    main()
