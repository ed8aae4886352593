"""Missing tools: a test that needs one is skipped, or fails if PROF_REQUIRE_CLIENTS is set, as in CI."""

import os
import shutil
import subprocess
import traceback

import pytest


def lacking(what):
    """Ends the test."""
    message = f"{what} is missing: ./bootstrap --tests installs it"
    if os.environ.get("PROF_REQUIRE_CLIENTS"):
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def tool(name):
    """The path of a program."""
    return shutil.which(name) or lacking(name)


def lacking_program(error):
    """Ends the test if subprocess raised this FileNotFoundError because a program is not in PATH."""
    name, raised_in = error.filename, traceback.extract_tb(error.__traceback__)[-1].filename
    if raised_in == subprocess.__file__ and isinstance(name, str) and "/" not in name and not shutil.which(name):
        lacking(name)
