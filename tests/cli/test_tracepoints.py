"""Tracepoints: filters, weights and labels from their fields, patterns, and a comparison with perf."""

import json
import re
import subprocess
import sys
from collections import Counter

import pytest

from lacking import tool
from profiles import Pprof

WRITE = "syscalls:sys_enter_write"
# Writes 10,000 bytes 300 times and 10 bytes 700 times, and prints the total.
WRITES = """
import os
null = os.open("/dev/null", os.O_WRONLY)
def writes_large():
    for _ in range(300):
        os.write(null, bytes(10000))
def writes_small():
    for _ in range(700):
        os.write(null, bytes(10))
writes_large(), writes_small()
print(open("/proc/self/io").read())
"""
# 1,500 lengths, each once.
LENGTHS = "import os; null = os.open('/dev/null', os.O_WRONLY); [os.write(null, bytes(i)) for i in range(1, 1501)]"


def record(tracer, *arguments, program=WRITES, **options):
    result = tracer("record", "-o", "record.pb.gz", "-o", "record.folded", *arguments, "--", sys.executable, "-c", program, **options)
    assert result.returncode == 0, result.stderr
    return result


def rows_by(tracer, key, file="record.pb.gz", *arguments):
    """Returns the rows of a report: name → self (samples, weight)."""
    result = tracer("report", file, "--json", "--limit", "2000", "--min", "0", "--by", key, *arguments)
    assert result.returncode == 0, result.stderr
    return {row["name"]: (row["self"].get("samples"), row["self"]["weight"]) for row in json.loads(result.stdout)["rows"]}


def test_a_field_is_the_weight_and_bytes_by_its_name(tracer):
    result = record(tracer, "-e", WRITE, "--weight", "field:count")
    written = int(re.search(r"wchar: (\d+)", result.stdout)[1])
    pprof = Pprof.read(tracer.folder / "record.pb.gz")
    assert dict(pprof.sample_types())[WRITE] == "bytes"
    folded = (tracer.folder / "record.folded").read_text(encoding="utf-8")
    total = sum(int(line.rpartition(" ")[2]) for line in folded.splitlines())
    # Its own output is written after it has asked.
    assert total - len(result.stdout) == pytest.approx(written, rel=0.01)


def test_a_filter_is_the_kernels(tracer):
    record(tracer, "-e", f"{WRITE}/label=count/", "--filter", "count == 10000 && fd > 2")
    assert rows_by(tracer, "field:count") == {"10000": (300, 300)}


def test_a_filter_is_of_the_event_before_it(tracer):
    record(tracer, "-e", f"{WRITE}/name=all/", "-e", f"{WRITE}/name=large/", "--filter", "count == 10000")
    assert sum(weight for _, weight in rows_by(tracer, "process", "record.pb.gz", "-e", "large").values()) == 300
    assert sum(weight for _, weight in rows_by(tracer, "process", "record.pb.gz", "-e", "all").values()) >= 1000


