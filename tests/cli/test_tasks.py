"""prof report --by task: which future, job or goroutine costs what."""

import json


FOLDED = """\
tokio;start_thread;tokio::runtime::task::raw::poll;tokio::runtime::task::core::Core<T,S>::poll;shop::cart::{async_fn#0};shop::add 30
tokio;start_thread;tokio::runtime::task::raw::poll;tokio::runtime::task::core::Core<T,S>::poll;shop::pay::{async_fn#0};shop::add 10
tokio;start_thread;tokio::runtime::scheduler::multi_thread::worker::Context::park 5
"""


def rows(prof, *args):
    """The self weights of the tasks."""
    report = json.loads(prof("report", "--by", "task", "--json", *map(str, args)).stdout)
    return {row["name"]: row["self"]["weight"] for row in report["rows"]}


def test_files_of_other_profilers_have_tasks(prof, tmp_path):
    stacks = tmp_path / "x.folded"
    stacks.write_text(FOLDED)
    assert rows(prof, stacks) == {"shop::cart": 30, "shop::pay": 10, "(none)": 5}
    assert rows(prof, stacks, "--label", "task=shop::p*") == {"shop::pay": 10}


def test_labels_are_written_and_kept(prof, tmp_path):
    (tmp_path / "x.folded").write_text(FOLDED)
    prof("convert", tmp_path / "x.folded", "-o", tmp_path / "x.pb.gz")
    assert rows(prof, tmp_path / "x.pb.gz") == {"shop::cart": 30, "shop::pay": 10, "(none)": 5}


def test_a_future_that_blocks_its_executor_is_named(prof, client, tmp_path):
    profile = tmp_path / "x.pb.gz"
    prof("record", "-q", "--wall", "-o", profile, "--", client("shared_lock"), "0.5")
    report = json.loads(prof("report", "--by", "task", "--json", profile).stdout)
    [blocked] = report["blocked"]
    assert blocked["task"] == "shared_lock::request"
    assert blocked["blocked_ns"] > 1e9
    text = prof("report", "--by", "task", "--no-tree", profile).stdout.splitlines()[-1]
    assert text.startswith("shared_lock::request blocks the executor: "), text
    assert text.endswith(" in [futex] of std::sync::Mutex::lock, called by shared_lock::lookup"), text
