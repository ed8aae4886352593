"""prof list: the events of this machine."""

import json

import pytest


def events(prof, *arguments):
    result = prof.run("list", "--json", *arguments)
    listed = json.loads(result.stdout)
    assert listed["version"] == 1
    return {event["name"]: event for event in listed["events"]}


def test_every_kind_of_event_is_listed(prof):
    groups = {event["group"] for event in events(prof).values()}
    assert {"hardware", "software", "cache", "probe", "prof"} <= groups


def test_what_is_available_can_be_recorded(prof):
    software = events(prof, "software")
    assert software["cpu-clock"]["state"] == "available" and "CPU time" in software["cpu-clock"]["description"]
    for name in "cpu-clock", "page-faults", "growth":
        assert prof("record", "-q", "-e", name, "-o", "try.pb.gz", "true").returncode == 0


def test_what_is_not_on_this_machine_cannot(prof):
    absent = [name for name, event in events(prof, "hardware").items() if event["state"] == "absent"]
    if not absent:
        pytest.skip("this machine has all hardware events")
    result = prof("record", "-e", absent[0], "true")
    assert result.returncode == 1 and "no counter" in result.stderr


def test_a_group_is_a_pattern(prof):
    for pattern, group in ("hw", "hardware"), ("sw", "software"), ("cache", "cache"), ("probe", "probe"), ("prof", "prof"):
        assert {event["group"] for event in events(prof, pattern).values()} == {group}


def test_a_pattern_is_a_glob_or_a_part_of_a_name(prof):
    assert set(events(prof, "*-faults")) == {"page-faults", "minor-faults", "major-faults", "alignment-faults", "emulation-faults"}
    assert "LLC-loads" in events(prof, "LLC") and "cycles" not in events(prof, "LLC")


def test_the_text_has_a_row_per_event(prof):
    result = prof("list", "software")
    assert result.stdout.startswith("Software events\n")
    assert any(line.split()[:2] == ["cpu-clock", "available"] for line in result.stdout.splitlines())


def test_tracepoints_are_listed_with_their_fields(tracer):
    switch = events(tracer, "-v", "sched:sched_switch")["sched:sched_switch"]
    assert switch["group"] == "tracepoint" and switch["state"] == "available"
    assert {"prev_comm", "next_pid"} <= set(switch["fields"])
    assert "fields: prev_comm" in tracer("list", "-v", "sched:sched_switch").stdout


def test_without_rights_tracepoints_need_root(ordinary):
    result = ordinary("list", "software")
    assert result.returncode == 0
    result = ordinary("list", "sched:*")
    assert result.returncode == 1
    assert "run prof as root (sudo)" in result.stderr or "mount -t tracefs" in result.stderr


def test_a_pattern_that_matches_nothing_is_an_error(prof):
    result = prof("list", "nosuch")
    assert result.returncode == 1 and 'no event matches "nosuch"' in result.stderr
    assert prof("list", "a", "b").returncode == 2
