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


class Screen(Terminal):
    """A full-screen program."""

    def __init__(self, words, folder, columns=80, rows=24, environment=None):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
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

    def wait_for(self, expression):
        """Waits until a line of the screen matches; returns the match."""
        found = []

        def matches():
            found[:] = filter(None, (re.search(expression, line) for line in self.lines))
            return found

        self.wait(matches)
        return found[0]

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def resize(self, columns, rows):
        self.screen.resize(rows, columns)
        ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
