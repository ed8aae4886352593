"""Files named by programs and processes of another user: root's prof opens only files that this user could open."""

import base64
import ctypes
import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lacking import tool

SOMEBODY = 5_000_001 + 3 * os.getpid()  # an unused user id

PROGRAM = """
#line 1 "{source}"
__attribute__((noinline)) unsigned busy_part(unsigned n) {{ unsigned sum = 0; for (unsigned i = 0; i < n; i++) sum += i * n; return sum; }}
int main(void) {{ volatile unsigned sum = 0; for (;;) sum += busy_part(100000); }}
"""


@pytest.fixture
def theirs(root):
    """A folder of another user that all users may enter."""
    folder = Path(subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip())
    folder.chmod(0o755)
    os.chown(folder, SOMEBODY, SOMEBODY)
    yield folder
    subprocess.run(["rm", "-r", folder], check=True)


@pytest.fixture
def busy(theirs):
    """busy(source, user) runs that user's program, which names this source file."""
    processes = []

    def run(source, user=SOMEBODY, name="busy"):
        program = theirs / name
        subprocess.run([tool("gcc"), "-g", "-O0", "-x", "c", "-o", program, "-"], check=True, text=True,
                       input=PROGRAM.format(source=source))
        os.chown(program, user, user)
        processes.append(subprocess.Popen([program], user=user, group=user, extra_groups=[]))
        return processes[-1]

    yield run
    for process in processes:
        process.kill()
        process.wait()


def file_of(path, text, user, mode):
    path.write_text(text)
    os.chown(path, user, user)
    path.chmod(mode)
    return path


def record(prof, process):
    until_busy = [sys.executable, Path(__file__).parent / "until_busy.py", process.pid, "0.2"]
    prof.run("record", "--source", "-o", "page.html", "-o", "out.pb.gz", "-p", process.pid, "--", *until_busy)


def page_data(prof):
    """Returns the contents of the page, whose texts are not encoded."""
    data = re.search(r'id="data">([^<]*)<', (prof.folder / "page.html").read_text())[1]
    return gzip.decompress(base64.b64decode(data)).decode("utf-8", "replace")


def annotated(prof):
    result = prof("annotate", "busy_part", "out.pb.gz")
    assert "busy_part" in result.stdout, result.stderr
    return result.stdout


def test_what_a_user_can_read_is_shown_beside_his_samples(prof, theirs, busy):
    """Even if only that user can read it."""
    record(prof, busy(file_of(theirs / "own.c", "the first line\nthe second line\n", SOMEBODY, 0o600)))
    assert "the first line" in annotated(prof)
    assert "the first line" in page_data(prof)


def test_a_link_to_a_file_that_its_user_cannot_read_is_not_followed(prof, theirs, busy):
    """The program names the user's own file as its source, which is a symbolic link to root's."""
    secret = file_of(prof.folder / "secret", "a secret\n" * 9, 0, 0o600)
    (theirs / "innocent.c").symlink_to(secret)
    record(prof, busy(theirs / "innocent.c"))
    assert "a secret" not in annotated(prof)
    assert "a secret" not in page_data(prof)


def test_a_link_of_whoever_has_built_root_s_program_is_not_followed(prof, theirs, busy):
    """make; sudo make install: root's program names sources that the builder can replace."""
    secret = file_of(prof.folder / "secret", "a secret\n" * 9, 0, 0o600)
    (theirs / "built.c").symlink_to(secret)
    record(prof, busy(theirs / "built.c", user=0))
    assert "a secret" not in annotated(prof)
    assert "a secret" not in page_data(prof)
    (theirs / "built.c").unlink()
    file_of(theirs / "built.c", "the first line\n", SOMEBODY, 0o600)
    assert "the first line" in annotated(prof)


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_file_of_root_in_a_folder_that_only_root_may_enter_is_not_shown_to_others(prof, tmp_path, busy, mode):
    """Its mode alone would allow all users to read it."""
    (tmp_path / "private").mkdir(mode=0o700)
    record(prof, busy(file_of(tmp_path / "private" / "secret.c", "a secret\n" * 9, 0, mode)))
    assert "a secret" not in annotated(prof)
    assert "a secret" not in page_data(prof)


def test_a_profile_of_another_user_names_what_that_user_can_read(prof, theirs, busy):
    """The profile claims that root's program was recorded, which may name files that only root can read."""
    secret = file_of(prof.folder / "secret.c", "a secret\n" * 9, 0, 0o600)
    record(prof, busy(secret, user=0))
    assert "a secret" in annotated(prof)
    os.chown(prof.folder / "out.pb.gz", SOMEBODY, SOMEBODY)
    assert "a secret" not in annotated(prof)


def test_a_recording_of_another_user_names_programs_that_he_can_read(prof, tmp_path):
    program = tmp_path / "private" / "busy"
    program.parent.mkdir(mode=0o700)
    build = [tool("gcc"), "-g", "-O0", "-x", "c", "-o", program, "-"]
    source = PROGRAM.format(source="busy.c").replace("for (;;)", "for (int i = 0; i < 3000; i++)")
    subprocess.run(build, check=True, text=True, input=source)
    prof.run("record", "-o", "perf.data", "--", program)
    assert "busy_part" in prof("report", "perf.data").stdout
    os.chown(prof.folder / "perf.data", SOMEBODY, SOMEBODY)
    shown = prof("report", "perf.data").stdout
    assert "busy_part" not in shown and "busy+0x" in shown


def test_a_pipe_that_a_program_names_as_its_source_is_not_opened(prof, theirs, busy):
    """A writer that waits for a reader keeps waiting."""
    pipe = theirs / "pipe.c"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", 'echo text >"$0"', pipe]) as writer:
        record(prof, busy(pipe))
        annotated(prof)
        assert writer.poll() is None
        writer.kill()


def test_a_source_below_the_given_directory_is_shown_but_nothing_outside_of_it(prof, tmp_path, busy):
    (tmp_path / "checkout" / "src").mkdir(parents=True)
    file_of(tmp_path / "checkout" / "src" / "x.c", "the first line\n", 0, 0o600)
    file_of(tmp_path / "secret.c", "a secret\n" * 9, 0, 0o600)
    for source, text in ("/build/src/x.c", "the first line"), ("/../secret.c", "a secret"):
        record(prof, busy(source))
        shown = prof("annotate", "busy_part", "out.pb.gz", "--source-dir", tmp_path / "checkout").stdout
        assert (text in shown) == (text == "the first line")


@pytest.fixture
def silent(theirs):
    """A file system served by another user that does not answer, so each look-up in it blocks."""
    libc = ctypes.CDLL(None, use_errno=True)
    folder = theirs / "mount"
    folder.mkdir()
    try:
        device = os.open("/dev/fuse", os.O_RDWR)
    except OSError as error:
        pytest.skip(f"needs /dev/fuse: {error}")
    options = f"fd={device},rootmode=40000,user_id={SOMEBODY},group_id={SOMEBODY},allow_other"
    if libc.mount(b"silent", os.fsencode(folder), b"fuse", 0, options.encode()) != 0:
        os.close(device)
        pytest.skip("needs the right to mount")
    yield folder
    os.close(device)
    libc.umount2(os.fsencode(folder), 2)


def test_a_file_system_that_does_not_answer_costs_its_texts_only(prof, theirs, busy, silent):
    process = busy(silent / "x.c")
    record(prof, process)
    assert "busy_part" in annotated(prof)
