"""Elapsed time: --elapsed, and --latency as in perf."""

import json
import os
import random
import re
import sys
from collections import Counter
from subprocess import Popen

import pytest

from profiles import Pprof, Stacks

EVENT = ("elapsed", "nanoseconds")
# The functions of each phase. The worker may still wait for a CPU when its phase starts.
PHASES = {"serial": {"serial"}, "parallel": {"parallel", "work"}, "waiting": {"waiting"}}


class Run:
    """A recording of the target `duet`, and the times that the program has measured itself."""

    def __init__(self, prof, program, *, seconds=1, **options):
        result = prof.run("record", "--elapsed", "-o", "run.pb.gz", "-o", "run.perf.txt", "--", program, seconds, **options)
        lines = [line.split() for line in result.stdout.splitlines()]
        self.ns = {name: int(ns) for name, ns, _ in lines}
        self.pprof = Pprof.read(prof.folder / "run.pb.gz")
        index = self.pprof.sample_types().index(EVENT)
        self.samples = [(self.pprof.frames(sample), self.pprof.labels(sample), sample.value[index])
                        for sample in self.pprof.message.sample if sample.value[index]]
        # On a busy machine a thread may wait for a CPU before its first sample in a function, or between the phases.
        between = self.ns["all"] - sum(self.ns[phase] for phase in PHASES)
        without_function = sum(ns for frames, _, ns in self.samples if len(frames) == 1 and frames[0].startswith("["))
        self.doubt = sum(int(sampled) for _, _, sampled in lines) + between + without_function
        text = (prof.folder / "run.perf.txt").read_text(encoding="utf-8")
        self.parts = [(int(float(time) * 1e6) * 1000, int(weight))
                      for time, weight in re.findall(r"^\S.* ([\d.]+): +(\d+) elapsed:", text, re.MULTILINE)]

    def by_parallelism(self, phase):
        sums = Counter()
        for frames, labels, ns in self.samples:
            if PHASES[phase].intersection(frames):
                sums[labels["parallelism"]] += ns
        return sums

    def tolerance(self, phase):
        return 0.02 * self.ns[phase] + self.doubt

    def within(self, start, end):
        """The elapsed time in a range. Parts of a run are passed on with each sample, parts of a wait as a whole."""
        return sum(max(0, min(end, time) - max(start, time - weight)) for time, weight in self.parts)


def stay_on_one_cpu():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


@pytest.fixture(params=["root", "ordinary", "preempted"])
def run(request, prof, target, started):
    """The program, recorded by root or an ordinary user, or with six busy programs on its only CPU."""
    if request.param == "root":
        return Run(prof, target("duet"))
    if request.param == "ordinary":
        user = request.getfixturevalue("ordinary")
        return Run(user, user.bring(target("duet")))
    for _ in range(6):
        started(Popen([sys.executable, "-c", "while True: pass"], preexec_fn=stay_on_one_cpu, start_new_session=True))
    return Run(prof, target("duet"), preexec_fn=stay_on_one_cpu)


def test_elapsed_time_adds_up_to_the_clock_and_its_phases_to_those_of_the_program(run):
    total = sum(ns for _, _, ns in run.samples)
    assert 0.99 * run.ns["all"] < total < 1.01 * run.pprof.message.duration_nanos
    phases = {phase: run.by_parallelism(phase) for phase in PHASES}
    for phase, sums in phases.items():
        assert abs(sums.total() - run.ns[phase]) < run.tolerance(phase), f"{phase}: {sums}, {run.ns}"
    assert phases["serial"][0] + phases["serial"][1] > run.ns["serial"] - run.tolerance("serial")
    assert phases["waiting"][0] > run.ns["waiting"] - run.tolerance("waiting")
    first, last = run.parts[0][0], run.parts[-1][0]
    chance = random.Random(38)
    for _ in range(10):
        length = chance.uniform(0.3, 0.9) * (last - first)
        start = chance.uniform(first, last - length)
        # Both threads may have run for up to a millisecond since their last sample, at either end.
        assert abs(run.within(start, start + length) - length) < 0.01 * length + 4e6


@pytest.fixture
def recorded(prof, target):
    prof.run("record", "--latency", "-o", "run.pb.gz", "--", target("duet"), 0.2)
    return prof


def test_latency_alone_is_the_option_of_perf(recorded):
    assert EVENT in Pprof.read(recorded.folder / "run.pb.gz").sample_types()
    shown = recorded.run("report", "--latency", "run.pb.gz").stdout
    assert shown == recorded.run("report", "-e", "elapsed", "run.pb.gz").stdout
    assert "> elapsed: " in shown


@pytest.mark.parametrize("words, command", [
    (["true", "argument"], "true"),  # a program in PATH
    (["./run", "argument"], "./run"),
    (["./missing", "argument"], None), (["missing", "argument"], None), (["missing"], None)])
def test_the_word_after_latency_is_a_command_unless_only_a_function_makes_sense(prof, words, command):
    (prof.folder / "run").symlink_to("/bin/true")
    result = prof("record", "--latency", "-o", "run.pb.gz", *words)
    assert "--calls" not in result.stderr
    assert (result.returncode == 0) == bool(command), result.stderr
    result = prof("record", "--latency", *words)
    assert "--calls" not in result.stderr
    assert (result.returncode == 0) == bool(command), result.stderr
    assert command or f"{words[0]}" in result.stderr


def selected_ns(prof, *options):
    return json.loads(prof.run("report", "-e", "elapsed", "--json", *options, "run.pb.gz").stdout)["all"]["weight"]


def test_the_header_has_the_parallelism_and_an_option_selects_it(recorded):
    shown = recorded.run("report", "run.pb.gz").stdout
    assert re.search(r"^0 threads ran [\d.]+ % of [\d.]+ m?s, 1 thread [\d.]+ %", shown, re.MULTILINE), shown
    silent = recorded.run("report", "--parallelism", "0", "--no-tree", "run.pb.gz").stdout
    assert re.search(r"^> elapsed: ", silent, re.MULTILINE)
    assert re.search(r" waiting +\[nanosleep\]", silent), silent
    selected = {choice: selected_ns(recorded, *choice) for choice in [(), ("--parallelism", "0"), ("--parallelism=1-2",)]}
    whole, *parts = selected.values()
    assert whole == sum(parts) and parts[0] > 0.19e9, selected


def test_a_conversion_keeps_only_the_selected_elapsed_time(recorded):
    recorded.run("convert", "run.pb.gz", "--parallelism", "0", "-o", "silent.pb.gz", "-o", "silent.folded")
    all_of, kept = (Pprof.read(recorded.folder / name) for name in ("run.pb.gz", "silent.pb.gz"))
    sums = [{name: sum(sample.value[i] for sample in profile.message.sample) for i, (name, _) in enumerate(profile.sample_types())}
            for profile in (all_of, kept)]
    assert Stacks.read(recorded.folder / "silent.folded").total == sums[1].pop("elapsed") == selected_ns(recorded, "--parallelism", "0") < sums[0].pop("elapsed")
    assert {name: ns for name, ns in sums[1].items() if name != "samples"} == {name: ns for name, ns in sums[0].items() if name != "samples"}


def test_a_conversion_needs_elapsed_time_to_select_from(prof):
    (prof.folder / "in.folded").write_text("main 1\n")
    result = prof("convert", "in.folded", "--parallelism", "1", "-o", "out.folded")
    assert result.returncode != 0 and "prof record --elapsed" in result.stderr
