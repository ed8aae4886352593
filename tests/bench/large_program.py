#!/usr/bin/env python3
"""Writes a program like Chromium: gigabytes of debug information in tens of thousands of units.

large_program.py OUTPUT [GIGABYTES [COMPILER OPTION…]]      (2, clang++ -gdwarf-5)

The gigabytes are the total of .debug_info, .debug_str, .debug_line and the ranges; .debug_loc, abbreviations and a
symbol table are extra. Some hundred of its units, spread over the file, run in turn until the program is killed.

The units are compiled (large_unit.cc in six sizes), and each is linked alone with its relocations kept. Then they
are copied: in each copy, references are moved and names get the unit's number. Strings without a number exist once,
as after linking. This takes half a minute; compilers and a linker would take hours. A section is a large integer
here, so that a value can be added to all of its fields at once.
"""

import bisect
import itertools
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict, namedtuple
from pathlib import Path

SOURCE = Path(__file__).with_name("large_unit.cc")
FLAGS = ["-g", "-O2", "-ffreestanding", "-fno-exceptions", "-fno-rtti", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
         "-fcf-protection=none", "-fno-omit-frame-pointer", "-fno-pie", "-ffunction-sections", "-fno-jump-tables", "-mno-sse",
         "-ftemplate-depth=2000"]
# Sizes of units and their numbers, as in most programs: many small ones, few large ones.
LAYERS = [4] * 8 + [8] * 8 + [16] * 8 + [32] * 6 + [64] * 3 + [160]
COUNTED = (".debug_info", ".debug_str", ".debug_line", ".debug_line_str", ".debug_ranges", ".debug_rnglists", ".debug_str_offsets",
           ".debug_addr")
NUMBER = b"unit_00000"
TEXT = 0x1000000  # address of the code
HIT = 400  # units that run
ROUNDS = 40  # rounds per call
SCRIPT = f"""
ENTRY(_start)
SECTIONS {{
	. = {TEXT};
	.text : {{ *(.text .text.*) *(.rodata .rodata.*) }}
	/DISCARD/ : {{ *(.note*) *(.comment) *(.eh_frame*) *(.llvm*) *(.debug_aranges) *(.debug_gnu_pub*) *(.debug_frame) *(.data*) }}
}}
"""

R_X86_64_64, R_X86_64_32 = 1, 10
SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB = 1, 2, 3
STT_FUNC = 2
SYMBOL, HEADER, SECTION = struct.Struct("<IBBHQQ"), struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ")

Section = namedtuple("Section", "name type flags data link info entry")
# The contents of each copy. `fields`: section → offsets of the fields that refer to that section; after linking, an
# integer that has a 1 in each of these fields.
Part = namedtuple("Part", "bytes fields")
Unit = namedtuple("Unit", "parts entry")


def sections_of(elf):
    fields = HEADER.unpack_from(elf)
    headers = [SECTION.unpack_from(elf, fields[6] + i * SECTION.size) for i in range(fields[12])]
    names = elf[headers[fields[13]][4]:]
    return [Section(names[h[0]:names.index(b"\0", h[0])].decode(), h[1], h[2], elf[h[4]:h[4] + h[5]], h[6], h[7], h[9]) for h in headers]


def move_fields(offsets):
    """Returns the integer with a 1 at each of these offsets."""
    mask = bytearray(max(offsets, default=-1) + 1)
    for offset in offsets:
        mask[offset] = 1
    return int.from_bytes(mask, "little")


def fields_of(relocations, symbols, names):
    fields = defaultdict(list)
    for offset, info, _ in struct.iter_unpack("<QQq", relocations):
        if info & 0xffffffff in (R_X86_64_64, R_X86_64_32):
            fields[names[symbols[info >> 32][3]]].append(offset)
    return fields


