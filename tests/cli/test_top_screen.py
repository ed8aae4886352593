"""prof top on a terminal: the screen, the keys, and that the terminal is restored."""

import os
import re
import resource
import signal
import time
from datetime import datetime, timezone

import pytest

from lacking import lacking
from written_segments import name_at, write_segment

try:
    from screen import Screen
except ModuleNotFoundError:
    Screen = None

UP, DOWN, HOME, ENTER, ESCAPE, BACKSPACE = "\033OA", "\033OB", "\033[1~", "\r", "\033", "\x7f"
FIRST_ROW = 3


@pytest.fixture
def on_screen(prof):
    """on_screen(words) runs that program on a terminal, and ends it with the test."""
    screens = []

    def start(words, **terminal):
        if not Screen:
            lacking("pyte")
        screens.append(Screen([str(word) for word in words], prof.folder, **terminal))
        return screens[-1]

    yield start
    for screen in screens:
        if screen.pid:
            os.killpg(screen.pid, signal.SIGKILL)  # including its command, which would compete with all later tests
            screen.end()


@pytest.fixture
def top(on_screen, prof, target):
    """top(option, ...) runs on a terminal and shows the target `shares`."""

    def start(*options, words=None, **terminal):
        words = words or ["--", target("shares"), 600]
        return on_screen([prof.binary, "top", "-d", 0.2, *options, *words], **terminal)

    return start


def wait_for_hottest(screen):
    """Waits until `spin` is in the first row, which keys act on. The first samples are of the program's start."""
    screen.wait(lambda: re.search(r" spin +shares$", screen.lines[FIRST_ROW]))


def leave(screen, key="q"):
    screen.press(key)
    return screen.end()


@pytest.mark.parametrize("columns, rows", [(80, 24), (200, 50), (60, 10)])
def test_the_hottest_functions_are_on_a_screen_that_fits_the_terminal(top, columns, rows):
    screen = top(columns=columns, rows=rows)
    screen.wait_for("^prof top: shares 600, ", "^ *self +total +function +module$",
                    r"^ *(100|[89][0-9])\.[0-9] % +[0-9.]+ % +█+ +spin +shares$")
    screen.wait(lambda: columns - 12 < max(map(len, screen.lines[FIRST_ROW:-1])) <= columns)
    screen.wait(lambda: screen.lines[rows - 1].startswith("q quit"))
    assert leave(screen) == 0


@pytest.mark.parametrize("columns, keys", [(80, "c tree  L fold  / filter"), (60, "b by  c tree"), (40, "Enter open  a source")])
def test_no_word_is_cut_at_the_edge_of_the_screen(top, columns, keys):
    screen = top("-e", "cpu-clock", columns=columns)
    titles = {80: r"of \d+ CPUs busy, [0-9.]+ % sampled.*", 60: r"of \d+ CPUs busy.*", 40: r"shares 600"}
    screen.wait_for(rf"^prof top: .*{titles[columns]}$", rf"^q quit.*  {keys}$")
    screen.wait(lambda: not screen.lines[0].rstrip().endswith(","))
    assert leave(screen) == 0


def test_a_resized_terminal_is_redrawn(top):
    screen = top()
    screen.wait_for(r" spin +shares$")
    screen.resize(120, 30)
    screen.wait_for(r" spin {60,}shares$")
    screen.wait(lambda: screen.lines[29].startswith("q quit"))
    screen.resize(60, 8)
    screen.wait_for(r" spin {10,25}shares$")
    assert leave(screen) == 0


def test_keys_open_the_pages_and_go_back(top):
    screen = top()
    wait_for_hottest(screen)
    for key, *lines in [(ENTER, r"^spin, down to", r"^callers", r"├ half$"), (BACKSPACE, r"^by function, self first"),
                        ("c", r"^call tree down to", r"├ half$", r" _start$"),
                        ("L", r"^call tree down to .*, logical", r" main \[\d+ folded\]$"), ("L", r" _start$"),
                        ("c", r"^by function", r" spin +shares$"),
                        ("a", r"^spin, line by line"), ("c", r"├ half$"), ("c", r" spin +shares$"),
                        ("?", r"show the callers and callees of a function"), ("?", r" spin +shares$")]:
        screen.press(key)
        screen.wait_for(*lines)
    assert leave(screen) == 0


def test_keys_choose_the_order_and_the_table(top):
    screen = top()
    screen.wait_for(r" spin +shares$")
    screen.press("t")
    screen.wait_for(r"^by function, total first", r"(100|9[0-9])\.[0-9] % .* main +shares$")
    for key, title in ("B", "thread"), ("b", "function"), ("b", "file"), ("B", "function"), ("B", "thread"), ("B", "process"):
        screen.press(key)
        screen.wait_for(rf"^by {title}")
    screen.wait_for(r"100\.0 % .* shares$")
    screen.press("a")
    screen.wait_for(r"^no function in this line")
    screen.press("s" + ENTER)
    screen.wait_for(r"^by function, self first, of process shares", r" spin +shares$")
    assert leave(screen) == 0


