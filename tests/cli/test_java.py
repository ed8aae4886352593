"""Stacks of Java programs, whose compiled code keeps no frame pointers, and the names of that code."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from conftest import NOBODY
from lacking import tool

PROGRAM = """
import java.util.function.LongUnaryOperator;

public class Chain {
    interface Shape { long area(int n); }
    static class Square implements Shape { public long area(int n) { return innermost(n) + 1; } }
    static class Circle implements Shape { public long area(int n) { return innermost(n) + 2; } }
    static long sink;

    static long innermost(int n) { long s = n; for (int i = 0; i < n; i++) s = s * 31 + (s >>> 7); return s; }
    static long recurse(int depth, Shape shape) { return depth == 0 ? shape.area(200) : recurse(depth - 1, shape) + 1; }
    static long thrower(int n) throws Exception { if (innermost(100) != 1) throw new Exception(); return n; }
    static long catcher(int n) { try { return thrower(n); } catch (Exception e) { return innermost(100); } }
    static long lambda(int n) { LongUnaryOperator f = x -> innermost(100) + x; return f.applyAsLong(n); }
    static long strings(int n) { return ("a" + n).repeat(20).split("a").length; }

    public static void main(String[] arguments) {
        Shape[] shapes = { new Square(), new Circle() };
        long end = System.nanoTime() + (arguments.length > 0 ? 600 : 1) * 1500000000L;
        for (int i = 0; System.nanoTime() < end; i++)
            sink += recurse(10, shapes[i % 2]) + catcher(i) + lambda(i) + strings(i);
    }
}
"""

CALLERS = {"innermost": {"area", "thrower", "catcher", "lambda$lambda$0"}, "area": {"recurse"},
           "recurse": {"recurse", "main"}, "thrower": {"catcher"}, "catcher": {"main"}, "lambda": {"main"}}

# Names of compiled methods come when the program ends.
NAMES = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Chain*.*"]

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("java")
    (folder / "Chain.java").write_text(PROGRAM)
    subprocess.run([tool("javac"), "-d", folder, folder / "Chain.java"], check=True)
    return folder


def method(frame):
    """The method of the program, or None."""
    name = frame.split("(")[0].split(" ")[-1]
    return name.rpartition(".")[2] if name.startswith("Chain") else None


def wrong_calls(stacks):
    """Calls from one compiled method of the program to another that it does not contain."""
    calls = [(method(caller), method(callee)) for frames in stacks.counts for caller, callee in zip(frames, frames[1:])]
    known = [call for call in calls if all(call)]
    assert known, stacks.hottest()
    return [(caller, callee) for caller, callee in known if caller not in CALLERS.get(callee, {caller})]


@pytest.mark.parametrize("mode", [[], ["-Xint"], ["-XX:TieredStopAtLevel=1"]], ids=["tiered", "interpreted", "c1"])
def test_java_stacks_reach_their_root(prof, classes, mode):
    stacks = prof.record("-F", "499", "--", tool("java"), *NAMES, *mode, "-cp", classes, "Chain").stacks
    truncated = stacks.count(lambda frames: "[truncated]" in frames)
    assert truncated <= 0.02 * stacks.total, stacks.hottest()
    if mode != ["-Xint"]:
        assert wrong_calls(stacks) == []


# --- Names of a running program: --java -----------------------------------------------------------


@pytest.fixture
def chain(classes, started):
    """chain(*options) runs the program until the test ends; it has compiled its methods when it returns."""
    folders = []

    def start(*options, before=(), out=subprocess.DEVNULL, **how):
        folders.append(subprocess.run(["mktemp", "-d", "-p", "/var/tmp"], check=True, capture_output=True, text=True).stdout.strip())
        subprocess.run(["sh", "-c", 'cp "$0"/*.class "$1" && chmod -R a+rX "$1"', classes, folders[-1]], check=True)
        process = started(subprocess.Popen([*before, tool("java"), *options, "-cp", ".", "Chain", "on"], cwd=folders[-1], stdout=out,
                                           stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True, **how))
        until_busy(process.pid)
        return process

    yield start
    for folder in folders:
        subprocess.run(["rm", "-r", folder], check=True)


def descendants(pid):
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        children = []
    return [pid, *(one for child in children for one in descendants(int(child)))]


def ticks_of(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(stat[11]) + int(stat[12])


def until_busy(pid, seconds=1.5):
    """Waits until the process and its descendants have used that much CPU time."""
    give_up = time.monotonic() + 60
    ticks = 0
    while ticks < seconds * os.sysconf("SC_CLK_TCK"):
        assert time.monotonic() < give_up
        ticks = sum(ticks_of(one) for one in descendants(pid))


def ask(prof, pid, *options):
    """A recording of a second with --java, and how long it took beyond that."""
    begin = time.monotonic()
    recording = prof.record("--java", "-F", "499", "--duration", "1", *options, "-p", pid)
    recording.extra_s = time.monotonic() - begin - 1
    return recording


def compiled(stacks):
    """How many samples have code that was compiled at run time, and how many have such code without a name."""
    unnamed = stacks.count(lambda frames: any(frame.startswith("[jit") for frame in frames))
    return unnamed + stacks.count(lambda frames: any("Chain." in frame for frame in frames)), unnamed


def assert_named(stacks):
    total, unnamed = compiled(stacks)
    assert total > 0.3 * stacks.total, stacks.hottest()
    assert unnamed <= 0.05 * total, stacks.hottest()


def attach_files(pid):
    return list(Path("/tmp").glob(f".attach_pid{pid}"))


def test_a_running_program_names_its_compiled_code(prof, chain):
    """It needs no options for that, and goes on as before."""
    process = chain()
    recording = ask(prof, process.pid)
    assert_named(recording.stacks)
    assert "--java" not in recording.result.stderr
    assert process.poll() is None and attach_files(process.pid) == []
    assert_named(ask(prof, process.pid).stacks)


def test_without_the_option_a_program_is_not_asked(prof, chain):
    process = chain()
    recording = prof.record("-F", "499", "--duration", "1", "-p", process.pid)
    assert compiled(recording.stacks)[1] > 0.3 * recording.stacks.total, recording.stacks.hottest()
    assert f"process {process.pid} made at run time has no names: for Java" in recording.result.stderr
    assert "--java" in recording.result.stderr and "-XX:+DumpPerfMapAtExit" in recording.result.stderr
    assert not Path(f"/tmp/.java_pid{process.pid}").exists() and not Path(f"/tmp/perf-{process.pid}.map").exists()


def test_a_program_that_prof_started_is_asked_before_it_is_ended(prof, classes):
    assert_named(prof.record("--java", "-F", "499", "--duration", "3", "--", tool("java"), "-cp", classes, "Chain", "on").stacks)


def test_root_asks_with_the_rights_of_the_programs_user(root, prof, chain):
    process = chain(user=NOBODY, group=NOBODY, extra_groups=[])
    assert_named(ask(prof, process.pid).stacks)
    assert Path(f"/tmp/perf-{process.pid}.map").stat().st_uid == NOBODY


def test_a_program_in_a_container_is_asked_there(root, prof, chain):
    """It has a /tmp and a process id of its own."""
    process = chain(before=["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", 'mount -t tmpfs none /tmp && "$0" "$@"; :'])
    inner = descendants(process.pid)[-1]
    assert_named(ask(prof, inner).stacks)
    assert not Path(f"/tmp/perf-{inner}.map").exists()


@pytest.mark.parametrize("option", ["-Xrs", "-XX:+StartAttachListener"])
def test_a_program_that_listens_from_its_start_gets_no_signal(prof, chain, tmp_path, option):
    """The first would be killed by SIGQUIT."""
    with open(tmp_path / "out", "wb") as out:
        process = chain(option, out=out)
        assert_named(ask(prof, process.pid).stacks)
    assert process.poll() is None
    assert (tmp_path / "out").read_text() == ""


def test_a_program_that_may_not_be_asked_gets_no_signal(prof, chain, tmp_path):
    """It would print the stacks of its threads."""
    with open(tmp_path / "out", "wb") as out:
        process = chain("-XX:+DisableAttachMechanism", out=out)
        recording = ask(prof, process.pid)
    assert f"--java: process {process.pid} was started with -XX:+DisableAttachMechanism" in recording.result.stderr
    assert (tmp_path / "out").read_text() == ""


# Claims to be a Java virtual machine. Arguments: its libjvm.so, what it does on SIGQUIT, a path.
FAKE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char *kind, *path;

static void on_quit(int number) { (void)number; write(2, "quit\n", 5); }

static void *dispatch(void *unused)
{
	(void)unused;
	for (;;)
		pause();
}

static int listen_at(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, name);
	bind(fd, (struct sockaddr *)&address, sizeof(address));
	chmod(name, 0600);
	listen(fd, 0);
	return fd;
}

static void *serve(void *user)
{
	int fd = *(int *)user;

	for (;;) {
		int client = accept(fd, NULL, NULL);

		if (!strcmp(kind, "garbage"))
			for (int i = 0; i < 100000 && send(client, "\377\0garbage 0\n", 13, MSG_NOSIGNAL) > 0; i++)
				;
		if (!strcmp(kind, "drips"))
			while (send(client, "0", 1, MSG_NOSIGNAL) > 0)
				usleep(100000);
		if (strcmp(kind, "mute") != 0)
			close(client);
	}
}

int main(int argc, char **argv)
{
	static const unsigned char code[] = {0xff, 0xcf, 0x75, 0xfc, 0xc3};
	char socket_path[64];
	pthread_t thread;
	static int fd;

	(void)argc;
	dlopen(argv[1], RTLD_NOW);
	kind = argv[2];
	path = argv[3];
	if (strcmp(kind, "default") != 0)
		signal(SIGQUIT, on_quit);
	if (strcmp(kind, "own handler") != 0) {
		pthread_create(&thread, NULL, dispatch, NULL);
		pthread_setname_np(thread, "Signal Dispatch");
	}
	snprintf(socket_path, sizeof(socket_path), "/tmp/.java_pid%d", (int)getpid());
	if (!strcmp(kind, "link"))
		symlink(path, socket_path);
	if (!strcmp(kind, "pipe"))
		mkfifo(socket_path, 0600);
	if (!strcmp(kind, "full") || !strcmp(kind, "mute") || !strcmp(kind, "garbage") || !strcmp(kind, "drips") || !strcmp(kind, "closes"))
		fd = listen_at(socket_path);
	if (fd && strcmp(kind, "full") != 0)
		pthread_create(&thread, NULL, serve, &fd);
	if (!strcmp(kind, "full"))
		for (int i = 0; i < 4; i++) {
			struct sockaddr_un address = {.sun_family = AF_UNIX};

			strcpy(address.sun_path, socket_path);
			connect(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), (struct sockaddr *)&address, sizeof(address));
		}
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(memory, code, sizeof(code));
	mprotect(memory, 4096, PROT_READ | PROT_EXEC);
	puts("ready");
	fflush(stdout);
	for (unsigned i = 0;; i++) {
		if (!strcmp(kind, "stops") && i == 500)
			raise(SIGSTOP);
		((void (*)(unsigned))memory)(1000000);
	}
}
"""


