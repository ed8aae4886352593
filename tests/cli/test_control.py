"""prof record --control and -D -1: other programs decide which phases are sampled, and when profiles are written."""

import os
import resource
import subprocess
import time

import pytest

from conftest import NOBODY
from control_channel import end, weights


def of(sums, name):
    """The CPU time of a function, including time that the kernel counted but did not sample because the host used the
    CPU."""
    return round(sums[name] + sums["[kernel]"] + sums["[not sampled]"], 6)


def assert_only(path, name, seconds, other):
    """Asserts that the profile shows the CPU time of one function, and none of the other."""
    sums = weights(path)
    assert sums[other] == 0, sums
    assert sums[name] > 0.97 * (sums[""] - sums["[not sampled]"]) > 0, sums
    # There may be one period before and one after each phase, and forks, reads and writes of the target itself.
    assert 0.9 * seconds < of(sums, name) <= round(sums[""], 6) < 1.3 * seconds + 0.02, sums


def test_phases_add_up_in_one_profile(prof, phases, channel, controlled):
    target = phases()
    process = controlled(target.pid, "-o", "out.pb.gz")
    for _ in range(5):
        channel("enable")
        target("right 0.1")
        channel("disable")
        target("left 0.1")
    channel("stop")
    end(process)
    assert_only(prof.folder / "out.pb.gz", "right", 0.5, "left")


def test_each_snapshot_has_its_phase_alone_in_the_format_of_its_extension(prof, phases, channel, controlled):
    target = phases()
    process = controlled(target.pid)
    for phase in ("left", "right"):
        channel("enable")
        target(f"{phase} 0.3")
        channel("disable", f"snapshot {prof.folder}/{phase} phase.pb.gz")
    for phase, name in (("left", "page.html"), ("right", "stacks.folded")):
        channel("enable")
        target(f"{phase} 0.1")
        channel("disable", f"snapshot {name}")
    channel("stop")
    errors = end(process)
    assert_only(prof.folder / "left phase.pb.gz", "left", 0.3, "right")
    assert_only(prof.folder / "right phase.pb.gz", "right", 0.3, "left")
    assert "left phase.pb.gz: " in errors
    assert "<html" in (prof.folder / "page.html").read_text(encoding="utf-8")
    folded = (prof.folder / "stacks.folded").read_text(encoding="utf-8")
    assert "right" in folded and "left" not in folded


def test_snapshots_of_a_running_recording_add_up(prof, phases, channel, controlled):
    target = phases()
    process = controlled(target.pid, "-o", "rest.pb.gz", delay=())
    channel("snapshot /dev/null")
    for number in range(4):
        target("left 0.1")
        channel(f"snapshot {number}.pb.gz")
    target("left 0.1")
    channel("stop")
    end(process)
    parts = [weights(prof.folder / f"{name}.pb.gz") for name in (0, 1, 2, 3, "rest")]
    assert 0.45 < sum(of(part, "left") for part in parts) < 0.55, parts
    assert all(of(part, "left") > 0.05 for part in parts), parts


def test_snapshots_go_on_beside_checkpoints(prof, phases, channel, controlled):
    target = phases()
    process = controlled(target.pid, "-o", "rest.pb.gz", "--checkpoint=0.1")
    channel("enable")
    target("left 0.5")
    channel("snapshot left.pb.gz")
    target("right 0.5")
    channel("stop")
    end(process)
    assert_only(prof.folder / "left.pb.gz", "left", 0.5, "right")
    assert_only(prof.folder / "rest.pb.gz", "right", 0.5, "left")


def test_without_an_output_the_end_writes_what_no_snapshot_has(prof, phases, channel, controlled):
    target = phases()
    process = controlled(target.pid, stdout=subprocess.DEVNULL)
    channel("enable")
    target("left 0.2")
    channel("disable", "snapshot left.pb.gz", "stop")
    end(process)
    assert not (prof.folder / "prof.pb.gz").exists()
    process = controlled(target.pid, stdout=subprocess.DEVNULL)
    channel("enable", "snapshot /dev/null")
    target("right 0.2")
    channel("stop")
    end(process)
    assert_only(prof.folder / "prof.pb.gz", "right", 0.2, "left")


def test_waiting_in_a_pause_does_not_count(prof, phases, channel, controlled):
    target = phases()
    process = controlled(target.pid, "--wall")
    target("wait 0.3")
    begun = time.monotonic()
    channel("enable")
    target("wait 0.4")
    channel("disable")
    enabled = time.monotonic() - begun
    target("wait 0.6")
    channel("enable")
    target("left 0.2")
    channel("disable", "snapshot out.pb.gz", "stop")
    end(process)
    idle = weights(prof.folder / "out.pb.gz", "off-cpu")
    # prof knows both ends of a wait to within some milliseconds.
    assert 0.38 < idle["wait_for"] < enabled + 0.02, (idle, enabled)
    assert_only(prof.folder / "out.pb.gz", "left", 0.2, "right")


