"""The sources must be formatted according to .clang-format."""

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from clang_tools import VERSION, files, of_version


@pytest.fixture(scope="module")
def clang_format():
    """Returns the program of the Python package, or a distribution's program of the same version."""
    package = importlib.util.find_spec("clang_format")
    own = Path(package.origin).parent / "data" / "bin" / "clang-format" if package else None
    return of_version([own, shutil.which(f"clang-format-{VERSION}"), shutil.which("clang-format")], "clang-format")


def test_c_files_are_formatted(clang_format):
    paths = files("lib/**/*.[ch]", "cmd/**/*.[ch]", "tests/**/*.[ch]")
    result = subprocess.run([clang_format, "--dry-run", *paths], capture_output=True, text=True, check=True)
    unformatted = sorted(set(re.findall(r"^(.+?):\d+:\d+: warning", result.stderr, re.MULTILINE)))
    assert not unformatted, f"{clang_format} -i {' '.join(unformatted)}"
