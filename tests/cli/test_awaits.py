"""Recording where tokio tasks wait: --await."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import SOURCE
from profiles import Pprof, Stacks

# Functions of the client `awaits`, and the leaf of each: the innermost future that it awaits.
LEAVES = {
    "short_nap": "tokio::time::sleep::Sleep", "long_nap": "tokio::time::sleep::Sleep", "keep_lock": "tokio::time::sleep::Sleep",
    "lock": "tokio::sync::batch_semaphore::Acquire",
}
WANTED = "[wanted a worker]"


def future(name):
    return f"awaits::{name}::{{async_fn#0}}"


def record(prof, *arguments):
    """Returns the stacks of the event await in nanoseconds, and the output."""
    result = prof.run("record", "--await", "--weight", "ns", "--show-event", "await", "-o", "await.folded", "-o", "await.pb.gz", *arguments)
    return Stacks.read(prof.folder / "await.folded"), result


def own_clock(stdout):
    return {name: int(ns) for name, ns in (line.split() for line in stdout.splitlines() if " " in line)}


def waited(stacks, place):
    """The place is a function of the client, or Mutex::lock."""
    name = "tokio::sync::mutex::Mutex<T>::lock::{async_fn#0}" if place == "lock" else future(place)
    return stacks.holding(name)


def assert_agrees(stacks, measured):
    """Asserts that shares of the time are those that the tasks measured themselves. Tasks are read ten times per second, and
    start in step, so that three standard deviations of a few seconds are 10 % of the total."""
    recorded = {place: waited(stacks, place) for place in measured}
    for place, ns in measured.items():
        share, truth = recorded[place] / sum(recorded.values()), ns / sum(measured.values())
        assert abs(share - truth) <= 0.1, f"{place}: {share:.3f} of {truth:.3f}\n{stacks.hottest()}"


@pytest.mark.parametrize("workers", ["2", "0"], ids=["multi_thread", "current_thread"])
def test_the_shares_of_awaits_are_those_that_tasks_measure_themselves(prof, client, workers):
    stacks, result = record(prof, "--", client("awaits"), "5", "24", workers)
    assert_agrees(stacks, own_clock(result.stdout))
    for place, leaf in LEAVES.items():
        assert {frames[-1] for frames in stacks.counts if any(f"::{place}::" in frame for frame in frames)} <= {leaf, WANTED}


def test_a_stack_leads_from_the_task_to_what_it_awaits_through_boxes(prof, client):
    stacks, _ = record(prof, "--", client("awaits"), "2")
    boxed = "awaits::boxed::{async_block#0}"
    listening = [frames for frames in stacks.counts if future("listen") in frames]
    assert listening
    for frames in listening:
        assert frames[1:5] == (future("listen"), boxed, boxed, boxed), frames
        assert re.fullmatch(r"tokio::sync::mpsc::bounded::Receiver<T>::recv::\{async_fn#0\}", frames[5])
    assert stacks.holding(future("join_two"), "tokio::runtime::task::join::JoinHandle")
    assert stacks.holding(future("forever"), "core::future::pending::Pending")


def test_a_frame_has_the_line_of_its_await_and_the_file_of_its_function(prof, client):
    record(prof, "--", client("awaits"), "1.5")
    profile = Pprof.read(prof.folder / "await.pb.gz")
    source = (SOURCE / "tests/targets/tasks/src/bin/awaits.rs").read_text(encoding="utf-8").splitlines()
    waits = profile.sample_types().index(("await", "nanoseconds"))  # frames of running tasks have other lines
    locations = {location for sample in profile.message.sample if sample.value[waits] for location in sample.location_id}
    seen = {}
    for location in (profile.locations[number] for number in locations):
        function = profile.functions[location.line[0].function_id]
        seen.setdefault(profile.strings[function.name], set()).add((profile.strings[function.filename], location.line[0].line))
    places = seen[future("naps")]
    lines = {source[line - 1].strip() for _, line in places} - {"async fn naps(number: u64) {"}  # not polled yet
    assert lines == {"short_nap(number).await;", "long_nap(number).await;"}
    assert all(path.endswith("src/bin/awaits.rs") for path, _ in places)


def test_an_ordinary_user_reads_the_tasks_of_his_own_programs(ordinary, client, paranoid):
    paranoid(2)
    program = ordinary.bring(client("awaits"))
    stacks, result = record(ordinary, "--", program, "5")
    assert_agrees(stacks, own_clock(result.stdout))


def test_all_tasks_together_wait_as_long_as_they_live(prof, client):
    with subprocess.Popen([client("awaits"), "60", "24"], stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout.readline() == "ready\n"
            stacks, _ = record(prof, "--duration", "4", "-p", str(running.pid))
        finally:
            running.kill()
    tasks = 24 + 4 + 3  # naps, contend; listen, join_two and the task that it joins
    # A task that always waits shows how long tasks were sampled, because the debug information is read first.
    assert stacks.total == pytest.approx(tasks * stacks.holding(future("listen")), rel=0.05), stacks.hottest()


def test_many_tasks_are_read_less_often_but_count_whole(prof, client):
    """They are read every half second. The CPU time for more of them is not to be had on a busy machine in 5 s."""
    with subprocess.Popen([client("awaits"), "60", "5000"], stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout.readline() == "ready\n"
            stacks, result = record(prof, "--duration", "5", "-p", str(running.pid))
        finally:
            running.kill()
    whole_ns = 5007 * Pprof.read(prof.folder / "await.pb.gz").message.duration_nanos
    assert 0.1 * whole_ns < stacks.total < 1.1 * whole_ns, result.stderr  # a busy machine takes long to read debug information


def test_a_program_that_lacks_what_is_needed_is_named_with_what_to_do(prof, client, target, tmp_path):
    stripped = tmp_path / "stripped"
    shutil.copy(client("awaits"), stripped)
    subprocess.run(["strip", stripped], check=True)
    result = prof("record", "--await", "-o", "x.pb.gz", "--", stripped, "0.3")
    assert re.search(r"no tasks were found: .*stripped: it has no debug information; build it with debug = 2", result.stderr)
    result = prof("record", "--await", "-o", "x.pb.gz", "--", target("shares"), "0.2")
    assert "does not use tokio" in result.stderr


def test_the_target_is_not_stopped_and_ends_as_it_would(prof, client):
    result = prof("record", "--await", "-o", "x.pb.gz", "--", "sh", "-c", f"{client('awaits')} 0.5; exit 3")
    assert result.returncode == 3
    assert "ready" in result.stdout
    assert os.path.getsize(prof.folder / "x.pb.gz") > 0


# A thread's robust list, where prof reads its thread pointer, is in a page that is never provided.
HANGING = r"""
#define _GNU_SOURCE
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((constructor)) static void hang(void)
{
	char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {{(unsigned long)page, 8192}, UFFDIO_REGISTER_MODE_MISSING, 0};
	int fd = syscall(SYS_userfaultfd, 0);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		_exit(77);
	syscall(SYS_set_robust_list, page + 4096, 24);
}
"""


def test_a_process_whose_memory_hangs_does_not_hang_the_end(prof, client, tmp_path):
    (tmp_path / "hanging.c").write_text(HANGING, encoding="utf-8")
    library = tmp_path / "hanging.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", library, tmp_path / "hanging.c"], check=True)
    with subprocess.Popen([client("awaits"), "100"], env={**os.environ, "LD_PRELOAD": str(library)}, stdout=subprocess.PIPE) as running:
        try:
            if not running.stdout.readline():
                pytest.skip("userfaultfd(2) is not allowed")
            result = prof("record", "--await", "--duration", "8", "-o", "x.pb.gz", "-p", str(running.pid))
        finally:
            running.kill()
    assert f"reading process {running.pid} has not finished after 5 s" in result.stderr
