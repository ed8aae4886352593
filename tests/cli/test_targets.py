"""prof record -G, --container, --name, --wait, --filter-thread: targets that are not given by number, and labels of
cgroups."""

import gzip
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from profiles import Pprof
from time_limit import TIME_LIMIT_S
from until_busy import wait

# Names that are unique to this run, because cgroups and processes are shared by the machine.
TAG = f"{os.getpid():x}"
GROUP = f"prof-{TAG}"
ID = hashlib.sha256(GROUP.encode()).hexdigest()
OTHER_ID = ID[:4] + hashlib.sha256(ID.encode()).hexdigest()[4:]

# Enters the cgroups, which are the first arguments, and executes the program.
ENTER = 'while [ "$1" != -- ]; do echo $$ >"$1/cgroup.procs"; shift; done; shift; exec "$@"'


def hierarchies():
    """Returns the mounts whose cgroups accept perf events: version 2, or the controller perf_event."""
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, folder, kind, options, *_ = line.split()
        if kind == "cgroup2" or (kind == "cgroup" and "perf_event" in options.split(",")):
            yield Path(folder)


@pytest.fixture
def cgroup(root, started):  # after `started`: processes end before their cgroups are removed
    """cgroup("a/b") creates a cgroup and its parents."""
    made = []

    def make(name):
        for mount in hierarchies():
            try:
                for part in [mount / parent for parent in reversed(Path(name).parents)][1:] + [mount / name]:
                    if not part.exists():
                        part.mkdir()
                        made.append(part)
                return mount / name
            except OSError:
                continue
        return pytest.skip("no cgroup hierarchy here takes perf events")

    yield make
    for folder in reversed(made):
        remove(folder)


def remove(folder):
    """Removes the cgroup when its processes are gone, which takes the kernel a moment."""
    deadline = time.monotonic() + TIME_LIMIT_S
    while folder.exists():
        try:
            for pid in (folder / "cgroup.procs").read_text(encoding="ascii").split():
                os.kill(int(pid), signal.SIGKILL)
            folder.rmdir()
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.fixture
def run_in(started):
    """run_in(cgroup, program, argument) starts a program in a cgroup, and waits until it is there."""

    def run(folder, *command):
        process = started(subprocess.Popen(["sh", "-c", ENTER, "sh", folder, "--", *map(str, command)],
                                           start_new_session=True))
        while process.poll() is None and name_of(process.pid) != Path(command[0]).name:
            time.sleep(0.01)
        return process

    return run


@pytest.fixture
def copy(target, tmp_path):
    """copy("name"): the program `shares` under this name."""

    def make(name):
        return tmp_path / name if (tmp_path / name).exists() else shutil.copy(target("shares"), tmp_path / name)

    return make


def name_of(pid):
    return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()


def by_process(recording):
    return recording.pprof.by_label("comm")


def test_a_cgroup_is_recorded_with_its_descendants_and_nothing_else(prof, cgroup, run_in, copy, started, until_busy):
    inside, below = cgroup(GROUP), cgroup(f"{GROUP}/below")
    run_in(inside, copy("inside"), "600")
    deep = run_in(below, copy("below"), "600")
    started(subprocess.Popen([copy("outside"), "600"], start_new_session=True))
    recording = prof.record("-G", GROUP, "--", *until_busy(deep.pid))
    assert set(by_process(recording)) == {"inside", "below"}
    assert recording.pprof.by_label("cgroup").keys() == {f"/{GROUP}", f"/{GROUP}/below"}


def test_several_cgroups_are_recorded_and_each_process_once(prof, cgroup, run_in, copy, started, until_busy):
    first, second, below, other = map(cgroup, (GROUP, f"{GROUP}2", f"{GROUP}/below", f"{GROUP}3"))
    run_in(first, copy("first"), "600")
    run_in(other, copy("other"), "600")
    run_in(below, copy("below"), "600")
    last = run_in(second, copy("second"), "600")
    for options in (["-G", f"{GROUP}/below", "-G", GROUP, "-G", second], ["-G", f"{GROUP},{first}/,{GROUP}2,{GROUP}/below"]):
        recording = prof.record("-F", "499", *options, "--", *until_busy(last.pid))
        assert set(by_process(recording)) == {"first", "below", "second"}
        assert recording.pprof.by_label("cgroup").keys() == {f"/{GROUP}", f"/{GROUP}2", f"/{GROUP}/below"}
        counted = prof("report", "record.pb.gz", "--json", "--by", "label:cgroup").stdout
        cpu_s = sum(row["self"]["weight"] for row in json.loads(counted)["rows"]) / 1e9
        assert cpu_s <= os.cpu_count() * recording.pprof.message.duration_nanos / 1e9 * 1.05