@pytest.fixture(scope="module")
def fakes(tmp_path_factory):
    """A directory with the fake, and a libjvm.so that exports what HotSpot's does."""
    if os.uname().machine != "x86_64":
        pytest.skip("the fake has machine code for x86-64")
    folder = tmp_path_factory.mktemp("fakes")
    entry = ["ArrayStride", "TypeNameOffset", "FieldNameOffset", "TypeStringOffset", "OffsetOffset", "AddressOffset"]
    names = ["Structs", "Types", *(f"StructEntry{name}" for name in entry), *(f"TypeEntry{name}" for name in (*entry[:2], "SizeOffset"))]
    (folder / "libjvm.c").write_text("".join(f"long gHotSpotVM{name} = 8;\n" for name in names) + "int code(void) { return 1; }\n")
    subprocess.run([tool("gcc"), "-shared", "-fPIC", "-o", folder / "libjvm.so", folder / "libjvm.c"], check=True)
    subprocess.run([tool("gcc"), "-O1", "-x", "c", "-o", folder / "fake", "-", "-ldl", "-lpthread"], check=True, text=True, input=FAKE)
    return folder


@pytest.fixture
def fake(fakes, started):
    """fake(kind) runs it; its standard error has "quit" for each SIGQUIT."""
    found = []

    def start(kind, path="", **how):
        folder = subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip()
        subprocess.run(["sh", "-c", 'cp "$0"/* "$1" && chmod -R a+rX "$1"', fakes, folder], check=True)
        process = started(subprocess.Popen([f"{folder}/fake", f"{folder}/libjvm.so", kind, path], text=True, stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, start_new_session=True, **how))
        found.append((process.pid, folder))
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for pid, folder in found:
        Path(f"/tmp/.java_pid{pid}").unlink(missing_ok=True)
        subprocess.run(["rm", "-r", folder], check=True)


