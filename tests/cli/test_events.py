"""Events: PMUs with their terms, machines with several kinds of CPU, and a comparison with perf's parser."""

import os
import re
import subprocess

import pytest

from conftest import BUILD
from lacking import lacking, tool
from profiles import Pprof, Stacks

FORMATS = {"event": "config:0-7", "umask": "config:8-15", "inv": "config:23", "cmask": "config:24-31", "ldlat": "config1:0-15"}
INTEL = {"cpu": {"type": 4, "formats": FORMATS, "events": {"mem-loads": "event=0xcd,umask=0x1", "given": "event=0x1,umask=?"}}}
AMD = {"cpu": {"type": 4, "formats": {**FORMATS, "event": "config:0-7,32-35"}}, "amd_l3": {"type": 12, "cpumask": 0, "formats": FORMATS}}
HYBRID = {"cpu_core": {"type": 4, "cpus": 0, "formats": FORMATS}, "cpu_atom": {"type": 10, "cpus": f"1-{max(1, os.cpu_count() - 1)}", "formats": FORMATS}}


def make_pmus(folder, pmus):
    """Makes a directory like /sys/bus/event_source/devices."""
    for name, pmu in pmus.items():
        files = {key: value for key, value in pmu.items() if key not in ("formats", "events")}
        files |= {f"format/{term}": bits for term, bits in pmu.get("formats", {}).items()}
        files |= {f"events/{event}": terms for event, terms in pmu.get("events", {}).items()}
        for file, text in files.items():
            path = folder / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n", encoding="utf-8")
    return folder


@pytest.fixture
def on_hybrid(tmp_path):
    """The environment of a prof on a machine whose CPU 0 is a big core. lacks: the kind without a counter."""
    if (os.cpu_count() or 1) < 2 or not {0, 1} <= os.sched_getaffinity(0):
        lacking("a second CPU")
    library = BUILD / "tests" / "targets" / "libhybrid.so"
    pmus = make_pmus(tmp_path / "pmus", HYBRID)

    def environment(lacks="", **more):
        return {**os.environ, "LD_PRELOAD": str(library), "HYBRID_PMUS": str(pmus), "HYBRID_LACKS": lacks, **more}

    return environment


@pytest.fixture
def on_both_cpus(target):
    """A command that uses as much time of CPU 0 as of CPU 1."""
    shares = target("shares")
    return ["sh", "-c", f"taskset -c 0 {shares} 0.3 & taskset -c 1 {shares} 0.3; wait"]


def test_cycles_are_counted_on_every_kind_of_cpu_as_one_event(prof, on_hybrid, on_both_cpus):
    result = prof.record(*["-e", "cycles", "--"], *on_both_cpus, env=on_hybrid())
    only_big = prof.record(*["-e", "cpu_core/cycles/", "--"], *on_both_cpus, env=on_hybrid())
    assert "no counter" not in result.result.stderr + only_big.result.stderr
    assert "cycles" in dict(result.pprof.sample_types())
    assert 0.5 < only_big.stacks.total / result.stacks.total * 2 < 1.5, "half of the work was on CPU 0"


def test_perf_reads_the_events_of_each_kind_and_prof_the_sum(prof, client, on_hybrid, on_both_cpus):
    perf = client("perf")
    prof.run("record", "-e", "cycles", "-o", "record.data", "-o", "record.folded", "--", *on_both_cpus, env=on_hybrid())
    listed = subprocess.run([perf, "evlist", "-i", "record.data"], cwd=prof.folder, capture_output=True, text=True, check=True)
    assert listed.stdout.split() == ["cpu_atom/cycles/", "cpu_core/cycles/"]
    script = subprocess.run([perf, "script", "-i", "record.data", "-F", "event,ip"], cwd=prof.folder, capture_output=True, text=True, check=True)
    atom, core = (len(re.findall(rf"^\s*cpu_{kind}/cycles/:", script.stdout, re.MULTILINE)) for kind in ("atom", "core"))
    assert atom > 0 and core > 0
    assert atom + core == Stacks.read(prof.folder / "record.folded").total
    assert prof("convert", "record.data", "-o", "converted.pb.gz", "-o", "converted.folded").returncode == 0
    assert "cycles" in dict(Pprof.read(prof.folder / "converted.pb.gz").sample_types())
    assert Stacks.read(prof.folder / "converted.folded").total == atom + core


def test_an_event_of_a_package_needs_the_whole_machine(prof, on_hybrid, tmp_path):
    make_pmus(tmp_path / "pmus", AMD)
    result = prof("record", "-e", "amd_l3/event=1/", "--", "true", env=on_hybrid())
    assert result.returncode != 0
    assert "amd_l3/event=1/ is counted per package, not per process" in result.stderr
    assert "with -a" in result.stderr


