#!/usr/bin/env python3
"""Checks the limits of prof that other benchmarks do not print next to their results.

limits.py PROF BUILD BENCH_FORMATS [ROW …]      (as root; rows: the names of the functions below)

Uses the other benchmarks: deep.py, churn.py, live.py, recordings.py, reports.py, page.py and bench_formats, with few
runs of each. A row is a process of its own with a time limit. It is killed with all its children when it is over,
and when this program is interrupted. Prints results without judging them.
"""

import contextlib
import multiprocessing
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT_S = 300  # time limit of a row
RUNS = 3
SMALL = "int main(void) { volatile unsigned long sum = 0; for (unsigned long i = 0; i < 300000000; i++) sum += i; return 0; }\n"


class Here:
    def __init__(self, prof, build, bench, folder):
        self.prof, self.build, self.bench, self.folder = str(Path(prof).resolve()), Path(build).resolve(), bench, folder
        self.path = f"{self.build}/clients/bin:{os.environ['PATH']}"

    def tool(self, name):
        return shutil.which(name, path=self.path)


def say(title, goal, figure):
    print(f"{title:62}{goal:>14}   {figure}", flush=True)


def size(here):
    stripped = here.folder / "prof"
    subprocess.run(["strip", "-o", stripped, here.prof], check=True)
    say("prof, stripped", "<= 2 MB", f"{stripped.stat().st_size / 1e6:.2f} MB")


def deep(here):
    import deep as bench

    program = [str(here.build / "tests" / "targets" / "deep_calls"), "1000000"]
    for hz in ("999", "10000"):
        perf = ["perf", "record", "-q", "-o", "perf.data", "-F", hz]
        ways = {"alone": [], "prof": [here.prof, "record", "-o", "out.pb.gz", "-F", hz, "--"]}
        if here.tool("perf"):
            ways |= {"perf": [*perf, "-g"], "copies": [*perf, "--call-graph", "dwarf,32768"]}
        runs = [{name: bench.measure(way, program, here.folder) for name, way in ways.items()} for _ in range(RUNS)]
        cpu = {name: min(run[name][1] for run in runs) for name in ways}
        if hz == "999":
            each = [run["prof"][2] * 1e6 / max(1, bench.samples_of(run["prof"][3])[0]) for run in runs]
            say("deep stacks, 999 Hz: prof's CPU time for a sample", "<= 20 us", f"{statistics.median(each):.1f} us")
        samples, cut = map(sum, zip(*(bench.samples_of(run["prof"][3]) for run in runs)))
        say(f"deep stacks, {hz} Hz: complete", ">= 99.9 %", f"{1 - cut / max(1, samples):.2%}")
        if hz == "999" and "perf" in ways:
            slower = [(cpu[name] / cpu["alone"] - 1) * 100 for name in ("prof", "perf")]
            say("deep stacks, 999 Hz: slow-down beside perf record -g", "<= 1.5 x", "{:.1f} %, perf {:.1f} %".format(*slower))
        elif "copies" in ways:
            say("deep stacks, 10,000 Hz: the program's CPU time beside perf's", "<= 1.0 x", f"{cpu['prof'] / cpu['copies']:.2f} x")


def builds(here):
    import churn as bench

    churn = bench.Churn(here.folder, 0)
    try:
        costs = [bench.record([here.prof], 99, 10, here.folder)[0] for _ in range(RUNS)]
    finally:
        churn.stop()
    say("-a -F 99 beside a parallel build: CPU time for a sample", "<= 25 us", f"{statistics.median(cost.sample_us for cost in costs):.1f} us")


