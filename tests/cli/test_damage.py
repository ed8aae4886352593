"""A damaged or missing file costs only the symbols of its module, never the profile."""

import shutil
import struct
import subprocess

import pytest

from profiles import assert_rooted


def sections(data):
    """(name, offset, size) of each section of an ELF file."""
    start, = struct.unpack_from("<Q", data, 40)
    entry, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, start + i * entry) for i in range(count)]
    strings = headers[names][4]
    for name, _, _, _, offset, size in headers:
        first = strings + name
        yield data[first:data.index(0, first)].decode(), offset, size


def with_garbage_dwarf(data):
    for name, offset, size in sections(data):
        if name.startswith((".debug_", ".symtab", ".strtab")):
            data[offset:offset + size] = bytes((i * 89 + 41) & 255 for i in range(size))


def cut_after_the_segments(data):
    """Truncates the file inside .debug_info: the code remains, the section table does not."""
    offset, size = next((offset, size) for name, offset, size in sections(data) if name == ".debug_info")
    del data[offset + size // 2:]


@pytest.mark.parametrize("damage", [with_garbage_dwarf, cut_after_the_segments])
def test_a_damaged_library_loses_only_its_own_names(prof, target, damage):
    data = bytearray(target("plugin_one.so").read_bytes())
    damage(data)
    library = prof.folder / "plugin_one.so"
    library.write_bytes(data)
    recording = prof.record("--", target("opener"), "0.2", library, "plugin_one_work")
    stacks = recording.stacks
    assert stacks.share("main", "use") > 0.9, stacks.hottest()
    assert_rooted(stacks, 0.98)
    assert not stacks.unknown()
    recording.pprof.check()


@pytest.mark.parametrize("replaced", [False, True], ids=["deleted", "replaced"])
def test_a_program_deleted_or_replaced_while_it_runs_keeps_its_names(prof, root, started, target, until_busy, replaced):
    copy = prof.folder / "gone"
    shutil.copy(target("shares"), copy)
    process = started(subprocess.Popen([copy, "50"]))
    copy.unlink()
    if replaced:
        shutil.copy(target("recursion"), copy)
    stacks = prof.record("-p", process.pid, "--", *until_busy(process.pid)).stacks
    assert stacks.share("main", "spend", "half") > 0.4, stacks.hottest()
    assert stacks.holding("down") == 0


def test_a_program_deleted_before_its_end_is_named(prof, target):
    """The file is deleted and the process has ended before prof symbolizes."""
    copy = prof.folder / "brief"
    shutil.copy(target("shares"), copy)
    stacks = prof.record("--", "sh", "-c", f"{copy} 0.4; rm {copy}").stacks
    assert stacks.share("main", "spend", "half") > 0.35, stacks.hottest()


def test_a_library_truncated_while_it_is_recorded_loses_only_its_own_names(prof, target):
    """A copy of it with the same build-id, which runs later, keeps its symbols."""
    first, second, other = prof.folder / "first.so", prof.folder / "second.so", target("plugin_two.so")
    for copy in first, second:
        shutil.copy(target("plugin_one.so"), copy)
    opener = target("opener")
    recording = prof.record("--", "sh", "-c", f"{opener} 0.2 {first} plugin_one_work; {opener} 0.2 {other} plugin_two_work;"
                            f"truncate -s 4096 {first}; {opener} 0.2 {second} plugin_one_work")
    assert recording.stacks.holding("plugin_two_work") > 50
    assert recording.stacks.holding("plugin_one_work") > 50
    assert "first.so was changed while it ran" in recording.result.stderr
