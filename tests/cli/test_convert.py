"""prof convert perf.data and prof record -o x.data: prof and perf must read the same from a recording."""

import os
import re
import shutil
import signal
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from time_limit import TIME_LIMIT_S
from profiles import Pprof, Stacks, assert_same_but_late
from until_busy import wait

EXTENSIONS = (".folded", ".html", ".svg", ".firefox.json.gz", ".speedscope.json", ".perf.txt", ".ndjson")

HEADER = re.compile(r"(?P<comm>.*?\S)\s+(?P<tid>-?\d+)\s*(?P<frame>[0-9a-f]+ .*)?")
FRAME = re.compile(r"\s*(?P<address>[0-9a-f]+) (?P<name>.*) \((?P<file>.*)\)")


class Perf:
    """perf with a HOME of its own, because it caches copies of recorded files there."""

    def __init__(self, binary, folder):
        self.binary = binary
        self.folder = folder
        self.environment = {**os.environ, "HOME": str(folder)}

    def __call__(self, *arguments, **options):
        return subprocess.run([self.binary, *map(str, arguments)], cwd=self.folder, env=self.environment,
                              **{"check": True, "capture_output": True, "timeout": TIME_LIMIT_S, **options})

    def record(self, *arguments, output="perf.data"):
        """Retries: perf 6.1 aborts if another process records build-ids at the same time."""
        for _ in range(5):
            result = self("record", "-F", "999", "-o", output, *arguments, check=False)
            if result.returncode != -signal.SIGABRT or b"util/build-id.c" not in result.stderr:
                break
        result.check_returncode()
        return self.folder / output

    def events(self, data):
        """The number of samples of each event."""
        lines = self("script", "-F", "event", "-i", data, text=True).stdout.splitlines()
        return Counter(re.split("[:/]", line.strip())[0] for line in lines)

    def stacks(self, data, target):
        """Returns (thread, frames from the root): number of samples, as reported by perf."""
        text = self("script", "--no-inline", "-F", "comm,tid,ip,sym,dso", "-i", data, text=True).stdout
        samples = []
        for line in filter(str.strip, text.splitlines()):
            if line.startswith("\t"):
                samples[-1][1].append(FRAME.fullmatch(line))
            else:
                header = HEADER.fullmatch(line.strip())
                samples.append((int(header["tid"]), [FRAME.fullmatch(header["frame"])] if header["frame"] else []))
        return Counter((thread, frames_of(frames, target)) for thread, frames in samples)


def frames_of(frames, target):
    """The frames from the root, without kernel frames."""
    return tuple(frame_of(frame["file"], frame["name"], target) for frame in reversed(frames)
                 if int(frame["address"], 16) < 1 << 63)


def frame_of(file, name, target):
    """Functions have several names: perf and prof may choose different ones in a C library ("__clock_gettime"), and in
    programs that it is linked into. For other files, only the file is compared."""
    if file == "[unknown]":
        return "[unknown]"
    return (Path(file).name, re.sub(r"@.*|^_+", "", name) if Path(file).name == target else "")


def prof_stacks(pprof, target):
    counts = Counter()
    for sample in (sample for sample in pprof.message.sample if sample.value[0]):  # without unsampled values
        frames = []
        for location in (pprof.locations[id] for id in reversed(sample.location_id)):
            name = pprof.strings[pprof.functions[location.line[-1].function_id].name]
            mapping = pprof.mappings.get(location.mapping_id)
            file = pprof.strings[mapping.filename] if mapping else "[unknown]"
            if file != "[kernel.kallsyms]" and name != "[truncated]":
                frames.append(frame_of(file, name, target))
        thread = pprof.labels(sample).get("tid", -1)  # -1 if the kernel sampled it after it had released its id
        counts[thread, tuple(frames)] += sample.value[0]
    return counts


def is_perfs_loss(thread, frames, by_prof):
    """Returns True if perf lost the way: in memory that it does not know, in a stub of the PLT, for which not every
    linker writes CFI, at the leaf (of a thread that starts or ends), or on the way to the root."""
    return (not frames or "[unknown]" in frames or frames[-1][1].endswith("$plt") or
            any(other != frames and other[-len(frames):] == frames for tid, other in by_prof if tid == thread))


