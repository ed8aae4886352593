"""A missing tool is named: the test is skipped, or fails if PROF_REQUIRE_CLIENTS is set."""

import os
import subprocess
import sys

import pytest

from conftest import SOURCE

TESTS = """
import subprocess
import pytest
from profiles import profile_message

def test_that_starts_a_program():
    subprocess.run(["no-such-program", "--version"], check=True)

@pytest.fixture
def started_by_a_fixture():
    subprocess.run(["no-such-program"], check=True)

def test_with_a_fixture_that_starts_a_program(started_by_a_fixture):
    pass

def test_that_reads_a_profile(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    profile_message()

def test_that_opens_a_file():
    open("no-such-file")
"""


@pytest.fixture
def outcomes(tmp_path):
    """outcomes(variable=value) returns pytest's report for TESTS with the conftest of this folder."""

    def run(**environment):
        (tmp_path / "test_tools.py").write_text(TESTS, encoding="utf-8")
        inherited = {name: value for name, value in os.environ.items() if name != "PROF_REQUIRE_CLIENTS"}
        result = subprocess.run(
            [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "-p", "conftest", f"--rootdir={tmp_path}",
             tmp_path / "test_tools.py"],
            env={**inherited, "PYTHONPATH": str(SOURCE / "tests/cli"), **environment}, cwd=tmp_path,
            capture_output=True, text=True, check=False)
        return result.stdout

    return run


def test_a_test_without_its_tool_is_skipped(outcomes):
    said = outcomes()
    assert "1 failed, 3 skipped" in said, said
    assert "no-such-program is missing: ./bootstrap --tests installs it" in said
    assert "protoc is missing: ./bootstrap --tests installs it" in said
    assert "FAILED test_tools.py::test_that_opens_a_file - FileNotFoundError" in said


def test_a_test_without_its_tool_fails_where_clients_are_required(outcomes):
    said = outcomes(PROF_REQUIRE_CLIENTS="1")
    assert "3 failed, 1 error" in said, said
    assert "no-such-program is missing: ./bootstrap --tests installs it" in said
    assert "protoc is missing: ./bootstrap --tests installs it" in said
