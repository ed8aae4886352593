"""Data that CPUs record with samples: taken branches, call stacks of branches, and data sources of memory accesses. Few
test machines support this, so most tests use synthetic files, and compare with perf."""

import json
import re
import subprocess
from collections import Counter

import pytest

import perf_data
from lacking import lacking, tool
from perf_data import (ADDR, BRANCH_ANY, BRANCH_CALL_STACK, BRANCH_HW_INDEX, BRANCH_STACK, BRANCH_TYPE_SAVE, BRANCH_USER,
                       CONTEXT_KERNEL, CONTEXT_USER, DATA_SRC, MISC_KERNEL, MISC_USER, SAMPLE_ID_ALL, WEIGHT, WEIGHT_STRUCT,
                       branch, branches, comm, mmap, sample, words)
from profiles import Pprof, Stacks

START = 0x555555554000
KERNEL = 0xFFFFFFFF81000010
KERNEL_FRAME = "[kernel.kallsyms+0xffffffff81000010]"


class Program:
    """A program with symbols that is mapped at START, and the addresses of its functions."""

    def __init__(self, path):
        self.path = path
        # vaddr and offset of the code.
        segment = re.search(r"LOAD +0x(\w+) 0x(\w+) \S+ 0x(\w+) \S+ R E", self.run("readelf", "-lW"))
        offset, vaddr, self.size = (int(number, 16) for number in segment.groups())
        self.offset = offset
        self.at = {name: START + int(address, 16) - vaddr + offset
                   for address, name in re.findall(r"^(\w+) [tT] (\w+)$", self.run("nm"), re.M)}

    def run(self, *command):
        return subprocess.run([tool(command[0]), *command[1:], self.path], check=True, capture_output=True, text=True).stdout

    def records(self):
        return [comm(100, 1, "app", exec=True), mmap(2, START + self.offset, self.size, str(self.path), offset=self.offset)]


@pytest.fixture
def program(target):
    return Program(target("shares"))


@pytest.fixture
def recording(prof, program):
    """recording(samples, also, …) writes perf.data."""

    def write(samples, also=BRANCH_STACK, **options):
        attr = perf_data.attr(flags=SAMPLE_ID_ALL, also=also, **options)
        path = prof.folder / "perf.data"
        path.write_bytes(perf_data.file(program.records() + samples, attrs=(attr,), features={6: perf_data.text("x86_64"), 15: b""}))
        return path

    return write


@pytest.fixture
def perf_script(prof):
    def run(fields, *options):
        return subprocess.run([tool("perf"), "script", "-f", "-i", "perf.data", "-F", fields, *options], check=True, capture_output=True,
                              text=True, cwd=prof.folder).stdout

    return run


def with_branches(program):
    """half() jumps to third() 30 times, a third of them mispredicted, and twice to fifth(). third() enters the kernel
    once."""
    at = program.at
    there = [branch(at["half"] + 4, at["third"] + 8, mispredicted=number % 3 == 0, cycles=10, type=1) for number in range(30)]
    rare = [branch(at["half"] + 8, at["fifth"], mispredicted=True, cycles=31, type=4)] * 2
    others = [branch(at["third"] + 9, KERNEL, in_transaction=True, aborted=True), branch(0, at["main"])]
    return [sample(100, 10, [CONTEXT_USER, at["half"] + 4], misc=MISC_USER, ip=at["half"] + 4, behind=branches(*there)),
            sample(100, 20, [CONTEXT_USER, at["third"] + 12], misc=MISC_USER, ip=at["third"] + 12, behind=branches(*rare, *others))]


@pytest.fixture
def pprof(prof, program, recording):
    """The pprof profile of those."""
    recording(with_branches(program), branch_type=BRANCH_ANY | BRANCH_TYPE_SAVE)
    result = prof.run("convert", "perf.data", "-o", "out.pb.gz")
    assert "2 samples, 0 lost" in result.stderr
    return Pprof.read(prof.folder / "out.pb.gz")


