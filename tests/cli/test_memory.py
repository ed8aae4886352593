"""Memory follows the number of different stacks, not the length of the recording."""

import re


def peak(prof, target, seconds):
    """In MB, as prof tells it: what wait4(2) says has that of the process which has started prof in it."""
    told = prof("record", "-F", "1999", "-o", f"{seconds}.folded", "--", target("interpreter"), seconds).stderr
    return int(re.search(r"and ([0-9]+) MB of memory", told)[1])


def test_a_long_recording_takes_no_more_than_a_short_one(prof, target):
    brief, long = (peak(prof, target, seconds) for seconds in (2, 10))
    assert long <= 1.1 * brief, f"{brief} MB grew to {long} MB"


def test_a_recording_stays_small(prof, target):
    assert peak(prof, target, 2) < 100
