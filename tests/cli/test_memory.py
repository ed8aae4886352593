"""Memory follows the number of different stacks, not the length of the recording."""

import re


def peak(prof, target, seconds):
    """In MB, as prof tells it: what wait4(2) says has that of the process which has started prof in it."""
    told = prof("record", "-F", "1999", "-o", f"{seconds}.folded", "--", target("interpreter"), seconds).stderr
    return int(re.search(r"and ([0-9]+) MB of memory", told)[1])


def test_a_long_recording_takes_no_more_than_a_short_one(prof, target):
    brief, long = (peak(prof, target, seconds) for seconds in (1, 5))
    assert long <= brief + 8, f"{brief} MB grew to {long} MB"  # of stacks, it has copied hundreds
    assert brief < 100
