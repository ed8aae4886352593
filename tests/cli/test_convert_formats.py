"""prof convert of profiles: pprof of any producer, folded stacks, the text of perf script."""

import gzip
import json
import os
import re
import subprocess
from collections import Counter
from random import Random

import pytest

from asleep import wait_until_asleep
from conftest import SOURCE, Prof
from time_limit import TIME_LIMIT_S
from profiles import Pprof, profile_message

GO_CPU = SOURCE / "tests" / "golden" / "go_cpu.pb.gz"
GO_HEAP = SOURCE / "tests" / "golden" / "go_heap.pb.gz"
GO_FOLDED = """\
shop;runtime.main;main.main;main.work;main.spin 10
shop;runtime.main;main.main;main.work;main.spin;runtime.asyncPreempt 1
shop;runtime.main;main.main;runtime/pprof.Do;main.main.func1;main.work;main.spin 4
shop;runtime.main;main.main;runtime/pprof.Do;main.main.func1;main.work;main.spin;runtime.asyncPreempt 3
"""


def convert(prof, source, *arguments, **options):
    result = prof.run("convert", source, *arguments, **options)
    return result


@pytest.fixture(scope="module")
def recorder(tmp_path_factory, target):
    """A prof in the directory of a recording of several processes."""
    prof = Prof(tmp_path_factory.mktemp("formats"))
    prof.record("-F", "499", target("family"), "0.5", target("shares"))
    return prof


def test_a_pprof_profile_is_converted_to_an_equal_pprof_profile_and_the_folded_stacks(recorder):
    folder = recorder.folder
    convert(recorder, "record.pb.gz", "-o", "again.pb.gz", "-o", "again.folded")
    Pprof.read(folder / "again.pb.gz")  # including everything that it refers to
    convert(recorder, "again.pb.gz", "-o", "last.pb.gz", "-o", "last.folded")
    assert (folder / "last.pb.gz").read_bytes() == (folder / "again.pb.gz").read_bytes()
    for name in "again.folded", "last.folded":
        assert (folder / name).read_bytes() == (folder / "record.folded").read_bytes() != b""


def test_go_tool_pprof_shows_the_same_after_a_conversion(recorder, client):
    convert(recorder, "record.pb.gz", "-o", "again.pb.gz")
    for report in ("-top", "-tags", "-peek=."):
        shown = [subprocess.run([client("go"), "tool", "pprof", report, "-addresses", "-nodecount=200", recorder.folder / name],
                                check=True, text=True, capture_output=True).stdout
                 for name in ("record.pb.gz", "again.pb.gz")]
        assert shown[0].splitlines() == shown[1].splitlines()


@pytest.mark.parametrize("source, kinds, tag", [(GO_CPU, ("samples", "cpu"), "checkout"),
                                                (GO_HEAP, ("inuse_space", "alloc_objects"), "648kB")])
def test_go_tool_pprof_shows_the_same_labels_after_a_conversion(prof, client, source, kinds, tag):
    convert(prof, source, "-o", "again.pb.gz")
    for kind in kinds:
        before, after = [subprocess.run([client("go"), "tool", "pprof", "-tags", f"-sample_index={kind}", path],
                                        check=True, text=True, capture_output=True).stdout
                         for path in (source, prof.folder / "again.pb.gz")]
        assert after == before
        assert tag in after


@pytest.mark.parametrize("pack", [bytes, gzip.decompress])
def test_a_pipe_is_read_as_a_file_is(prof, pack):
    result = subprocess.run([prof.binary, "convert", "-"], input=pack(GO_CPU.read_bytes()), capture_output=True,
                            check=True, cwd=prof.folder, timeout=TIME_LIMIT_S)
    assert result.stdout.decode() == GO_FOLDED


