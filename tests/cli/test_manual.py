"""The manual pages agree with --help."""

import re
import subprocess

import pytest

from conftest import SOURCE
from lacking import tool

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]+|-[A-Za-z])(?![\w-])")


def page(name):
    return (SOURCE / "man" / name).read_text(encoding="utf-8").replace("\\-", "-")


@pytest.mark.parametrize("command", ["record", "cargo", "report", "annotate", "top", "diff", "convert", "script", "serve", "inside", "list", "doctor"])
def test_every_option_of_a_command_is_in_its_manual_and_no_other(prof, command):
    offered = set()
    for line in prof(command, "--help").stdout.splitlines():
        heading = re.match(r"\s+(-\S.*?)(\s{2,}|$)", line)
        if heading:
            offered |= set(OPTION.findall(heading[1]))
    described = set()
    for line in re.findall(r"^\.TP.*\n(.*)$", page(f"prof-{command}.1"), re.MULTILINE):
        described |= set(OPTION.findall(re.sub(r"\\f.|^\.\w+ ", "", line)))
    assert offered, "the help lists no options"
    assert described == offered


def test_every_format_is_in_the_manual_and_the_readme(prof):
    listed, converted = (re.findall(r"^  (\.\S+)\s+(\S+) ", prof(command, "--help").stdout.partition("Formats")[2], re.MULTILINE)
                         for command in ("record", "convert"))
    assert (".pb.gz", "pprof") in listed
    assert set(listed) - set(converted) == {(".data", "perf.data")}, "records are written by prof record alone"
    table = re.findall(r"^\| `(\.\S+)`", (SOURCE / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert table == [extension for extension, _ in listed]
    for extension, name in listed:
        assert re.search(rf"^\.IR {re.escape(extension)} .*\b{re.escape(name)} \)$", page("prof-record.1"), re.MULTILINE)


def test_every_command_has_a_manual(prof):
    commands = re.findall(r"^ {2,}([a-z]+)\s{2,}", prof("--help").stdout, re.MULTILINE)
    assert "record" in commands
    for command in commands:
        assert (SOURCE / "man" / f"prof-{command}.1").exists()


@pytest.mark.parametrize("path", sorted((SOURCE / "man").glob("*.1")), ids=lambda path: path.name)
def test_manual_pages_have_no_formatting_errors(path):
    result = subprocess.run([tool("groff"), "-man", "-ww", "-z", "-Tutf8", path], capture_output=True, text=True, check=True)
    assert result.stderr == ""
