"""Real programs must behave with libprof-inside.so as they do without it: the same output, files and exit status."""

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import BUILD, NOBODY, SOURCE
from lacking import lacking, tool
from profiles import Stacks
from time_limit import TIME_LIMIT_S

WAYS = {
    "alloc": ("record", "--alloc=16k", "-o", "profile.folded"),
    "cpu": ("record", "--via", "inside", "-o", "profile.folded"),
    "idle": ("inside",),
}

pytestmark = pytest.mark.interop


class Run:
    """A program that has ended, and its working directory."""

    def __init__(self, folder, command, **options):
        folder.mkdir()
        self.folder = folder
        ended = subprocess.run([str(word) for word in command], cwd=folder, timeout=TIME_LIMIT_S, text=True, check=False,
                               stdin=subprocess.DEVNULL, capture_output=True, **options)
        self.status, self.output, self.errors = ended.returncode, ended.stdout, ended.stderr

    def files(self):
        return {path.relative_to(self.folder): path.read_bytes() for path in self.folder.rglob("*")
                if path.is_file() and path.name != "profile.folded"}


@pytest.fixture
def runs_as_without(prof, tmp_path):
    """Runs a command alone and in these ways. It must print the same and, if `files` is set, write the same files.
    `changing` matches text that always differs. Returns the stacks of its allocations."""
    if not (BUILD / "lib" / "inside" / "library" / "libprof-inside.so").exists():
        lacking("libprof-inside.so")

    def check(*command, files=False, changing=None, ways=("alloc", "cpu"), status=0, **options):
        def said(run):
            return re.sub(changing, "", run.output) if changing else run.output

        alone = Run(tmp_path / "alone", command, **options)
        assert alone.status == status and alone.output, alone.errors
        for way in ways:
            run = Run(tmp_path / way, [prof.binary, *WAYS[way], "--", *command], **options)
            assert (run.status, said(run)) == (alone.status, said(alone)), f"{way}\n{run.errors}"
            assert "written over" not in run.errors, run.errors
            if files:
                assert run.files() == alone.files(), way
        return Stacks.read(tmp_path / "alloc" / "profile.folded")

    return check


def assert_allocations(stacks, *programs, least=20, whole=0.9, deepest=math.inf):
    """Asserts that each of these programs was sampled, and the minimum share of complete stacks. The library does not
    copy more than 32 KiB of a stack, so stacks of recursions with more frames than `deepest` do not count."""
    for program in programs:
        samples = stacks.count(lambda frames, program=program: frames[0] == program and len(frames) <= deepest)
        assert samples >= least, (program, stacks.hottest())
        truncated = stacks.count(lambda frames, program=program: frames[:2] == (program, "[truncated]") and len(frames) <= deepest)
        assert truncated <= (1 - whole) * samples, (program, truncated, samples)


# ---- Shells, interpreters and virtual machines ----

SHELL = r"""
trap 'echo caught' USR1
count() { local x=$1; ((x == 0)) || { echo $x; count $((x - 1)); }; }
count 9 | sort -n | tr '\n' ' '
(exit 3); echo status $?
kill -USR1 $$
cat <(echo one) <(echo two) | while read -r line; do echo "got $line"; done
coproc cat; echo through >&"${COPROC[1]}"; read -r line <&"${COPROC[0]}"; echo "$line"
echo $(for i in {1..50}; do /bin/echo $i; done | wc -l)
exec 3>file; echo to 3 >&3; exec 3>&-; cat file
set -o pipefail; false | true; echo $?
sleep 100 & kill $!; wait $!; echo waited $?
bash -c 'kill -SEGV $$'; echo died $?
text=x; for i in {1..14}; do text=$text$text; done; echo ${#text}
ls /proc/self/fd | grep -cv 960
trap 'echo trapped $?' EXIT
exit 7
"""


def test_bash_with_pipes_traps_and_functions(runs_as_without):
    stacks = runs_as_without(tool("bash"), "-c", SHELL, status=7)
    assert_allocations(stacks, "bash")


