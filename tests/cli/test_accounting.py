"""Lost samples are counted: recorded and lost samples add up to all events."""

import re
import resource
import signal
import subprocess
import time
from pathlib import Path

from time_limit import TIME_LIMIT_S

FAULTS = 20_000  # in the first part of tests/targets/faults.c


def wait_until_stopped(pid):
    while Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "T":
        time.sleep(0.01)


def number(text):
    return int(text.replace(",", ""))


def test_samples_lost_while_prof_is_stopped_are_counted(prof, target, started, tmp_path):
    """Every page fault is a sample. The target counts its page faults, except those of its start and exit."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    recorder = started(prof.start("record", "-e", "page-faults", "-c", "1", "--call-graph", "no", "-m", "128K", "-o",
                                  tmp_path / "faults.folded", "--", target("faults"), stdin=subprocess.PIPE))
    assert recorder.stdout.readline() == "first\n"
    recorder.send_signal(signal.SIGSTOP)
    wait_until_stopped(recorder.pid)
    recorder.stdin.write("go on\n")
    recorder.stdin.flush()
    assert recorder.stdout.readline() == "second\n"
    recorder.send_signal(signal.SIGCONT)
    faults, stderr = recorder.communicate("go on\n", timeout=TIME_LIMIT_S)
    assert recorder.returncode == 0, stderr
    samples, lost = map(number, re.search(r"prof: ([\d,]+) samples, ([\d,]+) lost", stderr).groups())
    assert lost > 2 * FAULTS, stderr  # more than a ring of 128 KiB can hold
    # Until its exec, the page faults of a command are prof's; after it has counted them, it has few. The kernel's
    # count of losses includes the two records per context switch that the ring could not hold.
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    switches = after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw
    assert -500 < samples + lost - int(faults) < 500 + 2 * switches, f"{samples} + {lost} are not {faults}, {switches} switches"
    assert samples + lost > 6 * FAULTS