def functions_of(symbols, strings):
    """Returns .symtab and .strtab with the functions only."""
    table, names = bytearray(), bytearray()
    for name, info, other, _, value, size in symbols:
        if info & 15 == STT_FUNC:
            table += SYMBOL.pack(len(names), STT_FUNC, other, 1, value, size)
            names += strings[name:strings.index(b"\0", name) + 1]
    offsets = range(0, len(table), SYMBOL.size)
    return {".symtab": Part(table, {".strtab": list(offsets), ".text": [at + 8 for at in offsets]}), ".strtab": Part(names, {})}


class Pool:
    """The strings without a number in a section of all units. Each exists once."""

    def __init__(self):
        self.bytes, self.offsets = bytearray(), {}

    def add(self, string):
        if string not in self.offsets:
            self.offsets[string] = len(self.bytes)
            self.bytes += string + b"\0"
        return self.offsets[string]

    def take(self, parts, name):
        """Moves such strings of a unit here, and updates the references to them."""
        starts, places, own, at = [], [], bytearray(), 0
        for string in bytes(parts[name].bytes[:-1]).split(b"\0"):
            starts.append(at)
            places.append((True, len(own)) if NUMBER in string else (False, self.add(string)))
            if NUMBER in string:
                own += string + b"\0"
            at += len(string) + 1
        for part in parts.values():
            kept = []
            for field in part.fields.get(name, []):
                value = int.from_bytes(part.bytes[field:field + 4], "little")
                i = bisect.bisect_right(starts, value) - 1
                is_own, offset = places[i]
                part.bytes[field:field + 4] = (offset + value - starts[i]).to_bytes(4, "little")
                if is_own:
                    kept.append(field)
            part.fields[name] = kept
        parts[name] = Part(own, {})


def link(compiler, layers, folder, pools):
    """Links a unit alone."""
    (folder / "script").write_text(SCRIPT)
    shutil.copy(SOURCE, folder / "unit_00000.cc")
    subprocess.run([*compiler, *FLAGS, f"-ffile-prefix-map={folder}=/src", f"-DLAYERS={layers}", "-c", folder / "unit_00000.cc", "-o",
                    folder / "unit.o"], check=True, cwd=folder)
    subprocess.run(["ld.bfd", "-T", folder / "script", "-e", str(TEXT), "--emit-relocs", "--no-warn-rwx-segments", "-o", folder / "unit",
                    folder / "unit.o"], check=True)
    sections = sections_of((folder / "unit").read_bytes())
    names = [section.name for section in sections]
    symbols = list(SYMBOL.iter_unpack(sections[names.index(".symtab")].data))
    strings = sections[names.index(".strtab")].data
    relocations = {section.info: section.data for section in sections if section.name.startswith(".rela.")}
    parts = functions_of(symbols, strings)
    for i, section in enumerate(sections):
        if section.name.startswith(".debug_"):
            parts[section.name] = Part(bytearray(section.data), fields_of(relocations.get(i, b""), symbols, names))
        elif section.name == ".text":  # the references are to this section
            parts[section.name] = Part(section.data + bytes(-len(section.data) % 16), {})
    for name in set(parts) & {".debug_str", ".debug_line_str"}:
        pools[name].take(parts, name)
    entry = next(s[4] for s in symbols if strings[s[0]:].startswith(b"_ZN10unit_000008run_unit"))
    return Unit({name: Part(bytes(part.bytes), {to: move_fields(its) for to, its in part.fields.items() if its})
                 for name, part in parts.items()}, entry - TEXT)


def start(entries):
    """The first code, which calls units in turn, endlessly."""
    code = bytes.fromhex("31ed 488d1d15000000 488b03 4885c0 74f1 bf") + struct.pack("<I", ROUNDS) + bytes.fromhex("ffd0 4883c308 ebeb")
    return code + b"".join(struct.pack("<Q", entry) for entry in (*entries, 0))


