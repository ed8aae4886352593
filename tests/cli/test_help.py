"""-h is one screen, --help has all options by group, --help GROUP one group."""

import re

import pytest

from help_text import COMMANDS, help_of_groups, listed_options


@pytest.mark.parametrize("command", COMMANDS)
def test_the_short_help_is_one_screen(prof, command):
    text = prof(command, "-h").stdout
    lines = text.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80, text
    assert lines[0].startswith(f"Usage: prof {command} ")
    examples = text.partition("\nExamples:\n")[2].partition("\n\n")[0].splitlines()
    assert 3 <= len(examples) <= 4
    options = {spelling for spelling, _ in listed_options(text.partition("ptions:\n")[2].partition("\n\n")[0])}
    assert options <= {spelling for spelling, _ in listed_options("".join(help_of_groups(prof, command).values()))}


def test_the_screen_of_record_has_what_most_users_need(prof):
    lines = prof("record", "-h").stdout.splitlines()
    for letter in "pFgeo":
        assert [line for line in lines if line.startswith(f"  -{letter}")]
    assert any("--help GROUP" in line for line in lines) and any("prof-record" in line for line in lines)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_group_is_its_part_of_the_whole(prof, command):
    whole = prof(command, "--help").stdout
    groups = help_of_groups(prof, command)
    for name, text in groups.items():
        assert re.fullmatch(rf"{name}:\n(?: .*\n)+", text)
        assert text == prof(command, "--help", name.upper()).stdout
    if command != "cargo":  # refers to the help of record
        assert "\n\n" + "\n".join(groups.values()) in whole
    assert max(map(len, whole.splitlines())) <= 80


def test_the_help_of_cargo_has_its_own_options_and_refers_to_those_of_record(prof):
    whole = prof("cargo", "--help").stdout
    assert [spelling for spelling, _ in listed_options(whole)] == ["--each", "-h", "--help"]
    assert "options of prof record" in whole
    shared = {option for name, text in help_of_groups(prof, "cargo").items() if name != "Help" for option in listed_options(text)}
    assert shared - {("--each", "")} < set(listed_options(prof("record", "--help").stdout))


def test_an_unknown_group_is_an_error_that_lists_the_groups(prof):
    result = prof("record", "--help", "colours")
    assert result.returncode == 2
    assert '"colours"' in result.stderr
    assert "target, events, stacks, waiting, memory, output, symbols, control, continuous, push" in result.stderr


def test_help_of_a_command_is_its_help_option(prof):
    assert prof("help", "record").stdout == prof("record", "--help").stdout
    assert prof("help", "record", "push").stdout == prof("record", "--help", "push").stdout


def test_the_help_of_prof_lists_the_commands_and_the_version_option(prof):
    text = prof("--help").stdout
    assert text == prof("-h").stdout == prof("help").stdout
    assert len(text.splitlines()) <= 40 and max(map(len, text.splitlines())) <= 80
    assert re.findall(r"^  ([a-z]+) {2,}", text.partition("\n\nOptions")[0], re.MULTILINE) == COMMANDS
    assert re.search(r"^  --version ", text, re.MULTILINE)
