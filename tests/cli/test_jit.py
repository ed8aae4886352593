"""Symbols of code that programs compile at run time: jitdumps (node --perf-prof, python -X perf_jit) and perf maps."""

import json
import re
import shutil
import subprocess
from collections import defaultdict

import pytest

from conftest import BUILD, Prof
from lacking import lacking, tool
from profiles import Pprof, Stacks, assert_rooted

TARGET = BUILD / "tests/targets/recompiled"
SHARES = {("run_first", "first"): 0.3, ("run_second", "second"): 0.4, ("run_moved", "moved"): 0.3}
UNNAMED = re.compile(r"\[(jit|jit-\d+\.dump)\+0x[0-9a-f]+\]")

NODE = """
    function innermost(n) { let t = 0; for (let i = 0; i < n; i++) t = (t * 31 + i) | 0; return t; }
    function middle(n) { return innermost(n) + 1; }
    function outer(n) { return middle(n) + 1; }
    /* Wrong types throw optimised code away. */
    function generic(x) { let t = 0; for (let i = 0; i < 100; i++) t += x.value; return t; }
    const shapes = [{value: 1}, {value: 1.5}, {value: "a"}, {other: 0, value: 2}];
    const end = process.cpuUsage().user + 1500000;
    let sum = 0, round = 0, text = "";
    while (process.cpuUsage().user < end) {
        for (let i = 0; i < 100; i++) sum += outer(1000);
        text = generic(shapes[round++ >> 7 & 3]);
        new Function("n", `let s = ${round}; for (let k = 0; k < n; k++) s = (s * ${round} + k) | 0; return s`)(3000);
    }
    """


def jit_frames(stacks):
    """Returns the frames of JIT code, symbolized or not, in folded stacks with their kinds."""
    return [frame for frames in stacks.counts.elements() for frame in frames if frame.endswith("_[j]")]


def assert_shares(stacks, wrong_max=0.01):
    for names, share in SHARES.items():
        assert abs(stacks.share("main", *names) - share) < 0.07, (names, stacks.hottest())
    wrong = sum(stacks.holding(caller, name) for caller, _ in SHARES for _, name in SHARES if (caller, name) not in SHARES)
    assert wrong <= wrong_max * stacks.total, stacks.hottest()
    assert_rooted(stacks)


@pytest.fixture(scope="module")
def dumped(tmp_path_factory):
    """A prof in a folder, and its recording of a program that writes a jitdump."""
    prof = Prof(tmp_path_factory.mktemp("dumped"))
    return prof, prof.record("-F", "999", "--", TARGET, "1", "dump")


def test_functions_that_had_one_address_one_after_the_other_have_their_own_names(prof, dumped):
    """tests/unit/test_jitdump.c tests functions that are reported late."""
    assert_shares(dumped[1].stacks)
    # The lines of a map have no times. The time of writing is known to 10 ms.
    assert_shares(prof.record("-F", "999", "--", TARGET, "1", "map").stacks, 0.03)


def test_a_map_that_its_program_has_removed_has_the_names(prof):
    stacks = prof.record("-F", "999", "--", TARGET, "0.5", "map", "removed").stacks
    named = sum(stacks.holding(caller, name) for caller, name in SHARES)
    assert named > 0.9 * stacks.total, stacks.hottest()


def test_a_recording_of_perf_finds_the_names_by_its_times(prof):
    subprocess.run([tool("perf"), "record", "-q", "-k", "mono", "--call-graph", "dwarf,1024", "-F", "999", "-e", "cpu-clock", "-o", "perf.data",
                    TARGET, "1", "dump"], check=True, cwd=prof.folder, capture_output=True)
    prof.run("convert", "perf.data", "-o", "out.folded")
    assert_shares(Stacks.read(prof.folder / "out.folded"))


def test_a_recording_of_another_clock_has_the_last_names(prof):
    subprocess.run([tool("perf"), "record", "-q", "-F", "999", "-e", "cpu-clock", "-o", "perf.data", TARGET, "0.5", "dump"], check=True,
                   cwd=prof.folder, capture_output=True)
    prof.run("convert", "perf.data", "-o", "out.folded")
    stacks = Stacks.read(prof.folder / "out.folded")
    assert stacks.share("moved") > 0.9, stacks.hottest()


