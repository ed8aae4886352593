"""Compares symbols, lines and inlined calls with other DWARF readers, including elfutils, at the start, middle and end
of every function. Also compares Go's own table with its DWARF."""

import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict, namedtuple
from pathlib import Path

import pytest

from conftest import BUILD, SOURCE
from lacking import tool

C = ["-O2", "-w", "-std=gnu17", "-D_GNU_SOURCE", f"-I{SOURCE / 'lib'}", "-shared", "-fPIC", *SOURCE.glob("lib/dwarf/*.c")]
CPP = ["-O2", "-w", "-std=c++17", SOURCE / "tests/cli/words.cc"]
RUST = ["-O", "-g", "--edition=2021", SOURCE / "tests/targets/interpreter.rs"]

PROGRAMS = {
    "C, gcc, DWARF 2": ["gcc", "-gdwarf-2", "-gstrict-dwarf", *C],
    "C, gcc, DWARF 3": ["gcc", "-gdwarf-3", "-gstrict-dwarf", *C],
    "C, gcc, DWARF 4": ["gcc", "-gdwarf-4", *C],
    "C, gcc, DWARF 5": ["gcc", "-gdwarf-5", *C],
    "C, gcc, 64-bit DWARF": ["gcc", "-gdwarf-5", "-gdwarf64", *C],
    "C, gcc, link-time optimization": ["gcc", "-g", "-flto", *C],
    "C, clang, DWARF 4": ["clang", "-gdwarf-4", *C],
    "C, clang, DWARF 5": ["clang", "-gdwarf-5", *C],
    "C++, gcc, DWARF 4": ["g++", "-gdwarf-4", *CPP],
    "C++, gcc, DWARF 5": ["g++", "-gdwarf-5", *CPP],
    "C++, gcc, type units, unused sections dropped": ["g++", "-g", "-fdebug-types-section", "-ffunction-sections",
                                                      "-Wl,--gc-sections", *CPP],
    "C++, clang, DWARF 4": ["clang++", "-gdwarf-4", *CPP],
    "C++, clang, DWARF 5": ["clang++", "-gdwarf-5", *CPP],
    "Rust, DWARF 4": ["rustc", "-Zdwarf-version=4", *RUST],
    "Rust, DWARF 5": ["rustc", "-Zdwarf-version=5", *RUST],
}

Call = namedtuple("Call", "name path line")


def functions(program):
    """name → [(address, size)] from the symbol table."""
    listing = subprocess.run(["nm", "--print-size", "--defined-only", program], check=True, capture_output=True, text=True)
    found = defaultdict(list)
    for fields in map(str.split, listing.stdout.splitlines()):
        if len(fields) == 4 and fields[2] in "tTwWi":
            found[fields[3]].append((int(fields[0], 16), int(fields[1], 16)))
    return found


def ask(command, addresses):
    asked = "".join(f"{address:#x}\n" for address in addresses)
    return subprocess.run(command, input=asked, check=True, capture_output=True, text=True).stdout


def call(name, place):
    """place: FILE:LINE, possibly with a column or text that binutils append."""
    path, line = re.fullmatch(r"(.*?):(\d+|\?)(?::\d+)?(?: \(discriminator \d+\))?", place).groups()
    return Call(name, os.path.normpath(path), int(line.replace("?", "0")))


def resolved(program, addresses, *options):
    """Returns prof's result: for each address its calls, innermost first."""
    return by_llvm([BUILD / "tests/unit/resolve_addresses", *options, program], addresses)


def resolved_by_go(program, addresses):
    """Returns prof's result without DWARF and symbols."""
    return by_llvm([BUILD / "tests/unit/resolve_addresses", "--go", program], addresses)


def by_llvm(command, addresses):
    """An empty line follows each address."""
    answers = ask(command, addresses).strip("\n").split("\n\n")
    assert len(answers) == len(addresses)
    return [[call(*pair) for pair in zip(lines[::2], lines[1::2])] for lines in map(str.splitlines, answers)]


