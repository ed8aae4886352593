"""until_busy.py PID SECONDS: exits when the process has used this much more CPU time, or has ended."""

import os
import sys
import time


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait(pid, seconds):
    try:
        end = cpu_seconds(pid) + seconds
        while cpu_seconds(pid) < end:
            time.sleep(0.01)
    except (FileNotFoundError, ProcessLookupError):
        pass


if __name__ == "__main__":
    wait(sys.argv[1], float(sys.argv[2]))
