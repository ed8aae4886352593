#!/usr/bin/env python3
"""Compares the sum of a profile's weights with the CPU time that the kernel accounts.

sums.py PROF BUILD [RUNS]

Programs: a script with 1,000 short processes, `make -j2` of a small C project, and a long native program. Each is
recorded at 99 and 999 Hz: as root, by an unprivileged user (with kernel.perf_event_paranoid set to 2; only as root),
and by perf record for comparison, whose samples are counted with perf script. The kernel's value is wait4(2)'s
rusage of the program, read by a process in between. Prints medians of RUNS runs without judging them.
"""

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RATES_HZ = [99, 999]
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
NOBODY = 65534
FILES = 12  # of the C project

# Starts a program and writes the nanoseconds that it and its descendants used.
METER = """
import os, sys
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
usage = os.wait4(child, 0)[2]
open(sys.argv[1], "w").write(str(int(1e9 * (usage.ru_utime + usage.ru_stime))))
"""


def project(folder):
    """A small C project with a Makefile."""
    folder.mkdir()
    for number in range(FILES):
        functions = "".join(f"int f{i}(int x) {{ return x * {i} ^ (x >> {i % 7}); }}\n" for i in range(200))
        (folder / f"part{number}.c").write_text(f"#include <stdio.h>\n{functions}", encoding="ascii")
    objects = " ".join(f"part{number}.o" for number in range(FILES))
    (folder / "Makefile").write_text(f"all.a: {objects}\n\tar rc $@ $^\n%.o: %.c\n\tgcc -O1 -c -o $@ $<\n"
                                     "clean:\n\trm -f *.o all.a\n", encoding="ascii")


def programs(build, folder):
    short = "for i in $(seq 500); do /bin/true; /bin/ls /usr/share >/dev/null; done"
    return {
        "1,000 short processes": ["sh", "-c", short],
        "make -j2": ["sh", "-c", f"make -s -C {folder / 'project'} clean && make -s -j2 -C {folder / 'project'}"],
        "a long native program": [build / "tests" / "targets" / "shares", "5"],
    }


def run(words, folder, user):
    as_user = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    subprocess.run(words, check=True, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, **as_user)


def metered(program, folder):
    # Isolated: Python does not read anything of the caller's.
    return ["/usr/bin/python3", "-I", "-S", "-c", METER, folder / "used", *program]


def used_ns(folder):
    return int((folder / "used").read_text(encoding="ascii"))


def by_prof(prof, program, hz, folder, user):
    """Returns the weights that were sampled and all weights, both in ns, without those of the meter."""
    run([prof, "record", "-q", "-e", "cpu-clock", "-F", str(hz), "--weight", "ns", "-o", folder / "out.folded", "--",
         *metered(program, folder)], folder, user)
    sampled = every = 0
    for line in (folder / "out.folded").read_text(encoding="utf-8").splitlines():
        stack, _, ns = line.rpartition(" ")
        if stack.startswith("python3;"):
            continue
        every += int(ns)
        sampled += 0 if stack.endswith(";[not sampled]") else int(ns)
    return sampled, every


def by_perf(perf, program, hz, folder, user):
    event = "cpu-clock" if user is None else "cpu-clock:u"
    run([perf, "record", "-q", "-e", event, "-F", str(hz), "-o", folder / "out.data", "--", *metered(program, folder)],
        folder, user)
    script = subprocess.run([perf, "script", "--force", "-F", "comm,period", "-i", folder / "out.data"], check=True, text=True,
                            capture_output=True).stdout.splitlines()
    ns = sum(int(line.split()[-1]) for line in script if not line.strip().startswith("python3"))
    return ns, ns


@contextlib.contextmanager
def paranoid(level):
    before = PARANOID.read_text(encoding="ascii")
    PARANOID.write_text(str(level), encoding="ascii")
    try:
        yield
    finally:
        PARANOID.write_text(before, encoding="ascii")


def measure(recorder, binary, program, hz, folder, user, runs):
    sampled, every = [], []
    for _ in range(runs):
        shares = recorder(binary, program, hz, folder, user)
        used = used_ns(folder)
        sampled.append(shares[0] / used)
        every.append(shares[1] / used)
    return statistics.median(sampled), statistics.median(every)


def print_rows(prof, build, folder, user, runs):
    perf = shutil.which("perf")
    who = "root" if user is None else "without rights"
    for name, program in programs(build, folder).items():
        for hz in RATES_HZ:
            sampled, every = measure(by_prof, prof, program, hz, folder, user, runs)
            of_perf = f"{measure(by_perf, perf, program, hz, folder, user, runs)[1]:.1%}" if perf else "-"
            print(f"| {name} | {who} | {hz} | {sampled:.1%} | {every:.1%} | {of_perf} |", flush=True)


def main():
    prof, build, runs = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), int(sys.argv[3]) if len(sys.argv) > 3 else 3
    print("| program | recorded | Hz | prof: sampled | prof: sum of all weights | perf record |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project(folder / "project")
        if os.getuid() != 0:
            print_rows(prof, build, folder, None, runs)
            return
        print_rows(prof, build, folder, None, runs)
        # The folders of prof and of the build may be closed to that user.
        os.chmod(folder, 0o755)
        copies = Path(name) / "build" / "tests" / "targets"
        copies.mkdir(parents=True)
        shutil.copy(build / "tests" / "targets" / "shares", copies)
        prof = Path(shutil.copy(prof, folder))
        for place in [folder, *folder.rglob("*")]:
            os.chown(place, NOBODY, NOBODY)
        with paranoid(2):
            print_rows(prof, folder / "build", folder, NOBODY, runs)


if __name__ == "__main__":
    main()
