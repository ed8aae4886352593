"""Go and C in one program: a stack has the functions of both, whichever calls the other, and on whichever stack they
run."""

import re

import pytest

STUB, MAIN = r"_cgo_[0-9a-f]+_Cfunc_\w+", r"runtime\.main main\.main"
BACK = (r"crosscall2 runtime\.cgocallback(\.abi0)? (runtime\.cgocallbackg )+runtime\.cgocallbackg1 _cgoexp_[0-9a-f]+_goBack "
        r"main\.goBack main\.back")


def chains(c):
    """The call chains of the program's three hot functions. c(name): the displayed name of a C function."""
    to_c = rf"main\._Cfunc_\w+ runtime\.cgocall runtime\.asmcgocall(\.abi0)? ({c(STUB)} )?"
    work = f"{to_c}{c('c_outer')} {c('c_middle')} {c('c_leaf')}"
    back = rf"{MAIN} main\.callsBack {to_c}{c('c_returns')} goBack {BACK}"
    return [rf"{MAIN} main\.calls {work}", rf"{back} main\.leaf", rf"{back} main\.again {work}"]


@pytest.mark.parametrize("name", ["cgo", "cgo_stripped"])
def test_calls_from_go_to_c_and_back_are_one_stack(prof, target, name):
    stacks = prof.record("-F", "1999", "-e", "cpu-clock:u", "--", target(name), "0.6").stacks
    in_c = str if name == "cgo" else lambda _: rf"\[{name}\+0x[0-9a-f]+\]"
    leaf = re.compile(rf"main\.leaf|{in_c('c_leaf')}")
    total = stacks.count(lambda frames: leaf.fullmatch(frames[-1]))

    def share(chain):
        pattern = re.compile(rf"(runtime\.goexit(\.abi0)? )?{chain}")
        return stacks.count(lambda frames: pattern.fullmatch(" ".join(frames[1:]))) / total

    shares = [share(chain) for chain in chains(in_c)]
    cut = stacks.count(lambda frames: frames[1] == "[truncated]" and leaf.fullmatch(frames[-1])) / total
    assert total > 100 and min(shares) > 0.1, stacks.hottest(30)
    # The first samples locate the stacks. On a loaded machine some are read too late.
    assert sum(shares) + cut >= 0.97 and cut < 0.5, stacks.hottest(30)
    assert not stacks.count(lambda frames: frames[1].startswith("main.")), stacks.hottest(100)
