"""Ctrl-C and SIGTERM end a recording with its profile."""

import os
import signal
import subprocess

import pytest

from time_limit import TIME_LIMIT_S
from profiles import Pprof, Stacks
from until_busy import wait


@pytest.fixture
def recording(prof, started, target):
    """A prof that records a long-running program, in one process group as in a shell."""
    script = f"echo running; exec {target('shares')} 50"
    process = started(prof.start("record", "-o", "out.folded", "-o", "out.pb.gz", "--", "sh", "-c", script))
    assert process.stdout.readline() == "running\n"
    wait(child_of(process.pid), 0.3)
    return process


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return int(file.read().split()[0])


def assert_written(prof):
    assert Stacks.read(prof.folder / "out.folded").total > 100
    Pprof.read(prof.folder / "out.pb.gz").check()


def test_interrupt_from_the_terminal_writes_the_profile(prof, recording):
    os.killpg(recording.pid, signal.SIGINT)
    _, errors = recording.communicate(timeout=TIME_LIMIT_S)
    assert recording.returncode == -signal.SIGINT, errors  # with the status of the command
    assert_written(prof)


def test_a_second_interrupt_still_gives_a_profile(prof, recording):
    os.killpg(recording.pid, signal.SIGINT)
    os.killpg(recording.pid, signal.SIGINT)
    _, errors = recording.communicate(timeout=TIME_LIMIT_S)
    assert Stacks.read(prof.folder / "out.folded").total > 100, errors
    Pprof.read(prof.folder / "out.pb.gz").check()


def test_terminate_writes_the_profile_and_ends_the_command(prof, recording):
    child = child_of(recording.pid)
    recording.send_signal(signal.SIGTERM)
    _, errors = recording.communicate(timeout=TIME_LIMIT_S)
    assert_written(prof)
    assert not os.path.exists(f"/proc/{child}"), errors


def test_interrupting_an_attached_recording_leaves_the_target_alone(prof, service, controlled):
    process = controlled(service.pid, "-o", "out.folded", "-o", "out.pb.gz", delay=())
    wait(service.pid, 0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=TIME_LIMIT_S)
    assert process.returncode == 0, errors
    assert_written(prof)
    assert service.poll() is None


def test_a_command_that_survives_the_interrupt_is_waited_for(prof, started, target):
    """A command may handle Ctrl-C and continue."""
    script = f"trap 'echo caught' INT; echo running; {target('shares')} 0.6; exit 5"
    process = started(prof.start("record", "-o", "out.folded", "--", "bash", "-c", script, stderr=subprocess.DEVNULL))
    assert process.stdout.readline() == "running\n"
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=TIME_LIMIT_S)
    assert "caught" in output
    assert process.returncode == 5
    assert (prof.folder / "out.folded").exists()


def test_a_snapshot_does_not_end_the_recording(prof, recording):
    child = child_of(recording.pid)
    recording.send_signal(signal.SIGUSR2)
    while not (prof.folder / "out.folded").exists():
        assert recording.poll() is None
        wait(child, 0.05)
    so_far = Stacks.read(prof.folder / "out.folded").total
    assert so_far > 100
    wait(child, 0.3)
    os.killpg(recording.pid, signal.SIGINT)
    _, errors = recording.communicate(timeout=TIME_LIMIT_S)
    assert recording.returncode == -signal.SIGINT, errors
    assert Stacks.read(prof.folder / "out.folded.old").total == so_far
    assert Stacks.read(prof.folder / "out.folded").total > so_far + 100
    Pprof.read(prof.folder / "out.pb.gz").check()


def test_a_snapshot_does_not_check_fail_if(prof, started, target):
    """--fail-if is about the whole recording."""
    script = f"echo running; exec {target('shares_stripped')} 50"
    recording = started(prof.start("record", "-o", "out.folded", "--fail-if", "unknown>1%", "--", "sh", "-c", script))
    assert recording.stdout.readline() == "running\n"
    child = child_of(recording.pid)
    wait(child, 0.3)
    recording.send_signal(signal.SIGUSR2)
    while not (prof.folder / "out.folded").exists():
        assert recording.poll() is None
        wait(child, 0.05)
    os.killpg(recording.pid, signal.SIGINT)
    _, errors = recording.communicate(timeout=TIME_LIMIT_S)
    assert errors.count("which is more than 1 %") == 1, errors


def test_killing_prof_leaves_no_files_behind(prof, recording):
    child = child_of(recording.pid)
    recording.kill()
    recording.wait()
    os.kill(child, signal.SIGKILL)
    assert os.listdir(prof.folder) == []
