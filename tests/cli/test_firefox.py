"""Firefox profiles: every index is valid, and Mozilla's loader reads them."""

import gzip
import json
import os
import re
import subprocess
import time
from collections import Counter

import pytest

from conftest import Prof
from time_limit import TIME_LIMIT_S
from profiles import Stacks


def load(path):
    return json.loads(gzip.decompress(path.read_bytes()))


@pytest.fixture(scope="module")
def recorder(tmp_path_factory):
    return Prof(tmp_path_factory.mktemp("firefox"))


@pytest.fixture(scope="module")
def recording(recorder, target):
    """The file of a run with threads, processes and inlined functions, and its folded stacks."""
    recorder.run("record", "-F", "999", "-o", "run.firefox.json.gz", "-o", "run.folded", "--",
                 target("family"), "0.5", target("interpreter"))
    return load(recorder.folder / "run.firefox.json.gz"), Stacks.read(recorder.folder / "run.folded")


def check_column(table, column, below, *others):
    values = table[column]
    assert len(values) == table["length"], column
    assert all(value in others or 0 <= value < below for value in values), column


def check_tables(file):
    """Checks that each index refers to a row. A wrong index makes the viewer hang."""
    shared, strings = file["shared"], len(file["shared"]["stringArray"])
    for name, table in shared.items():
        if name != "stringArray":
            assert all(len(column) == table["length"] for key, column in table.items() if key != "length"), name
    stacks, frames, functions = shared["stackTable"], shared["frameTable"], shared["funcTable"]
    assert all(0 <= offset <= row for row, offset in enumerate(stacks["prefixOffset"]))
    check_column(stacks, "frame", frames["length"])
    check_column(frames, "func", functions["length"])
    check_column(frames, "category", len(file["meta"]["categories"]))
    check_column(functions, "name", strings)
    check_column(functions, "resource", shared["resourceTable"]["length"], -1)
    check_column(functions, "source", shared["sources"]["length"], None)
    check_column(shared["resourceTable"], "lib", len(file["libs"]))
    check_column(shared["resourceTable"], "name", strings)
    check_column(shared["sources"], "filename", strings)
    assert any(category["color"] == "grey" for category in file["meta"]["categories"])
    schemas = {schema["name"]: {field["key"] for field in schema["fields"]} for schema in file["meta"]["markerSchema"]}
    for thread in file["threads"]:
        check_column(thread["samples"], "stack", stacks["length"], None)
        assert all(delta >= 0 for delta in thread["samples"]["timeDeltas"])
        check_column(thread["markers"], "name", strings)
        check_column(thread["markers"], "category", len(file["meta"]["categories"]))
        for data in thread["markers"]["data"]:
            assert data.keys() - {"type"} <= schemas[data["type"]]


def stacks_of(file):
    """(process, outermost, …): number of samples"""
    shared = file["shared"]
    names = [shared["stringArray"][name] for name in shared["funcTable"]["name"]]
    paths = []
    for row, (frame, offset) in enumerate(zip(shared["stackTable"]["frame"], shared["stackTable"]["prefixOffset"])):
        paths.append((paths[row - offset] if offset else ()) + (names[shared["frameTable"]["func"][frame]],))
    found = Counter()
    for thread in file["threads"]:
        samples = thread["samples"]
        for stack, weight in zip(samples["stack"], samples["weight"] or [1] * samples["length"]):
            found[(thread["processName"], *paths[stack])] += weight
    return found


def test_every_index_is_within_its_table(recording):
    check_tables(recording[0])


def test_it_holds_the_same_stacks_as_the_folded_output(recording):
    file, stacks = recording
    assert stacks_of(file) == stacks.counts


def test_inlined_frames_share_an_address_and_have_a_depth(recording):
    frames = recording[0]["shared"]["frameTable"]
    depths = frames["inlineDepth"]
    assert max(depths) > 0
    for row, depth in enumerate(depths):
        if depth:
            assert depths[row - 1] == depth - 1
            assert frames["address"][row - 1] == frames["address"][row]


