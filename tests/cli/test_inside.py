"""CPU time by a library in the program (--via inside), and where the kernel refuses perf events."""

import subprocess

from profiles import assert_rooted, assert_share

SHARES = {"half": 0.5, "third": 0.3, "fifth": 0.2}
SECONDS = "3"  # of CPU time: at the kernel's tick, 300 samples and more


def assert_shares(stacks):
    assert stacks.total >= 200, stacks.hottest()
    assert_rooted(stacks, 0.99)
    for function, share in SHARES.items():
        assert_share(stacks.holding("main", "spend", function, "spin"), stacks.total, share)


def without_perf(prof, target, *arguments):
    return subprocess.run([target("without_perf"), prof.binary, *map(str, arguments)], text=True, capture_output=True,
                          cwd=prof.folder, check=False)


def test_the_library_finds_the_true_shares(prof, target):
    recording = prof.record("--via", "inside", "--", target("shares"), SECONDS)
    assert_shares(recording.stacks)
    assert "by a library in the program" in recording.result.stderr


def test_threads_keep_their_names_and_roots_without_frames_of_the_library(prof, target):
    recording = prof.record("--via", "inside", "--", target("threads"), SECONDS)
    assert_rooted(recording.stacks, 0.99)
    assert recording.stacks.holding("start_thread", "work", "spend", "burn") > 0.5 * recording.stacks.total
    assert {"older", "younger", "threads"} <= recording.pprof.by_label("thread").keys()
    assert not recording.stacks.count(lambda frames: any("process_run_thread" in frame for frame in frames))


def test_a_refusal_of_perf_events_is_replaced_by_the_library(prof, target):
    result = without_perf(prof, target, "record", "-o", "out.pb.gz", "--", target("shares"), "1")
    assert result.returncode == 0, result.stderr
    assert "denies perf_event_open" in result.stderr
    assert "by a library in the program" in result.stderr
    assert "half" in prof("report", "out.pb.gz").stdout


def test_the_refusal_is_an_error_if_perf_is_asked_for(prof, target):
    for arguments in ("--via", "perf"), ("-e", "page-faults"), ("--wall",):
        result = without_perf(prof, target, "record", *arguments, "--", target("shares"), "1")
        assert result.returncode == 1, arguments
        assert "denies perf_event_open" in result.stderr
        assert "library" not in result.stderr


def test_an_option_that_the_library_cannot_serve_is_refused(prof):
    for arguments in ("-e", "cycles"), ("-a",), ("--wall",), ("-c", "1000"), ("--call-graph", "fp"), ("-o", "x.data"):
        result = prof("record", "--via", "inside", *arguments, "--", "true")
        assert result.returncode == 2, arguments
        assert "--via inside" in result.stderr


def test_a_static_program_is_said_to_lack_the_library(prof, target):
    result = prof("record", "--via", "inside", "-o", "out.pb.gz", "--", target("shares_static"), "0.1")
    assert result.returncode == 0
    assert "did not load libprof-inside.so" in result.stderr


def test_the_command_s_children_are_sampled_too(prof, target):
    recording = prof.record("--via", "inside", "--", "sh", "-c", f"{target('shares')} 1; {target('shares')} 1")
    assert recording.stacks.of_process("shares") >= 0.9 * recording.stacks.total
