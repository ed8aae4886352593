"""Writes perf.data files and pipes as described by tools/perf/Documentation/perf.data-file-format.txt and
include/uapi/linux/perf_event.h, for kernels and versions of perf that this machine does not have."""

import struct

SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 16  # IP TID TIME CALLCHAIN CPU PERIOD IDENTIFIER
ADDR, BRANCH_STACK, WEIGHT, DATA_SRC, WEIGHT_STRUCT = 1 << 3, 1 << 11, 1 << 14, 1 << 15, 1 << 24
BRANCH_USER, BRANCH_ANY, BRANCH_CALL_STACK, BRANCH_TYPE_SAVE, BRANCH_HW_INDEX = 1 << 0, 1 << 3, 1 << 11, 1 << 16, 1 << 17
ATTR_BYTES = 128
SAMPLE_ID_ALL = 1 << 18
DEFER_CALLCHAIN, DEFER_OUTPUT = 1 << 38, 1 << 39
MISC_KERNEL, MISC_USER, MISC_COMM_EXEC = 1, 2, 1 << 13
CONTEXT_KERNEL, CONTEXT_USER, CONTEXT_USER_DEFERRED = 2**64 - 128, 2**64 - 512, 2**64 - 640
CPU_CLOCK = 0


def attr(config=CPU_CLOCK, flags=SAMPLE_ID_ALL | DEFER_CALLCHAIN | DEFER_OUTPUT, type=1, also=0, branch_type=0):
    """The attribute of an event with a period of 1,000. also: further fields of its samples."""
    words = struct.pack("<IIQQQQQ", type, ATTR_BYTES, config, 1000, SAMPLE_TYPE | also, 0, flags)
    return (words.ljust(72, b"\0") + struct.pack("<Q", branch_type)).ljust(ATTR_BYTES, b"\0")


def record(number, body, misc=0):
    return struct.pack("<IHH", number, misc, 8 + len(body)) + body


def trailer(pid, tid, time, event):
    return struct.pack("<IIQIIQ", pid, tid, time, 0, 0, event)


def sample(tid, time, chain, event=1, pid=100, misc=MISC_KERNEL, ip=0xFFFFFFFF81000010, addr=None, behind=b""):
    """addr and the data after it (branches(), words) are the further fields of the event's samples."""
    body = struct.pack("<QQIIQ", event, ip, pid, tid, time) + words(*[] if addr is None else [addr])
    return record(9, body + struct.pack("<IIQQ", 0, 0, 1000, len(chain)) + words(*chain) + behind, misc)


def words(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def branch(source, target, mispredicted=None, cycles=0, type=0, in_transaction=False, aborted=False):
    """A struct perf_branch_entry. mispredicted: True, False, or None if the CPU does not report it."""
    flags = (0 if mispredicted is None else 1 if mispredicted else 2) | in_transaction << 2 | aborted << 3 | cycles << 4 | type << 20
    return words(source, target, flags)


def branches(*entries, hw_index=None):
    """The newest branch comes first."""
    return words(len(entries), *[] if hw_index is None else [hw_index]) + b"".join(entries)


def kernel_half(cookie):
    """The chain of a sample whose user half follows later."""
    return [CONTEXT_KERNEL, 0xFFFFFFFF81000010, CONTEXT_USER_DEFERRED, cookie]


def user_half(tid, time, cookie, chain, pid=100, event=1, claimed=None):
    words = struct.pack(f"<QQ{len(chain)}Q", cookie, len(chain) if claimed is None else claimed, *chain)
    return record(22, words + trailer(pid, tid, time, event), MISC_USER)


def padded(text):
    """Text with its NUL, padded to a multiple of 8."""
    return text.encode() + bytes(8 - len(text.encode()) % 8)


def comm(tid, time, name, pid=100, exec=False):
    body = struct.pack("<II", pid, tid) + padded(name) + trailer(pid, tid, time, 1)
    return record(3, body, MISC_COMM_EXEC if exec else 0)


def mmap(time, start, length, path, pid=100, offset=0):
    body = struct.pack("<IIQQQ", pid, pid, start, length, offset) + padded(path) + trailer(pid, pid, time, 1)
    return record(1, body)


def kernel_mmap(start, length, path, symbol_at=0):
    """The mapping of the kernel or one of its modules, as perf writes it for process -1."""
    body = struct.pack("<iIQQQ", -1, 0, start, length, symbol_at) + padded(path)
    return record(1, body + trailer(0xFFFFFFFF, 0, 0, 1), MISC_KERNEL)


def kernel_symbol(time, start, length, name, removed=False):
    body = struct.pack("<QIHH", start, length, 1, removed) + padded(name) + trailer(0, 0, time, 1)
    return record(17, body)


def build_ids(ids):
    """Feature 2: build-ids in hexadecimal, by path."""
    def entry(path, id):
        return record(67, struct.pack("<i20sI", -1, bytes.fromhex(id), len(id) // 2) + padded(path), 1 | 1 << 15)
    return b"".join(entry(path, id) for path, id in ids.items())


def text(value):
    """A feature that is a text: 3 is the host, 4 the kernel's release, 6 the architecture."""
    return struct.pack("<I", len(padded(value))) + padded(value)


def exited(tid, time, pid=100):
    return record(4, struct.pack("<IIIIQ", pid, pid, tid, pid, time) + trailer(pid, tid, time, 1))


def finished_round():
    return record(68, b"")


def file(records, attrs=(attr(),), features=None):
    """A file whose events have the ids 1, 2, …. features: sections by their number in tools/perf/util/header.h, such as
    6: arch."""
    data, start = b"".join(records), 104
    features = sorted((features or {}).items())
    ids = b"".join(struct.pack("<Q", number + 1) for number in range(len(attrs)))
    entries = b"".join(event + struct.pack("<QQ", start + number * 8, 8) for number, event in enumerate(attrs))
    begin = start + len(ids) + len(entries)
    sections = struct.pack("<QQQQQQ", start + len(ids), len(entries), begin, len(data), 0, 0)
    bits = sum(1 << number for number, _ in features).to_bytes(32, "little")
    table, at = b"", begin + len(data) + 16 * len(features)
    for _, section in features:
        table += struct.pack("<QQ", at, len(section))
        at += len(section)
    return (b"PERFILE2" + struct.pack("<QQ", 104, ATTR_BYTES + 16) + sections + bits + ids + entries + data + table
            + b"".join(section for _, section in features))


def pipe(records, attrs=(attr(),)):
    events = (record(64, event + struct.pack("<Q", number + 1)) for number, event in enumerate(attrs))
    return b"PERFILE2" + struct.pack("<Q", 16) + b"".join(events) + b"".join(records)
