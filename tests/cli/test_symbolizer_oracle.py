"""Compares prof's own DWARF reader with elfutils (--symbolizer fast, libdw), and tests elfutils where prof's reader
gives up."""

import gzip
import os
import random
import shutil
import subprocess

import pytest

from conftest import BUILD, SOURCE, Prof
from lacking import tool
from test_damage import sections
from test_inline_oracle import built, functions, places, resolved
from time_limit import TIME_LIMIT_S

ADDRESSES_MAX = 6000


# ---- All functions of a program; test_inline_oracle.py compares more of them ----


def rust_debug(client, folder):
    subprocess.run([client("rustc"), "-g", "--edition=2021", SOURCE / "tests/targets/interpreter.rs", "-o", folder / "program"],
                   check=True, capture_output=True)
    return folder / "program"


def compressed_and_shared(client, folder):
    program = shutil.copy(built("C++, gcc, DWARF 5"), folder)
    subprocess.run([client("dwz"), program], check=True)
    subprocess.run([tool("objcopy"), "--compress-debug-sections=zlib", program], check=True)
    return program


ALL_FUNCTIONS = {
    "prof": lambda client, folder: BUILD / "cmd/prof",
    "inferno": lambda client, folder: client("inferno-flamegraph"),
    "Rust, debug": rust_debug,
    "C++, dwz, compressed": compressed_and_shared,
}


