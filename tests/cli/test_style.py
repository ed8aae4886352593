"""The sources are formatted as .clang-format says, and clang-tidy and eslint find no mistakes in them.

Each tool in one version, since others judge differently."""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conftest import BUILD, SOURCE
from lacking import lacking

VERSION = 14  # of clang-format and clang-tidy


def version(program):
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"version (\d+)\.", said)
    return int(found[1]) if found else None


def of_version(candidates, name):
    """The first of these programs that is there in that version."""
    for path in filter(None, candidates):
        if Path(path).exists() and version(path) == VERSION:
            return path
    return lacking(f"{name} {VERSION}")


@pytest.fixture(scope="module")
def clang_format():
    """The program of the Python package, or a distribution's of the same version."""
    package = importlib.util.find_spec("clang_format")
    own = Path(package.origin).parent / "data" / "bin" / "clang-format" if package else None
    return of_version([own, shutil.which(f"clang-format-{VERSION}"), shutil.which("clang-format")], "clang-format")


@pytest.fixture(scope="module")
def clang_tidy():
    return of_version([shutil.which(f"clang-tidy-{VERSION}"), shutil.which("clang-tidy")], "clang-tidy")


def files(*patterns):
    return sorted(path for pattern in patterns for path in SOURCE.glob(pattern))


def test_c_files_are_formatted(clang_format):
    paths = files("lib/**/*.[ch]", "cmd/**/*.[ch]", "tests/**/*.[ch]")
    result = subprocess.run([clang_format, "--dry-run", *paths], capture_output=True, text=True, check=True)
    unformatted = sorted(set(re.findall(r"^(.+?):\d+:\d+: warning", result.stderr, re.MULTILINE)))
    assert not unformatted, f"{clang_format} -i {' '.join(unformatted)}"


def test_clang_tidy_finds_nothing(clang_tidy):
    def check(path):
        result = subprocess.run([clang_tidy, "-p", BUILD, "--quiet", "--warnings-as-errors=*", path],
                                capture_output=True, text=True, check=False)
        return "" if result.returncode == 0 else result.stdout + result.stderr

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        found = "".join(threads.map(check, files("lib/**/*.c", "cmd/**/*.c")))
    assert not found, found


def test_without_assertions_the_compiler_warns_of_nothing():
    """As packages are built: a variable that only an assertion reads is unused there."""
    warnings = ""
    for entry in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        path = (Path(entry["directory"]) / entry["file"]).resolve()
        if path.is_relative_to(SOURCE / "lib") or path.is_relative_to(SOURCE / "cmd"):
            if "assert(" in path.read_text(encoding="utf-8"):
                # from -MD on come the files that the compiler writes
                words = shlex.split(entry["command"])
                warnings += subprocess.run([*words[:words.index("-MD")], "-DNDEBUG", "-fsyntax-only", path], cwd=entry["directory"],
                                           capture_output=True, text=True, check=False).stderr
    assert not warnings, warnings


def test_eslint_finds_nothing(client, node_package):
    result = subprocess.run([client("node"), node_package("eslint") / "bin" / "eslint.js", "."], cwd=SOURCE,
                            capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
