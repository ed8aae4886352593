"""A pseudoterminal: reads the output of a program and types its input."""

import os
import pty
import re
import select
import struct
import termios
import time
from fcntl import ioctl

from time_limit import TIME_LIMIT_S


class Terminal:
    """A program on its own pseudoterminal."""

    def __init__(self, words, folder, columns=80, rows=24, environment=None):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            # Readline, which pytest imports, exports the size of its terminal to the workers of pytest-xdist.
            own = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
            os.execve(words[0], words, {**own, **(environment or {})})
        os.set_inheritable(self.fd, False)  # in another program it would outlive this one
        self.text = ""

    def read(self):
        """Reads some output. Returns False at the end."""
        assert select.select([self.fd], [], [], TIME_LIMIT_S)[0], f"nothing more comes: {self.text}"
        try:
            more = os.read(self.fd, 65536)
        except OSError:
            more = b""
        self.text += more.decode(errors="replace")
        return bool(more)

    def read_until(self, expression):
        end = time.monotonic() + TIME_LIMIT_S
        while not re.search(expression, self.text):
            assert self.read() and time.monotonic() < end, self.text

    def end(self):
        """Reads to the end and returns the exit status."""
        while self.read():
            pass
        os.close(self.fd)
        _, status = os.waitpid(self.pid, 0)
        self.pid = None
        return os.waitstatus_to_exitcode(status)
