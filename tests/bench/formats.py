#!/usr/bin/env python3
"""Measures what writing each format costs, and the same work by other tools, in the same run.

formats.py BENCH_FORMATS PROF BUILD

bench_formats makes a profile of 10 million samples with a million distinct stacks and writes it in every format. `go
tool pprof -proto` reads and writes the pprof file, like `prof convert`. inferno-collapse-perf folds the text of perf
script with one sample per stack, because all samples would be 20 GB. Its lines are compared with prof's. Prints
results without judging them.
"""

import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STACKS = "1000000"


def row(name, *command, **options):
    """Runs a command and prints its wall-clock time, CPU time and peak memory."""
    began = time.monotonic()
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **options) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"formats: {name} fails")
    print(f"{name:50} {time.monotonic() - began:6.2f} s {usage.ru_utime + usage.ru_stime:6.2f} s CPU "
          f"{usage.ru_maxrss / 1e3:6.0f} MB peak", flush=True)


def main():
    bench, prof, build = sys.argv[1:]
    path = f"{build}/clients/bin:{os.environ['PATH']}"
    go, collapse = (shutil.which(name, path=path) for name in ("go", "inferno-collapse-perf"))
    with tempfile.TemporaryDirectory() as name, open(os.devnull, "wb") as silent:
        folder = Path(name)
        subprocess.run([bench, folder], check=True)
        row("prof convert x.pb.gz -o y.pb.gz", prof, "convert", "-q", folder / "bench.pb.gz", "-o", folder / "y.pb.gz")
        if go:
            row("go tool pprof -proto x.pb.gz", go, "tool", "pprof", "-proto", f"-output={folder / 'z.pb.gz'}",
                folder / "bench.pb.gz", stdout=silent)
        row("prof convert x.pb.gz -o y.folded", prof, "convert", "-q", folder / "bench.pb.gz", "-o", folder / "y.folded")
        for file in folder.iterdir():
            file.unlink()
        subprocess.run([bench, folder, STACKS, STACKS, "perf-script", "folded"], check=True)
        if collapse:
            with open(folder / "inferno.folded", "wb") as folded:
                row("inferno-collapse-perf bench.perf.txt", collapse, folder / "bench.perf.txt", stdout=folded)
            same = filecmp.cmp(folder / "bench.folded", folder / "inferno.folded", shallow=False)
            print("inferno and prof fold the same lines" if same else "inferno and prof FOLD OTHER LINES")


if __name__ == "__main__":
    main()
