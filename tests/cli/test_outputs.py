"""The files that prof writes: whole or not at all."""

import os
import stat
import subprocess

import pytest

from patience import TIME_LIMIT_S
from profiles import Pprof, Stacks


def test_one_run_writes_several_outputs_of_the_same_samples(prof, target):
    recording = prof.record("--", target("shares"), "0.5")
    pprof = Pprof.read(prof.folder / "record.pb.gz")
    assert pprof.total() == recording.stacks.total
    pprof.check()
    by_stack = {}
    for sample in pprof.message.sample:
        frames = pprof.frames(sample)
        by_stack[frames] = by_stack.get(frames, 0) + sample.value[0]
    assert by_stack == {frames[1:]: count for frames, count in recording.stacks.counts.items()}


def test_the_format_option_overrules_the_extension(prof, target):
    prof("record", "--format", "folded", "-o", "stacks.txt", "--", target("shares"), "0.3")
    assert Stacks.read(prof.folder / "stacks.txt").share("main", "spend") > 0.5


def test_files_are_for_their_owner_alone(prof):
    os.umask(0o022)
    prof("record", "-o", "out.folded", "--", "true")
    assert stat.S_IMODE((prof.folder / "out.folded").stat().st_mode) == 0o600


def test_an_existing_file_becomes_old(prof):
    (prof.folder / "out.folded").write_text("before")
    prof("record", "-o", "out.folded", "--", "true")
    assert (prof.folder / "out.folded.old").read_text() == "before"
    assert (prof.folder / "out.folded").read_text() != "before"
    assert sorted(os.listdir(prof.folder)) == ["out.folded", "out.folded.old"]


def test_an_old_file_stays_until_there_is_another_one(prof):
    (prof.folder / "out.folded.old").write_text("before")
    prof("record", "-o", "out.folded", "--", "true")
    assert (prof.folder / "out.folded.old").read_text() == "before"


