"""The program is built with the hardening options of compiler and linker; readelf checks its file."""

import subprocess

import pytest


@pytest.fixture(scope="module")
def readelf(client):
    """readelf("--symbols", path) returns its output."""

    def run(*arguments):
        return subprocess.run([client("readelf"), "--wide", *map(str, arguments)],
                              capture_output=True, text=True, check=True).stdout

    return run


def test_the_program_is_hardened(prof, readelf):
    assert "DYN (Position-Independent Executable file)" in readelf("--file-header", prof.binary)
    headers = readelf("--program-headers", prof.binary)
    assert "GNU_RELRO" in headers and "BIND_NOW" in readelf("--dynamic", prof.binary)
    stack = [line.split() for line in headers.splitlines() if "GNU_STACK" in line]
    assert [words[-2] for words in stack] == ["RW"]
    symbols = readelf("--dyn-syms", prof.binary)
    assert "__stack_chk_fail" in symbols, "-fstack-protector-strong"
    assert "__snprintf_chk" in symbols, "-D_FORTIFY_SOURCE"
