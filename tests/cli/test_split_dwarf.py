"""Split DWARF (.dwo files, .dwp packages): the symbols and lines must be those of a program without it."""

import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import SOURCE
from lacking import tool
from perf_data import CONTEXT_USER, MISC_USER, comm, file, mmap, sample
from test_inline_oracle import assert_agreement, functions, llvm_symbolizer, places, resolved

SOURCES = ["main.cc", "other.cc"]
RUST = SOURCE / "tests/targets/interpreter.rs"
START = 0x555555554000

COMPILERS = {f"{name}, DWARF {version}": (name, f"-gdwarf-{version}") for name in ("g++", "clang++") for version in (4, 5)}


class Builder:
    """Builds in one directory, so that paths are the same in every build, and moves the results to another one."""

    def __init__(self, client, folder):
        self.client = client
        self.folder = folder
        self.built = folder / "built"
        self.kept = {}  # results, built once for all tests
        for path in (SOURCE / "tests/cli/split").iterdir():
            shutil.copy(path, folder)

    def __call__(self, compiler, *options):
        """The program, where it was built."""
        shutil.rmtree(self.built, ignore_errors=True)
        if (compiler, options) not in self.kept:
            self.built.mkdir()
            for source in SOURCES:
                subprocess.run([self.client(compiler), "-O2", "-w", "-std=c++17", *options, "-c", f"../{source}"], check=True,
                               cwd=self.built)
            subprocess.run([self.client(compiler), *options, "-o", "program", "main.o", "other.o"], check=True, cwd=self.built)
            self.kept[compiler, options] = self.built.rename(self.folder / f"kept{len(self.kept)}")
        shutil.copytree(self.kept[compiler, options], self.built)
        return self.built / "program"

    def moved(self, name):
        """Moves everything that was built last."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return self.built.rename(self.folder / name) / "program"


@pytest.fixture(scope="module")
def builder(client, tmp_path_factory):
    return Builder(client, tmp_path_factory.mktemp("split"))


def split_files(program):
    return sorted(program.parent.glob("*.dwo"))


def pack(packer, program):
    """Moves the program's units into PROGRAM.dwp."""
    subprocess.run([packer, "-e", program.name, "-o", "program.dwp"], check=True, cwd=program.parent, capture_output=True)
    for path in split_files(program):
        path.unlink()


def assert_same(split, plain):
    """Compilers must write the same code for both."""
    addresses = places(functions(plain))
    assert places(functions(split)) == addresses
    expected = resolved(plain, addresses)
    assert sum(len(chain) > 1 for chain in expected) > 10, "nothing is inlined"
    assert resolved(split, addresses) == expected
    assert resolved(split, addresses, "--again") == expected


@pytest.mark.parametrize("options", [[], ["-gz", "-fdebug-types-section"]], ids=["plain", "compressed, type units"])
@pytest.mark.parametrize("name", COMPILERS)
def test_dwo_files_where_they_were_built_or_beside_the_program_give_the_same_inline_chains(name, options, builder):
    compiler, version = COMPILERS[name]
    builder(compiler, version, *options)
    plain = builder.moved("plain")
    split = builder(compiler, version, "-gsplit-dwarf", *options)
    assert len(split_files(split)) == len(SOURCES)
    assert_same(split, plain)
    assert_same(builder.moved("split"), plain)


def test_functions_inlined_by_clang_into_skeletons_need_no_dwo_file(builder):
    builder("clang++", "-gdwarf-5")
    plain = builder.moved("plain")
    split = builder("clang++", "-gdwarf-5", "-gsplit-dwarf", "-fsplit-dwarf-inlining")
    assert_same(split, plain)
    for path in split_files(split):
        path.unlink()
    addresses = places(functions(plain))
    without_names = [[[call[1:] for call in chain] for chain in resolved(program, addresses)] for program in (split, plain)]
    assert without_names[0] == without_names[1]


# dwp of binutils 2.40 crashes on DWARF 5.
@pytest.mark.parametrize("packer,name", [("dwp", "g++, DWARF 4"), ("dwp", "clang++, DWARF 4"),
                                         *(("llvm-dwp", name) for name in COMPILERS)])
def test_packages_give_the_same_inline_chains(packer, name, builder):
    compiler, version = COMPILERS[name]
    packer = tool(packer)
    builder(compiler, version)
    plain = builder.moved("plain")
    pack(packer, builder(compiler, version, "-gsplit-dwarf"))
    assert_same(builder.moved("packed"), plain)


def test_units_that_a_package_lacks_are_read_from_their_dwo_files(builder):
    builder("g++", "-gdwarf-4")
    plain = builder.moved("plain")
    split = builder("g++", "-gdwarf-4", "-gsplit-dwarf")
    subprocess.run([tool("dwp"), "main.dwo", "-o", "program.dwp"], check=True, cwd=split.parent)
    (split.parent / "main.dwo").unlink()
    assert_same(split, plain)


