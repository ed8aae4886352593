"""Segments of a continuous recording, written by hand."""

import gzip
from datetime import datetime, timezone

from profiles import profile_message


def name_at(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y%m%dT%H%M%SZ.pb.gz")


def pprof_message(stacks, start, seconds, labels):
    """A profile in which each stack, "root;leaf" or one function, has that many samples, of a second of CPU time each."""
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


def write_segment(folder, start, seconds, stacks, **labels):
    message = pprof_message(stacks, start, seconds, labels)
    (folder / name_at(start)).write_bytes(gzip.compress(message.SerializeToString()))