def assert_same_frames(perf, pprof, data, target):
    """Asserts that each stack of perf is one of prof's, frame by frame, except those in which perf lost the way: a few
    in each program, and all stacks of some programs (static ones, stacks larger than its dump)."""
    by_perf, by_prof = perf.stacks(data, target), prof_stacks(pprof, target)
    assert by_perf.total() == by_prof.total() > 50
    missing = by_perf - by_prof
    differing = [stack for stack in missing if not is_perfs_loss(*stack, by_prof)]
    assert not differing, differing[:5]


@pytest.fixture
def perf(client, tmp_path):
    return Perf(client("perf"), tmp_path)


@pytest.fixture
def convert(prof):
    """convert(file, …) is the folded output, the pprof output and stderr."""

    def run(data, *arguments, **options):
        result = prof.run("convert", data, "-o", "out.folded", "-o", "out.pb.gz", *arguments,
                          env={**os.environ, "HOME": str(prof.folder)}, **options)
        return Stacks.read(prof.folder / "out.folded"), Pprof.read(prof.folder / "out.pb.gz"), result.stderr

    return run


@pytest.mark.parametrize("name", ["threads", "shares", "recursion", "handler", "shares_static", "shares_no_pie",
                                  "shares_lld", "shares_mold", "shares_dwarf4", "shares_compressed"])
def test_stacks_of_dwarf_recordings_equal_those_of_perf(perf, convert, target, name):
    data = perf.record("--call-graph", "dwarf", target(name), "0.2")
    _, pprof, said = convert(data, "--no-inline")
    pprof.check()
    assert_same_frames(perf, pprof, data, name)
    assert "prof: the recording" not in said


def test_frame_pointers_give_the_same_functions(perf, convert, target):
    data = perf.record("--call-graph", "fp", target("shares_framed"), "0.3")
    stacks, pprof, _ = convert(data, "--no-inline")
    assert_same_frames(perf, pprof, data, "shares_framed")
    assert stacks.share("main", "half") > 0.4, stacks.hottest()


def test_inlined_frames_the_command_and_the_machine_are_kept(perf, convert, target):
    stacks, pprof, _ = convert(perf.record("--call-graph", "dwarf", target("threads"), "0.3"))
    assert stacks.share("spend", "burn", "spin") > 0.7, stacks.hottest()
    said = "\n".join(pprof.comments())
    assert "record -F 999" in said and os.uname().nodename in said and os.uname().release in said
    assert pprof.message.duration_nanos >= 0.1e9
    assert pprof.strings[pprof.mappings[1].filename].endswith("threads")


def test_a_piped_recording_is_read_from_a_pipe_and_from_a_file(perf, convert, target):
    data = perf.folder / "pipe.data"
    data.write_bytes(perf("record", "-F", "999", "-g", "-o", "-", target("shares_framed"), "0.3").stdout)
    _, pprof, _ = convert(data, "--no-inline")
    assert_same_frames(perf, pprof, data, "shares_framed")
    with data.open("rb") as stdin:
        _, again, _ = convert("-", "--no-inline", stdin=stdin)
    assert prof_stacks(again, "shares_framed") == prof_stacks(pprof, "shares_framed")
    with subprocess.Popen(["cat", data], stdout=subprocess.PIPE) as pipe:
        _, again, _ = convert("-", "--no-inline", stdin=pipe.stdout)
    assert prof_stacks(again, "shares_framed") == prof_stacks(pprof, "shares_framed")


def test_compressed_recordings_are_read(perf, convert, target):
    if not re.search(r"zstd: \[ on", perf("version", "--build-options", text=True).stdout):
        pytest.skip("perf compresses nothing")
    data = perf.record("-z", "--call-graph", "dwarf", target("threads"), "0.3")
    stacks, pprof, said = convert(data, "--no-inline")
    if "built without zstd" in said:
        pytest.skip("prof was built without zstd")
    assert_same_frames(perf, pprof, data, "threads")
    assert stacks.total > 100


