"""If the kernel does not let prof read waiting threads, prof samples their context switches."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from conftest import NOBODY
from profiles import Stacks
from time_limit import TIME_LIMIT_S


@pytest.fixture
def refused(prof, paranoid, client, target, started, channel):
    """refused(options, *arguments) records the target `waits` of another user from its exec on, as root without the
    capability that snapshots need. until=TEXT ends it after prof has printed that. Returns its stacks, its own
    clock, and prof's messages."""
    paranoid(2)
    program = prof.folder / "waits"
    program.write_bytes(Path(target("waits")).read_bytes())
    for path in (program, *prof.folder.parents, prof.folder):
        if path.stat().st_uid == os.getuid() and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o555)

    def run(options, *arguments, until=None):
        shell = started(subprocess.Popen(["sh", "-c", 'read go; exec "$0" "$@"', program, *arguments], text=True, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, user=NOBODY, group=NOBODY, extra_groups=[]))
        said = prof.folder / "said"
        with said.open("w") as stderr:
            recorder = subprocess.Popen([client("setpriv"), "--bounding-set=-sys_ptrace", prof.binary, "record", *options, "--weight", "ns",
                                         "--show-event", "off-cpu", "-o", "out.folded", "--control", channel.how, "-p", str(shell.pid)],
                                        stderr=stderr, cwd=prof.folder)
        started(recorder)
        channel("ping")
        if until:
            shell.stdin.write("\n")
            shell.stdin.flush()
            while until not in said.read_text():
                assert shell.poll() is None, said.read_text()
                time.sleep(0.05)
            shell.terminate()
        output = shell.communicate(None if until else "\n", timeout=TIME_LIMIT_S)[0]
        recorder.wait(timeout=TIME_LIMIT_S)
        errors = said.read_text()
        assert recorder.returncode == 0, errors
        clock = {name: int(ns) for name, ns, _ in (line.split() for line in output.splitlines())}
        return Stacks.read(prof.folder / "out.folded"), clock, errors

    return run


def test_a_process_that_may_not_be_looked_at_is_sampled_at_its_switches(refused):
    stacks, clock, errors = refused(["--off-cpu"], "1.5", "3000", "20000", "pipe", "mutex", "sleep")
    assert "SYS_PTRACE" in errors and "at each context switch" in errors
    for function in ("naps", "reads_pipe", "wants_lock", "holds_lock"):
        assert stacks.holding("start_thread", function) == pytest.approx(clock[function], rel=0.03), stacks.hottest()
    assert stacks.holding("naps", "do_syscall_64", "[waiting]") > 0.9 * clock["naps"]


def test_a_storm_of_switches_is_not_sampled_but_its_times_are_whole(refused):
    stacks, clock, errors = refused(["--off-cpu"], "120", "1", "20", "storm", "sleep", until="stacks are off from here on")
    assert "2000 context switches" in errors
    assert stacks.total > 0.8 * (clock["asks"] + clock["answers"] + clock["naps"]), "the thread main waits, too"
    assert "has no stack" in errors and "raise -F" not in errors
