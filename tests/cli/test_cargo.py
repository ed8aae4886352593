"""prof cargo with a real cargo, on small projects without dependencies."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import BUILD, NOBODY, SOURCE, Prof
from lacking import tool
from profiles import Pprof
from time_limit import TIME_LIMIT_S

SPIN = """
extern "C" { fn clock() -> i64; }
/// Uses that much CPU time.
#[inline(never)]
pub fn spin(milliseconds: i64) -> u64 {
    let end = unsafe { clock() } + 1000 * milliseconds;
    let mut number = 1u64;
    while unsafe { clock() } < end {
        number = twist(number);
    }
    number
}
#[inline(always)]
fn twist(number: u64) -> u64 { (0..1000).fold(number, |a, b| std::hint::black_box(a.wrapping_mul(31) + b)) }
"""
MAIN = SPIN + 'fn main() { println!("{}", spin(100) & 0); }'
BUILT = "built with "


class Project:
    """A directory with Cargo.toml, and a function that runs prof cargo in it."""

    def __init__(self, prof, folder):
        tool("cargo")
        self.prof = prof
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def package(self, name="shop", path=".", more="", main=MAIN):
        self.write(f"{path}/Cargo.toml", f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\n{more}')
        if main:
            self.write(f"{path}/src/main.rs", main)

    def environment(self, more=None):
        kept = {key: value for key, value in os.environ.items()
                if not key.startswith(("CARGO_", "RUSTC", "RUSTFLAGS")) and key != "CARGO"}
        # With a CARGO_HOME of its own, cargo does not print that it waits for another cargo's lock.
        return {**kept, "CARGO_TERM_COLOR": "never", "TMPDIR": str(self.folder), "CARGO_HOME": str(self.folder.parent / "cargo"),
                **(more or {})}

    def options(self, environment=None, **options):
        return {"cwd": self.folder, "env": self.environment(environment), **options}

    def __call__(self, *words, **options):
        return self.prof("cargo", *words, **self.options(**options))

    def cargo(self, *words, **options):
        """Cargo without prof."""
        return subprocess.run(["cargo", *words], check=False, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, **self.options(**options))

    def profile(self, name="prof.pb.gz"):
        return Pprof.read(self.folder / name)

    def profiles(self):
        return sorted(path.name for path in (self.folder / "profiles").iterdir())


def functions(profile):
    return {name for sample in profile.message.sample for name in profile.frames(sample)}


def has(profile, name):
    return any(name in function for function in functions(profile))


def compiled(result):
    """Returns the packages that cargo built."""
    return re.findall(r"^ +Compiling (\S+)", result.stderr, re.MULTILINE)


def host():
    return re.search(r"^host: (.+)$", subprocess.run(["cargo", "-vV"], capture_output=True, text=True, check=True).stdout,
                     re.MULTILINE)[1]


def runner_variable():
    return f"CARGO_TARGET_{host().upper().replace('-', '_')}_RUNNER"


@pytest.fixture
def project(prof, tmp_path):
    return Project(prof, tmp_path)


def restored(project):
    """Yields the project, and removes the files that a test has added."""
    before = {*project.folder.iterdir(), project.folder / "target", project.folder / "Cargo.lock"}
    yield project
    for path in set(project.folder.iterdir()) - before:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.fixture(scope="module")
def built_shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop") / "shop"
    project = Project(Prof(folder), folder)
    project.package()
    assert project.cargo("build").returncode == 0
    return project


@pytest.fixture
def shop(built_shop):
    """One package, which cargo has built."""
    yield from restored(built_shop)


@pytest.fixture(scope="module")
def shared_workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workspace") / "workspace"
    project = Project(Prof(folder), folder)
    project.write("Cargo.toml", '[workspace]\nmembers = ["shop", "cart", "macros"]\nresolver = "2"\n')
    project.package("shop", "shop", '[dependencies]\ncart = { path = "../cart" }\nmacros = { path = "../macros" }\n',
                    "fn main() { println!(\"{}\", cart::spin(100) & macros::zero!()); }")
    project.write("shop/examples/demo.rs", "fn main() { cart::spin(100); }")
    project.write("shop/tests/it.rs", "#[test] fn sells() { cart::spin(100); }")
    project.package("cart", "cart", main=None)
    project.write("cart/src/lib.rs", SPIN + "#[test] fn adds() { spin(100); }")
    project.write("cart/tests/it.rs", "#[test] fn counts() { cart::spin(100); }")
    project.package("macros", "macros", "[lib]\nproc-macro = true\n", main=None)
    project.write("macros/src/lib.rs", "#[proc_macro] pub fn zero(_: proc_macro::TokenStream) -> proc_macro::TokenStream "
                                       "{ \"0\".parse().unwrap() }")
    return project


@pytest.fixture
def workspace(shared_workspace):
    """Two packages with tests and an example. One uses the other, and a macro of a third package."""
    yield from restored(shared_workspace)


@pytest.fixture
def tests(project):
    project.package(main=None)
    project.write("src/lib.rs", SPIN + "mod cart { #[test] fn adds() { crate::spin(100); } #[test] fn sells() { crate::spin(100); } }")
    return project


def test_a_program_is_profiled_without_the_compiler(shop):
    result = shop("run")
    assert result.returncode == 0, result.stderr
    assert "recorded 1 process of 1 program (shop)" in result.stderr
    assert compiled(result) == [] and BUILT not in result.stderr, "its profile has lines: nothing else is built"
    profile = shop.profile()
    profile.check()
    assert set(profile.by_label("comm")) == {"shop"}
    assert has(profile, "shop::spin")


def test_stdout_and_the_status_are_those_of_the_program_byte_for_byte(project):
    project.package(main='use std::io::*; fn main() { let mut text = vec![]; stdin().read_to_end(&mut text).unwrap(); '
                         'stdout().write_all(&text).unwrap(); std::process::exit(9) }')
    text = bytes(range(256)) * 100
    result, each = (project(*option, "run", "--", "--flag", input=text, text=False, stdin=None) for option in ((), ("--each",)))
    assert result.stdout == each.stdout == text
    assert result.returncode == each.returncode == 9
    assert re.search(rb"its profile is \S+/profiles/shop\.pb\.gz", each.stderr)


def test_a_program_sees_the_environment_and_arguments_of_a_cargo_without_prof(project):
    project.package(main='fn main() { println!("{:?} {:?}", std::env::args(), std::env::vars()); }',
                    more="[profile.dev]\ndebug = 0\nstrip = true\n")
    words = ("run", "-q", "--", "a b", "-p", "")
    variables = {"RUST_LOG": "x", runner_variable(): "env A=b"}
    mine, plain = project(*words, environment=variables), project.cargo(*words, environment=variables)
    assert mine.returncode == 0, mine.stderr
    assert mine.stdout == plain.stdout


def test_cargo_without_a_manifest_says_all_there_is_to_say(project):
    result, plain = project("run"), project.cargo("run")
    assert (result.returncode, result.stdout, result.stderr) == (101, "", plain.stderr)
    assert list(project.folder.iterdir()) == []


def test_a_failed_build_has_the_status_and_words_of_cargo_and_leaves_no_profile(project):
    project.package(main="fn main() { nonsense }")
    plain, result = project.cargo("run"), project("run")
    assert (result.returncode, result.stdout, result.stderr) == (plain.returncode, "", plain.stderr)
    assert not (project.folder / "prof.pb.gz").exists()
    assert not list(project.folder.glob("prof-cargo-*"))


def test_wrong_words_for_cargo_are_cargos_to_refuse(shop):
    for words in (("run", "--no-such-option"), ("nonsense",), ("run", "--color", "pink")):
        result, plain = shop(*words), shop.cargo(*words)
        assert (result.returncode, result.stderr) == (plain.returncode, plain.stderr)


ENDS = "std::process::exit(0);"
FAILS = "std::thread::sleep(std::time::Duration::from_millis(300)); panic!();"
SETS = """unsafe { std::env::set_var("MODE", "%s") };
/// std::thread::sleep(std::time::Duration::from_millis(200));
/// assert_eq!(std::env::var("MODE").unwrap(), "%s");"""


