#!/usr/bin/env python3
"""Measures how accurate off-CPU recordings are, compared with the programs' own measurements.

waiting.py PROF BUILD [RUNS [ROW…]]

The programs are tests/targets/waits, ever_changing, idlers and switches, and the tokio program shared_lock (built by
./bootstrap --tests). `prof record --off-cpu` and --wall launch them as an unprivileged user, while
kernel.perf_event_paranoid is 2 (only root can become that user; others measure as themselves). For comparison,
bpftrace and the libbpf tools' offcputime record the same programs as root. Missing tools are omitted. Prints medians
of RUNS runs, only for rows whose names contain a ROW, without judging them.
"""

import contextlib
import gzip
import os
import platform
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict, namedtuple
from pathlib import Path

from figures import ROOTS, cpu_seconds, stacks
from sums import NOBODY, paranoid

SECONDS = 5  # length of each recording
TICKS = {"1 ms": "999", "10 ms": "99"}
BLOCKS = 100_000
IDLERS = 10_000
FIRST_S, IDLE_S = 5, 10
TRACEFS = "mount -t tracefs nodev /sys/kernel/tracing; exec \"$@\""

# Like offcputime, without the kprobes that some kernels lack.
OFF_CPU = """
tracepoint:sched:sched_switch {
  if (args->prev_pid != 0) { @start[args->prev_pid] = nsecs; @stack[args->prev_pid] = ustack; }
  if (@start[args->next_pid]) {
    @off[@stack[args->next_pid]] = sum(nsecs - @start[args->next_pid]);
    delete(@start[args->next_pid]);
  }
}
"""

Run = namedtuple("Run", "folded output errors waiting")


class Bench:
    """Where programs are recorded, and as which user."""

    def __init__(self, prof, build, runs, folder, user):
        self.runs, self.folder, self.user, self.build = runs, folder, user, build
        self.prof = shutil.copy(prof, folder)
        for name in ("waits", "ever_changing", "idlers", "switches"):
            shutil.copy(build / "tests" / "targets" / name, folder)
        self.tokio = build / "clients" / "bin" / "shared_lock"
        if self.tokio.exists():
            shutil.copy(self.tokio, folder)
        if user is not None:
            for place in [folder, *folder.rglob("*")]:
                os.chown(place, user, user)

    def target(self, name):
        return str(self.folder / name)

    def as_user(self, user):
        return {} if user is None else {"user": user, "group": user, "extra_groups": []}

    def record(self, *words, options=("--off-cpu",), user="of the bench"):
        """Launches a program with prof. Returns its off-CPU stacks in ns, its output, and the quality of the
        recording."""
        pprof = self.folder / "out.pb.gz"
        pprof.unlink(missing_ok=True)
        user = self.user if user == "of the bench" else user
        done = subprocess.run([self.prof, "record", *options, "-o", pprof, "--", *map(str, words)], cwd=self.folder, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, check=False, **self.as_user(user))
        if not pprof.exists():
            sys.exit(f"waiting: {done.stderr}")
        return Run(self.folded("off-cpu"), done.stdout, done.stderr, waiting_quality(pprof))

    def folded(self, event):
        words = [self.prof, "convert", "-q", self.folder / "out.pb.gz", "-e", event, "--weight", "ns", "--format", "folded", "-o", "-"]
        text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        return [(frames, int(ns)) for frames, ns in stacks(text)]


def waiting_quality(pprof):
    """Returns the comment of the file, a protobuf string with its length before it: {key: number}."""
    data = gzip.decompress(pprof.read_bytes())
    begin = data.find(b"prof: waiting ")
    if begin < 2:
        return {}
    low, high = data[begin - 2:begin]
    length = low & 0x7F | high << 7 if low & 0x80 else high
    text = data[begin:begin + length].decode("utf-8")
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", text)}


def row(title, goal, ours, **theirs):
    beside = "".join(f"   {name} {value}" for name, value in theirs.items() if value is not None)
    print(f"{title:66}{goal:>11}   {ours}{beside}", flush=True)


def share_rooted(folded):
    """Returns the share of the time whose stack starts at a root. The first frame is the program."""
    total = sum(ns for _, ns in folded)
    rooted = sum(ns for frames, ns in folded if len(frames) > 1 and ROOTS.fullmatch(frames[1]))
    return rooted / max(total, 1)