# llvm-symbolizer 14 finds no functions in split units of clang that have a single range.
@pytest.mark.parametrize("name", ["g++, DWARF 4", "g++, DWARF 5"])
def test_split_inline_chains_equal_those_of_llvm_symbolizer(name, builder):
    compiler, version = COMPILERS[name]
    split = builder(compiler, version, "-gsplit-dwarf")
    assert_agreement(split, llvm_symbolizer)


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("how", ["unpacked", "packed"])
def test_split_rust_programs_give_the_same_inline_chains(how, version, client, tmp_path):
    programs = []
    for split in ("off", how):
        folder = tmp_path / split
        folder.mkdir()
        # The version is an unstable option before 1.88.
        subprocess.run([client("rustc"), f"-Zdwarf-version={version}", "-O", "-g", "--edition=2021", "-Ccodegen-units=4",
                        f"-Csplit-debuginfo={split}", "--remap-path-prefix", f"{folder}=/built", RUST, "-o", "program"],
                       cwd=folder, check=True, env={**os.environ, "RUSTC_BOOTSTRAP": "1"})
        programs.append(folder / "program")
    plain, split = programs
    assert list(split.parent.glob("*.dw[op]"))
    assert_same(split, plain)


def recording(program):
    """perf.data with samples all over the program."""
    addresses = places(functions(program))
    segments = subprocess.run(["readelf", "-lW", program], check=True, capture_output=True, text=True).stdout
    offset, vaddr, size = (int(number, 16) for number in re.search(r"LOAD +(\w+) (\w+) \w+ (\w+) \w+ R E", segments).groups())
    records = [comm(100, 1, "program"), mmap(2, START + vaddr, size, str(program), offset=offset)]
    records += [sample(100, 3 + i, [CONTEXT_USER, START + address], misc=MISC_USER, ip=START + address)
                for i, address in enumerate(addresses)]
    return file(records)


def converted(prof, data):
    """Returns the outputs with functions and with lines, and prof's messages."""
    outputs = [prof.folder / f"out{extension}" for extension in (".folded", ".speedscope.json")]
    result = prof.run("convert", data, *(argument for output in outputs for argument in ("-o", output)))
    return [output.read_text(encoding="utf-8") for output in outputs], result.stderr


@pytest.fixture
def data(prof):
    def write(program):
        path = prof.folder / "perf.data"
        path.write_bytes(recording(program))
        return path

    return write


@pytest.mark.parametrize("name", COMPILERS)
def test_profiles_of_split_programs_are_the_same(name, prof, builder, data):
    """The symbol workers have to ask for each file."""
    compiler, version = COMPILERS[name]
    plain, said = converted(prof, data(builder(compiler, version)))
    assert "shared::mixed" in plain[0] and "lacks" not in said
    split, said = converted(prof, data(builder(compiler, version, "-gsplit-dwarf")))
    assert split == plain
    assert ".dwo" not in said


def test_a_missing_dwo_file_costs_the_inlined_functions_of_its_units_alone(prof, builder, data):
    plain, _ = converted(prof, data(builder("g++", "-g")))
    program = builder("g++", "-g", "-gsplit-dwarf")
    (program.parent / "other.dwo").unlink()
    split, said = converted(prof, data(program))
    assert f"{program} lacks 1 of its .dwo files (such as {program.parent}/other.dwo)" in said
    assert f"{program}.dwp" in said
    names = [{line.rpartition(" ")[0] for line in folded.splitlines()} for folded, _ in (plain, split)]
    assert names[0] - names[1]
    assert any(re.search("outer::scaled.*;.*shared::folded", name) for name in names[1]), "main.dwo is still there"
    assert any(re.search(r";counted\b", name) for name in names[1])
    frames = json.loads(split[1])["shared"]["frames"]
    assert any(frame["name"].startswith("counted") and frame.get("file") for frame in frames), "lines are the skeleton's"


def test_a_dwo_file_of_another_build_is_not_believed(prof, builder, data):
    builder("g++", "-g", "-gsplit-dwarf", "-DOTHER=1", "-O1")
    other = builder.moved("other").parent / "other.dwo"
    program = builder("g++", "-g", "-gsplit-dwarf")
    shutil.copy(other, program.parent)
    _, said = converted(prof, data(program))
    assert "lacks 1 of its .dwo files" in said


def test_a_fifo_in_the_place_of_a_dwo_file_is_not_waited_for(prof, builder, data):
    program = builder("g++", "-g", "-gsplit-dwarf")
    for path in split_files(program):
        path.unlink()
        os.mkfifo(path)
    _, said = converted(prof, data(program))
    assert "lacks 2 of its .dwo files" in said


def test_a_cut_package_costs_inlined_functions_only(prof, builder, data):
    program = builder("clang++", "-gdwarf-5", "-gsplit-dwarf")
    pack(tool("llvm-dwp"), program)
    package = program.with_name("program.dwp")
    whole = package.read_bytes()
    for share in (0, 0.3, 0.6, 0.9):
        package.write_bytes(whole[:int(len(whole) * share)])
        split, said = converted(prof, data(program))
        assert "lacks 2 of its .dwo files" in said
        assert "outer::scaled" in split[0]