def quits(process):
    """How often the fake got SIGQUIT. Ends it."""
    assert process.poll() is None
    process.kill()
    return process.stderr.read().count("quit")


@pytest.mark.parametrize("kind", ["default", "own handler"])
def test_a_process_that_only_maps_a_file_of_that_name_gets_no_signal(prof, fake, kind):
    """One would be killed; the other has a meaning of its own for the signal."""
    process = fake(kind)
    recording = ask(prof, process.pid)
    assert "does not handle SIGQUIT" in recording.result.stderr
    assert recording.extra_s < 2
    assert quits(process) == 0


def test_a_stopped_program_gets_no_signal(prof, fakes, tmp_path):
    """It would take the signal when it goes on, and print the stacks of its threads."""
    script = '"$0/fake" "$0/libjvm.so" stops "" > "$1/out" 2> "$1/err" & echo $! > "$1/pid"; wait'
    recording = prof.record("--java", "-F", "499", "--duration", "4", "--", "sh", "-c", script, fakes, tmp_path)
    pid = int((tmp_path / "pid").read_text())
    os.kill(pid, signal.SIGCONT)
    until_busy(pid)
    os.kill(pid, signal.SIGKILL)
    assert f"process {pid} is stopped; its compiled code may lack names" in recording.result.stderr
    assert (tmp_path / "err").read_text() == ""


