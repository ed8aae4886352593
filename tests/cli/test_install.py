"""The files that `meson install` installs, and that `meson dist` packs."""

import os
import platform
import re
import shutil
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
    # As if prof were installed.
    here.write_text(unit.read_text(encoding="utf-8").replace(program, str(BUILD / "cmd/prof")), encoding="utf-8")
    analyze = tool("systemd-analyze")
    verified = subprocess.run([analyze, "verify", "--man=no", here], capture_output=True, text=True, check=False)
    assert verified.returncode == 0 and "prof.service" not in verified.stderr, verified.stderr
    if kind == "system":
        score = subprocess.run([analyze, "security", "--offline=yes", "--threshold=30", here], capture_output=True, text=True, check=False)
        assert score.returncode == 0, score.stdout


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A build directory without optional libraries in which nothing was built."""
    build = tmp_path_factory.mktemp("plain") / "build"
    subprocess.run([tool("meson"), "setup", build, SOURCE, "-Dauto_features=disabled"],
                   check=True, capture_output=True, env={**os.environ, "CC": "gcc"})
    return build


def test_a_disabled_library_is_not_used_though_it_is_installed(plain):
    """Nothing is compiled: the arguments of the compiler show it."""
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


@pytest.fixture
def exported(tmp_path):
    """The files of HEAD without git, as an archive has them."""
    if not (SOURCE / ".git").exists():
        pytest.skip("not a git repository")
    packed = subprocess.run([tool("git"), "archive", "HEAD", "cmd/commit.sh", ".gitattributes"], cwd=SOURCE,
                            capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", tmp_path], input=packed, check=True)
    return tmp_path


def test_an_archive_knows_its_commit_as_a_checkout_does(exported):
    head = subprocess.run([tool("git"), "rev-parse", "HEAD"], cwd=SOURCE, capture_output=True, text=True, check=True).stdout
    for source in exported, SOURCE:
        said = subprocess.run([source / "cmd/commit.sh"], capture_output=True, text=True, check=True).stdout
        assert said == f"{head[:12]}\n"


def test_the_newest_version_is_the_same_in_all_files():
    version = re.search(r"version: '(\S+)'", (SOURCE / "meson.build").read_text(encoding="utf-8"))[1]
    assert re.search(r"^## (\S+)", (SOURCE / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[1] == version
    assert (SOURCE / "debian/changelog").read_text(encoding="utf-8").startswith(f"prof ({version}) ")
    for package, says in {"arch/PKGBUILD": "pkgver={}\n", "nix/flake.nix": 'version = "{}"', "homebrew/prof.rb": 'version "{}"',
                          "cargo-with-prof/Cargo.toml": 'version = "{}"'}.items():
        assert says.format(version) in (SOURCE / "contrib" / package).read_text(encoding="utf-8"), package


@pytest.fixture
def release_folder(tmp_path):
    """A release whose prof is a script, and install(ARGUMENT …), which installs it as an ordinary user would."""
    folder, tree = tmp_path / "release", tmp_path / f"prof-1.2.3-{platform.machine()}"
    for path, text in {"bin/prof": "#!/bin/sh\necho prof 1.2.3\n", "lib/prof/libprof-inside.so": "", "share/man/man1/prof.1": "",
                       "lib/systemd/user/prof.service": ""}.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text, encoding="utf-8")
    (tree / "bin/prof").chmod(0o755)
    folder.mkdir()
    with tarfile.open(folder / f"{tree.name}.tar.gz", "w:gz") as archive:
        archive.add(tree, tree.name)
    with open(folder / "SHA256SUMS", "w", encoding="ascii") as sums:
        subprocess.run(["sha256sum", f"{tree.name}.tar.gz"], cwd=folder, stdout=sums, check=True)
    return folder


@pytest.fixture
def install(release_folder, tmp_path):
    def run(*arguments):
        return subprocess.run([SOURCE / "contrib/install.sh", *arguments, release_folder], capture_output=True, text=True, check=False,
                              env={"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")})

    run.prefix = tmp_path / "home/.local"
    return run


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_the_install_script_installs_below_the_home_directory(install):
    result = install()
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(f"installed prof 1.2.3 in {install.prefix}\nadd it to PATH")
    assert files(install.prefix) == {"bin/prof", "lib/prof/libprof-inside.so", "share/man/man1/prof.1"}
    assert install().returncode == 0  # over what is there


def test_the_install_script_refuses_an_archive_with_another_sum(install, release_folder):
    with open(next(release_folder.glob("*.tar.gz")), "ab") as archive:
        archive.write(b"more")
    refused = install()
    assert refused.returncode == 1
    assert refused.stderr.endswith(" is wrong; nothing was installed\n")
    assert not files(install.prefix)


def test_the_install_script_names_what_is_missing(install, release_folder):
    (release_folder / "SHA256SUMS").write_text("", encoding="ascii")
    assert f"has no archive for {platform.machine()}" in install().stderr
    assert "cannot create /proc/nowhere" in install("--prefix", "/proc/nowhere").stderr
    (release_folder / "SHA256SUMS").unlink()
    assert install().stderr.endswith(f"cannot get SHA256SUMS from {release_folder}; give the URL or the directory of a release\n")


def test_the_install_script_names_a_place_that_it_cannot_install_into(install):
    install.prefix.mkdir(parents=True)
    (install.prefix / "bin").write_text("")
    refused = install()
    assert refused.returncode == 1
    assert refused.stderr.endswith(f"install.sh: cannot write to {install.prefix}/bin; use --prefix DIRECTORY\n")


@pytest.mark.parametrize("options, problem", [
    ("nr_blocks=2", r"cannot unpack prof-1.2.3-\w+.tar.gz \(.+\); is \S+ full\? Nothing was installed"),
    ("noexec", r"prof does not run in \S+; if it is mounted noexec, use --prefix DIRECTORY; nothing was installed"),
])
def test_the_install_script_leaves_nothing_on_a_disk_that_it_cannot_use(root, install, options, problem):
    install.prefix.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", install.prefix], check=True)
    try:
        refused = install()
        left = files(install.prefix)
    finally:
        subprocess.run(["umount", install.prefix], check=True)
    assert refused.returncode == 1 and not left
    assert re.search(f"^install.sh: {problem}$", refused.stderr, re.MULTILINE), refused.stderr


class FreshMachine:
    """A clone on a machine that has only some programs. The other ones are scripts of the test."""

    def __init__(self, folder):
        self.clone = folder / "clone"
        self.home = folder / "home"
        self.programs = folder / "programs"
        for made in self.clone, self.home, self.programs:
            made.mkdir()
        shutil.copy(SOURCE / "bootstrap", self.clone)
        for program in "bash", "cat", "cp", "dirname", "flock", "ln", "mkdir", "rm", "sed", "sort", "touch", "true":
            (self.programs / program).symlink_to(shutil.which(program))

    def has(self, program, script, first_in=""):
        place = self.programs / first_in / program
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/bash\n{script}\n", encoding="ascii")
        place.chmod(0o755)

    def has_apt(self, user, install):
        self.has("id", f"echo {user}")
        self.has("dpkg-query", "exit 1")
        self.has("apt-cache", "echo Package: libzstd-dev")
        self.has("apt-get", f"[ $1 = update ] || {install}")

    def has_everything_but_meson(self):
        self.has_apt(user=0, install="exit 1")
        self.has("dpkg-query", "echo installed")
        self.has("ninja", "echo built")

    def bootstrap(self, *arguments, **environment):
        return subprocess.run(["bash", self.clone / "bootstrap", *arguments], capture_output=True, text=True, check=False,
                              env={"PATH": f"{self.programs}/first:{self.programs}", "HOME": str(self.home), **environment})


@pytest.fixture
def machine(tmp_path):
    return FreshMachine(tmp_path)


def test_bootstrap_starts_on_a_machine_without_a_compiler(machine):
    """It installs one. A fresh machine has what is linked here, and apt-get."""
    result = machine.bootstrap("--help")
    assert result.returncode == 0 and result.stdout.startswith("usage:"), result.stderr


def test_bootstrap_names_all_packages_that_it_may_not_install(machine):
    machine.has_apt(user=1000, install="exit 1")
    result = machine.bootstrap()
    assert result.returncode == 1
    assert result.stderr.startswith("bootstrap: packages are missing; as root, run: apt-get install gcc libc6-dev meson "), result.stderr
    assert " libzstd-dev; or use the static program of a release" in result.stderr  # it is optional, and the archive has it
    assert "libisal-dev" not in result.stderr


def test_bootstrap_says_what_to_do_without_a_network(machine):
    machine.has_apt(user=0, install="{ echo E: Failed to fetch >&2; exit 100; }")
    result = machine.bootstrap()
    assert result.returncode == 1
    assert result.stderr.endswith("bootstrap: cannot install packages; check the network and sudo, or use the static program of a "
                                  "release, which needs none (docs/INSTALL.md)\n"), result.stderr


def test_bootstrap_names_the_packages_of_other_distributions(machine):
    machine.has("id", "echo 0")
    result = machine.bootstrap()
    assert result.returncode == 1
    assert "on Fedora: gcc meson" in result.stderr and "install these packages, then run ./bootstrap again" in result.stderr


@pytest.mark.parametrize("home", ["a file", "none"])
def test_bootstrap_replaces_an_old_meson_also_without_a_home_directory(machine, home):
    machine.has_everything_but_meson()
    machine.has("meson", "echo 0.56.2", first_in="first")
    # As python3 -m venv FOLDER and FOLDER/bin/python -m pip install … do.
    machine.has("python3", f"""mkdir -p "$3/bin"
        echo '#!{shutil.which("bash")}
        [ "$*" ] && ln -s {machine.programs}/new_meson "${{0%/*}}/meson"' >"$3/bin/python"
        {shutil.which("chmod")} +x "$3/bin/python" """)
    machine.has("new_meson", 'echo "new meson: $*"')
    machine.home.rmdir()
    machine.home.write_text("")
    result = machine.bootstrap(**{"HOME": ""} if home == "none" else {})
    assert result.returncode == 0, result.stderr
    assert "no meson in PATH is version 1.0 or later" in result.stderr
    assert f"new meson: setup {machine.clone}/build" in result.stderr
    assert (machine.clone / "build/.cache/prof/clients/meson").is_dir()


def test_bootstrap_prefers_a_newer_meson_to_the_first_in_the_path(machine):
    machine.has_everything_but_meson()
    machine.has("meson", "echo 0.56.2", first_in="first")
    machine.has("meson", "echo 1.0.1")
    result = machine.bootstrap()
    assert result.returncode == 0, result.stderr
    assert (machine.clone / "build/clients/bin/meson").readlink() == machine.programs / "meson"


def test_bootstrap_needs_a_clone_that_it_can_write_to_and_execute_programs_in(root, machine):
    (machine.clone / "build").write_text("")
    result = machine.bootstrap()
    assert result.returncode == 1
    assert result.stderr == f"bootstrap: cannot write to {machine.clone}/build; clone or unpack prof in a directory of your own\n"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", machine.clone], check=True)
    try:
        shutil.copy(SOURCE / "bootstrap", machine.clone)
        result = machine.bootstrap()
    finally:
        subprocess.run(["umount", machine.clone], check=True)
    assert result.returncode == 1
    assert result.stderr == f"bootstrap: cannot execute programs in {machine.clone}/build (noexec?); clone or unpack prof elsewhere\n"
