"""prof doctor: limits of profiles of a machine, a process or a file, and their fixes."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import NOBODY
from time_limit import TIME_LIMIT_S


def examine(prof, *words, **options):
    result = prof.run("doctor", *words, "--json", **options)
    answer = json.loads(result.stdout)
    assert answer["schema"] == "prof-doctor/1"
    return answer


def finding(answer, subject):
    return next(item for item in answer["findings"] if item["subject"] == subject)


def module(answer, path):
    return next(item for item in answer["modules"] if item["path"] == str(path))


def stripped(program, folder):
    copy = folder / "stripped"
    subprocess.run(["strip", "--strip-all", "-o", copy, program], check=True)
    return copy


def test_the_machine_is_examined_with_the_rights_of_the_caller(root, prof, ordinary, paranoid):
    paranoid(2)
    assert finding(examine(prof), "sampling")["state"] == "ok"
    limited = finding(examine(ordinary), "sampling")
    assert limited["state"] == "limited"
    assert limited["command"] == "sudo sysctl kernel.perf_event_paranoid=1"
    assert "perf_event_paranoid is 2" in limited["what"] and "kernel" in limited["cost"]
    paranoid(1)
    assert finding(examine(ordinary), "sampling")["command"] == "sudo sysctl kernel.perf_event_paranoid=0"
    paranoid(0)
    assert finding(examine(ordinary), "sampling")["state"] == "ok"


def test_the_worst_comes_first_and_each_finding_has_its_command_below(prof):
    result = prof.run("doctor", env={**os.environ, "DEBUGINFOD_URLS": ""})
    states = [line.split()[0] for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert states == sorted(states, key=["missing", "limited", "ok"].index)
    assert "helps: export DEBUGINFOD_URLS=https://debuginfod." in result.stdout


def fixes(result):
    return [line for line in result.stdout.splitlines() if not line.startswith("#")]


def test_fix_prints_what_root_has_to_change_for_users_whoever_asks(root, prof, ordinary, paranoid):
    paranoid(2)
    for each in prof, ordinary:
        result = each.run("doctor", "--fix")
        assert fixes(result)[0] == "sysctl kernel.perf_event_paranoid=1"
        assert "sudo prof doctor --fix --yes" in result.stderr


def test_fix_runs_the_lines_only_with_yes_and_as_root(root, prof, ordinary, paranoid, tmp_path):
    """Programs of these names stand for those that change the machine."""
    paranoid(2)
    for name in "sysctl", "mount":
        (tmp_path / name).write_text('#!/bin/sh\necho "ran ${0##*/} $*"\n', encoding="ascii")
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "DEBUGINFOD_URLS": "https://example.org"}
    refused = ordinary("doctor", "--fix", "--yes", env=environment)
    assert refused.returncode == 1 and "sudo prof doctor --fix --yes" in refused.stderr and "ran " not in refused.stdout
    assert "ran sysctl kernel.perf_event_paranoid=1" in fixes(prof.run("doctor", "--fix", "--yes", env=environment))
    (tmp_path / "sysctl").write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
    failed = prof("doctor", "--fix", "--yes", env=environment)
    assert failed.returncode == 1 and "sysctl kernel.perf_event_paranoid=1: this command failed" in failed.stderr


@pytest.mark.parametrize("words", [["--yes"], ["--fix", "1"], ["--fix", "--json"]])
def test_fix_is_for_the_machine(prof, words):
    assert prof("doctor", *words).returncode == 2


def test_a_recording_lists_its_stripped_program_first_with_its_share(prof, target, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))  # its cache has copies of programs made by perf in other tests
    program = stripped(target("shares"), tmp_path)
    assert prof("record", "-o", "in.pb.gz", "-o", "in.data", "--", program, "0.3").returncode == 0
    for file in "in.pb.gz", "in.data":
        answer = examine(prof, file)
        worst = answer["modules"][0]
        assert worst["path"] == str(program) and worst["sources"] == ["exported"]
        assert worst["unnamed"] > 0.9 * answer["samples"]
        assert worst["command"] == "build it with -g, and do not strip it"
        assert finding(answer, "names")["state"] == "missing"
    text = prof("doctor", "in.pb.gz").stdout
    assert f"exported symbols  {program}\n" in text and "helps: build it with -g" in text
    # Its debug file is added after the recording. Then another program takes its name.
    debug = tmp_path / "debug/.build-id" / worst["build_id"][:2] / f"{worst['build_id'][2:]}.debug"
    debug.parent.mkdir(parents=True)
    subprocess.run(["objcopy", "--only-keep-debug", target("shares"), debug], check=True)
    found = module(examine(prof, "in.pb.gz", "--debug-dir", tmp_path / "debug"), program)
    assert found["command"] == "record it again" and found["debug_file"] == str(debug)
    program.unlink()
    shutil.copy(target("service"), program)
    found = module(examine(prof, "in.pb.gz"), program)
    assert "sources" not in found and "--symfs" in found["command"]


def test_a_process_lists_what_it_maps_and_what_recording_it_needs(prof, service):
    answer = examine(prof, service.pid)
    assert finding(answer, "sampling")["state"] == "ok"
    found = module(answer, Path(f"/proc/{service.pid}/exe").resolve())
    assert found["size_bytes"] >= 4096 and "symtab" in found["sources"]


def test_the_process_of_another_user_is_refused_with_what_helps(root, ordinary, service):
    answer = examine(ordinary, service.pid)
    assert finding(answer, "sampling")["state"] == "missing"
    assert "another user" in finding(answer, "sampling")["what"]
    assert finding(answer, "process")["command"] == f"sudo prof doctor {service.pid}"


def test_files_are_parsed_by_processes_without_rights_also_of_a_damaged_program(prof, ordinary, started, target):
    program = ordinary.folder / "damaged"
    shutil.copy(target("service"), program)
    os.chown(program, NOBODY, NOBODY)
    contents = bytearray(program.read_bytes())
    contents[-2000:] = os.urandom(2000)
    program.write_bytes(contents)
    process = started(subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                       user=NOBODY, group=NOBODY, extra_groups=[]))
    assert process.stdout.readline() == "ready\n"
    assert module(examine(prof, process.pid), program)


@pytest.mark.parametrize("release", ["ID=alpine\n", None])
def test_a_process_in_a_container_gets_the_advice_of_its_distribution(root, prof, client, started, tmp_path, release):
    program = tmp_path / "root/usr/bin/waits"
    program.parent.mkdir(parents=True)
    (tmp_path / "root/etc").mkdir()
    if release:
        (tmp_path / "root/etc/os-release").write_text(release, encoding="ascii")
    else:
        os.mkfifo(tmp_path / "root/etc/os-release")
    subprocess.run([client("gcc"), "-static", "-s", "-xc", "-", "-o", program], check=True, text=True,
                   input='#include <stdio.h>\nint main() { puts("ready"); fflush(stdout); return getchar(); }\n')
    process = started(subprocess.Popen(["chroot", tmp_path / "root", "/usr/bin/waits"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True))
    assert process.stdout.readline() == "ready\n"
    answer = examine(prof, process.pid)
    assert "in a container" in finding(answer, "process")["what"]
    command = module(answer, "/usr/bin/waits")["command"]
    assert ("apk info --who-owns /usr/bin/waits" if release else "DEBUGINFOD_URLS=https://debuginfod.elfutils.org") in command


def test_a_stripped_rust_program_is_known_as_one(prof, client, tmp_path):
    (tmp_path / "main.rs").write_text("fn main() { let mut s = 0u64; for i in 0..400_000_000u64 "
                                      "{ s = std::hint::black_box(s ^ i) } println!(\"{s}\") }", encoding="ascii")
    subprocess.run([client("rustc"), "-O", "-Cstrip=symbols", "main.rs"], cwd=tmp_path, check=True, timeout=TIME_LIMIT_S)
    assert prof("record", "-o", "in.pb.gz", "--", "./main").returncode == 0
    found = module(examine(prof, "in.pb.gz"), tmp_path / "main")
    assert found["language"] == "Rust" and 'debug = "line-tables-only"' in found["command"]


def test_the_package_manager_is_asked_about_files_of_the_system(prof):
    if not shutil.which("dpkg-query"):
        pytest.skip("this distribution has no dpkg")
    answer = examine(prof, os.getpid(), "--debug-dir", "/nowhere")
    libc = next(item for item in answer["modules"] if "libc.so.6" in item["path"])
    if "package" in libc:  # apt-cache may take too long
        assert libc["package"] == "libc6-dbg" and libc["command"] == "sudo apt install libc6-dbg"
    else:
        assert "DEBUGINFOD_URLS" in libc["command"]


def test_what_has_no_modules_or_is_not_there_is_an_error(prof, tmp_path):
    (tmp_path / "in.folded").write_text("main;work 5\n", encoding="ascii")
    result = prof("doctor", "in.folded")
    assert result.returncode == 1 and "no modules" in result.stderr and "-o prof.pb.gz" in result.stderr
    assert "no process 999999999" in prof("doctor", "999999999").stderr
    assert "open nowhere" in prof("doctor", "nowhere").stderr
    assert prof("doctor", "a", "b").returncode == 2
