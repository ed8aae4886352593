"""prof cargo, with a real cargo on small projects without dependencies."""

import os
import subprocess

import pytest

from lacking import tool
from profiles import Pprof

SPIN = """
#[inline(never)]
pub fn spin() -> u64 {
    let start = std::time::Instant::now();
    let mut number = 1u64;
    while start.elapsed().as_millis() < 200 {
        number = std::hint::black_box(number.wrapping_mul(31) + 7);
    }
    number
}
"""


class Project:
    """A directory with Cargo.toml, and what runs prof cargo in it."""

    def __init__(self, prof, folder):
        self.prof = prof
        self.folder = folder
        tool("cargo")

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def package(self, name="shop", path=".", more=""):
        self.write(f"{path}/Cargo.toml", f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\n{more}')

    def __call__(self, *arguments, **options):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("CARGO_")}
        environment.update(options.pop("environment", {}))
        return self.prof("cargo", *arguments, **{"cwd": self.folder, "env": environment, **options})

    def profile(self, name="prof.pb.gz"):
        return Pprof.read(self.folder / name)


@pytest.fixture
def project(prof, tmp_path):
    return Project(prof, tmp_path)


@pytest.fixture
def program(project):
    """A package whose program spins and prints."""
    project.package()
    project.write("src/main.rs", SPIN + 'fn main() { println!("{}", spin() & 0); }')
    return project


def test_a_program_is_profiled_and_its_output_is_untouched(program):
    result = program("run", "--quiet")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "0\n"
    assert "recorded 1 process of 1 program (shop)" in result.stderr
    assert (program.folder / "prof.pb.gz").exists()


def test_without_a_manifest_there_are_only_the_words_and_the_status_of_cargo(project):
    plain = subprocess.run(["cargo", "run"], cwd=project.folder, capture_output=True, text=True, check=False)
    result = project("-q", "run")
    assert (result.returncode, result.stdout, result.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert not (project.folder / "prof.pb.gz").exists()
