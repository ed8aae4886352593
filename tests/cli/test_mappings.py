"""Code that is mapped in unusual ways: text that was moved to memory, mappings without a record, the vdso of 32-bit
processes."""

import subprocess
from pathlib import Path

import pytest

from profiles import assert_rooted

FAST = ["-F", "1999"]


def assert_whole(stacks, *names):
    assert stacks.total > 300, stacks.hottest()
    assert_rooted(stacks)
    assert stacks.holding(*names) >= 0.95 * stacks.total, stacks.hottest()


@pytest.mark.parametrize("how", ["kept", "copied", "moved", "rwx"])
@pytest.mark.parametrize("stacks", ["dwarf", "fp"])
def test_text_that_was_moved_to_memory_keeps_its_file(prof, target, how, stacks):
    recorded = prof.record(*FAST, "--call-graph", stacks, "--", target("moved_text"), how, "0.5").stacks
    if stacks == "dwarf":
        assert_whole(recorded, "main", "outer", "inner")
    else:  # the program has no frame pointers
        assert recorded.holding("inner") >= 0.95 * recorded.total, recorded.hottest()


@pytest.mark.parametrize("how", ["kept", "copied", "moved", "rwx"])
def test_text_that_was_moved_before_the_recording_keeps_its_file(prof, target, started, until_busy, how):
    process = started(subprocess.Popen([target("moved_text"), how], text=True, stdout=subprocess.PIPE))
    assert process.stdout.readline() == "ready\n"
    assert_whole(prof.record(*FAST, "-p", process.pid, "--", *until_busy(process.pid, 0.5)).stacks, "main", "outer", "inner")


def test_stacks_of_node_in_large_pages_are_whole(prof, client):
    work = "for (let i = 0, end = process.cpuUsage().user + 6e5; process.cpuUsage().user < end; i++) JSON.stringify([i, {a: [i]}])"
    stacks = prof.record(*FAST, "--", client("node"), "--use-largepages=on", "-e", work).stacks
    assert stacks.total > 300, stacks.hottest()
    assert_rooted(stacks, least=0.95)


@pytest.mark.parametrize("how, root", [("parent", "main"), ("child", "child"), ("moved", "main")])
def test_code_of_a_mapping_that_no_record_tells_of_is_known(prof, target, how, root):
    recording = prof.record(*FAST, "--", target("shared_memory"), how, "0.5")
    for pid in recording.pprof.by_label("pid"):
        Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)
    assert_whole(recording.stacks, root, "run", "compiled_loop")


def test_a_32_bit_process_has_a_vdso_of_its_own(prof, target):
    stacks = prof.record(*FAST, "--", target("clock_32"), "0.5").stacks
    in_vdso = stacks.count(lambda frames: any(frame.startswith("__vdso_clock_gettime") for frame in frames))
    assert in_vdso > 0.3 * stacks.total, stacks.hottest()
    assert_rooted(stacks)
