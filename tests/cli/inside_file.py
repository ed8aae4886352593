"""Creates and reads the memory that libprof-inside.so writes to (lib/inside/layout.h), without prof."""

import os
import struct
import threading
from collections import namedtuple
from mmap import mmap

PAGE = 4096
LANES = 16
LANE_BYTES = 1 << 20
SCALE = 1 << 44
FREE_RESERVE = LANE_BYTES // 8
BYTES = (1 + LANES) * PAGE + LANES * LANE_BYTES
PAD, START, MAPS, CPU, ALLOC, FREE = range(6)
UNTRACKED, MAPPING = 1, 2
START_EXEC = 1

Record = namedtuple("Record", "type flags time pid tid fields stack")


class InsideFile:
    """A file that only the test reads. With drain=True, a thread reads continuously until close()."""

    def __init__(self, alloc_period=0, alloc_maps=0, cpu_hz=0, drain=False):
        self.fd = os.memfd_create("prof-inside", 0)
        os.ftruncate(self.fd, BYTES)
        os.set_inheritable(self.fd, True)
        self.memory = mmap(self.fd, BYTES)
        namespace = os.stat("/proc/self/ns/pid").st_ino & 0xFFFFFFFF
        scale = SCALE // alloc_period if alloc_period else 0
        struct.pack_into("<QIIQQIII", self.memory, 0, 0x3165646973666F70, 4, namespace, alloc_period, scale, alloc_maps, cpu_hz,
                         1)
        self.read = []
        self.ends = threading.Event()
        self.drain = threading.Thread(target=self.read_always) if drain else None
        if self.drain:
            self.drain.start()

    def environment(self, library):
        return {**os.environ, "LD_PRELOAD": str(library), "PROF_INSIDE": f"{self.fd}:{os.getpid()}"}

    def __enter__(self):
        return self

    def end(self):
        """Reads only the records that are there."""
        self.ends.set()
        if self.drain:
            self.drain.join()
            self.take()
            self.drain = None

    def __exit__(self, *_):
        self.end()
        self.memory.close()
        os.close(self.fd)

    def counters(self):
        names = ("untrusted", "untracked", "lost", "lost_frees", "lost_mappings", "timers_refused",
                 "unhooked_loads")
        return dict(zip(names, struct.unpack_from("<IQQQQII", self.memory, 44)))

    def owners(self):
        return [struct.unpack_from("<I", self.memory, PAGE * (1 + lane))[0] for lane in range(LANES)]

    def filled(self):
        """Returns the number of bytes in each ring."""
        heads = (struct.unpack_from("<Q48xQ", self.memory, PAGE * (1 + lane) + 8) for lane in range(LANES))
        return [head - tail for head, tail in heads]

    def read_always(self):
        while not self.ends.wait(0.005):
            self.take()

    def take(self):
        for lane in range(LANES):
            at = PAGE * (1 + lane)
            head, tail = struct.unpack_from("<Q", self.memory, at + 8)[0], struct.unpack_from("<Q", self.memory, at + 64)[0]
            while tail < head:
                length, record = self.decode(lane, tail % LANE_BYTES)
                tail += length
                if record:
                    self.read.append(record)
            struct.pack_into("<Q", self.memory, at + 64, tail)

    def decode(self, lane, offset):
        at = (1 + LANES) * PAGE + lane * LANE_BYTES + offset
        length, kind, flags = struct.unpack_from("<IHH", self.memory, at)
        assert length >= 8 and length % 8 == 0 and offset + length <= LANE_BYTES
        if kind == PAD:
            return length, None
        time, pid, tid = struct.unpack_from("<QII", self.memory, at + 8)
        fields, stack = {}, None
        if kind == START:
            fields = {"parent": struct.unpack_from("<I", self.memory, at + 24)[0],
                      "comm": self.memory[at + 32:at + 48].split(b"\0")[0].decode()}
        elif kind == MAPS:
            size = struct.unpack_from("<I", self.memory, at + 24)[0]
            fields = {"text": self.memory[at + 32:at + 32 + size].decode()}
        elif kind == CPU:
            fields = {"period": struct.unpack_from("<Q", self.memory, at + 24)[0]}
            stack = self.stack(at + 32, at + length)
        elif kind == ALLOC:
            fields = dict(zip(("address", "size", "period"), struct.unpack_from("<QQQ", self.memory, at + 24)))
            stack = self.stack(at + 48, at + length)
        elif kind == FREE:
            fields = dict(zip(("address", "size"), struct.unpack_from("<QQ", self.memory, at + 24)))
        else:
            raise AssertionError(f"a record of type {kind}")
        return length, Record(kind, flags, time, pid, tid, fields, stack)

    def stack(self, at, end):
        """Returns the registers by number, and the words of the stack."""
        mask, size = struct.unpack_from("<QQ", self.memory, at)
        numbers = [number for number in range(64) if mask >> number & 1]
        values = struct.unpack_from(f"<{len(numbers)}Q", self.memory, at + 16)
        at += 16 + 8 * len(numbers)
        assert at + (size + 7) // 8 * 8 == end
        return dict(zip(numbers, values)), struct.unpack_from(f"<{size // 8}Q", self.memory, at)

    def records(self):
        """Returns all records so far, in the order of their times."""
        if not self.drain:
            self.take()
        return sorted(self.read, key=lambda record: record.time)
