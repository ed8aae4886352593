"""In-process sampling of CPU time (--via inside), also where the kernel refuses perf events."""

import json
import math
import re
import subprocess

import pytest

from conftest import NOBODY
from profiles import SIGMAS, Stacks, assert_rooted, assert_share

SHARES = {"half": 0.5, "third": 0.3, "fifth": 0.2}
SECONDS = "2"  # CPU time; at the kernel's tick, at least 200 samples


def assert_shares(stacks):
    assert stacks.total >= 100, stacks.hottest()
    assert_rooted(stacks, 0.99)
    for function, share in SHARES.items():
        assert_share(stacks.holding("main", "spend", function, "spin"), stacks.total, share)


def without_perf(prof, target, *arguments, number="EPERM", **options):
    return subprocess.run([target("without_perf"), number, prof.binary, *map(str, arguments)], text=True, capture_output=True,
                          cwd=prof.folder, check=False, **options)


def test_the_library_finds_the_true_shares(prof, target):
    recording = prof.record("--via", "inside", "--", target("shares"), SECONDS)
    assert_shares(recording.stacks)
    assert "by a preloaded agent" in recording.result.stderr


def test_its_shares_are_those_of_perf_events(prof, target):
    inside, perf = (prof.record("--via", via, "-F", "250", "--", target("frames"), "1.5").stacks
                    for via in ("inside", "perf"))
    for function in ("filled", "second", "aligned"):
        left, right = (stacks.share("main", "spend", function) for stacks in (inside, perf))
        sigma = math.sqrt(left * (1 - left) / inside.total + right * (1 - right) / perf.total)
        assert abs(left - right) < SIGMAS * sigma + 0.005, (function, left, right)


