"""prof and prof record alone, on a terminal: commands to start with."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from conftest import NOBODY
from terminal import Terminal
from time_limit import TIME_LIMIT_S


def suggestions(prof, *words, before=()):
    """{command: purpose} of what prof prints on a terminal of 80 columns."""
    terminal = Terminal([*map(str, before), str(prof.binary), *words], prof.folder)
    assert terminal.end() == 2
    first, *rows, last = terminal.text.splitlines()
    assert first.startswith("prof: ") and "prof -h" in last and len(rows) == 5
    return dict(re.fullmatch(r"  (.*?) +# (.*)", row).groups() for row in rows)


@pytest.mark.parametrize("words", [[], ["record"]])
def test_five_commands_are_offered_on_a_terminal(prof, words):
    offered = suggestions(prof, *words)
    assert offered["prof record ./app"] == "record a program"
    assert offered["prof report"] == "show the hottest functions of the last recording here"
    assert [command for command in offered if re.fullmatch(r"(sudo )?prof record -p (\d+|PID) --duration 10", command)]
    assert [command for command in offered if command.endswith("prof top")]


def test_an_option_alone_is_a_usage_error(prof):
    terminal = Terminal([str(prof.binary), "record", "-g"], prof.folder)
    assert terminal.end() == 2 and "for example" not in terminal.text and "nothing to record" in terminal.text


@pytest.mark.parametrize("words", [[], ["record"]])
def test_nothing_is_offered_if_the_output_is_no_terminal(prof, words):
    terminal = Terminal(["/bin/sh", "-c", '"$@" >out', "sh", str(prof.binary), *words], prof.folder)
    assert terminal.end() == 2 and "for example" not in terminal.text
    assert len(prof(*words).stderr.splitlines()) == 2


def test_the_newest_program_of_a_rust_project_is_offered(prof):
    (prof.folder / "Cargo.toml").touch()
    assert "prof cargo run --release" in suggestions(prof)
    built = prof.folder / "target" / "release"
    (built / "deps").mkdir(parents=True)
    for name, mode, time_s in ("old", 0o755, 1), ("new", 0o755, 2), ("libnew.so", 0o755, 3), ("new.d", 0o644, 4), ("text", 0o644, 5):
        (built / name).touch()
        (built / name).chmod(mode)
        os.utime(built / name, (time_s, time_s))
    assert suggestions(prof)["prof record ./target/release/new"] == "record this program"


def test_the_recording_here_is_named(prof):
    (prof.folder / "perf.data").touch()
    assert suggestions(prof)["prof report"] == "show the hottest functions of perf.data"


def test_a_busy_process_of_the_user_and_what_needs_root_are_named(ordinary, target, started):
    """Another user, who has no other process and may not sample the machine."""
    user = NOBODY - os.getpid() % 10000 - 1
    program = ordinary.bring(target("service"))
    os.chmod(ordinary.folder, 0o755)
    process = started(subprocess.Popen([program], text=True, user=user, group=user, extra_groups=[],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    assert process.stdout.readline() == "ready\n"
    as_user = [shutil.which("setpriv"), f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    busy = f"prof record -p {process.pid} --duration 10"
    end = time.monotonic() + TIME_LIMIT_S
    offered = suggestions(ordinary, before=as_user)
    while busy not in offered and time.monotonic() < end:  # on a loaded machine it may have no CPU while prof measures
        offered = suggestions(ordinary, before=as_user)
    assert re.fullmatch(r"record service, which uses \d+ % of a CPU", offered[busy])
    if int(Path("/proc/sys/kernel/perf_event_paranoid").read_text(encoding="ascii")) > 0:
        assert {"sudo prof record -a --duration 10", "sudo prof top"} < set(offered)
