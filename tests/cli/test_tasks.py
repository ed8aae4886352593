"""prof report --by task: the cost of each future, job or goroutine, and which ones block their executor."""

import functools
import json
import math
from collections import Counter
from pathlib import Path

import pytest

from conftest import Prof
from profiles import SIGMAS
from time_limit import TIME_LIMIT_S

SOURCE = Path(__file__).resolve().parents[1] / "targets/tasks"
POLL = "start_thread;tokio::runtime::task::raw::poll;tokio::runtime::task::core::Core<T,S>::poll"
WORKER = "start_thread;tokio::runtime::scheduler::multi_thread::worker::Context::park"
FOLDED = f"""\
shop;{POLL};shop::cart::{{async_fn#0}};shop::add 30
shop;{POLL};shop::pay::{{async_fn#0}};shop::add 10
shop;{WORKER} 5
"""


def report(prof, profile, *args):
    result = prof.run("report", "--by", "task", "--json", "--min", "0", profile, *args)
    return json.loads(result.stdout)


def weights(prof, profile, *args):
    """Returns the CPU time or samples of each task."""
    return {row["name"]: row["self"]["weight"] for row in report(prof, profile, *args)["rows"]}


def record(prof, tmp_path, *command, args=()):
    """Returns a profile and the output of the command: lines with a number and a task."""
    profile = tmp_path / "x.pb.gz"
    result = prof.run("record", "-q", "--wall", *args, "-o", profile, "--", *command)
    clocks = Counter()
    for line in result.stdout.splitlines():
        ns, name = line.split(" ", 1)
        clocks[name] += int(ns)
    return profile, clocks


@pytest.fixture(scope="module")
def task_clocks(client, tmp_path_factory):
    """task_clocks(mode) records that mode of the client once, and returns the profile and the client's own clocks."""
    return functools.cache(lambda mode: record(Prof(folder := tmp_path_factory.mktemp(mode)), folder, client("task_clocks"), mode))


def assert_agreement(prof, profile, clocks):
    """Asserts that the share of each task is that of its own clock, as far as chance allows. Reading the clock takes
    time in the kernel, which does not belong to a task if an unprivileged user cannot sample it."""
    rows = {row["name"]: row["self"] for row in report(prof, profile)["rows"]}
    assert not clocks.keys() - rows.keys(), list(rows)
    weight, samples = (sum(rows[name][key] for name in clocks) for key in ("weight", "samples"))
    for name, ns in clocks.items():
        share = ns / clocks.total()
        sigma = math.sqrt(share * (1 - share) / samples)
        seen = rows[name]["weight"] / weight
        assert abs(seen - share) < SIGMAS * sigma + 0.005, f"{name}: {seen:.3f}, by its own clock {share:.3f}"


@pytest.mark.parametrize("mode", ["tokio", "local", "smol", "rayon"])
def test_tasks_cost_what_they_measure_themselves(prof, task_clocks, mode):
    assert_agreement(prof, *task_clocks(mode))


def test_goroutines_cost_what_they_measure_themselves(prof, target, tmp_path):
    assert_agreement(prof, *record(prof, tmp_path, target("goroutine_clocks")))


def test_a_recording_of_an_ordinary_user_has_tasks(ordinary, client):
    program = ordinary.bring(client("task_clocks"))
    assert_agreement(ordinary, *record(ordinary, ordinary.folder, program, "tokio"))


def test_a_future_that_sleeps_blocks_its_executor(prof, task_clocks):
    profile, _ = task_clocks("tokio")
    [blocked] = [task for task in report(prof, profile)["blocked"] if task["reason"] == "[nanosleep]"]
    source = (SOURCE / "src/bin/task_clocks.rs").read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(source, 1) if "10 { sleep(" in text)
    assert blocked["task"] == f"async block src/bin/task_clocks.rs:{line}"
    # 10 times 20 ms. On a busy machine, a wait without a snapshot gets the stack of another wait of its thread.
    assert 0.1e9 <= blocked["reason_ns"] < 0.2e9 * TIME_LIMIT_S, "spawn_blocking() does not count"
    assert blocked["text"].endswith(" in [nanosleep] of std::thread::sleep")


