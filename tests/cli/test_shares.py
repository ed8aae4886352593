"""Programs with known call trees and shares (tests/targets): prof must report the correct ones."""

import re
import subprocess

import pytest

from profiles import assert_rooted, assert_share

FAST = ["-F", "1999"]
SECONDS = "0.6"  # CPU time; about 1,200 samples

LAYOUTS = ["shares", "shares_dwarf4", "shares_framed", "shares_static", "shares_static_pie", "shares_no_pie",
           "shares_compressed", "shares_bfd", "shares_lld", "shares_mold"]


def assert_complete(stacks, least=0.99):
    assert stacks.total > 500, stacks.hottest()
    assert_rooted(stacks, least)


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_of_a_program_gives_its_true_shares(prof, target, name):
    recording = prof.record(*FAST, "--", target(name), SECONDS)
    stacks = recording.stacks
    assert_complete(stacks)
    for function, share in {"half": 0.5, "third": 0.3, "fifth": 0.2}.items():
        assert_share(stacks.holding("main", "spend", function, "spin"), stacks.total, share)
    assert stacks.of_process(name[:15]) == stacks.total
    recording.pprof.check()


def test_a_stripped_program_keeps_its_stacks(prof, target):
    stacks = prof.record(*FAST, "--", target("shares_stripped"), SECONDS).stacks
    unnamed = re.compile(r"\[shares_stripped\+0x[0-9a-f]+\]")
    assert_rooted(stacks, roots=unnamed)
    in_libc = stacks.count(lambda frames: any(frame.startswith("__libc_start") for frame in frames))
    assert in_libc >= 0.99 * stacks.total
    assert not stacks.unknown()


def test_functions_of_a_stripped_program_are_called_by_their_starts(prof, target):
    """Starts are those in the call frame information. Addresses in a function stay separate in pprof."""
    program = target("shares_stripped")
    dump = subprocess.run(["readelf", "--debug-dump=frames", program], capture_output=True, text=True, check=True).stdout
    starts = {f"[{program.name}+{int(start, 16):#x}]" for start in re.findall(r" FDE .* pc=(\w+)\.\.", dump)}
    recording = prof.record(*FAST, "--", program, SECONDS)
    names = {frame for frames in recording.stacks.counts for frame in frames if frame.startswith(f"[{program.name}+")}
    assert names and names <= starts
    places = {location.address for location in recording.pprof.message.location}
    assert len(places) > len(names)


def test_code_without_cfi_is_unwound_by_its_frame_pointers(prof, target):
    stacks = prof.record(*FAST, "--", target("shares_no_cfi"), SECONDS).stacks
    assert_share(stacks.holding("main", "spend", "half"), stacks.total, 0.5)


def test_threads_keep_their_names_shares_and_roots(prof, target):
    recording = prof.record(*FAST, "--", target("threads"), SECONDS)
    threads, total = recording.pprof.by_label("thread"), recording.pprof.total()
    assert_complete(recording.stacks)
    for name, share in {"older": 0.5, "younger": 0.3, "threads": 0.2}.items():
        assert_share(threads[name], total, share)
    assert_share(recording.stacks.holding("start_thread", "work", "spend", "burn"), recording.stacks.total, 0.8)


def test_recursion_a_thousand_deep_is_complete(prof, target):
    stacks = prof.record(*FAST, "--call-graph", "dwarf,65528", "--", target("recursion"), SECONDS).stacks
    assert_complete(stacks)
    deep = stacks.count(lambda frames: frames.count("down") == 1000 and "bottom" in frames)
    assert deep >= 0.99 * stacks.total, stacks.hottest(1)[:2000]


def test_alloca_tail_calls_and_realigned_stacks_are_unwound(prof, target):
    stacks = prof.record(*FAST, "--", target("frames"), SECONDS).stacks
    assert_complete(stacks)
    assert_share(stacks.holding("main", "spend", "grow", "filled"), stacks.total, 0.5)
    assert_share(stacks.holding("main", "spend", "second"), stacks.total, 0.3)
    assert_share(stacks.holding("main", "spend", "align", "aligned"), stacks.total, 0.2)
    assert stacks.holding("first", "second") == 0  # a jump leaves no frame


