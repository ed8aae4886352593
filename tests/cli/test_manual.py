"""The manual pages agree with --help."""

import re
import subprocess

import pytest

from conftest import SOURCE
from help_text import COMMANDS, listed_options
from lacking import tool

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]+|-[A-Za-z])(?![\w-])")


def page(name):
    return (SOURCE / "man" / name).read_text(encoding="utf-8").replace("\\-", "-")


def described_groups(command):
    """The options of each part of OPTIONS; a man page has `.SS Target` where the help has `Target:`."""
    options = re.search(r"^\.SH OPTIONS\n(.*?)^\.SH ", page(f"prof-{command}.1"), re.MULTILINE | re.DOTALL)[1]
    first, *parts = re.split(r"^\.SS (.*)\n", options, flags=re.MULTILINE)
    assert ".TP" not in first, "an option precedes the first heading"
    return {name: set(OPTION.findall("\n".join(re.sub(r"\\f.|^\.\w+ ", "", line) for line in tags(text))))
            for name, text in zip(parts[::2], parts[1::2])}


def tags(text):
    """The headings of the paragraphs, but for those of lists within them."""
    text = re.sub(r"^\.RS\n.*?^\.RE\n", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^\.T[PQ].*\n(.*)$", text, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_options_of_a_command_are_in_its_manual_in_the_same_groups(prof, command):
    whole = prof(command, "--help").stdout
    offered = {name: {spelling for spelling, _ in listed_options(text)}
               for name, text in re.findall(r"^(\w+):\n((?: .*\n)+)", whole, re.MULTILINE) if re.match(" +-", text)}
    described = described_groups(command)
    assert described == offered
    assert list(described) == list(offered)


SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_manual_has_the_usual_sections_in_order(command):
    found = [name for name in re.findall(r"^\.SH (.*)$", page(f"prof-{command}.1"), re.MULTILINE) if name in SECTIONS]
    assert found == [name for name in SECTIONS if name in found]
    assert set(SECTIONS) - set(found) <= {"ENVIRONMENT", "FILES"}


def test_every_format_is_in_the_manual_and_the_readme(prof):
    listed, converted = (re.findall(r"^  (\.\S+)\s+(\S+) ", prof(command, "--help").stdout.partition("Formats")[2], re.MULTILINE)
                         for command in ("record", "convert"))
    assert (".pb.gz", "pprof") in listed
    assert set(listed) - set(converted) == {(".data", "perf.data")}, "records are written by prof record alone"
    table = re.findall(r"^\| `(\.\S+)`", (SOURCE / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert table == [extension for extension, _ in listed]
    for extension, name in listed:
        assert re.search(rf"^\.IR {re.escape(extension)} .*\b{re.escape(name)} \)$", page("prof-record.1"), re.MULTILINE)


def test_manuals_describe_the_commands_as_the_help_does(prof):
    summaries = dict(re.findall(r"^  ([a-z]+) {2,}(.*)$", prof("--help").stdout.partition("\n\nOptions")[0], re.MULTILINE))
    assert list(summaries) == COMMANDS
    for command, summary in summaries.items():
        assert f"\nprof-{command} - {summary}\n" in page(f"prof-{command}.1")
        assert f"\n.BR prof-{command} (1)\n{summary}\n" in page("prof.1")


@pytest.mark.parametrize("path", sorted((SOURCE / "man").glob("*.1")), ids=lambda path: path.name)
def test_manual_pages_have_no_formatting_errors(path):
    result = subprocess.run([tool("groff"), "-man", "-ww", "-z", "-Tutf8", path], capture_output=True, text=True, check=True)
    assert result.stderr == ""