@pytest.mark.parametrize("columns, rows, way", [(80, 24, "q"), (200, 50, ESCAPE), (60, 10, BACKSPACE)])
def test_the_source_of_a_function_is_opened_and_closed(top, columns, rows, way):
    screen = top("--sort", "total", "--filter", "^half$", columns=200, rows=rows)
    screen.wait_for(r" [0-9,]{3,} samples")
    screen.resize(columns, rows)
    screen.wait_for(r" half +shares$")
    screen.press("a")
    screen.wait_for(r"^half, line by line")
    # The hot code is the instructions of its loop, where the view starts.
    screen.wait_for(r"^ *[0-9]+\.[0-9] % +[0-9]+\.[0-9] % +[0-9a-f]+  [a-z]+")
    assert max(map(len, screen.lines)) <= columns
    screen.press(HOME)
    screen.wait_for(r"^half in shares: self [0-9.]+ %, total [0-9.]+ %$")
    screen.wait_for(r"^ +self +total +line +\S*shares\.c$" if columns > 80 else r"^ +self +total +line +/")
    screen.press(ENTER + "a")
    screen.wait_for(r"^no function in this line")
    screen.press(way)
    screen.wait_for(r"^by function, total first")
    screen.wait_for(r" half +shares$")
    assert leave(screen) == 0


def test_a_key_switches_between_running_and_waiting(top, target):
    screen = top("--wall", words=["--", target("asleep"), "halves", 600], columns=120)
    screen.wait_for(r" (spin|computes) +asleep$", r"^prof top.* cpu-clock \(e: off-cpu\)")
    screen.press("e")
    screen.wait_for(r" sleeps +\[nanosleep\]", r" function +waits in$", r"^prof top.* off-cpu \(e: cpu-clock\)",
                    r"^by function.* CPU, .* waiting")
    screen.press("e")
    screen.wait_for(r" (spin|computes) +asleep$")
    assert leave(screen) == 0


def test_a_filter_is_typed_and_removed(top):
    screen = top()
    screen.wait_for(r" spin +shares$")
    screen.press("t/^hx" + BACKSPACE + "a")
    screen.wait_for(r"^filter: \^ha$")
    screen.press(ENTER)
    screen.wait_for(r"matching /\^ha/")
    screen.wait_for(r" half +shares$")
    screen.wait(lambda: not any(" main " in line for line in screen.lines))
    screen.press("/(" + ENTER)
    screen.wait_for(r'^"\^ha\(": ')
    screen.press(ESCAPE)
    screen.wait_for(r" main +shares$")
    assert leave(screen) == 0


def test_the_display_is_paused_and_resumed(top):
    screen = top(columns=140)
    screen.wait_for(r" spin +shares$")
    screen.press(" ")
    screen.wait_for(r" PAUSED$")

    def wait_for_a_second():
        until = int(screen.wait_for(r", ([0-9]+) s\b")[1]) + 1
        screen.wait(lambda: int(screen.wait_for(r", ([0-9]+) s\b")[1]) >= until)

    wait_for_a_second()  # then the screen that was paused is complete
    held = screen.lines[FIRST_ROW:-1]
    wait_for_a_second()
    assert screen.lines[FIRST_ROW:-1] == held
    screen.press(" ")
    screen.wait(lambda: not any(line.endswith("PAUSED") for line in screen.lines))
    assert leave(screen) == 0


def test_the_command_does_not_use_the_terminal_and_the_last_refresh_stays(top, target):
    script = '[ ! -t 0 ] && [ ! -t 1 ] && [ ! -t 2 ] && read line || echo garbage; "$0" 0.5; exit 3'
    screen = top(words=["--", "sh", "-c", script, target("shares")])
    screen.wait_for(r" ENDED$", r" spin +shares$")
    assert leave(screen) == 3
    assert b"garbage" not in screen.sent


def test_a_command_that_still_runs_at_the_end_gets_sigterm(top, tmp_path):
    screen = top(words=["--", "sh", "-c", "trap 'echo told > told; exit 0' TERM; touch up; while :; do :; done"])
    screen.wait((tmp_path / "up").exists)
    assert leave(screen) == 0
    assert (tmp_path / "told").read_text() == "told\n"


