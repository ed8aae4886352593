"""Recording by ordinary users, and the messages if the kernel refuses."""

import os
import resource
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import NOBODY
from lacking import lacking
from profiles import Stacks, assert_rooted
from until_busy import wait

MLOCK_KB = Path("/proc/sys/kernel/perf_event_mlock_kb")
SOMEBODY, ANOTHER, NO_ONE = (5_000_000 + 3 * os.getpid() + number for number in range(3))  # unused user ids


def test_an_ordinary_user_records_the_user_part_of_their_own_program(ordinary, paranoid, target):
    paranoid(2)
    recording = ordinary.record("--", ordinary.bring(target("shares")), "0.5")
    assert recording.stacks.share("main", "spend", "half") > 0.4
    assert_rooted(recording.stacks)
    assert "kernel" in recording.result.stderr


def test_a_debug_file_that_the_own_group_can_write_to_is_used(ordinary, paranoid, target):
    """Users who have a group of their own often have umask 002."""
    paranoid(2)
    program, debug = ordinary.bring(target("shares")), ordinary.folder / "shares.debug"
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    subprocess.run(["objcopy", "--strip-debug", "--remove-section=.note.gnu.build-id", f"--add-gnu-debuglink={debug}",
                    program], check=True)
    for path, mode in (program, 0o755), (debug, 0o664):
        os.chown(path, NOBODY, NOBODY)
        path.chmod(mode)
    ordinary("record", "-o", "out.pb.gz", "--", program, "0.3")
    assert "spin [i]" in ordinary("report", "out.pb.gz").stdout  # inlined


def test_little_locked_memory_holds_many_samples(ordinary, paranoid, target):
    """A user may lock kernel.perf_event_mlock_kb for each CPU, plus RLIMIT_MEMLOCK."""
    paranoid(2)
    if int(MLOCK_KB.read_text(encoding="ascii")) != 516 or os.sysconf("SC_PAGESIZE") != 4096:
        pytest.skip("other limits than those of Linux on most machines")
    recording = ordinary.record("-v", "--", ordinary.bring(target("shares")), "0.5", preexec_fn=lock_little)
    assert "ring buffers of 256 KiB" in recording.result.stderr
    assert "stack copies of 16 KiB" in recording.result.stderr


def lock_little():
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (64 << 10, 64 << 10))


def test_an_ordinary_user_may_record_the_kernel_if_perf_event_paranoid_allows_it(ordinary, paranoid, target):
    paranoid(1)
    recording = ordinary.record("--", ordinary.bring(target("shares")), "0.3")
    assert recording.stacks.share("main", "spend") > 0.5


def test_the_whole_machine_is_refused_with_the_reason(ordinary, paranoid):
    paranoid(2)
    result = ordinary("record", "-a", "-o", "out.folded", "--", "touch", "ran")
    assert result.returncode == 1
    assert "perf_event_paranoid" in result.stderr
    assert not (ordinary.folder / "out.folded").exists() and not (ordinary.folder / "ran").exists()


@pytest.mark.parametrize("level", [3, 4])
def test_a_kernel_that_denies_everything_is_explained(ordinary, paranoid, level):
    """Debian's and Ubuntu's kernels refuse at these levels; others treat them as 2 and record."""
    paranoid(level)
    result = ordinary("record", "-o", "out.folded", "--", "true")
    if result.returncode == 0:
        assert (ordinary.folder / "out.folded").exists()
    else:
        assert result.returncode == 1
        assert "perf_event_paranoid" in result.stderr


def test_the_process_of_another_is_refused_with_the_reason(ordinary, paranoid, service):
    paranoid(2)
    result = ordinary("record", "-p", service.pid, "-o", "out.folded", "--", "true")
    assert result.returncode == 1
    assert str(service.pid) in result.stderr
    assert not (ordinary.folder / "out.folded").exists()


CAP_CHOWN = struct.pack("<5I", 0x02000001, 1, 0, 0, 0)  # vfs_cap_data: version 2, effective; CAP_CHOWN permitted
REASONS = {"user": "set-user-ID", "group": "set-group-ID", "capabilities": "file capabilities", "unreadable": "chmod a+r"}


@pytest.fixture(params=REASONS)
def protected(request, ordinary, target):
    """A program that loses its perf events at exec, and the reason that prof must print."""
    program = ordinary.bring(target("shares"))
    if request.param == "capabilities":
        os.setxattr(program, "security.capability", CAP_CHOWN)
    else:
        program.chmod({"user": 0o4755, "group": 0o2755, "unreadable": 0o711}[request.param])
    if os.statvfs(program).f_flag & os.ST_NOSUID and request.param != "unreadable":
        lacking("a folder for temporary files without nosuid")
    return program, REASONS[request.param]


def as_script(folder, program):
    script = folder / "script"
    script.write_text(f"#!{program}\n", encoding="ascii")
    script.chmod(0o755)
    return [script]


