"""prof record COMMAND: the command runs as without prof, and prof ends with it."""

import json
import math
import os
import signal
import subprocess
import time

from profiles import SIGMAS, Pprof, Stacks


def record(prof, *command, **options):
    return prof("record", "-o", "out.folded", "--", *command, **options)


def test_without_output_option_the_profile_is_prof_pb_gz(prof, target):
    result = prof.run("record", target("shares"), "0.2", stdout=None, capture_output=False, stderr=subprocess.PIPE)
    Pprof.read(prof.folder / "prof.pb.gz").check()
    assert "prof.pb.gz" in result.stderr


def test_the_exit_status_is_that_of_the_command(prof):
    for status in 0, 3, 255:
        assert record(prof, "sh", "-c", f"exit {status}").returncode == status


def test_a_command_killed_by_a_signal_kills_prof_with_the_same(prof):
    for number in signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM:
        result = record(prof, "sh", "-c", f"kill -{number.value} $$")
        assert result.returncode == -number
        (prof.folder / "out.folded").unlink()


def test_a_command_that_is_not_found_gives_127(prof):
    result = record(prof, "./nowhere")
    assert result.returncode == 127
    assert "nowhere" in result.stderr
    assert os.listdir(prof.folder) == []


def test_a_command_that_cannot_be_executed_gives_126(prof):
    (prof.folder / "text").write_text("no program\n")
    result = record(prof, "./text")
    assert result.returncode == 126
    assert "text" in result.stderr
    assert os.listdir(prof.folder) == ["text"]


def test_options_after_the_command_belong_to_the_command(prof):
    result = prof("record", "-o", "out.folded", "echo", "-F", "-o", "other", "--help")
    assert result.stdout == "-F -o other --help\n"
    assert sorted(os.listdir(prof.folder)) == ["out.folded"]


def test_the_command_inherits_stdin_stdout_and_stderr(prof):
    result = record(prof, "sh", "-c", "cat; echo error >&2", stdin=None, input="through\n")
    assert result.stdout == "through\n"
    assert "error\n" in result.stderr


def test_a_pipe_on_stdout_gets_folded_stacks(prof, target):
    result = prof("record", target("shares"), "0.1")
    assert Stacks(result.stdout).share("main", "spend") > 0.5
    assert os.listdir(prof.folder) == []


def test_nothing_before_the_exec_is_sampled(prof, target):
    stacks = prof.record("-F", "4999", "--", target("shares"), "0.3").stacks
    assert stacks.of_process("prof") == 0


def test_a_chain_of_execs_is_followed_to_the_last_program(prof, target):
    chain = f"exec sh -c 'exec {target('shares')} 0.4'"
    stacks = prof.record("--", "sh", "-c", chain).stacks
    assert stacks.of_process("shares") > 0.7 * stacks.total
    assert stacks.share("main", "spend") > 0.5, stacks.hottest()


def test_prof_does_not_wait_for_a_daemon_that_the_command_leaves_running(prof, started):
    """The recording ends with the command, not with the last of its descendants."""
    result = record(prof, "sh", "-c", "sleep 50 >/dev/null 2>&1 & echo $!")
    os.kill(int(result.stdout), signal.SIGKILL)
    assert result.returncode == 0


def test_the_summary_on_stderr_says_how_many_samples_and_where_the_profile_is(prof, target):
    result = record(prof, target("shares"), "0.1")
    assert "samples" in result.stderr and "lost" in result.stderr
    assert "out.folded" in result.stderr and not result.stdout
    result = prof("record", "-q", "-o", "out.folded", "--", target("shares"), "0.1")
    assert (result.stdout, result.stderr) == ("", "")


def test_a_period_takes_a_sample_every_n_events(prof, target):
    """-c counts nanoseconds for the event cpu-clock. The samples add up to the CPU time."""
    pprof = prof.record("-e", "cpu-clock", "-c", "2000000", "--", target("shares"), "0.6").pprof
    assert pprof.sample_types() == [("samples", "count"), ("cpu", "nanoseconds")]
    assert pprof.message.period == 2000000
    samples, ns = (sum(sample.value[value] for sample in pprof.message.sample) for value in (0, 1))
    assert abs(samples - 300) < SIGMAS * math.sqrt(300) + 30, samples  # the others are from the start of the program
    assert 0.6 < ns / 0.6e9 < 1.4


def test_software_events_are_sampled_by_their_period_too(prof):
    recording = prof.record("-e", "page-faults", "-c", "20", "--", "sh", "-c", "ls / >/dev/null")
    # A weight without samples belongs to [not sampled].
    values = [sample.value for sample in recording.pprof.message.sample if sample.value[0]]
    samples, faults = map(sum, zip(*values))
    assert samples > 0 and faults == 20 * samples


def test_a_command_that_is_stopped_ends_with_the_duration(prof):
    prof.run("record", "--duration", "0.2", "-o", "out.folded", "--", "sh", "-c", "kill -STOP $$")


def test_duration_ends_a_recording(prof, target):
    result = prof("record", "--duration", "0.5", "-o", "out.folded", "--", target("shares"), "50")
    assert (prof.folder / "out.folded").exists()
    assert Stacks.read(prof.folder / "out.folded").total < 2000, result.stderr


def test_sampling_begins_when_the_delay_is_over(prof, target):
    before_ns = time.time_ns()
    prof.run("record", "-D", 300, "--duration", 0.7, "-o", "out.folded", "-o", "out.pb.gz", "--", target("shares"), 600)
    stacks = Stacks.read(prof.folder / "out.folded")
    assert stacks.total > 0 and stacks.share("main", "spend") > 0.5, "what was mapped before is known"
    answer = json.loads(prof("report", "out.pb.gz", "--json").stdout)
    assert answer["start_unix_ns"] - before_ns >= 300_000_000
    assert answer["duration_ns"] >= 700_000_000


def test_a_command_that_ends_before_the_delay_has_no_samples(prof, target):
    recording = prof.record("-D", 600_000, target("shares"), 0.2)
    assert recording.stacks.total == 0
    assert "no samples: " in recording.result.stderr