def own_clock(output):
    """Returns the measurements of the program `waits`: {function: ns}, and the lifetimes of all threads in ns."""
    table = {name: int(ns) for name, ns, _ in (line.split() for line in output.splitlines())}
    return table, table.pop("threads")


def in_function(folded, function):
    return sum(ns for frames, ns in folded if function in frames)


def errors_by_function(run):
    """Returns {function: relative difference to its own measurement}."""
    table, _ = own_clock(run.output)
    return {name: in_function(run.folded, name) / ns - 1 for name, ns in table.items()}


# --- Other tools --------------------------------------------------------------------------------


class Neighbour:
    """A tool that records the whole machine as root. It has started when it has printed so, and runs until it is
    interrupted."""

    def __init__(self, name, command, ready, parse):
        self.name, self.command, self.ready, self.parse = name, command, ready, parse

    @contextlib.contextmanager
    def running(self, folder):
        with open(folder / "neighbour.out", "w+", encoding="utf-8") as output:
            process = subprocess.Popen(self.command, stdout=output, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            deadline = time.monotonic() + 20
            while self.ready not in (folder / "neighbour.out").read_text(encoding="utf-8", errors="replace"):
                if process.poll() is not None or time.monotonic() > deadline:
                    break
                time.sleep(0.05)
            time.sleep(0.5)
            try:
                yield
            finally:
                process.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(30)
                process.kill()
                process.wait()

    def folded(self, folder):
        return list(self.parse((folder / "neighbour.out").read_text(encoding="utf-8", errors="replace")))


def of_bpftrace(text):
    """@off[ frames, innermost first, ]: ns"""
    for frames, ns in re.findall(r"^@off\[\n(.*?)\]: (\d+)$", text, re.MULTILINE | re.DOTALL):
        names = [re.sub(r"@.*|\+\d+$", "", frame.strip()) for frame in frames.splitlines()]
        yield ["", *reversed(names)], int(ns)


def of_offcputime(text):
    """Frames, kernel's first, then - NAME (TID), then us."""
    for block in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        if len(lines) > 2 and lines[-1].isdigit() and lines[-2].startswith("-"):
            yield [lines[-2], *reversed(lines[:-2])], 1000 * int(lines[-1])


def neighbours():
    """Returns the tools that can record here. bpftrace needs the tracing file system, in a mount namespace of its
    own."""
    if os.geteuid() != 0:
        return
    if shutil.which("bpftrace"):
        yield Neighbour("bpftrace", ["unshare", "-m", "sh", "-c", TRACEFS, "sh", "bpftrace", "-e", OFF_CPU], "Attaching", of_bpftrace)
    tool = next(filter(None, map(shutil.which, ["offcputime", "/usr/sbin/offcputime"])), None)
    if tool:
        # Longer than any program here runs. It prints when it is interrupted.
        yield Neighbour("offcputime", [tool, "600"], "", of_offcputime)


# --- Rows ---------------------------------------------------------------------------------------


def proved(bench):
    """Measures proven waits, and how the times of functions compare, from the same recordings."""
    for tick, frequency in TICKS.items():
        shares, worst, typical, named = [], [], [], Counter()
        for _ in range(bench.runs):
            run = bench.record(bench.target("waits"), SECONDS, options=["--off-cpu", "-F", frequency])
            quality, errors = run.waiting, errors_by_function(run)
            off = quality["waiting_ns"] + quality["wanted_ns"]
            shares.append((share_rooted(run.folded), (quality["proved_ns"] + quality["spread_ns"]) / off,
                           quality["proved_ns"] / off))
            worst.append(max(errors.values(), key=abs))
            typical.append(statistics.median(map(abs, errors.values())))
            named[max(errors, key=lambda name: abs(errors[name]))] += 1
        rooted, known, read = map(statistics.median, zip(*shares))
        row(f"off-CPU time with a rooted stack, {tick}", ">= 99 %" if tick == "1 ms" else "",
            f"{rooted:.2%} (the wait itself was read {read:.1%}, or others of its thread {known:.1%})")
        row(f"off-CPU time by function beside its own clock, {tick}", "2 %" if tick == "1 ms" else "3 %",
            f"worst {statistics.median(map(abs, worst)):.2%} ({named.most_common(1)[0][0]}), median {statistics.median(typical):.2%}")


def proved_by_neighbours(bench):
    for neighbour in neighbours():
        with neighbour.running(bench.folder):
            output = subprocess.run([bench.target("waits"), str(SECONDS)], capture_output=True, text=True, check=True,
                                    **bench.as_user(bench.user)).stdout
        folded = neighbour.folded(bench.folder)
        table, _ = own_clock(output)
        found = {name: in_function(folded, name) / ns for name, ns in table.items()}
        worst = min(found, key=found.get)
        row(f"  {neighbour.name}, root: of that time it finds in these functions", "",
            f"{statistics.median(found.values()):.2%} (median), {found[worst]:.2%} ({worst})")


def adds_up(bench):
    """On one CPU for which a busy thread competes, so that all three kinds of time occur."""
    errors, parts = [], []
    for _ in range(bench.runs):
        run = bench.record("taskset", "-c", "0", bench.target("waits"), SECONDS, 50, 20000, "sleep", "mutex", "pipe", "burn",
                           options=["--wall"])
        _, lives = own_clock(run.output)
        cpu = sum(ns for _, ns in bench.folded("cpu"))
        off = sum(ns for _, ns in run.folded)
        wanted = sum(ns for frames, ns in run.folded if frames[-1] == "[runnable]")
        errors.append((cpu + off) / lives - 1)
        parts.append((cpu / lives, wanted / lives, (off - wanted) / lives))
    cpu, wanted, waiting = map(statistics.median, zip(*parts))
    row("on CPU + runnable + waiting = lives of all threads", "1 %",
        f"{statistics.median(errors):+.2%} ({cpu:.1%} + {wanted:.1%} + {waiting:.1%})")


def trip_us(bench, *before, user):
    words = [*map(str, before), bench.target("switches"), "2"]
    done = subprocess.run(words, cwd=bench.folder, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
                          **bench.as_user(user))
    return float(done.stdout.split()[-1])


def switches(bench):
    """Runs alone and recorded in turn. The fastest run of each counts, because other load only adds time. A round trip
    is two switches."""
    ways = {"--off-cpu": ([bench.prof, "record", "-q", "--off-cpu", "-o", "/dev/null", "--format", "folded", "--"], bench.user),
            "--wall": ([bench.prof, "record", "-q", "--wall", "-o", "/dev/null", "--format", "folded", "--"], bench.user)}
    if os.geteuid() == 0:
        ways["--off-cpu, root"] = (ways["--off-cpu"][0], None)
    if shutil.which("perf") and os.geteuid() == 0:
        ways["perf -e context-switches -g"] = (["perf", "record", "-q", "-e", "context-switches", "-c", "1", "-g", "-o",
                                                bench.folder / "perf.data", "--"], None)
    trips, beside = defaultdict(list), list(neighbours())
    for _ in range(max(5, bench.runs)):
        trips["alone"].append(trip_us(bench, user=bench.user))
        for name, (before, user) in ways.items():
            trips[name].append(trip_us(bench, *before, user=user))
        for neighbour in beside:
            with neighbour.running(bench.folder):
                trips[neighbour.name].append(trip_us(bench, user=bench.user))
    alone = min(trips.pop("alone")) / 2
    row("a context switch alone", "", f"{alone:.2f} us")
    for name, values in trips.items():
        goal = "<= 1.6 us" if name.startswith("--off-cpu") else ""
        row(f"  {name}: more", goal, f"{min(values) / 2 - alone:.2f} us (median run {statistics.median(values) / 2 - alone:.2f})")


def resident_mib(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))[1]) / 1024


