"""Stacks of Java programs, whose compiled code has no frame pointers, and the symbols of that code."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import NOBODY
from control_channel import end
from lacking import tool
from profiles import Stacks
from until_busy import cpu_seconds, wait

UNTIL_BUSY = Path(__file__).parent / "until_busy.py"

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

# Names of compiled methods are written when the program ends.
NAMES = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Chain*.*"]

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("java")
    (folder / "Chain.java").write_text(PROGRAM)
    subprocess.run([tool("javac"), "-d", folder, folder / "Chain.java"], check=True)
    return folder


def method(frame):
    """Returns the method of the program, or None."""
    name = frame.split("(")[0].split(" ")[-1]
    return name.rpartition(".")[2] if name.startswith("Chain") else None


def wrong_calls(stacks):
    """Returns calls from one compiled method of the program to another one that it does not call."""
    calls = [(method(caller), method(callee)) for frames in stacks.counts for caller, callee in zip(frames, frames[1:])]
    known = [call for call in calls if all(call)]
    assert known, stacks.hottest()
    return [(caller, callee) for caller, callee in known if caller not in CALLERS.get(callee, {caller})]


@pytest.mark.parametrize("mode", [[], ["-Xint"], ["-XX:TieredStopAtLevel=1"]], ids=["tiered", "interpreted", "c1"])
def test_java_stacks_reach_their_root(prof, classes, mode):
    stacks = prof.record("-F", "499", "--", tool("java"), *NAMES, *mode, "-cp", classes, "Chain").stacks
    truncated = stacks.count(lambda frames: "[truncated]" in frames)
    # On a busy machine, most of the samples are of its start.
    assert truncated <= 0.02 * stacks.total + 10, stacks.hottest()
    # When HotSpot compiles code again, it replaces other code, so that a sample can get the name of either.
    if mode != ["-Xint"]:
        assert len(wrong_calls(stacks)) <= 0.01 * stacks.total + 2, wrong_calls(stacks)


# --- Names of a running program -------------------------------------------------------------------

AT_ONCE = "-XX:TieredStopAtLevel=1"  # compiles a method only once, and soon


@pytest.fixture
def chain(classes, started):
    """chain(*options) runs the program until the test ends."""
    folders = []

    def start(*options, before=(), out=subprocess.DEVNULL, **how):
        folders.append(subprocess.run(["mktemp", "-d", "-p", "/var/tmp"], check=True, capture_output=True, text=True).stdout.strip())
        subprocess.run(["sh", "-c", 'cp "$0"/*.class "$1" && chmod -R a+rX "$1"', classes, folders[-1]], check=True)
        return started(subprocess.Popen([*before, tool("java"), *options, "-cp", ".", "Chain", "on"], cwd=folders[-1], stdout=out,
                                        stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True, **how))

    yield start
    for folder in folders:
        subprocess.run(["rm", "-r", folder], check=True)


def java_of(process):
    """Returns the virtual machine, which unshare and a shell may have started, or the process itself if it does not
    exist yet."""
    pid = process.pid
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        while children := Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split():
            pid = int(children[0])
    return pid


def wait_until_compiled(process, seconds=1.2):
    """After this much CPU time, the machine has compiled its methods."""
    while cpu_seconds(java_of(process)) < seconds:
        assert process.poll() is None
        time.sleep(0.01)


def ask(prof, *pids, options=("--java",), seconds=0.3, then=":"):
    """Records until each of the processes has used this much CPU time. Returns the recording and how long it took after
    that."""
    until = f'for pid; do "{sys.executable}" "{UNTIL_BUSY}" $pid {seconds}; done; {then}; date +%s.%N'
    recording = prof.record(*options, "-F", "499", "-p", ",".join(map(str, pids)), "--", "sh", "-c", until, "sh", *map(str, pids))
    recording.extra_s = time.time() - float(recording.result.stdout)
    return recording


def assert_named(recording, pid, named=True):
    """Asserts that the code that the process compiled at run time is symbolized, or is not."""
    all_samples = compiled = unnamed = 0
    for sample in recording.pprof.message.sample:
        if recording.pprof.labels(sample).get("pid") == pid and sample.value[0]:
            frames = recording.pprof.frames(sample)
            is_unnamed = any(frame.startswith("[jit") for frame in frames)
            all_samples += sample.value[0]
            unnamed += is_unnamed * sample.value[0]
            compiled += (is_unnamed or any("Chain." in frame for frame in frames)) * sample.value[0]
    assert compiled > 0.3 * all_samples > 10, recording.stacks.hottest()
    assert unnamed <= 0.05 * compiled if named else unnamed > 0.3 * all_samples, recording.stacks.hottest()


def attach_files(pid):
    return list(Path("/tmp").glob(f".attach_pid{pid}"))


def was_asked(process):
    return Path(f"/tmp/.java_pid{process.pid}").exists() or Path(f"/tmp/perf-{process.pid}.map").exists()


def test_a_running_program_is_asked_for_the_names_of_its_compiled_code_unless_that_is_turned_off(prof, chain):
    """The program needs no options for that, and continues unchanged."""
    process = chain()
    wait_until_compiled(process)
    recording = ask(prof, process.pid, options=("--java=no",))
    assert_named(recording, process.pid, named=False)
    assert "of the samples are in Java, whose functions have no names" in recording.result.stderr
    assert "--java" in recording.result.stderr and "-XX:+DumpPerfMapAtExit" in recording.result.stderr
    assert not was_asked(process)
    for options in (), ("--java",), ("--java=auto",):
        recording = ask(prof, process.pid, options=options)
        assert_named(recording, process.pid)
        assert "--java" not in recording.result.stderr
        assert process.poll() is None and attach_files(process.pid) == []


def test_the_program_of_another_user_is_asked_only_with_the_option(root, prof, chain):
    process = chain(AT_ONCE, user=NOBODY, group=NOBODY, extra_groups=[])
    wait_until_compiled(process)
    recording = ask(prof, process.pid, options=())
    assert_named(recording, process.pid, named=False)
    assert "--java: process" not in recording.result.stderr
    assert not was_asked(process)
    assert_named(ask(prof, process.pid), process.pid)


def test_a_program_that_prof_started_is_asked_before_it_is_ended(prof, classes, started, channel):
    process = started(prof.start("record", "-F", "499", "--control", channel.how, "-o", "out.folded", "--",
                                 tool("java"), AT_ONCE, "-cp", classes, "Chain", "on"))
    channel("ping")
    wait_until_compiled(process)
    channel("stop")
    end(process)
    stacks = Stacks.read(prof.folder / "out.folded")
    assert stacks.count(lambda frames: any("Chain." in frame for frame in frames)) > 0.3 * stacks.total, stacks.hottest()


def test_programs_are_asked_with_the_rights_of_their_users_where_they_are_and_as_they_allow(root, prof, chain, tmp_path):
    """With -Xrs, SIGQUIT would kill it. With the mechanism disabled, it would print the stacks of its threads."""
    outputs = {option: open(tmp_path / option, "wb") for option in ("-Xrs", "-XX:+StartAttachListener", "-XX:+DisableAttachMechanism")}
    processes = [chain(AT_ONCE, option, out=out) for option, out in outputs.items()]
    user = chain(AT_ONCE, user=NOBODY, group=NOBODY, extra_groups=[])
    # It has its own /tmp and process id.
    contained = chain(AT_ONCE, before=["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
                                       'mount -t tmpfs none /tmp && "$0" "$@"; :'])
    for process in *processes, user, contained:
        wait_until_compiled(process)
    inner = java_of(contained)
    recording = ask(prof, *(process.pid for process in processes), user.pid, inner)
    for pid in processes[0].pid, processes[1].pid, user.pid, inner:
        assert_named(recording, pid)
    assert f"--java: process {processes[2].pid} was started with -XX:+DisableAttachMechanism" in recording.result.stderr
    assert Path(f"/tmp/perf-{user.pid}.map").stat().st_uid == NOBODY
    assert not Path(f"/tmp/perf-{inner}.map").exists()
    for process, (option, out) in zip(processes, outputs.items()):
        out.close()
        assert process.poll() is None and (tmp_path / option).read_text() == "", option


# A fake Java virtual machine. Arguments: its libjvm.so, its reaction to SIGQUIT, a path.
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
	getchar();
	for (;;)
		((void (*)(unsigned))memory)(1000000);
}
"""