def test_a_terminal_that_is_closed_ends_top_and_its_command(top, target, tmp_path):
    screen = top(words=["--", "sh", "-c", 'echo $$ > pid; exec "$0" 600', target("shares")])
    screen.wait_for(r" spin +shares$")
    os.close(screen.fd)
    status, screen.pid = os.waitpid(screen.pid, 0)[1], None
    assert os.waitstatus_to_exitcode(status) == -signal.SIGHUP
    assert not os.path.exists(f"/proc/{(tmp_path / 'pid').read_text().strip()}")


SHELL = """stty -g > before
sh -c 'echo $$ > pid; exec "$0" "$@"' "$@"
printf '\\nstatus %s\\n' $?
stty -g > after"""


@pytest.fixture
def in_shell(on_screen, prof, service, tmp_path):
    """A prof top in a shell on a screen that stores the terminal's settings before and after, and its process id."""
    screen = on_screen(["/bin/sh", "-c", SHELL, "sh", prof.binary, "top", "-d", 0.1, "-p", service.pid])
    screen.wait_for(r" spin +service$")
    assert screen.sent.count(b"\033[?1049h") == 1
    return screen, int((tmp_path / "pid").read_text())


def assert_restored(screen, folder):
    assert screen.end() == 0
    assert screen.sent.rfind(b"\033[?1049l") > screen.sent.rfind(b"\033[?1049h")
    assert screen.sent.rfind(b"\033[?25h") > screen.sent.rfind(b"\033[?25l"), "the cursor"
    assert (folder / "after").read_text() == (folder / "before").read_text()


# The signal without a name in Python is the coprocessor's, 16. The handler of the others ends the process by the same
# signal.
@pytest.mark.parametrize("number, status", [
    (signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGHUP, 0),
    *((number, 128 + number) for number in (signal.SIGQUIT, signal.SIGBUS, signal.SIGSEGV, 16, signal.SIGRTMAX))])
def test_the_terminal_is_restored_by_every_signal_that_ends_it(in_shell, number, status, tmp_path):
    screen, pid = in_shell
    os.kill(pid, number)
    screen.wait_for(f"^status {status}$")
    assert_restored(screen, tmp_path)


def test_the_terminal_is_restored_when_memory_is_exhausted(in_shell, tmp_path):
    screen, pid = in_shell
    resource.prlimit(pid, resource.RLIMIT_DATA, (0, 0))
    screen.press("a")
    screen.wait_for("^status 1$")
    assert screen.sent.rfind(b"prof: out of memory") > screen.sent.rfind(b"\033[?1049l")
    assert_restored(screen, tmp_path)


def is_writing(pid):
    with open(f"/proc/{pid}/syscall", encoding="utf-8") as file:
        return file.read().split()[0] == {"x86_64": "1"}.get(os.uname().machine, "64")


def test_a_stopped_terminal_does_not_keep_prof_from_ending(in_shell, tmp_path):
    """After Ctrl-S, every write blocks."""
    screen, pid = in_shell
    screen.press("\x13")
    while not is_writing(pid):
        time.sleep(0.01)
    os.kill(pid, signal.SIGTERM)
    screen.wait_for("^status 143$")
    assert_restored(screen, tmp_path)