def by_addr2line(command, addresses):
    """The address precedes its calls."""
    answers = re.split(r"^0x[0-9a-f]+\n", ask(command, addresses), flags=re.MULTILINE)[1:]
    assert len(answers) == len(addresses)
    return [[call(*pair) for pair in zip(lines[::2], lines[1::2])] for lines in map(str.splitlines, answers)]


def llvm_symbolizer(program):
    path = tool("llvm-symbolizer")
    return lambda addresses: by_llvm([path, f"--obj={program}", "--functions=linkage", "--inlines", "--no-demangle"],
                                     addresses)


def binutils(program):
    """Not gimli's, which has the same name."""
    return lambda addresses: by_addr2line(["/usr/bin/addr2line", "-a", "-i", "-f", "-e", program], addresses)


def same_name(ours, theirs):
    """If there is no linkage name (GCC writes none for static functions), llvm-symbolizer omits the namespaces."""
    return ours == theirs or ours.endswith("::" + theirs)


def same_path(ours, theirs):
    """The others prepend the unit's folder to a relative folder that is equal to it (as in glibc)."""
    return ours == theirs or (ours[0] != "/" and theirs.endswith("/" + ours))


def same_place(ours, theirs):
    """If no line is known, llvm-symbolizer prints the file from the symbol table."""
    if ours[1:] == ("??", 0):
        return theirs.line == 0
    return ours.line == theirs.line and same_path(ours.path, theirs.path)


def agree(address, ours, theirs, symbols):
    """Compares the two chains, except for known differences."""
    if len(ours) != len(theirs):
        return False
    if ours == [Call("??", "??", 0)]:  # without DWARF, it falls back to the symbol table
        return theirs[0].line == 0
    if not all(same_place(our, their) for our, their in zip(ours, theirs)):
        return False
    if not all(same_name(our.name, their.name) for our, their in zip(ours[:-1], theirs[:-1])):
        return False
    our, their = ours[-1], theirs[-1]
    # It replaces the name of the physical function by that of the symbol (f.part.0, f.llvm.123), which may be
    # invented by the link-time optimizer for a file.
    return (our.name == their.name or any(start <= address < start + size for start, size in symbols[their.name])
            or re.fullmatch(r".*\.c\.[0-9a-f]{8}", their.name))


