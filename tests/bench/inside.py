#!/usr/bin/env python3
"""Measures what sampling CPU time costs the program, with in-process sampling and with perf events.

inside.py PROF BUILD [RUNS [BLOCKS]]

The program is tests/targets/churn, which works on BLOCKS blocks and prints its own CPU time. Each round runs it
alone and recorded in each way, in turn. A result is the median, over the rounds, of the ratio to the run alone.
Prints results without judging them.
"""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

WAYS = {
    "--via inside -F 250": ["--via", "inside", "-F", "250"],
    "perf events, -F 250": ["--via", "perf", "-F", "250"],
}


def seconds(command, folder):
    return float(subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout)


def main():
    prof, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 15
    program = [build / "tests" / "targets" / "churn", "blocks", sys.argv[4] if len(sys.argv) > 4 else "6000000"]
    ratios = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(runs):
            alone = seconds(program, folder)
            for way, options in WAYS.items():
                recorded = seconds([prof, "record", "-q", *options, "-o", "out.pb.gz", "--", *program], folder)
                ratios[way].append(recorded / alone)
    for way, found in ratios.items():
        low, _, high = statistics.quantiles(found, n=4)
        print(f"{way:22} {100 * (statistics.median(found) - 1):+6.1f} %   (quartiles {100 * (low - 1):+.1f} to "
              f"{100 * (high - 1):+.1f} %)")


if __name__ == "__main__":
    main()