PYTHON = r"""
import asyncio, ctypes, errno, multiprocessing, os, signal, subprocess, sys, threading, time

def square(x):
    return sum([x] * x)

async def chat():
    async def echo(reader, writer):
        writer.write((await reader.readline()).upper()); writer.close()
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async def ask(i):
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"hello %d\n" % i)
        answer = await reader.read(); writer.close()
        return answer
    print(await asyncio.gather(*map(ask, range(20))))
    process = await asyncio.create_subprocess_exec("echo", "of a child", stdout=subprocess.PIPE)
    print(await process.communicate(), process.returncode)

def main():
    threads = [threading.Thread(target=lambda: [bytearray(i) for i in range(3000)]) for _ in range(8)]
    [thread.start() for thread in threads]; [thread.join() for thread in threads]
    print(subprocess.run(["sh", "-c", "cat; exit 9"], input=b"in", capture_output=True))
    for how in "fork", "spawn", "forkserver":
        with multiprocessing.get_context(how).Pool(2) as pool:
            print(how, sum(pool.map(square, range(200))))
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
    numbers = (ctypes.c_int * 100)(*(i * 7919 % 101 for i in range(100)))
    ctypes.CDLL(None).qsort(numbers, 100, 4, compare(lambda a, b: a[0] - b[0]))
    print(list(numbers))
    got = []
    for number in signal.SIGALRM, signal.SIGPROF, signal.SIGVTALRM, *range(signal.SIGRTMIN, signal.SIGRTMAX + 1):
        assert signal.getsignal(number) == signal.SIG_DFL
        signal.signal(number, lambda number, frame: got.append(number))
    for number in range(signal.SIGRTMIN, signal.SIGRTMAX + 1):
        os.kill(os.getpid(), number)
    signal.setitimer(signal.ITIMER_PROF, 0.005)
    while signal.SIGPROF not in got:
        square(1000)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]); os.kill(os.getpid(), signal.SIGUSR1)
    print(got, signal.sigwait([signal.SIGUSR1]), signal.sigpending())
    asyncio.run(chat())
    child = os.fork()
    if not child:
        os._exit(sum(len(bytes(i)) for i in range(10)))
    print(os.waitpid(child, 0)[1])
    print({i: str(i) * 100 for i in range(1000)}[999][:8])

if __name__ == "__main__":
    main()
    sys.exit(5)
"""


def test_python_with_threads_processes_signals_and_asyncio(runs_as_without, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PYTHON)
    stacks = runs_as_without(sys.executable, "-X", "dev", program, status=5)
    assert_allocations(stacks, Path(sys.executable).name, least=200)


NODE = r"""
const {Worker, isMainThread, parentPort} = require("worker_threads");
const {execFileSync, fork, spawnSync} = require("child_process");
const {gzip, gunzipSync} = require("zlib"), {pbkdf2} = require("crypto");
const sum = n => Array.from({length: n}, (_, i) => i).reduce((a, b) => a + b, 0);
if (process.send) { process.send(sum(1000)); process.disconnect(); }
else if (!isMainThread) parentPort.postMessage(sum(100000));
else (async () => {
    process.on("exit", code => console.log("exit", code));
    process.on("SIGUSR2", () => console.log("caught"));
    process.kill(process.pid, "SIGUSR2");
    const results = await Promise.all([1, 2, 3].map(() => new Promise(resolve => {
        const worker = new Worker(__filename); worker.on("message", resolve);
    })));
    console.log(results, await new Promise(resolve => fork(__filename).on("message", resolve)));
    console.log(execFileSync("echo", ["of a child"]).toString(), spawnSync("sh", ["-c", "exit 9"]).status);
    const packed = await new Promise(resolve => gzip("x".repeat(1e6), (_, data) => resolve(data)));
    console.log(packed.length, gunzipSync(packed).length);
    console.log(await new Promise(resolve => pbkdf2("a", "b", 1000, 16, "sha256", (_, key) => resolve(key.toString("hex")))));
    process.exitCode = 3;
})();
"""