@pytest.mark.parametrize("tests", [(ENDS, FAILS), (ENDS, ENDS), (SETS % ("a", "a"), SETS % ("b", "b")), ("std::process::abort();", ENDS)],
                         ids=["one ends", "both end", "environment", "one aborts"])
@pytest.mark.parametrize("options", [(), ("--each",)], ids=["together", "each"])
def test_merged_documentation_tests_end_as_without_prof(project, tests, options):
    project.package(main=None)
    manifest = project.folder / "Cargo.toml"
    manifest.write_text(manifest.read_text().replace("2021", "2024"))
    project.write("src/lib.rs", "".join(f"/// ```\n/// {test}\n/// ```\npub fn f{number}() {{}}\n" for number, test in enumerate(tests)))
    plain, result = project.cargo("test", "--doc"), project(*options, "test", "--doc")
    assert result.returncode == plain.returncode, result
    assert "WARNING" not in result.stderr + result.stdout
    verdicts = [sorted(line for line in output.splitlines() if line.startswith("test ")) for output in (plain.stdout, result.stdout)]
    assert [re.sub("finished in .*", "", "".join(lines)) for lines in verdicts] == [re.sub("finished in .*", "", "".join(verdicts[0]))] * 2


@pytest.mark.parametrize("words", [("--offline", "run"), ("--locked", "--frozen", "run"), ("--config", "profile.dev.opt-level=1", "run"),
                                   ("--color=never", "run"), ("--offline", "--config=env.SHOP='a'", "test")], ids=" ".join)
