"""--kernel-lines: files, lines and inlined functions of a kernel and its modules, from files with debug information.
The kernels are small programs linked at a kernel's address, and their recordings are synthetic."""

import functools
import gzip
import lzma
import platform
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

import perf_data
from lacking import tool
from profiles import Pprof, Stacks

FOLDER = tempfile.TemporaryDirectory()
RELEASE = "6.1.0-test"
ID, MODULE_ID, OTHER_ID = "11" * 20, "22" * 20, "33" * 20
LINKED_AT, SLIDE = 0xFFFFFFFF81000000, 0x1C000000
MODULE_AT = 0xFFFFFFFFC0A1B000
MODULE_FILE = f"/lib/modules/{RELEASE}/kernel/net/fast-path.ko"

KERNEL = """static inline __attribute__((always_inline)) int in_kernel(volatile int *p)
{
	return *p * 3;
}
int kernel_outer(volatile int *p)
{
	return in_kernel(p) + *p;
}
int other_function(volatile int *p)
{
	return *p - 7;
}
"""

MODULE = """static inline __attribute__((always_inline)) int in_module(volatile int *p)
{
	return *p * 5;
}
__attribute__((section(".text.unlikely"))) int unlikely_part(volatile int *p)
{
	return *p;
}
int first_part(volatile int *p)
{
	return *p;
}
int module_outer(volatile int *p)
{
	return in_module(p) + *p;
}
"""


@functools.lru_cache
def compiled(name, code):
    folder = Path(FOLDER.name)
    source = folder / f"{name}.c"
    source.write_text(code)
    subprocess.run([tool("gcc"), "-c", "-g", "-O2", "-ffreestanding", "-fno-pic", "-fno-asynchronous-unwind-tables",
                    "-ffile-prefix-map=" + str(folder) + "=/build", "-o", folder / f"{name}.o", source], check=True)
    return folder / f"{name}.o"


def functions(path):
    """name → (address, size)"""
    listed = subprocess.run([tool("nm"), "-S", path], check=True, capture_output=True, text=True).stdout
    return {name: (int(at, 16), int(size, 16))
            for at, size, name in re.findall(r"^(\w+) (\w+) [tT] (\w+)$", listed, re.MULTILINE)}


@pytest.fixture
def system(tmp_path):
    """/usr/lib/debug and its contents."""
    return System(tmp_path)


class System:
    def __init__(self, folder):
        self.folder, self.debug = folder, folder / "debug"
        self.vmlinux = self.debug / "boot" / f"vmlinux-{RELEASE}"
        self.module = self.debug / MODULE_FILE[1:]
        self.vmlinux.parent.mkdir(parents=True)
        self.module.parent.mkdir(parents=True)

    def link_kernel(self, id=ID):
        subprocess.run([tool("ld"), f"-Ttext={LINKED_AT:#x}", f"--build-id=0x{id}", f"--defsym=_text={LINKED_AT:#x}",
                        "-e", "kernel_outer", "-o", self.vmlinux, compiled("kernel", KERNEL)], check=True)
        return functions(self.vmlinux)

    def link_module(self, id=MODULE_ID):
        subprocess.run([tool("ld"), "-r", f"--build-id=0x{id}", "-o", self.module,
                        compiled("module", MODULE)], check=True)
        return functions(self.module)

    def recording(self, pcs, kernel_id=ID, symbol="_text", programs=()):
        """A recording of another machine, in which each pc is sampled once."""
        records = [perf_data.kernel_mmap(LINKED_AT + SLIDE, 0x100000, f"[kernel.kallsyms]{symbol}", LINKED_AT + SLIDE),
                   perf_data.kernel_mmap(MODULE_AT, 0x1000, MODULE_FILE), perf_data.comm(100, 1, "app")]
        records += programs
        records += [perf_data.sample(100, 10 + i, [perf_data.CONTEXT_KERNEL, pc], ip=pc) for i, pc in enumerate(pcs)]
        ids = {"[kernel.kallsyms]": kernel_id, MODULE_FILE: MODULE_ID}
        data = self.folder / "perf.data"
        data.write_bytes(perf_data.file(records, features={
            2: perf_data.build_ids(ids), 3: perf_data.text("elsewhere"), 4: perf_data.text(RELEASE),
            6: perf_data.text(platform.machine())}))
        return data


def pcs_of(function, start):
    at, size = function
    return range(start + at, start + at + size)


def convert(prof, system, pcs, *options, output="out.folded", **recorded):
    out = system.folder / output
    result = prof.run("convert", system.recording(pcs, **recorded), "--kernel-lines", "--debug-dir", system.debug, *options,
                      "-o", out)
    return out, result.stderr


def lines_of(path):
    """(function, file name, line) of all lines of all locations."""
    profile = Pprof.read(path)
    return {(profile.strings[function.name], profile.strings[function.filename].rpartition("/")[2], line.line)
            for location in profile.message.location for line in location.line
            for function in [profile.functions[line.function_id]]}


