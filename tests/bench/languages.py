#!/usr/bin/env python3
"""Checks whether stacks of code from many compilers reach their roots, with prof and with other profilers.

languages.py PROF BUILD [ROW…]

Builds and records each program of languages/ and some installed programs. Rows whose compiler or program is missing
are omitted with a message. Prints, for each tool, the share of samples whose outermost frame is a root according to
the ELF file alone: the entry point, the start of a thread, or a frame that CFI calls the outermost. For prof and
perf, also prints the calls in all stacks that are impossible in the machine code (elf_code.py).

Environment variables name compilers and programs that are not in PATH: ZIG, OCAML5 (its ocamlopt), PYTHON (with
numba and llvmlite), RING, RING_MUSL, AWS_LC. ONLY_PROF=1 omits the other profilers, VERBOSE=1 lists the most
frequent impossible calls. Prints results without judging them.
"""

import functools
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from elf_code import cannot_call, elf_code

HERE = Path(__file__).resolve().parent / "languages"
FREQUENCY_HZ = 499
TIME_LIMIT_S = 120
SIGNAL_RETURN = re.compile(rb"\x48\xc7\xc0\x0f\0\0\0\x0f\x05|\xb8\x0f\0\0\0\x0f\x05")


# --- Programs --------------------------------------------------------------------------------


class Missing(Exception):
    pass


def tool(*names):
    for name in names:
        found = shutil.which(name) or (os.path.isfile(name) and name)
        if found:
            return str(found)
    raise Missing(f"{names[0]} is missing")


def compiled(source, *compiler, output="-o {}"):
    """A row whose program is compiled from a file of languages/, in a directory of its own."""

    def build(folder):
        program = folder / "program"
        shutil.copy(HERE / source, folder)
        command = [tool(compiler[0]), *compiler[1:], *output.format(program).split(), folder / source]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if result.returncode or not program.exists():
            raise Missing(f"{compiler[0]} fails")
        return [program]

    return build


def installed(*command, script=None):
    return lambda _: [tool(command[0]), *command[1:], *([HERE / script] if script else [])]


def python(module, script):
    """A row whose script imports a module. PYTHON names an interpreter that has the module."""

    def build(_):
        program = tool(os.environ.get("PYTHON", "python3"))
        if subprocess.run([program, "-c", f"import {module}"], capture_output=True, check=False).returncode:
            raise Missing(f"{program} has no {module}")
        return [program, HERE / script]

    return build


def video(folder):
    file = folder / "video.mp4"
    subprocess.run([tool("ffmpeg"), "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=640x360:d=8", "-c:v", "libx264",
                    file], check=True, stdin=subprocess.DEVNULL)
    return file


def encoder(folder):
    raw = folder / "video.y4m"
    subprocess.run([tool("ffmpeg"), "-v", "error", "-i", video(folder), "-pix_fmt", "yuv420p", raw], check=True)
    return [tool("x264"), "--quiet", "--threads", "2", "-o", "/dev/null", raw]


def speed(*algorithms):
    return installed("openssl", "speed", "-seconds", "1", "-bytes", "16384", *algorithms)


def given(variable):
    """A program named by the environment: `RING=target/release/bench languages.py …`."""

    def build(_):
        if variable not in os.environ:
            raise Missing(f"set {variable} to its command")
        return os.environ[variable].split()

    return build