def test_options_of_cargo_before_its_command_are_cargos(shop, words):
    assert shop.cargo("build").returncode == 0
    plain = shop.cargo(*words)
    for result in (shop(*words), shop("-F", "499", *words, environment={}), shop("--each", *words)):
        assert (result.returncode, result.stdout.splitlines()[:1]) == (plain.returncode, plain.stdout.splitlines()[:1]), result.stderr
    assert (shop.folder / "prof.pb.gz").exists()


def test_a_wrong_option_before_the_command_is_cargos_to_refuse(shop):
    for words in (("-Zno-such-flag", "run"), ("--config", "no such key", "run")):
        result, plain = shop(*words), shop.cargo(*words)
        assert (result.returncode, result.stderr) == (plain.returncode, plain.stderr)


def test_a_configuration_before_the_command_reaches_the_program(project):
    project.package(main=SPIN + 'fn main() { println!("{} {}", env!("SHOP"), spin(100) & 0); }')
    result = project("--config", "env.SHOP='from the line'", "--offline", "run")
    assert (result.returncode, result.stdout) == (0, "from the line 0\n"), result.stderr
    assert has(project.profile(), "spin")


def test_a_failing_test_has_its_status_and_is_profiled(project):
    project.package(main=None)
    project.write("src/lib.rs", SPIN + "#[test] fn fails() { spin(100); panic!() }")
    result = project("test")
    assert result.returncode == 101
    assert "1 failed" in result.stdout
    assert has(project.profile(), "fails")


def test_what_starts_no_program_records_nothing(shop):
    result = shop("test", "--no-run")
    assert result.returncode == 0
    assert "cargo started no program: nothing was recorded" in result.stderr
    assert not (shop.folder / "prof.pb.gz").exists()


def test_lines_are_added_to_a_profile_without_and_nothing_is_built_twice(workspace):
    assert workspace.cargo("build", "--release").returncode == 0
    first, second = workspace("run", "--release"), workspace("run", "--release")
    assert f"{BUILT}CARGO_PROFILE_RELEASE_DEBUG=" in first.stderr
    assert set(compiled(first)) <= {"shop", "cart", "macros"}
    assert compiled(second) == []
    assert has(workspace.profile(), "cart::twist"), "an inlined function"
    assert compiled(workspace.cargo("build", "--release")) == [], "what was there is still there"


def test_a_stripped_profile_of_the_users_gets_symbols_and_lines(project):
    project.package(more='[profile.small]\ninherits = "release"\nstrip = "symbols"\ndebug = false\n')
    result = project("run", "--profile", "small")
    assert result.returncode == 0, result.stderr
    assert "CARGO_PROFILE_SMALL_DEBUG=" in result.stderr and "CARGO_PROFILE_SMALL_STRIP=none" in result.stderr
    assert has(project.profile(), "shop::spin") and has(project.profile(), "twist")


def test_settings_of_the_users_and_aliases_are_known(shop):
    result = shop("run", "--release", environment={"CARGO_PROFILE_RELEASE_DEBUG": "false", "CARGO_PROFILE_RELEASE_STRIP": "none"})
    assert result.returncode == 0 and BUILT not in result.stderr
    assert not has(shop.profile(), "twist")
    shop.write(".cargo/config.toml", '[profile.release]\ndebug = "line-tables-only"\n[alias]\nquick = ["run", "--release"]\n')
    result = shop("quick", "-q")
    assert result.returncode == 0 and BUILT not in result.stderr
    assert has(shop.profile(), "twist")


