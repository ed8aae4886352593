"""prof top on a terminal: the screen, the keys, and that the terminal is restored."""

import os
import resource
import signal
import termios
import time
from datetime import datetime, timezone

import pytest

from lacking import lacking
from written_segments import name_at, write_segment

try:
    from screen import Screen
except ModuleNotFoundError:
    Screen = None

DOWN, HOME, ENTER, ESCAPE, BACKSPACE = "\033OB", "\033[1~", "\r", "\033", "\x7f"
FIRST_ROW = 3


@pytest.fixture
def on_screen(prof):
    """on_screen(words) is that program on a terminal; what is left of it ends with the test."""
    screens = []

    def start(words, **terminal):
        if not Screen:
            lacking("pyte")
        screens.append(Screen([str(word) for word in words], prof.folder, **terminal))
        return screens[-1]

    yield start
    for screen in screens:
        if screen.pid:
            os.killpg(screen.pid, signal.SIGKILL)  # and its command, which would compete with every test to come
            screen.end()


@pytest.fixture
def top(on_screen, prof, target):
    """top(option, ...) on a terminal, of the target `shares`."""

    def start(*options, words=None, **terminal):
        words = words or ["--", target("shares"), 600]
        return on_screen([prof.binary, "top", "-d", 0.2, *options, *words], **terminal)

    return start


def leave(screen, key="q"):
    screen.press(key)
    return screen.end()


def test_the_hottest_functions_are_on_the_screen(top):
    screen = top()
    screen.wait_for(r"^ *(100|[89][0-9])\.[0-9] % +[0-9.]+ % +█+ +spin +shares$")
    assert screen.lines[0].startswith("prof top: shares, ")
    assert screen.lines[2].split() == ["self", "total", "function", "module"]
    assert screen.lines[-1].startswith("q quit")
    assert leave(screen) == 0


@pytest.mark.parametrize("columns, rows", [(80, 24), (200, 50), (60, 10)])
def test_the_screen_fits_the_terminal(top, columns, rows):
    screen = top(columns=columns, rows=rows)
    screen.wait_for(r" spin +shares$")
    assert columns - 12 < max(map(len, screen.lines[FIRST_ROW:-1])) <= columns
    assert screen.lines[rows - 1].startswith("q quit")
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


def test_enter_shows_callers_and_callees_and_backspace_goes_back(top):
    screen = top()
    screen.wait_for(r" spin +shares$")
    screen.press(ENTER)
    screen.wait_for(r"^spin, down to")
    screen.wait_for(r"^callers")
    screen.wait_for(r"├ half$")
    screen.press(BACKSPACE)
    screen.wait_for(r"^by function, self first")
    assert leave(screen) == 0


@pytest.mark.parametrize("columns, rows, way", [(80, 24, "q"), (200, 50, ESCAPE), (60, 10, BACKSPACE)])
def test_the_source_of_a_function_is_opened_and_closed(top, columns, rows, way):
    screen = top("--sort", "total", "--filter", "^half$", columns=columns, rows=rows)
    screen.wait_for(r" [0-9,]{3,} samples")
    screen.wait_for(r" half +shares$")
    screen.press("a")
    screen.wait_for(r"^half, line by line")
    # What is hot is in the instructions of its loop; the view begins there.
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


def test_rows_that_are_not_functions_have_no_source(top):
    screen = top("--by", "process")
    screen.wait_for(r" shares$")
    screen.press("a")
    screen.wait_for(r"^no function in this line")
    assert leave(screen) == 0


def test_the_call_tree_can_be_opened_from_the_source(top):
    screen = top()
    screen.wait_for(r" spin +shares$")
    screen.press("a")
    screen.wait_for(r"^spin, line by line")
    screen.press("c")
    screen.wait_for(r"├ half$")
    screen.press("c")
    screen.wait_for(r" spin +shares$")
    assert leave(screen) == 0


def test_a_key_opens_and_closes_the_call_tree(top):
    screen = top()
    screen.wait_for(r" spin +shares$")
    screen.press("c")
    screen.wait_for(r"^call tree down to")
    screen.wait_for(r"├ half$")
    screen.press("c")
    screen.wait_for(r"^by function")
    assert leave(screen) == 0


def test_a_key_switches_the_logical_view(top):
    screen = top("--tree")
    screen.wait_for(r" _start$")
    screen.press("L")
    screen.wait_for(r"^call tree down to .*, logical")
    screen.wait_for(r" main \[\d+ folded\]$")
    screen.press("L")
    screen.wait_for(r" _start$")
    assert leave(screen) == 0