def test_each_event_has_its_own_cgroup_in_a_list_for_as_many_events(prof, cgroup, run_in, copy, until_busy):
    first, second = cgroup(GROUP), cgroup(f"{GROUP}2")
    run_in(first, copy("first"), "600")
    last = run_in(second, copy("second"), "600")
    events = "cpu-clock/name=a/,cpu-clock/name=b/"
    prof.record("-e", events, "-G", f"{GROUP},{GROUP}2", "-o", "record.data", "--", *until_busy(last.pid))
    for event, process in ("a", "first"), ("b", "second"):
        report = json.loads(prof("report", "record.data", "--json", "--by", "process", "-e", event).stdout)
        assert [row["name"] for row in report["rows"]] == [process]
    result = prof("record", "-e", events, "-G", f"{GROUP},{GROUP}2", "--wall", "true")
    assert result.returncode == 1 and "cannot sample each event in a different cgroup" in result.stderr
    result = prof("record", "-e", events, "-G", "a,b,c", "true")
    assert result.returncode == 2 and "-G has 3 cgroups for 2 events" in result.stderr
    result = prof("record", "-G", f"{GROUP},nosuch", "true")
    assert "nosuch" in result.stderr


def test_the_path_of_the_directory_or_a_process_names_a_cgroup_too(prof, cgroup, run_in, copy, until_busy):
    inside = cgroup(GROUP)
    process = run_in(inside, copy("inside"), "600")
    for name in (inside, f"pid:{process.pid}", f"/{GROUP}"):
        assert set(by_process(prof.record("-G", name, "--", *until_busy(process.pid, 0.1)))) == {"inside"}


def test_a_process_that_enters_the_cgroup_later_is_recorded_from_then_on(prof, cgroup, copy):
    inside = cgroup(GROUP)
    stacks = prof.record("-G", GROUP, "--", "sh", "-c", ENTER, "sh", inside, "--", copy("late"), "0.3").stacks
    assert stacks.of_process("late") == stacks.total > 50


def test_the_recording_ends_when_the_cgroup_is_removed(prof, cgroup, run_in, copy, started):
    inside = cgroup(GROUP)
    run_in(inside, copy("inside"), "0.3").wait(TIME_LIMIT_S)
    recording = started(prof.start("record", "-G", GROUP, "-o", "out.folded", "-v"))
    for line in recording.stderr:
        if "descriptors" in line or "looked for" in line:
            break
    remove(inside)
    _, errors = recording.communicate(timeout=TIME_LIMIT_S)
    assert recording.returncode == 0 and "the target ended" in errors


def test_a_container_is_recorded_by_its_id_or_its_first_digits(prof, cgroup, run_in, copy, until_busy):
    process = run_in(cgroup(f"{GROUP}/{ID}"), copy("inside"), "600")
    for wanted in ID, ID[:12], ID[:4], ID[:6].upper():
        recording = prof.record("--container", wanted, "--", *until_busy(process.pid, 0.05))
        assert set(by_process(recording)) == {"inside"}
        assert set(recording.pprof.by_label("container")) == {ID[:12]}


def test_a_service_is_recorded_by_its_name(prof, cgroup, run_in, copy, until_busy):
    process = run_in(cgroup(f"{GROUP}.slice/{GROUP}.service"), copy("inside"), "600")
    recording = prof.record("--container", f"{GROUP}.service", "--", *until_busy(process.pid, 0.1))
    assert set(by_process(recording)) == {"inside"}
    assert set(recording.pprof.by_label("container")) == {f"{GROUP}.service"}


