"""No signal is ignored: prof ends, whatever it waits for, and the command gets the signals that it should get."""

import array
import fcntl
import os
import re
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from time_limit import TIME_LIMIT_S
from profiles import Stacks
from until_busy import wait

PIPE_BYTES = 4096


def held_bytes(pipe):
    """Returns the number of bytes in the pipe."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def pipe_that_nobody_reads():
    pipe, write_end = os.pipe()
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return pipe, write_end


def wait_until_full(process, pipe):
    while held_bytes(pipe) < PIPE_BYTES:
        assert process.poll() is None
        time.sleep(0.01)


def send(pid, number):
    """Returns when another signal is no longer treated as the same one: 100 ms after it was taken."""
    os.kill(pid, number)
    with suppress(FileNotFoundError, ProcessLookupError):
        while int(re.search(r"ShdPnd:\s(\S+)", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))[1], 16) & 1 << number - 1:
            time.sleep(0.001)
    time.sleep(0.2)


@pytest.fixture
def writing(prof, started, target):
    """writing() is a prof on a terminal that writes more to a pipe than it can hold. The other end of the pipe is not
    read."""
    opened = []

    def start():
        master, slave = os.openpty()
        pipe, write_end = pipe_that_nobody_reads()
        opened.extend((pipe, master, slave))
        process = started(prof.start("record", "-q", "-F", "999", "--format", "perf-script", "-o", "-", "--", target("shares"),
                                     "0.3", stdin=slave, stdout=write_end, stderr=subprocess.DEVNULL,
                                     preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)))
        os.close(write_end)
        wait_until_full(process, pipe)
        return SimpleNamespace(process=process, pipe=pipe, terminal=master)

    yield start
    for fd in opened:
        os.close(fd)


def test_the_second_signal_ends_a_prof_that_writes_where_nobody_reads(writing):
    process = writing().process
    send(process.pid, signal.SIGINT)
    send(process.pid, signal.SIGTERM)
    assert process.wait(TIME_LIMIT_S) == -signal.SIGTERM


def test_the_third_signal_ends_prof_at_once_although_somebody_reads(writing):
    read = writing()
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        os.read(read.pipe, PIPE_BYTES)
        send(read.process.pid, number)
    assert read.process.wait(TIME_LIMIT_S) == -signal.SIGHUP


def test_one_signal_ends_it_after_a_while_unless_somebody_reads_or_it_was_ctrl_c(writing):
    """After Ctrl-C, a pager may stop reading. A second signal must then end prof."""
    read, interrupted, abandoned = writing(), writing(), writing()
    os.write(interrupted.terminal, b"\x03")
    read.process.send_signal(signal.SIGTERM)
    start = time.monotonic()
    abandoned.process.send_signal(signal.SIGTERM)
    text = b""
    while abandoned.process.poll() is None:
        text += os.read(read.pipe, PIPE_BYTES)
        time.sleep(0.5)
    assert abandoned.process.wait() == -signal.SIGTERM
    assert time.monotonic() - start > 4
    time.sleep(1)
    for one, text in (read, text), (interrupted, b""):
        assert one.process.poll() is None
        while more := os.read(one.pipe, 65536):
            text += more
        assert one.process.wait(TIME_LIMIT_S) == 0
        assert text.endswith(b"\n\n") and len(text) > 20 * PIPE_BYTES


def test_signals_end_the_first_process_of_a_container_too(prof, started, target, root):
    """The kernel does not apply the default action for signals that such a process sends to itself."""
    pipe, write_end = pipe_that_nobody_reads()
    container = started(subprocess.Popen(
        ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", prof.binary, "record", "-q", "-F", "999", "--format", "perf-script",
         "-o", "-", "--", target("shares"), "0.3"], stdin=subprocess.DEVNULL, stdout=write_end, start_new_session=True))
    os.close(write_end)
    wait_until_full(container, pipe)
    children = Path(f"/proc/{container.pid}/task/{container.pid}/children").read_text(encoding="ascii").split()
    for number in signal.SIGINT, signal.SIGTERM:
        send(int(children[0]), number)
    assert container.wait(TIME_LIMIT_S) == 128 + signal.SIGTERM
    os.close(pipe)


def start_in_background(prof, started, *words):
    """A background job of a script: without job control, the shell starts it with SIGINT ignored."""
    script = started(subprocess.Popen(["/bin/sh", "-c", '"$@" & echo $!; wait $!', "sh", *map(str, words)], cwd=prof.folder,
                                      text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, start_new_session=True))
    return script, int(script.stdout.readline())


def wait_for_samples(pid, target_pid):
    while "perf_event" not in links_of(pid):
        time.sleep(0.01)
    wait(target_pid, 1)  # the kernel can take a quarter of a second to open the events


def links_of(pid):
    links = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{pid}/fd/{name}"))
        except FileNotFoundError:
            pass
    return " ".join(links)


def test_a_script_ends_its_background_prof_by_kill_int(prof, started, service):
    script, pid = start_in_background(prof, started, prof.binary, "record", "-q", "-o", "out.folded", "-p", service.pid)
    wait_for_samples(pid, service.pid)
    os.kill(pid, signal.SIGINT)
    _, errors = script.communicate(timeout=TIME_LIMIT_S)
    assert script.returncode == 0, errors
    assert Stacks.read(prof.folder / "out.folded").total > 100


def test_the_command_inherits_that_sigint_is_ignored(prof, started):
    def signals(name, *words):
        command = ["sh", "-c", f"exec grep -E 'SigIgn|SigBlk' /proc/self/status >{name}"]
        script, _ = start_in_background(prof, started, *words, *command)
        script.communicate(timeout=TIME_LIMIT_S)
        return (prof.folder / name).read_text(encoding="ascii")

    expected = signals("alone")
    assert int(re.search(r"SigIgn:\s(\S+)", expected)[1], 16) & 1 << signal.SIGINT - 1
    assert signals("profiled", prof.binary, "record", "-q", "-o", "out.folded") == expected


def test_nohup_protects_prof_from_sighup(prof, started, service):
    process = started(prof.start("record", "-q", "-o", "out.folded", "-p", service.pid,
                                 preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)))
    wait_for_samples(process.pid, service.pid)
    process.send_signal(signal.SIGHUP)
    wait(service.pid, 0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=TIME_LIMIT_S)
    assert process.returncode == 0
    assert Stacks.read(prof.folder / "out.folded").total > 100


def test_signals_to_prof_alone_reach_the_command_also_if_a_second_ends_prof(prof, started):
    script = "import signal as s; both = {s.SIGINT, s.SIGTERM}; s.pthread_sigmask(s.SIG_BLOCK, both);" \
             "print('running', flush=True); print(s.sigwait(both), s.sigwait(both))"
    process = started(prof.start("record", "-o", "out.folded", "--", sys.executable, "-c", script))
    assert process.stdout.readline() == "running\n"
    send(process.pid, signal.SIGINT)
    while not (prof.folder / "out.folded").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=TIME_LIMIT_S)
    assert process.returncode == -signal.SIGTERM
    assert output == f"{signal.SIGINT} {signal.SIGTERM}\n"
