"""Checks call chains against the machine code of ELF files, without an unwinder: whether a frame is a
root, and whether a frame can have called another one.
"""

import bisect
import functools
import re
import struct
import subprocess

ROOTS = re.compile(r"_?start(_c)?|(__|__GI_+)?clone3?|(start|linux)\.(_start|posixCallMainAndExit)\w*|.*\.(goexit|mstart|rt0_go|mcall|"
                   r"rt0_\w+)(\.abi0|\.\w+)?|caml_start_program")
ENTRY_BYTES = 64
CALL = re.compile(rb"\xe8....\Z|\xff[\xd0-\xd7]\Z|\xff[\x10-\x13\x15-\x17].{0,4}\Z|\xff[\x50-\x57]..?\Z|\xff[\x90-\x97].{4,5}\Z|"
                  rb"\xff\x14.(.{4})?\Z", re.DOTALL)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False).stdout


class Ranges:
    """Sorted ranges [start, end) with names."""

    def __init__(self, ranges):
        self.ranges = sorted(set(ranges))
        self.starts = [start for start, _, _ in self.ranges]

    def at(self, address):
        """The range that contains the address and starts last."""
        index = bisect.bisect_right(self.starts, address) - 1
        for index in range(index, max(index - 64, -1), -1):
            if address < self.ranges[index][1]:
                return self.ranges[index]
        return None


class ElfCode:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.data = file.read()
        (self.entry, headers) = struct.unpack_from("<QQ", self.data, 24)
        size, count = struct.unpack_from("<HH", self.data, 54)
        segments = (struct.unpack_from("<IIQQQQQ", self.data, headers + i * size) for i in range(count))
        self.loads = [(offset, vaddr, length) for kind, _, offset, vaddr, _, length, _ in segments if kind == 1]
        self.is_pie = struct.unpack_from("<H", self.data, 16)[0] == 3

    def base(self):
        return min(vaddr for _, vaddr, _ in self.loads) & ~0xfff

    def vaddr(self, offset):
        return next((vaddr + offset - start for start, vaddr, length in self.loads if start <= offset < start + length), None)

    def read(self, vaddr, size):
        for offset, start, length in self.loads:
            if start <= vaddr and vaddr + size <= start + length:
                return self.data[vaddr - start + offset:][:size]
        return b""

    @functools.cached_property
    def symbols(self):
        found = []
        for table in ((), ("-D",)):
            for line in run("nm", "-S", "--defined-only", *table, self.path).splitlines():
                match = re.fullmatch(r"(\w{16}) (\w{16}) [tTwWiV] (.*)", line)
                if match and int(match[2], 16):
                    found.append((int(match[1], 16), int(match[1], 16) + int(match[2], 16), match[3].partition("@")[0]))
                elif match := re.fullmatch(r"(\w{16}) [tTwW] (.*)", line):
                    found.append((int(match[1], 16), int(match[1], 16) + 1, match[2].partition("@")[0]))
        return Ranges(found)

    @functools.cached_property
    def entries(self):
        """Ranges of functions according to the CFI."""
        text = run("readelf", "-wf", self.path)
        return Ranges((int(start, 16), int(end, 16), "") for start, end in re.findall(r"FDE .*pc=(\w+)\.\.(\w+)", text))

    @functools.cached_property
    def outermost(self):
        """Functions without a caller according to the CFI."""
        text = run("readelf", "-wF", self.path)
        found = []
        for start, end, rows in re.findall(r"FDE .*pc=(\w+)\.\.(\w+)\n((?:.+\n)*)", text):
            if re.search(r" u\s*$", rows, re.MULTILINE):
                found.append((int(start, 16), int(end, 16), ""))
        return Ranges(found)

    @functools.cached_property
    def stubs(self):
        text = run("readelf", "-SW", self.path)
        found = re.findall(r"\] (\.plt\S*) +\S+ +(\w+) \w+ (\w+)", text)
        return Ranges((int(start, 16), int(start, 16) + int(size, 16), name) for name, start, size in found)

    def is_root(self, vaddr):
        if self.entry and 0 <= vaddr - self.entry < ENTRY_BYTES or self.outermost.at(vaddr - 1):
            return True
        if any(vaddr in (start, start + 1) for start, _, _ in filter(None, (self.entries.at(vaddr), self.symbols.at(vaddr)))):
            return True  # the first frame of a stack that makecontext() or a similar function has made
        symbol = self.symbols.at(vaddr - 1)
        if symbol:
            return bool(ROOTS.fullmatch(symbol[2]))
        nearest = bisect.bisect_right(self.symbols.starts, vaddr - 1) - 1
        return nearest >= 0 and bool(ROOTS.fullmatch(self.symbols.ranges[nearest][2]))

    def function(self, vaddr):
        return self.entries.at(vaddr) or self.symbols.at(vaddr)

    @functools.lru_cache(maxsize=None)
    def jumps(self, start, end):
        """Targets outside the function of its jumps. None among them means anywhere."""
        targets = set()
        text = run("objdump", "-d", "--no-show-raw-insn", f"--start-address={start}", f"--stop-address={end}", self.path)
        for operand in re.findall(r"\sj\w+ +(\S+)", text):
            if operand.startswith("*"):
                targets.add(None)
            elif not start <= int(operand, 16) < end:
                targets.add(int(operand, 16))
        if not re.search(r"\s(ret|jmp|ud2|hlt|call)[^\n]*\n(\s*\w+:\s+(nop|cs|data16|xchg|int3|$)[^\n]*\n)*\s*\Z", text):
            targets.add(end)  # falls through to the next function
        return targets

    def leads_to(self, target, pc):
        """Whether a call of target can execute pc before it returns, without another call."""
        seen, todo = set(), [target]
        while todo and len(seen) < 200:
            at = todo.pop()
            if at is None or self.stubs.at(at):
                return True
            function = self.function(at)
            if not function:
                return True
            for ranges in (self.entries, self.symbols):
                found = ranges.at(at)
                if found and found[0] <= pc < found[1]:
                    return True
            if function in seen:
                continue
            seen.add(function)
            todo.extend(self.jumps(function[0], function[1]))
        return False


@functools.lru_cache(maxsize=None)
def elf_code(path):
    try:
        return ElfCode(path)
    except (OSError, struct.error):
        return None


@functools.lru_cache(maxsize=None)
def cannot_call(caller_path, return_address, callee_path, pc):
    """Why the code before the return address cannot have called the code at pc, or None if it can."""
    caller = elf_code(caller_path)
    before = caller.read(return_address - 8, 8) if caller else b""
    if not before:
        return None
    if not any(CALL.search(before[8 - size:]) for size in range(2, 8)):
        return "no call"
    if before[3] != 0xe8:
        return None
    target = return_address + struct.unpack("<i", before[4:])[0]
    if caller.stubs.at(target):
        return None
    if callee_path != caller_path:
        return None if caller.leads_to(target, -1) else "calls into its own file"
    return None if caller.leads_to(target, pc) else "calls another function"
