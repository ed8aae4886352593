"""The file that a process runs: a file of one user must not be used to symbolize or unwind another user's program."""

import shutil
import subprocess
from pathlib import Path

import pytest

USER = 54321
LOOP = """
volatile unsigned long sum;
__attribute__((noinline)) void %s(void) { for (unsigned long i = 0; i < 100000000; i++) sum += i; }
int main(void) { for (;;) %s(); }
"""


@pytest.fixture
def built():
    """built(name, function, owner) is a program that calls the function endlessly. All programs have the same build-id."""
    folders = []

    def build(name, function, owner):
        folder = Path(subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip())
        folders.append(folder)
        folder.chmod(0o755)
        source = folder / "program.c"
        source.write_text(LOOP % (function, function), encoding="utf-8")
        subprocess.run(["cc", "-O1", "-Wl,--build-id=0x31415926535897932384626433832795", "-o", folder / name, source],
                       check=True)
        shutil.chown(folder / name, owner, owner)
        return folder / name

    yield build
    for folder in folders:
        shutil.rmtree(folder)


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_a_copied_build_id_takes_over_no_program_of_another_user(root, prof, built, until_busy, first):
    programs = {"ours": (built("ours", "work", 0), 0), "theirs": (built("theirs", "stolen", USER), USER)}
    order = [first, *(set(programs) - {first})]
    processes = [subprocess.Popen([programs[name][0]], user=programs[name][1]) for name in order]
    try:
        recording = prof.record("-p", ",".join(str(process.pid) for process in processes), "--",
                                *until_busy(processes[order.index("ours")].pid))
    finally:
        for process in processes:
            process.kill()
            process.wait()
    ours = recording.stacks.of_process("ours")
    assert recording.stacks.count(lambda frames: frames[0] == "ours" and "work" in frames) > 0.9 * ours > 50
    assert recording.stacks.count(lambda frames: frames[0] == "ours" and "stolen" in frames) == 0
    assert recording.stacks.count(lambda frames: frames[0] == "theirs" and "work" in frames) == 0
