"""Names, lines and inlined calls against llvm-symbolizer, at the start, middle and end of every function."""

import os
import subprocess
from collections import defaultdict, namedtuple

import pytest

from conftest import BUILD, SOURCE

C_SOURCES = [*SOURCE.glob("lib/base/*.c"), *SOURCE.glob("lib/symbol/dwarf*.c"), SOURCE / "lib/elf/image.c",
             SOURCE / "tests/unit/resolve_addresses.c"]
C = ["-O2", "-w", "-std=gnu17", "-D_GNU_SOURCE", f"-I{SOURCE / 'lib'}", *C_SOURCES, "-lelf", "-lz"]
CPP = ["-O2", "-w", "-std=c++17", SOURCE / "tests/cli/words.cc"]
RUST = ["-O", "-g", "--edition=2021", SOURCE / "tests/targets/interpreter.rs"]

PROGRAMS = {
    "C, gcc, DWARF 4": ["gcc", "-gdwarf-4", *C],
    "C, gcc, DWARF 5": ["gcc", "-gdwarf-5", *C],
    "C, gcc, 64-bit DWARF": ["gcc", "-gdwarf-5", "-gdwarf64", *C],
    "C, gcc, link-time optimization": ["gcc", "-g", "-flto", *C],
    "C, clang, DWARF 4": ["clang", "-gdwarf-4", *C],
    "C, clang, DWARF 5": ["clang", "-gdwarf-5", *C],
    "C++, gcc, DWARF 4": ["g++", "-gdwarf-4", *CPP],
    "C++, gcc, DWARF 5": ["g++", "-gdwarf-5", *CPP],
    "C++, gcc, type units": ["g++", "-g", "-fdebug-types-section", *CPP],
    "C++, gcc, unused sections dropped": ["g++", "-g", "-ffunction-sections", "-Wl,--gc-sections", *CPP],
    "C++, clang, DWARF 4": ["clang++", "-gdwarf-4", *CPP],
    "C++, clang, DWARF 5": ["clang++", "-gdwarf-5", *CPP],
    "Rust, DWARF 4": ["rustc", "-Zdwarf-version=4", *RUST],
    "Rust, DWARF 5": ["rustc", "-Zdwarf-version=5", *RUST],
}

Call = namedtuple("Call", "name path line")


def functions(program):
    """name → [(address, size)], as the symbol table has them."""
    listing = subprocess.run(["nm", "--print-size", "--defined-only", program], check=True, capture_output=True, text=True)
    found = defaultdict(list)
    for fields in map(str.split, listing.stdout.splitlines()):
        if len(fields) == 4 and fields[2] in "tTwWi":
            found[fields[3]].append((int(fields[0], 16), int(fields[1], 16)))
    return found


def chains(command, addresses):
    """For each address its calls, innermost first."""
    asked = "".join(f"{address:#x}\n" for address in addresses)
    output = subprocess.run(command, input=asked, check=True, capture_output=True, text=True).stdout
    found = []
    for answer in output.strip("\n").split("\n\n"):
        lines = answer.split("\n")
        places = (place.rsplit(":", 2) for place in lines[1::2])
        found.append([Call(name, os.path.normpath(path), int(line))
                      for name, (path, line, _column) in zip(lines[::2], places)])
    assert len(found) == len(addresses)
    return found


def same_name(ours, theirs):
    """Where there is no linkage name (GCC writes none for what is static) llvm-symbolizer leaves out the namespaces."""
    return ours == theirs or ours.endswith("::" + theirs)


def same_place(ours, theirs):
    """Where no line is known llvm-symbolizer says which file the symbol table names."""
    return ours[1:] == theirs[1:] or (ours[1:] == ("??", 0) and theirs.line == 0)


def agree(address, ours, theirs, symbols):
    """The two chains, but for what is known to differ."""
    if len(ours) != len(theirs):
        return False
    if ours == [Call("??", "??", 0)]:  # without DWARF it falls back to the symbol table
        return theirs[0].line == 0
    if not all(same_place(our, their) for our, their in zip(ours, theirs)):
        return False
    if not all(same_name(our.name, their.name) for our, their in zip(ours[:-1], theirs[:-1])):
        return False
    our, their = ours[-1], theirs[-1]
    # It puts the symbol's name (f.part.0, f.llvm.123) in the place of the physical function's.
    return our.name == their.name or any(start <= address < start + size for start, size in symbols[their.name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_chains_are_those_of_llvm_symbolizer(name, client, tmp_path):
    compiler, *arguments = PROGRAMS[name]
    oracle, program = client("llvm-symbolizer"), tmp_path / "program"
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1"}  # the version of DWARF is an unstable option until 1.88
    subprocess.run([client(compiler), *arguments, "-o", program], check=True, capture_output=True, env=environment)
    symbols = functions(program)
    addresses = sorted({address for places in symbols.values() for start, size in places if size
                        for address in (start, start + size // 2, start + size - 1)})

    ours = chains([BUILD / "tests/unit/resolve_addresses", program], addresses)
    theirs = chains([oracle, f"--obj={program}", "--functions=linkage", "--inlines", "--no-demangle"], addresses)

    different = [(hex(address), our, their) for address, our, their in zip(addresses, ours, theirs)
                 if not agree(address, our, their, symbols)]
    assert not different, f"{len(different)} of {len(addresses)}, the first: {different[0]}"
    assert sum(len(our) > 2 for our in ours) > 10, "nothing is inlined"
