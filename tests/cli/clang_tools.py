"""Finds clang-format and clang-tidy in one version, because other versions have other results."""

import re
import subprocess
from pathlib import Path

from conftest import SOURCE
from lacking import lacking

VERSION = 14


def version(program):
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"version (\d+)\.", said)
    return int(found[1]) if found else None


def of_version(candidates, name):
    """Returns the first of these programs that exists in that version."""
    for path in filter(None, candidates):
        if Path(path).exists() and version(path) == VERSION:
            return path
    return lacking(f"{name} {VERSION}")


def files(*patterns):
    return sorted(path for pattern in patterns for path in SOURCE.glob(pattern))