def places(symbols):
    return sorted({address for found in symbols.values() for start, size in found if size
                   for address in (start, start + size // 2, start + size - 1)})


def assert_agreement(program, oracle):
    symbols = functions(program)
    addresses = places(symbols)
    ours, theirs = resolved(program, addresses), oracle(program)(addresses)
    different = [(hex(address), our, their) for address, our, their in zip(addresses, ours, theirs)
                 if not agree(address, our, their, symbols)]
    assert not different, f"{len(different)} of {len(addresses)}, the first: {different[0]}"
    assert sum(len(our) > 2 for our in ours) > 10, "nothing is inlined"
    assert resolved(program, addresses, "--again") == ours, "who asks for a few at a time is told something else"
    assert resolved(program, addresses, "--parts") == ours, "units that are read in parts have other names"


def assert_elfutils_agrees(program):
    addresses = places(functions(program))
    assert resolved(program, addresses, "--libdw") == resolved(program, addresses)


FOLDER = tempfile.TemporaryDirectory()


@functools.lru_cache
def built(name):
    """Builds one of PROGRAMS, for all tests of a run."""
    compiler, *arguments = PROGRAMS[name]
    program = Path(FOLDER.name) / re.sub(r"\W", "_", name)
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1"}  # the version of DWARF is an unstable option before 1.88
    subprocess.run([tool(compiler), *arguments, "-o", program], check=True, capture_output=True, env=environment)
    return program


@pytest.mark.parametrize("name", PROGRAMS)
def test_inline_chains_equal_those_of_llvm_symbolizer_and_elfutils(name):
    assert_agreement(built(name), llvm_symbolizer)
    assert_elfutils_agrees(built(name))


def debug_file(path):
    """The place of a file's debug information in a distribution's package."""
    notes = subprocess.run(["readelf", "-n", path], check=True, capture_output=True, text=True).stdout
    found = re.search(r"Build ID: (..)(\w+)", notes)
    name = Path(f"/usr/lib/debug/.build-id/{found[1]}/{found[2]}.debug")
    if not name.exists():
        pytest.skip(f"the debug information of {path} is missing")
    return name


def libc():
    return next(line.split()[-1] for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
                if "/libc.so" in line)


@pytest.mark.parametrize("oracle", [llvm_symbolizer, binutils])
def test_inline_chains_of_ripgrep(client, oracle):
    assert_agreement(client("rg"), oracle)


# binutils (2.40) have other files for some lines of DWARF 5.
@pytest.mark.parametrize("file", [libc, lambda: "/usr/bin/python3"], ids=["libc", "python"])
def test_inline_chains_of_a_distributions_programs(file):
    assert_agreement(debug_file(file()), llvm_symbolizer)


@pytest.mark.parametrize("file", [lambda: tool("rg"), lambda: debug_file(libc()), lambda: debug_file("/usr/bin/python3")],
                         ids=["ripgrep", "libc", "python"])
def test_elfutils_reads_the_same_inline_chains(file):
    assert_elfutils_agrees(file())


@pytest.mark.parametrize("how", ["zlib", "zlib-gnu", "zstd"])
def test_compressed_sections_give_the_same_inline_chains(how, tmp_path):
    plain, packed = built("C++, gcc, DWARF 5"), tmp_path / "packed"
    result = subprocess.run(["objcopy", f"--compress-debug-sections={how}", plain, packed], capture_output=True, text=True,
                            check=False)
    if result.returncode and "zstd" in result.stderr:
        pytest.skip("this objcopy has no zstd")
    addresses = places(functions(plain))
    assert resolved(packed, addresses) == resolved(plain, addresses)


def test_debug_information_shared_by_dwz_is_found(client, tmp_path):
    plain, shared = built("C++, gcc, DWARF 5"), tmp_path / "shared"
    shutil.copy(plain, shared)
    subprocess.run([client("dwz"), shared], check=True)
    assert shared.stat().st_size < plain.stat().st_size
    addresses = places(functions(plain))
    assert resolved(shared, addresses) == resolved(plain, addresses)


def without_types(chain):
    """Before Go 1.21, its table has [...] for the type arguments of generic code."""
    return [call._replace(name=re.sub(r"\[.*\]", "[...]", call.name)) for call in chain]


def comparable(chain):
    """DWARF does not cover the space between functions, and not all code that the compiler generates itself."""
    return chain[0].name != "??" and all("<autogenerated>" not in call.path and call.line for call in chain)


def assert_go_agreement(program, stripped):
    addresses = places(functions(program))
    pairs = [(without_types(ours), without_types(theirs)) for ours, theirs
             in zip(resolved_by_go(stripped, addresses), resolved(program, addresses))]
    compared = [(ours, theirs) for ours, theirs in pairs if comparable(ours) and comparable(theirs)]
    different = [(ours, theirs) for ours, theirs in compared if ours != theirs]
    assert len(compared) > 0.8 * len(pairs)
    assert not [pair for pair in different if [call.name for call in pair[0]] != [call.name for call in pair[1]]]
    # Sometimes it is arbitrary to which of two lines an instruction belongs.
    assert len(different) < 0.001 * len(compared), different[:3]
    assert sum(len(ours) > 2 for ours, _ in compared) > 20, "nothing is inlined"


def test_go_programs_without_dwarf_give_the_same_inline_chains(target):
    assert_go_agreement(target("goroutines"), target("goroutines_stripped"))


def test_position_independent_go_programs_give_the_same_inline_chains(client, tmp_path):
    paths = {"program": [], "stripped": ["-ldflags=-s -w"]}
    for path, arguments in paths.items():
        subprocess.run([client("go"), "build", "-buildmode=pie", *arguments, "-o", tmp_path / path,
                        SOURCE / "tests/targets/goroutines.go"], check=True, env={**os.environ, "CGO_ENABLED": "0"})
    assert_go_agreement(tmp_path / "program", tmp_path / "stripped")
