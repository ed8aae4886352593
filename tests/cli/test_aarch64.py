"""Recordings of aarch64 machines on this machine, and prof built for aarch64 (build-aarch64), which qemu runs; see the
stage portable of tests/run. qemu has no perf_event_open(2), so recording is not tested."""

import gzip
import os
import platform
import re
import subprocess
from collections import Counter

import pytest

import recorded_stops
from conftest import SOURCE
from lacking import tool
from time_limit import TIME_LIMIT_S

FIXTURES = SOURCE / "tests" / "truth" / "fixtures"
END_TO_END = SOURCE / "tests" / "fuzz" / "corpus" / "end_to_end"
SYMFS = SOURCE / "tests" / "fuzz" / "symfs"
CROSS_BUILD = SOURCE / "build-aarch64"
FORMATS = ["folded", "perf.txt", "svg", "speedscope.json", "pb.gz", "firefox.json.gz", "ndjson"]


def stacks(perf_script):
    """Returns the addresses of each sample, starting with the leaf."""
    samples = perf_script.read_text().split("\n\n")
    found = (tuple(int(pc, 16) for pc in re.findall(r"^\t *([0-9a-f]+) ", sample, re.MULTILINE)) for sample in samples)
    return Counter(stack for stack in found if stack)


def convert(prof, folder, name, **how):
    """Returns the result and the stacks of a recording made from the stops with that name, and their recorded callers."""
    contents, truth = recorded_stops.recording(FIXTURES / name, **how)
    (folder / "perf.data").write_bytes(contents)
    result = prof.run("convert", "perf.data", "--symfs", FIXTURES / name, "-o", "out.perf.txt")
    return result, stacks(folder / "out.perf.txt"), Counter(truth)


@pytest.mark.parametrize("name", ["aarch64", "aarch64_signed", "x86_64"])
def test_a_recording_of_any_machine_has_the_watched_callers(prof, tmp_path, name):
    result, found, truth = convert(prof, tmp_path, name)
    assert found == truth
    assert " 0 truncated" in result.stderr


def test_the_machine_of_a_recording_without_a_header_is_known_by_its_registers(prof, tmp_path):
    _, found, truth = convert(prof, tmp_path, "aarch64_signed", has_arch=False)
    assert found == truth


def test_stacks_of_32_bit_processes_of_an_aarch64_machine_are_counted_and_cut(prof, tmp_path):
    result, found, truth = convert(prof, tmp_path, "aarch64", abi=recorded_stops.ABI_32)
    assert found == Counter(stack[:1] for stack in truth.elements())
    assert f"{truth.total()} of 32-bit processes" in result.stderr


@pytest.fixture(scope="module", params=[4, 16, 64], ids=lambda kib: f"pages of {kib} KiB")
def emulated(request):
    """emulated(ARGUMENT …) runs prof for aarch64."""
    program = CROSS_BUILD / "cmd" / "prof"
    if platform.machine() == "aarch64":
        pytest.skip("this machine needs no emulator")
    if not program.exists():
        pytest.skip("no build for aarch64, which tests/run makes where the archive has arm64")
    preloaded = CROSS_BUILD / "tests" / "aarch64" / "libno_seccomp.so"
    command = [tool("qemu-aarch64"), "-p", str(request.param << 10), "-E", f"LD_PRELOAD={preloaded}", program]

    def run(*arguments, **options):
        return subprocess.run([*command, *map(str, arguments)], check=False, text=True, capture_output=True,
                              timeout=TIME_LIMIT_S, stdin=subprocess.DEVNULL, **options)

    return run


def contents(path):
    """Other libraries compress differently."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


@pytest.fixture(params=["dwarf", "prof", "aarch64_signed"])
def recording(tmp_path, request):
    """A perf.data and the directory of its files."""
    if request.param != "aarch64_signed":
        return END_TO_END / request.param, SYMFS
    data = tmp_path / "perf.data"
    data.write_bytes(recorded_stops.recording(FIXTURES / request.param)[0])
    return data, FIXTURES / request.param


def test_prof_for_aarch64_writes_the_same_bytes(prof, emulated, tmp_path, recording):
    data, symfs = recording
    outputs = [argument for kind in FORMATS for argument in ("-o", f"out.{kind}")]
    folders = {tmp_path / "native": prof, tmp_path / "emulated": emulated}
    for folder, run in folders.items():
        folder.mkdir()
        result = run("convert", data, "--symfs", symfs, *outputs, cwd=folder)
        assert result.returncode == 0, result.stderr
    for kind in FORMATS:
        native, there = (contents(folder / f"out.{kind}") for folder in folders)
        assert native == there, kind


@pytest.mark.parametrize("arguments", [
    ("report", END_TO_END / "prof"),
    ("report", END_TO_END / "dwarf", "--by", "line", "--json"),
    ("annotate", END_TO_END / "prof", "spin"),
    ("diff", END_TO_END / "dwarf", END_TO_END / "prof"),
], ids=lambda arguments: arguments[0])
def test_prof_for_aarch64_prints_the_same(prof, emulated, arguments):
    environment = {**os.environ, "COLUMNS": "120"}
    native, there = (run(*arguments, "--symfs", SYMFS, env=environment, cwd=SOURCE) for run in (prof, emulated))
    assert native.returncode == 0, native.stderr
    assert (native.stdout, native.returncode) == (there.stdout, there.returncode)
