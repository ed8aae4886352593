"""The states of processes and threads (proc_pid_stat(5))."""

import time
from pathlib import Path

from time_limit import TIME_LIMIT_S


def state_of(pid, tid=None):
    return Path(f"/proc/{pid}/task/{tid or pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]


def wait_until_asleep(*pids):
    """Waits until the first thread of each process sleeps."""
    deadline = time.monotonic() + TIME_LIMIT_S
    while not all(state_of(pid) == "S" for pid in pids):
        assert time.monotonic() < deadline, pids
        time.sleep(0.001)