def test_a_signal_handler_has_the_interrupted_function_as_caller(prof, target):
    stacks = prof.record(*FAST, "--", target("handler"), SECONDS).stacks
    assert_complete(stacks)
    handled = stacks.holding("on_signal")
    assert handled > 50
    assert stacks.holding("main", "spend", "on_signal") >= 0.99 * handled, stacks.hottest()
    assert stacks.holding("spend", "interrupted", "__restore_rt", "on_signal", "spin") > 0.5 * handled


def test_libraries_loaded_at_the_address_of_another_keep_their_own_names(prof, target):
    one, two = target("plugin_one.so"), target("plugin_two.so")
    words = [one, "plugin_one_work", two, "plugin_two_work"] * 2
    stacks = prof.record(*FAST, "--", target("opener"), "0.15", *words).stacks
    assert_complete(stacks, least=0.98)  # the dynamic linker opens and closes libraries
    assert_share(stacks.holding("main", "use", "plugin_one_work", "spend", "burn", "spin"), stacks.total, 0.5)
    assert_share(stacks.holding("main", "use", "plugin_two_work", "spend", "burn", "spin"), stacks.total, 0.5)


def test_children_are_followed_through_fork_and_exec(prof, target):
    stacks = prof.record(*FAST, "--", target("family"), SECONDS, target("shares")).stacks
    assert_complete(stacks, least=0.98)
    assert_share(stacks.holding("family", "main", "parent_work", "spend", "burn"), stacks.total, 0.5)
    assert_share(stacks.holding("family", "main", "child_work", "spend", "burn"), stacks.total, 0.3)
    assert_share(stacks.holding("shares", "main", "spend"), stacks.total, 0.2)


def test_children_are_not_recorded_with_no_inherit(prof, target):
    stacks = prof.record(*FAST, "-i", "--", target("family"), SECONDS, target("shares")).stacks
    assert stacks.holding("parent_work") > 150
    assert stacks.holding("child_work") == 0
    assert stacks.of_process("shares") == 0


def test_time_in_the_vdso_is_named(prof, target):
    stacks = prof.record(*FAST, "--", target("clock"), SECONDS).stacks
    assert_complete(stacks)
    assert stacks.share("main", "spend", "ask", "__vdso_clock_gettime") > 0.5, stacks.hottest()


def test_cxx_names_are_demangled_and_inlined_calls_appear(prof, target):
    stacks = prof.record(*FAST, "--", target("geometry"), SECONDS).stacks
    assert_complete(stacks)
    render = stacks.holding("(anonymous namespace)::render()", "geometry::Circle::area() const",
                            "geometry::Circle::squared() const", "spin")
    assert_share(render, stacks.total, 0.5)
    assert_share(stacks.holding("(anonymous namespace)::add()", "void geometry::sum<int, long>(int, long)"),
                 stacks.total, 0.3)


@pytest.mark.parametrize("name", ["interpreter", "interpreter_v0"])
def test_rust_closures_traits_and_inlined_calls_are_named(prof, target, name):
    stacks = prof.record(*FAST, "--", target(name), SECONDS).stacks
    assert_complete(stacks)
    names = stacks.names()
    generic = {name for name in names if re.match(r"interpreter::evaluate(::<f64>)?$", name)}
    assert generic, stacks.hottest()
    product = stacks.count(lambda frames: any("multiplication" in f and "closure" in f for f in frames))
    addition = stacks.count(lambda frames: "<interpreter::Sum as interpreter::Operator>::apply" in frames)
    assert_share(product, product + addition, 0.6)
    assert product + addition > 0.9 * stacks.total
    assert stacks.holding("interpreter::work") > 0.8 * stacks.total  # inlined into both
    assert not any(re.search(r"17h[0-9a-f]{16}|_R[NI]|_ZN", name) for name in names)
