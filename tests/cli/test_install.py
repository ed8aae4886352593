"""What `meson install` puts where, and what `meson dist` packs."""

import os
import subprocess
import tarfile

import pytest

from conftest import BUILD, SOURCE
from lacking import tool


def test_the_program_its_manual_and_completions_are_installed(tmp_path):
    subprocess.run([tool("meson"), "install", "-C", BUILD, "--no-rebuild", "--destdir", tmp_path], check=True, capture_output=True)
    installed = {str(path.relative_to(tmp_path)).removeprefix("usr/").removeprefix("local/")
                 for path in tmp_path.rglob("*") if path.is_file()}
    manual = {f"share/man/man1/{path.name}" for path in (SOURCE / "man").glob("*.1")}
    library, = (name for name in installed if name.endswith("/prof/libprof-inside.so"))
    assert installed - {library} == {"bin/prof", "share/bash-completion/completions/prof", "share/zsh/site-functions/_prof",
                         "share/fish/vendor_completions.d/prof.fish", "lib/systemd/system/prof.service",
                         "lib/systemd/user/prof.service"} | manual


@pytest.mark.parametrize("kind", ["system", "user"])
def test_units_are_valid_and_confined(kind, tmp_path):
    unit = BUILD / "contrib/systemd" / kind / "prof.service"
    here = tmp_path / "prof.service"
    program = next(line for line in unit.read_text(encoding="utf-8").splitlines() if line.startswith("ExecStart=")).split("=", 1)[1].split()[0]
    # As it will be when prof is installed.
    here.write_text(unit.read_text(encoding="utf-8").replace(program, str(BUILD / "cmd/prof")), encoding="utf-8")
    analyze = tool("systemd-analyze")
    verified = subprocess.run([analyze, "verify", "--man=no", here], capture_output=True, text=True, check=False)
    assert verified.returncode == 0 and "prof.service" not in verified.stderr, verified.stderr
    if kind == "system":
        score = subprocess.run([analyze, "security", "--offline=yes", "--threshold=30", here], capture_output=True, text=True, check=False)
        assert score.returncode == 0, score.stdout


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A build directory in which nothing was built: without optional libraries."""
    build = tmp_path_factory.mktemp("plain") / "build"
    subprocess.run([tool("meson"), "setup", build, SOURCE, "-Dtests=false", "-Dauto_features=disabled"],
                   check=True, capture_output=True, env={**os.environ, "CC": "gcc"})
    return build


def test_a_disabled_library_is_not_used_though_it_is_installed(plain):
    """No compiling: the arguments of the compiler tell."""
    commands = (plain / "compile_commands.json").read_text(encoding="utf-8")
    assert "HAVE_" not in commands
    assert "ccache" not in commands


def test_a_release_archive_holds_every_file_of_the_repository(plain):
    if not (SOURCE / ".git").exists():
        pytest.skip("not a git repository")
    subprocess.run([tool("meson"), "dist", "-C", plain, "--no-tests", "--allow-dirty", "--formats", "gztar"],
                   check=True, capture_output=True)
    with tarfile.open(next((plain / "meson-dist").glob("*.tar.gz"))) as archive:
        packed = {member.name.partition("/")[2] for member in archive if not member.isdir()}
    tracked = subprocess.run([tool("git"), "ls-tree", "-r", "--name-only", "-z", "HEAD"], cwd=SOURCE, capture_output=True,
                             text=True, check=True).stdout
    assert packed == set(tracked.split("\0")) - {""}