@pytest.mark.parametrize("pack", [bytes, gzip.decompress])
def test_a_pipe_may_be_written_byte_by_byte(prof, pack):
    data = pack(GO_CPU.read_bytes())
    reader, writer = os.pipe()
    with subprocess.Popen([prof.binary, "convert", "-"], stdin=reader, stdout=subprocess.PIPE, cwd=prof.folder) as process:
        os.close(reader)
        for byte in data[:70]:
            os.write(writer, bytes([byte]))
            wait_until_asleep(process.pid)
        with open(writer, "wb") as rest:
            rest.write(data[70:])
        assert process.communicate(timeout=TIME_LIMIT_S)[0].decode() == GO_FOLDED
        assert process.returncode == 0


def test_a_format_that_is_only_written_is_refused_with_advice(prof):
    (prof.folder / "in.folded").write_text("shop;main 1\n", encoding="ascii")
    for name in ("a.firefox.json.gz", "a.speedscope.json", "a.html", "a.svg", "a.ndjson", "a.ndjson.gz"):
        convert(prof, "in.folded", "-o", name)
        for command in "report", "convert":
            result = prof(command, name)
            assert result.returncode == 1
            assert name in result.stderr and "does not read it" in result.stderr and "-o prof.pb.gz" in result.stderr


def test_json_of_other_profilers_is_refused_by_name(prof):
    (prof.folder / "profile.json.gz").write_bytes(gzip.compress(b"{}"))
    assert "JSON of other profilers is not read" in prof("report", "profile.json.gz").stderr


