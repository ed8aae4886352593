"""Symbol workers read files: they are unprivileged processes, and if one ends, at most symbols are lost."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import NOBODY
from lacking import lacking
from time_limit import TIME_LIMIT_S

SOMEBODY = 54321
LONG_MAP_BYTES = 256 << 20  # needs a tenth of a second in a worker


def status_of(pid):
    """Returns the fields of /proc/PID/status, or none if the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def workers_of(process):
    """Returns the confined children of a running prof: {pid: status}."""
    children = []
    for path in Path(f"/proc/{process.pid}/task").glob("*/children"):
        try:
            children += path.read_text(encoding="ascii").split()
        except (FileNotFoundError, ProcessLookupError):
            pass
    found = {int(pid): status_of(pid) for pid in children}
    return {pid: status for pid, status in found.items() if status.get("Seccomp") == "2"}


def await_workers(process, enough=bool):
    """Waits until the set of workers satisfies `enough`."""
    limit = time.monotonic() + TIME_LIMIT_S
    while time.monotonic() < limit:
        workers = workers_of(process)
        if enough(workers):
            return workers
        assert process.poll() is None, process.communicate()
    raise TimeoutError("no workers")


@pytest.fixture(autouse=True)
def children_are_listed():
    if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        lacking("a kernel with /proc/PID/task/TID/children")


def end(process):
    """Ends prof together with the sampled program."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=TIME_LIMIT_S)


@pytest.fixture
def topping(prof, target):
    """A prof top of a program. It keeps its workers."""
    process = prof.start("top", "-b", "-d", "0.2", "--", target("shares"), "60")
    yield process
    end(process)


@pytest.fixture
def compiled(prof, target):
    """The arguments of a program with a long symbol list. The list is removed afterwards."""
    pid = prof.folder / "pid"
    yield ["sh", "-c", f'echo $$ > {pid}; exec "$0" "$@"', target("compiled"), "0.3", LONG_MAP_BYTES]
    Path(f"/tmp/perf-{pid.read_text(encoding='ascii').strip()}.map").unlink()


def test_a_worker_has_no_rights_and_no_files(topping):
    workers = await_workers(topping)
    for pid, status in workers.items():
        assert status["NoNewPrivs"] == "1"
        assert {int(status[key], 16) for key in ("CapEff", "CapPrm", "CapInh", "CapAmb")} == {0}
        descriptors = [os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")] \
            if os.geteuid() == 0 else ["socket:"]
        assert [name.split("[")[0] for name in descriptors] == ["socket:"]
        if os.geteuid() == 0:
            assert set(status["Uid"].split()) == {str(NOBODY)}
            assert status["Groups"].strip() == ""


def test_workers_end_with_prof(topping):
    workers = await_workers(topping)
    topping.kill()
    while any(status_of(pid).get("State", "Z")[0] not in "ZX" for pid in workers):
        time.sleep(0.01)


def test_top_keeps_its_workers(topping):
    workers = await_workers(topping)
    tables = 0
    while tables < 5:
        tables += "samples," in topping.stdout.readline()
    assert set(workers) <= set(workers_of(topping))


def test_files_of_other_users_are_read_by_processes_that_these_cannot_signal(root, prof, target):
    folder = Path(subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip())
    copy = folder / "shares"
    subprocess.run(["cp", target("shares"), copy], check=True)
    os.chown(copy, SOMEBODY, SOMEBODY)
    folder.chmod(0o755)
    process = prof.start("top", "-b", "-d", "0.2", "--", copy, "60")
    try:
        workers = await_workers(process, lambda workers: len(workers) > 1)
        assert {status["Uid"].split()[0] for status in workers.values()} == {str(NOBODY)}
        for pid in workers:
            assert subprocess.run(["kill", "-STOP", str(pid)], user=SOMEBODY, check=False, stderr=subprocess.DEVNULL).returncode
    finally:
        end(process)
        subprocess.run(["rm", "-r", folder], check=True)


def test_under_sudo_files_of_root_and_of_the_caller_are_read_as_the_caller(root, prof, target):
    environment = {**os.environ, "SUDO_UID": str(SOMEBODY), "SUDO_GID": str(SOMEBODY)}
    process = prof.start("top", "-b", "-d", "0.2", "--", target("shares"), "60", env=environment)
    try:
        workers = await_workers(process)
        assert {status["Uid"].split()[0] for status in workers.values()} == {str(SOMEBODY)}
    finally:
        end(process)


def recorded(prof, compiled, act):
    """Records, and calls `act` for each worker as soon as it is seen, until it returns True."""
    folded = prof.folder / "x.folded"
    process = prof.start("record", "-o", folded, "--", *map(str, compiled))
    seen, is_over = set(), False
    while process.poll() is None and not is_over:
        for pid in set(workers_of(process)) - seen:
            seen.add(pid)
            is_over = act(process, pid)
    _, messages = process.communicate(timeout=TIME_LIMIT_S)
    assert process.returncode == 0, messages
    assert seen
    return folded.read_text(encoding="utf-8"), messages


def test_a_worker_that_is_killed_once_costs_no_names(prof, compiled):
    def kill(_, pid):
        os.kill(pid, signal.SIGKILL)
        return True

    stacks, messages = recorded(prof, compiled, kill)
    assert "native_half" in stacks and "compiled_half" in stacks
    assert "shown as addresses" not in messages


def test_a_signal_ends_prof_although_its_worker_stands_still(prof, compiled):
    def stop(process, pid):
        os.kill(pid, signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        return True

    stacks, messages = recorded(prof, compiled, stop)
    assert "symbolizing was cancelled" in messages
    assert "compiled_half" not in stacks


def test_an_ordinary_user_has_workers_too(ordinary, target):
    process = ordinary.start("top", "-b", "-d", "0.2", "--", ordinary.bring(target("shares")), "60",
                             user=NOBODY, group=NOBODY, extra_groups=[])
    try:
        workers = await_workers(process)
        assert {status["Uid"].split()[0] for status in workers.values()} == {str(NOBODY)}
    finally:
        end(process)
