#!/usr/bin/env python3
"""Measures what the samples of 128 CPUs cost.

readers.py BENCH_READERS PROF BUILD [RUNS [RECORDING]]

Needs root. Without a RECORDING (perf.data), one is made: ripgrep, Python, xz and sort, at 999 Hz. Prints medians of
RUNS runs in turn, without judging them.
"""

import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = """
timeout 8 {rg} -j2 'a.*b.*[xyz]{{3}}q' /usr/include /usr/share >/dev/null &
timeout 8 python3 -c "import json
while True: json.loads(json.dumps([{{'a': i, 'b': [1, 2, 'x' * i]}} for i in range(300)]))" &
timeout 8 xz -9e -T1 -c {prof} >/dev/null &
timeout 8 sort -R /usr/include/*.h >/dev/null &
wait
"""


def record(prof, build, folder):
    script = folder / "programs.sh"
    script.write_text(PROGRAMS.format(rg=build / "clients" / "bin" / "rg", prof=prof), encoding="utf-8")
    recording = folder / "x.perf.data"
    subprocess.run([prof, "record", "-q", "-F", "999", "-o", recording, "--", "sh", script], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    return recording


def main():
    bench, prof, build = (str(Path(argument).resolve()) for argument in sys.argv[1:4])
    runs = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    values = []
    with tempfile.TemporaryDirectory() as name:
        recording = sys.argv[5] if len(sys.argv) > 5 else record(prof, Path(build), Path(name))
        for _ in range(runs):
            said = subprocess.run([bench, recording], check=True, capture_output=True, text=True, timeout=300).stdout
            values.append([float(number) for number in re.findall(r"[\d.]+", said)])
    _, rate, cpu, *_, peak = map(statistics.median, zip(*values))
    print(f"{'128 rings of 100 samples a batch':34}{'must reach':>12}{'samples/s':>12}{'CPU, us':>9}{'peak MiB':>10}")
    print(f"{'':34}{'>= 300,000':>12}{rate:>12,.0f}{cpu:>9.2f}{peak:>10.0f}")


if __name__ == "__main__":
    main()
