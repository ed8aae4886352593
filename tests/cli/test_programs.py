"""Real programs in Rust, C, C++ and Go."""

import lzma
import re
import subprocess

import pytest

from profiles import Stacks, assert_rooted, assert_share

CXX = """
#include <map>
#include <regex>
#include <string>
#include <tuple>
#include <variant>
template <int N> struct tower { std::map<std::tuple<tower<N - 1>, int>, std::variant<int, tower<N - 1>>> m; };
template <> struct tower<0> { int i; };
bool operator<(const tower<0> &, const tower<0> &) { return false; }
template <int N> bool operator<(const tower<N> &, const tower<N> &) { return false; }
int main() { tower<60> t; std::regex r("a*b"); return std::regex_match(std::string("aab"), r) + t.m.size(); }
"""


def assert_sound(recording, least):
    stacks = recording.stacks
    assert stacks.total > 300, stacks.hottest()
    assert_rooted(stacks, least)
    assert not stacks.unknown()
    recording.pprof.check()


def test_ripgrep_a_rust_program_with_debug_info(prof, client, tmp_path):
    text = tmp_path / "text"
    text.write_text("".join(f"line {i} of the text, {i * 7919 % 1013} {i * 104729 % 7}\n" for i in range(400_000)))
    pattern = r"(\w+) (\w+) of .*, \d*[13579]\d* [0-3]$"
    recording = prof.record("-F", "1999", "--", client("rg"), "--no-mmap", "-c", pattern, *[text] * 12)
    assert_sound(recording, 0.98)
    stacks = recording.stacks
    in_regex = stacks.count(lambda frames: any(re.match(r"<?regex(_automata)?::", frame) for frame in frames))
    assert in_regex > 0.5 * stacks.total, stacks.hottest()
    begun = stacks.count(lambda frames: {"std::rt::lang_start_internal", "start_thread"} & set(frames))
    assert begun > 0.98 * stacks.total, stacks.hottest()


def test_python_a_c_program_with_its_debug_package(prof, client):
    code = "t = 0\nfor i in range(2500000):\n    t += len(str(i % 97))\n"
    recording = prof.record("-F", "1999", "--", "/usr/bin/python3", "-c", code)
    assert_sound(recording, 0.98)
    assert recording.stacks.share("_PyEval_EvalFrameDefault") > 0.8, recording.stacks.hottest()
    assert recording.stacks.share("_start", "Py_BytesMain") > 0.9


def test_gxx_compiling_templates(prof, client, tmp_path):
    source = tmp_path / "templates.cc"
    source.write_text(CXX)
    recording = prof.record("--call-graph", "dwarf,65528", "--", client("g++"), "-std=c++17", "-O2", "-c", source,
                            "-o", tmp_path / "templates.o")
    assert_sound(recording, 0.95)
    assert recording.stacks.of_process("cc1plus") > 0.7 * recording.stacks.total


# Each frame is larger than the range that is searched for a return address, so the walk ends here without CFI.
LARGE_FRAMES = r"""
#include <time.h>
#include <unistd.h>
static volatile unsigned sink;
#define ROOM volatile char room[4000]; room[sink % 4000] = 1
__attribute__((noinline)) static void leaf(void) { ROOM; for (unsigned i = 0; i < 400000; i++) sink += room[i % 4000]; }
__attribute__((noinline)) static void middle(void) { ROOM; leaf(); sink += room[3]; }
__attribute__((noinline)) static void outer(void) { ROOM; middle(); sink += room[3]; }
int main(void) { nice(10); while (clock() < CLOCKS_PER_SEC / 2) outer(); }
"""
# prof reads the debug file while the program runs, and stacks are truncated until then. So prof gets the CPU first.


