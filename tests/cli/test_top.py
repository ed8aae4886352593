"""prof top -b: each refresh is a table of recent samples."""

import os
import re
import signal
import subprocess
import time

import pytest

from time_limit import TIME_LIMIT_S

DELAY_S = 0.2
PICTURES = int(TIME_LIMIT_S / DELAY_S)  # then it ends, whether the condition was met or not
STANDING = ["top", "-b", "-d", DELAY_S, "-n", PICTURES]

LOAD = r"([0-9.]+ of \d+ CPUs busy(, [0-9.]+ % sampled)?|about [0-9.]+ of \d+ CPUs busy), "
ROW = re.compile(r" *([0-9.]+) % +([0-9.]+) %  [█▏▎▍▌▋▊▉ ]*(.*)")


class Table:
    """One refresh: self and total in percent by name."""

    def __init__(self, text):
        lines = text.rstrip().splitlines()
        self.title, self.heading = lines[:2]
        self.rows = []
        for line in lines[2:]:
            own, total, name = ROW.fullmatch(line).groups()
            self.rows.append((float(own), float(total), name.strip()))

    def self_of(self, word):
        return sum(own for own, _, name in self.rows if word in name)

    def total_of(self, word):
        return max((total for _, total, name in self.rows if word in name), default=0)


def tables(result):
    assert result.returncode == 0, result.stderr
    return [Table(text) for text in result.stdout.split("\n\n") if text.strip()]


def samples_of(table):
    return int(re.search(r": ([0-9,]+) samples", table.title)[1].replace(",", ""))


def read_line(process):
    line = process.stdout.readline()
    assert line, process.stderr.read()
    return line


def read_table(process):
    return Table("".join(iter(lambda: read_line(process), "\n")))


def read_until(process, is_so):
    """Returns the first refresh for which a condition holds."""
    while not is_so(table := read_table(process)):
        pass
    return table


@pytest.fixture
def picture(prof, started, target):
    """picture(option, ...) shows the target `shares` when enough samples have been taken."""

    def take(*options, least=300):
        top = started(prof.start(*STANDING, *options, "--", target("shares"), 600))
        table = read_until(top, lambda table: samples_of(table) >= least)
        top.terminate()
        return table

    return take


def test_each_refresh_is_a_table_of_the_hottest_functions(prof, started, target):
    top = started(prof.start(*STANDING, "--", target("shares"), 600))
    first = read_table(top)
    second = read_until(top, lambda table: samples_of(table) > samples_of(first) and table.self_of("spin ") > 50)
    for table in first, second:
        assert re.fullmatch(rf"[0-9.]+ s, ({LOAD})?\S+: [0-9,]+ samples, [0-9,]+ lost", table.title)
        assert table.heading.split() == ["self", "total", "function", "module"]
    assert second.rows[0][2].startswith("spin ")
    assert [row[0] for row in second.rows] == sorted((row[0] for row in second.rows), reverse=True)


def test_the_title_shows_how_busy_the_target_is_and_how_much_of_that_is_sampled(prof, started, target):
    top = started(prof.start(*STANDING, "-e", "cpu-clock", "--", target("shares"), 600))
    busy = re.compile(r"[0-9.]+ s, ([0-9.]+) of \d+ CPUs busy, ([0-9.]+) % sampled, cpu-clock: ")
    read_until(top, lambda table: (match := busy.match(table.title)) and float(match[1]) > 0 and 0 < float(match[2]) <= 100)


@pytest.mark.parametrize("key, name", [("module", "/shares"), ("process", "shares"), ("thread", "shares "),
                                       ("line", "work.h:"), ("file", "work.h")])
def test_rows_can_be_other_things_than_functions(picture, key, name):
    table = picture("--by", key)
    assert table.heading.split()[-1] == key
    assert table.self_of(name) > 80


def test_the_call_tree_leads_from_the_root_to_where_the_time_goes(picture):
    names = [row[2] for row in picture("--tree", "--min", 10).rows]
    assert names.index("main") < names.index("spend") < names.index("├ half") < names.index("│ spin")


def test_the_logical_view_leaves_out_what_calls_main(picture):
    names = [row[2] for row in picture("--tree", "--logical", "--min", 10).rows]
    assert re.fullmatch(r"main \[\d+ folded\]", names[0])
    assert names.index("├ half") < names.index("│ spin")


def test_a_filter_leaves_what_matches(picture):
    table = picture("--sort", "total", "--filter", "^(half|third)$")
    assert {row[2].split()[0] for row in table.rows} == {"half", "third"}


def test_functions_are_counted_by_self_and_total(picture):
    """Ten percent is more than five standard deviations, although old samples decay."""
    table = picture("--sort", "total", least=1000)
    assert [row[1] for row in table.rows] == sorted((row[1] for row in table.rows), reverse=True)
    for name, share in ("half", 50), ("third", 30), ("fifth", 20):
        assert abs(table.total_of(f"{name} ") - share) < 10


def test_a_running_process_is_shown_until_it_ends(prof, service, started):
    top = started(prof.start(*STANDING, "--by", "thread", "-p", service.pid))
    read_until(top, lambda table: table.self_of("early"))
    service.stdin.close()
    rest, errors = top.communicate(timeout=TIME_LIMIT_S)
    assert top.returncode == 0, errors
    assert rest.endswith("\n")