def test_a_file_of_another_user_in_the_place_of_the_trigger_prevents_the_signal(root, prof, fake):
    """The program would not believe it, and print the stacks of its threads."""
    process = fake("silent", user=NOBODY, group=NOBODY, extra_groups=[])
    trigger = Path(f"/tmp/.attach_pid{process.pid}")
    trigger.write_text("")
    recording = ask(prof, process.pid)
    trigger.unlink()
    assert f"process {process.pid} cannot be asked" in recording.result.stderr
    assert quits(process) == 0


@pytest.mark.parametrize("kind, signals", [("silent", 1), ("mute", 0), ("drips", 0), ("full", 0), ("pipe", 1)])
def test_what_never_answers_costs_the_time_limit(prof, fake, kind, signals):
    process = fake(kind)
    recording = ask(prof, process.pid)
    assert f"process {process.pid} does not answer" in recording.result.stderr
    assert recording.extra_s < 5
    assert attach_files(process.pid) == []
    assert quits(process) == signals


@pytest.mark.parametrize("kind", ["garbage", "closes"])
def test_garbage_for_an_answer_is_a_refusal(prof, fake, kind):
    process = fake(kind)
    recording = ask(prof, process.pid)
    assert "cannot list its code" in recording.result.stderr or "does not answer" in recording.result.stderr
    assert recording.extra_s < 5
    assert quits(process) == 0


@pytest.mark.parametrize("user", [0, NOBODY], ids=["root", "user"])
def test_a_link_to_another_socket_is_not_followed(root, prof, fake, tmp_path, user):
    """Root's prof would otherwise talk to what only root may talk to."""
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as secret:
        secret.bind(str(path))
        path.chmod(0o600)
        secret.listen()
        secret.settimeout(0)
        process = fake("link", str(path), user=user, group=user, extra_groups=[])
        ask(prof, process.pid)
        with pytest.raises(BlockingIOError):
            secret.accept()


def test_several_that_never_answer_cost_the_time_limit_once(prof, fake):
    processes = [fake("silent") for _ in range(4)]
    recording = ask(prof, ",".join(str(process.pid) for process in processes))
    assert recording.result.stderr.count("does not answer") == 4
    assert recording.extra_s < 6
