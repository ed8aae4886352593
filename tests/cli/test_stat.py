"""Event counts in addition to samples: prof record --stat."""

import json
import re

import pytest


def stat_of(prof, file="record.pb.gz"):
    return json.loads(prof("report", file, "--json").stdout).get("stat")


def test_counts_of_a_command_are_in_the_summary_and_the_profile(prof, target):
    result = prof.record("--stat", "-e", "cpu-clock", "--", target("shares"), "0.3")
    stat = stat_of(prof)
    assert {"task-clock", "context-switches", "cpu-migrations", "page-faults"} <= set(stat)
    counted = json.loads(prof("report", "record.pb.gz", "--json").stdout)["quality"]["events"][0]["counted"]
    assert stat["task-clock"] == pytest.approx(counted, rel=0.05)
    assert re.search(r"^ +[\d.]+ ms  task-clock +[\d.]+ CPUs used$", result.result.stderr, re.MULTILINE)
    assert re.search(r"^ +[\d,]+  page-faults ", result.result.stderr, re.MULTILINE)
    assert any(comment.startswith("prof: stat task-clock=") for comment in result.pprof.comments())
    assert "CPUs used" in prof("report", "record.pb.gz").stdout


def test_children_are_counted(prof, target):
    prof.record("--stat", "--", "sh", "-c", f"{target('shares')} 0.2 & {target('shares')} 0.2; wait")
    assert stat_of(prof)["task-clock"] > 0.38e9


def test_a_running_process_is_counted_while_it_is_recorded(prof, service, until_busy):
    service.stdin.write("go\n")
    service.stdin.flush()
    prof.record("--stat", "-p", service.pid, "--", *until_busy(service.pid))
    assert stat_of(prof)["task-clock"] > 0.3e9


def test_without_it_nothing_is_counted(prof, target):
    result = prof.record("-s", "--", target("shares"), "0.1")
    assert stat_of(prof) is None
    assert "-s" in result.result.stderr
