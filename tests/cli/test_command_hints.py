"""A command that does not exist: the hint is what records the process, program or time that was meant."""

import os
import shutil
import subprocess

import pytest


@pytest.fixture
def named(prof, started):
    """named("server") runs a program of this name, which waits."""

    def run(name, **options):
        program = prof.folder / "running" / name
        program.parent.mkdir(exist_ok=True)
        if not program.exists():
            shutil.copy(shutil.which("cat"), program)
        # It has its name and its arguments when it answers.
        process = started(subprocess.Popen([program], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1, **options))
        process.stdin.write("ready\n")
        assert process.stdout.readline() == "ready\n"
        return process

    return run


def own_name(prefix):
    """A name that no other test has, of at most 15 characters."""
    return f"{prefix}{os.getpid()}"


def hint(prof, *words):
    result = prof(*words)
    assert result.returncode == 127, result.stderr
    return result.stderr.partition("\n  ")[2]


def test_the_name_of_a_running_process_gives_the_option_for_its_pid(prof, named):
    name = own_name("one")
    process = named(name)
    for words in ["record", name], ["record", "-F", "99", "--", name], ["record", f"/usr/sbin/{name}"], ["record", "--alloc", name]:
        assert hint(prof, *words) == f"prof record -p {process.pid}   # the running {name}\n"
    assert hint(prof, "top", "-b", "-n", "1", name) == f"prof top -p {process.pid}   # the running {name}\n"


def test_several_running_processes_give_the_option_for_their_name(prof, named):
    name = own_name("two")
    named(name), named(name)
    assert hint(prof, "record", name) == f"prof record --name {name}   # 2 running processes\n"


def test_a_long_name_is_found_as_the_kernel_cuts_it(prof, named):
    name = f"{os.getpid()}-much-too-long"
    process = named(name)
    assert f"-p {process.pid} " in hint(prof, "record", name)


def test_the_process_of_another_user_needs_root(ordinary, named):
    """Also if the user may not search a directory of PATH, so that the command seems to be refused."""
    name = own_name("roots")
    process = named(name)
    hidden = ordinary.folder / "hidden"
    hidden.mkdir(mode=0o700)
    for path in "/usr/bin:/bin", f"{hidden}:/usr/bin:/bin":
        result = ordinary("record", name, env={**os.environ, "PATH": path})
        assert result.returncode in (126, 127) and f"\n  sudo prof record -p {process.pid} " in result.stderr


def test_a_process_that_has_ended_is_not_offered(prof, named):
    """It is a zombie, whose parent has not waited for it."""
    name = own_name("dead")
    process = named(name)
    process.stdin.close()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert hint(prof, "record", name) == "no such command in PATH\n"


def test_a_program_in_a_usual_directory_is_offered(prof):
    assert hint(prof, "record", "some program") == "no such command in PATH\n"
    for directory in "build", "target/debug", "target/release", ".":
        program = prof.folder / directory / "some program"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        assert hint(prof, "record", "some program") == f"prof record '{directory}/some program'\n"


def test_the_number_of_a_process_gives_the_option_for_it(prof):
    assert hint(prof, "record", os.getpid()) == f"prof record -p {os.getpid()}   # the running process\n"


def test_a_number_after_a_target_is_taken_for_the_duration(prof):
    for number in "5", "0.5":
        assert hint(prof, "record", "-p", os.getpid(), number) == f"--duration {number}   # stops after {number} s\n"


def test_the_command_that_only_limits_the_time_is_not_taken_for_the_target(prof, named):
    name = own_name("limit")
    named(name)
    assert hint(prof, "record", "-p", os.getpid(), name) == "no such command in PATH\n"


def test_a_command_that_fails_while_another_of_its_name_runs_gives_the_option(prof, named, tmp_path):
    """As a second server does, whose port is in use."""
    name = own_name("twice")
    process = named(name)
    second = tmp_path / name
    second.write_text("#!/bin/sh\nexit 3\n")
    second.chmod(0o755)
    said = f"failed; did you mean prof record -p {process.pid} "
    assert said in prof("record", "-o", "out.folded", second).stderr
    assert said not in prof("record", "-o", "out.folded", second, "argument").stderr
    second.write_text("#!/bin/sh\n")
    assert said not in prof("record", "-o", "out.folded", second).stderr
