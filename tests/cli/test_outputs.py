"""Output files are written completely or not at all."""

import os
import shutil
import signal
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from time_limit import TIME_LIMIT_S
from profiles import Pprof, Stacks


def test_one_run_writes_several_outputs_of_the_same_samples(prof, target):
    recording = prof.record("--", target("shares"), "0.2")
    pprof = Pprof.read(prof.folder / "record.pb.gz")
    assert pprof.total() == recording.stacks.total
    pprof.check()
    by_stack = {}
    for sample in pprof.message.sample:
        frames = pprof.frames(sample)
        by_stack[frames] = by_stack.get(frames, 0) + sample.value[0]
    assert by_stack == {frames[1:]: count for frames, count in recording.stacks.counts.items()}


def test_two_events_with_the_same_name_are_separate_in_every_output(prof, target):
    outputs = ("x.firefox.json.gz", "y.perf.txt", "z.pb.gz", "s.speedscope.json", "p.html", "v.svg", "f.folded", "n.ndjson", "r.data")
    # Without copies of stacks, because a full ring would lose the second of two samples at the same time.
    prof.run("record", "-e", "cpu-clock", "-e", "cpu-clock", "--call-graph", "fp",
             *(argument for output in outputs for argument in ("-o", output)), target("shares"), "0.3")
    pprof = Pprof.read(prof.folder / "z.pb.gz")
    pprof.check()
    events = [index for index, (kind, _) in enumerate(pprof.sample_types()) if kind.startswith("cpu")]
    first, second = (sum(sample.value[index] for sample in pprof.message.sample) for index in events)
    assert min(first, second) > 0.9 * max(first, second) > 0
    assert "cpu-clock#2" in prof("report", "-i", "z.pb.gz", "--event", "cpu-clock#2").stdout
    again = prof("convert", "r.data", "-o", "again.pb.gz")
    assert again.returncode == 0, again.stderr
    assert Pprof.read(prof.folder / "again.pb.gz").sample_types() == pprof.sample_types()


def test_the_format_option_overrules_the_extension(prof, target):
    prof("record", "--format", "folded", "-o", "stacks.txt", "--", target("shares"), "0.1")
    assert Stacks.read(prof.folder / "stacks.txt").share("main", "spend") > 0.5


def test_files_are_readable_only_by_their_owner(prof):
    os.umask(0o022)
    prof("record", "-o", "out.folded", "--", "true")
    assert stat.S_IMODE((prof.folder / "out.folded").stat().st_mode) == 0o600


def test_an_existing_file_is_renamed_to_old_which_is_kept_if_there_is_none(prof):
    (prof.folder / "out.folded").write_text("before")
    prof("record", "-o", "out.folded", "--", "true")
    assert (prof.folder / "out.folded.old").read_text() == "before"
    assert (prof.folder / "out.folded").read_text() != "before"
    assert sorted(os.listdir(prof.folder)) == ["out.folded", "out.folded.old"]
    (prof.folder / "out.folded").unlink()
    prof("record", "-o", "out.folded", "--", "true")
    assert (prof.folder / "out.folded.old").read_text() == "before"


def test_an_output_that_is_not_a_regular_file_gets_folded_stacks_by_default(prof):
    assert prof("record", "-o", "/dev/null", "--", "true").returncode == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_fifo_is_written_and_stays_a_fifo(prof, started, target):
    fifo = prof.folder / "stacks"
    os.mkfifo(fifo)
    reader = started(subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE, text=True))
    assert prof("record", "-o", fifo, "--", target("shares"), "0.1").returncode == 0
    output, _ = reader.communicate(timeout=TIME_LIMIT_S)
    assert Stacks(output).share("main", "spend") > 0.5
    assert stat.S_ISFIFO(fifo.stat().st_mode)


@pytest.mark.parametrize("there", [True, False])
def test_an_output_is_written_through_a_symbolic_link(prof, target, there):
    (prof.folder / "data").mkdir()
    (prof.folder / "links").mkdir()
    file, link = prof.folder / "data" / "out.folded", prof.folder / "links" / "latest.folded"
    (prof.folder / "links" / "first").symlink_to("../data/out.folded")
    link.symlink_to("first")
    if there:
        file.write_text("old 1\n", encoding="ascii")
    prof.run("record", "-o", link, target("shares"), "0.2")
    assert link.is_symlink() and Stacks.read(link).total > 50
    assert not file.is_symlink() and file.stat().st_mode & 0o777 == 0o600
    assert sorted(os.listdir(prof.folder / "data")) == ["out.folded"] + ["out.folded.old"] * there
    assert sorted(os.listdir(prof.folder / "links")) == ["first", "latest.folded"]
    if there:
        assert (prof.folder / "data" / "out.folded.old").read_text(encoding="ascii") == "old 1\n"


