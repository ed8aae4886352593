"""Invalid arguments are reported with status 2 before anything is written or run."""

import os
import re
import shlex

import pytest

from profiles import Stacks


@pytest.mark.parametrize("arguments", [
    "record --no-such-option true", "record -e no-such-event true", "record --format no-such-format true", "record -F often true",
    "record -c -5 true", "record -p nobody", "record -p 1,,2", "record -C 0- true", "record --call-graph guess true",
    "record --call-graph dwarf,1 true", "record -m many true", "record --duration long true", "record --duration 1e-12 true",
    "top -b -n 1 -d 1e-12 true", "record --fail-if slow>1% true", "record --fail-if lost true", "record -o", "no-such-command",
    "--no-such-option"])
def test_an_invalid_argument_is_named_in_the_error(prof, arguments):
    words = arguments.split()
    result = prof(*words)
    assert result.returncode == 2
    assert [word for word in words if word != "true"][-1].removeprefix("--") in result.stderr and result.stdout == ""
    assert os.listdir(prof.folder) == []


def test_a_missing_argument_is_a_usage_error(prof):
    for arguments in [], ["record"], ["record", "-o", "out.folded"]:
        result = prof(*arguments)
        assert result.returncode == 2
        assert "prof" in result.stderr
        assert os.listdir(prof.folder) == []


def test_an_output_of_unknown_extension_names_the_formats(prof):
    result = prof("record", "-o", "out.nothing", "--", "true")
    assert result.returncode == 2
    assert "folded" in result.stderr and "pprof" in result.stderr
    assert os.listdir(prof.folder) == []


def test_help_and_the_version_go_to_stdout(prof):
    for arguments in ["--help"], ["record", "--help"], ["record", "-h"]:
        result = prof(*arguments)
        assert result.returncode == 0
        assert "usage: prof" in result.stdout.lower() and result.stderr == ""
    result = prof("--version")
    assert result.returncode == 0
    assert re.fullmatch(r"prof \d+\.\d+\.\d+( \([0-9a-f]{12}\))?\n", result.stdout)


def test_help_to_a_full_device_is_an_error(prof):
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = prof("record", "--help", capture_output=False, stdout=full)
    assert result.returncode == 1


def test_options_of_perf_that_prof_does_not_need_are_accepted(prof):
    result = prof.run("record", "--no-buildid", "-o", "out.folded", "--", "true")
    assert "no-buildid" in result.stderr


def test_an_unsupported_option_is_an_error(prof):
    result = prof("record", "--switch-events", "-o", "out.folded", "--", "touch", "ran")
    assert result.returncode == 2
    assert "not supported yet" in result.stderr
    assert os.listdir(prof.folder) == []


def summary_lines(errors):
    """Returns the lines after the tables of the hottest functions."""
    return errors[errors.rindex(" samples, "):].splitlines()


@pytest.mark.parametrize("options", [(), ("--wall",)])
@pytest.mark.parametrize("program", ["sh -c 'ls -R /usr/lib /usr/include >/dev/null; sleep 0.1; ls -R /usr/lib >/dev/null; sort --version'",
                                     "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'"])
def test_the_summary_of_an_ordinary_recording_has_at_most_eight_lines(prof, ordinary, options, program):
    for run in (prof, ordinary):
        errors = run.run("record", *options, "-o", "out.pb.gz", "--", *shlex.split(program)).stderr
        assert 1 < len(summary_lines(errors)) <= 8, errors
        # A count that is not 0 has its share in parentheses.
        assert re.search(r" samples, [\d,]+ lost\b.*, [\d,]+ truncated\b.*, [\d,]+ without a symbol\b", errors), errors


def test_the_cost_per_sample_is_of_recordings_of_the_cpu_alone(prof, target):
    assert "per sample)" in prof.run("record", "-o", "out.pb.gz", target("shares"), "0.2").stderr
    assert "per sample)" not in prof.run("record", "--wall", "-o", "out.pb.gz", target("shares"), "0.2").stderr


def test_without_samples_no_cost_per_sample_is_printed(prof):
    errors = prof("record", "-e", "cpu-clock", "-F", "1", "-o", "out.folded", "--", "true").stderr
    assert "no samples: " in errors and "per sample)" not in errors


def test_a_ring_too_small_for_a_sample_is_enlarged(prof, target):
    """Scripts written for perf request 8 pages."""
    result = prof("record", "-m", "8", "-o", "out.folded", "--", target("shares"), "0.5")
    assert "too small" in result.stderr
    assert Stacks.read(prof.folder / "out.folded").total > 100, result.stderr


@pytest.mark.parametrize("arguments, named", [
    (["--wall", "--off-cpu"], ["--wall", "--off-cpu"]),
    (["--off-cpu=10"], ["--off-cpu", '"10"', "10us"]),
    (["--off-cpu=soon"], ["--off-cpu", '"soon"']),
    (["--off-cpu", "10us"], ["--off-cpu=10us"]),
    (["--off-cpu", "-e", "cpu-clock"], ["--off-cpu", "-e", "--wall"]),
    (["--off-cpu", "-c", "1000"], ["--off-cpu", "-c", "-F"]),
    (["--off-cpu", "--call-graph", "fp"], ["--off-cpu", "--call-graph fp"]),
    (["--wall", "--call-graph", "no"], ["--wall", "--call-graph no"]),
    (["--wall", "-C", "0"], ["--wall", "-C"]),
    (["--elapsed", "-C", "0"], ["--elapsed", "-C"]),
    (["--elapsed", "-a"], ["--elapsed", "-a", "--wall -a"]),
    (["--elapsed", "--off-cpu"], ["--elapsed", "--off-cpu"]),
    (["--off-cpu", "-i"], ["--off-cpu", "-i", "-t"]),
    (["--wall", "--all-kernel"], ["--wall", "--all-kernel"]),
    (["--ignore-idle"], ["--ignore-idle", "--wall", "--off-cpu"]),
    (["--off-cpu", "--show-event", "cpu-clock"], ["--show-event", "cpu-clock"]),
    (["--wall", "--show-event", "of-cpu"], ["--show-event", "off-cpu"]),
])
@pytest.mark.parametrize("command", [["record"], ["top", "-b", "-n", "1"]], ids=["record", "top"])
def test_what_cannot_be_recorded_together_with_waiting_is_refused(prof, command, arguments, named):
    result = prof(*command, *arguments, "touch", "ran")
    assert result.returncode == 2
    assert all(word in result.stderr for word in named), result.stderr
    assert os.listdir(prof.folder) == []


@pytest.mark.parametrize("option", ["--wall", "--elapsed"])
def test_a_perf_data_file_does_not_hold_waiting(prof, option):
    result = prof("record", option, "-o", "out.data", "touch", "ran")
    assert result.returncode == 2
    assert "out.data" in result.stderr and "off-CPU time" in result.stderr
    assert os.listdir(prof.folder) == []
