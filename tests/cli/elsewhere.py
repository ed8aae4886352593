"""Time in which the clocks of perf events run without samples, and those of processes stand still."""

import os
from pathlib import Path


def elsewhere_ns():
    """Returns how long the CPUs were in interrupts, or ran another guest of their hypervisor."""
    all_cpus = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()
    return sum(map(int, all_cpus[6:9])) * 10**9 // os.sysconf("SC_CLK_TCK")
