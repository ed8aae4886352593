"""The critical path of a program: --critical-path."""

import re
from dataclasses import dataclass

import pytest

from profiles import Pprof

EVENT = ("critical-path", "nanoseconds")
PART = re.compile(r"^\S.* +\d+/(\d+) \[\d+\] +([\d.]+): +(\d+) critical-path: *\n((?:\t.*\n)+)", re.MULTILINE)


@dataclass
class Part:
    tid: int
    start: int
    end: int
    frames: list[str]

    def within(self, leg):
        return max(0, min(self.end, leg.end) - max(self.start, leg.start))


def path_of(text):
    """The parts of the path in a text of `perf script`, whose times have microseconds."""
    parts = []
    for tid, time, weight, stack in PART.findall(text):
        end = int(time.replace(".", "")) * 1000
        parts.append(Part(int(tid), end - int(weight), end, [line.split(maxsplit=1)[1].rpartition(" ")[0] for line in stack.splitlines()]))
    return sorted(parts, key=lambda part: part.end)


@dataclass
class Leg:
    """A part of the path that the program knows (targets/chains.c)."""

    thread: str
    tid: int
    function: str
    start: int
    end: int
    sampled: int  # the time without a sample

    @classmethod
    def read(cls, line):
        thread, tid, function, *numbers = line.split(";")
        return cls(thread, int(tid), function, *map(int, numbers))


def names_on_path(profile):
    """The tids on the path, with the names of the process and the thread."""
    index = profile.sample_types().index(EVENT)
    labels = [profile.labels(sample) for sample in profile.message.sample if sample.value[index]]
    return {(label["tid"], label["comm"], label["thread"]) for label in labels}


def assert_path(prof, program, kind, seconds=0.15):
    result = prof.run("record", "--critical-path", "-o", "run.perf.txt", "-o", "run.pb.gz", "--", program, kind, seconds)
    legs = [Leg.read(line) for line in result.stdout.splitlines()]
    path = path_of((prof.folder / "run.perf.txt").read_text(encoding="utf-8"))
    assert all(abs(before.end - after.start) < 2000 for before, after in zip(path, path[1:])), "the path has a gap"
    assert path[0].start < legs[0].start and legs[-1].end < path[-1].end
    for leg in legs:
        length = leg.end - leg.start
        times = {}
        for part in path:
            name = leg.function if leg.function in part.frames else part.frames[0] if len(part.frames) == 1 else ""
            times[part.tid, name] = times.get((part.tid, name), 0) + part.within(leg)
        of_thread = sum(ns for (tid, _), ns in times.items() if tid == leg.tid)
        # A thread that waits for a CPU before its first sample has no stack.
        without_function = sum(ns for (_, name), ns in times.items() if name.startswith("["))
        assert of_thread > 0.97 * length, f"{leg}: {times}"
        assert times.get((leg.tid, leg.function), 0) > 0.97 * length - leg.sampled - without_function, f"{leg}: {times}"
    names = names_on_path(Pprof.read(prof.folder / "run.pb.gz"))
    assert names >= {(leg.tid, "chains", leg.thread) for leg in legs}, names


@pytest.mark.parametrize("kind", ["join", "pipeline", "convoy", "barrier", "channel"])
def test_the_path_is_the_chain_that_the_program_knows(tracer, target, kind):
    assert_path(tracer, target("chains"), kind)


@pytest.mark.parametrize("kind", ["join", "convoy"])
def test_without_root_the_path_follows_joins_and_locks(ordinary, target, kind):
    assert_path(ordinary, ordinary.bring(target("chains")), kind)


def test_the_path_of_another_thread_ends_with_it(ordinary, target):
    result = ordinary.run("record", "--critical-path=quick", "-o", "run.pb.gz", "-o", "run.perf.txt", "--", ordinary.bring(target("chains")), "join", 0.15)
    prepares, *_ = map(Leg.read, result.stdout.splitlines())
    path = path_of((ordinary.folder / "run.perf.txt").read_text(encoding="utf-8"))
    names = {tid: thread for tid, _, thread in names_on_path(Pprof.read(ordinary.folder / "run.pb.gz"))}
    assert set(names.values()) == {"chains", "quick"} and names[path[-1].tid] == "quick"
    assert sum(part.within(prepares) for part in path if part.tid == prepares.tid) > 0.97 * (prepares.end - prepares.start)


def test_the_path_of_an_unknown_thread_is_missing(prof):
    result = prof.run("record", "--critical-path=nemo", "-o", "run.pb.gz", "--", "true")
    assert 'no recorded thread has the name or tid "nemo"' in result.stderr
    assert EVENT in Pprof.read(prof.folder / "run.pb.gz").sample_types()


def test_processes_that_have_ended_have_their_names(tracer, target):
    """After two seconds, a session forgets threads that have ended."""
    program = target("chains")
    script = f"{program} join 0.05; exec {program} convoy 0.2"
    tracer.run("record", "--critical-path", "-o", "run.pb.gz", "--", "sh", "-c", f"sh -c '{script}'; sleep 2.5")
    names = {(process, thread) for _, process, thread in names_on_path(Pprof.read(tracer.folder / "run.pb.gz"))}
    assert names <= {(process, thread) for process in ("sh", "sleep", "chains")
                     for thread in (process, "lengthy", "locker a", "locker b", "locker c")}, names
    assert {("sh", "sh"), ("sleep", "sleep"), ("chains", "chains"), ("chains", "lengthy"), ("chains", "locker a")} <= names
