"""The names of functions: short in tables, full in files, the same in every output."""

import gzip
import json
import re

import pytest

from profiles import Pprof, Stacks

VEC = "<alloc::vec::Vec<{0}> as core::iter::traits::collect::Extend<{0}>>::extend"
STACKS = f"""\
shop;_start;shop::main;{VEC.format("u8")} 30
shop;_start;shop::main;{VEC.format("u16")} 20
shop;_start;shop::main;shop::cart::total::<f64> 15
shop;_start;shop::main;shop::cart::total::<f32> 10
shop;_start;shop::main;<u8 as core::slice::cmp::SliceOrd>::compare 10
shop;_start;shop::main;<A as core::slice::cmp::SliceOrd>::compare 5
shop;_start;shop::main;std::vector<int, std::allocator<int> >::push_back(int const&) 5
shop;_start;shop::main;malloc 5
"""
FULL = {line.rsplit(" ", 1)[0].split(";")[-1] for line in STACKS.splitlines()} | {"_start", "shop::main"}
SHORT = {"_start", "shop::main", "Vec<u8>::extend", "Vec<u16>::extend", "shop::cart::total<f64>", "shop::cart::total<f32>",
         "<u8 as SliceOrd>::compare", "SliceOrd::compare", "std::vector<int>::push_back", "malloc"}
NO_GENERICS = {"_start": 0, "shop::main": 0, "Vec::extend": 50, "shop::cart::total": 25, "<u8 as SliceOrd>::compare": 10, "SliceOrd::compare": 5,
               "std::vector::push_back": 5, "malloc": 5}


@pytest.fixture
def stacks(prof):
    path = prof.folder / "in.folded"
    path.write_text(STACKS, encoding="utf-8")
    return path


def report(prof, *options):
    result = prof.run("report", "in.folded", "--json", "--min", "0", *options)
    return {row["name"]: row["self"]["weight"] for row in json.loads(result.stdout)["rows"]}


def table(prof, *options):
    result = prof("report", "in.folded", "--min", "0", "--no-tree", *options, env={"COLUMNS": "200"})
    rows = [re.match(r"\s*[\d.]+ %\s+[\d.]+ %\s\S*\s*(.*?)\s*$", line) for line in result.stdout.splitlines()]
    return {row[1] for row in rows if row} | {"_start", "shop::main"}


def test_tables_have_short_names_and_json_full_ones(prof, stacks):
    assert table(prof) == SHORT
    assert set(report(prof)) == FULL


def test_the_style_can_be_chosen(prof, stacks):
    assert table(prof, "--names", "full") == FULL
    assert set(report(prof, "--names", "short")) == SHORT


def test_without_generics_the_instances_of_a_function_are_added_up(prof, stacks):
    assert report(prof, "--names", "no-generics") == NO_GENERICS


def test_the_tree_joins_instances_too(prof, stacks):
    shown = prof("report", "in.folded", "--names", "no-generics").stdout
    assert re.search(r"50\.0 % +50\.0 % +├ Vec::extend\n", shown)


def names_of_folded(path):
    return {name for stack in Stacks.read(path).counts for name in stack} - {"shop"}


def names_of_pprof(path):
    profile = Pprof.read(path)
    return {profile.strings[function.name] for function in profile.functions.values()}


def names_of_perf_script(path):
    return set(re.findall(r"^\t +[0-9a-f]+ (.*) \(.*\)$", path.read_text(encoding="utf-8"), re.MULTILINE))


def names_of_speedscope(path):
    return {frame["name"] for frame in json.loads(path.read_text(encoding="utf-8"))["shared"]["frames"]}


def names_of_firefox(path):
    profile = json.loads(gzip.decompress(path.read_bytes()))
    shared = profile.get("shared") or profile["threads"][0]
    return {shared["stringArray"][name] for name in shared["funcTable"]["name"]}


def names_of_rows(path):
    return {name for line in path.read_text(encoding="utf-8").splitlines() for name in json.loads(line)["stack"]}


READERS = {"x.ndjson": names_of_rows, "x.folded": names_of_folded, "x.pb.gz": names_of_pprof, "x.perf.txt": names_of_perf_script,
           "x.speedscope.json": names_of_speedscope, "x.firefox.json.gz": names_of_firefox}


@pytest.mark.parametrize("options, expected", [((), FULL), (("--names", "short"), SHORT),
                                               (("--names", "no-generics"), set(NO_GENERICS))], ids=["usual", "short", "no-generics"])
def test_every_file_has_the_names_of_the_report(prof, stacks, options, expected):
    outputs = [word for name in READERS for word in ("-o", name)]
    prof.run("convert", "in.folded", *outputs, *options)
    for name, read in READERS.items():
        assert expected <= read(prof.folder / name) <= expected | {"shop", "all"}, name


def test_functions_are_found_by_their_short_names_and_by_their_full_ones(prof, stacks):
    for name in "Vec<u8>::extend", VEC.format("u8"):
        shown = prof("report", "in.folded", "--callers", name)
        assert shown.returncode == 0 and "30.0 %" in shown.stdout and "20.0 %" not in shown.stdout
    for pattern in "^Vec<u", "alloc::vec::Vec<u":
        assert "selected: 50 samples" in prof("report", "in.folded", "--focus", pattern).stdout


def test_a_difference_joins_instances_and_has_short_names(prof, stacks):
    (prof.folder / "new.folded").write_text(STACKS.replace("extend 30", "extend 900"), encoding="utf-8")
    rows = json.loads(prof("diff", "in.folded", "new.folded", "--json", "--names", "no-generics").stdout)["functions"]
    assert [row["name"] for row in rows].count("Vec::extend") == 1
    assert "Vec<u8>::extend" in prof("diff", "in.folded", "new.folded").stdout


def test_an_unknown_style_is_an_error_that_lists_the_styles(prof, stacks):
    result = prof("report", "in.folded", "--names", "long")
    assert result.returncode == 2 and 'unknown style of names "long" (short, full, no-generics)' in result.stderr