@pytest.mark.parametrize("words", [["run", "-p", "shop"], ["run", "--bin", "shop", "--release"], ["run", "--example", "demo"],
                                   ["run", "--manifest-path", "shop/Cargo.toml"], ["r"], ["-q", "run"]],
                         ids=" ".join)
def test_programs_of_a_workspace_are_profiled(workspace, words):
    result = workspace(*words)
    assert result.returncode == 0, result.stderr
    assert has(workspace.profile(), "cart::spin")


def test_a_target_triple_is_followed_wherever_it_is_chosen(shop):
    for words, environment in ((["--target", host()], {}), ([], {"CARGO_BUILD_TARGET": host()})):
        result = shop("run", *words, environment=environment)
        assert "recorded 1 process" in result.stderr, result.stderr
    shop.write(".cargo/config.toml", f'[build]\ntarget = "{host()}"\n')
    assert "recorded 1 process" in shop("run").stderr


def test_programs_for_another_processor_are_refused(shop):
    other = "riscv64gc-unknown-linux-gnu"
    for words, environment in ((["--target", other], {}), ([], {"CARGO_BUILD_TARGET": other})):
        result = shop("run", *words, environment=environment)
        assert result.returncode == 2
        assert f"programs for {other} do not run on this processor" in result.stderr


def test_all_tests_of_a_workspace_are_in_one_profile(workspace):
    result = workspace("test", "--workspace")
    assert result.returncode == 0, result.stderr
    assert re.search(r"recorded \d+ processes of \d+ programs \(.*\bit\b", result.stderr)
    profile = workspace.profile()
    assert has(profile, "adds") and has(profile, "sells") and has(profile, "counts")


def test_processes_are_named_without_cargos_hash_and_in_full(project):
    project.package(main=None)
    project.write("src/lib.rs", SPIN)
    project.write("tests/quite_a_long_name_for_a_test.rs", "#[test] fn spins() { shop::spin(100); }")
    assert project("test").returncode == 0
    listed = project.prof("report", "--by", "process").stdout
    assert "quite_a_long_name_for_a_test" in listed
    assert "spins" in project.prof("report", "--by", "thread").stdout


def test_each_process_has_a_profile_of_its_name(workspace):
    result = workspace("--each", "test", "--workspace", "--tests")
    assert result.returncode == 0, result.stderr
    assert {"it.pb.gz", "cart.pb.gz", "shop.pb.gz"} <= set(workspace.profiles())
    assert {"cart.it.pb.gz", "shop.it.pb.gz"} & set(workspace.profiles())
    assert has(workspace.profile("profiles/cart.pb.gz"), "adds")
    assert not has(workspace.profile("profiles/cart.pb.gz"), "sells")
    assert "their profiles are " in result.stderr and "/profiles/*.pb.gz" in result.stderr


def test_each_takes_directories_patterns_and_formats(shop):
    assert shop("--each", "-o", "out/", "--format", "folded", "-o", "%e-x.html", "run").returncode == 0
    assert "spin" in (shop.folder / "out" / "shop.folded").read_text(encoding="utf-8")
    assert (shop.folder / "shop-x.html").exists()
    result = shop("--each", "-o", "one.pb.gz", "run")
    assert result.returncode == 2
    assert "-o one.pb.gz names one file for all processes" in result.stderr


def nextest(project):
    """A cargo-nextest that uses a runner like the real one."""
    script = f"""#!{sys.executable}
import json, os, subprocess, sys
assert sys.argv[1:3] == ["nextest", "run"], sys.argv
built = subprocess.run([os.environ["CARGO"], "test", "--no-run", "--message-format=json", "-q"], stdout=subprocess.PIPE, check=True)
programs = [message["executable"] for message in map(json.loads, built.stdout.splitlines()) if message.get("executable")]
runner = next(value for name, value in os.environ.items() if name.startswith("CARGO_TARGET_") and name.endswith("_RUNNER")).split()
os.environ["NEXTEST"] = "1"
status = 0
for program in programs:
    listed = subprocess.run([*runner, program, "--list", "--format", "terse"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in listed.splitlines():
        name = line.removesuffix(": test")
        variables = dict(os.environ, NEXTEST_TEST_NAME=name, NEXTEST_BINARY_ID="shop", NEXTEST_EXECUTION_MODE="process-per-test")
        status |= subprocess.run([*runner, program, "--exact", name, "--nocapture"], env=variables, stdout=subprocess.PIPE).returncode
sys.exit(100 if status else 0)
"""
    path = project.write("bin/cargo-nextest", script)
    path.chmod(0o755)
    return {"PATH": f"{path.parent}:{os.environ['PATH']}"}


