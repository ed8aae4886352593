"""Where the kernel does not let prof look at waiting threads, it samples their context switches."""

import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from conftest import NOBODY
from profiles import Stacks


@pytest.fixture
def refused(prof, paranoid, client, target, started):
    """refused(options, *arguments): records the target `waits` of another user from its exec on, as root without the
    capability that looks need; until=TEXT ends it after prof has said that. Returns its stacks, its own clock, and what
    prof said."""
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
                                         "--show-event", "off-cpu", "-o", "out.folded", "-p", str(shell.pid)],
                                        stderr=stderr, cwd=prof.folder)
        started(recorder)
        await_fact(lambda: "perf_event" in descriptors(recorder.pid), "prof opens no events")
        time.sleep(0.3)
        if until:
            shell.stdin.write("\n")
            shell.stdin.flush()
            await_fact(lambda: until in said.read_text(), until)
            shell.terminate()
        output = shell.communicate(None if until else "\n", timeout=60)[0]
        recorder.wait(timeout=60)
        errors = said.read_text()
        assert recorder.returncode == 0, errors
        clock = {name: int(ns) for name, ns, _ in (line.split() for line in output.splitlines())}
        return Stacks.read(prof.folder / "out.folded"), clock, errors

    return run


def await_fact(fact, lacking, seconds=60):
    end = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < end, lacking
        time.sleep(0.05)


def descriptors(pid):
    """What the descriptors of a process are, as one text. Some are closed while they are listed."""
    found = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.append(os.readlink(link))
    return "".join(found)


def test_a_process_that_may_not_be_looked_at_is_sampled_at_its_switches(refused):
    stacks, clock, errors = refused(["--off-cpu"], "1.5", "3000", "20000", "pipe", "mutex", "sleep")
    assert "SYS_PTRACE" in errors and "at each context switch" in errors
    for function in ("naps", "reads_pipe", "wants_lock", "holds_lock"):
        assert stacks.holding("start_thread", function) == pytest.approx(clock[function], rel=0.03), stacks.hottest()
    assert stacks.holding("naps", "do_syscall_64", "[waiting]") > 0.9 * clock["naps"]


def test_a_storm_of_switches_is_not_sampled_but_its_times_are_whole(refused):
    stacks, clock, errors = refused(["--off-cpu"], "120", "1", "20", "storm", "sleep", until="no stacks from now on")
    assert "2000 context switches" in errors
    assert stacks.total > 0.8 * (clock["asks"] + clock["answers"] + clock["naps"]), "the thread main waits, too"
    assert "has no stack" in errors and "raise -F" not in errors
