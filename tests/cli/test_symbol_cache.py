"""The cache of symbols: it never changes an output, it is bounded, and only its user can write to it."""

import os
import random
import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from conftest import NOBODY
from lacking import tool
from perf_data import CONTEXT_USER, MISC_USER, comm, file, mmap, sample

START, DISTANCE = 0x555555554000, 0x100000000
MAGIC = b"profsym1"
OUTPUTS = ("out.folded", "out.pb.gz", "out.html")


def code_of(program):
    """The addresses of every other byte of its functions, exported or not."""
    listings = [subprocess.run(["nm", "--print-size", "--defined-only", *options, program], check=True, capture_output=True, text=True).stdout
                for options in ([], ["-D"])]
    ranges = {tuple(int(field, 16) for field in fields[:2])
              for fields in map(str.split, "".join(listings).splitlines()) if len(fields) == 4 and fields[2] in "tTwWi"}
    return sorted({address for start, size in ranges for address in range(start, start + size, 2)})


def code_segment(program):
    """Its offset, address and size."""
    listing = subprocess.run(["readelf", "-lW", program], check=True, capture_output=True, text=True).stdout
    return (int(number, 16) for number in re.search(r"LOAD +(\w+) (\w+) \w+ (\w+) \w+ R E", listing).groups())


def write_recording(path, programs, seed=1, count=150):
    """A perf.data with stacks of random addresses in these programs."""
    chance = random.Random(seed)
    records, known = [comm(100, 1, "test", exec=True)], []
    for number, program in enumerate(programs):
        start = START + number * DISTANCE
        offset, vaddr, size = code_segment(program)
        records.append(mmap(2 + number, start + vaddr, size, str(program), offset=offset))
        code = code_of(program)
        known += [start + address for address in chance.sample(code, min(count, len(code)))]
    for number in range(count):
        stack = chance.sample(known, 3)
        records.append(sample(100, 100 + number, [CONTEXT_USER, *stack], misc=MISC_USER, ip=stack[0]))
    path.write_bytes(file(records))


class Cached:
    """prof with a cache of its own."""

    def __init__(self, prof, folder):
        self.prof = prof
        self.caches = folder / "caches"
        self.caches.mkdir(mode=0o700)
        self.folder = self.caches / "prof"

    def convert(self, *options, caches=None, outputs=OUTPUTS[:1], recording="in.data", **environment):
        """The bytes of the outputs."""
        variables = {**os.environ, "XDG_CACHE_HOME": str(caches or self.caches), **environment}
        results = []
        for name in outputs:
            path = self.prof.folder / name
            path.unlink(missing_ok=True)
            result = self.prof.run("convert", "-q", recording, "-o", name, *options, env=variables)
            assert result.stderr == ""
            results.append(path.read_bytes())
        return results

    def without(self, *options, **more):
        return self.convert(*options, caches="/dev/null", **more)

    def entries(self):
        return sorted(self.folder.glob("*.names"))

    def inodes(self):
        return [path.stat().st_ino for path in self.entries()]

    def forge(self, name=b"main", other=b"MAIN"):
        """Changes a name in all entries, so that outputs show what comes from the cache."""
        for path in self.entries():
            body = path.read_bytes()[len(MAGIC) + 4:].replace(name, other)
            path.write_bytes(MAGIC + struct.pack("<I", zlib.crc32(body)) + body)


@pytest.fixture
def cached(prof, tmp_path):
    return Cached(prof, tmp_path)


@pytest.fixture
def program(prof):
    """A small program with inlined functions, built by build()."""
    source = prof.folder / "small.c"
    path = prof.folder / "small"

    def build(more=""):
        source.write_text(f"""{more}
            static inline __attribute__((always_inline)) int inner(volatile int *x) {{ return *x * 3; }}
            static __attribute__((noinline)) int outer(volatile int *x) {{ return inner(x) + inner(x + 1); }}
            int main(void) {{ volatile int x[2] = {{1, 2}}; return outer(x); }}""", encoding="ascii")
        subprocess.run(["gcc", "-O2", "-g", "-o", path, source], check=True)
        write_recording(prof.folder / "in.data", [path])
        return path

    build()
    return build


def libc(program):
    listing = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return next(Path(line.split()[2]).resolve() for line in listing.splitlines() if "libc.so" in line)


