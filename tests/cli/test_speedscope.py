"""speedscope files must be valid according to its schema, and the application must show them."""

import base64
import json
from collections import Counter

import pytest

from conftest import Prof
from profiles import Stacks


@pytest.fixture(scope="module")
def folder(target, tmp_path_factory):
    """A folder with the outputs of a run."""
    prof = Prof(tmp_path_factory.mktemp("speedscope"))
    prof.run("record", "-F", "999", "-o", "run.speedscope.json", "-o", "run.folded", "--", target("threads"), "0.3")
    return prof.folder


@pytest.fixture
def recording(folder):
    """The file of the run, and its folded stacks."""
    return json.loads((folder / "run.speedscope.json").read_bytes()), Stacks.read(folder / "run.folded")


def fault(value, schema, root):
    """The first violation of a JSON schema, or None. Supports only the keywords that speedscope's schema uses."""
    if "$ref" in schema:
        return fault(value, root["definitions"][schema["$ref"].rpartition("/")[2]], root)
    if "anyOf" in schema and all(fault(value, each, root) for each in schema["anyOf"]):
        return f"is none of {schema['anyOf']}"
    types = {"number": (int, float), "string": str, "array": list, "object": dict}
    if "type" in schema and not isinstance(value, types[schema["type"]]):
        return f"{str(value)[:80]} is no {schema['type']}"
    if value != schema.get("const", value) or value not in schema.get("enum", [value]):
        return f"{value} is not allowed"
    if isinstance(value, dict):
        missing = set(schema.get("required", [])) - value.keys()
        if missing:
            return f"{missing} missing"
        parts = [(value[name], part) for name, part in schema.get("properties", {}).items() if name in value]
    else:
        parts = [(item, schema["items"]) for item in value] if isinstance(value, list) and "items" in schema else []
    return next(filter(None, (fault(item, part, root) for item, part in parts)), None)


def test_the_file_is_valid_by_the_schema_of_speedscope(recording, node_package):
    schema = json.loads((node_package("speedscope") / "dist" / "release" / "file-format-schema.json").read_bytes())
    assert fault(recording[0], schema, schema) is None
    assert fault({**recording[0], "profiles": [{"type": "sampled"}]}, schema, schema)


def test_it_holds_the_same_stacks_as_the_folded_output(recording):
    file, stacks = recording
    names = [frame["name"] for frame in file["shared"]["frames"]]
    found = Counter()
    for track in file["profiles"]:
        assert len(track["samples"]) == len(track["weights"])
        assert track["endValue"] == sum(track["weights"])
        for sample in track["samples"]:
            found[(track["name"].split()[0], *(names[frame] for frame in sample))] += 1
    assert found == stacks.counts


def test_waiting_has_tracks_of_its_own(prof, target, node_package):
    prof.run("record", "--wall", "-o", "run.speedscope.json", "-o", "run.pb.gz", "--", target("waits"), "1")
    file = json.loads((prof.folder / "run.speedscope.json").read_bytes())
    schema = json.loads((node_package("speedscope") / "dist" / "release" / "file-format-schema.json").read_bytes())
    assert fault(file, schema, schema) is None
    waiting = [track for track in file["profiles"] if track["name"].endswith("(off-cpu)")]
    assert all(track["unit"] == "nanoseconds" for track in waiting)
    report = json.loads(prof("report", "--json", "-e", "off-cpu", "run.pb.gz").stdout)
    assert sum(track["endValue"] for track in waiting) == report["all"]["weight"]


def open_in_speedscope(browser, package, path):
    """Opens the file like speedscope's command line: with a script that passes the file."""
    script = path.with_suffix(".js")
    data = base64.b64encode(path.read_bytes()).decode()
    script.write_text(f"speedscope.loadFileFromBase64({json.dumps(path.name)}, {json.dumps(data)})")
    return browser.open(f"file://{package}/dist/release/index.html#localProfilePath={script}")


def test_the_application_shows_every_function(recording, folder, chromium, node_package):
    """Speedscope draws with WebGL, which a headless Firefox lacks."""
    page = open_in_speedscope(chromium, node_package("speedscope"), folder / "run.speedscope.json")
    page.until("document.title.startsWith('threads')")
    file, _ = recording
    track = file["profiles"][file["activeProfileIndex"]]
    shown = {frame for sample in track["samples"] for frame in sample}
    names = [track["name"], *(file["shared"]["frames"][frame]["name"] for frame in shown)]
    page.resize(1280, 400 + 30 * len(names))  # it only draws the visible rows of its table
    page.key("3")
    page.until(f"{json.dumps(names)}.every((name) => document.body.innerText.includes(name))")
    page.close()
