"""Wrong words are answered clearly, with status 2, before anything is written or run."""

import os

import pytest

from profiles import Stacks


@pytest.mark.parametrize("arguments, named", [
    (["record", "--no-such-option", "true"], "no-such-option"),
    (["record", "-e", "no-such-event", "true"], "no-such-event"),
    (["record", "--format", "no-such-format", "true"], "no-such-format"),
    (["record", "-F", "often", "true"], "often"),
    (["record", "-c", "-5", "true"], "-5"),
    (["record", "-p", "nobody"], "nobody"),
    (["record", "-p", "1,,2"], "1,,2"),
    (["record", "-C", "0-", "true"], "0-"),
    (["record", "--call-graph", "guess", "true"], "guess"),
    (["record", "--call-graph", "dwarf,1", "true"], "dwarf,1"),
    (["record", "-m", "many", "true"], "many"),
    (["record", "--duration", "long", "true"], "long"),
    (["record", "--fail-if", "slow>1%", "true"], "slow>1%"),
    (["record", "--fail-if", "lost", "true"], "lost"),
    (["record", "-o"], "-o"),
    (["no-such-command"], "no-such-command"),
    (["--no-such-option"], "no-such-option"),
])
def test_a_word_that_means_nothing_is_named(prof, arguments, named):
    result = prof(*arguments)
    assert result.returncode == 2
    assert named in result.stderr and result.stdout == ""
    assert os.listdir(prof.folder) == []


@pytest.mark.parametrize("arguments", [[], ["record"], ["record", "-o", "out.folded"]])
def test_saying_too_little_is_a_usage_error(prof, arguments):
    result = prof(*arguments)
    assert result.returncode == 2
    assert "prof" in result.stderr
    assert os.listdir(prof.folder) == []


def test_an_output_of_unknown_extension_names_the_formats(prof):
    result = prof("record", "-o", "out.nothing", "--", "true")
    assert result.returncode == 2
    assert "folded" in result.stderr and "pprof" in result.stderr
    assert os.listdir(prof.folder) == []


@pytest.mark.parametrize("arguments", [["--help"], ["record", "--help"], ["record", "-h"]])
def test_help_goes_to_stdout(prof, arguments):
    result = prof(*arguments)
    assert result.returncode == 0
    assert "usage: prof" in result.stdout.lower() and result.stderr == ""


def test_the_version_is_one_line(prof):
    result = prof("--version")
    assert result.returncode == 0
    assert result.stdout.startswith("prof ") and result.stdout.count("\n") == 1


def test_help_to_a_full_device_is_an_error(prof):
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = prof("record", "--help", capture_output=False, stdout=full)
    assert result.returncode == 1


def test_options_of_perf_without_a_meaning_here_are_taken(prof):
    result = prof("record", "--no-buildid", "-o", "out.folded", "--", "true")
    assert result.returncode == 0, result.stderr
    assert "no-buildid" in result.stderr


@pytest.mark.parametrize("arguments", [["-G", "group"], ["--control", "fd:3"], ["--call-graph", "lbr"]])
def test_what_is_not_supported_yet_is_said_and_not_passed_over(prof, arguments):
    result = prof("record", *arguments, "-o", "out.folded", "--", "touch", "ran")
    assert result.returncode == 2
    assert "not supported yet" in result.stderr
    assert os.listdir(prof.folder) == []


def test_help_on_a_command_is_its_help(prof):
    assert prof("help", "record").stdout == prof("record", "--help").stdout


def test_nothing_to_sample_is_no_reason_for_figures(prof):
    errors = prof("record", "-e", "cpu-clock", "-F", "1", "-o", "out.folded", "--", "true").stderr
    assert "no sample was taken" in errors and "a sample)" not in errors


def test_a_ring_that_holds_no_sample_is_not_taken(prof, target):
    """Scripts that were written for perf ask for 8 pages."""
    result = prof("record", "-m", "8", "-o", "out.folded", "--", target("shares"), "0.5")
    assert "too small" in result.stderr
    assert Stacks.read(prof.folder / "out.folded").total > 100, result.stderr
