"""Memory grows with the number of distinct stacks, not with the length of the recording."""

import re


def peak(prof, target, seconds):
    """In MB, as printed by prof. wait4(2) would include the memory of the process that has started prof."""
    told = prof("record", "-F", "1999", "-o", f"{seconds}.folded", "--", target("interpreter"), seconds).stderr
    return float(re.search(r"and ([0-9.]+) MB of memory", told)[1])


def test_a_long_recording_needs_no_more_memory_than_a_short_one(prof, target):
    # The lower of two values, because the number of stacks and tables in memory at a time varies.
    brief, long = (min(peak(prof, target, seconds) for _ in range(2)) for seconds in (0.3, 2))
    assert long <= brief + 8, f"{brief} MB grew to {long} MB"  # the recording has copied hundreds of MB of stacks
    assert brief < 100