def test_keys_choose_the_order_and_the_table(top):
    screen = top()
    screen.wait_for(r" spin +shares$")
    screen.press("t")
    screen.wait_for(r"^by function, total first")
    screen.wait_for(r"(100|9[0-9])\.[0-9] % .* main +shares$")
    for key, title in ("B", "thread"), ("B", "process"), ("b", "thread"), ("b", "function"), ("b", "file"):
        screen.press(key)
        screen.wait_for(rf"^by {title}")
    assert leave(screen) == 0


def test_a_key_switches_between_running_and_waiting(top, target):
    screen = top("--wall", words=["--", target("asleep"), "halves", 600], columns=120)
    screen.wait_for(r" (spin|computes) +asleep$")
    assert "cpu-clock (e: off-cpu)" in screen.lines[0]
    screen.press("e")
    screen.wait_for(r" sleeps +\[nanosleep\]")
    screen.wait_for(r" function +waits in$")
    assert "off-cpu (e: cpu-clock)" in screen.lines[0]
    assert " CPU, " in screen.lines[1] and " waiting" in screen.lines[1]
    screen.press("e")
    screen.wait_for(r" (spin|computes) +asleep$")
    assert leave(screen) == 0


def test_a_process_opens_into_its_functions(top):
    screen = top("--by", "process")
    screen.wait_for(r"100\.0 % .* shares$")
    screen.press(ENTER)
    screen.wait_for(r"^by function, self first, of process shares")
    screen.wait_for(r" spin +shares$")
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
    screen = top()
    screen.wait_for(r" spin +shares$")
    screen.press(" ")
    screen.wait_for(r" PAUSED$")
    held = screen.lines[FIRST_ROW:-1]

    def seconds():
        return int(screen.wait_for(r", ([0-9]+) s, ")[1])

    until = seconds() + 2
    screen.wait(lambda: seconds() >= until)
    assert screen.lines[FIRST_ROW:-1] == held
    screen.press(" ")
    screen.wait(lambda: not any(line.endswith("PAUSED") for line in screen.lines))
    assert leave(screen) == 0


def test_help_lists_the_keys(top):
    screen = top()
    screen.wait_for(r" spin +shares$")
    screen.press("?")
    screen.wait_for(r"show the callers and callees of a function")
    screen.press("?")
    screen.wait_for(r" spin +shares$")
    assert leave(screen) == 0


def test_the_last_refresh_stays_on_the_screen_after_the_command_ends(top, target):
    screen = top(words=["--", target("shares"), 0.5])
    screen.wait_for(r" ENDED$")
    screen.wait_for(r" spin +shares$")
    assert leave(screen) == 0


def test_the_command_does_not_use_the_terminal(top):
    script = "[ ! -t 0 ] && [ ! -t 1 ] && [ ! -t 2 ] && read line || echo garbage; exit 3"
    screen = top(words=["--", "sh", "-c", script])
    screen.wait_for(r" ENDED$")
    assert leave(screen) == 3
    assert b"garbage" not in screen.sent


SHELL = """stty -g > before
sh -c 'echo $$ > pid; exec "$0" "$@"' "$@"
printf '\\nstatus %s\\n' $?
stty -g > after"""


@pytest.fixture
def in_shell(on_screen, prof, service, tmp_path):
    """prof top in a shell on a screen that notes the terminal's settings before and after; and its process id."""
    screen = on_screen(["/bin/sh", "-c", SHELL, "sh", prof.binary, "top", "-d", 0.1, "-p", service.pid])
    screen.wait_for(r" spin +service$")
    assert screen.sent.count(b"\033[?1049h") == 1
    return screen, int((tmp_path / "pid").read_text())


def assert_restored(screen, folder):
    assert screen.end() == 0
    assert screen.sent.rfind(b"\033[?1049l") > screen.sent.rfind(b"\033[?1049h")
    assert screen.sent.rfind(b"\033[?25h") > screen.sent.rfind(b"\033[?25l"), "the cursor"
    assert (folder / "after").read_text() == (folder / "before").read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_restores_the_terminal(in_shell, number, tmp_path):
    screen, pid = in_shell
    os.kill(pid, number)
    screen.wait_for("^status 0$")
    assert_restored(screen, tmp_path)


@pytest.mark.parametrize("number", ["QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "USR1", "SEGV", "ALRM", "STKFLT", "XCPU",
                                    "VTALRM", "PROF", "IO", "PWR", "SYS", "RTMIN", "RTMAX"])