def test_an_event_may_have_its_own_rate_name_and_call_graph(prof, target):
    """One event with 499 Hz and one with 20 ms. Without a call graph, a stack has one frame."""
    events = ["-e", "cpu-clock/freq=499/", "-e", "cpu-clock/period=20000000,name=seldom,call-graph=no/u"]
    profile = prof.record("-F", "19", *events, "--", target("shares"), "0.5").pprof
    seldom = [name for name, _ in profile.sample_types()].index("seldom")
    stacks = [sample for sample in profile.message.sample if sample.value[seldom]]
    assert stacks
    assert all(len(sample.location_id) == 1 and sample.value[seldom] % 20_000_000 == 0 for sample in stacks)
    assert profile.total() > 50, "far more than 19 Hz"


# Events, and attributes that are not compared: perf sets exclude_guest for modifiers that do not concern guests.
SPECS = {
    "machine": ["cpu-clock", "cpu-clock:u", "cpu-clock:k", "cpu-clock:h", "cpu-clock:uk", "cpu-clock//u", "faults", "cs", "cycles", "cycles:u",
                "cycles:ppp", "cycles:P", "cycles:G", "cycles/period=100000/", "cycles/freq=50,name=mine/uk", "r1a8", "r1a8:k",
                "L1-dcache-load-misses", "LLC-stores", "dTLB-loads", "node-prefetch-misses", "software/config=1/", "cpu-clock/period=5,freq=7/"],
    "intel": ["cpu/event=0x3c,umask=0x1,cmask=1,inv/u", "cpu/event=60/", "cpu/config=0xabc/", "cpu/umask=2,config=0xff00ff/",
              "cpu/config1=1,config2=2/", "cpu/r1a8/", "cpu/mem-loads/", "cpu/mem-loads,ldlat=30/P", "cpu/ldlat=30,mem-loads/",
              "cpu/event=1,period=7/", "cpu/event=010/", "cpu/given,umask=5/"],
    "amd": ["cpu/event=0x1ff/", "cpu/event=0xfff,umask=7/pp", "amd_l3/event=4/"],
    "hybrid": ["cycles", "cycles:u", "instructions/period=5/k", "r1a8", "cpu_core/cycles/", "cpu_atom/event=0x3c/u"],
}
WRONG = {
    "machine": ["nopmu/x=1/", "cycles/event=1/", "cycles/period=1", "cycles:pppp", "cpu-clock/u"],
    "intel": ["cpu/bogus/", "cpu/mem-loads=2/", "cpu/event=0x100/", "cpu/inv=2/", "cpu/event=-1/", "cpu/event=0x10000000000000000/",
              "cpu/event=1/:u", "cpu/event=1/x", "cpu/given/"],
}
MACHINES = {"intel": INTEL, "amd": AMD, "hybrid": HYBRID}
MEMBERS = {"type": "type", "config": "config", "{ bp_addr, config1 }": "config1", "{ bp_len, config2 }": "config2",
           "{ sample_period, sample_freq }": "sample", "freq": "freq", "exclude_user": "exclude_user", "exclude_kernel": "exclude_kernel",
           "exclude_hv": "exclude_hv", "exclude_host": "exclude_host", "precise_ip": "precise_ip"}


def on_machine(name, folder, *command):
    """Runs a command with the PMUs of that machine in sysfs."""
    if name != "machine":
        if os.geteuid() != 0:
            pytest.skip("mounting a directory over sysfs needs root")
        mounted = make_pmus(folder / name, MACHINES[name])
        command = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /sys/bus/event_source/devices && exec "$@"', mounted, *command]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def attributes_of_perf(perf, machine, folder, spec):
    """The first attributes with which perf asks the kernel to sample (earlier ones may probe the kernel), or None if it
    refuses the event."""
    text = on_machine(machine, folder, perf, "record", "-vv", "-o", "perf.data", "-e", spec, "true").stderr
    for block in re.findall(r"perf_event_attr:\n(.*?)\n-----", text, re.DOTALL):
        members = dict(re.match(r"\s*(.*?)\s{2,}(.*)", line).groups() for line in block.splitlines())
        found = {MEMBERS[name]: int(value, 0) for name, value in members.items() if name in MEMBERS}
        if "sample" in found:
            return found
    return None


def attributes_of_prof(machine, folder, spec):
    printed = on_machine(machine, folder, BUILD / "tests" / "unit" / "print_event", spec).stdout
    if printed.startswith("error: "):
        return []
    return [{name: int(value, 16) for name, value in (word.split("=") for word in line.split())} for line in printed.splitlines()]


@pytest.mark.parametrize("machine", SPECS)
def test_events_have_the_attributes_that_perf_gives_them(machine, tmp_path):
    perf = tool("perf")
    for spec in SPECS[machine]:
        expected = attributes_of_perf(perf, machine, tmp_path, spec)
        found = attributes_of_prof(machine, tmp_path, spec)
        assert expected in found, spec
        assert len(found) == (2 if machine == "hybrid" and "/" not in spec.replace("/period=5/", "") else 1)


@pytest.mark.parametrize("machine", WRONG)
def test_words_that_perf_refuses_are_refused(machine, tmp_path):
    perf = tool("perf")
    for spec in WRONG[machine]:
        assert attributes_of_perf(perf, machine, tmp_path, spec) is None, spec
        assert attributes_of_prof(machine, tmp_path, spec) == [], spec