def branches_of(pprof):
    """Returns (function, function, prediction) → (number, cycles)."""
    types = [name for name, _ in pprof.sample_types()]
    found = {}
    for each in pprof.message.sample:
        if not each.value[types.index("taken-branches")]:
            continue
        ends = [pprof.locations[location] for location in reversed(each.location_id)]
        names = [pprof.strings[pprof.functions[end.line[-1].function_id].name] for end in ends]
        labels = {pprof.strings[label.key]: pprof.strings[label.str] for label in each.label}
        cycles = each.value[types.index("branch-cycles")] if "branch-cycles" in types else 0
        found[(*names, *(labels.get(key, "-") for key in ("branch", "branch_type", "transaction")))] = (
            each.value[types.index("taken-branches")], cycles)
    return found


def branches_of_perf(script):
    """The same from perf script -F brstacksym, without branches that have an unknown end."""
    found = Counter(), Counter()
    words = {"M": "mispredicted", "P": "predicted", "-": "-"}
    for source, target, predicted, inside, aborted, cycles, type in re.findall(r"(\S+?)/(\S+?)/([MP-])/([X-])/([A-])/(\d+)/(\w*)", script):
        names = [KERNEL_FRAME if "unknown" in end and end is target else end.split("+")[0] for end in (source, target)]
        key = (*names, words[predicted], type or "-", "aborted" if aborted == "A" else "inside" if inside == "X" else "-")
        if "[unknown]" not in key:
            found[0][key] += 1
            found[1][key] += int(cycles)
    return {key: (number, found[1][key]) for key, number in found[0].items()}


def test_branches_are_samples_of_their_own_in_pprof(pprof, perf_script):
    expected = branches_of_perf(perf_script("ip,sym,brstacksym"))
    assert expected["half", "third", "mispredicted", "COND", "-"] == (10, 100)
    assert branches_of(pprof) == expected
    types = [name for name, _ in pprof.sample_types()]
    assert types[:2] == ["samples", "cpu"]
    assert sum(each.value[0] for each in pprof.message.sample) == 2, "the samples stay as they are without branches"


def test_functions_have_the_branches_that_perf_report_counts(prof, pprof):
    said = subprocess.run([tool("perf"), "report", "-f", "-i", "perf.data", "--branch-stack", "--stdio", "-n"], check=True, capture_output=True,
                          text=True, cwd=prof.folder).stdout
    rows = re.findall(r"^ +[\d.]+% +(\d+) .*\[.\] (\w+) +\[.\] (\w+) +(\d+|-) *$", said, re.M)
    expected = {(source, target): (int(number), cycles) for number, source, target, cycles in rows if not source.startswith("0")}
    found = Counter()
    for (source, target, *_), (number, _) in branches_of(pprof).items():
        found[source, target.replace("[kernel.kallsyms+", "").rstrip("]")] += number
    assert found == {ends: number for ends, (number, _) in expected.items()}
    assert expected["half", "third"] == (30, "10")


@pytest.mark.parametrize("entries, index", [(1, None), (16, 15), (31, 0)])
def test_any_number_of_branches_is_read(prof, program, recording, perf_script, entries, index):
    at = program.at
    taken = branches(*[branch(at["half"], at["third"], mispredicted=False)] * entries, hw_index=index)
    recording([sample(100, 10, [CONTEXT_USER, at["half"]], misc=MISC_USER, ip=at["half"], behind=taken)],
              branch_type=BRANCH_ANY | (0 if index is None else BRANCH_HW_INDEX))
    assert prof("convert", "perf.data", "-o", "out.pb.gz").returncode == 0
    found = branches_of(Pprof.read(prof.folder / "out.pb.gz"))
    assert found == branches_of_perf(perf_script("ip,sym,brstacksym")) == {("half", "third", "predicted", "-", "-"): (entries, 0)}


