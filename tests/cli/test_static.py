"""The static program runs without a C library, /sys, locales and terminal descriptions."""

import fcntl
import os
import platform
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from conftest import BUILD, NOBODY, SOURCE
from lacking import tool
from screen import Screen
from time_limit import TIME_LIMIT_S
from profiles import Stacks

AGENT = "lib/inside/library/libprof-inside.so"

pytestmark = pytest.mark.usefixtures("root")


@pytest.fixture(scope="module")
def static_prof(client):
    """Built next to the tested program. Only changed files are compiled again. Each library is compiled as one file,
    without debug information and with -O1, in a third of the CPU time of a release."""
    folder = BUILD / "static"
    environment = {**os.environ, "CC": os.environ.get("CC", "gcc"), "CCACHE_DISABLE": "1"}
    with open(BUILD / "static.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "build.ninja").exists():
            subprocess.run([client("meson"), "setup", folder, SOURCE, "-Dstatic=true", "-Dwerror=true",
                            "-Dunity=on", "-Dunity_size=1000", "-Doptimization=1", "-Ddebug=false"],
                           env=environment, check=True, capture_output=True)
        subprocess.run([client("ninja"), "-C", folder, "cmd/prof", AGENT], env=environment, check=True, capture_output=True)
    return folder / "cmd" / "prof"


@pytest.fixture
def container(static_prof, target, tmp_path):
    """container("/prof", …) runs a command in a directory that has only prof, a static program, and an empty or a real
    /proc. container.command("/prof", …) returns the command that does this."""
    place = tmp_path / "root"
    (place / "proc").mkdir(parents=True)
    place.chmod(0o777)
    for program in (static_prof, target("shares_static")):
        shutil.copy(program, place)

    def command(*words, proc=False, user=0):
        mount = f"mount -t proc proc {place}/proc && " if proc else ""
        return [tool("unshare"), "--mount", "--pid", "--fork", "sh", "-c",
                f'{mount}exec chroot --userspec={user}:{user} {place} "$@"', "sh", *map(str, words)]

    def run(*words, **how):
        return subprocess.run(command(*words, **how), env={"PATH": os.environ["PATH"]}, capture_output=True, text=True,
                              check=False, stdin=subprocess.DEVNULL, timeout=TIME_LIMIT_S)

    run.place = place
    run.command = command
    return run


def test_it_needs_no_library_and_says_its_version_in_an_empty_container(static_prof, container):
    assert "NEEDED" not in subprocess.run([tool("readelf"), "-d", static_prof], capture_output=True, text=True, check=True).stdout
    result = container("/prof", "--version")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("prof ")


@pytest.mark.parametrize("how", [{"proc": False}, {"proc": True}, {"proc": True, "user": NOBODY}],
                         ids=["empty", "with /proc", "ordinary user"])
def test_it_records_names_functions_reports_and_disassembles(container, how):
    recorded = container("/prof", "record", "-o", "/out.folded", "-o", "/out.pb.gz", "--", "/shares_static", "0.3", **how)
    assert recorded.returncode == 0, recorded.stderr
    assert Stacks.read(container.place / "out.folded").holding("main") > 100, recorded.stderr
    reported = container("/prof", "report", "/out.pb.gz", **how)
    assert reported.returncode == 0, reported.stderr
    assert "shares_static" in reported.stdout
    disassembled = container("/prof", "annotate", "--asm", "/out.pb.gz", "main", **how)
    assert disassembled.returncode == 0, disassembled.stderr
    assert "\tret" in disassembled.stdout or " ret" in disassembled.stdout, disassembled.stdout


@pytest.fixture
def musl_container(container, target):
    """A container with a program that is linked with musl, and musl as the only library."""
    shutil.copy(target("threads_musl"), container.place)
    (container.place / "lib").mkdir()
    shutil.copy(f"/lib/ld-musl-{platform.machine()}.so.1", container.place / "lib")
    return container


def assert_both_threads_are_named(folded):
    """Up to main() and work(), which musl calls. musl has no unwind tables: its code is read while the first samples
    arrive, which are marked as truncated."""
    stacks = Stacks.read(folded)
    threads = ("main", "spend", "burn", "spin"), ("work", "spend", "burn", "spin")
    seen = [stacks.count(lambda frames, thread=thread: frames[-4:] == thread) for thread in threads]
    assert all(seen) and sum(seen) >= 0.99 * stacks.count(lambda frames: frames[-1] == "spin") > 100, stacks.hottest()
    assert stacks.count(lambda frames: frames[1] == "[truncated]") < 0.5 * stacks.total, stacks.hottest()


@pytest.mark.parametrize("user", [0, NOBODY], ids=["root", "ordinary user"])
def test_it_records_a_command_that_is_linked_with_musl(musl_container, user):
    recorded = musl_container("/prof", "record", "-e", "cpu-clock:u", "-o", "/out.folded", "--", "/threads_musl", "0.4", proc=True,
                              user=user)
    assert recorded.returncode == 0, recorded.stderr
    assert_both_threads_are_named(musl_container.place / "out.folded")


def first_process_in(container, name):
    """Returns the PID outside of the container, as soon as the process has executed this program."""
    children = Path(f"/proc/{container.pid}/task/{container.pid}/children")
    while container.poll() is None:
        pid = children.read_text(encoding="ascii").strip()
        if pid and Path(f"/proc/{pid}/comm").read_text(encoding="ascii") == f"{name}\n":
            return pid
        time.sleep(0.01)
    raise AssertionError(f"the container has ended without {name}")


def test_it_attaches_to_a_process_that_is_linked_with_musl(musl_container, started):
    outside = started(subprocess.Popen(musl_container.command("/threads_musl", TIME_LIMIT_S, proc=True), start_new_session=True))
    enter = [tool("nsenter"), "--mount", "--pid", "--target", first_process_in(outside, "threads_musl"), "chroot", musl_container.place]
    recorded = subprocess.run([*enter, "/prof", "record", "-e", "cpu-clock:u", "-p", "1", "--duration", "2", "-o", "/out.folded"],
                              capture_output=True, text=True, check=False, timeout=TIME_LIMIT_S)
    assert recorded.returncode == 0, recorded.stderr
    assert_both_threads_are_named(musl_container.place / "out.folded")


def test_it_serves_profiles(container, started):
    server = started(subprocess.Popen(container.command("/prof", "serve", "-l", "unix:/socket", proc=True),
                                      stderr=subprocess.PIPE, text=True, start_new_session=True))
    assert server.stderr.readline() == "prof: serving at unix:/socket\n"
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(TIME_LIMIT_S)
        client.connect(str(container.place / "socket"))
        client.sendall(b"GET /debug/pprof/profile?seconds=1 HTTP/1.0\r\nHost: localhost\r\n\r\n")
        with client.makefile("rb") as answer:
            assert b" 200 " in answer.readline()


def test_it_has_no_tls(container):
    for name in ("certificate", "key"):
        (container.place / name).write_text("")
        (container.place / name).chmod(0o600)
    refused = container("/prof", "serve", "-l", "127.0.0.1:0", "--tls-cert", "/certificate", "--tls-key", "/key")
    assert refused.returncode != 0
    assert "a statically linked prof has no TLS" in refused.stderr


@pytest.mark.parametrize("terminal", ["screen", "vt100"])
def test_its_top_needs_no_terminal_descriptions(container, terminal):
    command = container.command("/prof", "top", "--", "/shares_static", "60", proc=True)
    screen = Screen([str(word) for word in command], container.place, environment={"TERM": terminal})
    screen.wait_for(r" spin +shares_static$")
    screen.wait_for(" ██+ +spin ")
    screen.press("q")
    screen.end()


def test_its_agent_runs_with_glibc_2_28(static_prof):
    agent = static_prof.parents[1] / AGENT
    needed = subprocess.run([tool("readelf"), "--wide", "--version-info", agent], capture_output=True, text=True, check=True).stdout
    versions = {tuple(map(int, version.split("."))) for version in re.findall(r"Name: GLIBC_([0-9.]+)", needed)}
    assert (2, 2, 5) <= max(versions) <= (2, 28), needed


def test_it_finds_users_in_etc_passwd(container):
    unknown = container("/prof", "record", "-u", "somebody", "--", "/shares_static", proc=True)
    assert 'unknown user "somebody"' in unknown.stderr
    (container.place / "etc").mkdir()
    (container.place / "etc/passwd").write_text("somebody:x:4711:4711::/:/\n", encoding="utf-8")
    known = container("/prof", "record", "-u", "somebody", "--", "/shares_static", proc=True)
    assert "unknown user" not in known.stderr
