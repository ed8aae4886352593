"""Adds up JUnit reports into one line; fails when a test failed, when a report holds none, or is missing."""

import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def tally(paths):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for path in paths:
        cases = list(ElementTree.parse(path).iter("testcase"))
        if not cases:
            sys.exit(f"{path}: no test ran")
        for case in cases:
            counts[outcome(case)] += 1
    return counts


counts = tally(sys.argv[1:])
print(", ".join(f"{count} {word}" for word, count in counts.items()))
sys.exit(1 if counts["failed"] else 0)
