"""perf.data of Linux 6.19 and later: the user half of a call chain comes in a record of its own, when the thread
returns to user space (perf record --call-graph fp,defer)."""

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
HALVES_MISSING = re.compile(r"(\d+) stacks lack their user part")
STRAYS = re.compile(r"ignored (\d+) user parts of stacks that belong to no sample")


@pytest.fixture(params=["file", "pipe"])
def convert(prof, tmp_path, request):
    """The stacks of records that follow START, and prof's messages."""

    def run(records, **options):
        data, folded = tmp_path / "perf.data", tmp_path / "out.folded"
        data.write_bytes(getattr(perf_data, request.param)(START + list(records), **options))
        result = prof("convert", data, "-o", folded)
        assert result.returncode == 0, result.stderr
        return Stacks.read(folded), result.stderr

    return run


def number(pattern, messages):
    found = pattern.search(messages)
    return int(found[1]) if found else 0


def test_the_two_halves_of_a_stack_are_joined(convert):
    stacks, messages = convert([sample(100, 10, kernel_half(7)), user_half(100, 20, 7, USER)])
    assert stacks.counts == {WHOLE: 1}
    assert "lack" not in messages and "ignored" not in messages


def test_a_user_half_with_a_context_marker_is_the_same(convert):
    stacks, _ = convert([sample(100, 10, kernel_half(7)), user_half(100, 20, 7, [CONTEXT_USER, *USER])])
    assert stacks.counts == {WHOLE: 1}


def test_the_halves_may_be_rounds_apart(convert):
    rounds = [[sample(100, 10, kernel_half(7))], [comm(101, 500, "other", pid=101)],
              [user_half(100, 1000, 7, USER)]]
    stacks, _ = convert(part for records in rounds for part in (*records, finished_round()))
    assert stacks.counts == {WHOLE: 1}


def test_samples_of_several_events_share_a_user_half(convert):
    records = [sample(100, 10, kernel_half(7)), sample(100, 11, kernel_half(7), event=2),
               user_half(100, 20, 7, USER), sample(100, 21, kernel_half(7), event=2)]
    # Folded stacks are of the first event.
    stacks, messages = convert(records, attrs=(perf_data.attr(), perf_data.attr(config=2)))
    assert stacks.counts == {WHOLE: 1}
    assert "3 samples, 0 lost, 0 truncated" in messages


def test_threads_are_told_apart_by_their_number(convert):
    stacks, _ = convert([sample(100, 10, kernel_half(7)), sample(101, 11, kernel_half(7)),
                         user_half(101, 20, 7, [0x1500]), user_half(100, 21, 7, USER)])
    assert stacks.counts[WHOLE] == 1 and stacks.total == 2


def test_a_half_that_never_comes_costs_only_itself(convert):
    stacks, messages = convert([sample(100, 10, kernel_half(7)), sample(100, 30, kernel_half(8)),
                                user_half(100, 40, 8, USER), sample(101, 50, kernel_half(9)), exited(101, 60)])
    assert stacks.counts == {WHOLE: 1, TRUNCATED: 2}
    assert number(HALVES_MISSING, messages) == 2


def test_user_halves_without_a_sample_are_ignored_and_counted(convert):
    stacks, messages = convert([user_half(100, 5, 1, USER), user_half(100, 6, 2, USER),
                                sample(100, 10, kernel_half(7)), user_half(100, 20, 7, USER)])
    assert stacks.counts == {WHOLE: 1}
    assert number(STRAYS, messages) == 2


def test_a_user_half_that_comes_twice_or_first_joins(convert):
    stacks, messages = convert([user_half(100, 5, 7, USER), user_half(100, 6, 7, USER),
                                sample(100, 10, kernel_half(7))])
    assert stacks.counts == {WHOLE: 1}
    assert number(HALVES_MISSING, messages) == 0


@pytest.mark.parametrize("claimed", [4, 2**60, 2**61 + 3, 2**64 - 1])
def test_a_user_half_that_claims_more_addresses_than_it_has_is_malformed(convert, claimed):
    stacks, messages = convert([sample(100, 10, kernel_half(7)), user_half(100, 20, 7, USER, claimed=claimed),
                                sample(100, 30, kernel_half(8)), user_half(100, 40, 8, USER)])
    assert stacks.total == 2 and stacks.counts[WHOLE] == 1
    assert number(HALVES_MISSING, messages) == 1
    assert "1 malformed records" in messages


def test_a_cookie_that_is_cut_off_loses_no_sample(convert):
    stacks, _ = convert([sample(100, 10, kernel_half(7)[:-1]), sample(100, 20, kernel_half(8)),
                         user_half(100, 30, 8, USER)])
    assert stacks.counts == {WHOLE: 1, TRUNCATED: 1}


def test_any_number_of_samples_may_wait(convert):
    """More than are kept: of 100,000 threads, each blocked in the kernel until the end."""
    count = 100_000
    stacks, messages = convert([*(sample(1000 + i, 10 + i, kernel_half(i)) for i in range(count)),
                                *(user_half(1000 + i, 10 + count + i, i, USER) for i in range(count))])
    assert stacks.total == count
    assert 0 < number(HALVES_MISSING, messages) < count
    assert stacks.counts[WHOLE] == count - number(HALVES_MISSING, messages)


def test_a_user_half_is_of_the_mappings_at_the_time_of_the_sample(convert):
    stacks, _ = convert([sample(100, 10, kernel_half(7)), mmap(15, 0x1000, 0x1000, "/other"),
                         user_half(100, 20, 7, USER)])
    assert stacks.counts == {WHOLE: 1}


def test_a_sample_in_execve_does_not_get_the_stack_of_the_new_program(convert):
    stacks, messages = convert([sample(100, 10, kernel_half(7)), comm(100, 15, "next", exec=True),
                                mmap(16, 0x1000, 0x1000, "/next"), user_half(100, 20, 7, USER)])
    assert stacks.counts == {("app", KERNEL_FRAME): 1}
    assert number(HALVES_MISSING, messages) == 0


def test_a_sample_in_user_space_keeps_its_instruction_without_the_user_half(convert):
    in_user = kernel_half(7)[2:]
    stacks, _ = convert([sample(100, 10, in_user, misc=MISC_USER, ip=0x1010), user_half(100, 20, 7, USER),
                         sample(100, 30, kernel_half(8)[2:], misc=MISC_USER, ip=0x1040)])
    assert stacks.counts == {WHOLE[:-1]: 1, ("app", "[truncated]", "[app+0x40]"): 1}


def test_times_are_in_order_though_the_user_halves_come_later(prof, tmp_path):
    records = [sample(100, 10_000_000, kernel_half(7)), sample(101, 20_000_000, kernel_half(7)),
               sample(102, 30_000_000, kernel_half(7)), user_half(101, 40_000_000, 7, USER),
               user_half(102, 50_000_000, 7, USER), user_half(100, 60_000_000, 7, USER)]
    (tmp_path / "perf.data").write_bytes(perf_data.file(START + records))
    result = prof("convert", tmp_path / "perf.data", "-o", tmp_path / "out.perf.txt")
    assert result.returncode == 0, result.stderr
    times = re.findall(r"^app +100/(\d+) .* (\d+\.\d+):", (tmp_path / "out.perf.txt").read_text(), re.M)
    assert [(thread, float(time)) for thread, time in times] == [("100", 0.01), ("101", 0.02), ("102", 0.03)]