@contextlib.contextmanager
def pool(command, **how):
    """Starts many threads that wait for work, in a process that is ended with them."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)
    if process.stdout.readline() != "ready\n":
        sys.exit(f"waiting: the threads cannot be created: {process.stderr.read()}")
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def idle_cpu(bench, recorder):
    """Returns the CPU time of the first seconds, and the share of a CPU after that. The recorder must stay alive."""
    used = [0.0]
    for seconds in FIRST_S, IDLE_S:
        time.sleep(seconds)
        if recorder.poll() is not None:
            sys.exit(f"waiting: {recorder.stderr.read()}")
        used.append(cpu_seconds(recorder.pid))
    return used[1], (used[2] - used[1]) / IDLE_S


def watch(bench, recorder, title, plain_s, end):
    """Measures what a recorder of sleeping threads needs. end() ends it. plain_s: the initial CPU time of a recorder
    that does not poll them."""
    first, then = idle_cpu(bench, recorder)
    peak = resident_mib(recorder.pid)
    end()
    recorder.communicate()
    folded = bench.folded("off-cpu")
    row(f"{title}: to look at all", "<= 0.2 s", f"{first - plain_s:.2f} s of CPU time, and {plain_s:.2f} s as without looking")
    row("  after that, of a CPU", "<= 0.1 %", f"{then:.3%}")
    row("  memory", "<= 100 MiB", f"{peak:.0f} MiB")
    row("  in the profile", "", f"{len(folded)} stacks, {share_rooted(folded):.2%} of the time rooted")


def idle_pools(bench):
    idlers = [bench.target("idlers"), str(IDLERS)]
    words = [bench.prof, "record", "-q", "--checkpoint=off", "-o", bench.folder / "out.pb.gz"]
    plain_s = {}
    for how in "cpu-clock", "off-cpu":
        options = ["-e", "cpu-clock"] if how == "cpu-clock" else ["--off-cpu"]
        with pool([*words, *options, "--", *idlers], cwd=bench.folder, **bench.as_user(bench.user)) as recorder:
            if how == "cpu-clock":
                plain_s["launched"] = idle_cpu(bench, recorder)[0]
            else:
                watch(bench, recorder, f"{IDLERS:,} sleeping threads, launched", plain_s["launched"], lambda: None)
    # This needs a descriptor per thread and CPU.
    most = (resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 500) // os.cpu_count()
    idlers[1] = str(min(IDLERS, most))
    for user, who in {bench.user: "attached", None: "attached, root" if os.geteuid() == 0 else "attached"}.items():
        with pool(idlers, **bench.as_user(user)) as process:
            def attach(*options):
                return subprocess.Popen([*words, *options, "-p", str(process.pid)], stderr=subprocess.PIPE, cwd=bench.folder,
                                        text=True, **bench.as_user(user))

            recorder = attach("-e", "cpu-clock")
            plain_s[who] = idle_cpu(bench, recorder)[0]
            recorder.send_signal(signal.SIGINT)
            recorder.communicate()
            recorder = attach("--off-cpu")
            watch(bench, recorder, f"{int(idlers[1]):,} sleeping threads, {who}", plain_s[who],
                  lambda: recorder.send_signal(signal.SIGINT))


def holder(bench):
    def named():
        run = bench.record(bench.target("waits"), SECONDS, 50, 20000, "mutex", "rwlock")
        result = []
        for waits, holds in ("wants_lock", "holds_lock"), ("wants_rwlock", "holds_rwlock"):
            wanted = [(frames[-1], ns) for frames, ns in run.folded if waits in frames and frames[-1] != "[runnable]"]
            leaf = re.compile(rf"\[\w+ held by {holds}\b.* in ({holds}|sleep_at_random)\]")  # which may be inlined
            found = sum(ns for reason, ns in wanted if leaf.fullmatch(reason))
            result.append(found / max(sum(ns for _, ns in wanted), 1))
        return result

    mutex, rwlock = map(statistics.median, zip(*(named() for _ in range(bench.runs))))
    row("holder named with its function: mutex of glibc", ">= 95 %", f"{mutex:.2%}")
    row("  … rwlock of glibc, held for writing", "", f"{rwlock:.2%}")


PATH = re.compile(r"f(\d+)$")
SLACK_NS = 10_000  # the times of perf's text are in microseconds
WAIT = re.compile(r".* \d+/(\d+) +\[\d+\] +(\d+)\.(\d+): +(\d+) off-cpu:")


def path_of(frames):
    return "".join(f"{int(match[1]):x}" for match in map(PATH.match, frames) if match)


def logged(log):
    """Returns when each thread slept at a path, which happens once: {(tid, path): (start, end)}."""
    sleeps = {}
    for line in log.read_text(encoding="ascii").splitlines():
        tid, begin, end, path = line.split()
        sleeps[int(tid), path] = int(begin), int(end)
    return sleeps


def timed_waits(text):
    """Yields from perf's text: thread, end and length of a wait in ns, and its frames from the root on."""
    header, frames = None, []
    with open(text, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("\t"):
                frames.append(line.strip().partition(" ")[2].rpartition(" (")[0])
            elif not line.strip() and header:
                yield (int(header[1]), int(header[2]) * 10**9 + int(header[3].ljust(9, "0")), int(header[4]), frames[::-1])
                header, frames = None, []
            else:
                header, frames = WAIT.match(line), []


def false_stacks(bench):
    """A path belongs to one sleep, and the wait must be inside it. Stacks of a runnable thread may be on the way
    there."""
    log, text = bench.folder / "log", bench.folder / "out.perf.txt"
    bench.record(bench.target("ever_changing"), BLOCKS, log, options=["--off-cpu", "-o", text])
    sleeps = logged(log)
    beginnings = {path[:length] for _, path in sleeps for length in range(len(path) + 1)}
    seen, wrong, late, last = set(), [], Counter(), {}
    total_ns = cut_ns = 0
    for tid, end_ns, ns, frames in timed_waits(text):
        total_ns += ns
        path, asleep = path_of(frames), frames[-1] == "[nanosleep]"
        if "[truncated]" in frames:
            cut_ns += ns
        elif asleep and (tid, path) in sleeps:
            seen.add((tid, path))
            begin, end = sleeps[tid, path]
            late[tid, end_ns] += not begin - SLACK_NS <= end_ns <= end + SLACK_NS
            last[tid] = end_ns
        elif "change" in frames and (asleep or path not in beginnings):
            wrong.append(";".join(frames))
    # The last waits of a thread that no snapshot observed get the place of an earlier wait.
    misplaced = sum(late.values()) - sum(late[tid, end_ns] for tid, end_ns in last.items())
    row(f"false stacks in {len(sleeps):,} blocks in ever changing places", "0",
        f"{len(wrong)}, at another time {misplaced}; {len(seen):,} blocks were met; truncated {cut_ns / max(total_ns, 1):.2%} of the time")
    for stack in wrong[:3]:
        print(f"    {stack}")


def tokio(bench):
    if not bench.tokio.exists():
        row("tokio", "", "shared_lock is missing: ./bootstrap --tests brings it")
        return
    run = bench.record(bench.target("shared_lock"), SECONDS)
    workers = Counter()
    for frames, ns in run.folded:
        if any("tokio::runtime::blocking::pool" in frame for frame in frames):
            workers[tuple(frames)] += ns
    top, ns = max(workers.items(), key=lambda item: item[1], default=((), 0))
    total = max(workers.total(), 1)
    locked = sum(ns for frames, ns in workers.items() if "shared_lock::lookup" in frames and "shared_lock::refresh" not in frames)
    mine = [frame for frame in top if "shared_lock" in frame or "Mutex" in frame or frame.startswith("[")]
    row("tokio, a std::sync::Mutex held across 300 us: top waiting stack", "the lock",
        f"{ns / total:.1%} {' > '.join(mine)}; at the lock in all {locked / total:.1%} (truly about 75 %)")


ROWS = {"proved": proved, "neighbours": proved_by_neighbours, "adds up": adds_up, "switches": switches, "idle": idle_pools,
        "holder": holder, "false": false_stacks, "tokio": tokio}


def main():
    prof, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    chosen = sys.argv[4:]
    user = NOBODY if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="prof-bench.") as name, paranoid(2) if user else contextlib.nullcontext():
        os.chmod(name, 0o755)
        bench = Bench(prof, build, runs, Path(name), user)
        print(f"{platform.release()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; medians of {runs} runs of {SECONDS} s, "
              f"{'without rights at kernel.perf_event_paranoid 2' if user else 'as this user'}")
        print(f"{'':66}{'must reach':>11}   prof", flush=True)
        for title, measure in ROWS.items():
            if not chosen or any(word in title for word in chosen):
                measure(bench)


if __name__ == "__main__":
    main()