@pytest.mark.parametrize("environment, coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"CLICOLOR": "0"}, False)])
def test_colours_are_used_unless_switched_off(top, environment, coloured):
    screen = top(environment=environment)
    screen.wait_for(r" spin +shares$")
    screen.press(DOWN)
    screen.wait(lambda: not screen.screen.buffer[FIRST_ROW][3].reverse)
    assert leave(screen) == 0
    assert bool(re.search(rb"\033\[3[0-7]m", screen.sent)) == coloured


def test_an_unknown_terminal_is_refused(top):
    screen = top(environment={"TERM": "nonesuch"})
    screen.wait_for(r'unknown terminal type "nonesuch"')


# ---- A recorded time ----

START = int(datetime(2026, 11, 24, 14, 0, tzinfo=timezone.utc).timestamp())
LEFT, RIGHT = "\033OD", "\033OC"


@pytest.fixture
def ring(tmp_path):
    """Segments of a minute from 14:00 to 14:10 of 2026-11-24, UTC. The hot functions are f0, f1, …. Nothing ran at
    14:03 and 14:04."""
    folder = tmp_path / "ring"
    folder.mkdir()
    for minute in (0, 1, 2, 5, 6, 7, 8, 9):
        write_segment(folder, START + 60 * minute, 60, {f"main;f{minute}": 60, "main;always": 10})
    return folder


@pytest.fixture
def past(on_screen, prof, ring):
    """past(time, option, ...) runs prof top for that time of 2026-11-24 on a terminal."""

    def start(at, *options):
        return on_screen([prof.binary, "top", *options, "--at", at, "ring"], environment={"TZ": "UTC"}, columns=110)

    return start


def test_keys_step_through_the_recorded_minutes(past):
    screen = past("2026-11-24 14:05:30")

    def wait_for_minute(minute):
        screen.wait_for(rf"^prof top: 2026-11-24 14:0{minute}:00 to 14:\d\d:00, cpu, 70 samples, ",
                        rf"^ *85\.7 % +85\.7 % .* f{minute}$", r"^q quit  \? help  \[ \] times")

    wait_for_minute(5)
    for keys, minute in ("]", 6), (LEFT, 5), (RIGHT + RIGHT, 7), ("[[", 5), ("[", 2), ("]", 5):  # nothing ran at 14:03 and 14:04
        screen.press(keys)
        wait_for_minute(minute)
    screen.press("]]]]]")
    screen.wait_for("^prof top: 2026-11-24 14:09:00 to 14:10:00", "has no segments of that time$")
    assert leave(screen) == 0


def test_a_list_that_is_longer_than_the_screen_scrolls(past, ring):
    write_segment(ring, START + 1200, 60, {f"f{number}": 100 - number for number in range(10, 50)})
    screen = past("2026-11-24 14:20")
    for keys, first in ("", 10), (22 * DOWN, 13), (22 * UP, 10):
        screen.press(keys)
        shown = [f"f{number}" for number in range(first, first + 20)]
        screen.wait(lambda: [line.rpartition(" ")[2] for line in screen.lines[FIRST_ROW:-1]] == shown)
    assert leave(screen) == 0


def test_a_range_has_all_of_its_minutes_and_steps_by_its_length(past):
    screen = past("2026-11-24 14:05..2026-11-24 14:07")
    screen.wait_for(r"^prof top: 2026-11-24 14:05:00 to 14:07:00, cpu, 140 samples")
    screen.press("]")
    screen.wait_for(r"^prof top: 2026-11-24 14:07:00 to 14:09:00, cpu, 140 samples")
    assert leave(screen) == 0


def test_pages_of_a_recorded_time_are_those_of_a_live_view(past):
    screen = past("2026-11-24 14:05")
    screen.wait_for(r" f5$")
    screen.press(ENTER)
    screen.wait_for(r"^f5, down to")
    screen.wait_for(r" main$")
    screen.press("]")
    screen.wait_for(r"14:06:00 to 14:07:00")
    screen.press(BACKSPACE + "c")
    screen.wait_for(r"[├└] f6$")
    screen.press("?")
    screen.wait_for(r"\] Right +go to the time after")
    screen.press("? ")
    screen.wait_for("^unknown key")
    assert leave(screen) == 0


def test_segments_that_cannot_be_read_do_not_disturb_the_screen(past, ring):
    (ring / name_at(START + 360)).write_bytes(b"damaged")
    screen = past("2026-11-24 14:05..2026-11-24 14:06")
    screen.wait_for(r" f5$")
    screen.press("]")
    screen.wait_for("^prof top: 2026-11-24 14:05:00 to", r"^no segment can be read: ")
    assert leave(screen) == 0


def test_a_signal_ends_a_view_of_the_past(past):
    screen = past("2026-11-24 14:05")
    screen.wait_for(r" f5$")
    os.kill(screen.pid, signal.SIGINT)
    assert screen.end() == 0
    assert screen.sent.rfind(b"\033[?1049l") > screen.sent.rfind(b"\033[?1049h")


def test_a_recorded_time_is_printed_as_text(prof, ring):
    result = prof.run("top", "-b", "--by", "process", "--label", "comm=work*", "--at", "2026-11-24 14:05", ring, env={**os.environ, "TZ": "UTC"})
    title, heading, row = result.stdout.splitlines()[:3]
    assert title == "2026-11-24 14:05:00 to 14:06:00, cpu: 70 samples"
    assert heading.split() == ["self", "total", "process"] and row.startswith("100.0 %")


@pytest.mark.parametrize("words, status, complaint", [
    (["--at", "noon", "RING"], 1, '"noon" is not a time'),
    (["--at", "2020-01-01", "RING"], 1, "has no segments of that time"),
    (["--at", "14:05", "nowhere"], 1, "nowhere"),
    (["--at", "2026-11-24", "RING", "RING"], 2, "--at shows one directory"),
    (["-p", "1", "--at", "2026-11-24", "RING"], 2, "--at shows what was recorded"),
    (["--label", "tenant=a", "--at", "2026-11-24", "RING"], 1, 'no sample has a label "tenant"'),
    (["--show-event", "cycles", "--at", "2026-11-24", "RING"], 1, 'has no event "cycles"'),
])
def test_what_no_recorded_time_has_is_said(prof, ring, words, status, complaint):
    result = prof("top", "-b", *(str(ring) if word == "RING" else word for word in words))
    assert result.returncode == status and complaint in result.stderr
