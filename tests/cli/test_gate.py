"""docs/ci: a script and a workflow that fail if a change makes a benchmark slower."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lacking import lacking
from time_limit import TIME_LIMIT_S

CI = Path(__file__).parents[2] / "docs" / "ci"

# parse() takes PARSE percent of its time in the old version. lex() always takes the same time.
PROGRAM = r"""
#include <stdlib.h>
#include <string.h>

static volatile unsigned long sink;

static __attribute__((noinline)) void work(long rounds)
{
	unsigned long value = 1;

	for (long i = 0; i < rounds; i++)
		value = value * 6364136223846793005ul + 1442695040888963407ul;
	sink = value;
}

static __attribute__((noinline)) void parse(long rounds)
{
	work(rounds * PARSE / 100);
	sink++;
}

static __attribute__((noinline)) void lex(long rounds)
{
	work(rounds);
	sink++;
}

int main(int argc, char **argv)
{
	long rounds = atol(argv[2]);

	(strcmp(argv[1], "parse") ? lex : parse)(rounds);
	return argc == 99;
}
"""


@pytest.fixture
def checkouts(tmp_path):
    """Two versions of a program: in head/ parse() takes four times as long."""
    if not shutil.which("cc"):
        lacking("a C compiler")
    for name, parse in (("base", 100), ("head", 400)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.c").write_text(PROGRAM)
        subprocess.run(["cc", "-O2", "-g", f"-DPARSE={parse}", "-o", "app", "app.c"], cwd=tmp_path / name, check=True)
    return tmp_path


@pytest.fixture
def gate(prof, checkouts):
    """gate(name, benchmark…) runs the script and returns its result and its JSON."""

    def run(name, *benchmarks, **environment):
        out = checkouts / name
        result = subprocess.run([CI / "gate.sh", "base", "head", *benchmarks], cwd=checkouts, capture_output=True, text=True,
                                env={**os.environ, "PROF": str(prof.binary), "OUT": str(out), **environment}, timeout=TIME_LIMIT_S)
        return result, {row["name"]: row for row in json.loads((out / "diff.json").read_text())["benchmarks"]}

    return run


def test_a_regression_is_found_and_an_equal_build_passes(gate):
    """CPU time varies with the load of the machine, but not by 50 % in recordings that take turns."""
    result, rows = gate("gate", "slow/parse ./app parse 50000000", "lex ./app lex 100000000", LIMIT="slower>50%")
    assert result.returncode == 1, result.stdout + result.stderr
    told = [line for line in result.stderr.splitlines() if "more than 50 %" in line]
    assert len(told) == 1 and told[0].startswith("prof: slow/parse: slower: +"), result.stdout + result.stderr
    assert rows["slow/parse"]["verdict"] == "slower"


def test_a_change_without_a_regression_passes_unless_the_runs_differ_by_too_much_to_tell(gate):
    result, rows = gate("gate", "lex ./app lex 50000000", ROUNDS="3", LIMIT="slower>50%")
    whole = rows["lex"]["whole"]
    is_kept = whole["change"] + whole["margin"] <= 0.5 or whole["change"] <= 0.5 and whole["margin"] <= 0.5
    assert result.returncode == (0 if is_kept else 2), result.stdout + result.stderr
    assert len(rows["lex"]["old"]["files"]) == len(rows["lex"]["new"]["files"]) == 3
    assert "lex" in result.stdout


def test_a_benchmark_that_fails_fails_the_gate(gate, prof, checkouts):
    result = subprocess.run([CI / "gate.sh", "base", "head", "gone ./gone"], cwd=checkouts, capture_output=True, text=True,
                            env={**os.environ, "PROF": str(prof.binary)}, timeout=TIME_LIMIT_S)
    assert result.returncode == 127 and "gone" in result.stderr


def test_the_workflow_calls_the_script_with_two_checkouts():
    workflow = (CI / "github.yml").read_text()
    assert "path: base" in workflow and "path: head" in workflow
    assert "- run: head/ci/gate.sh base head 'parse ./target/release/parse big.json'" in workflow
