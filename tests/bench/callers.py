#!/usr/bin/env python3
"""Finds callers that occur in a stripped program without unwind tables, but not in the same program with tables and
symbols.

callers.py PROF SOURCE [SECONDS [PROGRAM …]]

Programs of tests/targets are built with and without unwind tables, and recorded at 4,999 Hz. A row has the number of
samples without tables, how many of them are truncated, and how many have a caller of their leaf (or of another
caller) that no sample with tables has, with the first such pair. A pair may be correct if one of the programs has
few samples. Prints results without judging them. Needs the Python package protobuf.
"""

import bisect
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

PROGRAMS = "shares frames recursion signals noreturn threads handler maze turns other_stack assembly exceptions geometry coroutines"
NO_TABLES = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]


def build(source, program, *options):
    compiler = "g++" if source.suffix == ".cc" else "gcc"
    subprocess.run([compiler, "-O2", "-g", "-pthread", "-D_GNU_SOURCE", "-w", *options, source, "-o", program, "-lm", "-ldl"], check=True)
    return program


def symbols(program):
    """Returns (start, size, name), in order."""
    lines = subprocess.run(["nm", "-S", "--defined-only", program], capture_output=True, text=True, check=True).stdout.splitlines()
    fields = [line.split() for line in lines]
    return sorted((int(start, 16), int(size, 16), name) for start, size, kind, name in (row for row in fields if len(row) == 4)
                  if kind in "tTwW")


def name_of(names, address):
    start, size, name = names[max(0, bisect.bisect(names, (address, 1 << 62)) - 1)]
    return name if start <= address < start + max(1, size) else hex(address)


def record(prof, program, names, seconds):
    """Returns stacks from the root: functions of the program by their symbols, all others by their file."""
    from profiles import Pprof

    output = program.with_suffix(".pb.gz")
    subprocess.run([prof, "record", "-q", "-F", "4999", "-e", "cpu-clock:u", "--no-inline", "-o", output, "--", program, seconds], check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    profile, stacks = Pprof.read(output), Counter()
    for sample in profile.message.sample:
        frames = []
        for location in (profile.locations[id] for id in reversed(sample.location_id)):
            mapping = profile.mappings.get(location.mapping_id)
            file = Path(profile.strings[mapping.filename]).name if mapping else "[truncated]"
            frame = file if file != program.name else name_of(names, location.address - mapping.memory_start + mapping.file_offset)
            if frames[-1:] != [frame]:
                frames.append(frame)
        stacks[tuple(frames)] += sample.value[0]
    return stacks


def pairs(frames):
    """Yields (caller, callee). A complete stack starts with its root."""
    return [pair for pair in zip(["", *frames], frames) if "[truncated]" not in pair]


def row(prof, source, folder, seconds):
    whole = build(source, folder / source.stem)
    bare = build(source, folder / f"{source.stem}_bare", *NO_TABLES)
    names = symbols(bare)
    subprocess.run(["strip", bare], check=True)
    true = {pair for frames in record(prof, whole, symbols(whole), seconds) for pair in pairs(frames)}
    stacks = record(prof, bare, names, seconds)
    wrong = Counter()
    for frames, count in stacks.items():
        wrong.update({pair: count for pair in set(pairs(frames)) - true})
    truncated = sum(count for frames, count in stacks.items() if "[truncated]" in frames)
    first = f"{wrong.most_common(1)[0][0][0]} → {wrong.most_common(1)[0][0][1]}" if wrong else ""
    print(f"{source.stem:14}{sum(stacks.values()):10,}{truncated:10,}{sum(wrong.values()):10,}  {first}", flush=True)


def main():
    prof, targets = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve() / "tests" / "targets"
    sys.path.insert(0, str(targets.parent / "cli"))
    print(f"{'':14}{'samples':>10}{'truncated':>10}{'other':>10}")
    with tempfile.TemporaryDirectory(prefix="callers.") as name:
        for program in sys.argv[4:] or PROGRAMS.split():
            row(prof, next(targets.glob(f"{program}.c*")), Path(name), sys.argv[3] if len(sys.argv) > 3 else "2")


if __name__ == "__main__":
    main()