def test_digits_of_several_ids_are_an_error_that_lists_them(prof, cgroup, run_in, copy):
    for which in (ID, OTHER_ID):
        run_in(cgroup(f"{GROUP}/{which}"), copy("inside"), "600")
    result = prof("record", "--container", ID[:4], "-o", "out.folded")
    assert result.returncode == 2
    assert f'"{ID[:4]}" matches 2 cgroups' in result.stderr and ID in result.stderr and OTHER_ID in result.stderr
    assert not (prof.folder / "out.folded").exists()


def test_an_unknown_container_is_an_error_with_the_nearest_name(prof, cgroup, run_in, copy):
    run_in(cgroup(f"{GROUP}.service"), copy("inside"), "600")
    result = prof("record", "--container", f"{GROUP}.servicee")
    assert result.returncode == 2 and f"did you mean {GROUP}.service?" in result.stderr
    result = prof("record", "--container", "a name of docker's")
    assert result.returncode == 2 and "docker inspect" in result.stderr
    result = prof("record", "-G", f"/{GROUP}.servicee")
    assert result.returncode == 2 and f"did you mean /{GROUP}.service?" in result.stderr


def test_processes_are_recorded_by_their_names(prof, copy, started, until_busy):
    one, two, beta, gamma = (f"{name}{TAG}" for name in ("alpha1", "alpha2", "beta", "gamma"))
    wanted = [started(subprocess.Popen([copy(name), "600"])) for name in (one, two, beta)]
    started(subprocess.Popen([copy(gamma), "600"]))
    recording = prof.record("--name", f"alpha?{TAG},{beta}", "--", *until_busy(wanted[-1].pid))
    assert set(by_process(recording)) == {one, two, beta}
    recording = prof.record("--name", one, "--name", beta, "--", *until_busy(wanted[-1].pid))
    assert set(by_process(recording)) == {one, beta}


def test_root_records_processes_of_the_name_that_begin_later_from_their_first_instruction(prof, root, copy, started):
    started(subprocess.Popen([copy(f"alpha{TAG}"), "600"]))
    used = 20 * 0.02
    script = f'for i in $(seq 20); do {copy(f"alphas{TAG}")} 0.02; done; {copy("other")} 0.1'
    recording = prof.record("-F", "4000", "--name", f"alpha*{TAG}", "--", "sh", "-c", script)
    assert set(by_process(recording)) == {f"alpha{TAG}", f"alphas{TAG}"}
    assert by_process(recording)[f"alphas{TAG}"] / 4000 > 0.8 * used


def test_children_of_a_process_with_the_name_are_recorded_with_it(prof, root, copy):
    child, name = copy("child"), f"wrapper{TAG}"
    shell = shutil.copy(shutil.which("sh"), prof.folder / name)
    recording = prof.record("--wait", "--name", name, "--", "sh", "-c", f"{shell} -c '{child} 0.2; :'; {copy('other')} 0.1")
    assert by_process(recording)["child"] > 50
    assert "other" not in by_process(recording)


def test_a_name_that_no_process_has_is_an_error(prof, copy, started):
    wait(started(subprocess.Popen([copy(f"alphabet{TAG}"), "600"])).pid, 0.02)
    result = prof("record", "--name", f"alphabett{TAG}")
    assert result.returncode == 2
    assert f"there are no processes named alphabett{TAG}" in result.stderr
    assert f"did you mean alphabet{TAG}? --wait waits until one starts" in result.stderr


@pytest.mark.parametrize("arguments", [[], ["--wall"]], ids=["whole CPUs", "one by one"])
def test_wait_waits_for_a_process_of_the_name(prof, copy, started, arguments):
    name = f"awaited{TAG}"
    recording = started(prof.start("record", *arguments, "--wait", "--name", name, "--duration", "0.5", "-o", "out.folded"))
    assert recording.stderr.readline() == f"prof: waiting for processes named {name}\n"
    awaited = started(subprocess.Popen([copy(name), "600"], start_new_session=True))
    _, errors = recording.communicate(timeout=TIME_LIMIT_S)
    assert recording.returncode == 0, errors
    assert awaited.poll() is None
    assert name in (prof.folder / "out.folded").read_text(encoding="utf-8")


