"""Stacks that are hard to unwind: the hot functions of these programs have exactly their true callers."""

import re
from typing import NamedTuple

import pytest

from profiles import ROOTS, assert_rooted, hottest

FAST = ["-F", "1999", "-e", "cpu-clock:u"]
SECONDS = "0.4"  # CPU time; about 800 samples

# The start of a thread, up to the first function of the program's own source. (musl's clone() has no name, and
# memset() before it has no size.)
BEGINNING = re.compile(ROOTS.pattern + r"|__libc_start_\w+|start_thread|libc_start_main_stage2|\[libc\.so(\.6)?\+0x[0-9a-f]+\]|memset|"
                       r"main\.main\.gowrap1")


class Case(NamedTuple):
    program: str
    chains: list  # callers, where "…" is the start of a thread; they may end in any of these
    least: float = 0.99  # minimum share of the samples in their leaves that have one of these chains

# The other samples must be marked as truncated.
TRUE_OR_CUT = 0.99


CASES = [
    Case("alloca_mebibyte", ["… main spend outer middle room hot spin"], 0.5),  # a loaded machine reads too late
    # The first samples of `entered` end at a page that is not in memory.
    Case("assembly", ["… main spend run_realigned realigned", "… main spend run_copying copying", "… main spend run_plain plain_leaf",
                      "… main spend run_pushing pushing_leaf", "… main spend run_framed framed called_back spin",
                      "… main spend run_keeping keeping kept_leaf", "… main spend run_entering entered"], 0.98),
    Case("coroutines", ["__start_context generator produce spin", "begin worker consume spin"]),
    Case("frames", ["… main spend grow filled spin", "… main spend second spin", "… main spend align aligned spin"]),
    Case("growing", ["… main.main.func1 " + "main.down " * 500 + "main.bottom"]),
    Case("noreturn", ["… main spend attempt last_word give_up spin"]),
    *[Case(program, ["… main spend half spin", "… main spend third spin", "… main spend fifth spin"])
      for program in ("shares_32", "shares_32_framed")],
    # The first sample there lacks the copy of the other stack.
    Case("other_stack", ["… main spend leave switching called_there spin", "switching called_there spin",
                         "… main spend stay spin"]),
    Case("shares_debug_frame", ["… main spend half spin", "… main spend third spin", "… main spend fifth spin"]),
    # Code without tables is read while the first samples arrive.
    Case("shares_musl", ["… main spend half spin", "… main spend third spin", "… main spend fifth spin"], 0.5),
    Case("shares_musl_static", ["… main spend half spin", "… main spend third spin", "… main spend fifth spin"], 0.5),
    Case("signals", ["… main spend interrupted __restore_rt on_trap __restore_rt on_illegal work spin"]),
    Case("spawning", ["… main parent spend burn spin", "… main borrowing child spend burn spin",
                      "… main spend half spin", "… main spend third spin", "… main spend fifth spin"]),
    *[Case(program, ["… main spend caller", "… main spend caller step@plt", "… main spend caller step"])
      for program in ("stubs_lazy", "stubs_now", "stubs_protected", "stubs_lld")],
    Case("threads", ["… main spend burn spin", "… work spend burn spin"]),
    Case("threads_musl", ["… main spend burn spin", "… work spend burn spin"], 0.5),
]


def callers(frames):
    """Returns the frames without the process name, with the start of the thread as one word."""
    rest = list(frames[1:])
    while rest and BEGINNING.fullmatch(rest[0]):
        del rest[0]
    return " ".join(["…", *rest] if len(rest) < len(frames) - 1 else rest)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.program)
def test_the_hot_functions_have_exactly_their_callers(prof, target, case):
    stacks = prof.record(*FAST, "--", target(case.program), SECONDS, target("shares")).stacks
    leaves = {chain.split()[-1] for chain in case.chains}
    seen = {chain: stacks.count(lambda frames, chain=chain: callers(frames) == chain) for chain in case.chains}
    in_leaves = stacks.count(lambda frames: frames[-1] in leaves)
    assert in_leaves >= 0.8 * stacks.total > 100, stacks.hottest()
    cut = stacks.count(lambda frames: frames[1] == "[truncated]" and frames[-1] in leaves)
    # Some CPUs do not take interrupts at the single jump of a stub. On a busy machine, a thread can end before its code is read.
    unseen = [chain for chain, count in seen.items() if not count and not chain.endswith("@plt")]
    assert not unseen or (case.least < 0.9 and cut), seen
    assert sum(seen.values()) >= case.least * in_leaves, stacks.hottest(30)
    assert sum(seen.values()) + cut >= TRUE_OR_CUT * in_leaves, stacks.hottest(30)


@pytest.mark.parametrize("name", ["shares_neither", "shares_neither_framed"])
def test_without_any_unwind_table_callers_are_found_by_their_call_instructions(prof, target, name):
    stacks = prof.record(*FAST, "--", target(name), SECONDS).stacks
    ours = rf"\[{name}\+0x[0-9a-f]+\]"
    chain = re.compile(rf"{ours} __libc_start_main __libc_start_call_main {ours} {ours} {ours}( \S+)?")
    whole = stacks.count(lambda frames: chain.fullmatch(" ".join(frames[1:])))
    assert whole >= 0.98 * stacks.total > 100, stacks.hottest(30)


