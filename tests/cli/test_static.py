"""The static program runs where there is nothing else: no C library, no /sys, no locales, no terminal descriptions."""

import fcntl
import os
import shutil
import subprocess

import pytest

from conftest import BUILD, SOURCE
from lacking import tool
from time_limit import TIME_LIMIT_S
from profiles import Stacks

pytestmark = pytest.mark.usefixtures("root")


@pytest.fixture(scope="module")
def static_prof(client):
    """Built beside the tested program, and again only as far as something has changed."""
    folder = BUILD / "static"
    environment = {**os.environ, "CC": os.environ.get("CC", "gcc"), "CCACHE_DISABLE": "1"}
    with open(BUILD / "static.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "build.ninja").exists():
            subprocess.run([client("meson"), "setup", folder, SOURCE, "-Dstatic=true", "-Dtests=false", "-Dwerror=true"],
                           env=environment, check=True, capture_output=True)
        subprocess.run([client("ninja"), "-C", folder, "cmd/prof"], env=environment, check=True, capture_output=True)
    return folder / "cmd" / "prof"


@pytest.fixture
def container(static_prof, target, tmp_path):
    """container("/prof", …) runs that in a directory that holds prof and a static program, and an empty /proc or a real one."""
    place = tmp_path / "root"
    (place / "proc").mkdir(parents=True)
    for program in (static_prof, target("shares_static")):
        shutil.copy(program, place)

    def run(*words, proc=False, **environment):
        mount = f"mount -t proc proc {place}/proc && " if proc else ""
        return subprocess.run(
            [tool("unshare"), "--mount", "--pid", "--fork", "sh", "-c", f'{mount}exec chroot {place} "$@"', "sh", *words],
            env={"PATH": os.environ["PATH"], **environment}, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=TIME_LIMIT_S)

    run.place = place
    return run


def test_it_needs_no_library_and_says_its_version_in_an_empty_container(static_prof, container):
    assert "NEEDED" not in subprocess.run([tool("readelf"), "-d", static_prof], capture_output=True, text=True, check=True).stdout
    result = container("/prof", "--version")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("prof ")


@pytest.mark.parametrize("proc", [False, True], ids=["empty", "with /proc"])
def test_it_records_names_functions_and_reports(container, proc):
    recorded = container("/prof", "record", "-o", "/out.folded", "-o", "/out.pb.gz", "--", "/shares_static", "0.3", proc=proc)
    assert recorded.returncode == 0, recorded.stderr
    assert Stacks.read(container.place / "out.folded").holding("main") > 100, recorded.stderr
    reported = container("/prof", "report", "/out.pb.gz")
    assert reported.returncode == 0, reported.stderr
    assert "shares_static" in reported.stdout
    disassembled = container("/prof", "annotate", "--asm", "/out.pb.gz", "main", proc=proc)
    assert "capstone" in disassembled.stderr, disassembled.stderr
    assert disassembled.returncode == 0 or not disassembled.stdout


def test_it_finds_users_in_etc_passwd(container):
    unknown = container("/prof", "record", "-u", "somebody", "--", "/shares_static", proc=True)
    assert 'unknown user "somebody"' in unknown.stderr
    (container.place / "etc").mkdir()
    (container.place / "etc/passwd").write_text("somebody:x:4711:4711::/:/\n", encoding="utf-8")
    known = container("/prof", "record", "-u", "somebody", "--", "/shares_static", proc=True)
    assert "unknown user" not in known.stderr
