#!/usr/bin/env python3
"""What recording continuously costs (prof record --every), and how long a day takes to be read.

continuous.py PROF [SECONDS [PROCESSES]]

The whole machine is recorded at 19 and at 99 Hz while 20 short programs a second start and a process per CPU is busy, for SECONDS
(60) each: CPU time of prof and its children, bytes per hour. Then PROCESSES (5,000) short programs run as fast as they can beside
segments of one second: resident memory at a tenth of them, and at their end. A day is 1,440 copies of one segment. As root.
Prints; never judges.
"""

import gzip
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TIME_FIELD = 9 << 3  # of pprof's Profile: a varint; the last one counts
DAY = 1440


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def segments(folder):
    return sorted(folder.glob("*Z.pb.gz"))


def memory_mb(pid):
    """Of the process and its children: resident pages of their own."""
    total = 0
    for one in [str(pid), *Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]:
        try:
            total += int(re.search(r"^Private_Dirty: +(\d+)", Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii"), re.M)[1])
        except (OSError, TypeError):
            pass
    rss = int(re.search(r"^VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="ascii"), re.M)[1])
    return rss / 1024, total / 1024


def start(prof, folder, *options):
    process = subprocess.Popen([prof, "record", "-q", "-a", *options, "-o", f"{folder}/"])
    while not segments(folder):
        time.sleep(0.1)
    return process


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def costs(prof, hz, seconds):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in os.sched_getaffinity(0)]
        # A process of its own, so that its children are not those of prof.
        churn = subprocess.Popen(["sh", "-c", "while :; do true | /bin/true; sleep 0.05; done"])
        before, begun = used(), time.monotonic()
        process = subprocess.Popen([prof, "record", "-q", "-a", "-F", str(hz), "--every", "10s", "-o", f"{folder}/"])
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        process.wait()
        share = (used() - before) / (time.monotonic() - begun)
        for one in busy + [churn]:
            one.kill()
            one.wait()
        size = sum(path.stat().st_size for path in segments(folder))
        print(f"-a -F {hz:<3}  {share:6.2%} of a CPU  {size / seconds * 3600 / 1e6:6.2f} MB per hour in segments of 10 s  "
              f"{len(segments(folder))} segments")


def minute(prof, folder):
    """A segment of a minute of two busy CPUs."""
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in os.sched_getaffinity(0)]
    subprocess.run([prof, "record", "-q", "-a", "-F", "57", "--every", "1h", "-o", f"{folder}/", "--", "sleep", "20"], check=True)
    for one in busy:
        one.kill()
        one.wait()
    return max(segments(folder), key=lambda path: path.stat().st_size)


def write_day(prof, folder):
    """Copies of one segment until now. Returns the segment."""
    data = minute(prof, folder).read_bytes()
    for path in segments(folder):
        path.unlink()
    first = int(time.time()) // 60 * 60 - DAY * 60
    for number in range(DAY):
        begin = first + 60 * number
        stamp = bytes([TIME_FIELD]) + varint(begin * 10**9)
        path = folder / time.strftime("%Y%m%dT%H%M%SZ.pb.gz", time.gmtime(begin))
        path.write_bytes(gzip.compress(gzip.decompress(data) + stamp, 6))
    return data


def day(prof):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "day"
        data = write_day(prof, folder)
        print(f"a day: {DAY} segments of {len(data) / 1e3:.0f} KB, {len(data) * 60 / 1e6:.2f} MB per hour")
        for words in (["report", folder, "--since", "-2d"], ["report", folder, "--since", "-1h"],
                      ["convert", folder, "--since", "-1h", "-o", f"{name}/x.html", "-q"],
                      ["convert", folder, "-o", f"{name}/x.html", "-q"]):
            taken = []
            for _ in range(3):
                begun = time.monotonic()
                subprocess.run([prof, *map(str, words)], check=True, stdout=subprocess.DEVNULL)
                taken.append(time.monotonic() - begun)
            print(f"  {' '.join(map(str, words)).replace(name, '…'):60} {statistics.median(taken):6.2f} s")


def grows(prof, processes):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        process = start(prof, folder, "-F", "99", "--every", "1s", "--keep", "10s")
        for part in range(10):
            subprocess.run(["sh", "-c", f"i=0; while [ $i -lt {processes // 10} ]; do /bin/true; i=$((i+1)); done"], check=True)
            if part in (0, 4, 9):
                rss, dirty = memory_mb(process.pid)
                print(f"after {processes // 10 * (part + 1):6} short processes: {rss:4.0f} MB resident, {dirty:4.0f} MB written to with children")
        process.send_signal(signal.SIGINT)
        process.wait()


def main():
    prof = os.path.abspath(sys.argv[1])
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    processes = int(sys.argv[3]) if len(sys.argv) > 3 else 5000
    for hz in (19, 99):
        costs(prof, hz, seconds)
    day(prof)
    grows(prof, processes)


if __name__ == "__main__":
    main()