def test_the_categories_are_the_kinds_of_the_html_report(recording):
    file, _ = recording
    shared = file["shared"]
    names = [category["name"] for category in file["meta"]["categories"]]
    kinds = {}
    for function, category, depth in zip(*(shared["frameTable"][key] for key in ("func", "category", "inlineDepth"))):
        kinds.setdefault(names[category], set()).add((shared["stringArray"][shared["funcTable"]["name"][function]], depth > 0))
    assert ("main", False) in kinds["user"] and all(is_inlined for _, is_inlined in kinds["inlined"])
    assert kinds.keys() <= {"user", "inlined", "kernel", "unsymbolized", "note"}


def test_forks_execs_and_exits_are_markers(recording):
    kinds = Counter(data["type"] for thread in recording[0]["threads"] for data in thread["markers"]["data"])
    assert kinds["fork"] >= 2 and kinds["exec"] >= 2 and kinds["exit"] >= 2


def test_a_profile_without_timestamps_is_complete(recording, recorder):
    prof = recorder
    assert prof("record", "-o", "run.pb.gz", "-F", "999", "--", "true").returncode == 0
    (prof.folder / "in.folded").write_text("shop;main;<script>\u202e 7\nshop;main 18\n", encoding="utf-8")
    for name in ("in.folded", "run.folded", "run.pb.gz"):
        prof.run("convert", name, "-o", "again.firefox.json.gz")
        check_tables(load(prof.folder / "again.firefox.json.gz"))


