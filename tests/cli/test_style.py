"""clang-tidy, eslint and the compiler must find no mistakes in the sources."""

import json
import os
import re
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from conftest import BUILD, SOURCE
from clang_tools import VERSION, files, of_version


@pytest.fixture(scope="module")
def clang_tidy():
    return of_version([shutil.which(f"clang-tidy-{VERSION}"), shutil.which("clang-tidy")], "clang-tidy")


def compilations():
    """Returns, for each C file of the build, its compiler command without the directory of this clone."""
    entries = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    return {(BUILD / entry["file"]).resolve(): entry["command"].replace(str(SOURCE), "") for entry in entries}


def sources_of_objects():
    """Returns, for each compiled C file, the project's files that the compiler has read, including itself."""
    listing = subprocess.run(["ninja", "-C", BUILD, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    for block in filter(None, listing.split("\n\n")):
        paths = [(BUILD / line.strip()).resolve() for line in block.splitlines()[1:]]
        yield paths[0], [path for path in paths if path.is_relative_to(SOURCE)]


@pytest.fixture(scope="module")
def clang_tidy_passed():
    """clang_tidy_passed(path) is a file that exists if clang-tidy has found nothing in the same sources before, in any
    clone."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "prof" / "clang-tidy"
    folder.mkdir(parents=True, exist_ok=True)
    contents, commands, sources = cache(Path.read_bytes), compilations(), dict(sources_of_objects())
    rules = contents(SOURCE / ".clang-tidy")

    def find(path):
        # A file of another configuration is not compiled here.
        read = b"".join(map(contents, sources.get(path, [path])))
        return folder / sha256(rules + commands.get(path, "").encode() + read).hexdigest()

    return find


def test_clang_tidy_finds_nothing(clang_tidy, clang_tidy_passed):
    def check(path):
        passed = clang_tidy_passed(path)
        if passed.exists():
            return ""
        result = subprocess.run([clang_tidy, "-p", BUILD, "--quiet", "--warnings-as-errors=*", path],
                                capture_output=True, text=True, check=False)
        if result.returncode == 0:
            passed.touch()
            return ""
        return result.stdout + result.stderr

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        found = "".join(threads.map(check, files("lib/**/*.c", "cmd/**/*.c")))
    assert not found, found


def test_without_assertions_the_compiler_warns_of_nothing():
    """Packages are built like this: a variable that only an assertion reads is unused then."""
    warnings = ""
    for entry in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        path = (Path(entry["directory"]) / entry["file"]).resolve()
        if path.is_relative_to(SOURCE / "lib") or path.is_relative_to(SOURCE / "cmd"):
            if "assert(" in path.read_text(encoding="utf-8"):
                # arguments from -MD on name output files
                words = shlex.split(entry["command"])
                warnings += subprocess.run([*words[:words.index("-MD")], "-DNDEBUG", "-fsyntax-only", path], cwd=entry["directory"],
                                           capture_output=True, text=True, check=False).stderr
    assert not warnings, warnings


def test_eslint_finds_nothing(client, node_package):
    result = subprocess.run([client("node"), node_package("eslint") / "bin" / "eslint.js", "."], cwd=SOURCE,
                            capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_tests_that_security_md_names_exist():
    def lacks(name, functions):
        text = "".join(path.read_text(encoding="utf-8") for path in SOURCE.glob(f"tests/*/{name}.*") if path.suffix in (".c", ".py"))
        return [f"{name}: {function}" for function in re.findall(r"\w+", functions) or [""]
                if not re.search(rf"\b{function}[()]", text)]

    text = " ".join((SOURCE / "docs" / "SECURITY.md").read_text(encoding="utf-8").split())
    named = re.findall(r"`((?:test|fuzz)_\w+)(?:\.py)?`(?:: (`\w+`(?:, `\w+`)*))?", text)
    assert len(named) > 100
    assert not [lack for name, functions in named for lack in lacks(name, functions)]