def test_each_event_keeps_its_counts(perf, convert, target):
    data = perf.record("-e", "cpu-clock", "-e", "page-faults/period=1/", target("shares"), "0.3")
    _, pprof, _ = convert(data)
    faults, = [index for index, (kind, _) in enumerate(pprof.sample_types()) if kind.startswith("page-faults")]
    count = sum(sample.value[faults] for sample in pprof.message.sample)
    assert count == perf.events(data)["page-faults"] > 10


def test_events_with_the_same_name_are_kept_separate(perf, convert, prof, target):
    data = perf.record("-e", "cpu-clock:u", "-e", "cpu-clock:u", target("shares"), "0.3")
    for name in (data, cut_off(data)):
        _, pprof, _ = convert(name)
        pprof.check()
        kinds = [kind for kind, _ in pprof.sample_types()]
        counts = [sum(sample.value[kinds.index(kind)] for sample in pprof.message.sample) for kind in kinds
                  if kind.startswith("cpu")]
        assert len(counts) == 2 and min(counts) > 0.8 * max(counts) > 0, kinds
    for extension in EXTENSIONS:
        prof.run("convert", data, "-o", f"out{extension}")


def cut_off(data):
    """Returns a file as left by a killed perf: without the size of the data, and without event names after the data."""
    cut = data.with_name("cut.data")
    whole = bytearray(data.read_bytes())
    start, size = struct.unpack_from("<QQ", whole, 40)
    struct.pack_into("<Q", whole, 48, 0)
    cut.write_bytes(whole[:start + size])
    return cut


def test_the_whole_machine_is_read(perf, convert, root, target):
    data = perf.record("-a", "-g", target("shares_framed"), "0.2")
    stacks, _, _ = convert(data)
    assert stacks.of_process("shares_framed") > 20


def test_the_recording_of_a_killed_perf_is_read(perf, convert, started, target):
    process = started(subprocess.Popen(
        [perf.binary, "record", "-F", "4999", "--call-graph", "dwarf", "-o", "perf.data", target("shares"), "20"],
        cwd=perf.folder, env=perf.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True))
    data = perf.folder / "perf.data"
    while process.poll() is None and not (data.exists() and data.stat().st_size > 4 << 20):
        os.sched_yield()
    process.kill()
    process.wait()
    stacks, _, said = convert(data, "--no-inline")
    assert "not finished" in said
    assert stacks.share("main", "half") > 0.3, stacks.hottest()