def test_a_wait_that_spans_a_pause_counts_outside_it(prof, phases, channel, controlled):
    """All of its time is in one of the three phases, whose lengths are known."""
    target = phases()
    process = controlled(target.pid, "--wall")
    times = [time.monotonic()]
    channel("enable")
    target.begin("wait 1")
    time.sleep(0.2)
    times.append(time.monotonic())
    channel("disable")
    time.sleep(0.5)
    channel("enable")
    times.append(time.monotonic())
    target.finish("wait 1")
    channel("disable")
    times.append(time.monotonic())
    channel("snapshot out.pb.gz", "stop")
    end(process)
    waited = weights(prof.folder / "out.pb.gz", "off-cpu")["wait_for"]
    paused = times[2] - times[1]
    assert 0.98 - paused < waited < times[3] - times[0] - 0.5 + 0.02, (waited, times)


def test_what_a_program_asks_for_before_it_ends_is_done(prof, target):
    script = f'''
echo "left 0.2" | {target("phases")} >/dev/null
echo "snapshot left.pb.gz" >"$ctl"
read -r answer <"$ack"
echo "right 0.2" | {target("phases")} >/dev/null
printf "disable\\nsnapshot right.pb.gz\\nsnapshot nothing.pb.gz\\n" >"$ctl"'''
    prof.run("record", "--control", "auto", "-o", "rest.pb.gz", "--",
             "sh", "-c", "ctl=${PROF_CONTROL#fifo:}; ack=${ctl#*,}; ctl=${ctl%,*}" + script)
    # A busy host takes part of the time. It is not sampled.
    assert of(weights(prof.folder / "left.pb.gz"), "left") > 0.1
    sums = weights(prof.folder / "right.pb.gz")
    assert of(sums, "right") > 0.1 and sums["left"] == 0, sums
    assert (prof.folder / "nothing.pb.gz").exists()


# A script with children before, during and after the phase that it requests.
SCRIPT = """
ctl=${PROF_CONTROL#fifo:}; ack=${ctl#*,}; ctl=${ctl%,*}
say() { echo "$*" >"$ctl"; read -r answer <"$ack"; [ "$answer" = ack ] || echo "$answer" >&2; }
echo "left 0.3" | PHASES >/dev/null
say enable
echo "children 30" | PHASES >/dev/null
say disable
echo "left 0.3" | PHASES >/dev/null
"""


def check_children(sums):
    """Nothing is counted twice. The kernel's time for fork and exit does not belong to right()."""
    assert sums["left"] == 0 and sums["right"] > 0, sums
    assert 0.3 * 0.9 < of(sums, "right") <= round(sums[""], 6) < 0.3 * 2, sums


@pytest.mark.parametrize("arguments", [[], ["--wall"]])
def test_a_command_and_its_children_control_their_recorder(prof, target, arguments):
    prof.run("record", "-D", "-1", "--control", "auto", "-o", "out.pb.gz", *arguments, "--",
             "sh", "-c", SCRIPT.replace("PHASES", str(target("phases"))))
    check_children(weights(prof.folder / "out.pb.gz"))


def test_an_ordinary_user_s_command_controls_its_recorder(ordinary, target):
    phases = ordinary.bring(target("phases"))
    ordinary.run("record", "-D", "-1", "--control", "auto", "-o", "out.pb.gz", "--wall", "--",
                 "sh", "-c", SCRIPT.replace("PHASES", str(phases)))
    check_children(weights(ordinary.folder / "out.pb.gz"))


def test_a_recording_file_has_what_was_enabled(prof, phases, channel, controlled):
    target = phases()
    process = controlled(target.pid, "-o", "out.data")
    target("left 0.2")
    channel("enable")
    target("right 0.3")
    channel("disable")
    target("left 0.2")
    channel("stop")
    end(process)
    prof.run("convert", "out.data", "-o", "out.pb.gz")
    assert_only(prof.folder / "out.pb.gz", "right", 0.3, "left")


def test_a_command_that_never_asks_for_a_phase_is_told_apart(prof):
    result = prof("record", "-D", "-1", "--control", "auto", "-o", "out.pb.gz", "--", "sh", "-c", "exit 3")
    assert result.returncode == 3
    assert '"enable"' in result.stderr


def test_fifos_for_a_command_are_removed(prof):
    result = prof("record", "--control", "auto", "-o", "out.folded", "--",
                  "sh", "-c", 'ls "${PROF_CONTROL##*,}"', env={**os.environ, "TMPDIR": str(prof.folder), "XDG_RUNTIME_DIR": ""})
    assert result.stdout.strip().endswith("/ack")
    assert os.listdir(prof.folder) == ["out.folded"]


