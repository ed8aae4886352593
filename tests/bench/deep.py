#!/usr/bin/env python3
"""Measures what a sample of a deep stack costs the program and the recorder.

deep.py PROF[,PROF…] BUILD [RUNS [ROUNDS]]

The program is tests/targets/deep_calls: 105 KB of stack in 130 frames below constantly changing frames. It is
recorded in turn by each PROF and, if installed, by perf with frame pointers and with 32 KiB copies. Prints the
medians of RUNS paired runs, and the minimum of the program's CPU time. prof's CPU time is that of all its threads
while the program works. Prints results without judging them.
"""

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path


def cpu_s(pid):
    """Returns the CPU time of a process's live threads."""
    used = 0
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            used += int(path.read_text(encoding="ascii").split()[0])
        except OSError:
            pass  # it has ended
    return used / 1e9


def measure(recorder, program, folder):
    """Returns wall-clock and CPU seconds of the program, CPU seconds of the recorder, and its messages at the end."""
    process = subprocess.Popen([*recorder, *program], cwd=folder, text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    began = cpu_s(process.pid)
    wall, cpu = map(float, process.stdout.readline().split())
    used = cpu_s(process.pid) - began
    said = process.communicate("\n")[1]
    return wall, cpu, used, said


def samples_of(said):
    found = re.search(r"([\d,]+) samples, .*?([\d,]+) truncated", said)
    return [int(number.replace(",", "")) for number in found.groups()] if found else [0, 0]


def main():
    profs, build = [str(Path(prof).resolve()) for prof in sys.argv[1].split(",")], Path(sys.argv[2]).resolve()
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    program = [str(build / "tests" / "targets" / "deep_calls"), sys.argv[4] if len(sys.argv) > 4 else "1000000"]
    print(f"{'':36}{'CPU time':>10}{'(least)':>10}{'wall':>9}{'prof, us a sample':>20}{'truncated':>12}")
    for frequency in ("999", "10000"):
        ways = {"alone": []}
        if shutil.which("perf"):
            perf = ["perf", "record", "-q", "-o", "perf.data", "-F", frequency]
            ways |= {"perf, frame pointers": [*perf, "-g"],
                     "perf, 32 KiB copies": [*perf, "--call-graph", "dwarf,32768"]}
        ways |= {prof: [prof, "record", "-o", "out.pb.gz", "-F", frequency, "--"] for prof in profs}
        with tempfile.TemporaryDirectory() as folder:
            rows = [{name: measure(way, program, folder) for name, way in ways.items()} for _ in range(runs)]
        for name in ways:
            walls, cpus, used, said = zip(*(row[name] for row in rows))
            line = (f"{frequency + ' Hz, ' + Path(name).name:36}{statistics.median(cpus):8.3f} s{min(cpus):8.3f} s"
                    f"{statistics.median(walls):7.2f} s")
            if name in profs:
                counts = [samples_of(text) for text in said]
                each = [seconds * 1e6 / max(count, 1) for seconds, (count, _) in zip(used, counts)]
                cut, total = sum(count[1] for count in counts), sum(count[0] for count in counts)
                line += f"{statistics.median(each):20.1f}{cut:7,} of {total:,}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
