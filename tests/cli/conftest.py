"""What the tests that drive prof share: the program, its targets, and the clients that read its files."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from browser import Browser
from patience import TIME_LIMIT_S
from profiles import Pprof, Stacks

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("PROF_BUILD", SOURCE / "build")).resolve()

# nohup and a shell's & leave signals ignored, which all that is started from here would inherit.
for ignored in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(ignored, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


class Prof:
    """The program, run in a folder of the test's own."""

    def __init__(self, folder):
        self.binary = BUILD / "cmd" / "prof"
        self.folder = folder

    def __call__(self, *arguments, **options):
        """Runs to the end; output as text unless text=False."""
        # Without env, COLUMNS would be set, which readline does behind os.environ.
        options = {"text": True, "capture_output": True, "cwd": self.folder, "timeout": TIME_LIMIT_S,
                   "stdin": subprocess.DEVNULL, "env": os.environ, **options}
        return subprocess.run([self.binary, *map(str, arguments)], check=False, **options)

    def start(self, *arguments, **options):
        """Starts it in a process group of its own, as a shell would."""
        options = {"text": True, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                   "cwd": self.folder, "start_new_session": True, **options}
        return subprocess.Popen([self.binary, *map(str, arguments)], **options)

    def record(self, *arguments, **options):
        """A recording that must succeed, read back from its folded and its pprof output."""
        folded, pprof = self.folder / "record.folded", self.folder / "record.pb.gz"
        result = self("record", "-o", folded, "-o", pprof, *arguments, **options)
        assert result.returncode == 0, result.stderr
        return Recording(result, Stacks.read(folded), Pprof.read(pprof))


class Recording:
    def __init__(self, result, stacks, pprof):
        self.result = result
        self.stacks = stacks
        self.pprof = pprof


@pytest.fixture
def prof(tmp_path):
    return Prof(tmp_path)


@pytest.fixture(scope="session")
def targets():
    """The folder of the programs with known call trees (tests/targets)."""
    return BUILD / "tests" / "targets"


def lacking(what):
    """A missing client is a failure in CI and a skipped test elsewhere."""
    if os.environ.get("PROF_REQUIRE_CLIENTS"):
        pytest.fail(f"{what} is missing: ./bootstrap --tests brings it")
    pytest.skip(f"{what} is missing")


@pytest.fixture(scope="session")
def client():
    """client("go") is the path of that program."""

    def find(name):
        return shutil.which(name) or lacking(name)

    return find


@pytest.fixture(scope="session")
def node_package():
    """node_package("speedscope") is the folder of that package of npm."""

    def find(name):
        path = BUILD / "clients" / "node" / "node_modules" / name
        return path if path.exists() else lacking(name)

    return find


@pytest.fixture(scope="session")
def browser(client, tmp_path_factory):
    """A headless Chromium; browser.open(url) is a page."""
    started = Browser(client("chromium"), tmp_path_factory.mktemp("chromium"))
    yield started
    started.close()


@pytest.fixture(scope="session")
def target(targets):
    """target("shares") is the path of that test program."""

    def find(name):
        path = targets / name
        return path if path.exists() else lacking(f"the test program {name}")

    return find


def end_group(process):
    """A command that prof has started outlives a prof that is killed, and would compete with every test to come."""
    try:
        if process.pid != os.getpgrp():
            os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # no group of its own, or all of it has ended


@pytest.fixture
def started():
    """started(Popen) ends the process with the test, whatever becomes of the test; and what is left of its group."""
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
def service(target, started):
    """The target `service`, running and ready to be attached to."""
    process = started(subprocess.Popen([target("service")], text=True, bufsize=1,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.fixture
def until_busy():
    """The words of a command that ends when a process has used so much more CPU time."""

    def command(pid, seconds=0.4):
        return [sys.executable, Path(__file__).parent / "until_busy.py", str(pid), str(seconds)]

    return command


@pytest.fixture
def root():
    if os.geteuid() != 0:
        pytest.skip("needs root")


# A crash that a test provokes must not fill the disk.
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