def test_wait_records_where_the_process_of_the_name_waits_and_no_other(prof, started):
    name = f"sleeper{TAG}"
    sleeper = shutil.copy(shutil.which("sleep"), prof.folder / name)
    started(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]))
    recording = started(prof.start("record", "--wall", "--wait", "--name", name, "--duration", "0.5", "-o", "out.folded"))
    assert recording.stderr.readline() == f"prof: waiting for processes named {name}\n"
    started(subprocess.Popen([sleeper, "600"], start_new_session=True))
    _, errors = recording.communicate(timeout=TIME_LIMIT_S)
    assert recording.returncode == 0, errors
    lines = (prof.folder / "out.folded").read_text(encoding="utf-8").splitlines()
    assert {line.split(";")[0] for line in lines} == {name}


def test_wait_waits_for_a_container(prof, cgroup, run_in, copy, started):
    recording = started(prof.start("record", "-w", "--container", ID[:12], "--duration", "0.3", "-o", "out.folded"))
    assert recording.stderr.readline() == f"prof: waiting for container {ID[:12]}\n"
    run_in(cgroup(f"{GROUP}/{ID}"), copy("inside"), "600")
    _, errors = recording.communicate(timeout=TIME_LIMIT_S)
    assert recording.returncode == 0, errors
    assert "inside" in (prof.folder / "out.folded").read_text(encoding="utf-8")


def test_a_user_records_processes_of_the_name_that_begin_later_and_each_once(ordinary, paranoid):
    """The subshells are also found in /proc. By then, they have inherited the events of the shell."""
    paranoid(2)
    name = f"alpha{TAG}"
    alpha = ordinary.folder / name
    shutil.copy(shutil.which("sh"), alpha)
    loop = "i=0; while [ $i -lt 2500000 ]; do i=$((i+1)); done"
    recording = ordinary.record("--name", name, "--wait", "--", "sh", "-c",
                                f"{alpha} -c '{loop}; ({loop}); ({loop})'; times")
    assert f"waiting for processes named {name}" in recording.result.stderr
    assert "detected twice per second" in recording.result.stderr
    assert set(by_process(recording)) == {name}
    of_children = recording.result.stdout.splitlines()[-1]
    used = sum(60 * float(minutes) + float(seconds) for minutes, seconds in re.findall(r"(\d+)m([\d.]+)s", of_children))
    samples = sum(by_process(recording).values())
    assert 0.5 * used * 999 < samples < 1.1 * used * 999


def titles_of(prof):
    """The titles of run.*: of the report, its JSON and each format."""
    with gzip.open(prof.folder / "run.firefox.json.gz") as firefox:
        yield json.load(firefox)["meta"]["product"]
    yield json.loads((prof.folder / "run.speedscope.json").read_bytes())["name"]
    yield re.search(r'id="title"[^>]*>([^<]*)<', (prof.folder / "run.svg").read_text(encoding="utf-8"))[1]
    for file in "run.pb.gz", "run.data":
        yield prof.run("report", file).stdout.splitlines()[0].removeprefix(f"{file}: ")
    yield json.loads(prof.run("report", "--json", "run.pb.gz").stdout)["title"]


def test_the_title_is_what_was_recorded_and_not_the_command_that_limits_the_time(prof, service, until_busy):
    outputs = [f"-orun.{name}" for name in ("pb.gz", "data", "firefox.json.gz", "speedscope.json", "svg")]
    prof.run("record", *outputs, "-p", service.pid, "--", *until_busy(service.pid))
    assert set(titles_of(prof)) == {f"{name_of(service.pid)} (pid {service.pid})"}
    prof.run("record", *outputs, "--", "/bin/sh", "-c", "exit 0")
    assert set(titles_of(prof)) == {"sh -c exit 0"}


@pytest.mark.parametrize("arguments, title", [
    ("-a", "the whole machine"),
    ("-C 0", "CPU 0"),
    ("-u {user}", "processes of user {user}"),
    ("-t {pid}", "{name} (tid {pid})"),
    ("-p {pid},1", "{name} (pid {pid}), {first} (pid 1)"),
    ("--name {name}", "processes named {name}, "),
    ("-- /bin/rg -c PATTERN src", "rg -c PATTERN src"),
])
def test_each_target_has_a_title(prof, service, arguments, title):
    facts = {"pid": service.pid, "name": name_of(service.pid), "first": name_of(1), "user": os.getuid()}
    assert f"would record {title.format(**facts)}" in prof("record", "--dry-run", *arguments.format(**facts).split()).stderr


