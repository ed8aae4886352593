"""prof record -p, -t and -a: attaching to running processes."""

import ctypes
import os
import re
import resource
import signal
import subprocess
import sys

from asleep import wait_until_asleep
from time_limit import TIME_LIMIT_S
from profiles import Stacks, assert_rooted
from until_busy import wait


def thread_id(process, name):
    """Returns the id of the thread with that name."""
    for tid in os.listdir(f"/proc/{process.pid}/task"):
        with open(f"/proc/{process.pid}/task/{tid}/comm", encoding="utf-8") as file:
            if file.read().strip() == name:
                return int(tid)
    raise AssertionError(f"no thread is named {name}")


def end(service):
    service.stdin.close()
    assert service.wait(TIME_LIMIT_S) == 0


def test_a_process_is_recorded_as_long_as_the_command_runs(prof, service, until_busy):
    recording = prof.record("-p", service.pid, "--", *until_busy(service.pid))
    assert recording.stacks.of_process("service") == recording.stacks.total > 50
    assert recording.stacks.share("start_thread", "early_work", "burn", "spin") > 0.95, recording.stacks.hottest()
    assert_rooted(recording.stacks)
    recording.pprof.check()
    wait(service.pid, 0.1)
    assert service.poll() is None, "it keeps running"
    end(service)


def test_threads_created_later_are_recorded(prof, service, until_busy):
    """The command makes the service start a thread, so the thread starts while prof records."""
    script = f"echo >/proc/{service.pid}/fd/0; exec {' '.join(map(str, until_busy(service.pid, 1)))}"
    recording = prof.record("-p", service.pid, "--", "sh", "-c", script)
    threads = recording.pprof.by_label("thread")
    assert threads["early"] > 20 and threads["late"] > 20
    assert recording.stacks.holding("late_work", "burn") > 0.95 * threads["late"], recording.stacks.hottest()
    end(service)


def test_one_thread_is_recorded_without_its_siblings(prof, service, until_busy):
    service.stdin.write("another\n")
    assert service.stdout.readline() == "started\n"
    recording = prof.record("-t", thread_id(service, "late"), "--", *until_busy(service.pid))
    assert recording.stacks.share("late_work") > 0.95
    assert recording.stacks.holding("early_work") == 0
    end(service)


def test_a_thread_id_selects_its_process(prof, service, until_busy):
    recording = prof.record("-p", thread_id(service, "early"), "--", *until_busy(service.pid))
    assert "the target ended" not in recording.result.stderr
    assert recording.stacks.share("early_work") > 0.95, recording.stacks.hottest()
    end(service)


def until_both(until_busy, *processes):
    return ["sh", "-c", " & ".join(" ".join(map(str, until_busy(process.pid))) for process in processes) + "; wait"]


FAMILY = """
import os, signal, sys
def burn():
    while True:
        sum(range(1000))
if os.fork() == 0:
    child = os.fork()
    if child == 0:
        burn() if sys.argv[1] == "child" else signal.pause()
    print(os.getpid(), child, flush=True)
    signal.pause()
burn() if sys.argv[1] == "parent" else signal.pause()
"""


def family(started, who_works):
    """Starts a process and its grandchild, one of which uses CPU time. The other one and the child sleep."""
    process = started(subprocess.Popen([sys.executable, "-c", FAMILY, who_works], stdout=subprocess.PIPE, text=True,
                                       start_new_session=True))
    child, grandchild = map(int, process.stdout.readline().split())
    wait_until_asleep(child, process.pid if who_works == "child" else grandchild)
    return process.pid, grandchild


def test_children_that_run_already_are_recorded_with_the_option(prof, started, until_busy):
    parent, grandchild = family(started, "child")
    recording = prof.record("-p", parent, "--children", "--", *until_busy(grandchild))
    assert recording.pprof.by_label("pid")[grandchild] > max(50, 0.9 * recording.stacks.total)
    assert "--children" not in recording.result.stderr


def test_children_that_run_already_are_counted_without_the_option(prof, started, until_busy):
    parent, grandchild = family(started, "child")
    result = prof("record", "-p", parent, "-o", "out.folded", "--", *until_busy(grandchild))
    assert result.returncode == 0, result.stderr
    assert re.search(rf"1 child process .* used [0-9.]+ m?s of CPU time .*-p {parent} --children", result.stderr), result.stderr


def test_children_that_use_no_cpu_time_are_not_mentioned(prof, started, until_busy):
    parent, _ = family(started, "parent")
    recording = prof.record("-p", parent, "--", *until_busy(parent))
    assert set(recording.pprof.by_label("pid")) == {parent}
    assert "child process" not in recording.result.stderr


