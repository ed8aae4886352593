"""Synthetic segments of a continuous recording."""

import gzip
from datetime import datetime, timezone

from profiles import profile_message

SAMPLE_TIMES, MERGED_SEGMENTS = 1500, 1500  # extensions of Sample and of Profile


def name_at(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y%m%dT%H%M%SZ.pb.gz")


def pprof_message(stacks, start, seconds, labels):
    """Makes a profile in which each stack, "root;leaf" or one function, has this many samples of a second of CPU time
    each."""
    message = profile_message()()
    strings = {text: index for index, text in enumerate(("", "samples", "count", "cpu", "nanoseconds"))}

    def text(string):
        return strings.setdefault(string, len(strings))

    for kind, unit in (1, 2), (3, 4):
        message.sample_type.add(type=kind, unit=unit)
    message.time_nanos, message.duration_nanos = int(start * 1e9), int(seconds * 1e9)
    message.period_type.type, message.period_type.unit, message.period = 3, 4, 10**9
    message.default_sample_type = 3
    known = {}
    for stack, count in stacks.items():
        for function in stack.split(";"):
            if function not in known:
                number = known[function] = len(known) + 1
                message.function.add(id=number, name=text(function), system_name=text(function))
                message.location.add(id=number).line.add(function_id=number)
        frames = [known[function] for function in reversed(stack.split(";"))]
        sample = message.sample.add(location_id=frames, value=[count, count * 10**9])
        for key, value in (("comm", "worker"), *labels.items()):
            sample.label.add(key=text(key), str=text(value))
    message.string_table.extend(strings)
    return message


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def packed(field, numbers):
    content = b"".join(map(varint, numbers))
    return varint(field << 3 | 2) + varint(len(content)) + content


def write_own_segment(folder, start, seconds, functions, comments):
    """Writes a segment in prof's format: with comments and timestamps of samples, which are evenly distributed."""
    message = pprof_message(functions, start, seconds, {})
    for sample in message.sample:
        count = sample.value[0]
        sample.MergeFromString(packed(SAMPLE_TIMES, [0] + [seconds * 1000 // count] * (count - 1)))
    message.comment.extend(range(len(message.string_table), len(message.string_table) + len(comments)))
    message.string_table.extend(comments)
    (folder / name_at(start)).write_bytes(gzip.compress(message.SerializeToString()))


def write_merged_segment(folder, seconds, functions):
    """Writes a segment with the mark that segments of these seconds were merged into it."""
    message = pprof_message(functions, seconds[0], len(seconds), {})
    differences = [seconds[0], *(after - before for before, after in zip(seconds, seconds[1:]))]
    head = b"\x48" + varint(message.time_nanos) + b"\x50" + varint(message.duration_nanos) + packed(MERGED_SEGMENTS, differences)
    (folder / name_at(seconds[0])).write_bytes(gzip.compress(head + message.SerializeToString()))


def write_segment(folder, start, seconds, stacks, **labels):
    message = pprof_message(stacks, start, seconds, labels)
    (folder / name_at(start)).write_bytes(gzip.compress(message.SerializeToString()))