ROW = re.compile(r"^ +([\d,]+) +([\d.]+ %|-) +([\d.]+|-)  (\S+) \((\S+)\) +(\S+)(?: \((\S+)\))?$", re.M)


def test_a_report_of_branches_has_a_row_for_each_pair_of_places(prof, pprof):
    report = prof("report", "--branches", "out.pb.gz").stdout
    rows = [row[:4] + row[5:6] for row in ROW.findall(report)]
    assert rows == [("30", "33.3 %", "10.0", "half", "spin"), ("2", "100.0 %", "31.0", "spin", "fifth"), ("1", "-", "-", "spin", KERNEL_FRAME)]
    assert all(re.fullmatch(r"(work\.h|shares\.c):\d+", row[4]) for row in ROW.findall(report))
    assert re.search(r"^ +33 +37.5 % +11.0  all 3 pairs of places$", report, re.M)
    assert "\n  taken-branches: 33: prof report --branches\n" in prof("report", "out.pb.gz").stdout


def test_json_has_the_branches_with_their_places(prof, pprof):
    report = json.loads(prof("report", "--branches", "--json", "out.pb.gz").stdout)
    assert (report["event"], report["taken"], report["mispredicted"], report["cycles"]) == ("taken-branches", 33, 12, 362)
    assert [(row["from"]["name"], row["to"]["name"], row["taken"], row.get("mispredicted_share")) for row in report["branches"]] == [
        ("half", "spin", 30, 0.3333), ("spin", "fifth", 2, 1), ("spin", KERNEL_FRAME, 1, None)]
    assert report["branches"][0]["from"]["file"].endswith("shares.c") and report["branches"][0]["from"]["line"] > 0


def test_branches_are_selected_like_samples(prof, pprof):
    def taken(*options):
        return [row["taken"] for row in json.loads(prof("report", "--branches", "--json", *options, "out.pb.gz").stdout)["branches"]]

    assert taken("--label", "branch=mispredicted") == [10, 2]
    assert taken("--focus", "fifth") == [2]
    assert taken("--limit", "1") == [30]
    assert taken("--min", "50") == [30]
    assert taken("--comm", "other") == []


def test_a_recording_is_summed_up_with_its_branches(prof, pprof, recording):
    said = prof("convert", "perf.data", "-o", "again.pb.gz").stderr
    assert "prof: 33 taken branches, 37.5 % mispredicted (prof report --branches)\n" in said
    assert "total  taken-branches" not in said


def test_a_profile_without_branches_says_how_to_record_them(prof):
    (prof.folder / "in.folded").write_text("main;f 1\n", encoding="ascii")
    result = prof("report", "--branches", "in.folded")
    assert result.returncode == 1
    assert "in.folded has no taken branches" in result.stderr and "prof record -b" in result.stderr


def test_branches_choose_the_event_and_the_frames(prof, pprof):
    for other in ["--leaks"], ["-e", "cpu"], ["--logical"]:
        assert prof("report", "--branches", *other, "out.pb.gz").returncode == 2


def test_the_page_shows_where_the_branches_of_a_function_go(prof, pprof, browser):
    assert prof("convert", "out.pb.gz", "-o", "page.html").returncode == 0
    page = browser.open(f"file://{prof.folder}/page.html")
    page.until("document.documentElement.dataset.ready")
    page.value("prof.go({fn: prof.full.indexOf('half')})")
    page.until("document.querySelector('#details .branches') !== null")
    rows = page.value("[...document.querySelectorAll('#details .branches tbody tr')].map((row) => row.innerText.split('\\t'))")
    assert [row[1:4] + [row[4].split(":")[0]] for row in rows] == [["30", "33.3%", "10.0", "spin"]]
    page.value("document.querySelector('#details .branches button').click()")
    page.until("document.querySelector('#details h2').innerText === 'spin'")
    names = page.value("[...document.querySelectorAll('#details .branches tbody tr')].map((row) => row.innerText.split('\\t')[4])")
    assert [name.split(":")[0] for name in names] == ["fifth", KERNEL_FRAME]
    assert page.problems == []
    page.close()


