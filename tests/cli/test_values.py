"""Every output names each kind of event correctly: only CPU time is called CPU time."""

import gzip
import json
import re

import pytest

from conftest import SOURCE, Prof
from profiles import Pprof, profile_message

HEAP = SOURCE / "tests" / "golden" / "go_heap.pb.gz"
HEAP_BYTES = 67911012
NOT_TIME = ("CPU time", "cpu-time", "nanoseconds", '"ns"')


@pytest.fixture(scope="module")
def faults(target, tmp_path_factory):
    """A prof in a folder with a recording of page faults and context switches in every format, and its messages."""
    prof = Prof(tmp_path_factory.mktemp("faults"))
    outputs = [f"faults{extension}" for extension in (
        ".pb.gz", ".folded", ".svg", ".speedscope.json", ".perf.txt", ".html", ".firefox.json.gz")]
    options = [word for output in outputs for word in ("-o", output)]
    prof.result = prof("record", "-e", "page-faults,context-switches", *options, "--", target("faults"),
                       stdin=None, input="\n\n")
    assert prof.result.returncode == 0, prof.result.stderr
    return prof


def text_of(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode(errors="replace")


def firefox(path):
    return json.loads(gzip.decompress(path.read_bytes()))


def test_page_faults_are_nowhere_called_cpu_time(faults):
    assert "page-faults" in faults.result.stderr and "context-switches" in faults.result.stderr
    for name in (".folded", ".svg", ".speedscope.json", ".perf.txt", ".pb.gz"):
        text = text_of(faults.folder / f"faults{name}")
        assert not any(word in text for word in NOT_TIME), name
    profile = firefox(faults.folder / "faults.firefox.json.gz")
    assert all("threadCPUDelta" not in thread["samples"] for thread in profile["threads"])
    tracks = json.loads(text_of(faults.folder / "faults.speedscope.json"))["profiles"]
    assert {track["unit"] for track in tracks} == {"none"}


def test_a_report_of_page_faults_counts_them(faults):
    text = faults("report", "faults.pb.gz").stdout
    assert "> page-faults: " in text and "  context-switches: " in text
    assert not re.search(r"\b0 samples", text) and not any(word in text for word in NOT_TIME)
    events = json.loads(faults("report", "--json", "faults.pb.gz").stdout)["events"]
    assert [(event["name"], event["kind"], event["unit"]) for event in events] == [
        ("page-faults", "count", "count"), ("context-switches", "count", "count")]


@pytest.fixture
def python(prof):
    """A pprof profile of a Python function in a file and of a C function that it calls."""
    strings = ["", "samples", "count", "/bin/python3", "[python]", "memcpy", "py::step", "step.py"]
    message = profile_message()(string_table=strings)
    message.sample_type.add(type=1, unit=2)
    message.mapping.add(id=1, filename=3, memory_start=0x1000, memory_limit=0x2000, has_functions=True)
    message.mapping.add(id=2, filename=4, memory_limit=0x1000, has_functions=True, has_filenames=True)
    message.function.add(id=1, name=5)
    message.function.add(id=2, name=6, filename=7, start_line=3)
    message.location.add(id=1, mapping_id=1, address=0x1234).line.add(function_id=1)
    message.location.add(id=2, mapping_id=2).line.add(function_id=2, line=5)
    message.sample.add(location_id=[1, 2], value=[3])
    message.sample.add(location_id=[2], value=[2])
    (prof.folder / "python.pb").write_bytes(message.SerializeToString())
    return "python.pb"


def test_functions_of_an_interpreter_have_their_own_kind_and_colour(prof, python):
    rows = json.loads(prof("report", "--json", python).stdout)["rows"]
    assert {row["name"]: row["kind"] for row in rows} == {"py::step": "interpreted", "memcpy": "user"}
    step, = [row for row in rows if row["name"] == "py::step"]
    assert (step["module"], step["file"], step["line"]) == ("[python]", "step.py", 3)
    text = prof("report", "--color", "always", python).stdout
    assert "\x1b[36mpy::step" in text and "\x1b[36mmemcpy" not in text


def test_a_selection_is_told_in_the_unit_of_values_without_samples(prof, python):
    path = prof.folder / python
    message = profile_message().FromString(path.read_bytes())
    message.string_table.extend(["off-cpu", "nanoseconds"])
    message.sample_type[0].type, message.sample_type[0].unit = 8, 9
    for sample, nanoseconds in zip(message.sample, (1500000000, 500000000)):
        sample.value[:] = [nanoseconds]
    path.write_bytes(message.SerializeToString())
    text = prof("report", "--focus", "memcpy", python).stdout
    assert "selected: 1.50 s, 75.0 % of all" in text


def test_the_page_names_interpreted_code_in_its_legend(prof, python, browser):
    assert prof("convert", python, "-o", "python.html").returncode == 0
    page = browser.open(f"file://{prof.folder}/python.html")
    page.until("document.documentElement.dataset.ready")
    legend = page.value("[...document.querySelectorAll('#legend button')].map((name) => name.textContent)")
    page.close()
    assert legend == ["user", "interpreted"]


def test_a_difference_of_page_faults_is_more_or_less_and_not_slower(faults):
    text = faults("diff", "faults.pb.gz", "faults.pb.gz").stdout
    assert "compared: page-faults (event page-faults)" in text
    assert json.loads(faults("diff", "--json", "faults.pb.gz", "faults.pb.gz").stdout)["quantity"] == "page-faults"


def test_a_report_of_a_heap_profile_is_in_bytes_and_objects(prof):
    text = prof("report", HEAP).stdout
    assert "> inuse_space: 68 MB in 64 objects" in text and "  alloc_space: 71 MB in 65,604 objects" in text
    assert not any(word in text for word in NOT_TIME)
    events = json.loads(prof("report", "--json", HEAP).stdout)["events"]
    assert {event["name"]: event["kind"] for event in events} == {
        "inuse_space": "bytes", "alloc_space": "bytes", "inuse_objects": "objects", "alloc_objects": "objects"}


def test_samples_are_left_out_of_json_where_the_file_does_not_count_them(prof):
    report = json.loads(prof("report", "--json", HEAP).stdout)
    sums = [report["all"], *report["events"], *(row[of] for row in report["rows"] + report["calls"] for of in ("self", "total"))]
    assert len(sums) > 6 and all("weight" in sum and "samples" not in sum for sum in sums)
    function = report["rows"][0]["name"]
    annotation = json.loads(prof("annotate", "--json", HEAP, function).stdout)
    assert "weight" in annotation["all"] and "samples" not in annotation["all"]
    (prof.folder / "x.folded").write_text("app;main 3\n")
    assert json.loads(prof("report", "--json", "x.folded").stdout)["all"] == {"samples": 3, "weight": 3}


def test_a_heap_profile_is_converted_in_bytes(prof):
    prof.run("convert", HEAP, "-o", "heap.svg", "-o", "heap.speedscope.json", "-o", "heap.firefox.json.gz",
             "-o", "heap.folded")
    assert f"({HEAP_BYTES:,} bytes, " in text_of(prof.folder / "heap.svg")
    assert text_of(prof.folder / "heap.folded").endswith(f" {HEAP_BYTES}\n")
    tracks = json.loads(text_of(prof.folder / "heap.speedscope.json"))["profiles"]
    assert {(track["name"].split("(")[1], track["unit"]) for track in tracks} == {
        ("inuse_space)", "bytes"), ("alloc_space)", "bytes"), ("inuse_objects)", "none"), ("alloc_objects)", "none")}
    samples = firefox(prof.folder / "heap.firefox.json.gz")["threads"][0]["samples"]
    assert samples["weightType"] == "bytes" and sum(samples["weight"]) == HEAP_BYTES
    assert "threadCPUDelta" not in samples


def test_the_page_measures_each_event_by_its_kind(prof, browser):
    prof.run("convert", HEAP, "-o", "heap.html")
    page = browser.open(f"file://{prof.folder}/heap.html")
    page.until("document.documentElement.dataset.ready")
    options = page.value("[...document.querySelectorAll('#measure option')].map((option) => option.textContent)")
    page.close()
    assert options == ["Bytes (inuse_space)", "Objects (alloc_objects)", "Bytes (alloc_space)",
                       "Objects (inuse_objects)"]


def test_outputs_of_a_single_event_show_the_requested_event(prof):
    outputs = ["heap.svg", "heap.folded", "heap.firefox.json.gz", "heap.perf.txt", "heap.speedscope.json", "heap.pb.gz"]
    prof.run("convert", "--event", "alloc_objects", HEAP, *(word for name in outputs for word in ("-o", name)))
    assert "(65,604 objects, 100.00%)" in text_of(prof.folder / "heap.svg")
    folded = text_of(prof.folder / "heap.folded").splitlines()
    assert sum(int(line.rsplit(" ", 1)[1]) for line in folded) == 65604
    profile = firefox(prof.folder / "heap.firefox.json.gz")
    assert sum(profile["threads"][0]["samples"]["weight"]) == 65604
    assert {"label": "Event", "format": "string", "value": "alloc_objects"} in profile["meta"]["extra"][0]["entries"]
    text = text_of(prof.folder / "heap.perf.txt")
    assert " alloc_objects: " in text and "inuse" not in text and "alloc_space" not in text
    document = json.loads(text_of(prof.folder / "heap.speedscope.json"))
    assert document["profiles"][document["activeProfileIndex"]]["name"].endswith("(alloc_objects)")
    assert "> alloc_objects: 71 MB in 65,604 objects" in prof("report", "heap.pb.gz").stdout


def test_the_page_shows_the_requested_event_first(prof, browser):
    prof.run("convert", "-e", "alloc_space", HEAP, "-o", "heap.html")
    page = browser.open(f"file://{prof.folder}/heap.html")
    page.until("document.documentElement.dataset.ready")
    assert page.value("document.querySelector('#measure option').textContent") == "Bytes (alloc_space)"
    page.close()


def test_a_recording_writes_the_requested_event(prof, target):
    prof.run("record", "-e", "page-faults,context-switches", "--show-event", "context-switches",
             "-o", "record.pb.gz", "-o", "record.svg", "--", target("faults"), stdin=None, input="\n\n")
    text = prof("report", "record.pb.gz").stdout
    assert "> context-switches: " in text and " samples, " in text.split("> context-switches: ")[1].splitlines()[0]


def test_an_unknown_event_is_an_error_with_a_suggestion(prof, target):
    for words in ["report"], ["convert", "-o", "x.folded"], ["annotate"]:
        result = prof(*words, "--event", "inuse_spaces", HEAP, *(["main.keep"] if words == ["annotate"] else []))
        assert result.returncode != 0
        assert "did you mean inuse_space?" in result.stderr and "alloc_objects" in result.stderr
    for command in "record", "top":
        result = prof(command, "-e", "page-faults,cpu-clock", "--show-event", "page-fault", "--", target("faults"))
        assert result.returncode != 0 and "did you mean page-faults?" in result.stderr


def test_the_quality_of_each_event_is_read_from_a_pprof_profile(faults):
    quality = json.loads(faults("report", "--json", "faults.pb.gz").stdout)["quality"]
    assert [event["event"] for event in quality["events"]] == ["page-faults", "context-switches"]
    assert sum(event["samples"] for event in quality["events"]) == quality["samples"] > 0
    assert quality["own_cpu_ns"] > 0
    assert faults("convert", "faults.pb.gz", "-o", "again.pb.gz").returncode == 0
    assert json.loads(faults("report", "--json", "again.pb.gz").stdout)["quality"] == quality


def test_the_quality_line_of_an_old_profile_is_kept_as_a_comment(prof):
    line = "12 samples, 3 lost (20.0 %), 0 truncated"
    message = profile_message()(string_table=["", "samples", "count", "command: prof record -- app", line], comment=[3, 4])
    message.sample_type.add(type=1, unit=2)
    message.location.add(id=1)
    message.sample.add(location_id=[1], value=[12])
    (prof.folder / "old.pb").write_bytes(message.SerializeToString())
    assert "quality" not in json.loads(prof("report", "--json", "old.pb").stdout)
    assert prof("convert", "old.pb", "-o", "new.pb.gz").returncode == 0
    assert line in Pprof.read(prof.folder / "new.pb.gz").comments()