@pytest.mark.parametrize("leads_to", ["missing/out.folded", "link.folded"])
def test_a_dangling_link_is_reported_before_the_command_runs(prof, leads_to):
    (prof.folder / "link.folded").symlink_to(leads_to)
    result = prof("record", "-o", "link.folded", "touch", "ran")
    assert result.returncode == 1 and "link.folded" in result.stderr
    assert os.listdir(prof.folder) == ["link.folded"]


def test_a_link_to_stdout_or_a_device_is_written_into(prof, target):
    for name, leads_to in ("out", "/dev/stdout"), ("null", "/dev/null"):
        (prof.folder / name).symlink_to(leads_to)
    result = prof.run("record", "-o", "out", "-o", "null", target("shares"), "0.2")
    assert Stacks(result.stdout).total > 50
    assert sorted(os.listdir(prof.folder)) == ["null", "out"]


def test_links_of_other_users_are_not_followed(prof, root, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("kept", encoding="ascii")
    for leads_to in secret, "/dev/null":
        link = tmp_path / f"{Path(leads_to).name}.folded"
        link.symlink_to(leads_to)
        os.chown(link, 65534, 65534, follow_symlinks=False)
        result = prof("record", "-o", link, "true")
        assert result.returncode == 1 and "link of another user" in result.stderr
        assert link.is_symlink()
    assert secret.read_text(encoding="ascii") == "kept"


OTHER, ANOTHER = 54321, 54322  # users


@pytest.fixture
def shared(root, tmp_path):
    """A directory like /tmp."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def test_a_link_of_another_user_in_the_middle_of_a_path_is_not_followed(prof, shared, tmp_path):
    (tmp_path / "private").mkdir()
    (shared / "folder").symlink_to(tmp_path / "private")
    os.chown(shared / "folder", OTHER, OTHER, follow_symlinks=False)
    result = prof("record", "-o", shared / "folder" / "out.folded", "touch", "ran")
    assert result.returncode == 1 and "link of another user" in result.stderr
    assert not (prof.folder / "ran").exists() and not os.listdir(tmp_path / "private")


@pytest.mark.parametrize("kind", ["FIFO", "device"])
def test_a_fifo_or_device_of_another_user_is_not_written_into(prof, shared, kind):
    place = shared / "all.html"
    os.mknod(place, 0o600 | (stat.S_IFIFO if kind == "FIFO" else stat.S_IFCHR), os.makedev(1, 3))
    os.chown(place, OTHER, OTHER)
    result = prof("record", "-o", place, "touch", "ran")
    assert result.returncode == 1 and f"is a {kind} of another user" in result.stderr
    assert "remove it, or use another file" in result.stderr
    assert not (prof.folder / "ran").exists()


@pytest.mark.parametrize("owner, mode", [(OTHER, 0o755), (0, 0o777), (0, 0o775)])
def test_a_device_that_another_user_could_have_put_there_is_not_written_into(prof, shared, owner, mode):
    place = shared / "out.folded"
    os.mknod(place, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    os.chown(shared, owner, OTHER)
    shared.chmod(mode)
    result = prof("record", "-o", place, "true")
    assert result.returncode == 1 and "another user could have created" in result.stderr


def test_strangers_are_not_trusted_in_a_user_namespace_that_does_not_know_root(prof, root):
    """In it, everything of these users and root's / belongs to nobody."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o1777)
        shutil.copy(prof.binary, folder / "prof")
        os.mkfifo(folder / "out.folded")
        (folder / "out.folded").chmod(0o666)
        os.chown(folder / "out.folded", OTHER, OTHER)
        result = subprocess.run(["unshare", "--user", "--map-root-user", folder / "prof", "record", "-o",
                                 folder / "out.folded", "true"], user=ANOTHER, group=ANOTHER, extra_groups=[], text=True,
                                cwd="/", capture_output=True, timeout=TIME_LIMIT_S, check=False)
    assert result.returncode == 1 and "is a FIFO of another user" in result.stderr


def test_own_links_and_fifos_in_a_shared_directory_are_used(prof, shared, started):
    (shared / "latest.folded").symlink_to(prof.folder / "out.folded")
    os.mkfifo(shared / "fifo")
    reader = started(subprocess.Popen(["cat", shared / "fifo"], stdout=subprocess.DEVNULL))
    prof.run("record", "-o", shared / "latest.folded", "-o", shared / "fifo", "true")
    assert reader.wait(TIME_LIMIT_S) == 0 and (prof.folder / "out.folded").exists()


def test_under_sudo_the_links_and_fifos_of_the_caller_are_used(prof, shared, started):
    caller = {**os.environ, "SUDO_UID": str(OTHER), "SUDO_GID": str(OTHER)}
    os.mkfifo(shared / "fifo")
    os.chown(shared / "fifo", OTHER, OTHER)
    reader = started(subprocess.Popen(["cat", shared / "fifo"], stdout=subprocess.DEVNULL))
    prof.run("record", "-o", shared / "fifo", "-o", shared / "out.folded", "true", env=caller)
    assert reader.wait(TIME_LIMIT_S) == 0 and (shared / "out.folded").stat().st_uid == OTHER


def test_an_old_file_that_cannot_be_kept_does_not_cost_the_profile(prof, target):
    (prof.folder / "x.folded.old").mkdir()
    (prof.folder / "x.folded.old" / "a").touch()
    (prof.folder / "x.folded").write_text("before", encoding="ascii")
    result = prof.run("record", "-o", "x.folded", target("shares"), "0.2")
    assert "the previous x.folded is not kept" in result.stderr
    assert Stacks.read(prof.folder / "x.folded").total > 50
    assert sorted(os.listdir(prof.folder)) == ["x.folded", "x.folded.old"]


@pytest.mark.parametrize("name", ["x.folded", "x.data"])
def test_if_the_directory_has_gone_the_profile_is_written_elsewhere(prof, target, name):
    (prof.folder / "gone").mkdir()
    # rmdir(1) alone could end before a sample is taken.
    result = prof("record", "-o", f"gone/{name}", "sh", "-c", f"rmdir gone; exec {target('shares')} 0.2")
    assert result.returncode == 1 and "No such file or directory" in result.stderr
    rescued, = os.listdir(prof.folder)
    assert rescued.endswith(f"-{name}") and f" in ./{rescued} instead" in result.stderr
    assert prof("convert" if name == "x.data" else "report", rescued).returncode == 0
    assert stat.S_IMODE((prof.folder / rescued).stat().st_mode) == 0o600


@pytest.fixture
def of_root(ordinary):
    """A directory of root in the one of the ordinary user."""
    folder = ordinary.folder / "of_root"
    folder.mkdir()
    folder.chmod(0o755)
    return folder


def test_a_directory_that_cannot_be_written_to_is_an_error_that_says_what_to_do(ordinary, of_root):
    result = ordinary("record", "-o", "of_root/out.folded", "touch", "ran")
    assert result.returncode == 1
    assert result.stderr == ("prof: create of_root/out.folded: Permission denied\n"
                             "  give -o a file in a directory that you can write to\n")
    result = ordinary("record", "-o", "a/b/out.folded", "touch", "ran")
    assert result.returncode == 1
    assert result.stderr == ("prof: open a/b/out.folded: No such file or directory\n"
                             "  create its directory first: mkdir -p a/b\n")
    assert sorted(os.listdir(ordinary.folder)) == ["of_root", "prof"]


def test_the_file_of_another_user_in_a_shared_directory_is_kept(ordinary, of_root):
    of_root.chmod(0o1777)
    (of_root / "out.folded").write_text("before", encoding="ascii")
    result = ordinary("record", "-o", "of_root/out.folded", "true")
    assert result.returncode == 1
    assert "prof: write of_root/out.folded: Operation not permitted\n  give -o a file in a directory" in result.stderr
    assert os.listdir(of_root) == ["out.folded"]
    assert (of_root / "out.folded").read_text(encoding="ascii") == "before"
    rescued, = set(os.listdir(ordinary.folder)) - {"of_root", "prof"}
    assert f" in ./{rescued} instead" in result.stderr


def test_a_limit_of_file_sizes_is_an_error_and_leaves_no_file(prof, target):
    """The command gets the default action of SIGXFSZ."""
    write = "head -c 100000 /dev/zero > large"
    script = f"ulimit -f 1; exec {prof.binary} record -o n.html bash -c '{target('shares')} 0.2; {write}; echo $?'"
    result = subprocess.run(["bash", "-c", script], cwd=prof.folder, check=False, timeout=TIME_LIMIT_S,
                            capture_output=True, text=True)
    assert result.returncode == 1 and "File too large" in result.stderr, result.stderr
    assert result.stdout.split()[-1] == str(128 + signal.SIGXFSZ)
    assert os.listdir(prof.folder) == ["large"]


def test_a_full_device_is_an_error_and_is_not_replaced(prof, target):
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = prof("record", "--format", "folded", "-o", "-", "--", target("shares"), "0.1",
                      capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert result.returncode == 1
    assert "No space left on device" in result.stderr
    assert prof("record", "--format", "folded", "-o", "/dev/full", "--", target("shares"), "0.1").returncode == 1
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


def test_a_full_disk_leaves_the_old_file_as_it_was_and_does_not_affect_the_other_outputs(prof, full_disk, target):
    (full_disk / "out.pb.gz").write_text("before")
    fill(full_disk)
    result = prof("record", "-o", full_disk / "out.pb.gz", "-o", "out.folded", "--", target("shares"), "0.1")
    assert result.returncode == 1
    assert "No space left on device\n  free disk space, or give -o a file on another disk\n" in result.stderr
    assert (full_disk / "out.pb.gz").read_text() == "before"
    assert sorted(os.listdir(full_disk)) == ["filling", "out.pb.gz"]
    assert Stacks.read(prof.folder / "out.folded").total > 0


def test_a_pipe_closed_early_sets_the_status_and_prints_nothing(prof, target):
    read, write = os.pipe()
    os.close(read)
    result = prof("record", "-q", "-o", "-", "-o", "out.folded", "--", target("shares"), "0.2", capture_output=False,
                  stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (result.returncode, result.stderr) == (1, "")
    assert Stacks.read(prof.folder / "out.folded").total > 0


def test_the_same_output_twice_is_an_error_and_nothing_is_recorded(prof):
    (prof.folder / "link").symlink_to(prof.folder)
    for first, second in ("out.folded", "./out.folded"), ("out.folded", "link/out.folded"), ("-", "/dev/stdout"):
        result = prof("record", "-o", first, "-o", second, "--", "touch", "ran")
        assert result.returncode == 2
        assert f"-o {second} was given twice" in result.stderr
        assert os.listdir(prof.folder) == ["link"]


def test_numbered_outputs_are_different_ones_and_kept_side_by_side(prof):
    for outputs in ["out%n.folded", "out%n.folded"], ["out%n.folded"]:
        prof.run("record", *(word for name in outputs for word in ("-o", name)), "--", "true")
    assert sorted(os.listdir(prof.folder)) == ["out1.folded", "out2.folded", "out3.folded"]


def test_a_closed_stdout_is_not_reused_for_another_file(prof, target):
    """Without a stdout, the first file that is opened must not get its number and the stacks a second time."""
    script = f"exec {prof.binary} record -o out.folded -- {target('shares')} 0.2 >&-"
    result = subprocess.run(["sh", "-c", script], cwd=prof.folder, check=False, timeout=TIME_LIMIT_S)
    assert result.returncode == 0
    assert Stacks.read(prof.folder / "out.folded").share("main", "spend") > 0.5


def test_a_missing_directory_is_reported_before_the_command_runs(prof):
    result = prof("record", "-o", "nowhere/out.folded", "--", "touch", "ran")
    assert result.returncode == 1
    assert "nowhere" in result.stderr
    assert os.listdir(prof.folder) == []


def test_a_closed_stdout_is_an_error_if_it_is_an_output(prof):
    script = f"exec {prof.binary} record -o - -- touch ran >&-"
    result = subprocess.run(["sh", "-c", script], cwd=prof.folder, check=False, timeout=TIME_LIMIT_S, capture_output=True)
    assert result.returncode == 1
    assert b"Bad file descriptor" in result.stderr
    assert os.listdir(prof.folder) == []


def test_another_name_of_stdout_is_stdout(prof, target):
    """An existing file is written to, not replaced, and the command must not write between the stacks."""
    with open(prof.folder / "stacks", "w", encoding="utf-8") as file:
        result = prof("record", "-o", "/dev/stdout", "--", "sh", "-c", f"echo words; exec {target('shares')} 0.3",
                      capture_output=False, stdout=file, stderr=subprocess.PIPE)
    assert result.returncode == 0 and "words\n" in result.stderr
    assert Stacks.read(prof.folder / "stacks").share("main", "spend") > 0.5
    assert os.listdir(prof.folder) == ["stacks"]


def test_a_recording_of_poor_quality_fails_on_request_after_the_output_of_the_command(prof, target):
    """The functions of a stripped program are unsymbolized."""
    for condition, status in ("truncated>1%", 0), ("unknown>0.5%", 1), ("unknown>100%", 0):
        result = prof("record", "-q", "-o", "out.folded", "--fail-if", "lost>90%", "--fail-if", condition,
                      target("shares_stripped"), "0.2")
        assert result.returncode == status, result.stderr
        assert ("unknown" in result.stderr) == bool(status)
        assert Stacks.read(prof.folder / "out.folded").total > 50
    result = prof("record", "-q", "-o", "out.folded", "--fail-if", "unknown>0.5%",
                  "sh", "-c", f"{target('shares_stripped')} 0.2; exit 7")
    assert result.returncode == 7 and "unknown" in result.stderr


def test_the_last_line_is_the_command_that_shows_the_profile(prof, target):
    said = prof("record", "-o", "out.pb.gz", "--", target("shares"), 0.3).stderr.splitlines()[-1]
    words = said.partition("; view it with: ")[2].split()
    assert words == ["prof", "report", "out.pb.gz"]
    assert "spin" in prof(*words[1:]).stdout
