"""Adds up JUnit reports into one line, after the names of the tests that failed.

A report X.xml may have an X.again.xml and an X.last.xml: the tests that failed before, run again. A test that passes
there is counted as unsteady and named. Fails when a test never passed, when a report holds none, or is missing.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def outcomes(report):
    cases = {}
    for case in ElementTree.parse(report).iter("testcase"):
        cases[case.get("classname", ""), case.get("name")] = outcome(case)
    return cases


def tally(paths):
    counts = {"passed": 0, "failed": 0, "unsteady": 0, "skipped": 0}
    for path in map(pathlib.Path, paths):
        cases = outcomes(path)
        if not cases:
            sys.exit(f"{path}: no test ran")
        repeated = {}
        for again in path.with_suffix(".again.xml"), path.with_suffix(".last.xml"):
            repeated.update(outcomes(again) if again.exists() else {})
        for test, result in cases.items():
            if result == "failed" and repeated.get(test) == "passed":
                result = "unsteady"
            counts[result] += 1
            if result in ("failed", "unsteady"):
                print(f"{result}: {path.parent.parent.name}: {'::'.join(test)}")
    return counts


counts = tally(sys.argv[1:])
print(", ".join(f"{count} {word}" for word, count in counts.items() if count or word != "unsteady"))
sys.exit(1 if counts["failed"] else 0)
