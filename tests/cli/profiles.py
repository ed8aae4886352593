"""Readers of prof's outputs, which are stricter than the clients."""

import functools
import gzip
import math
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from lacking import lacking, tool

# How many standard deviations a number of samples may differ from the expected one. Chance exceeds five once in two
# million checks, four once in 16,000.
SIGMAS = 5

PROTO = Path(__file__).resolve().parent / "pprof.proto"

# The first frame of a thread: the entry of a program, of the dynamic linker or of a thread, or an entry of the kernel
# for time that does not belong to user code.
ROOTS = re.compile(r"_start|(__GI_)?_*clone3?|thread_start|"
                   r"runtime\.(goexit|mstart|rt0_go|mcall|morestack|systemstack)\S*|_rt0_amd64\S*|"
                   r"(entry|asm|ret_from|exc|sysvec|syscall|do_syscall|x64_sys|__x64_sys|irq)_\w+")


class Stacks:
    """Folded stacks: tuples of frames, the process name first, with their counts. `missing` has, by process, the values
    that were counted but not sampled."""

    def __init__(self, text):
        self.counts, self.missing = Counter(), Counter()
        for line in text.splitlines():
            stack, _, count = line.rpartition(" ")
            frames = tuple(stack.split(";"))
            assert all(frames), f"an empty frame: {line!r}"
            if frames[1:] in (("[kernel]",), ("[not sampled]",)):
                self.missing[frames[0]] += int(count)
            else:
                self.counts[frames] += int(count)

    @classmethod
    def read(cls, path):
        return cls(Path(path).read_text(encoding="utf-8"))

    @property
    def total(self):
        return self.counts.total()

    def count(self, predicate):
        return sum(count for frames, count in self.counts.items() if predicate(frames))

    def holding(self, *names):
        """The number of samples whose stack has these names in this order, not necessarily adjacent."""

        def holds(frames):
            rest = iter(frames)
            return all(name in rest for name in names)

        return self.count(holds)

    def share(self, *names):
        return self.holding(*names) / self.total

    def of_process(self, name):
        return self.count(lambda frames: frames[0] == name)

    def names(self):
        return {frame for frames in self.counts for frame in frames[1:]}

    def unknown(self):
        """The number of samples of each unsymbolized name that does not even contain the module."""
        return sorted(name for name in self.names() if "[unknown" in name)

    def hottest(self, number=8):
        """The hottest stacks, for the message of a failed assertion."""
        return hottest(self.counts, number)


def hottest(counts, number=8):
    return "\n".join(f"{count} {';'.join(frames)}"[:400] for frames, count in counts.most_common(number))


def assert_same_but_late(live, converted):
    """Unwind tables that were read too late during the recording are available when the file is converted, so stacks
    that were truncated are complete then."""
    whole = Counter({frames: count for frames, count in live.counts.items() if frames[1] != "[truncated]"})
    assert whole and not whole - converted.counts and converted.total == live.total, live.hottest()


def assert_rooted(stacks, least=0.99, roots=ROOTS):
    """Asserts that this share of the stacks starts at the root of a thread."""
    wrong = Counter({frames: count for frames, count in stacks.counts.items()
                      if len(frames) < 2 or not roots.fullmatch(frames[1])})
    assert wrong.total() <= (1 - least) * stacks.total, f"of {stacks.total}:\n{hottest(wrong)}"


def assert_share(count, total, expected):
    """Asserts that a share is the true one, as far as chance allows."""
    sigma = math.sqrt(expected * (1 - expected) / total)
    assert abs(count / total - expected) < SIGMAS * sigma + 0.005, f"{count} of {total} is not {expected:.0%}"


@functools.lru_cache
def profile_message():
    """The class of the pprof message. It is generated from pprof.proto at run time, so that any protobuf release works."""
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        lacking("the Python package protobuf")
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run([tool("protoc"), f"-I{PROTO.parent}", f"--descriptor_set_out={file.name}", PROTO.name], check=True)
        files = descriptor_pb2.FileDescriptorSet.FromString(file.read())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(files.file[0])
    name = ".".join(filter(None, [files.file[0].package, "Profile"]))
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


class Pprof:
    """A pprof profile with resolved ids."""

    def __init__(self, data):
        self.gzipped = data
        self.message = profile_message().FromString(gzip.decompress(data))
        self.strings = self.message.string_table
        self.functions = {function.id: function for function in self.message.function}
        self.mappings = {mapping.id: mapping for mapping in self.message.mapping}
        self.locations = {location.id: location for location in self.message.location}

    @classmethod
    def read(cls, path):
        return cls(Path(path).read_bytes())

    def sample_types(self):
        return [(self.strings[kind.type], self.strings[kind.unit]) for kind in self.message.sample_type]

    def comments(self):
        return [self.strings[comment] for comment in self.message.comment]

    def frames(self, sample):
        """Returns the frames, root first. An inlined frame follows the frame that it is inlined into."""
        names = [self.strings[self.functions[line.function_id].name]
                 for id in sample.location_id for line in self.locations[id].line]
        return tuple(reversed(names))

    def labels(self, sample):
        return {self.strings[label.key]: self.strings[label.str] if label.str else label.num
                for label in sample.label}

    def by_label(self, key):
        """The number of samples of each value of a label."""
        counts = Counter()
        for sample in self.message.sample:
            counts[self.labels(sample).get(key)] += sample.value[0]
        return counts

    def total(self):
        return sum(sample.value[0] for sample in self.message.sample)

    def check(self):
        """Checks invariants of the format that strict readers rely on and `go tool pprof` ignores."""
        assert self.gzipped[4:8] == bytes(4), "the time in the gzip header is not zero"
        assert self.strings[0] == ""
        self.check_ids()
        for sample in self.message.sample:
            assert len(sample.value) == len(self.message.sample_type)
            assert all(value >= 0 for value in sample.value)
            assert sample.location_id, "a sample without a stack"
            assert all(id in self.locations for id in sample.location_id)
            for label in sample.label:
                assert self.strings[label.key] and bool(label.str) + bool(label.num) <= 1
        for location in self.message.location:
            self.check_location(location)
        for mapping in self.message.mapping:
            assert mapping.memory_start < mapping.memory_limit
            assert self.strings[mapping.filename]
            assert re.fullmatch(r"([0-9a-f]{2})*", self.strings[mapping.build_id])
        types = [kind for kind, _ in self.sample_types()]
        assert len(set(types)) == len(types)
        assert self.strings[self.message.default_sample_type] in types
        assert self.message.period > 0 and self.message.time_nanos > 0 and self.message.duration_nanos > 0

    def check_ids(self):
        for items in (self.message.function, self.message.mapping, self.message.location):
            ids = [item.id for item in items]
            assert 0 not in ids and len(set(ids)) == len(ids)

    def check_location(self, location):
        assert location.line, "a location without a name"
        assert all(line.function_id in self.functions for line in location.line)
        if location.mapping_id:
            mapping = self.mappings[location.mapping_id]
            assert mapping.memory_start <= location.address < mapping.memory_limit
        else:
            assert location.address == 0, "an address that belongs to nothing"