@pytest.fixture(scope="module")
def fakes(tmp_path_factory):
    """A directory with the fake, and a libjvm.so that exports the symbols of HotSpot's."""
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
    """fake(kind) starts it. It runs its code from the end of its standard input on. Its standard error has "quit" for
    each SIGQUIT."""
    found = []

    def start(kind, path="", **how):
        folder = subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip()
        subprocess.run(["sh", "-c", 'cp "$0"/* "$1" && chmod -R a+rX "$1"', fakes, folder], check=True)
        process = started(subprocess.Popen([f"{folder}/fake", f"{folder}/libjvm.so", kind, path], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, start_new_session=True, **how))
        found.append((process.pid, folder))
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for pid, folder in found:
        Path(f"/tmp/.java_pid{pid}").unlink(missing_ok=True)
        subprocess.run(["rm", "-r", folder], check=True)


def quits(process):
    """Ends the fake and returns how often it got SIGQUIT."""
    assert process.poll() is None
    process.kill()
    return process.stderr.read().count("quit")


TIME_LIMIT_OF_ANSWERS_S = 3
# kind → why there are no symbols, and how often it gets SIGQUIT
FAKES = {
    "default": ("does not handle SIGQUIT", 0),  # it would be killed
    "own handler": ("does not handle SIGQUIT", 0),  # for which the signal has another meaning
    "stopped": ("is stopped; its compiled code may lack symbols", 0),  # it would print the stacks of its threads when it goes on
    "silent": ("does not answer", 1),
    "pipe": ("does not answer", 1),
    "mute": ("does not answer", 0),
    "drips": ("does not answer", 0),
    "full": ("does not answer", 0),
    "garbage": ("(cannot list its code|does not answer)", 0),
    "closes": ("(cannot list its code|does not answer)", 0),
    "untrusted trigger": ("cannot be asked", 0),  # it would not trust the file, and print the stacks of its threads
    "link": ("", None),
    "link of a user": ("", None),
}