def test_descriptors_that_prof_inherits_are_a_channel(prof, phases, started):
    target = phases()
    words, words_in = os.pipe()
    answers_out, answers = os.pipe()
    process = started(prof.start("record", "-p", target.pid, "-D", "-1", "--control", f"fd:{words},{answers}",
                                 "-o", "out.pb.gz", pass_fds=[words, answers]))
    os.close(words)
    os.close(answers)
    os.write(words_in, b"enable\n")
    assert os.read(answers_out, 100) == b"ack\n\0"
    os.close(words_in)
    os.close(answers_out)
    target("right 0.2")
    target.process.stdin.close()
    assert "the target ended" in end(process)
    assert_only(prof.folder / "out.pb.gz", "right", 0.2, "left")


def test_answers_that_nobody_reads_do_not_stop_the_recording(prof, phases, channel, controlled):
    target = phases()
    process = controlled(target.pid, "-o", "out.pb.gz")
    channel.send("enable\n")
    for _ in range(400):
        channel.send("ping\n" * 100)
    target("right 0.3")
    channel.send("stop\n")
    errors = end(process)
    assert errors.count("answers are not read") == 1
    assert_only(prof.folder / "out.pb.gz", "right", 0.3, "left")


def test_a_fifo_without_readers_or_writers_delays_nothing(prof, phases, channel, started):
    channel.close()
    target = phases()
    process = started(prof.start("record", "-p", target.pid, "--control", channel.how, "-o", "out.pb.gz"))
    target("right 0.3")
    with open(channel.paths[0], "w", encoding="ascii") as words:
        words.write("ping\n")
    with open(channel.paths[0], "w", encoding="ascii") as words:
        words.write("stop\n")
    end(process)
    assert (prof.folder / "out.pb.gz").exists()
    channel.words, channel.answers = os.pipe()


def test_a_snapshot_that_cannot_be_written_is_refused_and_nothing_is_lost(prof, phases, channel, controlled):
    target = phases()
    process = controlled(target.pid, delay=())
    channel("snapshot /dev/null")
    target("left 0.2")
    refused = {"missing/a.pb.gz": "No such file or directory", "a.unknown": "unknown format", "a.data": "only -o writes perf.data",
               "ctl": "not a regular file", "/dev/full": "not a regular file", "-": "not a regular file"}
    for file, reason in refused.items():
        answer = channel.ask(f"snapshot {file}").decode()
        assert answer.startswith("nack ") and reason in answer, answer
    channel("snapshot good.pb.gz", "stop")
    errors = end(process)
    assert all(reason in errors for reason in refused.values())
    assert_only(prof.folder / "good.pb.gz", "left", 0.2, "right")


def test_a_snapshot_for_which_there_is_no_space_is_answered(prof, phases, channel, controlled):
    target = phases()
    process = controlled(target.pid, delay=(), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)))
    target("left 0.2")
    answer = channel.ask("snapshot big.pb.gz").decode()
    assert answer.startswith("nack write big.pb.gz: "), answer
    channel("snapshot /dev/null", "stop")
    end(process)


@pytest.mark.parametrize("how, reason", [
    ("ctl", "fifo:CTL[,ACK], fd:N[,M] or auto"),
    ("fifo:", "fifo:CTL[,ACK], fd:N[,M] or auto"),
    ("fd:a,b", "fifo:CTL[,ACK], fd:N[,M] or auto"),
    ("fd:99999999999", "fifo:CTL[,ACK], fd:N[,M] or auto"),
    ("fifo:missing", "mkfifo(1)"),
    ("fifo:file", "mkfifo(1)"),
    ("fifo:/dev/null", "mkfifo(1)"),
    ("fifo:open_to_all", "chmod go-w"),
    ("fd:77", "descriptor 77"),
])
def test_a_channel_that_is_none_is_refused_before_the_command_runs(prof, how, reason):
    (prof.folder / "file").touch()
    os.mkfifo(prof.folder / "open_to_all")
    os.chmod(prof.folder / "open_to_all", 0o666)
    result = prof("record", "--control", how, "-o", "out.folded", "--", "touch", "ran")
    assert result.returncode in (1, 2)
    assert reason in result.stderr
    assert not (prof.folder / "ran").exists() and not (prof.folder / "out.folded").exists()


def test_a_fifo_that_others_can_write_is_refused(prof, channel, root):
    for owner, group, reason in (0, NOBODY, "other users can write"), (NOBODY, NOBODY, "of another user"):
        os.chmod(channel.paths[0], 0o660 if owner == 0 else 0o600)
        os.chown(channel.paths[0], owner, group)
        result = prof("record", "--control", channel.how, "--", "true")
        assert result.returncode == 1
        assert reason in result.stderr


@pytest.mark.parametrize("arguments, reason", [
    (["-D", "-1", "--", "true"], "--control"),
    (["--control", "auto", "-p", "1"], "mkfifo(1)"),
])
def test_a_channel_that_makes_no_sense_is_refused(prof, arguments, reason):
    result = prof("record", *arguments)
    assert result.returncode == 2
    assert reason in result.stderr
