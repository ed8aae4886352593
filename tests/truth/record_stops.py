#!/usr/bin/env python3
"""Makes the recorded stops in fixtures/: builds walker.c for each machine, single-steps it in qemu, and writes
registers, stack and callers of some stops in the format of replay_stops.c. Needs qemu-user and
gcc-aarch64-linux-gnu. Run it by hand when walker.c or the format changes.

The callers are derived from every call and return, without an unwinder.
"""

import re
import shutil
import socket
import struct
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
PORT = 21234
COMPILE = ["-O2", "-ffreestanding", "-fno-pie", "-fno-stack-protector"]
LINK = ["-static", "-nostdlib", "-Wl,--build-id=none", "-Wl,-z,max-page-size=4096"]
PARTS = [("walker.c", ["-fomit-frame-pointer", "-fasynchronous-unwind-tables"]),
         ("walker_no_cfi.c", ["-fno-omit-frame-pointer",
                              "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"])]


class X86_64:
    machine = 62
    qemu = ["qemu-x86_64"]
    tools = "x86_64-linux-gnu-"
    # gdb's order is rax rbx rcx rdx rsi rdi rbp rsp r8 … r15 rip: their indices by DWARF number.
    by_dwarf = [0, 3, 2, 1, 4, 5, 6, 7, *range(8, 16)]
    sp, pc = 7, 16
    syscall_bytes = 2

    @staticmethod
    def called(code, old, new, stop):
        """Returns the return address if the last instruction was a call."""
        (top,) = struct.unpack("<Q", stop(new[7], 8))
        is_call = code[0] in (0xe8, 0xff) or code[:2] == b"\x41\xff"
        return top if is_call and new[7] == old[7] - 8 and old[16] < top <= old[16] + 7 else None

    @staticmethod
    def returned(code):
        return code[0] == 0xc3

    @staticmethod
    def is_syscall(code):
        return code[:2] == b"\x0f\x05"


class Aarch64:
    machine = 183
    qemu = ["qemu-aarch64", "-cpu", "max"]  # with pointer authentication
    tools = "aarch64-linux-gnu-"
    by_dwarf = range(32)  # x0 … x30 sp, then the pc
    sp, pc = 31, 32
    syscall_bytes = 4

    @staticmethod
    def called(code, old, new, stop):
        (word,) = struct.unpack("<I", code[:4])
        is_call = word >> 26 == 0b100101 or word & 0xfffffc1f == 0xd63f0000  # bl, blr
        return old[32] + 4 if is_call else None

    @staticmethod
    def returned(code):
        (word,) = struct.unpack("<I", code[:4])
        return word & 0xfffffc1f == 0xd65f0000 or word & 0xfffffbff == 0xd65f0bff  # ret, retaa, retab

    @staticmethod
    def is_syscall(code):
        return code[:4] == b"\x01\x00\x00\xd4"


# name: machine, compiler arguments, and n to take each n-th stop
FIXTURES = {
    "x86_64": (X86_64, [], 2),
    "aarch64": (Aarch64, [], 2),
    "aarch64_signed": (Aarch64, ["-mbranch-protection=pac-ret+leaf"], 3),
}


class Stub:
    """qemu's gdb stub. Source: GDB's manual, "GDB Remote Serial Protocol"."""

    def __init__(self, machine):
        for _ in range(100):
            try:
                self.socket = socket.create_connection(("localhost", PORT))
                break
            except ConnectionRefusedError:
                subprocess.run(["sleep", "0.05"], check=True)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.machine = machine
        self.buffer = b""
        self.ask("qSupported:multiprocess-")
        self.ask("Hg0")

    def ask(self, command):
        packet = command.encode()
        self.socket.sendall(b"$" + packet + b"#%02x" % (sum(packet) % 256))
        while not (found := re.search(rb"\$([^#]*)#..", self.buffer)):
            received = self.socket.recv(65536)
            if not received:
                return ""
            self.buffer += received
        self.buffer = self.buffer[found.end():]
        self.socket.sendall(b"+")
        return found[1].decode()

    def registers(self):
        raw = bytes.fromhex(self.ask("g").replace("x", "0"))
        return struct.unpack_from(f"<{self.machine.pc + 1}Q", raw)

    def memory(self, address, size):
        """Reads in pieces, because the size of a packet is limited."""
        pieces = range(address, address + size, 1024)
        return b"".join(bytes.fromhex(self.ask(f"m{at:x},{min(1024, address + size - at):x}")) for at in pieces)

    def step(self, signal):
        """Returns the signal, 0 for none, or None at the end."""
        reply = self.ask(f"vCont;S{signal:02x}" if signal else "vCont;s")
        if reply[:1] not in ("T", "S"):
            return None
        number = int(reply[1:3], 16)
        return 0 if number == 5 else number