def start(here):
    def run(*before):
        began = time.monotonic(), time.time_ns()
        text = subprocess.run([*before, "date", "+%s%N"], cwd=here.folder, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        return (int(text) - began[1]) / 1e6, (time.monotonic() - began[0]) * 1e3

    alone, ours = ([run(*before) for _ in range(21)] for before in ([], [here.prof, "record", "-o", "out.pb.gz", "--"]))
    (first, end), (least, _) = ([min(column) for column in zip(*runs)] for runs in (ours, alone))
    say("prof record of a program that ends at once: until it starts", "<= 8 ms", f"{first - least:.1f} ms")
    say("… until prof has ended (the least of 21 runs)", "<= 20 ms", f"{end:.1f} ms")


def small(here):
    from figures import perfs
    from recordings import paired, row, wall

    versions, collapse = perfs(here.path), here.tool("inferno-collapse-perf")
    if not versions or not collapse:
        return
    (here.folder / "small.c").write_text(SMALL, encoding="ascii")
    subprocess.run(["gcc", "-O1", "-g", "-o", "small", "small.c"], cwd=here.folder, check=True)
    subprocess.run([*versions.values()][:1] + ["record", "-q", "-F", "99", "--call-graph", "dwarf", "-o", "small.data", "./small"], cwd=here.folder, check=True)
    ours = [[here.prof, "convert", "-q", "small.data", "-o", "out.folded"]]

    caches = here.folder / "caches"
    caches.mkdir(mode=0o700)

    def converts(*pipeline, cache=os.devnull):
        def measure():
            os.environ["XDG_CACHE_HOME"] = str(cache)
            return wall(pipeline, here.folder / "folded", here.folder)[0]
        return measure

    theirs = [converts([perf, "script", "-i", "small.data"], [collapse]) for perf in versions.values()]
    converts(*ours, cache=caches)()
    known, first, *others = paired(2 * RUNS + 1, converts(*ours, cache=caches), converts(*ours), *theirs)
    row("a small recording -> folded, with inlined frames", "<= 1/25", known, dict(zip(versions, others)))
    row("… without symbols of earlier runs", "", first, dict(zip(versions, others)))
    peak = wall([[here.prof, "record", "-q", "-o", "out.pb.gz", "--", "./small"]], os.devnull, here.folder)[2]
    say("recording it: peak memory", "<= 20 MB", f"{peak * 1.048576:.0f} MB")


def firefox(here):
    text = subprocess.run([here.bench, here.folder, "10000000", "1000000", "firefox"], check=True, stdout=subprocess.PIPE, text=True).stdout
    say("10 million samples -> Firefox Profiler", "<= 1 s", " ".join(re.search(r"^firefox (.*CPU)", text, re.M)[1].split()))


def report(here):
    import reports as bench

    # In a process of its own, because children of a large process count as large, too.
    maker = multiprocessing.Process(target=bench.make_files, args=(here.bench, here.folder))
    maker.start()
    maker.join()
    runs = [bench.run([here.prof, "report", str(here.folder / "random.pb.gz")]) for _ in range(RUNS)]
    seconds, cpu_s, peak = map(statistics.median, zip(*runs))
    say("prof report of a million stacks in random order", "<= 1 s", f"{seconds:.2f} s {cpu_s:.2f} s CPU, {peak:.0f} MiB")


def top(here):
    import live as bench

    tools = {name: here.tool(name) for name in ("rg", "rustpython")}
    if not tools["rg"]:
        return
    _, then, mib = bench.measure([here.prof, "top"], tools, 60, here.folder)
    say("prof top, in its second minute", "<= 0.7 %", f"{then:.2%} of a CPU")
    say("… peak of memory", "<= 150 MB", f"{mib * 1.048576:.0f} MB")


def page(here):
    import page as bench

    if not here.tool("chromium"):
        return
    subprocess.run([here.bench, here.folder, "10000000", "1000000", "html"], check=True, stdout=subprocess.DEVNULL)
    browser = bench.Browser(here.tool("chromium"), here.folder / "chromium")
    try:
        shown = bench.watched(browser)
        shown.go(f"file://{here.folder}/bench.html")
        shown.until("window.pictureMs")
        bench.prepare(shown)
        for name in ("taking a range, everything anew", "taking 1 % in the heat map"):
            say(f"page, 2.2 million nodes: {name}", "<= 50 ms", f"{bench.frame_costs(shown, bench.MOVEMENTS[name])[2]:.1f} ms of CPU time")
    finally:
        browser.close()


ROWS = (size, deep, builds, start, small, firefox, report, top, page)


def measure(arguments, row):
    """Runs in a process that leads a group, which is killed at the end."""
    with tempfile.TemporaryDirectory(dir=arguments[1], ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen([sys.executable, __file__, "--row", *arguments, folder, row.__name__], start_new_session=True)
        try:
            process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            say(row.__name__, "", f"took longer than {LIMIT_S} s")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that remaining processes are killed
    if sys.argv[1] == "--row":
        *arguments, folder, name = sys.argv[2:]
        next(row for row in ROWS if row.__name__ == name)(Here(*arguments, Path(folder).resolve()))
        return
    if os.geteuid() != 0:
        print("limits: needs root")
        return
    print(f"{os.uname().release}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.0f}")
    say("", "must reach", "")
    for row in ROWS:
        if not sys.argv[4:] or row.__name__ in sys.argv[4:]:
            measure(sys.argv[1:4], row)


if __name__ == "__main__":
    main()
