"""Recordings of other machines, made from the recorded stops in tests/truth/fixtures: files as perf would have written
them there, with the registers and the stack of each stop."""

import re
import struct

import perf_data

MACHINES = {62: ("x86_64", 16), 183: ("aarch64", 32)}  # by e_machine: uname -m, and the number of registers of a stop
# perf's order of the registers (asm/perf_regs.h). A stop has them in the order of DWARF.
X86_64_ORDER = [0, 3, 2, 1, 4, 5, 6, 7, None, *range(8, 16)]
X86_64_MASK = 0xff01ff
REGS_USER, STACK_USER = 1 << 12, 1 << 13
ABI_32, ABI_64 = 1, 2
HEADER_ARCH = 6


class Stop:
    def __init__(self, raw, at, count):
        (self.pc, *self.registers) = struct.unpack_from(f"<{count + 1}Q", raw, at)
        at += 8 * (count + 1)
        (frames,) = struct.unpack_from("<Q", raw, at)
        self.truth = struct.unpack_from(f"<{frames}Q", raw, at + 8)
        at += 8 * (1 + frames)
        (length,) = struct.unpack_from("<Q", raw, at)
        self.stack = raw[at + 8:at + 8 + length]
        self.end = at + 8 + length


def stops(folder):
    """The machine and its stops."""
    raw = (folder / "stops").read_bytes()
    machine, count = MACHINES[struct.unpack_from("<Q", raw)[0]]
    at, found = 8, []
    while at < len(raw):
        found.append(Stop(raw, at, count))
        at = found[-1].end
    return machine, found


def mappings(folder):
    for line in (folder / "maps").read_text().splitlines():
        start, end, permissions, offset, path = re.match(r"(\w+)-(\w+) (\S+) (\w+) \S+ \d+ +(.*)", line).groups()
        if "x" in permissions:
            yield int(start, 16), int(end, 16), int(offset, 16), path


def mmap(time, start, end, offset, path):
    body = struct.pack("<IIQQQ", 100, 100, start, end - start, offset) + perf_data.padded(path)
    return perf_data.record(1, body + perf_data.trailer(100, 100, time, 1), perf_data.MISC_USER)


def attr(mask):
    """The attribute of a sampling event that copies the user registers and stack."""
    words = bytearray(perf_data.attr(flags=perf_data.SAMPLE_ID_ALL))
    struct.pack_into("<Q", words, 24, perf_data.SAMPLE_TYPE & ~(1 << 5) | REGS_USER | STACK_USER)
    struct.pack_into("<QI", words, 80, mask, 1 << 15)
    return bytes(words)


def sample(time, stop, values, abi):
    body = struct.pack("<QQIIQIIQ", 1, stop.pc, 100, 100, time, 0, 0, 1000)
    stack = stop.stack + bytes(-len(stop.stack) % 8)
    body += struct.pack(f"<Q{len(values)}Q", abi, *values)
    body += struct.pack("<Q", len(stack)) + stack + (struct.pack("<Q", len(stop.stack)) if stack else b"")
    return perf_data.record(9, body, perf_data.MISC_USER)


def recording(folder, abi=ABI_64, has_arch=True):
    """Returns the file and its stacks: tuples of pcs, starting with the leaf."""
    machine, found = stops(folder)
    order = X86_64_ORDER if machine == "x86_64" else range(32)
    mask = X86_64_MASK if machine == "x86_64" else (1 << 33) - 1
    records = [perf_data.comm(100, 1, "walker", exec=True)]
    records += [mmap(2, *mapping) for mapping in mappings(folder)]
    for number, stop in enumerate(found):
        values = [stop.pc if source is None else stop.registers[source] for source in order]
        records.append(sample(10 + number, stop, values if machine == "x86_64" else [*values, stop.pc], abi))
    text = machine.encode() + b"\0"
    features = {HEADER_ARCH: struct.pack("<I", len(text)) + text} if has_arch else {}
    return perf_data.file(records, [attr(mask)], features), [stop.truth for stop in found]
