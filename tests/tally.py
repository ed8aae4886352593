"""tally.py RESULTS: prints the final summary of tests/run: skipped tests with the reasons, failed
tests, and times.

RESULTS has stages.tsv (name, seconds and exit status of each stage), meson's STAGE.json for unit
tests, pytest's STAGE.xml, and STAGE.skipped with the reason why a stage did not run. The exit
status is 1 if a test or a stage failed.
"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter, namedtuple

SLOWEST = 10
BUILDS = {"unit": "build", "portable": "build-aarch64", "threads-unit": "build-threads"}
Test = namedtuple("Test", "outcome seconds name reason command")
RESULT = re.compile(r"^(not )?ok \d+ - (\S+)(?: # SKIP (.*))?$", re.MULTILINE)
ALL_SKIPPED = re.compile(r"^1\.\.0 # SKIP (.*)$", re.MULTILINE)


def unit_tests(path):
    """The tests of each program in meson's log, which includes programs that were killed, unlike its JUnit report."""
    build = BUILDS.get(path.stem, f"build-{path.stem}")
    for program in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        name, seconds, output = program["name"].split(" / ")[-1], program["duration"], program.get("stdout") or ""
        command = f"meson test -C {build} --print-errorlogs '{name}'"
        passed = program["result"] in ("OK", "SKIP", "EXPECTEDFAIL")
        results = RESULT.findall(output) if passed else []
        for reason in ALL_SKIPPED.findall(output):
            yield Test("skipped", 0, f"{build}: {name}", reason, command)
        for _, test, reason in results:
            yield Test("skipped" if reason else "passed", 0, f"{build}: {name}: {test}", reason, command)
        # The time of the whole program, and everything about a program that failed.
        yield Test("passed" if passed else "failed", seconds, f"{build}: {name}", "", command)


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def pytest_tests(path):
    stage = "cli" if path.stem not in ("quick", "style", "threads", "interop") else path.stem
    for case in ElementTree.parse(path).iter("testcase"):
        name = re.sub(r"@[^@]*$", "", case.get("name"))  # the group that pytest-xdist adds
        test = f"{case.get('classname', '').replace('.', '/')}.py::{name}"
        skipped = case.find("skipped")
        yield Test(outcome(case), float(case.get("time", 0)), f"{stage}: {test}",
                   skipped.get("message") if skipped is not None else "",
                   f"tests/run {'cli' if stage == 'quick' else stage} -- '{test}'")


def tests_in(results):
    for path in sorted(results.glob("*.json")):
        yield from unit_tests(path)
    for path in sorted(results.glob("*.xml")):
        yield from pytest_tests(path)


def main(results):
    tests = list(tests_in(results))
    stages = [line.split("\t") for line in (results / "stages.tsv").read_text(encoding="utf-8").splitlines()]
    skipped = Counter(test.reason for test in tests if test.outcome == "skipped")
    skipped.update(f"stage {path.stem}: {path.read_text(encoding='utf-8').strip()}" for path in results.glob("*.skipped"))
    failed = [test for test in tests if test.outcome == "failed"]

    print("\nTime by stage:", ", ".join(f"{name} {int(seconds) // 60}:{int(seconds) % 60:02}" for name, seconds, _ in stages))
    print("Slowest tests:")
    for test in sorted(tests, key=lambda test: -test.seconds)[:SLOWEST]:
        print(f"  {test.seconds:6.1f} s  {test.name}")
    if skipped:
        print("Skipped:")
        for reason, count in skipped.most_common():
            print(f"  {count:4}  {reason}")
    for test in failed:
        print(f"FAILED {test.name}\n  alone: {test.command}")
    broken = [name for name, _, status in stages if status != "0"]
    if broken:
        print("Failed stages:", ", ".join(broken))
    counts = Counter(test.outcome for test in tests)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if failed or broken or not tests else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