def test_each_test_of_nextest_is_recorded_and_its_listing_is_not(tests):
    environment = nextest(tests)
    result = tests("nextest", "run", environment=environment)
    assert result.returncode == 0, result.stderr
    assert "recorded 2 processes of 1 program (shop)" in result.stderr
    assert has(tests.profile(), "adds") and has(tests.profile(), "sells")
    assert tests("--each", "nextest", "run", environment=environment).returncode == 0
    assert tests.profiles() == ["shop.cart.adds.pb.gz", "shop.cart.sells.pb.gz"]
    assert set(tests.profile("profiles/shop.cart.adds.pb.gz").by_label("comm")) == {"shop"}


@pytest.mark.parametrize("where", ["environment", "text", "list", "relative", "predicate"])
def test_a_runner_of_the_users_is_kept(shop, where):
    script = shop.write("wrap.sh", '#!/bin/sh\necho "wrapped $1"\nshift\nexec "$@"\n')
    script.chmod(0o755)
    chosen = {"text": f'"{script} x"', "list": f'["{script}", "x"]', "relative": '"./wrap.sh x"',
              "predicate": '"./wrap.sh x"'}.get(where)
    table = "'cfg(all(unix, not(windows)))'" if where == "predicate" else host()
    if chosen:
        shop.write(".cargo/config.toml", f"[target.{table}]\nrunner = {chosen}\n[target.'cfg(windows)']\nrunner = 'wine'\n")
    for each, profile in ([], "prof.pb.gz"), (["--each"], "profiles/shop.pb.gz"):
        result = shop(*each, "run", "-q", environment={} if chosen else {runner_variable(): f"{script} x"})
        assert result.returncode == 0, result.stderr
        assert result.stdout == "wrapped x\n0\n"
        assert has(shop.profile(profile), "shop::spin")


def test_an_emulator_is_refused_as_a_runner(shop):
    result = shop("run", environment={runner_variable(): "/usr/bin/qemu-x86_64 -L /"})
    assert result.returncode == 2
    assert "qemu-x86_64, which does not execute the program itself" in result.stderr
    assert shop("run", environment={runner_variable(): ""}).returncode == 0


def test_paths_may_have_spaces(prof, tmp_path):
    project = Project(prof, tmp_path / "my projects")
    project.package()
    prof.binary = shutil.copy(prof.binary, project.folder / "my prof")
    assert project("-o", "my profile.pb.gz", "run").returncode == 0
    assert has(project.profile("my profile.pb.gz"), "shop::spin")
    assert project("--each", "-o", "my profiles/", "run").returncode == 0
    assert has(project.profile("my profiles/shop.pb.gz"), "shop::spin")


def test_the_chosen_cargo_is_run_and_without_one_there_is_a_hint(shop):
    script = shop.write("my-cargo", f'#!/bin/sh\necho "mine: $*" >&2\nexec {shutil.which("cargo")} "$@"\n')
    script.chmod(0o755)
    result = shop("run", environment={"CARGO": str(script)})
    assert result.returncode == 0
    assert "mine: run\n" in result.stderr
    result = shop("run", environment={"CARGO": "/nonexistent/cargo"})
    assert result.returncode == 127
    assert "/nonexistent/cargo: No such file or directory\n  install Rust" in result.stderr


def test_without_a_command_the_help_is_printed(project):
    assert project().stdout.startswith("Usage: prof cargo [options]")
    assert project("-h").stdout == project().stdout


@pytest.mark.parametrize("option", ["-p1", "-t1", "-uroot", "-a", "-C0", "-i"])
def test_options_that_choose_processes_are_refused(project, option):
    result = project(option, "run")
    assert result.returncode == 2
    assert "prof cargo samples the programs that cargo starts" in result.stderr


