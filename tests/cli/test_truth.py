"""Wherever a program is stopped, prof must find the same callers as gdb.

Each program is stopped at random moments and then after each of the next instructions. PROF_STOPS is the number of
stops (120 by default). tests/truth/take_stops.py describes how to test other programs.
"""

import os
import re
import struct
import subprocess
from pathlib import Path

import pytest

from conftest import BUILD, SOURCE
from time_limit import TIME_LIMIT_S

TRUTH = SOURCE / "tests" / "truth"
STOPS = int(os.environ.get("PROF_STOPS", "120"))
# Programs that end by themselves, but later than the stops.
PROGRAMS = ["maze", "assembly", "coroutines", "exceptions", "frames", "handler", "interpreter", "noreturn",
            "shares_debug_frame", "shares_neither", "shares_no_cfi", "shares_static", "signals", "signals_musl",
            "stubs_lazy", "stubs_protected"]
# gdb cannot walk on without CFI and stops there. prof continues to the root.
BEYOND_GDB = {"assembly", "coroutines", "shares_neither", "signals_musl"}
# Without CFI. In the first, gdb takes stale return addresses on the stack for callers. In the second, it knows the caller
# after the first instruction, a push of rbp, where prof gives up.
FOOLING = {"assembly": "entered", "coroutines": "switch_stacks"}
# Inside setcontext(), and where an exception lands, callers cannot be found, which prof reports.
CUT = 0.35


class Stops:
    """The output of replay_stops for the stops in a folder."""

    def __init__(self, folder, symfs=None):
        result = subprocess.run([BUILD / "tests" / "truth" / "replay_stops", folder, *([symfs] if symfs else [])],
                                check=False, text=True, stdout=subprocess.PIPE)
        assert result.returncode in (0, 1)
        *self.differences, counts = result.stdout.splitlines()
        self.total, self.different, self.longer, self.cut = map(int, re.findall(r"\d+", counts))


def take_stops(folder, gdb, *command, count=STOPS, fooling=""):
    environment = {**os.environ, "FOLDER": str(folder), "STOPS": str(count), "FOOLING": fooling}
    result = subprocess.run([gdb, "-nx", "-batch", "-x", TRUTH / "take_stops.py", "--args", *command], env=environment,
                            timeout=TIME_LIMIT_S + count / 20, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            check=False)
    assert f"{count} stops" in result.stdout, result.stdout[-2000:] + result.stderr[-2000:]


def agree(stops, count=STOPS):
    return stops.total == count and not stops.different


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_callers_equal_those_of_gdb(client, target, tmp_path, name):
    take_stops(tmp_path, client("gdb"), target(name), "1000", fooling=FOOLING.get(name, ""))
    stops = Stops(tmp_path)
    assert agree(stops), stops.differences[:3]
    assert stops.cut <= CUT * STOPS
    assert name in BEYOND_GDB or not stops.longer


@pytest.mark.parametrize("name", ["aarch64", "aarch64_signed", "x86_64"])
def test_recorded_stops_of_any_architecture_have_the_watched_callers(name):
    folder = TRUTH / "fixtures" / name
    stops = Stops(folder, folder)
    assert stops.total > 70
    assert (stops.different, stops.longer, stops.cut) == (0, 0, 0), stops.differences[:3]


def test_the_comparison_detects_a_wrong_caller(client, target, tmp_path):
    take_stops(tmp_path, client("gdb"), target("shares"), "1000", count=1)
    raw = bytearray((tmp_path / "stops").read_bytes())
    callers = 8 * (1 + 1 + 16 + 1)  # after the machine, the pc, the registers and the number of frames
    (second,) = struct.unpack_from("<Q", raw, callers + 8)
    struct.pack_into("<Q", raw, callers + 8, second + 1)
    Path(tmp_path / "stops").write_bytes(raw)
    assert Stops(tmp_path).different == 1