DAMAGED = {
    "cut.pb.gz": (GO_CPU.read_bytes()[:300], "damaged"),
    "plain.pb": (gzip.decompress(GO_CPU.read_bytes())[:300], "damaged"),
    "cut.folded.gz": (gzip.compress(b"a;b 1\n" * 1000)[:40], "damaged"),
    "zeros.gz": (gzip.compress(bytes(300 << 20)), "unpacks to more than"),
    "go_heap": (b"heap profile: 1: 1024 [5: 20480] @ heap/1048576\n1: 1024 [5: 20480] @ 0x4a1b2c\n#\t0x4a1b2b\tmain.leak+0x2b\tmain.go:12\n",
                "heap profile of Go as text (debug=1)"),
    "goroutines": (b"goroutine profile: total 3\n3 @ 0x43c1e5\n", "goroutine profile of Go as text (debug=1)"),
    "other_go": (b"shop/locks profile: total 3\n3 @ 0x43c1e5\n", "profile of Go as text (debug=1)"),
    "mutex": (b"--- mutex:\ncycles/second=2000000000\n", "mutex profile of Go as text (debug=1)"),
    "raw.heap": (b"--- symbol\nbinary=/opt/app\n0x0000000000401137 leak_it\n---\n--- heap\n", "jeprof --raw"),
    "cpu.prof": (b"".join(n.to_bytes(8, "little") for n in (0, 3, 0, 10000, 0)), "CPU profile of gperftools"),
    "cpu32.prof": (b"".join(n.to_bytes(4, "little") for n in (0, 3, 0, 10000, 0)), "CPU profile of gperftools"),
    "page": (b'{"nodes": [\n1 2\n', "JSON of another profiler"),
    "count.folded": (b"\na;b\n", "line 2: it does not end in a space and a count"),
    "difference.folded": (b"a;b 1 2\n", "line 1: it has two counts"),
    "nothing": (b"", "not a perf.data file"),
    "program": (b"\x7fELF\2\1\1" + bytes(100), "not a perf.data file"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_file_that_is_not_a_profile_is_an_error_and_nothing_is_written(prof, name):
    content, why = DAMAGED[name]
    (prof.folder / name).write_bytes(content)
    result = prof("convert", name, "-o", "out.folded", "-o", "out.pb.gz")
    assert result.returncode == 1
    assert why in result.stderr
    assert name in result.stderr
    if name in ("count.folded", "nothing", "program"):
        assert "prof reads p" in result.stderr.splitlines()[1], "what prof reads is not said"
    assert [path.name for path in prof.folder.iterdir()] == [name]


PACKERS = {"gzip": ["gzip", "-c"], "xz": ["xz", "-c"], "zstd": ["zstd", "-c"]}


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("from_pipe", [False, True])
def test_packed_files_are_recognized_by_what_is_inside(prof, packer, from_pipe):
    contents = {
        "folded": b"main;a 3\nmain;b 1\n",
        "pprof": gzip.decompress(GO_CPU.read_bytes()),
        "heap": b"heap_v2/524288\n  t*: 1: 4096 [0: 0]\n@ 0x1234\n  t*: 1: 4096 [0: 0]\n",
    }
    for name, content in contents.items():
        packed = subprocess.run(PACKERS[packer], input=content, capture_output=True, check=True).stdout
        shown = []
        for data in content, packed:
            (prof.folder / "in").write_bytes(data)
            source = {"input": data} if from_pipe else {}
            shown.append(subprocess.run([prof.binary, "convert", "-q", "-" if from_pipe else "in", "-o", "-", "--format", "folded"],
                                        cwd=prof.folder, capture_output=True, timeout=TIME_LIMIT_S, check=True, **source).stdout)
        assert shown[0] == shown[1] != b"", name


def test_a_packed_recording_of_perf_is_read(prof, target):
    prof.run("record", "-o", "perf.data", "-o", "out.folded", target("shares"), "0.2")
    data = (prof.folder / "perf.data").read_bytes()
    (prof.folder / "packed").write_bytes(gzip.compress(data))
    for name in "perf.data", "packed":
        convert(prof, name, "-o", f"{name}.folded")
    assert (prof.folder / "packed.folded").read_bytes() == (prof.folder / "perf.data.folded").read_bytes() != b""


def test_bad_lines_of_folded_stacks_are_skipped_and_reported(prof):
    (prof.folder / "in.folded").write_text("# austin: 3.3.0\nmain 7\nmain;a 3.5\nnonsense\nmain;;b 2\nmain;b\n 4\n", encoding="ascii")
    result = convert(prof, "in.folded", "-o", "out.folded", "-o", "out.pb.gz")
    assert "in.folded: skipped 2 lines, the first is line 4: it does not end in a space and a count" in result.stderr
    assert "in.folded: dropped the fractions of 1 count" in result.stderr
    assert (prof.folder / "out.folded").read_text(encoding="ascii") == "[unnamed] 4\nmain 7\nmain;[unnamed];b 2\nmain;a 3\n"
    convert(prof, "out.pb.gz", "-o", "again.folded")
    assert (prof.folder / "again.folded").read_bytes() == (prof.folder / "out.folded").read_bytes()


def test_the_first_frame_of_folded_stacks_is_a_function(prof):
    (prof.folder / "in.folded").write_text("main 7\nmain;a 3\n", encoding="ascii")
    convert(prof, "in.folded", "-o", "out.pb.gz")
    for name in "in.folded", "out.pb.gz":
        rows = json.loads(prof("report", "--json", name).stdout)["rows"]
        assert {row["name"]: (row["self"]["samples"], row["total"]["samples"]) for row in rows} == {"main": (7, 10), "a": (3, 3)}


def message_of(stacks, types, **strings):
    """Makes a pprof message of (stack, values). A stack has its root first; a frame is followed by the functions that
    are inlined into it."""
    message = profile_message()()
    table = [""]

    def number(text):
        if text not in table:
            table.append(text)
        return table.index(text)

    def location(frame):
        for i, known in enumerate(message.location, 1):
            if known.address == number(str(frame)):
                return i
        new = message.location.add(id=len(message.location) + 1, address=number(str(frame)))
        for name in reversed(frame):
            message.function.add(id=len(message.function) + 1, name=number(name), system_name=number(name))
            new.line.add(function_id=len(message.function))
        return new.id

    for kind, unit in types:
        message.sample_type.add(type=number(kind), unit=number(unit))
    for stack, values in stacks:
        message.sample.add(location_id=[location(frame) for frame in reversed(stack)], value=values)
    for field, text in strings.items():
        setattr(message, field, number(text))
    message.string_table.extend(table)
    return message


def write_message(path, message):
    path.write_bytes(gzip.compress(message.SerializeToString()))


SPACE = [("space", "bytes")]


@pytest.mark.parametrize("drop, keep", [
    ("pool_.*", ""), ("pool_.*", "pool_keep"), ("pool_.*|main", ""), ("pool", ""), ("a::(?:b|c)", ""), (".*?low", "x"),
    (r"std::operator\(\)", ""), (r"\(anonymous namespace\)::f\d+", ""), (".*", ""), (".*", "main"), ("f[12]", "f2"), ("", "main"),
    (r"[^]*+]+?_?g(?:et){1,2}?", ""), (r"pool\_s[*+l]o?w", "")])
def test_frames_are_dropped_as_go_tool_pprof_drops_them(prof, client, drop, keep):
    names = ["main", "pool_get", "pool_keep", "pool_slow(int)", ".pool_dot", "a::b(x)", "a::c", "std::operator()(int)",
             "(anonymous namespace)::f1", "f2", "work"]
    random = Random(f"{drop} {keep}")
    stacks = [([random.choices(names, k=random.choice([1, 1, 1, 2, 3])) for _ in range(random.randrange(1, 6))], [2 ** i])
              for i in range(40)]
    write_message(prof.folder / "in.pb.gz", message_of(stacks, SPACE, drop_frames=drop, keep_frames=keep))
    convert(prof, "in.pb.gz", "-o", "out.pb.gz")
    subprocess.run([client("go"), "tool", "pprof", "-proto", "-symbolize=none", "-output", "go.pb.gz", "in.pb.gz"], cwd=prof.folder,
                   check=True, capture_output=True, timeout=TIME_LIMIT_S)
    ours, theirs = (Pprof.read(prof.folder / name) for name in ("out.pb.gz", "go.pb.gz"))

    def sums(profile):
        found = Counter()
        for sample in profile.message.sample:
            found[profile.frames(sample)] += sample.value[-1]
        return found

    assert sums(ours) == sums(theirs)


def test_expressions_that_cannot_be_applied_are_reported(prof):
    for drop, why in (("(", "unknown syntax"), ("(a{99}){2}", "too many repetitions"), ("x" * 3000, "too many bytes"),
                      (r"(a)\1", "back references"), ("(.!)" + 30 * "+", "unknown syntax")):
        write_message(prof.folder / "in.pb.gz", message_of([([["main"], ["a"]], [1])], SPACE, drop_frames=drop))
        result = convert(prof, "in.pb.gz", "-o", "out.folded")
        assert f"did not apply drop_frames: the expressions have {why}" in result.stderr
        assert (prof.folder / "out.folded").read_text(encoding="ascii") == "main;a 1\n"


def test_a_hostile_expression_costs_little(prof):
    names = [["main"], *([f"{i:050b}".replace("0", "a").replace("1", "b")] for i in range(300))]
    write_message(prof.folder / "in.pb.gz", message_of([([["main"], name], [1]) for name in names], SPACE,
                                                       drop_frames="(a|b)*a(a|b){90}c"))
    assert "did not apply" not in convert(prof, "in.pb.gz", "-o", "out.folded").stderr


def test_a_difference_shows_the_types_that_are_not_negative(prof, client):
    types = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")]
    for name, values in (("old", [1, 10, 5, 50]), ("new", [3, 30, 4, 40])):
        write_message(prof.folder / f"{name}.pb.gz", message_of([([["main"], ["f"]], values)], types))
    subprocess.run([client("go"), "tool", "pprof", "-proto", "-output", "diff.pb.gz", "-base", "old.pb.gz", "new.pb.gz"],
                   cwd=prof.folder, check=True, capture_output=True, timeout=TIME_LIMIT_S)
    result = prof.run("report", "--json", "diff.pb.gz")
    report = json.loads(result.stdout)
    assert {event["name"]: event["weight"] for event in report["events"]} == {"alloc_objects": 2, "alloc_space": 20}
    assert "diff.pb.gz: omitted inuse_objects, inuse_space: a difference of two profiles, with negative values" in result.stderr

    write_message(prof.folder / "all.pb.gz", message_of([([["main"]], [-1] * 4)], types))
    result = prof("report", "all.pb.gz")
    assert result.returncode == 1 and "it has negative values" in result.stderr


def test_values_of_a_pprof_profile_never_wrap(prof):
    write_message(prof.folder / "in.pb.gz", message_of([([["main"]], [2 ** 63 - 1]), ([["f"]], [2 ** 63 - 1]), ([["g"]], [2])], SPACE))
    result = prof("report", "in.pb.gz")
    assert result.returncode == 1 and "their sum exceeds 2^63 - 1" in result.stderr


def test_a_missing_file_is_an_error(prof):
    result = prof("convert", "nowhere.pb.gz", "-o", "out.folded")
    assert result.returncode == 1
    assert "nowhere.pb.gz" in result.stderr
    assert prof("convert", GO_CPU, "-o", "out.xyz").returncode == 2
    assert prof("convert", "-o", "out.folded").returncode == 2
    assert not list(prof.folder.iterdir())


PERF_SCRIPT = """\
# ========
# hostname : web1
# cmdline : /usr/bin/perf record -g ./shop
# ========
#
V8 WorkerThread 24636/25607 [000] 94564.109216:     250000 cpu-clock:uhH: 
\tffffffff8103ce3b do_syscall_64+0x5b ([kernel.kallsyms])
\t    7f89e341d84f [unknown] (/usr/lib/libc-2.28.so)
\t          408ebb a::b<void (int)>(int, char) const+0x8b (/usr/bin/node)
\t          4069f5 main+0x935 (/usr/bin/node)

java 10488/10490 [001] 94564.109300:     250000 cpu-clock:uhH: 
\t    7f89cc467bf0 Ljava/io/PrintStream;::println+0x10 (/tmp/perf-10488.map)
\t          4069f5 [unknown] ([unknown])

java 10488/10490 [001] 94564.109400:          1 page-faults: 
\t          4069f5 grow+0x1 (/usr/bin/java)

V8 WorkerThread 24636/25607 [002] 94564.109500:     250000 cpu-clock:uhH: 
\t          4069a1 inlined (inlined)
\t          4069a1 main+0x8e1 (/usr/bin/node)

"""


def folded_by_inferno(client, path, *options):
    return subprocess.run([client("inferno-collapse-perf"), "-q", *options, path], check=True, text=True,
                          capture_output=True, timeout=TIME_LIMIT_S).stdout.splitlines()


def folded_by_prof(prof, path, *options):
    return convert(prof, path, "-q", "--format", "folded", "-o", "-", *options).stdout.splitlines()


def test_the_text_of_perf_script_is_folded_as_inferno_folds_it(prof, client):
    path = prof.folder / "script.txt"
    path.write_text(PERF_SCRIPT, encoding="ascii")
    for options, infernos in ((), ()), (("--show-pid",), ("--pid",)), (("--show-tid",), ("--tid",)), \
            (("-e", "page-faults"), ("--event-filter", "page-faults")):
        # If process names have pids, old versions of inferno do not recognize that a process is called java.
        mine, expected = [sorted(line for line in lines if not options or "java/io" not in line.replace("Ljava", "java"))
                          for lines in (folded_by_prof(prof, path, *options), folded_by_inferno(client, path, *infernos))]
        assert expected and mine == expected
    weights = [int(line.rsplit(" ", 1)[1]) for line in folded_by_prof(prof, path, "--weight", "period")]
    assert weights == [250000] * 3


def test_the_text_of_perf_script_is_read_from_a_pipe_and_by_every_command(prof):
    (prof.folder / "script").write_text(PERF_SCRIPT, encoding="ascii")
    piped = subprocess.run([prof.binary, "convert", "-"], input=PERF_SCRIPT, text=True, capture_output=True, check=True,
                           cwd=prof.folder, timeout=TIME_LIMIT_S)
    assert piped.stdout.splitlines() == folded_by_prof(prof, "script")
    report = prof.run("report", "script").stdout
    assert "perf record -g ./shop" in report and "750.0 us of CPU time" in report, report
    assert "compared: shares of CPU time (event cpu-clock:uhH)" in prof.run("diff", "script", "script").stdout
    convert(prof, "script", "-o", "again.perf.txt", "-o", "a.html", "-o", "a.pb.gz", "-o", "a.firefox.json.gz")
    assert folded_by_prof(prof, "again.perf.txt") == folded_by_prof(prof, "script") == folded_by_prof(prof, "a.pb.gz")


def test_lines_that_perf_script_does_not_print_are_counted(prof):
    (prof.folder / "script").write_text(f"Failed to open /tmp/perf-1.map\n{PERF_SCRIPT}\todd\n", encoding="ascii")
    for command in ["report", "script"], ["convert", "-q", "script", "-o", "a.pb.gz"]:
        result = prof.run(*command)
        assert "prof: script: skipped 2 lines that perf script does not print, the first is line 1" in result.stderr


def test_prof_script_prints_what_perf_script_prints(prof, client, target):
    perf = client("perf")
    subprocess.run([perf, "record", "-q", "-e", "cpu-clock", "-g", "--sample-cpu", "-o", "perf.data", target("shares")],
                   check=True, capture_output=True, cwd=prof.folder, timeout=TIME_LIMIT_S)
    for fields in ("comm,pid,tid,cpu,time,event,period", "tid,time", "comm,tid,cpu,event"):
        perfs = subprocess.run([perf, "script", "-i", "perf.data", "-F", fields], check=True, text=True, capture_output=True,
                               cwd=prof.folder, timeout=TIME_LIMIT_S).stdout
        mine = prof.run("script", "-i", "perf.data", "-F", fields).stdout
        assert mine and [line.split() for line in mine.splitlines()] == [line.split() for line in perfs.splitlines()]


def test_what_prof_script_prints_folds_into_the_stacks_of_the_profile(prof, client, target):
    prof.run("record", "-F", "999", "-o", "prof.pb.gz", "-o", "prof.data", "--", target("shares"))
    for source in "prof.data", "prof.pb.gz":
        for fields in "comm,pid,tid,cpu,time,event,ip,sym,dso,trace", "+pid", "comm,tid,event,ip,sym,dso":
            (prof.folder / "script").write_text(prof.run("script", source, "-F", fields).stdout, encoding="utf-8")
            expected = [line for line in folded_by_prof(prof, source) if "[not sampled]" not in line]
            by_inferno = folded_by_inferno(client, prof.folder / "script")
            assert expected and sorted(by_inferno) == sorted(expected)
            assert sorted(folded_by_prof(prof, "script")) == sorted(expected)


def test_prof_script_reads_stdin_and_its_own_text(prof):
    piped = subprocess.run([prof.binary, "script", "-", "--header", "-F", "+pid"], input=PERF_SCRIPT, text=True,
                           capture_output=True, check=True, cwd=prof.folder, timeout=TIME_LIMIT_S)
    assert piped.stdout.startswith("# ========\n# hostname : web1\n# cmdline : /usr/bin/perf record -g ./shop\n# ========\n")
    blocks = PERF_SCRIPT.partition("#\n")[2]
    expected = re.sub(r"\+0x[0-9a-f]+", "", blocks).replace("[unknown] (/usr/lib/libc", "[libc-2.28.so] (/usr/lib/libc")
    expected = expected.replace("(int, char) const", "").replace("Ljava", "java")
    assert [line.split() for line in piped.stdout.partition("#\n")[2].splitlines()] == [line.split() for line in expected.splitlines()]
    without = subprocess.run([prof.binary, "script", "-", "--no-inline"], input=PERF_SCRIPT, text=True, capture_output=True,
                             check=True, cwd=prof.folder, timeout=TIME_LIMIT_S).stdout
    assert "(inlined)" in piped.stdout and "(inlined)" not in without


def test_prof_script_tells_what_a_profile_does_not_hold(prof):
    (prof.folder / "a.folded").write_text("shop;main 2\n", encoding="ascii")
    for field in "symoff", "trace":
        result = prof.run("script", "a.folded", "-F", f"+{field}")
        assert result.stdout.splitlines()[0].split()[1:] == ["0", ":", "2", "samples:"]
        assert "no times" in result.stderr and "fields that profiles do not contain are omitted" in result.stderr
    for wrong in ["a.folded", "-F", "sym"], ["a.folded", "-F", "symm"], ["a", "b"], []:
        assert prof("script", *wrong).returncode == 2
    assert prof("script", "missing").returncode == 1


def test_prof_folds_what_perf_script_prints_as_inferno_does(prof, client, target):
    perf = client("perf")
    subprocess.run([perf, "record", "-q", "-e", "cpu-clock", "-g", "--sample-cpu", "-o", "perf.data", target("shares")], check=True,
                   capture_output=True, cwd=prof.folder, timeout=TIME_LIMIT_S)
    expected = None
    for fields in (), ("-F", "comm,pid,tid,cpu,time,event,ip,sym,dso,trace"), ("-F", "+srcline"), ("--header",), \
            ("--show-mmap-events", "--show-task-events"), ("--ns", "-F", "+misc"), ("-F", "comm,tid,time,event,ip,sym,dso"):
        with (prof.folder / "script").open("w") as script:
            subprocess.run([perf, "script", "-i", "perf.data", *fields], check=True, stdout=script,
                           stderr=subprocess.PIPE, cwd=prof.folder, timeout=TIME_LIMIT_S)
        result = convert(prof, "script", "-q", "--format", "folded", "-o", "-")
        assert "skipped" not in result.stderr
        # inferno omits samples without frames, and all samples if mappings are printed.
        expected = expected or folded_by_inferno(client, prof.folder / "script")
        assert expected and sorted(line for line in result.stdout.splitlines() if ";" in line) == sorted(expected)


@pytest.fixture
def program(prof):
    """program(name) makes a program with a function `hot`, and returns its path, the file offset of hot and its
    build-id."""

    def build(name, extra=""):
        source = prof.folder / f"{name}.c"
        source.write_text("__attribute__((noinline)) int hot(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }\n"
                          f"int main(void) {{ return hot(1000); }}\n{extra}", encoding="ascii")
        path = prof.folder / name
        subprocess.run(["gcc", "-O1", "-g", "-Wl,--build-id", "-o", path, source], check=True)
        symbols = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
        hot = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" hot"))
        notes = subprocess.run(["readelf", "-n", path], check=True, capture_output=True, text=True).stdout
        return path, hot, notes.split("Build ID: ")[1].split()[0]

    return build