CALL_STACK = BRANCH_USER | BRANCH_CALL_STACK


def calls(program, *names):
    """The entries of an LBR call stack. names[0] was called last."""
    at = [program.at[name] for name in names]
    return branches(*(branch(caller + 4, callee) for callee, caller in zip(at, at[1:])))


def chains_of_perf(script):
    """Returns the functions of each sample of perf script -F ip,sym, root first."""
    return [tuple(re.findall(r"^\s+[0-9a-f]+ (\S+)", sample, re.M)[::-1]) for sample in script.split("\n\n") if sample.strip()]


@pytest.mark.parametrize("chain, misc", [([CONTEXT_USER], MISC_USER), ([CONTEXT_KERNEL, KERNEL, CONTEXT_USER], MISC_KERNEL)])
def test_the_user_part_of_an_lbr_call_stack_is_its_calls(prof, program, recording, perf_script, chain, misc):
    """The chain along frame pointers has the pc and then a wrong address."""
    at = program.at
    taken = calls(program, "third", "fifth", "half", "main")
    recording([sample(100, 10, [*chain, at["third"] + 8, 1], misc=misc,
                      ip=KERNEL if misc == MISC_KERNEL else at["third"] + 8, behind=taken)], branch_type=CALL_STACK)
    assert prof("convert", "perf.data", "-o", "out.folded").returncode == 0
    (stack,) = Stacks.read(prof.folder / "out.folded").counts
    (expected,) = chains_of_perf(perf_script("ip,sym"))
    kernel = [KERNEL_FRAME] if misc == MISC_KERNEL else []
    # spin() is inlined.
    assert [name for name in stack[1:] if name != "spin"] == ["main", "half", "fifth", "third", *kernel]
    assert expected == ("main", "half", "fifth", "third", *["[unknown]" for _ in kernel])


def test_calls_that_fill_the_registers_of_a_cpu_are_truncated(prof, program, recording):
    at = program.at

    def deep(time, depth):
        return sample(100, time, [CONTEXT_USER, at["third"]], misc=MISC_USER, ip=at["third"],
                      behind=calls(program, "third", *["half"] * depth))

    recording([deep(10, 32), deep(20, 16)], branch_type=CALL_STACK)
    result = prof("convert", "perf.data", "-o", "out.folded")
    assert sorted((len(stack), stack[1]) for stack in Stacks.read(prof.folder / "out.folded").counts) == [
        (18, "half"), (35, "[truncated]")]
    assert "1 truncated" in result.stderr


def test_without_calls_the_chain_along_frame_pointers_is_the_stack(prof, program, recording):
    at = program.at
    recording([sample(100, 10, [CONTEXT_USER, at["third"], at["main"] + 4], misc=MISC_USER, ip=at["third"], behind=branches())],
              branch_type=CALL_STACK)
    assert prof("convert", "perf.data", "-o", "out.folded").returncode == 0
    assert list(Stacks.read(prof.folder / "out.folded").counts) == [("app", "main", "third")]


def source(access=1, level=1, snoop=1, lock=1, tlb=1, number=0, remote=0):
    """A union perf_mem_data_src; 1 is "not available"."""
    return access | level << 5 | snoop << 19 | lock << 24 | tlb << 26 | number << 33 | remote << 37


LOAD, STORE, HIT, MISS, L1, LFB, L3, LOCAL_RAM, WALKER = 2, 4, 2, 4, 8, 0x10, 0x40, 0x80, 0x20
SOURCES = {
    "L1 hit": source(LOAD, HIT | L1, tlb=HIT | L1 | 0x10),
    "LFB hit": source(STORE, HIT | LFB, snoop=2),
    "L3 miss": source(LOAD, MISS | L3, snoop=0x10, lock=2, tlb=MISS | 0x10),
    "Local RAM hit": source(LOAD, HIT | LOCAL_RAM, snoop=8, tlb=HIT | WALKER),
    "RAM hit": source(LOAD, HIT, number=0xD),
    "Remote RAM hit": source(LOAD, HIT, number=0xD, remote=1),
    "L4 hit": source(LOAD, HIT, number=4),
}