def test_a_filter_holds_in_every_thread_of_a_running_process(tracer, started):
    program = ("import os, sys, threading; null = os.open('/dev/null', os.O_WRONLY)\n"
               "def write():\n for i in range(200): os.write(null, bytes(100 + i % 2))\n"
               "print('ready', flush=True); sys.stdin.readline()\n"
               "threads = [threading.Thread(target=write) for _ in range(4)]\n"
               "[thread.start() for thread in threads]; [thread.join() for thread in threads]; sys.stdin.readline()")
    process = started(subprocess.Popen([sys.executable, "-c", program], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    assert process.stdout.readline() == "ready\n"
    prof = started(tracer.start("record", "-e", f"{WRITE}/label=count/", "--filter", "count == 101", "-o", "record.pb.gz",
                                "--control", "fd:0,1", "-D", "-1", "-p", process.pid, stdin=subprocess.PIPE))
    prof.stdin.write("enable\n")
    prof.stdin.flush()
    assert prof.stdout.readline().startswith("ack")
    process.stdin.write("go\n\n")
    process.stdin.flush()
    process.wait()
    assert prof.wait() == 0
    assert rows_by(tracer, "field:count") == {"101": (400, 400)}


def test_a_wrong_filter_is_pointed_at(tracer):
    result = tracer("record", "-e", "sched:sched_switch", "--filter", "prev_pid == 0 || prev_state == Q", "true")
    message, shown, caret, fields = result.stderr.splitlines()
    assert result.returncode == 2 and "no value Q" in message
    assert shown == "  prev_pid == 0 || prev_state == Q" and caret == " " * (2 + 31) + "^"
    assert "values of prev_state: numbers, S, D" in fields


def test_what_the_kernel_refuses_is_said(tracer):
    result = tracer("record", "-e", WRITE, "--filter", "count.nosuch == 1", "true")
    assert result.returncode == 1
    assert f'the kernel refuses the filter "count.nosuch == 1" of {WRITE}' in result.stderr


def test_only_tracepoints_have_fields(prof):
    result = prof("record", "-e", "cpu-clock", "--filter", "a == 1", "true")
    assert result.returncode == 2 and "cpu-clock is not a tracepoint" in result.stderr
    result = prof("record", "-e", "cpu-clock", "--weight", "field:bytes", "true")
    assert result.returncode == 2 and "cpu-clock is not a tracepoint" in result.stderr
    result = prof("record", "-e", "cpu-clock/label=fd/", "true")
    assert result.returncode == 2 and "only tracepoints have" in result.stderr


def test_a_filter_without_an_event_is_a_usage_error(prof):
    for option in ["--filter", "a == 1"], ["--weight", "field:bytes"]:
        result = prof("record", *option, "true")
        assert result.returncode == 2 and "no event precedes it" in result.stderr


def test_fields_become_labels(tracer):
    record(tracer, "-e", "sched:sched_process_exit/label=comm+prio/", program="import os; [os.fork() or os._exit(0) for _ in range(3)]")
    (name, (samples, _)), = rows_by(tracer, "field:comm").items()
    assert name.startswith("python") and samples == 4
    assert rows_by(tracer, "label:prio")


SWITCHES = "import os, time; pid = os.fork() or time.sleep(0.3) or os._exit(0); os.waitpid(pid, 0); [time.sleep(0.001) for _ in range(50)]"


def test_values_have_the_names_that_perf_script_prints(tracer):
    record(tracer, "-e", "sched:sched_switch/label=prev_state/", "-o", "record.data", program=SWITCHES)
    script = subprocess.run([tool("perf"), "script", "-i", tracer.folder / "record.data", "-F", "trace"],
                            capture_output=True, text=True, check=True)
    printed = Counter(re.findall(r"prev_state=(\S+) ", script.stdout))
    assert printed["S"] >= 51
    for file in ("record.pb.gz", "record.data"):
        assert {name: samples for name, (samples, _) in rows_by(tracer, "field:prev_state", file).items()} == printed


def test_a_filter_takes_the_name_of_a_value(tracer):
    record(tracer, "-e", "sched:sched_switch/label=prev_state/", "--filter", "prev_state == S && prev_pid > 0", program=SWITCHES)
    assert set(rows_by(tracer, "field:prev_state")) == {"S"}


def test_the_number_of_values_is_bounded_and_the_rest_is_counted(tracer):
    result = record(tracer, "-e", f"{WRITE}/label=count/", "--filter", "fd > 2", program=LENGTHS)
    rows = rows_by(tracer, "field:count")
    assert len(rows) == 1001 and rows["[other]"] == (500, 500)
    assert "500 samples are labeled [other]: their field has more than 1000 values" in result.stderr


def test_a_pattern_is_one_event_whose_tracepoints_are_labels(tracer):
    record(tracer, "-e", "syscalls:sys_enter_*rite*")
    types = dict(Pprof.read(tracer.folder / "record.pb.gz").sample_types())
    assert set(types) == {"samples", "syscalls:sys_enter_*rite*"}
    rows = rows_by(tracer, "field:event")
    assert rows[WRITE][0] >= 1000 and all(name.startswith("syscalls:sys_enter_") for name in rows)


def test_tracepoints_without_the_field_leave_the_pattern(tracer):
    record(tracer, "-e", "syscalls:sys_e*_write", "--weight", "field:count")
    assert set(rows_by(tracer, "field:event")) == {WRITE}


def test_a_pattern_that_matches_nothing_or_too_much_is_an_error(tracer):
    result = tracer("record", "-e", "nosuch:*", "true")
    assert result.returncode == 2 and "no tracepoint matches nosuch:*" in result.stderr
    result = tracer("record", "-e", "*:*", "true")
    assert result.returncode == 2 and "more than 512" in result.stderr


def test_without_rights_the_message_says_sudo(ordinary):
    result = ordinary("record", "-e", "sched:sched_switch", "true")
    assert result.returncode == 2
    assert "run prof as root (sudo)" in result.stderr or "mount -t tracefs" in result.stderr


def test_perf_decodes_the_fields_of_a_recording(tracer):
    record(tracer, "-e", WRITE, "-o", "record.data")
    result = subprocess.run([tool("perf"), "script", "-i", tracer.folder / "record.data", "-F", "event,trace"],
                            capture_output=True, text=True, check=True)
    assert len(re.findall(rf"{WRITE}:.*count: 0x0*2710\b", result.stdout)) == 300


@pytest.mark.parametrize("recorder", ["prof", "perf", "pipe of perf"])
def test_fields_of_a_recording_become_weights_and_labels(tracer, recorder):
    # The standard output of the command is the pipe, too.
    command = ["--", sys.executable, "-c", f"import sys; sys.stdout = sys.stderr\n{WRITES}"]
    if recorder != "prof":
        file = tracer.folder / "record.data"
        result = subprocess.run(["unshare", "-m", "sh", "-c",
                                 "[ -d /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing; exec \"$@\"", "-",
                                 tool("perf"), "record", "-q", "-e", WRITE, "-o", file if recorder == "perf" else "-", *command],
                                check=True, capture_output=True)
        if recorder != "perf":
            file.write_bytes(result.stdout)
    else:
        record(tracer, "-e", WRITE, "-o", "record.data")
    rows = rows_by(tracer, "field:count", "record.data")
    assert rows["10000"][0] == 300 and rows["10"][0] == 700
    result = tracer("convert", "record.data", "--weight", "field:count", "--label-field", "fd", "-o", "weighed.pb.gz")
    assert result.returncode == 0, result.stderr
    assert dict(Pprof.read(tracer.folder / "weighed.pb.gz").sample_types())[WRITE] == "bytes"
    assert sum(weight for _, weight in rows_by(tracer, "label:fd", "weighed.pb.gz").values()) == pytest.approx(3007000, rel=0.01)


def test_a_field_that_no_recording_has_is_said(tracer):
    record(tracer, "-e", WRITE, "-o", "record.data")
    result = tracer("report", "record.data", "--by", "field:nosuch")
    assert "no event of the recording has a field nosuch" in result.stderr
