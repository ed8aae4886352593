"""Directories of prof record --every."""

import json
import re
import time

from time_limit import TIME_LIMIT_S

NAME = re.compile(r"\d{8}T\d{6}Z\.pb\.gz")


def segments(folder):
    """Returns the segments, oldest first."""
    return sorted(path for path in folder.iterdir() if NAME.fullmatch(path.name))


def wait_for(process, condition):
    deadline = time.monotonic() + TIME_LIMIT_S
    while not condition():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def samples(report, kind="self"):
    """Returns the samples in prof report --json, by function."""
    assert report.returncode == 0, report.stderr
    return {row["name"]: row[kind]["samples"] for row in json.loads(report.stdout)["rows"] if row[kind]["samples"]}
