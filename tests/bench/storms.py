#!/usr/bin/env python3
"""Measures what programs of another user cost `prof record -a` as root, at 499 Hz.

storms.py PROF BUILD [SECONDS [KIND …]]

Two storms of one kind (tests/targets/storms) run as nobody while prof records everything. A row has the lost samples
of the whole machine, the memory in excess of a recording without a storm, and how long the recording took to end
after its time, and after a SIGINT. Needs root. Prints results without judging them.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KINDS = ("mappings descending split memfd huge anonymous inherited guards libraries threads forks execs names switches overlaps moves "
         "sharers").split()
NOBODY = 65534


def record(prof, folder, seconds, is_interrupted):
    """Returns the share of lost samples, the peak memory in MB, and the seconds after the requested end."""
    began = time.monotonic()
    timed = [] if is_interrupted else ["--duration", str(seconds)]
    process = subprocess.Popen([prof, "record", "-a", "-F", "499", *timed, "-o", "storm.folded"], cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=(folder / "log").open("wb"))
    if is_interrupted:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
    _, _, usage = os.wait4(process.pid, 0)
    after = time.monotonic() - began - seconds
    text = (folder / "log").read_text(errors="replace")
    samples, lost = (int((re.search(rf"([\d,]+) {what}", text) or ["", "0"])[1].replace(",", "")) for what in ("samples,", "lost"))
    return lost / max(1, samples + lost), usage.ru_maxrss * 1024 / 1e6, after


def row(prof, folder, seconds, command):
    storms = [subprocess.Popen(command, user=NOBODY, stderr=subprocess.DEVNULL) for _ in range(2)] if command else []
    time.sleep(2 if command else 0)  # until their files are written
    try:
        return [record(prof, folder, seconds, is_interrupted) for is_interrupted in (False, True)]
    finally:
        for storm in storms:
            storm.kill()
            storm.wait()
            for left in (f"/tmp/perf-{storm.pid}.map", f"/tmp/jit-{storm.pid}.dump"):
                Path(left).unlink(missing_ok=True)


def main():
    prof, targets = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve() / "tests" / "targets"
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 6
    if os.geteuid() != 0:
        print("storms: needs root")
        return
    print(f"{'must reach':14}{'<= 2 %':>10}{'<= 300 MB':>12}{'<= 2 s':>10}{'<= 2 s':>10}\n"
          f"{'':14}{'lost':>10}{'memory':>12}{'end':>10}{'SIGINT':>10}")
    with tempfile.TemporaryDirectory(prefix="storms.") as name:
        folder = Path(name)
        folder.chmod(0o755)
        storms, library = (shutil.copy(targets / file, folder) for file in ("storms", "plugin_one.so"))
        usual = None
        for kind in dict.fromkeys(["none", *(sys.argv[4:] or KINDS)]):
            command = [] if kind == "none" else [storms, kind, library if kind == "libraries" else storms]
            lost, peaks, (end, after) = zip(*row(prof, folder, seconds, command))
            usual = usual or max(peaks)
            print(f"{kind:14}{max(lost):10.2%}{max(peaks) - usual:9.0f} MB{end:8.2f} s{after:8.2f} s", flush=True)


if __name__ == "__main__":
    main()