def test_several_outputs_and_conditions_work_as_with_record(shop):
    result = shop("-F", "499", "-o", "a.html", "-o", "b.folded", "-o", "c.data", "--fail-if", "lost>50%", "run")
    assert result.returncode == 0, result.stderr
    assert "spin" in (shop.folder / "b.folded").read_text(encoding="utf-8")
    assert "spin" in shop.prof("report", "c.data").stdout
    result = shop("-q", "--fail-if", "truncated>0%", "--fail-if", "unknown>0%", "--fail-if", "unsampled>0%", "-F", "1", "run", "-q")
    assert result.returncode == (1 if result.stderr else 0)


def test_waiting_of_programs_is_recorded(project):
    project.package(main="fn main() { std::thread::sleep(std::time::Duration::from_millis(300)); }")
    result = project("--wall", "run")
    assert result.returncode == 0, result.stderr
    assert float(re.search(r"([\d.]+) waiting", result.stderr)[1]) >= 0.3, result.stderr
    assert has(project.profile(), "[nanosleep]")


def test_an_interrupt_ends_both_and_leaves_the_profile(project, started):
    project.package(main=SPIN + 'fn main() { println!("ready"); loop { spin(50); } }')
    assert project.cargo("build").returncode == 0
    process = started(project.prof.start("cargo", "run", **project.options()))
    assert process.stdout.readline() == "ready\n"
    until(lambda: cpu_seconds(process.pid, "shop") > 0.2)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=TIME_LIMIT_S)
    assert process.returncode == -signal.SIGINT
    assert has(project.profile(), "shop::spin")
    assert not list(project.folder.glob("prof-cargo-*"))


def until(condition):
    while not condition():
        time.sleep(0.01)


