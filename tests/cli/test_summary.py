"""prof report --summary: one bounded Markdown text for a colleague or an assistant."""

import re

import pytest

HEADINGS = ["What was recorded", "Quality", "Where it goes", "Hottest functions of any code, by self", "Hottest paths", "Waits", "Allocations",
            "What is missing", "Look deeper"]


def headings(text):
    return re.findall(r"^## (.*)$", text, re.MULTILINE)


def section(text, heading):
    return text.partition(f"## {heading}\n\n")[2].partition("\n\n## ")[0]


@pytest.fixture
def recorded(prof, target):
    prof.run("record", "-q", "-o", "run.pb.gz", "--", target("shares"), "0.5")
    return "run.pb.gz"


def test_it_names_the_programs_own_functions_with_their_lines(prof, recorded):
    text = prof.run("report", "--summary", recorded).stdout
    assert headings(text) == HEADINGS
    assert "\033" not in text and len(text.splitlines()) <= 100
    rows = re.findall(r"^\| ([\d.]+) % \| \S+ \S+ \| `(\w+)` \| `(\S+):(\d+)` \|$", section(text, "Where it goes"), re.MULTILINE)
    assert float(rows[0][0]) > 50 and rows[0][1] == "spin" and rows[0][2].endswith("work.h") and int(rows[0][3]) > 0
    assert re.search(r"^1\. [\d.]+ % .*`main` → .*`half` → `spin`$", section(text, "Hottest paths"), re.MULTILINE)
    assert "command: " in section(text, "What was recorded") and "samples" in section(text, "Quality")


def test_the_commands_work_that_look_deeper(prof, recorded):
    commands = re.findall(r"^- `(prof [^`]*)`: ", section(prof.run("report", "--summary", recorded).stdout, "Look deeper"), re.MULTILINE)
    assert len(commands) == 5
    for command in commands:
        assert prof(*command.split()[1:]).returncode == 0, command


def test_it_is_bounded_by_the_number_of_lines(prof, recorded):
    for lines in (20, 35, 100):
        assert len(prof.run("report", f"--summary={lines}", recorded).stdout.splitlines()) <= lines
    result = prof("report", "--summary=5", recorded)
    assert result.returncode == 2 and "at least 20 lines" in result.stderr


def test_o_writes_it_to_a_file(prof, recorded):
    prof.run("convert", recorded, "-o", "run.md")
    assert headings((prof.folder / "run.md").read_text(encoding="utf-8")) == HEADINGS


def test_waits_and_allocations_are_in_it(prof, target):
    prof.run("record", "-q", "--wall", "-o", "waits.pb.gz", "--", target("waits"), "0.3")
    assert re.search(r"^- \S+ \S+ `\w+`: \\\[\w+", section(prof.run("report", "--summary", "waits.pb.gz").stdout, "Waits"), re.MULTILINE)


def test_it_summarizes_the_selected_samples(prof):
    (prof.folder / "in.folded").write_text("a;main;parse 30\na;main;draw 10\nb;main;write 60\n", encoding="utf-8")
    rows = section(prof.run("report", "--summary", "--focus", "^a$", "in.folded").stdout, "Where it goes")
    assert "| 75.0 % | 30 | `parse` | |" in rows and "write" not in rows
    assert "regular expression" in prof("report", "--summary", "--focus", "(", "in.folded").stderr


def test_it_excludes_other_tables(prof, recorded):
    for other in (["--json"], ["--by", "thread"], ["--callers", "half"]):
        result = prof("report", "--summary", *other, recorded)
        assert result.returncode == 2 and "exclude each other" in result.stderr