def test_a_kernel_has_lines_and_inlined_functions_wherever_it_was_loaded(prof, system):
    kernel = system.link_kernel()
    pcs = [*pcs_of(kernel["kernel_outer"], SLIDE), *pcs_of(kernel["other_function"], SLIDE)]
    out, messages = convert(prof, system, pcs)
    stacks = Stacks.read(out)
    assert set(stacks.counts) == {("app", "kernel_outer"), ("app", "kernel_outer", "in_kernel"), ("app", "other_function")}
    assert stacks.counts["app", "other_function"] == kernel["other_function"][1]
    assert "no names" not in messages and "no lines" not in messages
    out, _ = convert(prof, system, pcs, output="out.pb.gz")
    lines = lines_of(out)
    assert ("in_kernel", "kernel.c", 3) in lines and ("kernel_outer", "kernel.c", 7) in lines
    assert {function for function, _, _ in lines} == {"in_kernel", "kernel_outer", "other_function"}
    outer = pcs_of(kernel["kernel_outer"], SLIDE)
    out, _ = convert(prof, system, outer, "--annotate")
    assert set(Stacks.read(out).counts) == {("app", "kernel_outer_[k]"), ("app", "kernel_outer_[k]", "in_kernel_[k]")}
    out, _ = convert(prof, system, outer, "--no-inline")
    assert set(Stacks.read(out).counts) == {("app", "kernel_outer")}


def test_a_kernel_of_another_build_is_refused(prof, system):
    kernel = system.link_kernel(id=OTHER_ID)
    out, messages = convert(prof, system, pcs_of(kernel["kernel_outer"], SLIDE))
    assert all(name.startswith("[kernel.kallsyms+") for _, name in Stacks.read(out).counts)
    assert f"vmlinux-{RELEASE} is of another build" in messages
    assert OTHER_ID in messages and ID in messages


def test_a_missing_kernel_is_a_problem_that_says_what_helps(prof, system):
    _, messages = convert(prof, system, [LINKED_AT + SLIDE])
    assert ID in messages and RELEASE in messages and "install the debug symbols" in messages


def test_a_kernel_without_the_symbol_that_was_recorded_has_no_lines(prof, system):
    kernel = system.link_kernel()
    out, messages = convert(prof, system, pcs_of(kernel["kernel_outer"], SLIDE), symbol="_stext")
    assert all(name.startswith("[kernel.kallsyms+") for _, name in Stacks.read(out).counts)
    assert "where it was loaded" in messages


def assert_module(prof, system, module):
    pcs = pcs_of(module["module_outer"], MODULE_AT)
    out, messages = convert(prof, system, pcs, output="out.pb.gz")
    lines = lines_of(out)
    assert ("in_module", "module.c", 3) in lines and ("module_outer", "module.c", 15) in lines, messages
    assert {function for function, _, _ in lines} == {"in_module", "module_outer"}
    profile = Pprof.read(out)
    assert {profile.strings[mapping.filename] for mapping in profile.message.mapping} >= {"[fast_path]"}


def test_a_module_is_relocated(prof, system):
    assert_module(prof, system, system.link_module())


@pytest.mark.parametrize("suffix", [".xz", ".gz", ".zst"])
def test_a_compressed_module_is_unpacked(prof, system, suffix):
    module = system.link_module()
    packed = system.module.with_suffix(".ko" + suffix)
    content = system.module.read_bytes()
    if suffix == ".zst":
        subprocess.run([tool("zstd"), "-q", "--rm", system.module, "-o", packed], check=True)
    else:
        packed.write_bytes(lzma.compress(content) if suffix == ".xz" else gzip.compress(content))
        system.module.unlink()
    assert_module(prof, system, module)


@pytest.mark.parametrize("damage", ["build", "cut"])
def test_a_wrong_compressed_module_gives_no_lines(prof, system, damage):
    module = system.link_module(OTHER_ID if damage == "build" else MODULE_ID)
    content = lzma.compress(system.module.read_bytes())
    system.module.with_suffix(".ko.xz").write_bytes(content if damage == "build" else content[:-20])
    system.module.unlink()
    out, messages = convert(prof, system, pcs_of(module["module_outer"], MODULE_AT))
    assert all(name.startswith("[fast_path+") for _, name in Stacks.read(out).counts)
    assert ("is of another build" if damage == "build" else "cannot be decompressed") in messages


def test_sections_that_share_no_address_are_told_apart_and_modules_are_shown(prof, system):
    """In a relocatable file all sections start at 0."""
    module = system.link_module()
    pcs = pcs_of(module["first_part"], MODULE_AT)
    out, _ = convert(prof, system, pcs)
    assert set(Stacks.read(out).counts) == {("app", "first_part")}
    out, _ = convert(prof, system, pcs, output="out.pb.gz")
    assert re.search(r"first_part +\[fast_path\]", prof("report", out).stdout)


def test_bpf_programs_are_named_by_their_recording(prof, system):
    """Including programs that were unloaded before its end, and those between the modules."""
    at = MODULE_AT + 0x800
    programs = [perf_data.kernel_symbol(1, at, 0x40, "bpf_prog_0123456789abcdef_first"),
                perf_data.kernel_symbol(2, at, 0x40, "bpf_prog_0123456789abcdef_first", removed=True),
                perf_data.kernel_symbol(3, at + 0x40, 0x40, "bpf_prog_0123456789abcdef_second")]
    out, _ = convert(prof, system, [at, at + 0x3F, at + 0x40, at + 0x80], programs=programs)
    assert Stacks.read(out).counts == {("app", "bpf_prog_0123456789abcdef_first"): 2,
                                       ("app", "bpf_prog_0123456789abcdef_second"): 1,
                                       ("app", f"[fast_path+{at + 0x80:#x}]"): 1}