def test_old_samples_decay(prof, service, started):
    """First, the thread "early" has all of the time. Soon, half of the recent time belongs to the thread "late"."""
    top = started(prof.start(*STANDING, "--by", "thread", "-p", service.pid))
    read_until(top, lambda table: samples_of(table) > 300 and table.self_of("early") > 90)
    service.stdin.write("\n")
    read_until(top, lambda table: table.self_of("late") > 20)  # on a busy machine its half may be less
    top.send_signal(signal.SIGINT)
    assert top.wait(timeout=TIME_LIMIT_S) == 0


def test_without_a_target_top_shows_the_whole_machine(prof, root, service, started):
    top = started(prof.start(*STANDING, "--by", "process"))
    read_until(top, lambda table: table.self_of("service"))


def test_inlined_functions_are_left_out_on_request(picture):
    without = picture("--no-inline")
    assert without.self_of("spin ") == 0 and without.self_of("half ") > 25


def test_the_status_is_that_of_the_command_that_ends(prof):
    result = prof("top", "-b", "-d", 0.2, "--", "sh", "-c", "exit 7")
    assert result.returncode == 7


def test_a_closed_pipe_ends_top(prof, started):
    top = started(prof.start("top", "-b", "-d", 0.1))
    top.stdout.readline()
    top.stdout.close()
    assert top.wait(timeout=TIME_LIMIT_S) == 1
    assert "stdout" not in top.stderr.read()


def test_no_control_sequence_of_a_name_reaches_the_terminal(prof, client, started, tmp_path):
    source, rude = tmp_path / "rude.c", tmp_path / "rude"
    source.write_text("void rude(void) { for (;;); }\nint main(void) { rude(); }\n")
    subprocess.run([client("gcc"), "-o", rude, source], check=True)
    subprocess.run([client("objcopy"), "--redefine-sym", "rude=\033[31mred\033]0;title\007", rude], check=True)
    top, text = started(prof.start(*STANDING, "--", rude)), ""
    while "red" not in text:
        text += read_line(top)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)


def test_refreshes_are_at_least_a_tenth_of_a_second_apart(prof, target):
    start = time.monotonic()
    result = prof("top", "-b", "-n", 10, "-d", "1e-6", target("shares"), 600)
    assert result.returncode == 0 and len(tables(result)) == 10
    assert time.monotonic() - start >= 1


@pytest.mark.parametrize("words, complaint", [
    (["--sort", "size"], 'unknown sort key "size" (self, total)'),
    (["--by", "colour"], 'unknown table "colour"'),
    (["--by", "label:tenant"], 'unknown label "tenant" (comm, thread, pid, tid, cgroup, container)'),
    (["--label", "tenant=a"], 'unknown label "tenant" (comm, thread, pid, tid, cgroup, container)'),
    (["--filter", "("], "("),
    (["--min", "much"], "not a number"),
    (["-p", "1", "-a"], "exclude each other"),
])
def test_invalid_arguments_are_refused(prof, words, complaint):
    result = prof("top", "-b", "-n", 1, *words)
    assert result.returncode == 2
    assert complaint in result.stderr


def test_threads_are_selected_and_listed_by_their_labels(prof, picture, target):
    assert [row[2] for row in picture("--by", "label:comm", "--label", "comm=sh*").rows] == ["shares"]
    arguments = ("-b", "-n", 2, "-d", DELAY_S, "--by", "label:comm", "--label", "comm=other")
    assert not [table.rows for table in tables(prof("top", *arguments, target("shares"), 600)) if table.rows]


UID = 4_000_000 + os.getpid()  # unused by others


def test_an_unprivileged_user_cannot_see_the_processes_of_others(prof, root, target, started, tmp_path):
    if int(open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii").read()) not in (1, 2):
        pytest.skip("anybody may sample the machine, or nobody anything")
    nobody = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"]
    binary, service = tmp_path / "prof", tmp_path / "service"
    for path, original in (binary, prof.binary), (service, target("service")):
        path.write_bytes(original.read_bytes())
        path.chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    running = started(subprocess.Popen([*nobody, service], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    assert running.stdout.readline() == "ready\n"
    top = started(subprocess.Popen([*nobody, binary, *map(str, STANDING), "--by", "process"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    assert [row[2] for row in read_until(top, lambda table: table.rows).rows] == ["service"]
    top.terminate()
    assert "sampling only your processes" in top.communicate(timeout=TIME_LIMIT_S)[1]


def test_idle_time_is_hidden_and_its_sum_is_in_the_title(prof, target, started):
    words = [*STANDING, "--wall", "--show-event", "off-cpu"]
    waits = ["--", target("waits"), "600", "1000", "20000", "poll", "sleep"]
    shown = re.compile(r"waiting, [0-9.]+ m?s idle hidden \(--idle\)$")
    hiding = read_until(started(prof.start(*words, *waits)), lambda table: table.total_of("sleep_at_random") and shown.search(table.title))
    assert not hiding.total_of("[poll]")
    everything = read_until(started(prof.start(*words, "--idle", *waits)), lambda table: table.total_of("[poll]"))
    assert "idle hidden" not in everything.title