def test_only_threads_with_a_matching_name_are_kept(prof, service, until_busy):
    service.stdin.write("another\n")
    assert service.stdout.readline() == "started\n"
    recording = prof.record("-p", service.pid, "--filter-thread", "la*", "--", *until_busy(service.pid))
    assert set(recording.pprof.by_label("thread")) == {"late"}
    assert re.search(r"omitted \d+ samples of other threads", recording.result.stderr)


@pytest.mark.parametrize("arguments", [[], ["--include-self"]], ids=["by default", "unless it is included"])
def test_prof_itself_is_left_out_of_the_whole_machine(prof, root, copy, started, until_busy, arguments):
    busy = started(subprocess.Popen([copy("busy"), "600"]))
    recording = started(prof.start("record", "-a", "-F", "4000", *arguments, "-o", "out.pb.gz", "--", *until_busy(busy.pid)))
    _, errors = recording.communicate(timeout=TIME_LIMIT_S)
    assert recording.returncode == 0, errors
    pids = Pprof.read(prof.folder / "out.pb.gz").by_label("pid")
    assert pids[busy.pid] > 0
    assert (pids[recording.pid] > 0) == bool(arguments)
    assert bool(re.search(r"omitted \d+ samples of prof itself", errors)) == (not arguments)


def test_samples_of_the_whole_machine_have_the_labels_of_their_cgroups(prof, cgroup, run_in, copy, until_busy):
    process = run_in(cgroup(f"{GROUP}/{ID}"), copy("inside"), "600")
    recording = prof.record("-a", "--", *until_busy(process.pid))
    assert recording.pprof.by_label("cgroup")[f"/{GROUP}/{ID}"] > 50
    assert recording.pprof.by_label("container")[ID[:12]] > 50
    report = prof("report", "record.pb.gz", "--by", "label:container")
    assert ID[:12] in report.stdout


def test_segments_of_a_whole_machine_have_the_labels_of_their_cgroups(prof, cgroup, run_in, copy):
    """Short-lived children get the labels from their parent if they are gone."""
    script = prof.folder / "service"
    script.write_text(f"#!/bin/sh\nwhile :; do {copy(f'moment{TAG}')} 0.02; done\n", encoding="ascii")
    script.chmod(0o755)
    process = prof.start("record", "-a", "-F", "199", "--every", "1s", "-o", "ring/")
    run_in(cgroup(f"{GROUP}/{ID}"), script)
    while process.poll() is None and len(list(prof.folder.glob("ring/*Z.pb.gz"))) < 4:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=TIME_LIMIT_S)
    assert process.returncode == 0, errors
    labels = [profile.labels(sample) for path in sorted(prof.folder.glob("ring/*Z.pb.gz"))[2:]
              for profile in [Pprof.read(path)] for sample in profile.message.sample]
    moments = [(one.get("cgroup"), one.get("container")) for one in labels if one["comm"] == f"moment{TAG}"]
    assert set(moments) == {(f"/{GROUP}/{ID}", ID[:12])}


def test_targets_exclude_each_other(prof):
    for arguments in (["-G", "a", "--name", "b"], ["-a", "--container", "x"], ["-p", "1", "--name", "b"]):
        result = prof("record", *arguments)
        assert result.returncode == 2 and "exclude each other" in result.stderr
    result = prof("record", "--wait", sys.executable)
    assert result.returncode == 2 and "--wait needs a target to wait for" in result.stderr
    result = prof("record", "--wall", "--filter-thread", "a", "true")
    assert result.returncode == 2 and "--label thread=NAME" in result.stderr


def test_the_live_view_takes_the_same_targets(prof, root, copy, started):
    alpha, beta = (f"{name}{TAG}" for name in ("alpha", "beta"))
    for name in alpha, beta:
        started(subprocess.Popen([copy(name), "600"]))
    result = prof.run("top", "-b", "-n", "1", "-d", "0.5", "--name", alpha, "--by", "process")
    assert alpha in result.stdout and beta not in result.stdout