@pytest.mark.parametrize("command", [
    lambda folder, program: [program, "0.1"], lambda folder, program: [program.name, "0.1"], as_script,
    lambda folder, program: ["sh", "-c", f"{program} 0.1; :"], lambda folder, program: ["env", program, "0.1"],
], ids=["by path", "in PATH", "interpreter", "executed later", "by env"])
def test_a_program_that_loses_its_events_at_exec_is_explained(ordinary, paranoid, protected, command):
    """A new user, group or capabilities, or an unreadable file: the kernel removes the events."""
    paranoid(2)
    program, reason = protected
    environment = {**os.environ, "PATH": f"{ordinary.folder}:{os.environ['PATH']}"}
    result = ordinary("record", "-o", "out.folded", "--", *command(ordinary.folder, program), env=environment)
    assert f"{program} was not sampled" in result.stderr, result.stderr
    assert reason in result.stderr
    assert "nothing ran long enough" not in result.stderr


def test_root_records_a_program_that_gains_rights(prof, root, target):
    program = prof.folder / "shares"
    subprocess.run(["cp", target("shares"), program], check=True)
    os.chown(program, NOBODY, NOBODY)
    program.chmod(0o6755)
    recording = prof.record("--", program, "0.3")
    assert "was not sampled" not in recording.result.stderr
    assert recording.stacks.share("main", "spend") > 0.5


def test_a_program_that_keeps_its_rights_is_not_explained(ordinary, paranoid, target):
    paranoid(2)
    result = ordinary("record", "-o", "out.folded", "--", "sh", "-c", f"{ordinary.bring(target('shares'))} 0.1; :")
    assert "was not sampled" not in result.stderr


CHANGES_ITS_USER = f"""
import ctypes, os, sys
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
for dumpable in map(int, sys.argv[1:]):
    assert ctypes.CDLL(None).prctl(4, dumpable, 0, 0, 0) == 0  # PR_SET_DUMPABLE
print("ready", flush=True)
sys.stdin.read()
"""


def assert_not_dumpable(result):
    assert result.returncode == 1
    assert "not dumpable" in result.stderr and "as root" in result.stderr, result.stderr
    assert "sysctl" not in result.stderr


@pytest.mark.parametrize("dumpable", [[], ["1", "0"]], ids=["user changed", "inspection forbidden"])
def test_a_process_that_is_not_dumpable_is_refused_with_the_reason(ordinary, paranoid, started, dumpable):
    """No level of perf_event_paranoid allows its user to sample it."""
    paranoid(1)
    process = started(subprocess.Popen([sys.executable, "-c", CHANGES_ITS_USER, *dumpable], text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    assert process.stdout.readline() == "ready\n"
    assert_not_dumpable(ordinary("record", "-p", process.pid, "-o", "out.folded", "--", "true"))


def test_a_process_that_gained_rights_is_refused_with_the_reason(ordinary, paranoid, started, protected):
    paranoid(1)
    program, reason = protected
    process = started(subprocess.Popen([program, "600"], user=NOBODY, group=NOBODY, extra_groups=[]))
    wait(process.pid, 0.1)
    result = ordinary("record", "-p", process.pid, "-o", "out.folded", "--", "true")
    if reason == REASONS["user"]:
        assert result.returncode == 1 and "another user" in result.stderr, result.stderr
    else:
        assert_not_dumpable(result)


def test_under_sudo_the_files_belong_to_the_user(prof, root, target):
    environment = {**os.environ, "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)}
    prof("record", "-o", "out.folded", "--", target("shares"), "0.1", env=environment)
    assert (prof.folder / "out.folded").stat().st_uid == NOBODY
    assert Stacks.read(prof.folder / "out.folded").total > 0


@pytest.fixture
def busy(started, target, tmp_path_factory):
    """busy(user) starts the target `shares`, run by a user."""

    def start(user):
        folder = Path(subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip())
        folder.chmod(0o755)
        subprocess.run(["cp", target("shares"), folder], check=True)
        process = started(subprocess.Popen([folder / "shares", "600"], user=user, group=user, extra_groups=[],
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        folders.append(folder)
        return process

    folders = []
    yield start
    for folder in folders:
        subprocess.run(["rm", "-r", folder], check=True)


def test_the_processes_of_a_user_are_recorded_and_no_others(root, prof, busy, until_busy):
    somebody, _ = busy(SOMEBODY), busy(ANOTHER)
    recording = prof.record("-u", SOMEBODY, "--", *until_busy(somebody.pid))
    assert recording.stacks.of_process("shares") == recording.stacks.total > 100
    assert set(recording.pprof.by_label("pid")) == {somebody.pid}


def test_a_user_may_name_themselves(ordinary, paranoid, busy):
    paranoid(2)
    busy(NOBODY)
    ordinary.run("record", "-u", NOBODY, "--duration", "1", "-o", "out.folded")
    assert Stacks.read(ordinary.folder / "out.folded").of_process("shares") > 0


def test_processes_of_other_users_are_refused_with_the_reason(ordinary, paranoid, busy):
    paranoid(2)
    busy(SOMEBODY)
    result = ordinary("record", "-u", SOMEBODY, "--duration", "1", "-o", "out.folded")
    assert result.returncode == 1
    assert "another user" in result.stderr, result.stderr


@pytest.mark.parametrize("user, why", [("nobody-of-this-name", "unknown user"), ("1x", "unknown user"),
                                       (NO_ONE, f"no process of user {NO_ONE} is running")],
                         ids=["no such name", "no number", "no process"])
def test_a_user_without_processes_is_an_error(prof, user, why):
    result = prof("record", "-u", user, "-o", "out.folded")
    assert result.returncode == 2
    assert why in result.stderr
