"""Memory profiles: memory in use by function, size bucket and lifetime, and pprof files in Go's format."""

import gzip
import json

import pytest

from conftest import SOURCE
from profiles import Pprof, profile_message

TYPES = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")]
MB = 1 << 20
# The stack from the root on, (size, lifetime), and the values.
SAMPLES = [
    (("main", "load", "std::vector<Row, std::allocator<Row> >::_M_realloc_append<Row>(Row&&)", "operator new(unsigned long)"),
     ("512 KiB to 1 MiB", "live"), (8, 4 * MB, 8, 4 * MB)),
    (("main", "<alloc::raw_vec::RawVec<u8>>::grow_one", "alloc::alloc::alloc"), ("64 B to 127 B", "live"), (9000, MB, 9000, MB)),
    (("main", "serve", "malloc"), ("64 B to 127 B", "1 ms to 10 ms"), (90000, 60 * MB, 0, 0)),
    (("main", "serve", "malloc"), ("8 KiB to 16 KiB", "below 1 µs"), (1000, 10 * MB, 0, 0)),
]


class Heap:
    """A pprof message of memory, with its strings."""

    def __init__(self):
        self.message = profile_message()()
        self.strings = {}
        self.string("")
        self.functions = {}

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings)
            self.message.string_table.append(text)
        return self.strings[text]

    def location(self, name):
        if name not in self.functions:
            number = self.functions[name] = len(self.functions) + 1
            self.message.function.add(id=number, name=self.string(name))
            self.message.location.add(id=number).line.add(function_id=number)
        return self.functions[name]

    def write(self, path, samples, comments=()):
        for name, unit in TYPES:
            self.message.sample_type.add(type=self.string(name), unit=self.string(unit))
        self.message.period_type.type = self.string("space")
        self.message.period_type.unit = self.string("bytes")
        self.message.period = 512 << 10
        self.message.default_sample_type = self.string("inuse_space")
        self.message.comment.extend(map(self.string, comments))
        for stack, (size, lifetime), values in samples:
            sample = self.message.sample.add(location_id=[self.location(name) for name in reversed(stack)], value=values)
            sample.label.add(key=self.string("size"), str=self.string(size))
            sample.label.add(key=self.string("lifetime"), str=self.string(lifetime))
        path.write_bytes(gzip.compress(self.message.SerializeToString()))


@pytest.fixture
def heap(prof):
    """A profile that prof has recorded. It contains its quality."""
    Heap().write(prof.folder / "heap.pb.gz", SAMPLES, ["prof: samples=17 lost=0 truncated=0"])
    return "heap.pb.gz"


def rows(prof, *words):
    report = json.loads(prof("report", "--json", "--min", "0", *words).stdout)
    return report, [(row["name"], row["self"]["weight"]) for row in report["rows"]]


def test_the_function_that_allocates_has_the_bytes_and_not_what_it_calls_for_them(prof, heap):
    report, found = rows(prof, "--leaks", heap)
    assert report["event"] == "inuse_space" and report["allocated"] == 75 * MB
    assert [row for row in found if row[1]] == [("load", 4 * MB), ("main", MB)]
    assert [row["objects"] for row in report["rows"][:2]] == [8, 9000]


def test_leaks_are_shown_in_bytes_objects_and_shares(prof, heap):
    text = prof("report", "--leaks", heap).stdout
    assert "in use at the end: 5.2 MB in 9,008 objects, 6.7 % of the 79 MB that were allocated\n" in text
    table = text.split("\n\n")[2].splitlines()
    assert table[0].split() == ["in", "use", "objects", "share", "function"]
    assert table[1].split()[:5] == ["4.2", "MB", "8", "80.0", "%"] and table[1].split()[-1] == "load"
    assert table[2].split()[:5] == ["1.0", "MB", "9,000", "20.0", "%"] and table[2].split()[-1] == "main"


