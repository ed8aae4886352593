#!/usr/bin/env python3
"""Measures what recording allocations costs the program, compared with heaptrack, the profilers of jemalloc and
tcmalloc, and valgrind's DHAT.

memory.py PROF BUILD [RUNS]

The program is tests/targets/churn: a pair of malloc(64) and free() in a tight loop, and six million blocks per
second with work in between. It measures its own CPU time, so that of the recorder does not count. All ways take
turns, RUNS times. A way is compared with the same allocator alone in the same turn, and the table has the medians.
Then prints how many samples in quick succession are lost. Missing tools are omitted. Prints results without judging
them.
"""

import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict, namedtuple
from pathlib import Path

PERIOD = 512 << 10
ROUNDS = 300  # of 100,000 pairs
BLOCKS = 6_000_000
LIBRARIES = Path(f"/usr/lib/{platform.machine()}-linux-gnu")

# alone: the way that it is compared with. slower: divisor of the number of rounds.
Way = namedtuple("Way", "words environment alone slower pair_goal blocks_goal", defaults=[{}, "nothing", 1, "", ""])


def ways(prof, folder):
    record = [prof, "record", "-q", "--checkpoint=off", "-o", folder / "out.pb.gz"]
    yield "nothing", Way([])
    yield "prof inside, nobody records", Way([prof, "inside", "-q", "--"], pair_goal="<= +2 ns")
    yield "prof record --alloc", Way([*record, "--alloc", "--"], pair_goal="<= +5 ns", blocks_goal="<= +3 %")
    yield "prof record --alloc=64k", Way([*record, "--alloc=64k", "--"])
    for name, library, setting in (("jemalloc", "libjemalloc.so.2", {"MALLOC_CONF": "prof:true,lg_prof_sample:19"}),
                                   ("tcmalloc", "libtcmalloc.so.4", {"TCMALLOC_SAMPLE_PARAMETER": str(PERIOD)})):
        if (LIBRARIES / library).exists():
            preload = {"LD_PRELOAD": str(LIBRARIES / library)}
            yield name, Way([], preload, name)
            yield f"{name}, {'='.join(*setting.items())}", Way([], {**preload, **setting}, name)
    if shutil.which("heaptrack"):
        yield "heaptrack", Way(["heaptrack", "-o", folder / "heaptrack"], slower=10)
    if shutil.which("valgrind"):
        yield "valgrind --tool=dhat", Way(["valgrind", "-q", "--tool=dhat", "--dhat-out-file=/dev/null"], slower=50)


def churn(program, way, what, count, folder):
    """Returns the number that the program prints, scaled to the full number of rounds."""
    words = [*map(str, way.words), program, what, str(max(count // way.slower, 1))]
    done = subprocess.run(words, env={**os.environ, **way.environment}, cwd=folder, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    found = re.findall(r"^\d+\.\d+$", done.stdout, re.MULTILINE)
    if not found:
        sys.exit(f"memory: {words}: {done.stderr}")
    return float(found[0]) * (way.slower if what == "blocks" else 1)


def measure(program, chosen, runs, folder):
    """Returns {way: [(ns per pair, seconds for the blocks), …]}."""
    results = defaultdict(list)
    for _ in range(runs):
        for name, way in chosen.items():
            results[name].append((churn(program, way, "pairs", ROUNDS, folder), churn(program, way, "blocks", BLOCKS, folder)))
    return results


def table(chosen, results):
    print(f"{'':50}{'malloc(64) and free(), ns':>28}{'must reach':>12}{'6 million blocks, s of CPU':>34}{'must reach':>12}")
    for name, way in chosen.items():
        pairs, blocks = zip(*results[name])
        more = share = ""
        if way.alone in results and way.alone != name:
            pairs_alone, blocks_alone = zip(*results[way.alone])
            more = f"{statistics.median(a - b for a, b in zip(pairs, pairs_alone)):+.2f}"
            share = f"{statistics.median(a / b for a, b in zip(blocks, blocks_alone)) - 1:+.1%}"
        print(f"{name:50}{statistics.median(pairs):18.2f}{more:>10}{way.pair_goal:>12}"
              f"{statistics.median(blocks):24.3f}{share:>10}{way.blocks_goal:>12}", flush=True)


def lost(prof, program, folder):
    """The program has a CPU of its own if there are two."""
    for period in "64k", "16k", "4k":
        words = [prof, "record", f"--alloc={period}", "-o", folder / "out.pb.gz", "--", "taskset", "-c", str(os.cpu_count() - 1)]
        begin = time.monotonic()
        done = subprocess.run([*map(str, words), program, "pairs", "1000"], capture_output=True, text=True, check=True,
                              stdin=subprocess.DEVNULL)
        seconds = time.monotonic() - begin
        counts = re.search(r"([\d,]+) sampled allocations, ([\d,]+) lost", done.stderr)
        taken, lost_too = (int(text.replace(",", "")) for text in counts.groups())
        print(f"--alloc={period}: {(taken + lost_too) / seconds:,.0f} samples a second, {lost_too / (taken + lost_too):.1%} lost")


def main():
    prof, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    program = str(build / "tests" / "targets" / "churn")
    with tempfile.TemporaryDirectory(prefix="prof-bench.") as name:
        folder = Path(name)
        chosen = dict(ways(prof, folder))
        print(f"{platform.release()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; medians of {runs} runs")
        table(chosen, measure(program, chosen, runs, folder))
        lost(prof, program, folder)


if __name__ == "__main__":
    main()
