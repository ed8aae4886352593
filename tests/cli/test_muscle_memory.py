"""The commands of other profilers' tutorials, with prof in their place, work or name what to type.

The tutorials are those of perf (its wiki, Brendan Gregg's one-liners), cargo-flamegraph, samply, heaptrack, offcputime and
py-spy. In the commands ./app is a program, $PID a process, and times are shorter."""

import os
import shutil
import subprocess

import pytest

WORKS = None
FLAME_GRAPH = "prof record -o flamegraph.svg "
OF_CARGO = "prof cargo -o flamegraph.svg "
OFF_CPU = "prof record --off-cpu "
DURATION = "--duration 1 "

# The command, and WORKS or a part of the line with the counterpart.
PERF = [
    ("prof list", WORKS),
    ("prof list sw", WORKS),
    ("prof stat ./app", "prof record --stat ./app "),
    ("prof stat -p $PID", "prof record --stat COMMAND "),
    ("prof record ./app", WORKS),
    ("prof record -F 99 ./app", WORKS),
    ("prof record -g ./app", WORKS),
    ("prof record --call-graph dwarf ./app", WORKS),
    ("prof record --call-graph=fp -o out.data -- ./app", WORKS),
    ("prof record -F 99 -p $PID sleep 0.1", WORKS),
    ("prof record -F 99 -p $PID -g -- sleep 0.1", WORKS),
    ("prof record -e page-faults -c 1 -g ./app", WORKS),
    ("prof record -e cpu-clock:u ./app", WORKS),
    ("prof record -vv --kcore --namespaces --all-cgroups --aio ./app", WORKS),
    ("prof record --latency ./app", WORKS),
    ("prof record --latency -p $PID -- sleep 0.1", WORKS),
    ("prof record -p $PID 1", DURATION),
    ("prof report", WORKS),
    ("prof report -i prof.pb.gz", WORKS),
    ("prof report -n", WORKS),
    ("prof report --stdio", WORKS),
    ("prof report -n --stdio", WORKS),
    ("prof report --sort=dso", WORKS),
    ("prof report -n --sort comm,dso", WORKS),
    ("prof report --stdio --no-children --percent-limit 5 -g caller -G", WORKS),
    ("prof report -g graph,0.5,caller --inline -v", WORKS),
    ("prof report --tui", "prof convert FILE -o page.html "),
    ("prof report --fields=overhead,sym", "--by "),
    ("prof report -T", "--by "),
    ("prof report -S main", "--focus REGEX "),
    ("prof report --latency", "prof record --elapsed "),
    ("prof report --parallelism=1-3", "prof record --elapsed "),
    ("prof report --time 0,1", "--since "),
    ("prof report --header-only", "prof report --json "),
    ("prof report -x ,", "prof report --json "),
    ("prof annotate main", WORKS),
    ("prof annotate --stdio -l -s main", WORKS),
    ("prof annotate -d app main", "--module NAME "),
    ("prof script", WORKS),
    ("prof script -i prof.pb.gz", WORKS),
    ("prof script --header", WORKS),
    ("prof script -F comm,pid,tid,cpu,time,event,ip,sym,dso", WORKS),
    ("prof script | grep -q app", WORKS),
    ("prof script -D", "prof report --json "),
    ("prof script --comm app", "--comm NAME "),
    ("prof script report flamegraph", FLAME_GRAPH),
    ("prof script flamegraph -F 99 sleep 1", FLAME_GRAPH),
    ("prof diff prof.pb.gz prof.pb.gz", WORKS),
    ("prof top -p $PID -d 0.1 -n 1", WORKS),
    ("prof top -F 49 -p $PID -d 0.1 -n 1", WORKS),
    ("prof top -F 49 -ns comm,dso", "--by process "),
    ("prof top --sort comm,dso", "--by "),
    ("prof top --stdio", "--batch "),
    ("prof top -K", "--all-user "),
    ("prof probe --add tcp_sendmsg", "-e kprobe:FUNCTION "),
    ("prof trace ls", "prof record -e 'syscalls:sys_enter_*' ls "),
    ("prof sched record -- sleep 1", OFF_CPU),
    ("prof lock record ./app", OFF_CPU),
    ("prof timechart record ./app", OFF_CPU),
    ("prof mem record ./app", "prof record -e cpu/mem-loads/P COMMAND "),
    ("prof c2c record ./app", "prof report --label snoop=HitM"),
    ("prof kmem record ./app", "prof record --alloc "),
    ("prof kvm stat", "prof record -e cycles:G "),
    ("prof ftrace -G vfs_read", "prof record --calls FUNCTION "),
    ("prof bench sched", "prof cargo bench "),
    ("prof inject --jit -i perf.data", "prof report FILE "),
    ("prof archive perf.data", "prof report FILE "),
    ("prof buildid-list prof.pb.gz", "prof doctor prof.pb.gz "),
    ("prof buildid-cache -l", "prof doctor FILE "),
    ("prof evlist", "prof report --json FILE "),
    ("prof data convert --to-json out.json", "prof convert FILE "),
    ("prof daemon start", "prof record -a --every "),
    ("prof config -l", "prof doctor "),
    ("prof test", "prof doctor "),
    ("prof version", "prof --version"),
    ("prof -v", "prof --version"),
    ("prof --version", WORKS),
    ("prof help stat", "prof record --stat COMMAND "),
]

