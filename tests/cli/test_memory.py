"""Memory grows with the number of distinct stacks, not with the length of the recording."""

import os
import re
from pathlib import Path

import pytest

from profiles import Stacks


def peak(prof, target, seconds):
    """In MB, as prof tells it: what wait4(2) says has that of the process which has started prof in it."""
    told = prof("record", "-F", "1999", "-o", f"{seconds}.folded", "--", target("interpreter"), seconds).stderr
    return float(re.search(r"and ([0-9.]+) MB of memory", told)[1])


def test_a_long_recording_needs_no_more_memory_than_a_short_one(prof, target):
    # The lesser of two: how many stacks and tables are held at once is chance.
    brief, long = (min(peak(prof, target, seconds) for _ in range(2)) for seconds in (0.5, 3))
    assert long <= brief + 8, f"{brief} MB grew to {long} MB"  # of stacks, it has copied hundreds
    assert brief < 100


@pytest.fixture
def of_64_megabytes(root):
    """What a process calls to enter a memory cgroup with that limit."""
    groups = Path("/sys/fs/cgroup/memory")
    if not os.access(groups / "memory.limit_in_bytes", os.W_OK):
        pytest.skip("no memory cgroups of version 1 that can be made here")
    group = groups / f"prof-test-{os.getpid()}"
    group.mkdir()
    (group / "memory.limit_in_bytes").write_text(str(64 << 20), encoding="ascii")
    yield lambda: (group / "tasks").write_text(str(os.getpid()), encoding="ascii")
    group.rmdir()


def forget_pages(path):
    """Whoever reads the file next has its pages counted as his memory."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def test_a_program_with_much_debug_information_is_recorded_in_64_megabytes(prof, of_64_megabytes, client):
    samply = client("samply")  # 200 MB; without a limit 160 MB of memory are used
    assert prof("record", "-q", "-o", "raw.data", "--", client("rg"), "--no-mmap", "-c", "e.*a.*[0-9]", samply).returncode == 0
    forget_pages(samply)
    result = prof("record", "-o", "out.folded", "--", samply, "import", "raw.data", "--save-only", "-o", "samply.json.gz",
                  preexec_fn=of_64_megabytes)
    assert result.returncode == 0, result.stderr
    stacks = Stacks.read(prof.folder / "out.folded")
    assert any("samply::" in frame for stack in stacks.counts for frame in stack), stacks.hottest()