def test_the_terminal_is_restored_by_every_signal_that_kills(in_shell, number, tmp_path):
    screen, pid = in_shell
    # The handler dies by the signal again.
    number = 16 if number == "STKFLT" else getattr(signal, f"SIG{number}")
    os.kill(pid, number)
    screen.wait_for(rf"^status {128 + number}$")
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
    """After Ctrl-S every write waits."""
    screen, pid = in_shell
    screen.press("\x13")
    while not is_writing(pid):
        time.sleep(0.01)
    os.kill(pid, signal.SIGTERM)
    screen.wait_for(r"^status 143\b")
    assert_restored(screen, tmp_path)


@pytest.mark.parametrize("environment, coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"CLICOLOR": "0"}, False)])
def test_colours_are_used_unless_switched_off(top, environment, coloured):
    screen = top(environment=environment)
    screen.wait_for(r" spin +shares$")
    screen.press(DOWN)
    screen.wait(lambda: not screen.screen.buffer[FIRST_ROW][3].reverse)
    colours = {screen.screen.buffer[row][column].fg for row in range(24) for column in range(80)}
    assert leave(screen) == 0
    assert (colours - {"default"} != set()) == coloured


def test_an_unknown_terminal_is_refused(top):
    screen = top(environment={"TERM": "nonesuch"})
    screen.wait_for(r'unknown terminal type "nonesuch"')


# ---- A recorded time ----

START = int(datetime(2026, 11, 24, 14, 0, tzinfo=timezone.utc).timestamp())
LEFT, RIGHT = "\033OD", "\033OC"


@pytest.fixture
def ring(tmp_path):
    """A minute each from 14:00 to 14:10 of 2026-11-24, UTC: the hot function is f0, f1, …; nothing ran at 14:03 and 14:04."""
    folder = tmp_path / "ring"
    folder.mkdir()
    for minute in (0, 1, 2, 5, 6, 7, 8, 9):
        write_segment(folder, START + 60 * minute, 60, {f"main;f{minute}": 60, "main;always": 10})
    return folder


@pytest.fixture
def past(on_screen, prof, ring):
    """past(time, option, ...) is prof top of that time of 2026-11-24 on a terminal."""

    def start(at, *options):
        return on_screen([prof.binary, "top", *options, "--at", at, ring], environment={"TZ": "UTC"}, columns=110)

    return start


def test_a_recorded_minute_is_on_the_screen(past):
    screen = past("2026-11-24 14:05:30")
    screen.wait_for(r"^ *85\.7 % +85\.7 % .* f5$")
    assert screen.lines[0].startswith("prof top: 2026-11-24 14:05:00 to 14:06:00, cpu, 70 samples, ")
    assert screen.lines[-1].startswith("q quit  ? help  [ ] other times")
    assert leave(screen) == 0


def test_keys_step_to_the_minutes_before_and_after(past):
    screen = past("2026-11-24 14:06")
    screen.wait_for(r" f6$")
    screen.press("]")
    screen.wait_for(r"^prof top: 2026-11-24 14:07:00 to 14:08:00")
    screen.wait_for(r" f7$")
    screen.press(LEFT)
    screen.wait_for(r"^prof top: 2026-11-24 14:06:00 to 14:07:00")
    screen.press(RIGHT + RIGHT)
    screen.wait_for(r" f8$")
    screen.press("[")
    screen.wait_for(r" f7$")
    assert leave(screen) == 0


def test_steps_go_over_a_gap_and_end_where_the_recording_does(past):
    screen = past("2026-11-24 14:05")
    screen.wait_for(r" f5$")
    screen.press("[")
    screen.wait_for(r"^prof top: 2026-11-24 14:02:00 to 14:03:00")
    screen.press("]")
    screen.wait_for(r"^prof top: 2026-11-24 14:05:00 to 14:06:00")
    screen.press("]]]]]")
    screen.wait_for("has no segments of that time$")
    assert screen.lines[0].startswith("prof top: 2026-11-24 14:09:00 to 14:10:00")
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
    screen.wait_for(r"^no segment can be read: ")
    screen.wait(lambda: screen.lines[0].startswith("prof top: 2026-11-24 14:05:00 to"))
    assert leave(screen) == 0


def test_a_signal_ends_a_view_of_the_past(past):
    screen = past("2026-11-24 14:05")
    screen.wait_for(r" f5$")
    os.kill(screen.pid, signal.SIGINT)
    assert screen.end() == 0
    assert screen.sent.rfind(b"\033[?1049l") > screen.sent.rfind(b"\033[?1049h")


def test_a_recorded_time_is_printed_as_text(prof, ring):
    result = prof("top", "-b", "--by", "process", "--label", "comm=work*", "--at", "2026-11-24 14:05", ring, env={**os.environ, "TZ": "UTC"})
    assert result.returncode == 0, result.stderr
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