NO_CFI = ["-fomit-frame-pointer", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
ZIG = os.environ.get("ZIG", "zig")

ROWS = {
    "OpenSSL: SHA, MD5": speed("sha1", "sha256", "sha512", "md5"),
    "OpenSSL: AES-GCM": speed("-evp", "aes-128-gcm"),
    "OpenSSL: AES-CBC with HMAC": speed("-evp", "aes-128-cbc-hmac-sha256"),
    "OpenSSL: ChaCha20-Poly1305": speed("-evp", "chacha20-poly1305"),
    "OpenSSL: RSA, DSA": speed("rsa2048", "rsa4096", "dsa2048"),
    "OpenSSL: curves": speed("ecdsap256", "ecdsap384", "ecdhx25519", "ed25519"),
    "ring": given("RING"),
    "ring, musl": given("RING_MUSL"),
    "AWS-LC (BoringSSL)": given("AWS_LC"),
    "C, gcc -O2": compiled("tree.c", "gcc", "-O2", "-pthread"),
    "C, clang -O3 -flto, lld": compiled("tree.c", "clang", "-O3", "-flto", "-fuse-ld=lld", "-pthread"),
    "C, neither CFI nor frame pointers": compiled("tree.c", "gcc", "-O2", *NO_CFI, "-pthread"),
    "C, musl": compiled("tree.c", "musl-gcc", "-O2", "-pthread"),
    "C, musl, static": compiled("tree.c", "musl-gcc", "-O2", "-static", "-pthread"),
    "Zig, Debug": compiled("tree.zig", ZIG, "build-exe", "-ODebug", output="-femit-bin={}"),
    "Zig, ReleaseSafe": compiled("tree.zig", ZIG, "build-exe", "-OReleaseSafe", output="-femit-bin={}"),
    "Zig, ReleaseFast": compiled("tree.zig", ZIG, "build-exe", "-OReleaseFast", output="-femit-bin={}"),
    "Zig, ReleaseSmall, stripped": compiled("tree.zig", ZIG, "build-exe", "-OReleaseSmall", output="-femit-bin={}"),
    "OCaml 4": compiled("tree.ml", "ocamlopt", "-g"),
    "OCaml 5": compiled("tree.ml", os.environ.get("OCAML5", "ocamlopt.5"), "-g"),
    "OCaml 5: effects, domains": compiled("fibers.ml", os.environ.get("OCAML5", "ocamlopt.5"), "-g", "-I", "+unix",
                                          "unix.cmxa"),
    "Haskell, ghc -O2": compiled("tree.hs", "ghc", "-O2", "-package", "containers"),
    "Haskell, ghc -O2 -g -threaded": compiled("tree.hs", "ghc", "-O2", "-g", "-threaded", "-package", "containers"),
    "D, ldc: threads, fibers": compiled("tree.d", "ldc2", "-O2", "-g", output="-of={}"),
    "D, gdc: threads, fibers": compiled("tree.d", "gdc", "-O2", "-g"),
    "Nim": compiled("tree.nim", "nim", "c", "-d:release", "--hints:off", output="-o:{}"),
    "Pascal, fpc": compiled("tree.pas", "fpc", "-O2", output="-o{}"),
    "Lisp, sbcl": installed("sbcl", "--script", script="tree.lisp"),
    "Go: assembly of crypto": compiled("digests.go", "go", "build"),
    "JavaScript, node": installed("node", script="tree.js"),
    "LuaJIT": installed("luajit", script="tree.lua"),
    "PHP": installed("php", script="tree.php"),
    "PHP, JIT": installed("php", "-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=64M", "-d", "opcache.jit=tracing",
                          "-d", "zend_extension=opcache", script="tree.php"),
    "Python, numba": python("numba", "tree_numba.py"),
    "Python, llvmlite": python("llvmlite", "tree_llvmlite.py"),
    "Ruby": installed("ruby", script="tree.rb"),
    "Ruby, YJIT": installed("ruby", "--yjit", script="tree.rb"),
    "x264 (assembly)": encoder,
    "ffmpeg: decode, scale (assembly)": lambda folder: [tool("ffmpeg"), "-v", "error", "-i", video(folder), "-vf",
                                                        "scale=1920x1080", "-f", "null", "-"],
}


# --- Recordings ------------------------------------------------------------------------------
#
# Each function yields the user frames of each sample, leaf first: (path of the ELF file or None, vaddr).


def quiet(command, folder):
    subprocess.run(list(map(str, command)), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=TIME_LIMIT_S, check=False)


def by_prof(prof, command, folder):
    text = folder / "prof.perf.txt"
    quiet([prof, "record", "-q", "-F", FREQUENCY_HZ, "-o", text, "--", *command], folder)
    return prof_samples(text)


def prof_samples(text):
    for sample in text.read_text(encoding="utf-8", errors="replace").split("\n\n"):
        frames = []
        for line in sample.splitlines()[1:]:
            match = re.match(r"\s+(\w+) (.*) \((.*)\)$", line)
            if match and match[2] == "[truncated]":
                frames.append((None, 0))
            elif match and match[3] != "[kernel.kallsyms]" and not line.endswith("(inlined)"):
                frames.append((match[3], int(match[1], 16)))
        if frames:
            yield frames


def by_perf(how, command, folder):
    """perf prints offsets in the files."""
    data = folder / "perf.data"
    quiet([tool("perf"), "record", "-q", "-F", FREQUENCY_HZ, "--call-graph", how, "-o", data, "--", *command], folder)
    script = subprocess.run(["perf", "script", "-i", data, "-F", "pid,ip,sym,dso", "--no-inline"], capture_output=True,
                            text=True, errors="replace", check=False).stdout
    for sample in script.split("\n\n"):
        frames = []
        for address, path in re.findall(r"^\s+(\w+) .*\((.*)\)$", sample, re.MULTILINE):
            elf = elf_code(path) if path.startswith("/") else None
            vaddr = elf.vaddr(int(address, 16)) if elf else None
            if int(address, 16) < 1 << 63:
                frames.append((path if vaddr else None, vaddr))
        if frames:
            yield frames


# samply requests hardware cycles. It tries the CPU clock instead only if it reads a 1 there, whatever its user may
# do.
SHOW_ONE = 'mount --bind "$0" /proc/sys/kernel/perf_event_paranoid && exec "$@"'


def by_samply(samply, command, folder):
    file, one = folder / "samply.json.gz", folder / "one"
    one.write_text("1\n", encoding="ascii")
    quiet(["unshare", "-m", "sh", "-c", SHOW_ONE, one, samply, "record", "--save-only", "-r", FREQUENCY_HZ, "-o", file,
           "--", *command], folder)
    profile = json.loads(gzip.decompress(file.read_bytes())) if file.exists() else {"threads": [], "libs": []}
    for thread in profile["threads"]:
        yield from samply_samples(thread, profile["libs"])


def samply_samples(thread, libs):
    stacks, frames, functions = thread["stackTable"], thread["frameTable"], thread["funcTable"]

    def frame(index):
        resource = functions["resource"][frames["func"][index]]
        lib = thread["resourceTable"]["lib"][resource] if resource is not None and resource >= 0 else None
        path = libs[lib]["path"] if lib is not None and lib >= 0 else None
        elf = elf_code(path) if path else None
        return (path, frames["address"][index] + elf.base()) if elf else (None, frames["address"][index])

    for stack in thread["samples"]["stack"]:
        chain = []
        while stack is not None:
            chain.append(frame(stacks["frame"][stack]))
            stack = stacks["prefix"][stack]
        if chain:
            yield chain


# --- Checks -------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def is_root(frame):
    path, vaddr = frame
    elf = elf_code(path) if path else None
    return bool(elf) and elf.is_root(vaddr)


def is_signal_return(frame):
    path, vaddr = frame
    elf = elf_code(path) if path else None
    return bool(elf) and any(SIGNAL_RETURN.match(elf.read(vaddr + by, 9)) for by in (0, 1))


@functools.lru_cache(maxsize=None)
def impossible(callee, caller):
    """A return address may be given as it is, or minus one."""
    if not (callee[0] and caller[0]) or is_signal_return(callee):
        return None
    reasons = [cannot_call(caller[0], caller[1] + by, callee[0], callee[1]) for by in (0, 1)]
    return reasons[0] if all(reasons) else None


def judge(samples):
    total = rooted = 0
    wrong = Counter()
    for frames in samples:
        total += 1
        rooted += is_root(frames[-1])
        for callee, caller in zip(frames, frames[1:]):
            reason = impossible(callee, caller)
            if reason and not is_root(caller):
                wrong[(callee, caller, reason)] += 1
    return total, rooted, wrong


def cell(samples):
    total, rooted, wrong = judge(samples)
    for (callee, caller, reason), count in wrong.most_common(3 if os.environ.get("VERBOSE") else 0):
        print(f"    {count} x {callee[0]}+{callee[1]:#x} <- {caller[0]}+{caller[1]:#x}: {reason}")
    return f"{rooted / total:.1%} {sum(wrong.values())}" if total else "-"


def recorders(prof, build):
    path = f"{build}/clients/bin:{os.environ['PATH']}"
    yield "prof", lambda *where: by_prof(prof, *where)
    if shutil.which("perf") and not os.environ.get("ONLY_PROF"):
        yield "perf 8 KiB", lambda *where: by_perf("dwarf,8192", *where)
        yield "perf 64 KiB", lambda *where: by_perf("dwarf,65528", *where)
        yield "perf fp", lambda *where: by_perf("fp", *where)
        samply = shutil.which("samply", path=path)
        if samply:
            yield "samply", lambda *where: by_samply(samply, *where)


def main():
    prof, build, rows = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:]
    tools = dict(recorders(prof, build))
    print("rooted, and callers that the machine code makes impossible")
    print(f"{'':36}" + "".join(f"{name:>16}" for name in tools), flush=True)
    for title, make in ROWS.items():
        if rows and not any(row in title for row in rows):
            continue
        with tempfile.TemporaryDirectory() as name:
            try:
                command = make(Path(name))
            except Missing as missing:
                print(f"{title:36}  left out: {missing}", flush=True)
                continue
            cells = [cell(by(command, Path(name))) for by in tools.values()]
            print(f"{title:36}" + "".join(f"{text:>16}" for text in cells), flush=True)


if __name__ == "__main__":
    main()
