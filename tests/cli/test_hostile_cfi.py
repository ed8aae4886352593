"""Excessive call frame information costs only the stacks of its owner."""

import os
import re
import resource
import shlex
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

USER = 54321
CPU_SECONDS = 0.3
LOOP = """
volatile unsigned long sum;
__attribute__((noinline)) void work(void) { for (unsigned long i = 0; i < 10000000; i++) sum += i; }
__attribute__((noinline)) void outer(void) { work(); sum++; }
int main(void) { for (;;) outer(); }
"""


@pytest.fixture
def program():
    """program(owner, *options) compiles the loop with the options, in a folder of its own."""
    folders = []

    def build(owner, *options):
        folder = Path(subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip())
        folders.append(folder)
        folder.chmod(0o755)
        source = folder / "loop.c"
        source.write_text(LOOP, encoding="utf-8")
        subprocess.run(["cc", "-O1", "-fomit-frame-pointer", *options, "-o", folder / f"loop{len(folders)}", source],
                       check=True)
        shutil.chown(folder / f"loop{len(folders)}", owner, owner)
        return folder / f"loop{len(folders)}"

    yield build
    for folder in folders:
        shutil.rmtree(folder)


def section_header(elf, wanted):
    """Returns the offset of a section's header in the file."""
    table, = struct.unpack_from("<Q", elf, 40)
    size, count, names_index = struct.unpack_from("<HHH", elf, 58)
    names, = struct.unpack_from("<Q", elf, table + names_index * size + 24)
    for place in range(table, table + count * size, size):
        start = names + struct.unpack_from("<I", elf, place)[0]
        if elf[start:elf.index(0, start)].decode() == wanted:
            return place
    raise KeyError(wanted)


def enlarge(path, section, size):
    """Replaces the section by a hole of this size at the end of the file."""
    elf = bytearray(path.read_bytes())
    start = (len(elf) + 4095) // 4096 * 4096
    struct.pack_into("<QQ", elf, section_header(elf, section) + 24, start, size)
    path.write_bytes(elf)
    os.truncate(path, start + size)


def fill(path, section, contents):
    """Replaces the contents of the section, at the end of the file."""
    elf = bytearray(path.read_bytes())
    struct.pack_into("<QQ", elf, section_header(elf, section) + 24, len(elf), len(contents))
    path.write_bytes(elf + contents)


def nops(size):
    """An .eh_frame with a single endless program, which covers all addresses."""
    cie = struct.pack("<IBBBBBB", 0, 1, 0, 1, 0x78, 16, 0)
    fde = struct.pack("<IQQ", 4 + len(cie) + 4, 0, 1 << 62) + bytes(size)
    return struct.pack("<I", len(cie)) + cie + struct.pack("<I", len(fde)) + fde


def children_cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def assert_recorded(prof, hostile, honest, until_busy):
    """Records both processes until both have run."""
    processes = [subprocess.Popen([hostile], user=USER), subprocess.Popen([honest])]
    try:
        began = children_cpu_seconds()
        waits = [shlex.join(map(str, until_busy(process.pid, CPU_SECONDS))) for process in processes]
        both = ",".join(str(process.pid) for process in processes)
        recording = prof.record("-p", both, "--", "sh", "-c", " & ".join(waits) + "; wait")
        used = children_cpu_seconds() - began
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert used < 20
    samples, lost = (int(number.replace(",", "")) for number in
                     re.search(r"([\d,]+) samples, ([\d,]+) lost", recording.result.stderr).groups())
    # A reader that cannot read its rings would lose 97 %.
    assert lost < 9 * samples, recording.result.stderr
    ours = recording.stacks.of_process(honest.name)
    whole = recording.stacks.count(lambda frames: frames[0] == honest.name and "main" in frames)
    # On a busy machine the tables are late. Until then stacks are truncated and marked.
    cut = recording.stacks.count(lambda frames: frames[:2] == (honest.name, "[truncated]"))
    assert whole + cut > 0.95 * ours > 10 and whole > cut, recording.stacks.hottest()
    assert recording.stacks.of_process(hostile.name) > 10


def test_a_large_hole_without_a_table_does_not_keep_prof_from_reading_samples(root, prof, program, until_busy):
    hostile = program(USER, "-Wl,--no-eh-frame-hdr")
    enlarge(hostile, ".eh_frame", 10 << 30)
    assert_recorded(prof, hostile, program(0), until_busy)


def test_megabytes_of_instructions_do_not_keep_prof_from_reading_samples(root, prof, program, until_busy):
    hostile = program(USER, "-Wl,--no-eh-frame-hdr")
    fill(hostile, ".eh_frame", nops(30 << 20))
    assert_recorded(prof, hostile, program(USER), until_busy)