def copies(units, name, before):
    """Copies a section of all units. `before`: the size of each section before the first unit."""
    passed = {section: len(its) for section, its in before.items()}
    for number, unit in enumerate(units):
        part = unit.parts[name]
        copy = part.bytes if name == ".text" else part.bytes.replace(NUMBER, b"unit_%05d" % number)
        if part.fields:
            whole = int.from_bytes(copy, "little")
            for target, fields in part.fields.items():
                whole += fields * passed[target]
            copy = whole.to_bytes(len(copy), "little")
        yield copy
        for other, its in unit.parts.items():
            passed[other] += len(its.bytes)


def choose(kinds, size):
    """Chooses as many units as have that size."""
    units, so_far = [], 0
    for unit in itertools.cycle(kinds):
        if so_far >= size:
            return units
        units.append(unit)
        so_far += sum(len(unit.parts[name].bytes) for name in COUNTED if name in unit.parts)


def entries_of(units, first):
    """Returns the starts of the units that run."""
    addresses = list(itertools.accumulate((len(unit.parts[".text"].bytes) for unit in units), initial=first))
    return [addresses[i] + units[i].entry for i in range(0, len(units), max(len(units) // HIT, 1))]


class File:
    """An ELF file with consecutive sections."""

    def __init__(self, file):
        self.file, self.names, self.headers = file, bytearray(b"\0"), [bytes(SECTION.size)]
        file.seek(4096)

    def add(self, name, parts, kind=SHT_PROGBITS, flags=0, address=0, **of_table):
        at = self.file.seek(-self.file.tell() % 8, os.SEEK_CUR)
        self.file.writelines(parts)
        size, entry = self.file.tell() - at, of_table.get("entry", 0)
        self.headers.append(SECTION.pack(len(self.names), kind, flags, address, at, size, of_table.get("link", 0),
                                         size // entry if entry else 0, 1, entry))
        self.names += name.encode() + b"\0"
        return size

    def finish(self, text_bytes):
        self.add(".shstrtab", [self.names + b".shstrtab\0"], SHT_STRTAB)
        at, count = self.file.tell(), len(self.headers)
        self.file.writelines(self.headers)
        self.file.seek(0)
        self.file.write(HEADER.pack(b"\x7fELF\2\1\1", 2, 62, 1, TEXT, 64, at, 0, 64, 56, 1, 64, count, count - 1))
        self.file.write(struct.pack("<IIQQQQQQ", 1, 5, 4096, TEXT, TEXT, text_bytes, text_bytes, 4096))


def write_program(output, units, names, pools):
    empty = start([0] * len(entries_of(units, 0)))
    first = -len(empty) % 16 + len(empty)
    code = start(entries_of(units, TEXT + first)).ljust(first, b"\0")
    before = {name: pools[name].bytes for name in names} | {".text": code, ".symtab": bytes(SYMBOL.size), ".strtab": b"\0"}
    with open(output, "wb") as raw:
        file = File(raw)
        for name in names:
            parts = itertools.chain([before[name]], copies(units, name, before))
            if name == ".text":
                text_bytes = file.add(name, parts, flags=6, address=TEXT)
            elif name == ".symtab":
                file.add(name, parts, SHT_SYMTAB, link=names.index(".strtab") + 1, entry=SYMBOL.size)
            else:
                file.add(name, parts, SHT_STRTAB if name == ".strtab" else SHT_PROGBITS)
        file.finish(text_bytes)
    Path(output).chmod(0o755)


def write(output, gigabytes=2.0, compiler=("clang++", "-gdwarf-5")):
    """Returns the number of units."""
    pools = defaultdict(Pool)
    with tempfile.TemporaryDirectory() as name:
        of_size = {layers: link(compiler, layers, Path(name), pools) for layers in sorted(set(LAYERS))}
    units = choose([of_size[LAYERS[i * 7 % len(LAYERS)]] for i in range(len(LAYERS))], gigabytes * 1e9)
    names = sorted({name for unit in of_size.values() for name in unit.parts}, key=lambda name: (name != ".text", name))
    write_program(output, units, names, pools)
    return len(units)


if __name__ == "__main__":
    print(write(sys.argv[1], *map(float, sys.argv[2:3]), *([sys.argv[3:]] if sys.argv[3:] else [])), "units")
