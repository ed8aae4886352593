"""The installed completions, run in bash, zsh and fish."""

import os
import re
import signal
import subprocess

import pytest

from conftest import BUILD
from help_text import COMMANDS, offered_options
from lacking import lacking, tool

try:
    from screen import Screen
except ImportError:
    Screen = None

COMPLETIONS = BUILD / "completions"
FILES = {"bash": "prof", "zsh": "_prof", "fish": "prof.fish"}

BASH_START = """
PS1='ready> '
bind 'set bell-style none'
source {completions}/prof
"""
ZSH_START = """
PS1='ready> '
unsetopt beep
fpath=({completions} $fpath)
autoload -Uz compinit && compinit -u -D
"""
FISH_START = """
function fish_prompt; echo -n 'ready> '; end
function fish_greeting; end
set -g fish_autosuggestion_enabled 0
source {completions}/prof.fish
"""

# The input before Tab, and its completion.
COMPLETED = {
    "prof rep": "prof report",
    "prof help anno": "prof help annotate",
    "prof report --callee": "prof report --callees",
    "prof report --by fun": "prof report --by function",
    "prof report -s to": "prof report -s total",
    "prof report --callers f --sort na": "prof report --callers f --sort name",
    "prof report --color nev": "prof report --color never",
    "prof record --call-graph dw": "prof record --call-graph dwarf",
    "prof record --format fire": "prof record --format firefox",
    "prof record --format perf.": "prof record --format perf.data",
    "prof convert recor": "prof convert recording.data",
    "prof report --input recor": "prof report --input recording.data",
    "prof diff recording.data oth": "prof diff recording.data other.data",
    "prof convert --symfs direc": "prof convert --symfs directory/",
    "prof cargo be": "prof cargo bench",
    "prof cargo -F 99 --format folded nex": "prof cargo -F 99 --format folded nextest",
    "prof cargo run recor": "prof cargo run recording.data",
    "prof record --duration 5 ./comm": "prof record --duration 5 ./command.sh",
}
BASH_COMPLETED = {"prof report --by=fun": "prof report --by=function"}


@pytest.fixture(scope="module")
def completions():
    """The directory of the three files. A cross build does not have one."""
    assert {path.name for path in COMPLETIONS.iterdir()} >= set(FILES.values())
    return COMPLETIONS


@pytest.fixture
def shell(completions, tmp_path):
    """shell("zsh") is the screen of that shell, after its prompt has appeared."""
    folder = tmp_path / "work"
    (folder / "directory").mkdir(parents=True)
    for name in ("recording.data", "other.data", "command.sh"):
        (folder / name).touch(mode=0o755)
    screens = []

    def start(name):
        environment = {"HOME": str(tmp_path), "ZDOTDIR": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path),
                       "XDG_DATA_HOME": str(tmp_path), "PATH": f"{BUILD / 'cmd'}:{os.environ['PATH']}"}
        if not Screen:
            lacking("pyte")
        if name == "bash":
            (tmp_path / "start").write_text(BASH_START.format(completions=completions), encoding="utf-8")
            words = [tool("bash"), "--noprofile", "--rcfile", str(tmp_path / "start"), "-i"]
        elif name == "zsh":
            (tmp_path / ".zshrc").write_text(ZSH_START.format(completions=completions), encoding="utf-8")
            words = [tool("zsh"), "-d", "-i"]
        else:
            words = [tool("fish"), "--private", "--init-command", FISH_START.format(completions=completions)]
        screens.append(Screen(words, folder, columns=120, environment=environment))
        return screens[-1]

    yield start
    for screen in screens:
        if screen.pid:
            os.killpg(screen.pid, signal.SIGKILL)
            screen.end()


@pytest.mark.parametrize("name", FILES)
def test_tab_completes_a_word(shell, name):
    screen = shell(name)
    for text, expected in {**COMPLETED, **(BASH_COMPLETED if name == "bash" else {})}.items():
        screen.wait(lambda: "ready>" in screen.lines and not any(line.startswith("ready> ") for line in screen.lines))
        screen.press(text)
        screen.wait_for("^ready> " + re.escape(text))
        screen.press("\t")
        screen.wait_for("^ready> " + re.escape(expected) + r"( |=|/|$)")
        screen.press("\x15")  # deletes the line


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_completed(prof, completions, command):
    options = {spelling for spelling, _ in offered_options(prof, command)}
    assert {"--help", "-h"} < options
    bash = re.search(rf"^\t{command}\) options='(.*?)'.* ;;$", (completions / "prof").read_text(), re.MULTILINE)
    assert set(bash[1].split()) == options
    zsh = re.search(rf"^\t{command}\)\n(.*?) ;;$", (completions / "_prof").read_text(), re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"^\t+'\*(--[\w-]+?|-\w)[-+=]?\[", zsh[1], re.MULTILINE)) == options
    fish = re.findall(rf"-n __prof_in_{command} ((?:-[sl] \S+ ?)+)", (completions / "prof.fish").read_text())
    assert {("-" if kind == "s" else "--") + name for option in fish
            for kind, name in re.findall(r"-([sl]) (\S+)", option)} == options


def with_argument(spelling, argument):
    """An optional argument belongs to the same word."""
    return [f"{spelling}={argument}"] if spelling.startswith("--") else [spelling, argument]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_choices_of_an_option_are_those_that_it_takes(prof, command):
    asked = 0
    for spelling, argument in offered_options(prof, command):
        choices = [choice for choice in argument.split("|") if re.fullmatch(r"[a-z]+(\[.*\])?", choice)]
        for choice in choices:
            prof.run(command, *with_argument(spelling, choice.partition("[")[0]), "--help")
        if choices and choices == argument.split("|"):
            asked += 1
            said = prof(command, *with_argument(spelling, "nonsense")).stderr
            taken = re.search(r"\((.*)\)", said)[1].split(", ")
            assert sorted(taken) == sorted(choice.partition("[")[0] for choice in choices), said
    assert asked or command in ("serve", "inside")  # have no option with choices


def test_the_completions_are_valid_scripts(completions, client):
    for shell, name in FILES.items():
        subprocess.run([client(shell), "-n", completions / name], check=True)