FORKS_ALL_THE_TIME = """
import os, sys
print("ready", flush=True)
while True:
    child = os.fork()
    if child == 0:
        sum(range(100000))
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_children_that_end_while_prof_attaches_are_no_error(prof, started, until_busy):
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {FORKS_ALL_THE_TIME!r}])"
    process = started(subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
                                       start_new_session=True))
    assert process.stdout.readline() == "ready\n"
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
        forker = int(file.read())
    recording = prof.record("-p", process.pid, "--children", "--", *until_busy(forker))
    assert len(recording.pprof.by_label("pid")) > 1


def test_the_children_of_nothing_are_an_error(prof):
    result = prof("record", "--children", "true")
    assert result.returncode == 2
    assert "--children needs -p PID" in result.stderr


def test_several_processes_are_recorded_at_once(prof, service, started, target, until_busy):
    other = started(subprocess.Popen([target("shares"), "50"]))
    stacks = prof.record("-p", f"{service.pid},{other.pid}", "--", *until_both(until_busy, service, other)).stacks
    assert stacks.of_process("service") > 50
    assert stacks.of_process("shares") > 50


def test_the_bounding_command_itself_is_not_recorded(prof, service, target):
    stacks = prof.record("-p", service.pid, "--", target("shares"), "0.1").stacks
    assert stacks.of_process("shares") == 0


def test_the_status_of_the_bounding_command_is_passed_on(prof, service):
    assert prof("record", "-p", service.pid, "-o", "out.folded", "--", "sh", "-c", "exit 3").returncode == 3


def test_the_recording_ends_successfully_when_the_target_ends(prof, service, started):
    process = started(prof.start("record", "-p", service.pid, "-o", "out.folded", "--", sys.executable, "-c",
                                 "import signal; print('bounding', flush=True); signal.pause()"))
    assert process.stdout.readline() == "bounding\n"
    wait(service.pid, 0.1)
    end(service)
    _, errors = process.communicate(timeout=TIME_LIMIT_S)
    assert process.returncode == 0, errors
    assert Stacks.read(prof.folder / "out.folded").share("early_work") > 0.9


def test_the_profile_of_a_killed_target_is_written(prof, service, started):
    process = started(prof.start("record", "-p", service.pid, "-o", "out.folded", "--", "sh", "-c",
                                 "echo bounding; exec sleep 50"))
    assert process.stdout.readline() == "bounding\n"
    wait(service.pid, 0.1)
    service.send_signal(signal.SIGKILL)
    service.wait()
    _, errors = process.communicate(timeout=TIME_LIMIT_S)
    assert process.returncode == 0, errors
    stacks = Stacks.read(prof.folder / "out.folded")
    assert stacks.share("early_work", "burn") > 0.9, stacks.hottest()


def test_the_whole_machine_is_recorded(prof, root, service, started, target, until_busy):
    other = started(subprocess.Popen([target("shares"), "50"]))
    recording = prof.record("-a", "-g", "--", *until_both(until_busy, service, other))
    assert recording.stacks.holding("early_work", "burn") > 50, recording.stacks.hottest()
    assert recording.stacks.holding("main", "spend", "half") > 50
    recording.pprof.check()


def test_stacks_of_an_attached_process_are_piped_to_the_flame_graph(prof, client, service, until_busy):
    script = (f"{prof.binary} record -F 99 -p {service.pid} -- {' '.join(map(str, until_busy(service.pid)))} | "
              f"{client('inferno-flamegraph')} > flame.svg")
    subprocess.run(["bash", "-o", "pipefail", "-c", script], cwd=prof.folder, check=True, timeout=TIME_LIMIT_S)
    assert "early_work" in (prof.folder / "flame.svg").read_text()


def test_a_process_that_is_gone_is_a_clear_error(prof):
    gone = subprocess.Popen(["true"])
    gone.wait()
    result = prof("record", "-p", gone.pid, "-o", "out.folded", "--", "sleep", "50")
    assert result.returncode == 1
    assert str(gone.pid) in result.stderr
    assert os.listdir(prof.folder) == []


MANY_THREADS = """
import threading
for _ in range(300):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print("ready", flush=True)
while True:
    pass
"""


def test_a_process_of_many_threads_is_read_while_its_samples_are_redirected(prof, started, until_busy):
    """Redirecting the output of an event waits for all CPUs, so redirecting all of them takes seconds."""
    process = started(subprocess.Popen([sys.executable, "-c", MANY_THREADS], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    assert process.stdout.readline() == "ready\n"
    recording = prof.record("-F", 99, "-p", process.pid, "--", *until_busy(process.pid, 1))
    lost = int(re.search(r"([0-9,]+) lost", recording.result.stderr)[1].replace(",", ""))
    assert lost < recording.stacks.total, recording.result.stderr


THREADS_THAT_WORK_LATER = """
import sys, threading, time
end = threading.Event()
for _ in range(400):
    threading.Thread(target=end.wait, daemon=True).start()
print("ready", flush=True)
sys.stdin.readline()
import zlib
text = b"x" * 1000000
stop = time.process_time() + 1
while time.process_time() < stop:
    zlib.crc32(text)
"""
CAP_SYS_RESOURCE, PR_CAPBSET_DROP = 24, 24


def allow_files(count):
    """Runs in a child. Ensures that prof can open this many files, also as root."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_SYS_RESOURCE, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


def test_half_the_descriptors_are_enough_for_many_threads(prof, started, until_busy):
    """The side-band event per thread and CPU is omitted. Later mappings must be known anyway."""
    process = started(subprocess.Popen([sys.executable, "-c", THREADS_THAT_WORK_LATER], text=True, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE))
    assert process.stdout.readline() == "ready\n"
    allowed = 600 * len(os.sched_getaffinity(0)) + 100
    script = f"echo >/proc/{process.pid}/fd/0; exec {' '.join(map(str, until_busy(process.pid)))}"
    recording = prof.record("-p", process.pid, "--", "sh", "-c", script, preexec_fn=lambda: allow_files(allowed))
    assert "open-file limit" in recording.result.stderr
    assert recording.stacks.count(lambda frames: any("crc32" in frame for frame in frames)) > 20, recording.stacks.hottest(5)


def test_too_few_descriptors_are_explained_without_sending_root_to_root(prof, service):
    result = prof("record", "-p", service.pid, preexec_fn=lambda: allow_files(16))
    assert result.returncode == 1
    assert ("as root" in result.stderr) == (os.geteuid() != 0), result.stderr