@pytest.mark.parametrize("via", ["perf", "inside"])
@pytest.mark.parametrize("outside", [True, False])
def test_a_time_namespace_shifts_no_sample(prof, target, via, outside):
    """The namespace is of prof and its target, or of the target only."""
    shifted = ["unshare", "--time", "--monotonic", "100000"]
    if subprocess.run([*shifted, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("needs time namespaces, and the right to make one")
    record = [prof.binary, "record", "--via", via, "-o", "out.folded", "--"]
    command = [*record, *shifted] if outside else [*shifted, *record]
    result = subprocess.run([*command, target("shares"), SECONDS], text=True, capture_output=True, cwd=prof.folder,
                            check=False)
    assert result.returncode == 0, result.stderr
    assert_shares(Stacks.read(prof.folder / "out.folded"))


def test_the_rate_is_that_of_its_timers_and_the_profile_says_so(prof, target):
    result = prof("record", "--via", "inside", "-F", "997", "-o", "out.pb.gz", "--", target("shares"), "1")
    rate = int(re.search(r"CPU time at ([0-9]+) Hz", result.stderr)[1])
    report = json.loads(prof("report", "--json", "out.pb.gz").stdout)
    assert f"at {rate} Hz" in report["remarks"]
    # A second of CPU time. If the CPUs are busy, one sample stands for several periods.
    assert 0 < report["quality"]["samples"] < 1.1 * rate
    assert abs(report["all"]["weight"] / 1e9 - 1) < 0.05


def test_a_library_that_is_opened_later_is_unwound(prof, target):
    stacks = prof.record("--via", "inside", "--", target("opener"), "0.5", target("plugin_one.so"), "plugin_one_work").stacks
    assert stacks.share("main", "use", "plugin_one_work", "spend", "burn") > 0.9, stacks.hottest()


def test_a_program_keeps_its_own_profiling_signal(prof, target):
    result = prof.run("record", "--via", "inside", "-o", "out.pb.gz", "--", target("own_profile"))
    counted = int(result.stdout)
    samples = json.loads(prof("report", "--json", "out.pb.gz").stdout)["quality"]["samples"]
    assert counted > 50 and samples > 50, (counted, samples)


def test_threads_keep_their_names_and_roots_without_frames_of_the_library(prof, target):
    recording = prof.record("--via", "inside", "--", target("threads"), SECONDS)
    assert_rooted(recording.stacks, 0.99)
    assert recording.stacks.holding("start_thread", "work", "spend", "burn") > 0.5 * recording.stacks.total
    assert {"older", "younger", "threads"} <= recording.pprof.by_label("thread").keys()
    assert not recording.stacks.count(lambda frames: any("process_run_thread" in frame for frame in frames))


@pytest.mark.parametrize("number", ["EPERM", "EACCES", "ENOSYS"])
def test_a_refusal_of_perf_events_is_replaced_by_the_library(prof, target, number):
    result = without_perf(prof, target, "record", "-o", "out.pb.gz", "--", target("shares"), "0.3", number=number)
    assert result.returncode == 0, result.stderr
    (notice,) = [line for line in result.stderr.splitlines() if "by a preloaded agent: CPU time at" in line]
    assert "denies perf_event_open" in notice and " Hz" in notice
    assert "half" in prof("report", "out.pb.gz").stdout


def test_a_paranoid_level_that_refuses_all_is_replaced_too(ordinary_with_library, paranoid, target):
    # Debian's and Ubuntu's kernels refuse everything from level 3 on; others do not have such a level.
    prof = ordinary_with_library
    paranoid(4)
    result = without_perf(prof, target, "record", "-o", "out.pb.gz", "--", prof.bring(target("shares")), "0.3", number="EACCES",
                          user=NOBODY, group=NOBODY, extra_groups=[])
    assert result.returncode == 0, result.stderr
    assert "kernel.perf_event_paranoid is 4" in result.stderr and "by a preloaded agent" in result.stderr
    assert "half" in prof("report", "out.pb.gz").stdout


def test_the_refusal_is_an_error_if_perf_is_asked_for(prof, target):
    for arguments in ("--via", "perf"), ("-e", "page-faults"), ("--wall",), ("--growth",), ("-a",):
        result = without_perf(prof, target, "record", *arguments, "--", target("shares"), "1")
        assert result.returncode == 1, arguments
        assert "denies perf_event_open" in result.stderr
        assert "library" not in result.stderr
        assert ("without perf events, prof record COMMAND samples" in result.stderr) == (arguments[0] != "--via"), arguments


def test_the_refusal_of_a_process_says_what_works(prof, target, service):
    result = without_perf(prof, target, "record", "-p", service.pid)
    assert result.returncode == 1
    assert "prof record --alloc COMMAND samples memory; --alloc -p PID needs a process that was started with prof inside COMMAND" in result.stderr


def test_a_static_program_is_refused_and_not_sampled_in_place_of_perf(prof, target):
    result = without_perf(prof, target, "record", "--", target("shares_static"), "0.1")
    assert result.returncode == 1
    assert "shares_static is statically linked" in result.stderr
    assert "denies perf_event_open" in result.stderr and "--cap-add PERFMON" in result.stderr
    result = prof("record", "--via", "inside", "-o", "out.pb.gz", "--", target("shares_static"), "0.1")
    assert result.returncode == 1
    assert "shares_static is statically linked" in result.stderr and "--via perf" in result.stderr


def test_doctor_says_what_works_without_perf_events(prof, target):
    result = without_perf(prof, target, "doctor")
    assert result.returncode == 0, result.stderr
    assert "prof records only what it starts, by a library in the program: CPU time at up to" in result.stdout


def test_an_option_that_the_library_cannot_serve_is_refused(prof):
    for arguments in ("-e", "cycles"), ("-a",), ("--wall",), ("--elapsed",), ("-c", "1000"), ("--call-graph", "fp"), ("-o", "x.data"):
        result = prof("record", "--via", "inside", *arguments, "--", "true")
        assert result.returncode == 2, arguments
        assert "--via inside" in result.stderr
        assert " -e" not in result.stderr or "-e" in arguments


def test_the_command_s_children_are_sampled_as_far_as_they_load_the_library(prof, target):
    recording = prof.record("--via", "inside", "--", "sh", "-c", f"{target('shares')} 0.3; {target('shares_static')} 0.1; {target('shares')} 0.3")
    assert recording.stacks.of_process("shares") >= 0.9 * recording.stacks.total