CARGO_FLAMEGRAPH = [
    ("prof flamegraph", OF_CARGO),
    ("prof flamegraph --bench b", OF_CARGO),
    ("prof flamegraph --bin=app -- arguments", OF_CARGO),
    ("prof flamegraph -- ./app argument", FLAME_GRAPH + "-- ./app argument "),
    ("prof flamegraph ./app", FLAME_GRAPH + "./app "),
    ("prof cargo flamegraph", OF_CARGO),
    ("prof cargo flamegraph --bench b", OF_CARGO),
]

SAMPLY = [
    ("prof record --save-only -o out.firefox.json.gz -- ./app", WORKS),
    ("prof record --rate 2000 --no-open ./app", WORKS),
    ("prof record --save-only -o out.json ./app", "firefox (.firefox.json.gz)"),
    ("prof record --main-thread-only ./app", "prof report --tid TID "),
    ("prof record --iteration-count 5 ./app", "prof diff "),
    ("prof load prof.pb.gz", "prof report prof.pb.gz "),
    ("prof import perf.data", "prof report perf.data "),
    ("prof setup", "prof doctor "),
]

HEAPTRACK = [
    ("prof heaptrack ./app argument", "prof record --alloc ./app argument "),
    ("prof heaptrack --pid $PID", "prof record --alloc COMMAND "),
    ("prof ./app argument", "prof record ./app argument   # with --alloc"),
    ("prof heaptrack_print app.gz", "prof report app.gz "),
]

OFFCPUTIME = [
    ("prof 5", "--off-cpu"),
    ("prof -p $PID 5", "--off-cpu"),
    ("prof -df -p $PID 5", "--off-cpu"),
    ("prof offcputime -p $PID 5", OFF_CPU),
    ("prof offcputime-bpfcc -K 5", OFF_CPU),
    ("prof profile -F 99 -f 5", "prof record -a --duration "),
]

PY_SPY = [
    ("prof record -o out.svg --pid $PID --duration 0.1", WORKS),
    ("prof record -o out.svg -- ./app", WORKS),
    ("prof record -o out.svg --pid $PID -d 1", DURATION),
    ("prof record --pid $PID --duration 0.1 --rate 100 --format speedscope", WORKS),
    ("prof record -f raw --native --nonblocking --function -o out ./app", WORKS),
    ("prof record --format flamegraph -o out ./app", WORKS),
    ("prof record --subprocesses --pid $PID", "--children "),
    ("prof record --idle --pid $PID", "--wall "),
    ("prof record --gil --pid $PID", "--wall "),
    ("prof top --pid $PID -d 0.1 -n 1", WORKS),
    ("prof top -- ./app", WORKS),
    ("prof dump --pid $PID", "prof record --wall -p PID "),
]

# These record the whole machine.
OF_ROOT = [
    ("prof record -g -F 99 -a -- sleep 0.1", WORKS),
    ("prof record -F 99 -ag -- sleep 0.1", WORKS),
    ("prof record -F 99 -a --call-graph dwarf sleep 0.1", WORKS),
    ("prof record -e minor-faults -c 100 -ag -- sleep 0.1", WORKS),
    ("prof record -a -o out.html -- sleep 0.1", WORKS),
    ("prof top -F 49 -d 0.1 -n 1", WORKS),
    ("prof top -e page-faults -d 0.1 -n 1", WORKS),
]


@pytest.fixture
def shell(prof, target, service):
    """Runs a command where ./app is a program that has been recorded."""
    shutil.copy(target("shares"), prof.folder / "app")
    prof.run("record", "-q", "-o", "prof.pb.gz", "./app", "0.2")
    environment = {**os.environ, "PATH": f"{prof.binary.parent}:{os.environ['PATH']}", "PID": str(service.pid)}

    def run(command):
        return subprocess.run(["sh", "-c", command.replace("./app", "./app 0.1")], cwd=prof.folder, env=environment, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, check=False)

    return run


def check(shell, commands):
    for command, answer in commands:
        result = shell(command)
        if answer is WORKS:
            assert result.returncode == 0, (command, result.stderr)
            continue
        assert result.returncode in (1, 2, 127), (command, result.stderr)
        hints = [line for line in result.stderr.splitlines() if line.startswith("  ")]
        assert len(hints) == 1 and answer.replace("./app", "./app 0.1") in hints[0] + " ", (command, result.stderr)


@pytest.mark.parametrize("commands", [PERF, CARGO_FLAMEGRAPH, SAMPLY, HEAPTRACK, OFFCPUTIME, PY_SPY],
                         ids=["perf", "cargo-flamegraph", "samply", "heaptrack", "offcputime", "py-spy"])
def test_commands_of_a_tutorial_work_or_name_their_counterpart(shell, commands):
    check(shell, commands)


def test_commands_that_sample_the_whole_machine_work(root, shell):
    check(shell, OF_ROOT)


def test_a_file_called_like_a_script_of_perf_is_read(prof, shell):
    shutil.copy(prof.folder / "prof.pb.gz", prof.folder / "report")
    check(shell, [("prof script report", WORKS)])