def test_node_with_workers_and_child_processes(runs_as_without, tmp_path):
    program = tmp_path / "program.js"
    program.write_text(NODE)
    stacks = runs_as_without(tool("node"), program, status=3)
    assert_allocations(stacks, "node")


JAVA = """
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

class Program {
    static int depth(int n) { return depth(n + 1) + 1; }
    public static void main(String[] arguments) throws Exception {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("ends")));
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Integer>> sums = new ArrayList<>();
        for (int t = 0; t < 8; t++)
            sums.add(pool.submit(() -> {
                Map<Integer, String> map = new HashMap<>();
                for (int i = 0; i < 200000; i++) map.put(i % 1000, "text " + i);
                return map.values().stream().mapToInt(String::length).sum();
            }));
        for (Future<Integer> sum : sums) System.out.println(sum.get());
        pool.shutdown();
        try { depth(0); } catch (StackOverflowError error) { System.out.println("overflow"); }
        try { Object none = null; none.hashCode(); } catch (NullPointerException error) { System.out.println("null"); }
        System.gc();
        System.exit(4);
    }
}
"""


def test_java_with_threads_garbage_and_an_overflow(runs_as_without, tmp_path):
    (tmp_path / "Program.java").write_text(JAVA)
    subprocess.run([tool("javac"), "Program.java"], cwd=tmp_path, check=True, timeout=TIME_LIMIT_S)
    stacks = runs_as_without(tool("java"), "-Xmx32m", "-XX:+UseG1GC", "-cp", tmp_path, "Program", status=4)
    assert_allocations(stacks, "java", deepest=300)  # the number of allocations while the stack overflows varies


PAGE = """<body><script>
document.body.textContent = [...Array(1000).keys()].map(i => `<${i}>`).join("").length;
</script></body>"""