def write_without_symbols(path, program, base):
    file, hot, build_id = program
    message = message_of([], [("samples", "count"), ("cpu", "nanoseconds")])
    message.string_table.extend([str(file), build_id])
    names = len(message.string_table)
    message.mapping.add(id=1, memory_start=base + 0x1000, memory_limit=base + 0x2000, file_offset=0x1000, filename=names - 2, build_id=names - 1)
    message.location.add(id=1, mapping_id=1, address=base + hot + 20)
    message.sample.add(location_id=[1], value=[10, 10 ** 8])
    write_message(path, message)


def test_a_pprof_profile_without_symbols_is_symbolized_from_the_files_with_the_build_ids(prof, program):
    hot = program("hot")
    for name, base in ("one", 0x555555554000), ("two", 0x7ff000000000):
        write_without_symbols(prof.folder / f"{name}.pb.gz", hot, base)
        rows = json.loads(prof.run("report", "--json", f"{name}.pb.gz").stdout)["rows"]
        assert [row["name"] for row in rows] == ["hot"]
    difference = json.loads(prof.run("diff", "--json", "one.pb.gz", "two.pb.gz").stdout)
    assert all(function["name"] == "hot" for function in difference["functions"])


def test_a_file_with_another_build_id_is_not_used_and_reported(prof, program):
    path, hot, build_id = program("hot")
    program("hot", extra="int other;\n")
    write_without_symbols(prof.folder / "in.pb.gz", (path, hot, build_id), 0x555555554000)
    result = prof.run("report", "--json", "in.pb.gz")
    assert [row["name"] for row in json.loads(result.stdout)["rows"]] != ["hot"]
    assert f"{path} is another file than the " in result.stderr