def cpu_seconds(prof_pid, name):
    """Returns the CPU time of the process with this name below a prof."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        fields = text.rpartition(")")[2].split()
        if f"({name})" in text and int(fields[2]) == prof_pid:
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0


def connect(folder):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.connect(str(folder / "socket"))
    return client


@pytest.fixture
def waiting(project, started, tmp_path_factory):
    """A prof cargo whose program waits for a line, and the directory of the runner."""
    folder = Path(subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip())
    project.package(main='fn main() { println!("ready"); std::io::stdin().read_line(&mut String::new()).unwrap(); }')
    process = started(project.prof.start("cargo", "run", "-q", **project.options({"TMPDIR": str(folder)}), stdin=subprocess.PIPE))
    assert process.stdout.readline() == "ready\n"
    yield process, next(folder.glob("prof-cargo-*"))
    assert list(folder.iterdir()) == []
    folder.rmdir()


def end_program(process):
    _, errors = process.communicate("\n", timeout=TIME_LIMIT_S)
    assert process.returncode == 0
    return errors


def test_the_directory_of_the_runner_is_the_users_alone(waiting):
    process, folder = waiting
    assert folder.stat().st_mode & 0o777 == 0o700
    assert folder.stat().st_uid == os.geteuid()
    end_program(process)


def test_nonsense_at_the_runners_socket_is_ignored(waiting):
    process, folder = waiting
    for message in (b"", b"\0", b"A=b", b"\0\0\0", b"x" * 70000, b"CARGO_PKG_NAME=x\0"):
        with connect(folder) as client:
            client.send(message)
            assert client.recv(1 << 16) == b""
    with connect(folder):
        pass
    assert "recorded 1 process of 1 program (shop)" in end_program(process)


def test_a_program_runs_though_nobody_answers_its_runner(project, tmp_path):
    runner = tmp_path / "prof-cargo-runner"
    runner.symlink_to(project.prof.binary)
    result = subprocess.run([runner, "1", "env", "echo", "runs"], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, "runs\n")
    assert "echo is not recorded: connect to " in result.stderr


def test_benchmarks_are_profiled_with_their_own_cargo_profile(project):
    project.package(main=None, more='[[bench]]\nname = "parser"\nharness = false\n')
    project.write("src/lib.rs", SPIN)
    project.write("benches/parser.rs", "fn main() { shop::spin(100); }")
    result = project("bench", "--bench", "parser")
    assert result.returncode == 0, result.stderr
    assert f"{BUILT}CARGO_PROFILE_BENCH_DEBUG=" in result.stderr
    assert "recorded 1 process of 1 program (parser)" in result.stderr
    assert has(project.profile(), "twist")


PHASES = """
use std::io::{BufRead, BufReader, Write};
fn say(words: &str) {
    let address = std::env::var("PROF_CONTROL").unwrap();
    let (control, answers) = address.strip_prefix("fifo:").unwrap().split_once(',').unwrap();
    let mut answers = BufReader::new(std::fs::OpenOptions::new().read(true).write(true).open(answers).unwrap());
    writeln!(std::fs::OpenOptions::new().write(true).open(control).unwrap(), "{words}").unwrap();
    let mut line = vec![];
    answers.read_until(0, &mut line).unwrap();
    assert!(line.starts_with(b"ack"), "{line:?}");
}
#[inline(never)] fn before() -> u64 { std::hint::black_box(shop::spin(100) + std::hint::black_box(1)) }
#[inline(never)] fn measured() -> u64 { std::hint::black_box(shop::spin(100) - std::hint::black_box(2)) }
fn main() {
    before();
    say("disable");
    say("snapshot /dev/null");
    say("enable");
    measured();
    say("disable");
    say(concat!("snapshot ", env!("CARGO_MANIFEST_DIR"), "/phase.pb.gz"));
}
"""


def test_a_benchmark_can_have_profiles_of_its_phases(project):
    project.package(main=None, more='[[bench]]\nname = "phases"\nharness = false\n')
    project.write("src/lib.rs", SPIN)
    project.write("benches/phases.rs", PHASES)
    for each in [], ["--each"]:
        result = project(*each, "bench", "--bench", "phases")
        assert result.returncode == 0, result.stderr
        profile = project.profile("phase.pb.gz")
        assert has(profile, "measured") and not has(profile, "before")
        (project.folder / "phase.pb.gz").unlink()


@pytest.fixture
def ordinary_project(ordinary):
    """A project of an unprivileged user."""
    try:
        subprocess.run([tool("cargo"), "-V"], user=NOBODY, group=NOBODY, extra_groups=[], check=True, capture_output=True,
                       env={**os.environ, "HOME": str(ordinary.folder)})
    except (PermissionError, subprocess.CalledProcessError):
        pytest.skip("other users may not run cargo here")
    return Project(ordinary, ordinary.folder)


def test_an_ordinary_user_gets_the_same(ordinary_project):
    ordinary_project.package()
    home = str(ordinary_project.folder)
    for each, profile in ([], "prof.pb.gz"), (["--each"], "profiles/shop.pb.gz"):
        result = ordinary_project(*each, "run", "-q", environment={"HOME": home, "CARGO_HOME": f"{home}/cargo"})
        assert result.returncode == 0, result.stderr
        assert result.stdout == "0\n"
        assert "recorded 1 process of 1 program (shop)" in result.stderr
        assert has(ordinary_project.profile(profile), "shop::spin")


PROF = BUILD / "cmd" / "prof"
SUBCOMMAND = SOURCE / "contrib" / "cargo-with-prof"


@pytest.fixture(scope="module")
def subcommand(tmp_path_factory):
    """contrib/cargo-with-prof, built."""
    folder = tmp_path_factory.mktemp("subcommand")
    crate = shutil.copytree(SUBCOMMAND, folder / "crate", ignore=shutil.ignore_patterns("target"))
    built = subprocess.run([tool("cargo"), "build", "--offline", "--quiet", "--target-dir", folder / "target"], cwd=crate,
                           check=False, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder / "target" / "debug" / "cargo-with-prof"


def bin_folder(project, program):
    """Installs the program as the subcommand in a directory of its own. Returns the PATH with this directory."""
    folder = project.folder / "bin"
    folder.mkdir()
    (folder / "cargo-with-prof").symlink_to(program)
    return f"{folder}:{os.environ['PATH']}"


def test_cargo_with_prof_is_prof_cargo(project, subcommand):
    project.package()
    path = bin_folder(project, subcommand)
    result = project.cargo("with-prof", "-o", "it.folded", "run", environment={"PATH": path, "PROF": str(PROF)})
    assert result.returncode == 0, result.stderr
    assert "spin" in (project.folder / "it.folded").read_text(encoding="utf-8")


def test_prof_is_cargos_subcommand_under_its_name(project):
    project.package()
    path = bin_folder(project, PROF)
    result = project.cargo("with-prof", "-o", "it.folded", "run", environment={"PATH": path})
    assert result.returncode == 0, result.stderr
    assert "spin" in (project.folder / "it.folded").read_text(encoding="utf-8")
    assert project.cargo("with-prof", "-h", environment={"PATH": path}).stdout.startswith("Usage: prof cargo")


def other_prof(folder):
    """A program that is called prof and is not the profiler."""
    folder.mkdir()
    program = folder / "prof"
    program.write_text("#!/bin/sh\nexit 2\n", encoding="utf-8")
    program.chmod(0o755)
    return program


@pytest.fixture
def find(subcommand, tmp_path):
    """find(folders, program) starts a copy of the subcommand with this PATH and PROF."""
    copy = tmp_path / "bin" / "cargo-with-prof"
    copy.parent.mkdir()
    shutil.copy(subcommand, copy)

    def start(folders, program=None):
        environment = {"PATH": ":".join(map(str, folders))} | ({"PROF": str(program)} if program else {})
        return subprocess.run([copy, "with-prof", "-h"], env=environment, check=False, capture_output=True, text=True,
                              timeout=TIME_LIMIT_S)

    return start


def test_cargo_with_prof_finds_prof(find, tmp_path):
    other = other_prof(tmp_path / "other")
    usage = "Usage: prof cargo"
    assert find([], PROF).stdout.startswith(usage)
    assert find([other.parent, PROF.parent]).stdout.startswith(usage)
    (tmp_path / "bin" / "prof").symlink_to(PROF)
    assert find([other.parent]).stdout.startswith(usage)


def test_cargo_with_prof_without_prof_says_what_to_install(find, tmp_path):
    other = other_prof(tmp_path / "other")
    for result, problem in (
        (find([], "/nonexistent/prof"), "cannot execute /nonexistent/prof"),
        (find([]), "the profiler prof is neither in PATH nor beside this program"),
        (find([other.parent]), f"{other} is another program"),
    ):
        assert result.returncode == 127 and f"cargo-with-prof: {problem}" in result.stderr
        assert "install prof from its source tree or a release archive, or set PROF" in result.stderr


def test_cargo_with_prof_does_not_execute_itself(find, tmp_path):
    (tmp_path / "bin" / "prof").symlink_to("cargo-with-prof")
    assert find([]).returncode == 127


def test_cargo_with_prof_has_the_version_of_prof():
    """cargo-binstall makes the address of prof's release archive from it."""
    crate = (SUBCOMMAND / "Cargo.toml").read_text(encoding="utf-8")
    program = (SOURCE / "meson.build").read_text(encoding="utf-8")
    assert re.search(r'^version = "(.+)"', crate, re.MULTILINE)[1] == re.search(r"^  version: '(.+)'", program, re.MULTILINE)[1]