def test_a_future_that_waits_for_a_lock_blocks_its_executor(prof, client, tmp_path):
    profile = tmp_path / "x.pb.gz"
    prof("record", "-q", "--wall", "-o", profile, "--", client("shared_lock"), "0.5")
    [blocked] = report(prof, profile)["blocked"]
    assert blocked["task"] == "shared_lock::request"
    text = prof("report", "--by", "task", "--no-tree", profile).stdout.splitlines()[-1]
    assert text.startswith("shared_lock::request blocks the executor: "), text
    assert text.endswith(" in [futex] of std::sync::Mutex::lock, called by shared_lock::lookup"), text


def test_the_logical_view_keeps_tasks_and_what_blocks(prof, client, tmp_path):
    profile = tmp_path / "x.pb.gz"
    prof("record", "-q", "--wall", "-o", profile, "--", client("shared_lock"), "0.2")
    logical = report(prof, profile, "--logical")
    assert [logical[key] for key in ("rows", "blocked")] == [report(prof, profile)[key] for key in ("rows", "blocked")]


def test_waiting_samples_have_their_task(prof, client, tmp_path):
    profile = tmp_path / "x.pb.gz"
    prof("record", "-q", "--off-cpu", "-o", profile, "--", client("shared_lock"), "0.2")
    waiting = weights(prof, profile)
    assert waiting["shared_lock::request"] > 0.5 * waiting["(none)"], "3 of 4 workers wait, the main thread does, too"


def test_files_of_other_profilers_have_tasks(prof, tmp_path):
    stacks = tmp_path / "x.folded"
    stacks.write_text(FOLDED, encoding="utf-8")
    assert weights(prof, stacks) == {"shop::cart": 30, "shop::pay": 10, "(none)": 5}
    assert weights(prof, stacks, "--label", "task=shop::p*") == {"shop::pay": 10}


def test_labels_are_written_and_kept(prof, tmp_path):
    (tmp_path / "x.folded").write_text(FOLDED, encoding="utf-8")
    prof("convert", tmp_path / "x.folded", "-o", tmp_path / "x.pb.gz")
    assert weights(prof, tmp_path / "x.pb.gz") == {"shop::cart": 30, "shop::pay": 10, "(none)": 5}


def test_a_comparison_by_task_shows_what_grew(prof, tmp_path):
    (tmp_path / "old.folded").write_text(FOLDED, encoding="utf-8")
    (tmp_path / "new.folded").write_text(FOLDED.replace("shop::add 10", "shop::add 4000"), encoding="utf-8")
    result = prof("diff", "--by", "task", tmp_path / "old.folded", tmp_path / "new.folded")
    assert "shop::pay" in result.stdout, result.stdout + result.stderr


def test_a_program_without_tasks_has_no_label(prof, target, tmp_path):
    profile = tmp_path / "x.pb.gz"
    prof("record", "-q", "-o", profile, "--", target("shares"), "0.2")
    result = prof("report", "--by", "task", profile)
    assert result.returncode == 1
    assert 'no sample has a label "task"' in result.stderr


def test_polls_are_counted_where_samples_show_them(prof, task_clocks):
    profile, clocks = task_clocks("smol")
    rows = report(prof, profile)["rows"]
    polls = {row["name"]: row["polls"] for row in rows if row["name"] in clocks}
    block = next(name for name in clocks if "async block" in name and "block_on" not in name)
    # 150 polls of 2.1 ms each on one thread, with those of other tasks in between.
    assert 100 < polls[block] <= 150
    assert polls["task_clocks::ByHand"] <= 150
    assert "polls" in prof("report", "--by", "task", profile).stdout
    part = report(prof, profile, "--label", "task=task_clocks::*")["rows"]
    assert not [row for row in part if "polls" in row], "they are those of the whole profile"