def test_what_is_no_file_gets_folded_stacks_when_its_name_does_not_tell(prof):
    assert prof("record", "-o", "/dev/null", "--", "true").returncode == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_fifo_is_written_and_stays_a_fifo(prof, started, target):
    fifo = prof.folder / "stacks"
    os.mkfifo(fifo)
    reader = started(subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE, text=True))
    assert prof("record", "-o", fifo, "--", target("shares"), "0.3").returncode == 0
    output, _ = reader.communicate(timeout=TIME_LIMIT_S)
    assert Stacks(output).share("main", "spend") > 0.5
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_a_full_device_is_an_error(prof, target):
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = prof("record", "--format", "folded", "-o", "-", "--", target("shares"), "0.2",
                      capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert result.returncode == 1
    assert "No space left on device" in result.stderr


def test_a_device_is_written_to_not_replaced(prof, target):
    result = prof("record", "--format", "folded", "-o", "/dev/full", "--", target("shares"), "0.2")
    assert result.returncode == 1
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.fixture
def full_disk(root, tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


def fill(folder):
    with open(folder / "filling", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


def test_a_full_disk_leaves_the_old_file_as_it_was(prof, full_disk, target):
    (full_disk / "out.pb.gz").write_text("before")
    fill(full_disk)
    result = prof("record", "-o", full_disk / "out.pb.gz", "--", target("shares"), "0.2")
    assert result.returncode == 1
    assert "No space left on device" in result.stderr
    assert (full_disk / "out.pb.gz").read_text() == "before"
    assert sorted(os.listdir(full_disk)) == ["filling", "out.pb.gz"]


def test_a_full_disk_does_not_cost_the_other_outputs(prof, full_disk, target):
    fill(full_disk)
    result = prof("record", "-o", full_disk / "out.pb.gz", "-o", "out.folded", "--", target("shares"), "0.2")
    assert result.returncode == 1
    assert Stacks.read(prof.folder / "out.folded").total > 0


def test_who_leaves_the_pipe_early_costs_a_status_and_no_words(prof, target):
    read, write = os.pipe()
    os.close(read)
    result = prof("record", "-q", "-o", "-", "-o", "out.folded", "--", target("shares"), "0.2", capture_output=False,
                  stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (result.returncode, result.stderr) == (1, "")
    assert Stacks.read(prof.folder / "out.folded").total > 0


@pytest.mark.parametrize("first, second", [("out.folded", "./out.folded"), ("out.folded", "link/out.folded"), ("-", "/dev/stdout")])
def test_the_same_output_twice_is_an_error_and_nothing_is_recorded(prof, first, second):
    (prof.folder / "link").symlink_to(prof.folder)
    result = prof("record", "-o", first, "-o", second, "--", "touch", "ran")
    assert result.returncode == 2
    assert f"-o {second} is given twice" in result.stderr
    assert os.listdir(prof.folder) == ["link"]


def test_numbered_outputs_are_different_ones(prof, target):
    result = prof("record", "-o", "out%n.folded", "-o", "out%n.folded", "--", target("shares"), "0.2")
    assert result.returncode == 0, result.stderr
    assert sorted(os.listdir(prof.folder)) == ["out1.folded", "out2.folded"]


def test_a_closed_stdout_is_no_trap(prof, target):
    """Without a stdout, the first file that is opened must not take its place and get the stacks twice."""
    script = f"exec {prof.binary} record -o out.folded -- {target('shares')} 0.2 >&-"
    result = subprocess.run(["sh", "-c", script], cwd=prof.folder, check=False, timeout=TIME_LIMIT_S)
    assert result.returncode == 0
    assert Stacks.read(prof.folder / "out.folded").share("main", "spend") > 0.5


def test_a_folder_that_is_not_there_is_found_out_before_the_command_runs(prof):
    result = prof("record", "-o", "nowhere/out.folded", "--", "touch", "ran")
    assert result.returncode == 1
    assert "nowhere" in result.stderr
    assert os.listdir(prof.folder) == []


def test_folded_lines_are_sorted_and_end_in_a_count(prof, target):
    prof("record", "-o", "out.folded", "--", target("geometry"), "0.3")
    lines = (prof.folder / "out.folded").read_bytes().splitlines()
    assert lines == sorted(lines) and len(set(lines)) == len(lines)
    assert all(line.rpartition(b" ")[2].isdigit() for line in lines)


def test_the_counts_of_the_recording_stand_in_the_comments(prof, target):
    comments = " ".join(prof.record("--", target("shares"), "0.3").pprof.comments())
    assert "shares" in comments and "samples" in comments


def test_a_stdout_that_was_closed_is_an_error_when_stacks_are_to_go_there(prof):
    script = f"exec {prof.binary} record -o - -- touch ran >&-"
    result = subprocess.run(["sh", "-c", script], cwd=prof.folder, check=False, timeout=TIME_LIMIT_S, capture_output=True)
    assert result.returncode == 1
    assert b"Bad file descriptor" in result.stderr
    assert os.listdir(prof.folder) == []


def test_another_name_of_stdout_is_stdout(prof, target):
    """A file there is written to, not replaced; and the command does not write between the stacks."""
    with open(prof.folder / "stacks", "w", encoding="utf-8") as file:
        result = prof("record", "-o", "/dev/stdout", "--", "sh", "-c", f"echo words; exec {target('shares')} 0.3",
                      capture_output=False, stdout=file, stderr=subprocess.PIPE)
    assert result.returncode == 0 and "words\n" in result.stderr
    assert Stacks.read(prof.folder / "stacks").share("main", "spend") > 0.5
    assert os.listdir(prof.folder) == ["stacks"]


def test_numbered_files_are_kept_side_by_side(prof):
    for _ in range(3):
        assert prof("record", "-o", "out.%n.folded", "--", "true").returncode == 0
    assert sorted(os.listdir(prof.folder)) == ["out.1.folded", "out.2.folded", "out.3.folded"]


@pytest.mark.parametrize("condition, status", [("truncated>1%", 0), ("unknown>0.5%", 1), ("unknown>100%", 0)])
def test_a_poor_recording_fails_where_that_is_wanted(prof, target, condition, status):
    """The functions of a stripped program have no names."""
    result = prof("record", "-q", "-o", "out.folded", "--fail-if", "lost>90%", "--fail-if", condition,
                  target("shares_stripped"), "0.3")
    assert result.returncode == status, result.stderr
    assert ("unknown" in result.stderr) == bool(status)
    assert Stacks.read(prof.folder / "out.folded").total > 100


def test_what_the_command_says_comes_before_the_quality(prof, target):
    result = prof("record", "-q", "-o", "out.folded", "--fail-if", "unknown>0.5%",
                  "sh", "-c", f"{target('shares_stripped')} 0.3; exit 7")
    assert result.returncode == 7 and "unknown" in result.stderr


def test_the_last_line_is_the_command_that_shows_the_rest(prof, target):
    said = prof("record", "-o", "out.pb.gz", "--", target("shares"), 0.3).stderr.splitlines()[-1]
    words = said.partition("; to look at it: ")[2].split()
    assert words == ["prof", "report", "out.pb.gz"]
    assert "spin" in prof(*words[1:]).stdout
