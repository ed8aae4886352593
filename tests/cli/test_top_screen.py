"""prof top on a terminal: what is on the screen, what keys do, and that the terminal is left as it was."""

import os
import signal
import termios

import pytest

from conftest import lacking

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


def test_the_hottest_functions_stand_on_the_screen(top):
    screen = top()
    screen.wait_for(r"^ *(100|[89][0-9])\.[0-9] % +[0-9.]+ % +█+ +spin +shares$")
    assert screen.lines[0].startswith("prof top: shares, ")
    assert screen.lines[2].split() == ["self", "total", "function", "module"]
    assert screen.lines[-1].startswith("q quit")
    assert leave(screen) == 0


@pytest.mark.parametrize("columns, rows", [(80, 24), (200, 50), (60, 10)])
def test_it_fits_the_terminal(top, columns, rows):
    screen = top(columns=columns, rows=rows)
    screen.wait_for(r" spin +shares$")
    assert columns - 12 < max(map(len, screen.lines[FIRST_ROW:-1])) <= columns
    assert screen.lines[rows - 1].startswith("q quit")
    assert leave(screen) == 0


def test_a_terminal_that_changes_its_size_is_filled_again(top):
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
    screen.wait_for(r"^its callers")
    screen.wait_for(r"├ half$")
    screen.press(BACKSPACE)
    screen.wait_for(r"^by function, self first")
    assert leave(screen) == 0


@pytest.mark.parametrize("columns, rows, way", [(80, 24, "q"), (200, 50, ESCAPE), (60, 10, BACKSPACE)])
def test_a_function_is_told_line_by_line_and_left_again(top, columns, rows, way):
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
    screen.wait_for(r"^no function to open")
    screen.press(way)
    screen.wait_for(r"^by function, total first")
    screen.wait_for(r" half +shares$")
    assert leave(screen) == 0


def test_what_is_no_function_has_no_source(top):
    screen = top("--by", "process")
    screen.wait_for(r" shares$")
    screen.press("a")
    screen.wait_for(r"^no function to open")
    assert leave(screen) == 0


def test_from_the_source_other_pages_can_be_opened(top):
    screen = top()
    screen.wait_for(r" spin +shares$")
    screen.press("a")
    screen.wait_for(r"^spin, line by line")
    screen.press("c")
    screen.wait_for(r"├ half$")
    screen.press("c")
    screen.wait_for(r" spin +shares$")
    assert leave(screen) == 0


def test_the_call_tree_comes_and_goes(top):
    screen = top()
    screen.wait_for(r" spin +shares$")
    screen.press("c")
    screen.wait_for(r"^call tree down to")
    screen.wait_for(r"├ half$")
    screen.press("c")
    screen.wait_for(r"^by function")
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


def test_a_process_opens_into_its_functions(top):
    screen = top("--by", "process")
    screen.wait_for(r"100\.0 % .* shares$")
    screen.press(ENTER)
    screen.wait_for(r"^by function, self first, of process shares")
    screen.wait_for(r" spin +shares$")
    assert leave(screen) == 0


def test_a_filter_is_typed_and_taken_back(top):
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


def test_the_picture_is_held_and_goes_on(top):
    screen = top()
    screen.wait_for(r" spin +shares$")
    screen.press(" ")
    screen.wait_for(r" HELD$")
    held = screen.lines[FIRST_ROW:-1]

    def seconds():
        return int(screen.wait_for(r", ([0-9]+) s, ")[1])

    until = seconds() + 2
    screen.wait(lambda: seconds() >= until)
    assert screen.lines[FIRST_ROW:-1] == held
    screen.press(" ")
    screen.wait(lambda: not any(line.endswith("HELD") for line in screen.lines))
    assert leave(screen) == 0


def test_help_lists_the_keys(top):
    screen = top()
    screen.wait_for(r" spin +shares$")
    screen.press("?")
    screen.wait_for(r"who calls the function and whom it calls")
    screen.press("?")
    screen.wait_for(r" spin +shares$")
    assert leave(screen) == 0


def test_the_last_picture_stays_when_the_command_has_ended(top, target):
    screen = top(words=["--", target("shares"), 0.5])
    screen.wait_for(r" ENDED$")
    screen.wait_for(r" spin +shares$")
    assert leave(screen) == 0


def test_a_command_has_nothing_of_the_terminal(top):
    script = "[ ! -t 0 ] && [ ! -t 1 ] && [ ! -t 2 ] && read line || echo garbage; exit 3"
    screen = top(words=["--", "sh", "-c", script])
    screen.wait_for(r" ENDED$")
    assert leave(screen) == 3
    assert b"garbage" not in screen.sent


SHELL = """stty -g > before
sh -c 'echo $$ > pid; exec "$0" "$@"' "$@"
printf '\\nstatus %s\\n' $?
stty -g > after"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV])
def test_the_terminal_is_left_as_it_was(on_screen, prof, service, number, tmp_path):
    screen = on_screen(["/bin/sh", "-c", SHELL, "sh", prof.binary, "top", "-d", 0.2, "-p", service.pid])
    screen.wait_for(r" spin +service$")
    assert screen.sent.count(b"\033[?1049h") == 1
    os.kill(int((tmp_path / "pid").read_text()), number)
    screen.wait_for(rf"^status {128 + number if number in (signal.SIGQUIT, signal.SIGSEGV) else 0}$")
    assert screen.end() == 0
    assert screen.sent.rfind(b"\033[?1049l") > screen.sent.rfind(b"\033[?1049h")
    assert (tmp_path / "after").read_text() == (tmp_path / "before").read_text()


@pytest.mark.parametrize("environment, coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"CLICOLOR": "0"}, False)])
def test_colours_are_there_unless_they_are_not_wanted(top, environment, coloured):
    screen = top(environment=environment)
    screen.wait_for(r" spin +shares$")
    screen.press(DOWN)
    screen.wait(lambda: not screen.screen.buffer[FIRST_ROW][3].reverse)
    colours = {screen.screen.buffer[row][column].fg for row in range(24) for column in range(80)}
    assert leave(screen) == 0
    assert (colours - {"default"} != set()) == coloured


def test_a_terminal_that_is_not_known_is_refused(top):
    screen = top(environment={"TERM": "nonesuch"})
    screen.wait_for(r'the terminal "nonesuch" is not known')