def test_the_lines_of_the_code_are_shown_and_it_stays_jit_code_in_a_profile(dumped):
    prof, recording = dumped
    pprof = recording.pprof
    lines = defaultdict(set)
    for location in pprof.message.location:
        for line in location.line:
            function = pprof.functions[line.function_id]
            lines[pprof.strings[function.name]].add((pprof.strings[function.filename], line.line))
    # A CPU may see both instructions of the loop as one: then only the first has samples. The one before it has no line.
    for name, first in ("first", 10), ("second", 20):
        assert set() < lines[name] - {("", 0)} <= {("recompiled.jit", first), ("recompiled.jit", first + 1)}
    assert lines["moved"] == {("", 0)}
    prof.run("convert", "record.pb.gz", "--annotate", "-o", "again.folded")
    assert {"first_[j]", "second_[j]", "moved_[j]"} == set(jit_frames(Stacks.read(prof.folder / "again.folded")))


def test_the_instructions_of_jit_code_are_annotated_as_long_as_its_dump_is_there(dumped):
    prof, _ = dumped
    listing = prof("annotate", "record.pb.gz", "second", "--asm")
    if "capstone" in listing.stderr:
        lacking("capstone")
    assert listing.returncode == 0, listing.stderr
    hot = [line for line in listing.stdout.splitlines() if re.match(r"\s*[1-9][\d.]* % +[\d.]+ % +[0-9a-f]+ ", line)]
    assert hot and all("recompiled.jit:2" in line for line in hot), listing.stdout
    assert re.search(r"nop\s", listing.stdout), "the code of the second function"
    [dump] = prof.folder.glob("jit-*.dump")
    moved = dump.rename(prof.folder / "elsewhere")
    listing = prof("annotate", "record.pb.gz", "first", "--asm")
    moved.rename(dump)
    assert listing.returncode != 0
    assert dump.name in listing.stderr and "keep the jitdump files" in listing.stderr


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "jit.js"
    path.write_text(NODE)
    return path


def assert_named(prof, *command):
    prof.run("record", "-F", "999", "-o", "out.folded", "-o", "out.pb.gz", "--annotate", "--", *command)
    stacks = Stacks.read(prof.folder / "out.folded")
    frames = jit_frames(stacks)
    unnamed = [frame for frame in frames if UNNAMED.match(frame)]
    assert len(frames) > 300 and len(unnamed) <= 0.01 * len(frames), stacks.hottest()
    return stacks


def test_code_of_node_has_its_names_and_lines(prof, client, script):
    stacks = assert_named(prof, client("node"), "--perf-prof", "--interpreted-frames-native-stack", "--no-turbo-inlining", script)
    hot = stacks.count(lambda frames: any(re.match(r"JS:\*innermost \S*jit\.js:\d+:\d+_\[j\]", frame) for frame in frames))
    assert hot > 0.1 * stacks.total, stacks.hottest()
    pprof = Pprof.read(prof.folder / "out.pb.gz")
    lines = {line.line for location in pprof.message.location for line in location.line
             if "innermost" in pprof.strings[pprof.functions[line.function_id].name]}
    assert 2 in lines, lines
    files = {pprof.strings[function.filename] for function in pprof.message.function if pprof.strings[function.name].startswith("JS:")}
    assert str(script) in files and all(file == "" or file.startswith(("/", "node:")) for file in files), files
    assert stacks.count(lambda frames: frames[1] == "[truncated]") <= 0.02 * stacks.total, stacks.hottest()


def test_code_of_python_has_its_names(prof, tmp_path):
    python = shutil.which("python3.13")
    if not python or subprocess.run([python, "-X", "perf_jit", "-c", ""], cwd=tmp_path, capture_output=True, check=False).returncode:
        pytest.skip("python3.13 is missing, which no package of Debian 12 has")
    program = tmp_path / "program.py"
    program.write_text("import time\n"
                       "def inner(n):\n    return sum(i * i for i in range(n))\n"
                       "def outer(n):\n    return inner(n) + inner(n)\n"
                       "end = time.process_time() + 1\nwhile time.process_time() < end:\n    outer(2000)\n")
    stacks = assert_named(prof, python, "-X", "perf_jit", program)
    both = stacks.count(lambda frames: [frame for frame in frames if frame.startswith(("py::inner:", "py::outer:"))][:1] != [])
    assert both > 0.8 * stacks.total, stacks.hottest()


