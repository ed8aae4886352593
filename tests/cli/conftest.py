"""Fixtures of the command-line tests: prof, its target programs, and the clients that read its files."""

import fcntl
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from browser import Browser
from control_channel import Channel, Phases
from firefox import Firefox
from lacking import lacking, lacking_program, tool
from time_limit import TIME_LIMIT_S
from profiles import Pprof, Stacks

SOURCE = Path(__file__).resolve().parents[2]
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
TURNSTILE = Path("/proc/sys/kernel/perf_event_max_sample_rate")
NOBODY = 65534
# Tracefs, mounted for prof alone if the machine lacks it.
MOUNTS = """#!/bin/sh
exec unshare -m sh -c '[ -d /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null; exec "$@"' - {prof} "$@"
"""
BUILD = Path(os.environ.get("PROF_BUILD", SOURCE / "build")).resolve()

# nohup and a shell's & leave signals ignored, which all processes started here would inherit.
for ignored in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(ignored, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


# readline sets them in the environment that a worker of pytest-xdist inherits.
for variable in ("COLUMNS", "LINES"):
    os.environ.pop(variable, None)

# Large programs by others: the stage interop of tests/run.
INTEROP_FIXTURES = {"started_browser", "collector"}
# The commands that the running test has run, for the report if it fails.
commands = []


def pytest_configure(config):
    config.addinivalue_line("markers", "interop: runs large programs of others")
    config.addinivalue_line("markers", "alone: changes what all tests on the machine depend on")


def group_of(item):
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return " in ".join([item.path.stem, *([parameters["browser"]] if "browser" in parameters else [])])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Sets groups for pytest-xdist: one worker runs all tests of a file, or those with one browser, which share fixtures. Long
    files start first, and tests that other tests would disturb run last."""
    sizes = Counter(item.path for item in items)
    for item in items:
        if INTEROP_FIXTURES.intersection(item.fixturenames):
            item.add_marker("interop")
        if "paranoid" in item.fixturenames:
            item.add_marker("alone")
        item.add_marker(pytest.mark.xdist_group("alone" if item.get_closest_marker("alone") else group_of(item)))
    items.sort(key=lambda item: (bool(item.get_closest_marker("alone")), -sizes[item.path]))


@contextmanager
def locked(path, how):
    with open(path, "rb") as file:
        fcntl.flock(file, how)
        yield


@contextmanager
def machine_locked(alone):
    """A lock that all tests on the machine share, including those of other clones. A test that changes the machine
    takes it exclusively: it waits at the turnstile until the others have ended, and later tests wait behind it."""
    with ExitStack() as lock:
        with locked(TURNSTILE, fcntl.LOCK_EX):
            lock.enter_context(locked(PARANOID, fcntl.LOCK_EX if alone else fcntl.LOCK_SH))
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    commands.clear()
    if "PROF_TESTS_LOCKED" in os.environ:  # held by the test that runs this pytest
        return (yield)
    with machine_locked(item.get_closest_marker("alone") is not None), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROF_TESTS_LOCKED", "1")
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed and commands:
        report.sections.append(("commands of prof", "\n".join(map(str, commands))))
    return report


def environment():
    """The default environment of prof: no test depends on the symbols that another one has left behind."""
    return {**os.environ, "XDG_CACHE_HOME": os.devnull}


class Prof:
    """Runs prof in a directory of the test."""

    def __init__(self, folder):
        self.binary = BUILD / "cmd" / "prof"
        self.folder = folder

    def __call__(self, *arguments, **options):
        """Runs prof to its end; the output is text unless text=False."""
        # Without env, COLUMNS would be set: readline sets it without updating os.environ.
        options = {"text": True, "capture_output": True, "cwd": self.folder, "timeout": TIME_LIMIT_S,
                   "stdin": subprocess.DEVNULL, "env": environment(), **options}
        result = subprocess.run([self.binary, *map(str, arguments)], check=False, **options)
        commands.append(result)
        return result

    def run(self, *arguments, **options):
        """Runs prof to its end. It must succeed."""
        result = self(*arguments, **options)
        assert result.returncode == 0, result.stderr
        return result

    def start(self, *arguments, **options):
        """Starts prof in its own process group, as a shell would."""
        options = {"text": True, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                   "cwd": self.folder, "start_new_session": True, "env": environment(), **options}
        return subprocess.Popen([self.binary, *map(str, arguments)], **options)

    def record(self, *arguments, **options):
        """Makes a recording that must succeed, and reads its folded and pprof outputs."""
        folded, pprof = self.folder / "record.folded", self.folder / "record.pb.gz"
        result = self.run("record", "-o", folded, "-o", pprof, *arguments, **options)
        return Recording(result, Stacks.read(folded), Pprof.read(pprof))


class Recording:
    def __init__(self, result, stacks, pprof):
        self.result = result
        self.stacks = stacks
        self.pprof = pprof


@pytest.fixture
def prof(tmp_path):
    return Prof(tmp_path)


@pytest.fixture
def paranoid(root):
    """paranoid(level) sets the sysctl. The end of the test restores it."""
    before = PARANOID.read_text(encoding="ascii")
    yield lambda level: PARANOID.write_text(str(level), encoding="ascii")
    PARANOID.write_text(before, encoding="ascii")


@pytest.fixture
def ordinary(root, tmp_path_factory):
    """prof run by an unprivileged user, in a folder of that user."""
    folder = Path(subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip())
    os.chown(folder, NOBODY, NOBODY)
    yield OrdinaryProf(folder)
    subprocess.run(["rm", "-r", folder], check=True)


class OrdinaryProf(Prof):
    """The program is copied, because its folder may be accessible only to its owner."""

    def __init__(self, folder):
        super().__init__(folder)
        self.binary = self.bring(self.binary)

    def bring(self, program):
        copy = self.folder / Path(program).name
        subprocess.run(["cp", program, copy], check=True)
        return copy

    def __call__(self, *arguments, **options):
        return super().__call__(*arguments, user=NOBODY, group=NOBODY, extra_groups=[], **options)


@pytest.fixture
def ordinary_with_library(ordinary):
    """The library is next to prof, as in its build directory."""
    for folder, file in ("cmd", ordinary.binary), ("lib/inside/library", BUILD / "lib/inside/library/libprof-inside.so"):
        (ordinary.folder / folder).mkdir(parents=True)
        shutil.copy(file, ordinary.folder / folder)
    ordinary.binary = ordinary.folder / "cmd" / "prof"
    return ordinary


@pytest.fixture(scope="session")
def targets():
    """The directory of the programs with known call trees (tests/targets)."""
    return BUILD / "tests" / "targets"


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call():
    """Skips or fails a test that starts a missing program, and names the program."""
    try:
        return (yield)
    except FileNotFoundError as error:
        lacking_program(error)
        raise


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup():
    """Like pytest_pyfunc_call(), for programs that a fixture starts."""
    try:
        return (yield)
    except FileNotFoundError as error:
        lacking_program(error)
        raise


@pytest.fixture(scope="session")
def client():
    """client("go") is the path of the program go."""

    return tool


@pytest.fixture(scope="session")
def node_package():
    """node_package("speedscope") is the directory of that npm package."""

    def find(name):
        path = BUILD / "clients" / "node" / "node_modules" / name
        return path if path.exists() else lacking(name)

    return find


BROWSERS = {"chromium": (Browser, "chromium"), "firefox": (Firefox, "firefox-esr")}


@pytest.fixture(scope="session")
def started_browser(client, tmp_path_factory):
    """started_browser("firefox") is that browser. A session starts it once."""
    browsers = {}

    def start(name):
        if name not in browsers:
            driver, program = BROWSERS[name]
            browsers[name] = driver(client(program), tmp_path_factory.mktemp(name))
        return browsers[name]

    yield start
    for browser in browsers.values():
        browser.close()


@pytest.fixture(params=BROWSERS)
def browser(request, started_browser):
    """A headless browser; browser.open(url) is a page. The test runs in each of BROWSERS."""
    return started_browser(request.param)


@pytest.fixture
def chromium(started_browser):
    """For tests of what Firefox does not have without a screen."""
    return started_browser("chromium")


@pytest.fixture(scope="session")
def target(targets):
    """target("shares") is the path of that test program."""

    def find(name):
        path = targets / name
        return path if path.exists() else lacking(f"the test program {name}")

    return find


def end_group(process):
    """Kills the process group: a command outlives a killed prof, and would compete with later tests for the CPU."""
    try:
        if process.pid != os.getpgrp():
            os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has no group of its own, or the whole group has ended


@pytest.fixture
def started():
    """started(Popen) ends the process and its group when the test ends, even if it fails."""
    processes = []

    def keep(process):
        processes.append(process)
        return process

    yield keep
    for process in processes:
        end_group(process)
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()


@pytest.fixture
def channel(tmp_path):
    opened = Channel(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def service(target, started):
    """The target `service`, running and ready for attaching."""
    process = started(subprocess.Popen([target("service")], text=True, bufsize=1,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.fixture
def until_busy():
    """The arguments of a command that ends when a process has used that much more CPU time."""

    def command(pid, seconds=0.4):
        return [sys.executable, Path(__file__).parent / "until_busy.py", str(pid), str(seconds)]

    return command


@pytest.fixture
def root():
    if os.geteuid() != 0:
        pytest.skip("needs root")


@pytest.fixture
def phases(target, started):
    def start():
        return Phases(started(subprocess.Popen([target("phases")], text=True, bufsize=1,
                                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)))

    return start


@pytest.fixture
def controlled(prof, channel, started):
    """controlled(PID, …) is a prof that records the process from the first "enable" on, and already answers."""

    def start(pid, *arguments, delay=("-D", "-1"), **options):
        process = started(prof.start("record", "-p", pid, *delay, "--control", channel.how, *arguments, **options))
        channel("ping")
        return process

    return start


@pytest.fixture
def small_disk(root, tmp_path):
    """A file system of 256 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], check=False).returncode:
        lacking("permission to mount")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.fixture
def tracer(root, prof, tmp_path):
    """prof, which can read tracepoints."""
    script = tmp_path / "prof.sh"
    script.write_text(MOUNTS.format(prof=prof.binary), encoding="ascii")
    script.chmod(stat.S_IRWXU)
    prof.binary = script
    result = prof("record", "-q", "-e", "sched:sched_waking", "-o", "try.folded", "true")
    if result.returncode:
        pytest.skip(f"needs tracepoints: {result.stderr}")
    return prof


# A crash caused by a test must not fill the disk.
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
