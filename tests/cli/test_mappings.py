"""Code that is mapped in unusual ways: mappings that no record tells of."""

from pathlib import Path

import pytest

from profiles import assert_rooted

FAST = ["-F", "1999"]


def assert_whole(stacks, *names):
    assert stacks.total > 300, stacks.hottest()
    assert_rooted(stacks)
    assert stacks.holding(*names) >= 0.95 * stacks.total, stacks.hottest()


@pytest.mark.parametrize("how, root", [("parent", "main"), ("child", "child"), ("moved", "main")])
def test_code_of_a_mapping_that_no_record_tells_of_is_known(prof, target, how, root):
    recording = prof.record(*FAST, "--", target("shared_memory"), how, "0.5")
    for pid in recording.pprof.by_label("pid"):
        Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)
    assert_whole(recording.stacks, root, "run", "compiled_loop")