def test_leaks_say_if_nothing_lives(prof):
    Heap().write(prof.folder / "freed.pb.gz", SAMPLES[2:])
    text = prof("report", "--leaks", "freed.pb.gz").stdout
    assert text.endswith("\nnothing was in use at the end, 0.0 % of the 73 MB that were allocated\n")


def test_leaks_of_a_profile_without_memory_say_how_to_record_it(prof):
    result = prof("report", "--leaks", SOURCE / "tests" / "golden" / "go_cpu.pb.gz")
    assert result.returncode == 1
    assert "does not contain memory in use" in result.stderr and "prof record --alloc" in result.stderr


def test_leaks_choose_the_event_themselves(prof, heap):
    result = prof("report", "--leaks", "-e", "alloc_space", heap)
    assert result.returncode == 2 and "--leaks and -e both choose the event" in result.stderr


def test_sizes_are_in_their_order_unless_another_is_chosen(prof, heap):
    sizes = rows(prof, "--by", "size", heap)[1]
    assert [name for name, _ in sizes] == ["64 B to 127 B", "8 KiB to 16 KiB", "512 KiB to 1 MiB"]
    assert " more value" not in prof("report", "--by", "lifetime", "--no-tree", heap).stdout
    assert [name for name, _ in rows(prof, "--by", "lifetime", heap)[1]] == ["below 1 µs", "1 ms to 10 ms", "live"]
    assert sorted((weight for _, weight in sizes), reverse=True) == [weight for _, weight in rows(prof, "--by", "size", "-s", "self", heap)[1]]
    assert rows(prof, "--by", "size", "--leaks", heap)[1] == [("64 B to 127 B", MB), ("512 KiB to 1 MiB", 4 * MB)]


def test_a_recording_of_memory_shows_what_was_allocated(prof, heap):
    assert rows(prof, heap)[0]["event"] == "alloc_space"
    assert prof("convert", heap, "-o", "all.folded").returncode == 0
    assert prof("convert", heap, "-e", "inuse_space", "-o", "live.folded").returncode == 0
    sums = [sum(int(line.split()[-1]) for line in (prof.folder / name).read_text().splitlines()) for name in ("all.folded", "live.folded")]
    assert sums == [75 * MB, 5 * MB]


def test_pprof_files_of_memory_have_the_values_of_go(prof, heap):
    assert prof("convert", heap, "-o", "again.pb.gz").returncode == 0
    again = Pprof((prof.folder / "again.pb.gz").read_bytes())
    strings = again.strings
    assert [(strings[each.type], strings[each.unit]) for each in again.message.sample_type] == TYPES
    assert strings[again.message.default_sample_type] == "inuse_space"
    assert strings[again.message.period_type.unit] == "bytes" and again.message.period == 512 << 10
    assert sorted(tuple(sample.value) for sample in again.message.sample) == sorted(values for *_, values in SAMPLES)
    labels = {(strings[label.key], strings[label.str]) for sample in again.message.sample for label in sample.label}
    assert ("lifetime", "below 1 µs") in labels and ("size", "64 B to 127 B") in labels
    assert prof("convert", "again.pb.gz", "-o", "third.pb.gz").returncode == 0
    assert (prof.folder / "third.pb.gz").read_bytes() == (prof.folder / "again.pb.gz").read_bytes()


def test_what_lives_is_compared(prof, heap):
    Heap().write(prof.folder / "more.pb.gz", [(stack, labels, [4 * value for value in values]) for stack, labels, values in SAMPLES])
    result = json.loads(prof("diff", "--json", "-e", "inuse_space", heap, "more.pb.gz").stdout)
    assert (result["event"], result["quantity"]) == ("inuse_space", "bytes")
    text = prof("diff", "-e", "inuse_space", heap, "more.pb.gz").stdout
    assert "compared: bytes (event inuse_space)" in text and "\n  load +240.0 points\n" in text
