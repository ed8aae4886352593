"""Names of functions that try to break out: every format stays whole, and readable by a strict parser."""

import gzip
import json
import xml.etree.ElementTree as ElementTree

import pytest

from profiles import Pprof, Stacks

LONG = "x" * 65536
NAMES = ["plain", "</title><script>alert(1)</script>", 'quote " \' \\ & ]]> <![CDATA[', "\u202eevil\u2066", "naïve 火 🔥",
         "line\u2028separator", "${1} {{closure}} %s %n", "(anonymous namespace)::f", "+0x12", LONG]


@pytest.fixture
def hostile(prof):
    """converted("x.svg") is that file, made of a stack of all such names."""
    stack = ";".join(["app", *NAMES]).encode() + b";bad\xff\xc3\xed\xa0\x80 utf-8;control\x01\x1b[31m\x7f"
    (prof.folder / "in.folded").write_bytes(b"app;main 1\n" * 10 + stack + b" 7\n")

    def converted(name):
        result = prof("convert", "in.folded", "-o", name)
        assert result.returncode == 0, result.stderr
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


@pytest.mark.parametrize("name, read", [("x.speedscope.json", names_in_speedscope),
                                        ("x.firefox.json.gz", names_in_firefox)])
def test_json_holds_the_names_as_they_are(hostile, name, read):
    assert set(NAMES) <= read(hostile(name))


def test_each_frame_is_a_line_of_the_text_of_perf_script(hostile):
    text = hostile("x.perf.txt").read_text(encoding="utf-8")
    frames = [line for line in text.split("\n") if line.startswith("\t")]
    assert len(frames) == len(NAMES) + 3


def test_pprof_and_folded_hold_the_names(hostile):
    profile = Pprof.read(hostile("x.pb.gz"))
    assert {"plain", LONG} <= set(profile.strings)
    assert Stacks.read(hostile("x.folded")).total == 17