def labelled(pprof, type):
    """Returns the value of each label of a data source."""
    index = [name for name, _ in pprof.sample_types()].index(type)
    found = Counter()
    for each in pprof.message.sample:
        labels = {pprof.strings[label.key]: pprof.strings[label.str] for label in each.label}
        found[tuple(labels.get(key) for key in ("access", "mem", "snoop", "tlb", "locked"))] += each.value[index]
    return found


def sources_of_perf(script):
    """The same labels and their numbers from perf script -F data_src."""
    script = script.replace("LFB/MAB", "LFB")  # Newer releases combine the names of Intel and AMD.
    fields = re.findall(r"\|OP (.+?)\|LVL (.+?)\|SNP (.+?)\|TLB (.+?)\|LCK (.+?)(?:\||\s*$)", script, re.M)
    return Counter((*(None if text == "N/A" else text for text in (access, level, snoop, tlb)), "yes" if lock == "Yes" else None)
                   for access, level, snoop, tlb, lock in fields)


@pytest.mark.parametrize("kind", [WEIGHT, WEIGHT_STRUCT])
def test_where_data_was_found_is_labels_and_its_latency_an_event(prof, program, recording, perf_script, kind):
    at, above = program.at, 0 if kind == WEIGHT else 77 << 32 | 5 << 48
    recording([sample(100, 10 + number, [CONTEXT_USER, at["half"]], misc=MISC_USER, ip=at["half"], addr=0x7000 + number,
                      behind=words(100 * number | above, value)) for number, value in enumerate([*SOURCES.values(), source()])],
              also=ADDR | kind | DATA_SRC)
    assert prof("convert", "perf.data", "-o", "out.pb.gz").returncode == 0
    pprof = Pprof.read(prof.folder / "out.pb.gz")
    known = labelled(pprof, "samples")
    assert known == sources_of_perf(perf_script("ip,data_src"))
    assert {labels[1]: number for labels, number in known.items()} == {**dict.fromkeys(SOURCES, 1), None: 1}
    latencies = {labels[1]: cycles for labels, cycles in labelled(pprof, "mem-latency").items()}
    assert latencies == {level: 100 * number for number, level in enumerate([*SOURCES, None])}
    report = prof("report", "out.pb.gz", "-e", "mem-latency", "--by", "label:mem", "--no-tree").stdout
    assert re.search(r" 21.4 % .* RAM hit$", report, re.M) is None  # 400 of 2,800
    assert re.search(r" 14.3 % .* RAM hit$", report, re.M)


def refused(prof, *options):
    """Returns the message of a refusal. On machines with the registers, the test is skipped."""
    result = prof("record", *options, "-o", "out.folded", "--", "true")
    if result.returncode == 0:
        lacking("a machine without branch records")
    assert result.returncode == 1 and list(prof.folder.glob("out*")) == []
    return result.stderr


@pytest.mark.parametrize("options, way", [(["-b"], "without -b"), (["-j", "ind_call,u"], "try -b"), (["--call-graph", "lbr"], "--call-graph dwarf"),
                                          (["-b", "-e", "cpu-clock"], "without -b")])
def test_a_machine_without_branch_records_says_so_and_what_works(prof, options, way):
    message = refused(prof, *options)
    assert "cannot record branches with " in message and "branch records" in message and way in message


def test_data_sources_can_be_asked_for_of_any_event(prof, target):
    """For a clock, the kernel reports that there are none."""
    recording = prof.record("-d", "-e", "cpu-clock", "--", target("shares"), "0.1")
    assert "mem-latency" not in [name for name, _ in recording.pprof.sample_types()]
    assert recording.stacks.share("main") > 0.9