@pytest.fixture
def open_folder(root):
    """A directory that all users may enter, and that user 65534 may write to."""
    path = subprocess.run(["mktemp", "-d", "/tmp/prof-XXXXXX"], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(["chown", str(NOBODY), path], check=True)
    yield path
    subprocess.run(["rm", "-r", path], check=True)


def as_nobody(*command):
    return tool("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command


def test_chromium_in_its_sandbox(runs_as_without, open_folder):
    runs_as_without(*as_nobody("env", f"HOME={open_folder}", tool("chromium"), "--headless", "--disable-gpu", "--dump-dom",
                               "data:text/html," + PAGE.replace("\n", "")))


# ---- Compilers and version control ----

C_FILE = """
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
int work_{i}(int x) {{ char *text = malloc(100); sprintf(text, "%d", x * {i}); int sum = atoi(text); free(text); return sum; }}
"""
CXX_FILE = """
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>
int main() { std::map<std::string, std::vector<int>> m; m["a"].push_back(1); std::cout << m.size() << std::endl; }
"""
MAKEFILE = """
all: program library.a cxx
	./program; ./cxx
%.o: SOURCE/%.c
	gcc -O2 -c -o $@ $<
program: SOURCE/main.c library.a
	gcc -O2 -flto -o $@ $^
library.a: 0.o 1.o 2.o 3.o
	ar rcD $@ $^
cxx: SOURCE/cxx.cc
	g++ -O1 -pipe -Wl,--build-id -o $@ $<
"""


def test_a_parallel_build_by_gcc_makes_the_same_files(runs_as_without, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for i in range(4):
        (source / f"{i}.c").write_text(C_FILE.format(i=i))
    (source / "main.c").write_text("int work_0(int), work_3(int); int main(void) { return work_0(1) + work_3(2); }\n")
    (source / "cxx.cc").write_text(CXX_FILE)
    (source / "Makefile").write_text(MAKEFILE.replace("SOURCE", str(source)))
    stacks = runs_as_without(tool("make"), "-s", "-j2", "-f", source / "Makefile", files=True)
    assert_allocations(stacks, "cc1", "cc1plus", "ld")


RUST = """
use std::{collections::HashMap, sync::mpsc, thread};
fn main() {
    let (sender, receiver) = mpsc::channel();
    for i in 0..4 {
        let sender = sender.clone();
        thread::spawn(move || sender.send((0..1000).map(|j| (j, format!("{i} {j}"))).collect::<HashMap<_, _>>().len()));
    }
    drop(sender);
    println!("{}", receiver.iter().sum::<usize>());
}
"""


def test_rustc_makes_the_same_program(runs_as_without, tmp_path):
    source = tmp_path / "program.rs"
    source.write_text(RUST)
    sysroot = subprocess.run([tool("rustc"), "--print", "sysroot"], check=True, capture_output=True, text=True).stdout
    command = f"{sysroot.strip()}/bin/rustc -O --edition=2021 -o program {source} && ./program"
    stacks = runs_as_without("sh", "-c", command, files=True)
    assert stacks.total >= 20, stacks.hottest()  # the linker and the program; rustc has its own allocator


GIT = """
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b HOME=$PWD
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' GIT_CONFIG_NOSYSTEM=1
git init -q -b main repository && cd repository
for i in 1 2 3 4 5; do seq $((i * 5000)) > file$i; git add .; git commit -q -m "commit $i"; done
git mv file1 renamed && git commit -q -m renamed
git log --stat -M; git gc -q; git fsck --full; git count-objects -v; git diff HEAD~3 | sha1sum; git blame file3 | sha1sum
git show nothing 2>&1; exit 6
"""


def test_git_makes_the_same_repository(runs_as_without):
    tool("git")
    stacks = runs_as_without("sh", "-c", GIT, status=6)
    assert_allocations(stacks, "git")


# ---- Programs with unusual behaviour ----

UNUSUAL = ("own_signals", "signal_thread", "own_handler_stack", "storm", "spawns", "empty_environment", "clones",
           "many_threads", "own_contexts", "late_allocations", "failures", "plugins", "closes_libraries")


@pytest.mark.parametrize("mode", UNUSUAL)
def test_an_unusual_program(runs_as_without, target, mode):
    runs_as_without(target("unusual"), mode, target("brief_plugin.so"), ways=WAYS)


def test_exceptions_through_callbacks_and_objects_that_end_with_their_thread(runs_as_without, target):
    stacks = runs_as_without(target("unusual_cxx"), status=3)
    assert_allocations(stacks, "unusual_cxx", least=10)


def test_a_program_with_its_own_malloc(runs_as_without, target):
    runs_as_without(target("own_malloc"))


def built(program, *command):
    """Returns a program, or None if a library that it links with is missing."""
    result = subprocess.run([*command, "-o", program], capture_output=True, text=True, check=False, timeout=TIME_LIMIT_S)
    return program if result.returncode == 0 else None


def test_a_program_with_jemalloc_linked_in(runs_as_without, client, tmp_path):
    program = built(tmp_path / "program", client("gcc"), "-w", "-O1", SOURCE / "tests" / "targets" / "unusual.c",
                    "-Wl,-Bstatic", "-ljemalloc", "-Wl,-Bdynamic", "-lm", "-lstdc++", "-ldl", "-pthread")
    runs_as_without(program or lacking("libjemalloc.a"), "late_allocations")


THREADS = """
#include <cstdio>
#include <string>
#include <thread>
int main() { for (int i = 0; i < 50; i++) std::thread([i] { std::string(1000, 'x').append(i, 'y'); }).join(); std::puts("done"); }
"""


def test_a_program_that_prepares_its_threads_for_its_allocator(runs_as_without, client, tmp_path):
    source = tmp_path / "threads.cc"
    source.write_text(THREADS)
    program = built(tmp_path / "program", client("clang++"), "-O1", "-fsanitize=thread", source)
    runs_as_without(program or lacking("ThreadSanitizer of clang"))


def test_a_child_of_another_c_library(runs_as_without, target):
    runs_as_without("sh", "-c", f"{target('threads_musl')} 0.1; echo $?")
