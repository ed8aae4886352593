"""A terminal emulator: tests see the text on the screen, not the bytes sent to it."""

import os
import re
import select
import struct
import termios
import time
from fcntl import ioctl

import pyte

from time_limit import TIME_LIMIT_S
from terminal import Terminal


class Emulator(pyte.Screen):
    """The terminal type `screen`. Pyte alone would ignore control sequences that it does not know."""

    def scroll_up(self, count):
        row, self.cursor.y = self.cursor.y, self.margins.bottom if self.margins else self.lines - 1
        for _ in range(count):
            self.index()
        self.cursor.y = row

    def scroll_down(self, count):
        row, self.cursor.y = self.cursor.y, self.margins.top if self.margins else 0
        for _ in range(count):
            self.reverse_index()
        self.cursor.y = row

    def tab_back(self, _):
        self.cursor.x = max((stop for stop in self.tabstops if stop < self.cursor.x), default=0)

    def reset_mode(self, *modes, **private):
        super().reset_mode(*modes, **private)
        if modes == (1049,):  # leaves the alternate screen; the primary screen of the test programs is empty
            self.erase_in_display(2)
            self.cursor_position()

    def cut(self, *_):
        """A sequence that is interrupted by another one, because its rest was discarded with the queue of a stopped
        terminal."""

    def debug(self, *parameters):
        # A sequence without parameters, which switches the keypad, changes no cell.
        assert not parameters, f"a control sequence that the emulator lacks: {parameters}"


class Stream(pyte.ByteStream):
    csi = {**pyte.ByteStream.csi, "S": "scroll_up", "T": "scroll_down", "Z": "tab_back", "\033": "cut"}


class Screen(Terminal):
    """A full-screen program."""

    def __init__(self, words, folder, columns=80, rows=24, environment=None):
        self.screen = Emulator(columns, rows)
        self.stream = Stream(self.screen)
        self.sent = b""
        super().__init__(words, folder, columns, rows, {"TERM": "screen", "LC_ALL": "C.UTF-8", **(environment or {})})

    def read(self):
        assert select.select([self.fd], [], [], TIME_LIMIT_S)[0], "\n".join(self.lines)
        try:
            more = os.read(self.fd, 65536)
        except OSError:
            more = b""
        self.sent += more
        self.stream.feed(more)
        return bool(more)

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def wait(self, is_so):
        """Waits until a condition on the screen holds."""
        end = time.monotonic() + TIME_LIMIT_S
        while not is_so():
            assert self.read() and time.monotonic() < end, "\n".join(self.lines)

    def wait_for(self, *expressions):
        """Waits until lines of the screen match all expressions at the same time. Returns the match of the first one. A
        refresh may arrive in parts, so everything that a test uses has to be waited for."""
        found = []

        def match():
            found[:] = [next(filter(None, (re.search(one, line) for line in self.lines)), None) for one in expressions]
            return all(found)

        self.wait(match)
        return found[0]

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def resize(self, columns, rows):
        self.screen.resize(rows, columns)
        ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
