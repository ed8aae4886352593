"""prof annotate: samples per source line and instruction of a function."""

import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, SOURCE
from profiles import Pprof

PROGRAM = """\
#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t sink;

__attribute__((noinline)) static void spin(uint64_t turns)
{
	while (turns--)
		sink += turns;
}

__attribute__((noinline)) static void thrice(uint64_t turns)
{
	sink = 0;
	spin(turns);
	sink = 1;
	sink = 2;
	sink = 3;
	sink = 4;
	sink = 5;
	sink = 6;
	sink = 7;
	sink = 8;
	sink = 9;
	spin(2 * turns);
}

int main(void)
{
	for (int i = 0; i < 30000; i++)
		thrice(3000);
	return 0;
}
"""
FIRST_CALL, SECOND_CALL, SPIN_LINE = 15, 25, 9


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A directory with a program, its source and a recording of it."""
    folder = tmp_path_factory.mktemp("annotate")
    (folder / "calls.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-g", "-O1", "-o", "calls", "calls.c"], cwd=folder, check=True)
    subprocess.run([BUILD / "cmd" / "prof", "record", "-q", "-F", "997", "./calls"], cwd=folder, check=True)
    return folder


@pytest.fixture
def annotate(prof, recorded):
    def run(*words, folder=recorded, status=0):
        result = prof("annotate", *words, cwd=folder)
        assert result.returncode == status, result.stderr
        return result.stdout if status == 0 else result.stderr

    return run


@pytest.fixture
def read(annotate):
    return lambda *words: json.loads(annotate(*words, "--json"))


@pytest.fixture
def folded_file(prof):
    return lambda text: (prof.folder / "in.folded").write_text(text)


def line_shares(shown):
    """line → (self, total) of the lines with samples."""
    found = re.findall(r"^([ 0-9.%]{7}) ([ 0-9.%]{7})  +(\d+)(?:  |$)", shown, re.MULTILINE)
    return {int(line): tuple(float(share.strip(" %") or 0) for share in (own, total))
            for own, total, line in found if own.strip() or total.strip()}


def share_through(profile, name, number):
    """Returns the percentage of the weight whose stack contains this line of a function."""
    def holds(sample):
        return any(profile.strings[profile.functions[line.function_id].name] == name and line.line == number
                   for id in sample.location_id for line in profile.locations[id].line)

    weights = [(sample.value[1], holds(sample)) for sample in profile.message.sample]
    return 100 * sum(weight for weight, held in weights if held) / sum(weight for weight, _ in weights)


def test_calls_count_in_the_total_of_their_line_but_not_in_its_self(annotate, recorded):
    """The output is compared with the samples, because the number of samples of each call is random."""
    shares = line_shares(annotate("thrice"))
    profile = Pprof.read(recorded / "prof.pb.gz")
    for call in FIRST_CALL, SECOND_CALL:
        own, total = shares[call]
        assert total == pytest.approx(share_through(profile, "thrice", call), abs=0.051)
        assert total > 10 and own < 5


def test_source_lines_have_shares_and_distant_lines_are_omitted(annotate):
    shown = annotate("thrice")
    assert "spin(2 * turns);" in shown and "static void thrice(uint64_t turns)" in shown
    lines = [int(line) for line in re.findall(r"^[ 0-9.%]{7} [ 0-9.%]{7}  +(\d+)(?:  |$)", shown, re.MULTILINE)]
    assert lines and all(any(abs(line - sampled) <= 3 for sampled in line_shares(shown)) for line in lines)
    assert "…" in shown and "sink = 5" in annotate("thrice", "-C", 20)


def test_the_hot_lines_have_the_self_weight(annotate):
    shares = line_shares(annotate("spin"))
    assert sum(own for own, _ in shares.values()) > 90
    assert set(shares) <= {SPIN_LINE - 2, SPIN_LINE - 1, SPIN_LINE, SPIN_LINE + 1}


def test_json_has_the_lines_and_totals_of_the_function(read):
    answer = read("thrice")
    assert answer["schema"] == "prof-annotate/1"
    assert answer["function"]["name"] == "thrice" and answer["function"]["file"].endswith("calls.c")
    totals = {line["line"]: line["total"]["samples"] for line in answer["lines"]}
    assert totals[FIRST_CALL] + totals[SECOND_CALL] <= answer["all"]["samples"]
    assert answer["function"]["total"]["samples"] >= 0.95 * answer["all"]["samples"]
    assert "instructions" not in answer


def test_shares_of_instructions_add_up_to_that_of_the_function(prof, recorded):
    result = prof("annotate", "spin", "--asm", "--json", cwd=recorded)
    if "built without capstone" in result.stderr:
        pytest.skip("built without capstone")
    answer = json.loads(result.stdout)
    instructions = answer["instructions"]
    assert sum(each["self"]["samples"] for each in instructions) == answer["function"]["self"]["samples"]
    for one, following in zip(instructions, instructions[1:]):
        assert one["address"] + one["size"] == following["address"]
    shown = prof("annotate", "thrice", "--asm", cwd=recorded).stdout
    assert re.search(r"% +[0-9a-f]+  call.*<spin> +calls.c:25$", shown, re.MULTILINE), shown
    intel = prof("annotate", "thrice", "--asm", "-M", "intel", cwd=recorded).stdout
    assert "%rdi" in shown and "%rdi" not in intel and "rdi" in intel


def test_a_function_without_a_symbol_has_instructions(prof, target):
    prof.record("-F", "997", "--", target("shares_stripped"), "0.3")
    hottest = json.loads(prof("report", "record.pb.gz", "--module", "shares_stripped", "--json", "-n", 1).stdout)["rows"][0]
    result = prof("annotate", "record.pb.gz", hottest["name"], "--asm", "--json")
    if "built without capstone" in result.stderr:
        pytest.skip("built without capstone")
    instructions = json.loads(result.stdout)["instructions"]
    assert hottest["name"] == f"[shares_stripped+{instructions[0]['address']:#x}]"
    assert sum(each["self"]["samples"] for each in instructions) == hottest["self"]["samples"]


def test_code_is_read_from_the_recorded_program_only(prof, recorded, tmp_path):
    for name in ("calls.c", "prof.pb.gz"):
        shutil.copy2(recorded / name, tmp_path)
    # Another program has the same name in the place where the recorded one is searched for.
    (tmp_path / "other.c").write_text("int main(void) { return 1; }")
    other = tmp_path / recorded.relative_to("/") / "calls"
    other.parent.mkdir(parents=True)
    subprocess.run(["gcc", "-o", other, tmp_path / "other.c"], check=True)
    result = prof("annotate", "spin", "--asm", "--symfs", tmp_path, cwd=tmp_path)
    assert result.returncode == 1
    assert "another file than the recorded one" in result.stderr


def test_sources_are_found_in_the_source_directory(annotate, recorded, tmp_path):
    elsewhere = tmp_path / "sources"
    elsewhere.mkdir()
    (elsewhere / "calls.c").write_text(PROGRAM.replace("sink = 9", "sink = 99"))
    shown = annotate("thrice", "--source-dir", elsewhere)
    assert "sink = 99" in shown and "(changed since it was recorded)" in shown
    missing = annotate("thrice", "--source-dir", tmp_path / "nowhere")
    assert "was not found" in missing and line_shares(missing)[SECOND_CALL][1] > 50
    assert str(recorded) in missing


def test_a_function_is_found_by_a_short_form_of_its_name(prof, folded_file):
    words = "std::vector<int, std::allocator<int> >::push_back(int&&)"
    folded_file(f"app;main;{words} 3\napp;main;hold_back 2\n")
    for name in (words, "push_back", "vector::push_back", "std::vector::push_back", "push_"):
        result = prof("annotate", "in.folded", name)
        assert result.returncode == 0 and "std::vector" in result.stdout, result.stderr
    assert '"back$|push" matches 2 functions' in prof("annotate", "in.folded", "back$|push").stderr


def test_an_ambiguous_function_is_an_error(prof, folded_file):
    folded_file("app;main;parse_one 3\napp;main;parse_two 2\napp;parse_three 1\n")
    result = prof("annotate", "in.folded", "parse")
    assert result.returncode == 1
    assert result.stderr.splitlines() == ['prof: "parse" matches 3 functions', "  parse_one", "  parse_two",
                                          "  parse_three"]
    assert "no function with samples" in prof("annotate", "in.folded", "nobody").stderr
    assert prof("annotate").returncode == 2


def test_the_file_may_follow_the_function(prof, folded_file):
    folded_file("app;main;parse 3\n")
    assert prof("annotate", "parse", "in.folded").stdout == prof("annotate", "in.folded", "parse").stdout != ""
    result = prof("annotate", "in.folded")
    assert result.returncode == 2 and "prof annotate in.folded FUNCTION" in result.stderr
    assert "open nowhere.pb.gz" in prof("annotate", "nowhere.pb.gz", "parse").stderr
    (prof.folder / "parse").mkdir()
    assert "parse" in prof("annotate", "parse", "in.folded").stdout


def test_a_function_may_have_the_name_of_a_file(prof, folded_file):
    folded_file("app;main;parse 3\n")
    (prof.folder / "in.folded").rename(prof.folder / "prof.pb.gz")  # recognized by its contents
    (prof.folder / "parse").touch()
    assert "parse" in prof("annotate", "parse").stdout


def test_kernel_code_is_refused_with_the_reason(prof):
    prof.record("--", "dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=10000")
    hottest = json.loads(prof("report", "record.pb.gz", "--module", "[kernel]", "--json", "-n", 1).stdout)["rows"]
    if not hottest:
        pytest.skip("the kernel is not ours to sample")
    result = prof("annotate", "record.pb.gz", hottest[0]["name"], "--asm")
    assert result.returncode == 1
    assert "the kernel's code is not in a file" in result.stderr and "perf annotate" in result.stderr


def test_a_profile_without_line_numbers_is_an_error_with_advice(prof, folded_file):
    folded_file("app;main;parse 3\n")
    shown = prof("annotate", "in.folded", "parse").stdout
    assert "its source is unknown; --asm shows the instructions" in shown
    asm = prof("annotate", "in.folded", "parse", "--asm")
    assert asm.returncode == 1 and "the file with the code of" in asm.stderr


def test_a_go_profile_is_annotated_by_line_number(prof):
    shown = prof("annotate", SOURCE / "tests" / "golden" / "go_cpu.pb.gz", "main.spin").stdout
    assert "was not found" in shown and line_shares(shown)


SOURCES = {"zeros": b"\x00binary", "sequences": b"\x1b[31mred\n" * 30, "no UTF-8": b"\xff" * 100, "nothing": b"",
           "one line": b"x" * (1 << 20)}


def test_a_source_file_may_have_any_content(annotate, tmp_path):
    for content in SOURCES.values():
        (tmp_path / "calls.c").write_bytes(content)
        shown = annotate("thrice", "--source-dir", tmp_path)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)
        assert max(map(len, shown.splitlines())) <= 200


def test_a_source_must_be_a_regular_file(annotate, tmp_path):
    os.mkfifo(tmp_path / "calls.c")
    assert "was not found" in annotate("thrice", "--source-dir", tmp_path)
