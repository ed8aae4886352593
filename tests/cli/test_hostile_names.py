"""Hostile function names: every format stays valid for a strict parser."""

import gzip
import json
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

from conftest import SOURCE
from profiles import Pprof, Stacks, profile_message

LONG = "x" * 65536
NAMES = ["plain", "</title><script>alert(1)</script>", 'quote " \' \\ & ]]> <![CDATA[', "\u202eevil\u2066", "naïve 火 🔥",
         "line\u2028separator", "${1} {{closure}} %s %n", "(anonymous namespace)::f", "+0x12", LONG]


@pytest.fixture
def hostile(prof):
    """converted("x.svg") is that file, made from a stack of all such names."""
    stack = ";".join(["app", *NAMES]).encode() + b";bad\xff\xc3\xed\xa0\x80 utf-8;control\x01\x1b[31m\x7f"
    (prof.folder / "in.folded").write_bytes(b"app;main 1\n" * 10 + stack + b" 7\n")

    def converted(name):
        prof.run("convert", "in.folded", "-o", name)
        return prof.folder / name

    return converted


def test_the_svg_is_well_formed_and_says_the_names(hostile, browser):
    path = hostile("x.svg")
    titles = "\n".join(element.text for element in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}title"))
    assert "</title><script>alert(1)</script> (7 samples" in titles
    assert "\u202e" not in titles
    page = browser.open(f"file://{path}")
    assert page.value("document.querySelectorAll('#frames > g').length") == len(NAMES) + 5
    assert not page.problems
    page.close()


def names_in_speedscope(path):
    return {frame["name"] for frame in json.loads(path.read_bytes())["shared"]["frames"]}


def names_in_firefox(path):
    return set(json.loads(gzip.decompress(path.read_bytes()))["shared"]["stringArray"])


def names_in_rows(path):
    return {name for line in path.read_text(encoding="utf-8").split("\n")[:-1] for name in json.loads(line)["stack"]}


@pytest.mark.parametrize("name, read", [("x.ndjson", names_in_rows), ("x.speedscope.json", names_in_speedscope),
                                        ("x.firefox.json.gz", names_in_firefox)])
def test_json_holds_the_names_as_they_are(hostile, name, read):
    assert set(NAMES) <= read(hostile(name))


def test_perf_script_text_has_one_line_per_frame(hostile):
    text = hostile("x.perf.txt").read_text(encoding="utf-8")
    frames = [line for line in text.split("\n") if line.startswith("\t")]
    assert len(frames) == len(NAMES) + 5  # app is in both stacks


def test_pprof_and_folded_hold_the_names(hostile):
    profile = Pprof.read(hostile("x.pb.gz"))
    assert {"plain", LONG} <= set(profile.strings)
    assert Stacks.read(hostile("x.folded")).total == 17


OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]")
RUDE = "\u202e\x9b31m\x1b]0;title\x07\u2028\u2066"


@pytest.mark.parametrize("name", [RUDE.encode(), b"\x9b31m\xff\x90"])
def test_messages_have_no_control_characters(prof, name):
    for arguments in ["report", name], ["record", "-e", name, "true"], ["convert", "-o", "x.svg", name], [name]:
        result = prof(*map(os.fsdecode, arguments), text=False)
        assert result.returncode in (1, 2)
        said = result.stderr.decode("utf-8")  # strict
        assert not OBEYED.search(said), repr(said)
        assert "\ufffd" in said


def test_control_characters_of_a_pprof_file_do_not_reach_stdout(prof):
    message = profile_message().FromString(gzip.decompress((SOURCE / "tests/golden/go_cpu.pb.gz").read_bytes()))
    for item, field in [(m, "filename") for m in message.mapping] + [(f, "filename") for f in message.function]:
        message.string_table.append(message.string_table[getattr(item, field)] + RUDE)
        setattr(item, field, len(message.string_table) - 1)
    message.string_table[message.sample_type[-1].type] += RUDE
    labels = [label for sample in message.sample for label in sample.label]
    for string in {labels[0].key, labels[0].str}:
        message.string_table[string] += RUDE
    by = ["--by", "label:" + message.string_table[labels[0].key]]
    (prof.folder / "rude.pb.gz").write_bytes(gzip.compress(message.SerializeToString()))
    function = message.string_table[message.function[0].name]
    for arguments in ["report", "rude.pb.gz"], ["report", "--json", "rude.pb.gz"], ["annotate", "rude.pb.gz", function], \
            ["diff", "rude.pb.gz", "rude.pb.gz"], ["report", "--by", "line", "rude.pb.gz"], \
            ["report", *by, "rude.pb.gz"], ["report", *by, "--json", "rude.pb.gz"], ["diff", *by, "rude.pb.gz", "rude.pb.gz"]:
        result = prof(*arguments)
        assert result.stdout and not OBEYED.search(result.stdout + result.stderr), (arguments, result)


PROGRAM = """
#include <sys/prctl.h>
static volatile unsigned long sink;
__attribute__((noinline)) void rude(void) { for (unsigned long i = 0; i < 300000000; i++) sink += i; }
int main(int argc, char **argv) { prctl(PR_SET_NAME, argv[0]); rude(); return 0; }
"""


@pytest.mark.parametrize("debug, function", [("-g", "rude"), ("-g0", RUDE)])
def test_no_command_lets_the_names_of_a_program_control_the_terminal(prof, client, debug, function):
    """Its file, source, thread and (without debug information) function have control characters in their names."""
    (prof.folder / f"{RUDE}.c").write_text(PROGRAM)
    subprocess.run([client("gcc"), debug, "-O1", "-c", "-o", "rude.o", f"{RUDE}.c"], cwd=prof.folder, check=True)
    subprocess.run([client("objcopy"), "--redefine-sym", f"rude={RUDE}", "rude.o"], cwd=prof.folder, check=True)
    subprocess.run([client("gcc"), "-o", RUDE, "rude.o"], cwd=prof.folder, check=True)
    for arguments in ["record", "-v", "-o", "rude.pb.gz", "-o", "rude.data", f"./{RUDE}"], \
            ["top", "-b", "-n", "1", "-d", "0.3", "--by", "process", f"./{RUDE}"], \
            *(["report", "--by", by, "rude.pb.gz"] for by in ("function", "module", "process", "thread", "file", "line")), \
            ["report", "--json", "rude.pb.gz"], ["report", "rude.data"], ["report", "--callees", "main", "rude.pb.gz"], \
            ["report", "--color", "always", "rude.pb.gz"], ["annotate", "rude.pb.gz", function], \
            ["annotate", "--asm", "rude.pb.gz", function], ["annotate", "--json", "rude.pb.gz", function], ["diff", "rude.pb.gz", "rude.data"], \
            ["diff", "--json", "rude.pb.gz", "rude.data"], ["convert", "rude.pb.gz", "-o", "-", "--format", "folded"], \
            ["convert", "rude.data", "-o", "-", "--format", "perf-script"]:
        result = prof(*arguments)
        shown = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout) if "--color" in arguments else result.stdout
        found = OBEYED.search(shown.replace("\t", "") + result.stderr)
        assert result.stdout + result.stderr and not found, (arguments, found, result)
        assert result.returncode == 0 or arguments[0] == "annotate", (arguments, result)
