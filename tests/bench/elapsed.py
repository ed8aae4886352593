#!/usr/bin/env python3
"""Measures what `prof record --elapsed` costs beyond --wall.

elapsed.py PROF BUILD [PAIRS [OPTION]]

Records each program with --wall and with OPTION (--elapsed) in turn, and prints the median ratio of PAIRS pairs (7) of the
CPU time of the program. If the program stops after a time, CPU times are divided by the work that it has done.

prof records itself, too: the share of its CPU time in the functions of elapsed time depends less on other load. The sum
of PAIRS recordings is printed, as what they add to the rest.
"""

import json
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

USED = re.compile(r"prof used ([\d.]+) (m?s) of CPU time to sample, ([\d.]+) (m?s) to symbolize")
UNITS = {"s": 1, "ms": 1e-3}
SECONDS = 3


def programs(build, folder):
    """By row: a command, and a function that returns the work from its output."""
    clients, targets = build / "clients" / "bin", build / "tests" / "targets"
    big = folder / "big"
    big.write_bytes(b"".join(path.read_bytes() for path in sorted(targets.iterdir()) if path.is_file())[:24 << 20])
    search = f"for i in 1 2 3 4 5 6 7 8; do {clients / 'rg'} -c 'static inline' /usr/include >/dev/null; done"
    return {
        "xz -T2 of 24 MB": ([shutil.which("xz"), "-T2", "--block-size=1MiB", "-3", "-c", big], lambda output: 1),
        "ripgrep of /usr/include, 8 times": (["sh", "-c", search], lambda output: 1),
        "tokio server with a lock": ([clients / "shared_lock", SECONDS], lambda output: int(output.split()[0])),
        "pipe ping-pong on one CPU": ([targets / "switches", SECONDS], lambda output: 1 / float(output)),
    }


def record(prof, option, command, work, folder):
    """CPU seconds of the program and of prof, divided by the work."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = folder / "output"
    with output.open("w") as file:
        done = subprocess.run([prof, "record", option, "-o", folder / "out.pb.gz", "--", *map(str, command)],
                              stdout=file, stderr=subprocess.PIPE, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    sampling, unit, writing, unit_of_writing = USED.search(done.stderr).groups()
    own = float(sampling) * UNITS[unit] + float(writing) * UNITS[unit_of_writing]
    both = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    amount = work(output.read_text(errors="replace"))
    return (both - own) / amount, own / amount


def own_samples(prof, option, command, folder):
    """Samples of prof outside the functions of elapsed time, and in them."""
    subprocess.run([prof, "record", "-q", "-e", "cpu-clock", "-F", "4999", "-o", folder / "own.pb.gz", "--",
                    prof, "record", option, "-o", folder / "out.pb.gz", "--", *map(str, command)],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

    def count(*options):
        done = subprocess.run([prof, "report", "--json", "--comm", "prof", *options, folder / "own.pb.gz"], capture_output=True,
                              text=True)
        return json.loads(done.stdout)["all"]["samples"] if done.stdout else 0

    inside = count("--focus", "^(elapsed|critical)_")
    return count() - inside, inside


def main():
    prof, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    option = sys.argv[4] if len(sys.argv) > 4 else "--elapsed"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for row, (command, work) in programs(build, folder).items():
            if not shutil.which(str(command[0])):
                print(f"{row}: not installed")
                continue
            runs = [(record(prof, "--wall", command, work, folder), record(prof, option, command, work, folder)) for _ in range(pairs)]
            program = statistics.median(with_option[0] / wall[0] for wall, with_option in runs)
            share = statistics.median(wall[1] / wall[0] for wall, _ in runs)
            outside, inside = map(sum, zip(*(own_samples(prof, option, command, folder) for _ in range(pairs))))
            print(f"{row}: program {program - 1:+.1%}, prof {inside / outside:+.1%} of {share:.1%} of the program's CPU time", flush=True)


if __name__ == "__main__":
    main()
