"""jemalloc and tcmalloc heap files: prof symbolizes and weights them like their own tools."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lacking import lacking, tool
from profiles import Pprof
from time_limit import TIME_LIMIT_S

LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
ROUNDS = 300_000
PERIOD_BYTES = 1 << 14
FUNCTIONS = ("keep_small", "keep_large", "churn")


def library(name):
    found = [Path(folder) / name for folder in LIBRARIES if (Path(folder) / name).exists()]
    return str(found[0]) if found else lacking(name)


def run(program, environment):
    """Returns the amounts that the program reports: {function: (bytes, blocks)}."""
    result = subprocess.run([program, str(ROUNDS)], env={**os.environ, **environment}, check=True, text=True,
                            capture_output=True, timeout=TIME_LIMIT_S)
    lines = map(str.split, result.stdout.splitlines())
    return {function: (int(size), int(blocks)) for function, size, blocks in lines}


@pytest.fixture(scope="module")
def allocates(targets, tmp_path_factory):
    return shutil.copy2(targets / "allocates", tmp_path_factory.mktemp("program"))


def jemalloc(program, folder, options=""):
    true = run(program, {"LD_PRELOAD": library("libjemalloc.so.2"),
                         "MALLOC_CONF": f"prof:true,prof_final:true,lg_prof_sample:14,prof_prefix:{folder}/je{options}"})
    return next(folder.glob("je.*.f.heap")), true


@pytest.fixture(scope="module")
def jemallocs(allocates, tmp_path_factory):
    return jemalloc(allocates, tmp_path_factory.mktemp("jemalloc"), ",prof_accum:true")


@pytest.fixture(scope="module")
def tcmallocs(allocates, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tcmalloc")
    true = run(allocates, {"LD_PRELOAD": library("libtcmalloc.so.4"), "HEAPPROFILE": f"{folder}/tc"})
    return next(folder.glob("tc*.heap")), true


def by_function(prof, path, event):
    """Returns the self weights of functions, in bytes or blocks."""
    result = prof.run("convert", path, "-e", event, "-o", "-", "--format", "folded", "--weight", "period")
    sums = dict.fromkeys(FUNCTIONS, 0)
    for line in result.stdout.splitlines():
        stack, _, weight = line.rpartition(" ")
        leaf = stack.split(";")[-1].partition("(")[0]
        if leaf in sums:
            assert re.search(r";main;work(\(.*\))?;[^;]+$", stack), stack
            sums[leaf] += int(weight)
    return sums


def by_tool(name, kind, program, path):
    """The same from jeprof or google-pprof, in MB, by total, because allocators are the leaves."""
    text = subprocess.run([tool(name), "--text", f"--{kind}", program, path], check=True, text=True, capture_output=True,
                          timeout=TIME_LIMIT_S).stdout
    sums = dict.fromkeys(FUNCTIONS, 0.0)
    for line in text.splitlines():
        words = line.split(maxsplit=5)
        if len(words) == 6 and words[5] in sums:
            sums[words[5]] = float(words[3])
    return sums


def assert_same(ours, theirs):
    for function in FUNCTIONS:
        assert ours[function] / 2**20 == pytest.approx(theirs[function], abs=0.051), function


def test_allocators_are_left_out_and_sums_are_those_of_gperftools(prof, tcmallocs):
    path, true = tcmallocs
    for place, unit in enumerate(("space", "objects")):
        allocated = {function: sums[place] for function, sums in true.items()}
        assert by_function(prof, path, f"alloc_{unit}") == allocated
        assert by_function(prof, path, f"inuse_{unit}") == {**allocated, "churn": 0}


def test_numbers_of_jemalloc_are_near_the_true_ones(prof, jemallocs):
    """jemalloc rounds the bytes of blocks up to its size classes."""
    path, true = jemallocs
    ours = by_function(prof, path, "alloc_objects")
    for function in FUNCTIONS:
        size, blocks = true[function]
        assert ours[function] == pytest.approx(blocks, rel=5 / (size / PERIOD_BYTES) ** 0.5), function


@pytest.mark.parametrize("event", ("alloc_space", "inuse_space"))
def test_the_tools_of_the_allocators_find_the_same(prof, jemallocs, tcmallocs, allocates, event):
    for name, path in ("jeprof", jemallocs[0]), ("google-pprof", tcmallocs[0]):
        assert_same(by_function(prof, path, event), by_tool(name, event, allocates, path))


def test_a_report_shows_what_is_in_use_first(prof, jemallocs):
    result = prof.run("report", jemallocs[0])
    assert re.search(r"\n  alloc_space: .* samples, one per .*\n> inuse_space: .* at the end, .* of what was allocated\n", result.stdout)
    assert re.search(r"keep_large\S*\s+allocates$", result.stdout, re.MULTILINE)


def test_allocations_that_the_file_does_not_know_are_no_events(prof, allocates, tmp_path):
    path, _ = jemalloc(allocates, tmp_path)
    assert prof("convert", path, "-o", "x.pb.gz").returncode == 0
    assert {kind for kind, _ in Pprof.read(tmp_path / "x.pb.gz").sample_types()} - {"samples"} == {
        "inuse_space", "inuse_objects"}


def test_two_files_are_compared(prof, allocates, tmp_path, jemallocs):
    path, _ = jemalloc(allocates, tmp_path, ",prof_accum:true")
    result = prof.run("diff", jemallocs[0], path)
    assert "inuse_space" in result.stdout


def test_it_is_read_from_a_pipe(prof, jemallocs):
    with open(jemallocs[0], "rb") as file, subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as cat:
        result = prof("report", "-", stdin=cat.stdout)
    assert "keep_large" in result.stdout, result.stderr


def test_a_program_that_was_built_anew_is_reported(prof, jemallocs, allocates):
    before = os.stat(allocates)
    os.utime(allocates)
    result = prof("report", jemallocs[0])
    os.utime(allocates, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert f"{allocates} is newer than the heap file" in result.stderr


def test_a_file_without_mappings_keeps_its_addresses(prof, tmp_path):
    (tmp_path / "x.heap").write_text("heap_v2/1\n  t*: 1: 500 [0: 0]\n@ 0x10 0x20\n  t*: 1: 500 [0: 0]\n", encoding="ascii")
    result = prof("report", "x.heap")
    assert result.returncode == 0
    assert "it lists no mappings" in result.stderr
    assert "500 B" in result.stdout