REGISTERED = BUILD / "tests/targets/registered"


@pytest.mark.parametrize("mode", ["plain", "loop", "wild"])
def test_code_that_is_registered_for_debuggers_has_its_names_and_all_its_callers(prof, mode):
    """It has no frame pointers, and the two functions have different frames."""
    stacks = prof.record("-F", "999", "--", REGISTERED, "1", mode).stacks
    for name in "first", "second":
        share = stacks.share("main", f"run_{name}", f"{name}_outer", f"{name}_inner")
        assert abs(share - 0.5) < 0.07, stacks.hottest()
    assert_rooted(stacks)
    assert not [frame for frame in jit_frames(stacks) if UNNAMED.search(frame)]


def test_registered_code_that_replaces_other_code_has_its_own_names_and_frames(prof):
    """The time when an object was replaced is not known exactly."""
    stacks = prof.record("-F", "999", "--", REGISTERED, "1", "replaced").stacks
    for name in "first", "second":
        share = stacks.share("main", f"run_{name}", f"{name}_outer", f"{name}_inner")
        assert abs(share - 0.5) < 0.1, stacks.hottest()
    assert_rooted(stacks, 0.9)


def test_code_that_is_not_registered_has_no_names(prof):
    recording = prof.record("-F", "999", "--", REGISTERED, "0.5", "unregistered")
    assert UNNAMED.search(str(recording.stacks.hottest())), recording.stacks.hottest()


BUSY = "const end = process.cpuUsage().user + 500000; while (process.cpuUsage().user < end) Math.sqrt(end);"


def lines_about(name, text):
    return [line for line in text.splitlines() if f"of the samples are in {name}, whose functions have no names: " in line]


def test_a_runtime_without_names_has_a_line_with_its_share_and_what_names_its_functions(prof, client, tmp_path):
    name, option = "Node.js", "start it with node --perf-basic-prof"
    program = tmp_path / "program"
    program.write_text(BUSY, encoding="ascii")
    summary = prof.run("record", "-o", "out.pb.gz", "-o", "out.html", "--", client("node"), program).stderr
    report = prof.run("report", "out.pb.gz").stdout
    for text in summary, report:
        [line] = lines_about(name, text)
        assert float(re.search(r"([\d.]+) %", line)[1]) > 50 and option in line
    assert "JIT code of process" not in summary
    doctor = json.loads(prof.run("doctor", "--json", "out.pb.gz").stdout)
    [finding] = [each for each in doctor["findings"] if each["subject"] == "runtime"]
    assert f"are in {name}" in finding["what"] and option in finding["command"]


def test_a_runtime_that_lists_its_functions_has_no_such_line(prof, client, tmp_path):
    program = tmp_path / "program"
    program.write_text(BUSY, encoding="ascii")
    summary = prof.run("record", "-o", "out.pb.gz", "--", client("node"), "--perf-basic-prof", "--interpreted-frames-native-stack", program).stderr
    assert not lines_about("Node.js", summary + prof.run("report", "out.pb.gz").stdout)


def test_doctor_reports_the_runtime_of_a_process(prof, client, started, until_busy):
    endless = "for (;;) Math.sqrt(2)"
    for options, state in ([], "limited"), (["--perf-basic-prof"], "ok"):
        process = started(subprocess.Popen([client("node"), *options, "-e", endless], cwd=prof.folder))
        subprocess.run(until_busy(process.pid), check=True)
        doctor = json.loads(prof.run("doctor", "--json", process.pid).stdout)
        [finding] = [each for each in doctor["findings"] if each["subject"] == "runtime"]
        assert finding["state"] == state and "Node.js" in finding["what"]
        assert state == "ok" or "--perf-basic-prof" in finding["command"]
