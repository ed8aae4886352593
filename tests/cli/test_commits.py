"""The last commits: each has a subject that fits into a line of a log, and builds by itself."""

import os
import subprocess
from pathlib import Path

import pytest

from conftest import BUILD, SOURCE

LAST = 10
SUBJECT_MAX = 72


def git(*arguments, folder=SOURCE):
    # a clone may belong to another user, as in containers
    command = ["git", "-c", "safe.directory=*", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def commits():
    """The hashes of the last commits, the oldest first."""
    if not (SOURCE / ".git").exists():
        pytest.skip("these sources are not a clone")
    return git("log", f"-{LAST}", "--no-merges", "--format=%H").split()[::-1]


def test_subjects_fit_into_a_line(commits):
    subjects = [git("log", "-1", "--format=%s", commit).strip() for commit in commits]
    assert [subject for subject in subjects if len(subject) > SUBJECT_MAX or subject.endswith(".")] == []


def test_each_commit_builds(commits):
    """All are built in one directory, one after the other, so that unchanged files are not compiled again."""
    built = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "prof" / "commits"
    built.mkdir(parents=True, exist_ok=True)
    tree, build = BUILD / "commits" / "tree", BUILD / "commits" / "build"
    environment = {**os.environ, "CC": "gcc"}
    for commit in commits:
        if (built / commit).exists():
            continue
        if not tree.exists():
            git("clone", "--quiet", "--shared", "--no-checkout", str(SOURCE), str(tree))
        git("checkout", "--quiet", "--detach", commit, folder=tree)
        if not (build / "build.ninja").exists():
            subprocess.run(["meson", "setup", "-Doptimization=0", "-Dwerror=true", str(build), str(tree)], check=True,
                           capture_output=True, env=environment)
        ran = subprocess.run(["ninja", "-C", build, "cmd/prof"], check=False, capture_output=True, text=True, env=environment)
        assert ran.returncode == 0, f"{git('log', '-1', '--format=%h %s', commit)}{ran.stdout[-4000:]}"
        (built / commit).touch()