def test_programs_that_cargo_starts_ask_for_their_phases(project):
    project.package(main=(SOURCE / "contrib/criterion-with-prof/examples/region.rs").read_text(encoding="utf-8"))
    for each, profile in ([], "prof.pb.gz"), (["--each"], "profiles/shop.pb.gz"):
        result = project(*each, "--control", "auto", "-D", "-1", "run", "--release")
        assert result.returncode == 0, result.stderr
        found = functions(project.profile(profile))
        assert any("primes" in name for name in found) and not any("collatz" in name for name in found), found


def test_of_a_cargo_inside_a_cargo_the_programs_are_recorded(project):
    """By convention, xtask is a program of the workspace that runs cargo, here through an alias."""
    project.write("Cargo.toml", '[workspace]\nmembers = ["shop", "xtask"]\nresolver = "2"\n[profile.release]\nstrip = true\n')
    project.write(".cargo/config.toml", '[alias]\nxtask = "run --quiet --package xtask --"\n')
    project.package("shop", "shop")
    project.package("xtask", "xtask", main="""fn main() {
        let status = std::process::Command::new(std::env::var("CARGO").unwrap()).args(["run", "--release", "--package", "shop"]).status();
        std::process::exit(status.unwrap().code().unwrap() + std::env::args().count() as i32);
    }""")
    result = project("xtask", "dist")
    assert result.returncode == 2 and "recorded 1 process of 1 program (shop)" in result.stderr, result.stderr
    assert "CARGO_PROFILE_RELEASE_DEBUG=1" in result.stderr and "CARGO_PROFILE_RELEASE_STRIP=none" in result.stderr
    profile = project.profile()
    assert has(profile, "shop::twist") and set(profile.by_label("comm")) == {"shop"}
