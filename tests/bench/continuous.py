#!/usr/bin/env python3
"""Measures what continuous recording costs (prof record --every), and how long it takes to read a day.

continuous.py PROF [SECONDS [PROCESSES]]

The whole machine is recorded at 19 and at 99 Hz for SECONDS (60) each, while 20 short programs per second start and
a process per CPU is busy. Prints CPU time of prof and its children, and bytes per hour. Then PROCESSES (5,000) short
programs run as fast as possible with segments of one second. Prints resident memory after a tenth of them, and at
their end. The day consists of 24 copies of an hour, which prof has merged from 60 different segments of 2 s. Each
segment has the samples of a minute, once of busy loops and once of compilers on each CPU. Needs root. Prints results
without judging them.
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

SOURCE = Path(__file__).resolve().parents[2]
TIME, DURATION, MERGED = 9, 10, 1500  # fields of pprof's Profile


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def segments(folder):
    return sorted(folder.glob("*Z.pb.gz"))


def memory_mb(pid):
    """Returns the unshared resident memory of the process and its children."""
    total = 0
    for one in [str(pid), *Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]:
        try:
            total += int(re.search(r"^Private_Dirty: +(\d+)", Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii"), re.M)[1])
        except (OSError, TypeError):
            pass
    rss = int(re.search(r"^VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="ascii"), re.M)[1])
    return rss / 1024, total / 1024


def begin(*command, **options):
    """Starts a process that ends with this one, however this one ends."""
    return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], **options)


def busy_shells(text, **options):
    """Starts one for each CPU."""
    return [begin("sh", "-c", text, **options) for _ in os.sched_getaffinity(0)]


def start(prof, folder, *options):
    process = begin(prof, "record", "-q", "-a", *options, "-o", f"{folder}/")
    while not segments(folder):
        time.sleep(0.1)
    return process


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def costs(prof, hz, seconds):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        busy = busy_shells("while :; do :; done")
        # It is a child of this process, so it does not count as a child of prof.
        churn = begin("sh", "-c", "while :; do true | /bin/true; sleep 0.05; done")
        before, begun = used(), time.monotonic()
        process = begin(prof, "record", "-q", "-a", "-F", str(hz), "--every", "10s", "-o", f"{folder}/")
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


def fields(message):
    """Yields (number, encoded field) of a protobuf message with varints and bytes."""
    at = 0
    while at < len(message):
        begin = at
        tag, at = number_at(message, at)
        size, at = number_at(message, at)
        at += size if tag & 7 else 0
        yield tag >> 3, message[begin:at]


def number_at(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return number, at


def moved(data, begin, seconds):
    """Returns a segment with that start time. A merged segment consists of segments of a minute."""
    new = {TIME: bytes([TIME << 3]) + varint(begin * 10**9), DURATION: bytes([DURATION << 3]) + varint(seconds * 10**9)}
    if seconds > 60:
        merged = varint(begin) + bytes([60]) * (seconds // 60 - 1)
        new[MERGED] = varint(MERGED << 3 | 2) + varint(len(merged)) + merged
    return gzip.compress(b"".join(new.get(number, field) for number, field in fields(gzip.decompress(data))), 6)


def record_minutes(prof, folder, load):
    """Records 60 segments of 2 s with the samples of a minute each: 570 Hz instead of 19."""
    busy = busy_shells(load, start_new_session=True)
    subprocess.run([prof, "record", "-q", "-a", "-F", "570", "--every", "2s", "-o", f"{folder}/", "--", "sleep", "122"], check=True)
    for one in busy:
        os.killpg(one.pid, signal.SIGKILL)
        one.wait()
    return segments(folder)[1:61]


def name_of(begin):
    return time.strftime("%Y%m%dT%H%M%SZ.pb.gz", time.gmtime(begin))


def merge(prof, folder):
    """Makes a recorder merge the minutes into an hour. Returns its file and the CPU time of the child with the lowest
    priority."""
    first, ticks = segments(folder)[0], 0
    process = start(prof, folder, "-F", "19", "--every", "1s")
    while len([path for path in segments(folder) if path.name[:11] == first.name[:11]]) > 1:
        for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split():
            try:
                stat = Path(f"/proc/{child}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            except OSError:
                continue
            if stat[16] == "19":
                ticks = max(ticks, int(stat[11]) + int(stat[12]))
    process.send_signal(signal.SIGINT)
    process.wait()
    return first, ticks / os.sysconf("SC_CLK_TCK")


def day(prof, name, load):
    with tempfile.TemporaryDirectory() as scratch:
        minutes, folder = Path(scratch) / "minutes", Path(scratch) / "day"
        folder.mkdir()
        today = int(time.time()) // 3600 * 3600
        files = [path.read_bytes() for path in record_minutes(prof, minutes, load)]
        for path in segments(minutes):
            path.unlink()
        for number, data in enumerate(files):
            begin = today - 2 * 3600 + 60 * number
            (minutes / name_of(begin)).write_bytes(moved(data, begin, 60))
        hour, seconds = merge(prof, minutes)
        data = hour.read_bytes()
        print(f"{name}: minutes of {sum(map(len, files)) / len(files) / 1e3:.0f} KB, {len(data) / 1e6:.2f} MB per hour, "
              f"merged in {seconds:.2f} s of CPU time")
        for number in range(24):
            begin = today - 3600 * (24 - number)
            (folder / name_of(begin)).write_bytes(moved(data, begin, 3600))
        for words in (["report", folder, "--since", "-2d"], ["report", folder, "--since", "-1h"],
                      ["diff", f"{folder}@..now", f"{folder}@-6h.."],
                      ["convert", folder, "-o", f"{scratch}/x.html", "-q"]):
            taken, cpu = [], []
            for _ in range(3):
                begun, before = time.monotonic(), used()
                subprocess.run([prof, *map(str, words)], check=True, stdout=subprocess.DEVNULL)
                taken.append(time.monotonic() - begun)
                cpu.append(used() - before)
            print(f"  {' '.join(map(str, words)).replace(scratch, '…'):44} {statistics.median(taken):6.2f} s, "
                  f"{statistics.median(cpu):6.2f} s of CPU time")


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
    compiles = f"cd {SOURCE}; while :; do for file in lib/*/*.c; do cc -O2 -D_GNU_SOURCE -Ilib -c $file -o /dev/null 2>/dev/null; done; done"
    day(prof, "a day of busy loops and short programs", "while :; do i=0; while [ $i -lt 9999 ]; do i=$((i+1)); done; true | /bin/true; done")
    day(prof, "a day of compilers", compiles)
    grows(prof, processes)


if __name__ == "__main__":
    main()