def test_signal_frames_are_recognized_by_their_code_if_the_c_library_has_no_cfi(prof, target):
    stacks = prof.record(*FAST, "--", target("signals_musl"), SECONDS).stacks
    in_order = stacks.holding("_start", "main", "spend", "interrupted", "on_trap", "on_illegal", "work", "spin")
    cut = stacks.count(lambda frames: frames[1] == "[truncated]")  # while the code is being read
    assert in_order + cut >= 0.97 * stacks.total > 100 and in_order > cut, stacks.hottest()


def test_exception_handling_is_called_by_the_function_that_throws(prof, target):
    stacks = prof.record(*FAST, "--", target("exceptions"), SECONDS).stacks
    climb = "(anonymous namespace)::climb(int)"

    def whole(frames):
        return "main" in frames and ROOTS.fullmatch(frames[1]) and "(anonymous namespace)::attempt()" in frames

    thrown = stacks.count(lambda frames: climb in frames)
    assert thrown >= 0.8 * stacks.total > 100, stacks.hottest()
    # On its way out, the C++ runtime overwrites the frame that it returns from with the address where it lands.
    assert stacks.count(lambda frames: climb in frames and whole(frames)) >= 0.97 * thrown, stacks.hottest()
    high = stacks.count(lambda frames: sum(frame.startswith(climb) for frame in frames) == 20)
    assert high > 0.2 * stacks.total, stacks.hottest()  # the outer frames, before the first one was cleaned up


def test_async_functions_are_called_by_the_worker_that_polls_them(prof, client):
    stacks = prof.record(*FAST, "--", client("tasks")).stacks
    chain = ["start_thread", *(f"tasks::{name}::{{async_fn#0}}" for name in ("outer", "middle", "inner")), "tasks::work"]
    working = stacks.holding("tasks::work")
    assert working >= 0.9 * stacks.total > 100, stacks.hottest()
    assert stacks.holding(*chain) >= 0.99 * working, stacks.hottest()
    assert_rooted(stacks)


def test_jit_code_with_frame_pointers_is_unwound(prof, client, tmp_path):
    script = tmp_path / "jit.js"
    script.write_text("""
        function innermost(n) { let t = 0; for (let i = 0; i < n; i++) t = (t * 31 + i) | 0; return t; }
        function middle(n) { return innermost(n) + 1; }
        function outer(n) { return middle(n) + 1; }
        const end = process.cpuUsage().user + 500000;
        let sum = 0;
        while (process.cpuUsage().user < end) for (let i = 0; i < 100; i++) sum += outer(1000);
        """)
    stacks = prof.record(*FAST, "--", client("node"), "--interpreted-frames-native-stack", "--perf-basic-prof",
                         "--no-turbo-inlining", script).stacks
    functions = ["outer", "middle", "innermost"]

    def jitted(frames):
        return [re.sub(r"^\w+:[*~^+]*(\w+) .*", r"\1", frame) for frame in frames if "jit.js" in frame]

    hot = stacks.count(lambda frames: jitted(frames)[-1:] == ["innermost"])
    whole = stacks.count(lambda frames: jitted(frames)[-3:] == functions and "node::Start(int, char**)" in frames)
    assert hot > 100, stacks.hottest()
    assert whole >= 0.99 * hot, stacks.hottest()
    assert_rooted(stacks, 0.97)


def test_assembly_of_openssl_is_unwound_by_its_cfi(prof, client, tmp_path):
    zeros = tmp_path / "zeros"
    with zeros.open("wb") as file:
        file.truncate(300 << 20)
    stacks = prof.record(*FAST, "--", client("openssl"), "dgst", "-sha512", zeros).stacks
    beginning = re.compile(r"_start|\[openssl\+0x[0-9a-f]+\]")  # it is stripped
    digesting = stacks.holding("__libc_start_main", "BIO_read", "SHA512_Update")
    assert digesting >= 0.9 * stacks.total > 100, stacks.hottest()
    assert_rooted(stacks, roots=beginning)


def test_the_first_and_last_microseconds_of_a_thread_have_their_root(prof, target, root):
    """A per-thread event restarts its period in every thread, so only per-CPU events sample such short threads."""
    stacks = prof.record("-a", "-F", "9999", "--", target("brief"), "0.15").stacks
    ours = {frames: count for frames, count in stacks.counts.items() if frames[0] == "brief" and "execve" not in frames}
    total = sum(ours.values())
    begun = {name: sum(count for frames, count in ours.items() if frames[1] == name) for name in ("clone3", "clone")}
    wrong = {frames: count for frames, count in ours.items() if frames[1] == "[truncated]"}
    assert total > 300 and all(count > 10 for count in begun.values()), begun
    assert sum(wrong.values()) <= 0.01 * total, hottest(wrong)