def test_a_truncated_recording_gives_the_samples_that_are_left(perf, convert, prof, target):
    data = perf.record("--call-graph", "fp", target("shares_framed"), "0.3")
    whole, total = data.read_bytes(), convert(data)[0].total
    counts = []
    for length in range(len(whole) - 1, 300, -len(whole) // 9):
        (prof.folder / "cut.data").write_bytes(whole[:length])
        stacks, _, said = convert("cut.data", "--no-inline")
        assert "not finished" in said or "cut off" in said or stacks.total == total
        counts.append(stacks.total)
    assert counts == sorted(counts, reverse=True) and total >= counts[0] > counts[-1]


def test_a_file_without_a_recording_is_an_error(prof):
    (prof.folder / "empty.data").touch()
    (prof.folder / "folder.data").mkdir()
    for name, reason in {"empty.data": "is empty", "folder.data": "--threads"}.items():
        result = prof("convert", name, "-o", "out.folded")
        assert result.returncode == 1 and reason in result.stderr


def test_files_are_found_below_symfs_and_checked(perf, convert, prof, target, tmp_path):
    program = shutil.copy(target("shares"), tmp_path / "program")
    data = perf.record("--call-graph", "dwarf", program, "0.3")
    shutil.rmtree(tmp_path / ".debug", ignore_errors=True)
    other = tmp_path / "elsewhere" / program.relative_to("/")
    other.parent.mkdir(parents=True)
    program.rename(other)
    stacks, _, said = convert(data)
    assert not stacks.holding("half") and "program" in said
    stacks, _, _ = convert(data, "--symfs", tmp_path / "elsewhere")
    assert stacks.share("half") > 0.4, stacks.hottest()
    shutil.copy(target("recursion"), other)
    stacks, _, said = convert(data, "--symfs", tmp_path / "elsewhere")
    assert not stacks.holding("half") and "another file than the recorded one" in said


def test_the_copy_in_perfs_cache_is_used_after_the_program_is_rebuilt(perf, convert, target, tmp_path):
    program = shutil.copy(target("shares"), tmp_path / "program")
    data = perf.record("--call-graph", "dwarf", program, "0.3")
    if not list(tmp_path.glob(".debug/.build-id/*/*/elf")):
        pytest.skip("this perf keeps no copies")
    program.unlink()  # perf's copy may be a link to it
    shutil.copy(target("recursion"), program)
    stacks, _, _ = convert(data)
    assert stacks.share("half") > 0.4, stacks.hottest()


def test_a_failed_conversion_prints_a_line_that_says_why(prof):
    for arguments, status in (((), 2), (("one", "two"), 2), (("nothing.there",), 1), (("/etc/passwd",), 1), (("/dev/null",), 1),
                              (("perf.data", "-o", "out.data"), 2), (("perf.data", "--symfs"), 2)):
        result = prof("convert", *arguments)
        assert result.returncode == status
        assert 0 < len(result.stderr.splitlines()) <= 2


def record_both(prof, *arguments):
    """Records with prof to perf.data and other formats at the same time, and reads perf.data."""
    prof.run("record", "-q", "-o", "raw.data", "-o", "live.folded", "--no-inline", *arguments)
    prof.run("convert", "raw.data", "-o", "read.folded", "-o", "read.pb.gz", "--no-inline")
    assert_same_but_late(Stacks.read(prof.folder / "live.folded"), Stacks.read(prof.folder / "read.folded"))
    return prof.folder / "raw.data", Pprof.read(prof.folder / "read.pb.gz")


@pytest.mark.parametrize("name", ["threads", "shares", "handler"])
def test_perf_unwinds_a_recording_of_prof_to_the_same_frames(perf, prof, target, name):
    data, read = record_both(prof, target(name), "0.2")
    assert_same_frames(perf, read, data, name)


def test_perf_reads_several_events(perf, prof, target):
    data, read = record_both(prof, "-e", "cpu-clock", "-e", "page-faults", target("shares"), "0.2")
    events = perf.events(data)
    assert events["cpu-clock"] > 20 and events["page-faults"] > 0 and len(events) == 2
    assert "page-faults" in [kind for kind, _ in read.sample_types()]


def test_the_state_before_an_attach_is_in_the_file(perf, prof, service, until_busy):
    data, read = record_both(prof, "-p", service.pid, "--", *until_busy(service.pid))
    assert_same_frames(perf, read, data, "service")
    service.stdin.close()
    service.wait(TIME_LIMIT_S)


@pytest.mark.interop
def test_samply_imports_profs_recordings(prof, client, target, tmp_path):
    samply = client("samply")
    record_both(prof, target("threads"), "0.3")
    subprocess.run([samply, "import", "raw.data", "--save-only", "-o", "samply.json.gz"], cwd=tmp_path, check=True,
                   capture_output=True, timeout=TIME_LIMIT_S)
    assert (tmp_path / "samply.json.gz").stat().st_size > 500


def test_an_interrupted_recording_is_a_complete_file(perf, prof, started, target):
    process = started(prof.start("record", "-q", "-o", "raw.data", target("shares"), "20"))
    wait(process.pid, 0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=TIME_LIMIT_S)
    text = perf("script", "-F", "comm", "-i", "raw.data", text=True)
    assert "size field is 0" not in text.stderr
    assert sorted(path.name for path in prof.folder.glob("*raw.data*")) == ["raw.data"]


def test_perf_data_is_written_once_and_only_into_a_file(prof):
    result = prof("record", "-o", "one.data", "-o", "two.data", "true")
    assert result.returncode == 2 and "one perf.data is enough" in result.stderr
    result = prof("record", "-q", "--format", "perf.data", "-o", "/dev/full", "true")
    assert result.returncode == 2 and "into a file only" in result.stderr
