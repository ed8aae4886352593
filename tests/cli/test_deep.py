"""Stacks larger than their copy reach their root or are marked as truncated."""

import os
import re

import pytest

FAST = ["-F", "1999"]
SECONDS = "0.5"  # CPU time; about 1,000 samples


def may_poll_fast():
    """Returns True if real-time threads are allowed. Without them, most deep stacks stay incomplete on a busy machine."""
    policy, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        return False
    os.sched_setscheduler(0, policy, parameter)
    return True


NEARLY_ALL = 0.9 if may_poll_fast() else 0
# The share of complete stacks of a megabyte, whose copier is throttled for as long as it has copied.
MOST = 0.5 if may_poll_fast() else 0


def test_a_stack_of_a_hundred_kilobytes_is_unwound(prof, target):
    recording = prof.record(*FAST, "--", target("deep_stack"), SECONDS)
    stacks = recording.stacks
    assert stacks.total > 100
    complete = stacks.holding("main", "spend", "outer", "middle", "room", "hot")
    hot = stacks.holding("hot")
    assert complete >= NEARLY_ALL * hot, stacks.hottest(30)
    assert complete + stacks.holding("[truncated]", "hot") == hot
    said = re.search(r"([\d,]+) completed from the live stack", recording.result.stderr)
    completed = int(said.group(1).replace(",", ""))
    assert completed >= complete
    assert any(f" completed={completed} " in comment for comment in recording.pprof.comments())


def test_a_copy_of_one_kilobyte_is_enough(prof, target):
    stacks = prof.record(*FAST, "--call-graph", "dwarf,1024", "--", target("recursion"), SECONDS).stacks
    deep = stacks.count(lambda frames: frames.count("down") == 1000 and "main" in frames and "bottom" in frames)
    assert deep >= NEARLY_ALL * stacks.total, stacks.hottest(1)[:2000]


def test_a_handler_on_its_own_stack_leads_through_the_interrupted_function_to_the_root(prof, target):
    """The sample copies the handler's stack (sigaltstack). Copiers read the interrupted one."""
    # A host may take the copiers' CPU for 100 ms. The stacks of 200 samples change before they are read then.
    stacks = prof.record(*FAST, "--", target("signals_own_stack"), "2").stacks
    chain = ("interrupted", "__restore_rt", "on_trap", "__restore_rt", "on_illegal", "work", "spin")
    whole = stacks.count(lambda frames: "_start" in frames and frames[-9:] == ("main", "spend", *chain))
    cut = stacks.count(lambda frames: frames[1:] == ("[truncated]", *chain))
    hot = stacks.count(lambda frames: frames[-1] == "spin")
    assert hot > 100
    assert whole >= NEARLY_ALL * hot, stacks.hottest()
    assert whole + cut >= 0.97 * hot, stacks.hottest()


def test_a_stack_of_twenty_thousand_frames_loses_its_middle(prof, target):
    stacks = prof.record("-F", "199", "--", target("abyss"), SECONDS).stacks

    def whole(frames):
        left_out = [int(frame[1:-8]) for frame in frames if re.fullmatch(r"\[\d+ frames\]", frame)]
        return (len(left_out) == 1 and left_out[0] + frames.count("down") == 20000
                and "main" in frames and "bottom" in frames)

    assert stacks.total > 20
    assert stacks.count(whole) >= MOST * stacks.total, stacks.hottest(1)[:2000]


def test_all_frames_are_kept_when_asked_for(prof, target):
    stacks = prof.record("-F", "199", "--max-stack", "25000", "--", target("abyss"), SECONDS).stacks
    deep = stacks.count(lambda frames: frames.count("down") == 20000 and frames[1:].index("main") < frames.index("down"))
    assert deep >= MOST * stacks.total, stacks.hottest(1)[:2000]


@pytest.mark.parametrize("rate", ["199", "4999"])
def test_alternating_callers_of_a_deep_stack_are_distinguished(prof, target, rate):
    stacks = prof.record("-F", rate, "--", target("turns"), SECONDS).stacks
    working = stacks.holding("spin")
    true = stacks.holding("main", "left", "room", "odd", "spin") + stacks.holding("main", "right", "room", "even", "spin")
    assert true + stacks.holding("[truncated]", "spin") == working, stacks.hottest(30)
    if rate != "4999":
        assert true >= NEARLY_ALL * working, stacks.hottest(30)
