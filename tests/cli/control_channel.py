"""Programs that follow commands, the channels of prof record --control, and the profiles of such recordings."""

import os
import select
from collections import Counter

from profiles import Pprof
from time_limit import TIME_LIMIT_S


class Phases:
    """A target that carries out each word that it reads, and then prints it: `phases`, `allocations`."""

    def __init__(self, process):
        self.process, self.pid = process, process.pid
        assert process.stdout.readline() == "ready\n"

    def begin(self, phase):
        self.process.stdin.write(phase + "\n")

    def finish(self, phase):
        assert self.process.stdout.readline() == phase + "\n"

    def __call__(self, phase):
        self.begin(phase)
        self.finish(phase)


class Channel:
    """Two FIFOs, and how a program uses them."""

    def __init__(self, folder):
        self.paths = [str(folder / name) for name in ("ctl", "ack")]
        for path in self.paths:
            os.mkfifo(path)
        self.words, self.answers = (os.open(path, os.O_RDWR) for path in self.paths)
        self.how = "fifo:" + ",".join(self.paths)

    def send(self, text):
        os.write(self.words, text.encode() if isinstance(text, str) else text)

    def answer(self):
        """Returns one answer, unmodified. perf ends each with a newline and a NUL."""
        text = b""
        while not text.endswith(b"\0"):
            assert select.select([self.answers], [], [], TIME_LIMIT_S)[0], f"no answer after {text!r}"
            text += os.read(self.answers, 1)
        return text

    def ask(self, command):
        self.send(command + "\n")
        return self.answer()

    def __call__(self, *commands):
        for command in commands:
            assert self.ask(command) == b"ack\n\0", command

    def close(self):
        os.close(self.words)
        os.close(self.answers)


def end(process):
    """Returns its messages."""
    errors = process.communicate(timeout=TIME_LIMIT_S)[1]
    assert process.returncode == 0, errors
    return errors


def weights(path, event="cpu"):
    """The weight of all samples, and that of stacks with each function, in seconds."""
    profile = Pprof.read(path)
    profile.check()
    column = [kind for kind, _ in profile.sample_types()].index(event)
    sums = Counter()
    for sample in profile.message.sample:
        for name in {"", *profile.frames(sample)}:
            sums[name] += sample.value[column] / 1e9
    return sums
