"""prof … -o x.ndjson: rows for databases."""

import gzip
import json
import os
import re
import subprocess
from collections import Counter
from datetime import datetime, timezone

import pytest

from conftest import SOURCE
from lacking import lacking
from profiles import Pprof
from written_segments import write_segment

try:
    import duckdb
except ImportError:
    duckdb = None

MONDAY = int(datetime(2026, 11, 23, tzinfo=timezone.utc).timestamp())
UTC = {**os.environ, "TZ": "UTC"}
HOUR = 3600


def rows(path):
    data = path.read_bytes()
    return [json.loads(line) for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()]


@pytest.fixture
def ring(tmp_path):
    folder = tmp_path / "ring"
    folder.mkdir()
    return folder


@pytest.fixture
def history(ring):
    """Two days with a segment per hour. From Monday on, parse has twice as much work."""
    for hour in range(-24, 24):
        parse = 12 if hour < 0 else 24
        write_segment(ring, MONDAY + hour * HOUR, HOUR,
                      {"main;serve;parse": parse, "main;serve;store": 30, "main;idle": 60 - 30 - parse})
    return ring


def convert(prof, *arguments):
    result = prof.run("convert", *arguments, env=UTC)
    return result


def test_a_recording_is_rows_of_seconds(prof, target):
    prof.run("record", "-q", "-F", "199", "-o", "x.ndjson", "-o", "x.pb.gz", "--label", "env=prod", target("shares"), "1.2")
    recorded, pprof = rows(prof.folder / "x.ndjson"), Pprof.read(prof.folder / "x.pb.gz")
    assert sum(row["samples"] for row in recorded) == pprof.total()
    assert sum(row["value"] for row in recorded) == sum(sample.value[1] for sample in pprof.message.sample)
    assert {row["host"] for row in recorded} == {os.uname().nodename}
    assert {row["labels"]["env"] for row in recorded} == {"prod"}
    assert len({row["time"] for row in recorded}) >= 2
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row["time"]) for row in recorded)
    assert not [row for row in recorded if row["stack"] and row["stack"][-1] == "main" and "spend" in row["stack"]], "the root is first"
    keys = Counter((row["time"], row["tid"], row["event"], tuple(row["stack"])) for row in recorded)
    assert set(keys.values()) == {1}


def test_a_directory_is_rows_of_all_its_segments(prof, history):
    convert(prof, history, "-o", "x.ndjson", "-o", "x.ndjson.gz", "--label", "host.name=web1", "--label", "env=prod")
    everything = rows(prof.folder / "x.ndjson")
    assert rows(prof.folder / "x.ndjson.gz") == everything
    assert sum(row["value"] for row in everything) == 48 * 60 * 10**9
    assert {row["host"] for row in everything} == {"web1"} and {row["labels"]["env"] for row in everything} == {"prod"}
    assert everything[0]["time"] == "2026-11-22T00:00:00Z" and everything == sorted(everything, key=lambda row: row["time"])


def test_a_range_of_time_is_rows(prof, history):
    convert(prof, history, "--since", "2026-11-23 10:00", "--until", "2026-11-23 12:00", "-o", "x.ndjson")
    expected = {"2026-11-23T10:00:00Z": 3, "2026-11-23T11:00:00Z": 3}
    assert Counter(row["time"] for row in rows(prof.folder / "x.ndjson")) == expected
    convert(prof, f"{history}@2026-11-23 10:00..2026-11-23 12:00", "-o", "y.ndjson")
    assert rows(prof.folder / "y.ndjson") == rows(prof.folder / "x.ndjson")


def test_rows_are_the_same_beside_another_output(prof, history):
    convert(prof, history, "-o", "alone.ndjson")
    convert(prof, history, "-o", "x.ndjson", "-o", "x.folded")
    beside, alone = rows(prof.folder / "x.ndjson"), rows(prof.folder / "alone.ndjson")
    assert sum(row["value"] for row in beside) == sum(row["value"] for row in alone)


def test_all_rows_have_the_labels_of_the_last_one(prof, ring):
    write_segment(ring, MONDAY, 60, {"main": 1})
    write_segment(ring, MONDAY + 60, 60, {"main": 1}, container="shop")
    convert(prof, ring, "-o", "x.ndjson")
    assert [row["labels"]["container"] for row in rows(prof.folder / "x.ndjson")] == ["", "shop"]


def test_segments_that_are_left_out_are_told_once(prof, history):
    next(history.iterdir()).write_bytes(b"\x1f\x8bdamaged")
    assert convert(prof, history, "-o", "x.ndjson").stderr.count("omitted") == 1


def test_labels_need_rows_or_a_server(prof, history):
    result = prof("convert", history, "-o", "x.folded", "--label", "env=prod")
    assert result.returncode == 2 and "--label needs --push, or rows" in result.stderr


def test_memory_does_not_grow_with_the_number_of_rows(prof, ring):
    def peak_kb(segments):
        for minute in range(segments):
            write_segment(ring, MONDAY + 60 * minute, 60, {f"main;f{minute}_{number}": 1 for number in range(1000)})
        process = subprocess.Popen([prof.binary, "convert", ring, "-q", "-o", "/dev/null", "--format", "ndjson"])
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return usage.ru_maxrss

    few = peak_kb(4)
    assert peak_kb(64) < 1.25 * few + 1024


def test_duckdb_names_the_function_whose_share_rose_most(prof, history):
    """The query in the manual."""
    if not duckdb:
        lacking("the Python package duckdb")
    query = re.search(r"```sql\n(.*?)```", (SOURCE / "docs" / "FLEET.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    convert(prof, history, "-o", "fleet.ndjson.gz")
    database = duckdb.connect()
    database.execute(f"SET TimeZone = 'UTC'; SET file_search_path = '{prof.folder}'")
    query = query.replace("date_trunc('week', now())", "TIMESTAMPTZ '2026-11-23'")
    assert database.execute(query).fetchall()[0] == ("parse", 20.0, 40.0, 20.0)