@pytest.fixture
def profiler_cli(client, node_package, prof, started):
    """Queries Mozilla's loader in node after it has loaded the file. An invalid file would make it loop."""
    node, package = client("node"), node_package("@firefox-devtools/profiler-cli")
    version = int(re.match(r"v(\d+)", subprocess.run([node, "--version"], capture_output=True, text=True).stdout)[1])
    if version < 20:
        pytest.skip("node is older than 20")
    sessions = prof.folder / "sessions"
    sessions.mkdir()
    environment = os.environ | {"PROFILER_CLI_SESSION_DIR": str(sessions), "PROFILER_CLI_NO_SYMBOLICATE": "1"}
    program = [node, package / "dist" / "profiler-cli.js"]

    def load(path):
        daemon = started(subprocess.Popen([*program, "--daemon", path, "--session", "test"], env=environment,
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        log = sessions / "test.log"
        deadline = time.monotonic() + TIME_LIMIT_S
        while not log.exists() or "Profile loaded successfully" not in log.read_text(encoding="utf-8"):
            assert daemon.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)

        def query(*arguments):
            return subprocess.run([*program, *arguments, "--session", "test"], env=environment, text=True,
                                  capture_output=True, timeout=TIME_LIMIT_S)

        return query

    return load


def test_mozillas_own_loader_shows_the_threads_and_functions(recording, profiler_cli, recorder):
    file, _ = recording
    query = profiler_cli(recorder.folder / "run.firefox.json.gz")
    processes = {thread["pid"] for thread in file["threads"]}
    assert f"{len(file['threads'])} threads across {len(processes)} processes" in query("profile", "info").stdout
    ended = [at for at, thread in enumerate(file["threads"]) if thread["processName"] == "family"
             and {"type": "exit"} in thread["markers"]["data"]]
    index = max(ended, key=lambda at: file["threads"][at]["samples"]["length"])
    functions = query("thread", "functions", "--thread", f"t-{index}").stdout
    assert "main" in functions and "spend" in functions
    markers = query("thread", "markers", "--list", "--thread", f"t-{index}").stdout
    assert "exit" in markers


@pytest.fixture(scope="module")
def waits(recorder, target):
    """The file of a recording of CPU time and waiting, and its folded stacks: (process, outermost, …): nanoseconds."""
    recorder.run("record", "--wall", "-o", "waits.firefox.json.gz", "-o", "waits.folded", "--", target("waits"), "1")
    return load(recorder.folder / "waits.firefox.json.gz"), Stacks.read(recorder.folder / "waits.folded")


def test_cpu_time_and_waiting_are_together_in_milliseconds(waits):
    file, stacks = waits
    check_tables(file)
    found = stacks_of(file)
    assert all(thread["samples"]["weightType"] == "tracing-ms" for thread in file["threads"])
    for stack, ns in stacks.counts.most_common(20):
        assert abs(found[stack] * 1e6 - ns) <= 0.01 * ns + 1e4, stack


def test_a_wait_takes_no_cpu_time_and_is_a_marker(waits):
    file, _ = waits
    names = [category["name"] for category in file["meta"]["categories"]]
    for thread in file["threads"]:
        deltas = thread["samples"]["timeDeltas"]
        for passed, used in zip(deltas[1:], thread["samples"].get("threadCPUDelta", [])[1:]):
            assert used <= passed * 1e3 + 1
    markers = [(data["reason"], begin, end, names[category])
               for thread in file["threads"]
               for data, begin, end, category in zip(*(thread["markers"][key] for key in (
                   "data", "startTime", "endTime", "category"))) if data["type"] == "wait"]
    assert all(0 <= begin <= end and category == "waiting" for _, begin, end, category in markers)
    assert {"[nanosleep]", "[read pipe]", "[poll]"} <= {reason for reason, *_ in markers}


def ranges(file, kind):
    """(thread, start, end) of each marker of a kind; times are in milliseconds."""
    return [(thread["name"], start, end) for thread in file["threads"]
            for data, start, end in zip(*(thread["markers"][key] for key in ("data", "startTime", "endTime"))) if data["type"] == kind]


def test_the_critical_path_is_a_marker_of_each_of_its_threads(prof, target):
    result = prof.run("record", "--critical-path", "-o", "run.firefox.json.gz", "-o", "run.pb.gz", "--", target("chains"), "join", "0.15")
    file = load(prof.folder / "run.firefox.json.gz")
    check_tables(file)
    path = sorted(ranges(file, "critical path"), key=lambda part: part[1])
    assert all(abs(before[2] - after[1]) < 1e-3 for before, after in zip(path, path[1:])), path
    longest = [thread for thread, start, end in path if end - start > 100]
    assert longest == ["chains", "lengthy", "chains"], path
    (start, end), = ((int(leg[3]) / 1e6, int(leg[4]) / 1e6) for leg in (line.split(";") for line in result.stdout.splitlines()) if leg[0] == "lengthy")
    assert sum(end - start for thread, start, end in path if thread == "lengthy") > 0.97 * (end - start)


def test_time_without_a_running_thread_is_a_marker_of_the_thread_that_ended_it(prof, target):
    result = prof.run("record", "--elapsed", "-o", "run.firefox.json.gz", "--", target("duet"), "0.2")
    waited = next(int(line.split()[1]) for line in result.stdout.splitlines() if line.startswith("waiting")) / 1e6
    file = load(prof.folder / "run.firefox.json.gz")
    check_tables(file)
    longest = max(ranges(file, "no thread ran"), key=lambda part: part[2] - part[1])
    # The thread may have waited for a CPU at either end.
    assert longest[0] == "duet" and 0.2e3 * 0.97 < longest[2] - longest[1] < 1.03 * waited + 1, longest
    assert not ranges(file, "critical path")


def test_mozillas_own_loader_shows_the_critical_path(prof, target, profiler_cli):
    prof.run("record", "--critical-path", "-o", "run.firefox.json.gz", "--", target("duet"), "0.1")
    file = load(prof.folder / "run.firefox.json.gz")
    index = next(at for at, thread in enumerate(file["threads"]) if thread["isMainThread"])
    markers = profiler_cli(prof.folder / "run.firefox.json.gz")("thread", "markers", "--list", "--thread", f"t-{index}").stdout
    assert "critical path" in markers and "no thread ran" in markers, markers


def test_mozillas_own_loader_shows_waiting(waits, profiler_cli, recorder):
    file, _ = waits
    query = profiler_cli(recorder.folder / "waits.firefox.json.gz")
    index = max(range(len(file["threads"])), key=lambda at: len(
        [data for data in file["threads"][at]["markers"]["data"] if data.get("reason") == "[nanosleep]"]))
    functions = query("thread", "functions", "--thread", f"t-{index}").stdout
    assert "[nanosleep]" in functions, functions
    markers = query("thread", "markers", "--list", "--thread", f"t-{index}").stdout
    assert "[nanosleep]" in markers, markers