@pytest.mark.parametrize("name", ["shares", "unusual_cxx", "geometry", "exceptions", "unusual", "coroutines"])
def test_outputs_are_the_same_without_cold_and_warm(name, cached, target):
    programs = [target(name), libc(target(name))]
    for seed in range(3):
        write_recording(cached.prof.folder / "in.data", programs, seed)
        expected = cached.without(outputs=OUTPUTS)
        assert cached.convert(outputs=OUTPUTS) == expected  # the first output adds to the entries of the last seed
        inodes = cached.inodes()
        assert len(inodes) >= 1
        assert cached.convert(outputs=OUTPUTS) == expected
        assert cached.inodes() == inodes, "warm entries are written again"


def test_names_come_from_the_cache(cached, program):
    cached.convert()
    cached.forge()
    assert b"MAIN" in cached.convert()[0]
    assert b"MAIN" not in cached.without()[0]


def test_a_damaged_entry_is_ignored_and_written_again(cached, program):
    expected = cached.convert()
    (path,) = cached.entries()
    cached.forge()
    forged = path.read_bytes()
    step = max(1, len(forged) // 40)
    damaged = [forged[:at] + bytes([forged[at] ^ 0x10]) + forged[at + 1:] for at in range(0, len(forged), step)]
    damaged += [forged[:at] for at in range(0, len(forged), 4 * step)] + [forged + b"\0"]
    for content in damaged:
        path.write_bytes(content)
        assert cached.convert() == expected
    assert cached.convert() == expected
    cached.forge()
    assert path.read_bytes() == forged


def test_only_regular_files_of_the_user_that_others_cannot_write_are_read(cached, program):
    expected = cached.convert()
    (path,) = cached.entries()
    cached.forge()
    forged = path.read_bytes()
    elsewhere = cached.prof.folder / "elsewhere"
    elsewhere.write_bytes(forged)

    path.chmod(0o666)
    assert cached.convert() == expected
    path.unlink()
    path.symlink_to(elsewhere)
    assert cached.convert() == expected
    assert elsewhere.read_bytes() == forged
    path.unlink()
    os.mkfifo(path)
    assert cached.convert() == expected
    path.unlink()
    path.mkdir()
    assert cached.convert() == expected


def test_another_build_of_prof_has_entries_of_its_own(cached, program):
    expected = cached.convert()
    cached.forge()
    notes = subprocess.run(["readelf", "-n", cached.prof.binary], check=True, capture_output=True, text=True).stdout
    build_id = bytes.fromhex(notes.split("Build ID:")[1].split()[0])
    code = Path(cached.prof.binary).read_bytes()
    assert code.count(build_id) == 1
    cached.prof.binary = cached.prof.folder / "other-prof"
    cached.prof.binary.write_bytes(code.replace(build_id, build_id[::-1]))
    cached.prof.binary.chmod(0o755)
    assert cached.convert() == expected
    assert len(cached.entries()) == 2


def test_another_program_at_the_same_path_has_its_own_names(cached, program):
    cached.convert()
    cached.forge()
    program("int first(void) { return 1; }")
    assert cached.convert() == cached.without()


def test_a_stripped_program_with_the_same_build_id_has_its_own_names(cached, program):
    path = program()
    cached.convert()
    cached.forge()
    subprocess.run([tool("strip"), path], check=True)
    assert cached.convert() == cached.without()


def test_debug_files_that_come_change_and_go_are_noticed(cached, program):
    path = program()
    folder = cached.prof.folder / "debug"
    build_id = subprocess.run(["file", path], check=True, capture_output=True, text=True).stdout.split("BuildID[sha1]=")[1][:40]
    debug = folder / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
    debug.parent.mkdir(parents=True)
    kept = cached.prof.folder / "kept"
    subprocess.run(["objcopy", "--only-keep-debug", path, kept], check=True)
    subprocess.run(["strip", path], check=True)
    options = "--debug-dir", folder

    stripped = cached.convert(*options)
    assert cached.convert(*options) == stripped == cached.without(*options)
    shutil.copy(kept, debug)
    named = cached.convert(*options)
    assert b"outer" in named[0] and b"outer" not in stripped[0]
    cached.forge()
    assert b"MAIN" in cached.convert(*options)[0]
    debug.touch()
    assert cached.convert(*options) == named == cached.without(*options)
    debug.unlink()
    assert cached.convert(*options) == stripped


def test_options_have_entries_of_their_own(cached, program):
    for _ in range(2):
        for options in ([], ["--no-inline"]):
            assert cached.convert(*options, outputs=OUTPUTS[:2]) == cached.without(*options, outputs=OUTPUTS[:2])
    assert len(cached.entries()) == 2


def test_several_profs_write_whole_entries(cached, target, tmp_path):
    programs = [target("shares"), libc(target("shares"))]
    for number in range(8):
        write_recording(cached.prof.folder / f"{number}.data", programs, number)
    environment = {**os.environ, "XDG_CACHE_HOME": str(cached.caches)}
    for _ in range(3):
        running = [cached.prof.start("convert", "-q", f"{number}.data", "-o", f"{number}.folded", env=environment)
                   for number in range(8)]
        assert [process.communicate()[1] for process in running] == [""] * 8
        for number in range(8):
            expected = cached.without(recording=f"{number}.data")[0]
            assert (cached.prof.folder / f"{number}.folded").read_bytes() == expected
    for path in cached.folder.iterdir():
        content = path.read_bytes()
        assert content[:8] == MAGIC and struct.unpack("<I", content[8:12])[0] == zlib.crc32(content[12:])
        assert path.stat().st_mode & 0o777 == 0o600


def test_the_oldest_entries_are_removed_and_other_files_stay(cached, program):
    cached.folder.mkdir(mode=0o700)
    large, other = cached.folder / "large.names", cached.folder / "other"
    for path in large, other:
        with path.open("wb") as out:
            out.truncate(64 << 20)
        os.utime(path, (1, 1))
    for number in range(3000):
        (cached.folder / f"{number}.names").touch()
        os.utime(cached.folder / f"{number}.names", (2 + number, 2 + number))
    cached.convert()
    left = {path.name for path in cached.folder.iterdir()}
    assert len(left) == 2048 + 1 and other.name in left and large.name not in left
    assert "2999.names" in left and "0.names" not in left


def unusable(cached):
    """Places for a cache that prof must not use, each with the environment that leads there."""
    folder = cached.prof.folder
    shared, linked, occupied = (folder / name for name in ("shared", "linked", "occupied"))
    for path in shared, linked, occupied, folder / "target":
        path.mkdir(mode=0o700)
    shared.chmod(0o777)
    (linked / "prof").symlink_to(folder / "target")
    (occupied / "prof").write_bytes(b"")
    yield from ({"XDG_CACHE_HOME": str(path)} for path in (shared, linked, occupied, folder / "missing"))
    yield {"XDG_CACHE_HOME": "", "HOME": str(folder / "missing")}
    yield {"XDG_CACHE_HOME": "", "HOME": ""}
    if os.geteuid() == 0:
        foreign = folder / "foreign"
        foreign.mkdir(mode=0o700)
        os.chown(foreign, NOBODY, NOBODY)
        yield {"XDG_CACHE_HOME": str(foreign)}
        yield {"XDG_CACHE_HOME": "", "HOME": str(foreign)}
        yield {"XDG_CACHE_HOME": str(cached.caches), "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)}


def test_a_place_that_is_not_the_user_s_own_is_not_used_and_costs_nothing(cached, program):
    expected = cached.without()
    for environment in unusable(cached):
        assert cached.convert(**environment) == expected
    assert not list(cached.prof.folder.rglob("*.names"))


def test_without_a_directory_for_caches_it_is_in_the_home(cached, program, tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    expected = cached.convert(XDG_CACHE_HOME="", HOME=str(home))
    assert expected == cached.without()
    assert len(list((home / ".cache" / "prof").glob("*.names"))) == 1
    assert (home / ".cache" / "prof").stat().st_mode & 0o777 == 0o700


def test_a_user_with_a_directory_that_he_cannot_write_gets_no_message(ordinary, program):
    shutil.copy(program(), ordinary.folder / "small")
    write_recording(ordinary.folder / "in.data", [ordinary.folder / "small"])
    os.chown(ordinary.folder / "in.data", NOBODY, NOBODY)
    caches = ordinary.folder / "caches"
    caches.mkdir()
    os.chown(caches, NOBODY, NOBODY)
    caches.chmod(0o500)
    result = ordinary.run("convert", "-q", "in.data", "-o", "-", env={**os.environ, "XDG_CACHE_HOME": str(caches)})
    assert "main" in result.stdout and result.stderr == ""
    assert not list(caches.iterdir())
    caches.chmod(0o700)
    assert ordinary.run("convert", "-q", "in.data", "-o", "-", env={**os.environ, "XDG_CACHE_HOME": str(caches)}).stdout == result.stdout
    assert len(list((caches / "prof").iterdir())) == 1


def test_files_that_another_user_can_write_are_not_in_the_cache(root, cached, program):
    os.chown(program(), NOBODY, NOBODY)
    assert cached.convert() == cached.without()
    assert not cached.entries()