@pytest.mark.parametrize("name", ALL_FUNCTIONS)
def test_functions_files_and_lines_equal_those_of_elfutils(name, client, tmp_path):
    program = ALL_FUNCTIONS[name](client, tmp_path)
    addresses = places(functions(program))
    addresses = addresses[::1 + len(addresses) // ADDRESSES_MAX]
    ours, theirs = resolved(program, addresses), resolved(program, addresses, "--libdw")
    different = [(hex(address), our, their) for address, our, their in zip(addresses, ours, theirs) if our != their]
    assert not different, f"{len(different)} of {len(addresses)}, the first: {different[0]}"
    assert sum(len(our) > 1 for our in ours) > 10, "nothing is inlined"


# ---- Recordings ----

# Functions with arguments and inlined calls. Each takes its share of the time.
LOOPS = """
#include <stdlib.h>
#include <time.h>

volatile unsigned sink;

static inline __attribute__((always_inline)) unsigned mix(unsigned value)
{
	for (unsigned i = 0; i < 64; i++)
		value = value * 1664525 + 1013904223;
	return value;
}

__attribute__((noinline)) void first(unsigned rounds, unsigned seed)
{
	while (rounds--)
		sink += mix(seed + rounds);
}

__attribute__((noinline)) void second(unsigned rounds, unsigned seed)
{
	while (rounds--)
		sink -= mix(seed * rounds);
}

__attribute__((noinline)) static double used(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

int main(int argc, char **argv)
{
	double end = atof(argv[argc - 1]);

	while (used() < end) {
		first(20000, 1);
		second(20000, 2);
	}
	return 0;
}
"""


RECORDED = {
    "C": lambda client, folder: [BUILD / "tests/targets/shares", "0.3"],
    "Rust": lambda client, folder: [client("rg"), "--threads=1", "-c", "a.*z", SOURCE / "lib"],
    "Python": lambda client, folder: ["/usr/bin/python3", "-c", "sum(hash(str(i)) for i in range(400000))"],
    "prof": lambda client, folder: [BUILD / "cmd/prof", "convert", "-q", "-o", folder / "o.svg", folder / "in.folded"],
}


def convert(prof, symbolizer, **options):
    """The folded stacks and the pprof message of raw.data."""
    names = [prof.folder / f"{symbolizer}.folded", prof.folder / f"{symbolizer}.pb.gz"]
    prof.run("convert", "--symbolizer", symbolizer, *(word for name in names for word in ("-o", name)), "raw.data",
             **options)
    return names[0].read_bytes(), gzip.decompress(names[1].read_bytes())


def record(prof, command):
    prof.run("record", "-F", "2000", "-o", "raw.data", "--", *command)


@pytest.mark.parametrize("name", RECORDED)
def test_profiles_of_both_readers_are_equal(name, client, prof):
    stacks = "".join(f"all;{'a' * (i % 50 + 1)};{'b' * (i % 70 + 1)};c{i} {i + 1}\n" for i in range(20000))
    (prof.folder / "in.folded").write_text(stacks, encoding="ascii")
    record(prof, RECORDED[name](client, prof.folder))
    fast = convert(prof, "fast")
    assert convert(prof, "libdw") == fast
    assert convert(prof, "auto") == fast


# ---- DWARF that prof's reader does not support ----

CALL_SITE_PARAMETER = 0x49
UNKNOWN_FORM = 0x7f


def uleb(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def spoil_entries(data, tag):
    """Gives an attribute of these entries an unknown form."""
    at, size = next((offset, size) for name, offset, size in sections(data) if name == ".debug_abbrev")
    end, spoiled = at + size, 0
    while at < end:
        code, at = uleb(data, at)
        if not code:  # the end of a table
            continue
        found, at = uleb(data, at)
        at += 1
        name = None
        while name != 0:
            name, at = uleb(data, at)
            form_at = at
            form, at = uleb(data, at)
            if form == 0x21:  # DW_FORM_implicit_const
                _, at = uleb(data, at)
            if found == tag and form:
                data[form_at] = UNKNOWN_FORM
                spoiled += 1
    assert spoiled


@pytest.fixture(scope="module")
def recorder(client, tmp_path_factory):
    """A prof in a folder with a program, `loops`, and a recording of it."""
    prof = Prof(tmp_path_factory.mktemp("loops"))
    (prof.folder / "loops.c").write_text(LOOPS, encoding="ascii")
    subprocess.run([client("gcc"), "-O2", "-g", "-gdwarf-5", "-o", "loops", "loops.c"], cwd=prof.folder, check=True)
    record(prof, [prof.folder / "loops", "0.3"])
    return prof


@pytest.fixture
def loops(recorder):
    """Yields the program, and restores it at the end."""
    program = recorder.folder / "loops"
    intact = program.read_bytes()
    yield program
    program.write_bytes(intact)


@pytest.fixture
def spoiled(recorder, loops):
    """The profiles of the program before its units became unreadable."""
    intact = convert(recorder, "fast")
    data = bytearray(loops.read_bytes())
    spoil_entries(data, CALL_SITE_PARAMETER)
    loops.write_bytes(data)
    return intact


def test_elfutils_reads_units_that_prof_does_not_understand(recorder, spoiled):
    alone = convert(recorder, "fast")
    assert alone != spoiled
    assert b"main;first;mix " not in alone[0]
    assert b"main;first;mix " in spoiled[0]
    assert convert(recorder, "auto") == spoiled
    assert convert(recorder, "libdw") == spoiled


# ---- elfutils may fail ----

FAILURES = {"crash": "__builtin_trap();", "hang": "for (;;) __asm__ volatile(\"\");"}


@pytest.fixture
def failing(client, tmp_path):
    """failing(how) is an environment in which libdw's dwarf_ranges() fails in that way."""
    if b"__asan_init" in (BUILD / "cmd/prof").read_bytes():
        pytest.skip("a sanitizer's library wants to be loaded first")

    def preload(how):
        source, library = tmp_path / "fail.c", tmp_path / "fail.so"
        source.write_text(f"long dwarf_ranges(void) {{ {FAILURES[how]} return 0; }}\n", encoding="ascii")
        subprocess.run([client("gcc"), "-O1", "-w", "-shared", "-fPIC", "-o", library, source], check=True)
        return {**os.environ, "LD_PRELOAD": str(library)}

    return preload


@pytest.mark.parametrize("how", FAILURES)
def test_a_failure_of_elfutils_costs_only_what_it_would_have_named(how, recorder, spoiled, failing):
    alone = convert(recorder, "fast")
    assert convert(recorder, "auto", env=failing(how), timeout=TIME_LIMIT_S) == alone


def test_the_cache_keeps_no_names_of_a_run_in_which_elfutils_failed(recorder, spoiled, failing, tmp_path):
    caches = tmp_path / "caches"
    caches.mkdir(mode=0o700)
    cached = {"XDG_CACHE_HOME": str(caches)}
    convert(recorder, "auto", env={**failing("crash"), **cached})
    assert list(caches.rglob("*-*"))  # of the other files
    assert convert(recorder, "auto", env={**os.environ, **cached}) == spoiled


def test_a_failure_of_elfutils_does_not_matter_where_it_is_not_needed(recorder, failing):
    assert convert(recorder, "auto", env=failing("crash")) == convert(recorder, "fast")


def damage(data, chance):
    """Overwrites a few bytes of the debug sections."""
    found = [(offset, size) for name, offset, size in sections(data) if name.startswith(".debug_") and size]
    for offset, size in found:
        for _ in range(chance.randrange(4)):
            data[offset + chance.randrange(size)] = chance.randrange(256)


def test_elfutils_may_make_anything_of_damaged_debug_information(recorder, loops):
    intact, total = loops.read_bytes(), stacks_total(convert(recorder, "fast")[0])
    chance = random.Random(1)
    for _ in range(20):
        data = bytearray(intact)
        damage(data, chance)
        loops.write_bytes(data)
        assert stacks_total(convert(recorder, "libdw", timeout=TIME_LIMIT_S)[0]) == total


def stacks_total(folded):
    return sum(int(line.rpartition(b" ")[2]) for line in folded.splitlines())
