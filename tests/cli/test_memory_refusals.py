"""Limits of recording a program's memory are reported before the program starts, with an alternative.
tests/unit/test_inside_refusal.c tests which programs are refused."""

import os
import re
import shutil
import subprocess
import tempfile

import pytest

from lacking import tool

GROWTH = "prof record --growth"
GO = "curl -o heap.pb.gz http://localhost:6060/debug/pprof/heap"

ALLOCATES = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	puts("ran");
	for (int i = 0; i < 100; i++)
		free(malloc(1 << 20));
	return 0;
}
"""


@pytest.fixture
def build(prof):
    """Compiles a C program that prints that it has run. The result is its path in prof's folder."""

    def build(*words, source=""):
        (prof.folder / "app.c").write_text(ALLOCATES + source)
        subprocess.run([tool("gcc"), "-g", "-o", "app", "app.c", *words], cwd=prof.folder, check=True)
        return "./app"

    return build


def assert_refused(prof, why, instead, *command):
    for words in ("record", "--alloc", "-o", "out.pb.gz"), ("inside",):
        result = prof(*words, *command)
        assert result.returncode == 1, result.stderr
        assert why in result.stderr and instead in result.stderr
        assert "ran" not in result.stdout, "the program was started"
        assert not (prof.folder / "out.pb.gz").exists()


def assert_noticed(prof, what, instead, *command):
    result = prof.run("record", "--alloc", "-o", "out.pb.gz", *command)
    first = result.stderr.splitlines()[0]
    assert what in first and instead in first
    assert result.stdout == "ran\n"


def test_a_static_program_is_refused(prof, build):
    program = build("-static")
    assert_refused(prof, "./app is statically linked", GROWTH, "env", "A=1", program)
    assert prof("record", "--growth", "-o", "out.pb.gz", program).stdout == "ran\n"


def test_a_go_program_is_refused_with_its_own_heap_profile(prof, started, target):
    assert_refused(prof, "is a static Go program", GO, target("garbage"))
    process = started(subprocess.Popen([target("parked")], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True))
    result = prof("record", "--alloc", "-p", process.pid)
    assert result.returncode == 1
    assert "is a static Go program" in result.stderr and GO in result.stderr


def test_a_program_with_the_library_of_address_sanitizer_is_refused(prof, build):
    program = build("-fsanitize=address")
    assert_refused(prof, "is built with AddressSanitizer", "ASAN_OPTIONS=verify_asan_link_order=0", program)
    result = prof("record", "--alloc", "-o", "out.pb.gz", program, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"})
    assert result.returncode == 0 and result.stdout == "ran\n", result.stderr


def test_an_allocator_that_is_linked_in_is_noticed_and_the_program_runs(prof, build):
    program = build(source="void *tc_malloc(size_t size) { return malloc(size); }\n")
    assert_noticed(prof, "./app has tcmalloc linked in, whose allocations are not recorded", "HEAPPROFILE=", program)
    assert prof("record", "-q", "--alloc", "-o", "out.pb.gz", program).stderr == ""
    own = """
        static char room[1 << 28], *at = room;
        void *malloc(size_t size) { return (at += (size + 31) / 16 * 16) - (size + 31) / 16 * 16; }
        void free(void *block) { (void)block; }
    """
    assert_noticed(prof, "./app has a malloc() of its own linked in", GROWTH, build("-fno-builtin", source=own))


def test_a_process_without_the_library_is_refused_with_what_works(prof, service):
    result = prof("record", "--alloc", "-p", service.pid)
    assert result.returncode == 1
    assert f"PID {service.pid} does not run under prof's library" in result.stderr
    assert "prof inside COMMAND" in result.stderr and f"{GROWTH} -p {service.pid}" in result.stderr


def test_the_summary_says_what_was_allocated_and_what_is_in_use_or_why_there_is_none(prof, build):
    result = prof("record", "--alloc", "-o", "out.pb.gz", "true")
    assert result.returncode == 0
    assert "no allocation was sampled: " in result.stderr and "--alloc=1k" in result.stderr
    program = build(source="void *kept;\n__attribute__((constructor)) static void keep(void) { kept = malloc(64 << 20); }\n")
    # Root's prof opens the file of a process that has ended as user nobody would.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy(prof.folder / program, folder)
        result = prof("record", "--alloc", "-o", "out.pb.gz", "--", "sh", "-c", f"{program}; {program}; :")
    assert result.returncode == 0
    # One run in fifty also samples a buffer of stdout or a block of sh, which counts as 512 KiB in many objects.
    in_use = re.search(r"one sample per 512 KiB; in use: (13[4-6] MB in [\d,]+ objects) at the end", result.stderr)
    assert "allocated: " in result.stderr and in_use, result.stderr
    assert "3 processes ran prof's library" in result.stderr
    report = prof("report", "out.pb.gz").stdout
    assert "> alloc_space: " in report and f"  inuse_space: {in_use[1]} at the end, " in report
    assert ": prof report --leaks\n" in report
    assert "keep" in prof("report", "--leaks", "out.pb.gz").stdout
