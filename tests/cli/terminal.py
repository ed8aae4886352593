"""A terminal for the tests: what a program shows on it, and what is typed."""

import os
import pty
import re
import select
import struct
import termios
import time
from fcntl import ioctl

from patience import TIME_LIMIT_S


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, words, folder, columns=80, rows=24, environment=None):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(words[0], words, {**os.environ, **(environment or {})})
        os.set_inheritable(self.fd, False)  # in another program it would outlive this one
        self.text = ""

    def read(self):
        """Some more of what it shows; False at the end."""
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
        """Reads to the end; the exit status."""
        while self.read():
            pass
        os.close(self.fd)
        _, status = os.waitpid(self.pid, 0)
        self.pid = None
        return os.waitstatus_to_exitcode(status)
