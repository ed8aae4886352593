"""perf.data of Linux 6.19 and later: the user half of a call chain is in a record of its own, which is written when the
thread returns to user space (perf record --call-graph fp,defer)."""

import re

import pytest

import perf_data
from perf_data import CONTEXT_USER, MISC_USER, comm, exited, finished_round, kernel_half, mmap, sample, user_half
from profiles import Stacks

START = [comm(100, 1, "app"), mmap(2, 0x1000, 0x1000, "/app")]
USER = [0x1010, 0x1120, 0x1230]
KERNEL_FRAME = "[kernel.kallsyms+0xffffffff81000010]"
WHOLE = ("app", "[app+0x22f]", "[app+0x11f]", "[app+0x10]", KERNEL_FRAME)
TRUNCATED = ("app", "[truncated]", KERNEL_FRAME)
HALVES_MISSING = re.compile(r"(\d+) stacks have no user frames")
STRAYS = re.compile(r"ignored (\d+) user call chains that belong to no sample")


@pytest.fixture(params=["file", "pipe"])
def convert(prof, tmp_path, request):
    """Returns the stacks of records that follow START, and prof's messages."""

    def run(records, **options):
        data, folded = tmp_path / "perf.data", tmp_path / "out.folded"
        data.write_bytes(getattr(perf_data, request.param)(START + list(records), **options))
        result = prof.run("convert", data, "-o", folded)
        return Stacks.read(folded), result.stderr

    return run


def number(pattern, messages):
    found = pattern.search(messages)
    return int(found[1]) if found else 0


def test_the_two_halves_of_a_stack_are_joined(convert):
    """With and without a context marker."""
    stacks, messages = convert([sample(100, 10, kernel_half(7)), user_half(100, 20, 7, USER),
                                sample(100, 30, kernel_half(8)), user_half(100, 40, 8, [CONTEXT_USER, *USER])])
    assert stacks.counts == {WHOLE: 2}
    assert "lack" not in messages and "ignored" not in messages


def test_the_halves_may_be_rounds_apart(convert):
    rounds = [[sample(100, 10, kernel_half(7))], [comm(101, 500, "other", pid=101)],
              [user_half(100, 1000, 7, USER)]]
    stacks, _ = convert(part for records in rounds for part in (*records, finished_round()))
    assert stacks.counts == {WHOLE: 1}


def test_halves_that_are_missing_or_belong_to_nothing_cost_only_themselves(convert):
    """One half that never comes, also at the end of its thread; two without a sample; one with a length beyond its
    record; and one whose cookie is truncated."""
    stacks, messages = convert([user_half(100, 5, 1, USER), user_half(100, 6, 2, USER),
                                sample(100, 10, kernel_half(7)), sample(100, 30, kernel_half(8)), user_half(100, 40, 8, USER),
                                sample(101, 50, kernel_half(9)), exited(101, 60),
                                sample(100, 70, kernel_half(10)), user_half(100, 80, 10, USER, claimed=2**60),
                                sample(100, 90, kernel_half(11)[:-1]), sample(100, 100, kernel_half(12)), user_half(100, 110, 12, USER)])
    assert stacks.counts == {WHOLE: 2, TRUNCATED: 4}
    assert number(HALVES_MISSING, messages) == 4
    assert number(STRAYS, messages) == 2
    assert "1 malformed records" in messages


def test_a_sample_in_user_space_keeps_its_instruction_without_the_user_half(convert):
    in_user = kernel_half(7)[2:]
    stacks, _ = convert([sample(100, 10, in_user, misc=MISC_USER, ip=0x1010), user_half(100, 20, 7, USER),
                         sample(100, 30, kernel_half(8)[2:], misc=MISC_USER, ip=0x1040)])
    assert stacks.counts == {WHOLE[:-1]: 1, ("app", "[truncated]", "[app+0x40]"): 1}
