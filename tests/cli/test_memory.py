"""Memory follows the number of different stacks, not the length of the recording."""

from conftest import peak_memory_bytes


def peak(prof, started, target, seconds):
    command = ["record", "-F", "1999", "-o", f"{seconds}.folded", "--", target("interpreter"), seconds]
    process = started(prof.start(*command, stdout=None, stderr=None))
    return peak_memory_bytes(process)


def test_a_long_recording_takes_no_more_than_a_short_one(prof, started, target):
    brief, long = (peak(prof, started, target, seconds) for seconds in (2, 10))
    assert long <= 1.1 * brief, f"{brief / 2**20:.1f} MiB grew to {long / 2**20:.1f} MiB"


def test_a_recording_stays_small(prof, started, target):
    assert peak(prof, started, target, 2) < 100 * 2**20
