"""Waiting for processes that sleep."""

import time
from pathlib import Path

from time_limit import TIME_LIMIT_S


def is_asleep(pid):
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0] == "S"


def wait_until_asleep(*pids):
    """Waits until the first thread of each process sleeps."""
    deadline = time.monotonic() + TIME_LIMIT_S
    while not all(is_asleep(pid) for pid in pids):
        assert time.monotonic() < deadline, pids
        time.sleep(0.001)