def test_a_fake_virtual_machine_gets_no_unknown_signal_and_costs_the_limit_once(
        root, prof, fake, tmp_path):
    """Applies also to links: root's prof must not connect to sockets that only root can connect to."""
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as secret:
        secret.bind(str(path))
        path.chmod(0o600)
        secret.listen()
        secret.settimeout(0)
        nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        processes = {kind: fake(kind.removesuffix(" of a user"), str(path), **(nobody if kind in ("link of a user", "untrusted trigger") else {}))
                     for kind in FAKES}
        trigger = Path(f"/tmp/.attach_pid{processes['untrusted trigger'].pid}")
        trigger.write_text("")
        for process in processes.values():
            process.stdin.close()
        stop = 'kill -STOP {0}; until grep -q "^State:.T" /proc/{0}/status; do sleep 0.01; done'.format(processes["stopped"].pid)
        recording = ask(prof, *(process.pid for process in processes.values()), seconds=0.02, then=stop)
        trigger.unlink()
        with pytest.raises(BlockingIOError):
            secret.accept()
    for kind, (why, signals) in FAKES.items():
        process = processes[kind]
        assert re.search(rf"process {process.pid} {why}", recording.result.stderr), (kind, recording.result.stderr)
        assert attach_files(process.pid) == [], kind
        if kind == "stopped":
            process.send_signal(signal.SIGCONT)
            wait(process.pid, 0.05)
        assert signals is None or quits(process) == signals, kind
    # One after the other, they would take much longer.
    assert recording.extra_s < TIME_LIMIT_OF_ANSWERS_S * sum(why == "does not answer" for why, _ in FAKES.values())
