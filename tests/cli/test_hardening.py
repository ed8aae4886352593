"""The program is built with the hardening options of compiler and linker; readelf checks its file."""

import subprocess

import pytest


@pytest.fixture(scope="module")
def readelf(client):
    """readelf("--symbols", path) is what it prints."""

    def run(*arguments):
        return subprocess.run([client("readelf"), "--wide", *map(str, arguments)],
                              capture_output=True, text=True, check=True).stdout

    return run


def test_the_program_is_position_independent(prof, readelf):
    assert "DYN (Position-Independent Executable file)" in readelf("--file-header", prof.binary)


def test_nothing_that_the_dynamic_linker_fills_in_stays_writable(prof, readelf):
    assert "GNU_RELRO" in readelf("--program-headers", prof.binary)
    assert "BIND_NOW" in readelf("--dynamic", prof.binary)


def test_the_stack_is_not_executable(prof, readelf):
    stack = [line.split() for line in readelf("--program-headers", prof.binary).splitlines() if "GNU_STACK" in line]
    assert [words[-2] for words in stack] == ["RW"]


def test_overflows_of_buffers_are_checked(prof, readelf):
    symbols = readelf("--dyn-syms", prof.binary)
    assert "__stack_chk_fail" in symbols, "-fstack-protector-strong"
    assert "__snprintf_chk" in symbols, "-D_FORTIFY_SOURCE"