def build(folder, machine, arguments):
    """Builds the program. Returns the address that the signal handler returns to."""
    compiler = [f"{machine.tools}gcc", *COMPILE, *arguments]
    objects = [folder / f"{source}.o" for source, _ in PARTS]
    for (source, how), file in zip(PARTS, objects):
        subprocess.run([*compiler, *how, "-c", HERE / source, "-o", file], check=True)
    subprocess.run([*compiler, *LINK, *objects, "-o", folder / "named"], check=True)
    subprocess.run([*compiler, *LINK, "-Wl,-s", *objects, "-o", folder / "walker"], check=True)
    names = subprocess.run(["nm", folder / "named"], check=True, capture_output=True, text=True).stdout
    for file in [*objects, folder / "named"]:
        file.unlink()
    return int(re.search(r"^(\w+) . restore$", names, re.MULTILINE)[1], 16)


def maps(program):
    """Returns its segments as mapped by the kernel."""
    lines = []
    headers = subprocess.run(["readelf", "-lW", program], check=True, capture_output=True, text=True).stdout
    for line in re.findall(r"^ +LOAD +(.*)$", headers, re.MULTILINE):
        offset, vaddr, _, size, _, flags = line.split(maxsplit=6)[:6]
        offset, vaddr, size = int(offset, 16), int(vaddr, 16), int(size, 16)
        head = vaddr % 4096
        end = (vaddr + size + 4095) & ~4095
        permissions = "r-xp" if " E " in line else "r--p"
        lines.append(f"{vaddr - head:x}-{end:x} {permissions} {offset - head:08x} 00:00 0 /walker\n")
    return "".join(lines)


class Recording:
    def __init__(self, stub, machine, restorer):
        self.stub, self.machine, self.restorer = stub, machine, restorer
        self.now = stub.registers()
        self.bottom = self.now[machine.sp]
        self.callers = []  # the innermost last
        self.stops = []

    def step(self, signal):
        """Follows one instruction. Returns the result."""
        machine, old = self.machine, self.now
        code = self.stub.memory(old[machine.pc], 8)
        came = self.stub.step(signal)
        if came is None:
            return None
        self.now = self.stub.registers()
        if signal:
            # The handler returns to the kernel's restorer, whose caller is the interrupted code.
            self.callers += [old[machine.pc], self.restorer]
        elif machine.returned(code):
            self.callers.pop()
        elif came == 0:
            caller = machine.called(code, old, self.now, self.stub.memory)
            if caller:
                self.callers.append(caller)
            elif machine.is_syscall(code):
                self.follow_syscall(old[machine.pc])
        return came

    def follow_syscall(self, at):
        """qemu executes the next instruction in the same step. A handler ends where the last caller was interrupted."""
        machine = self.machine
        leaves_handler = self.restorer < at < self.restorer + 16
        then = self.callers.pop() if leaves_handler else at + machine.syscall_bytes
        if self.now[machine.pc] != then and machine.returned(self.stub.memory(then, 8)):
            self.callers.pop()

    def take(self):
        pcs = [self.now[self.machine.pc], *reversed(self.callers)]
        sp = self.now[self.machine.sp]
        stack = self.stub.memory(sp, self.bottom - sp) if sp < self.bottom else b""
        registers = [self.now[number] for number in self.machine.by_dwarf]
        self.stops.append(struct.pack(f"<{1 + len(registers)}QQ{len(pcs)}QQ", pcs[0], *registers, len(pcs), *pcs,
                                      len(stack)) + stack)


def record(name, machine, arguments, each):
    folder = HERE / "fixtures" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    restorer = build(folder, machine, arguments)
    (folder / "maps").write_text(maps(folder / "walker"))
    process = subprocess.Popen([*machine.qemu, "-g", str(PORT), folder / "walker"])
    recording = Recording(Stub(machine), machine, restorer)
    count, came = 0, 0
    while came is not None:
        if count % each == 0 and came == 0:
            recording.take()
        came = recording.step(came)
        count += 1
    process.kill()
    process.wait()
    (folder / ".outcome").unlink(missing_ok=True)
    (folder / "stops").write_bytes(struct.pack("<Q", machine.machine) + b"".join(recording.stops))
    print(f"{name}: {len(recording.stops)} stops")


for name, how in FIXTURES.items():
    record(name, *how)
