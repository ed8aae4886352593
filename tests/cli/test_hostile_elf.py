"""ELF files that claim more than they have cost the names of their own module, and neither memory nor time."""

import os
import shutil
import struct
import sys

from test_damage import sections


def section_header(data, wanted):
    """The place of a section's header in the file."""
    start, = struct.unpack_from("<Q", data, 40)
    for i, (name, _, _) in enumerate(sections(data)):
        if name == wanted:
            return start + i * 64
    raise KeyError(wanted)


def test_a_file_that_claims_billions_of_sections_costs_nothing(prof):
    """It is enough to map it: every file that is mapped executable is opened."""
    path = prof.folder / "sections"
    size = 200 << 30
    header = struct.pack("<4s5B7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 0, 3, 62, 1, 0, 0, 64, 0, 64, 56, 0, 64, 0, 0)
    path.write_bytes(header + struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, (size - 64) // 64, 0, 0, 0, 0))
    os.truncate(path, size)
    program = ("import mmap, sys, time; file = open(sys.argv[1], 'rb');"
               "held = mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC);"
               "end = time.process_time() + 0.3\nwhile time.process_time() < end: pass")
    recording = prof.record("--", sys.executable, "-c", program, path)
    assert recording.stacks.total > 100


def test_a_symbol_table_of_holes_is_not_read(prof, target):
    """40 GB of symbols that take no place on the disk."""
    library = prof.folder / "plugin.so"
    data = bytearray(open(target("plugin_one.so"), "rb").read())
    data += bytes(-len(data) % 4096)
    struct.pack_into("<QQ", data, section_header(data, ".symtab") + 24, len(data), 40 << 30)
    library.write_bytes(data)
    os.truncate(library, len(data) + (40 << 30))
    shutil.copymode(target("plugin_one.so"), library)
    recording = prof.record("--", target("opener"), "0.3", library, "plugin_one_work")
    assert recording.stacks.holding("main") > 100, recording.stacks.hottest()