@pytest.fixture
def split_program(client, tmp_path):
    """A stripped program and its debug file, which has all of the CFI except that of the start files."""
    source, program, debug = (tmp_path / name for name in ("large.c", "large", "large.debug"))
    source.write_text(LARGE_FRAMES)
    subprocess.run([client("gcc"), "-O1", "-g", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables",
                    "-fno-unwind-tables", "-Wl,--build-id", source, "-o", program], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    subprocess.run(["strip", program], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", program], check=True)
    return program, debug


def by_build_id(debug, folder):
    """Moves it to the place where debug packages have it."""
    notes = subprocess.run(["readelf", "-n", debug], check=True, capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: (\w+)", notes)[1]
    place = folder / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
    place.parent.mkdir(parents=True)
    debug.rename(place)


def assert_whole(stacks):
    truncated = stacks.count(lambda frames: frames[1] == "[truncated]")
    # The debug file is read while the first samples arrive.
    assert stacks.total > 100 and truncated <= 0.2 * stacks.total, stacks.hottest()


def test_stacks_are_unwound_by_the_cfi_of_a_separate_debug_file_wherever_it_is(prof, split_program, tmp_path):
    program, debug = split_program
    recording = prof.record("-o", "large.data", "--", program)
    assert_whole(recording.stacks)
    assert recording.stacks.share("main", "outer", "middle", "leaf") > 0.9, recording.stacks.hottest()
    by_build_id(debug, tmp_path / "debug")
    assert_whole(prof.record("--debug-dir", tmp_path / "debug", "--", program).stacks)
    copy = tmp_path / "system" / str(program)[1:]
    copy.parent.mkdir(parents=True)
    copy.write_bytes(program.read_bytes())
    (tmp_path / "system/usr/lib").mkdir(parents=True)
    (tmp_path / "system/usr/lib/debug").symlink_to(tmp_path / "debug")
    for option in (("--debug-dir", tmp_path / "debug"), ("--symfs", tmp_path / "system")):
        assert prof("convert", "large.data", "-o", "large.folded", *option).returncode == 0
        stacks = Stacks.read(tmp_path / "large.folded")
        assert_whole(stacks)
        assert stacks.share("outer", "middle", "leaf") > 0.9, stacks.hottest()


def stripped(program, folder, packed):
    """Makes a copy as Fedora ships it: its only symbols are those in the section .gnu_debugdata, as a compressed file."""
    copy, section = folder / "stripped", folder / "section"
    section.write_bytes(packed)
    subprocess.run(["strip", "--strip-all", "-o", copy, program], check=True)
    subprocess.run(["objcopy", f"--add-section=.gnu_debugdata={section}", copy], check=True)
    return copy


def symbols_alone(program, folder):
    subprocess.run(["objcopy", "--only-keep-debug", "--strip-debug", program, folder / "symbols"], check=True)
    return (folder / "symbols").read_bytes()


def test_symbols_inside_a_stripped_program_are_found(prof, target, tmp_path):
    program = target("shares")
    packed = lzma.compress(symbols_alone(program, tmp_path))
    recording = prof.record("--", stripped(program, tmp_path, packed), "0.5")
    assert recording.stacks.share("half") > 0.3, recording.stacks.hottest()
    assert "exported symbols" not in recording.result.stderr


def test_a_program_with_damaged_mini_debug_information_loses_only_its_names(prof, target, tmp_path):
    program = target("shares")
    packed = bytearray(lzma.compress(symbols_alone(program, tmp_path)))
    packed[len(packed) // 2] ^= 0xff
    recording = prof.record("--", stripped(program, tmp_path, packed), "0.5")
    assert not recording.stacks.holding("half")
    assert "has only its exported symbols" in recording.result.stderr
    assert re.search(r"to fix this, run: prof doctor .*record\.pb\.gz$", recording.result.stderr, re.M)


def test_a_go_program(prof, target):
    recording = prof.record("-F", "1999", "--", target("goroutines"), "0.8")
    assert_sound(recording, 0.97)
    working = recording.stacks.holding("main.work")  # the runtime has a share, too
    for function, share in {"main.half": 0.5, "main.third": 0.3, "main.fifth": 0.2}.items():
        assert_share(recording.stacks.holding("main.work", function), working, share)
    in_goroutines = recording.stacks.count(lambda frames: re.match(r"runtime\.goexit", frames[1]) is not None)
    assert in_goroutines > 0.9 * recording.stacks.total, recording.stacks.hottest()


def test_a_go_program_without_symbols_has_names_and_inlined_functions(prof, target):
    recording = prof.record("-F", "1999", "--", target("goroutines_stripped"), "0.6")
    assert_sound(recording, 0.97)
    assert "no symbols" not in recording.result.stderr
    for function in ["main.half", "main.third", "main.fifth"]:
        in_function = recording.stacks.holding("main.work", function)
        assert in_function > 50, recording.stacks.hottest()
        assert recording.stacks.holding("main.work", function, "main.spin") > 0.9 * in_function


@pytest.mark.parametrize("name", ["garbage", "garbage_without_cfi"])
def test_go_system_stacks_are_joined_to_their_goroutine(prof, target, name):
    recording = prof.record("-F", "1999", "--", target(name), "1")
    stacks = recording.stacks
    assert stacks.total > 300
    assert stacks.count(lambda frames: frames[1] == "[truncated]") <= 0.03 * stacks.total, stacks.hottest()
    switched = stacks.count(lambda frames: "runtime.systemstack" in frames)
    assert switched > 20
    # Except samples at the few instructions that switch.
    assert stacks.count(lambda frames: frames[1] == "runtime.systemstack") <= 0.02 * switched, stacks.hottest()
    joined = re.findall(r"([\d,]+) completed (?:by frame pointers|from the live stack)", recording.result.stderr)
    assert sum(int(number.replace(",", "")) for number in joined) >= switched / 2
