"""Directories that prof writes to, and changes that other users make at the same time."""

import ctypes
import os
import signal
import struct
import threading
import time

import pytest

from segment_directory import segments, wait_for
from time_limit import TIME_LIMIT_S
from written_segments import name_at, write_merged_segment, write_own_segment

OTHER = 54321  # a user
EXCHANGES = 500
AT_FDCWD, RENAME_EXCHANGE = -100, 2
IN_ACCESS, IN_MODIFY, IN_OPEN, IN_CREATE, IN_DELETE, IN_MOVE = 0x1, 0x2, 0x20, 0x100, 0x200, 0xc0
LIBC = ctypes.CDLL(None, use_errno=True)


def give_away(path):
    os.chown(path, OTHER, OTHER, follow_symlinks=False)
    return path


@pytest.fixture
def archive(root, tmp_path):
    """Root's own files: an old segment, a segment that a merged one contains, and a file left by a killed prof. They
    must not be touched."""
    folder = tmp_path / "private" / "archive"
    folder.mkdir(parents=True, mode=0o700)
    write_merged_segment(folder, [1_577_840_400, 1_577_844_000], {"f": 2})
    write_own_segment(folder, 1_577_844_000, 1, {"f": 1}, [])
    (folder / ".prof.0123456789abcdef").write_text("kept", encoding="ascii")
    (folder / ".pushed").write_text("kept", encoding="ascii")
    before = contents(folder)
    watch = LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    assert LIBC.inotify_add_watch(watch, os.fsencode(folder), IN_ACCESS | IN_MODIFY | IN_OPEN | IN_CREATE | IN_DELETE | IN_MOVE) > 0
    yield folder
    touched = list(events(watch))
    os.close(watch)
    assert not touched, "files outside the directory were read, written or removed"
    assert contents(folder) == before


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def events(watch):
    """Returns (mask, name) for each event."""
    try:
        data = os.read(watch, 1 << 20)
    except BlockingIOError:
        return
    while data:
        _, mask, _, length = struct.unpack_from("iIII", data)
        yield hex(mask), data[16:16 + length].rstrip(b"\0")
        data = data[16 + length:]


@pytest.fixture
def theirs(root, tmp_path):
    """A directory of another user."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    return give_away(folder)


@pytest.mark.parametrize("output, arguments", [("profiles", ["--every", "1s", "--keep", "1h"]),
                                               ("profiles/x.pb.gz", ["--switch-output=1s"])])
def test_a_link_of_another_user_leads_to_no_other_directory(prof, archive, theirs, output, arguments):
    (theirs / "profiles").symlink_to(archive)
    give_away(theirs / "profiles")
    result = prof("record", *arguments, "-o", theirs / output, "--", "touch", "ran")
    assert result.returncode == 1 and "is a symbolic link of another user\n  remove it" in result.stderr
    assert not (prof.folder / "ran").exists()


def test_own_links_lead_to_the_directory(prof, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "profiles").symlink_to("data")
    prof.run("record", "--every", "1m", "-o", "profiles/", "--", "true")
    assert len(segments(tmp_path / "data")) == 1


def test_segments_of_others_are_neither_read_nor_removed_nor_counted(prof, theirs, tmp_path):
    """Neither hard links, which could be to any file, nor anything that is not a regular file."""
    private = tmp_path / "private.pb.gz"
    private.write_bytes(bytes(1000))
    old = time.time() - 7200
    foreign, hard, fifo, own = (theirs / name_at(old + second) for second in range(4))
    for path in foreign, own:
        path.write_bytes(bytes(1000))
    give_away(foreign)
    os.link(private, hard)
    os.mkfifo(fifo)
    hidden = theirs / ".prof.0123456789abcdef"
    hidden.touch()
    give_away(hidden)
    result = prof.run("record", "--every", "1m", "--keep", "1h", "-o", theirs, "--", "true")
    assert foreign.exists() and hard.exists() and fifo.exists() and hidden.exists() and not own.exists()
    assert result.stderr.count(f"{theirs}: segments of other users are ignored: 2\n") == 1


class Exchanger(threading.Thread):
    """Exchanges two names repeatedly."""

    def __init__(self, one, other):
        super().__init__()
        self.names, self.count, self.is_over = (os.fsencode(one), os.fsencode(other)), 0, False

    def run(self):
        while not self.is_over:
            assert LIBC.renameat2(AT_FDCWD, self.names[0], AT_FDCWD, self.names[1], RENAME_EXCHANGE) == 0
            self.count += 1
            time.sleep(0.001)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.join()


@pytest.fixture
def exchanged(archive, theirs):
    """A directory, and a link to another one that can replace it."""
    ring, lure = theirs / "profiles", theirs / "lure"
    ring.mkdir()
    lure.symlink_to(archive)
    return give_away(ring), give_away(lure)


@pytest.mark.parametrize("name, arguments", [("", ["--every", "1s", "--keep", "2s"]),
                                             ("x.pb.gz", ["--switch-output=1s", "--switch-max-files=2"])])
def test_a_directory_that_is_exchanged_all_the_time_leads_to_no_other(exchanged, phases, controlled, channel, name, arguments):
    target = phases()
    process = controlled(target.pid, "-o", exchanged[0] / name, *arguments, delay=())
    channel("snapshot /dev/null")
    with Exchanger(*exchanged) as exchanger:
        wait_for(process, lambda: exchanger.count > EXCHANGES)
        target("left 2.5")
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=TIME_LIMIT_S)[1]
    ring, = (path for path in exchanged if not path.is_symlink())
    assert process.returncode == 0 or name and "is a symbolic link of another user" in errors
    assert name or segments(ring), "it stays in the directory that it has opened"


def test_a_directory_that_is_exchanged_while_it_is_opened_leads_to_no_other(prof, exchanged):
    with Exchanger(*exchanged) as exchanger:
        statuses = []
        while len(statuses) < 10 or exchanger.count < EXCHANGES:
            statuses.append(prof("record", "-q", "--every", "1m", "-o", exchanged[0], "--", "true").returncode)
    assert set(statuses) <= {0, 1}, "it is opened, or refused"
