"""#include lines must follow the layers of ARCHITECTURE.md."""

import re
from graphlib import TopologicalSorter

import pytest

from conftest import SOURCE

# The folders that each folder of lib/ may include, in addition to base. cmd/ may include every stage.
ALLOWED = {
    "base": set(),
    "sandbox": set(),
    "runtime": {"elf", "proc"},
    "perf": {"runtime"},
    "perfdata": {"perf"},
    "heapfile": set(),
    "elf": set(),
    "debuginfod": {"elf", "sandbox"},
    "proc": {"elf"},
    "inside": {"elf", "perf", "proc"},
    "unwind": {"elf", "proc"},
    "waiting": {"proc", "runtime"},
    "profile": set(),
    "dwarf": {"elf"},
    "symbol": {"dwarf", "elf", "proc", "profile", "sandbox", "unwind"},
    "tasks": {"dwarf", "elf", "proc", "sandbox", "symbol"},
    "report": {"profile"},
    "probe": {"dwarf", "elf", "proc", "report", "sandbox", "symbol"},
    "format": {"profile", "report"},
    "output": {"format", "profile"},
    "segments": {"format", "output", "profile", "symbol"},
    "push": {"format", "output", "profile", "report", "sandbox"},
    "record": {"debuginfod", "heapfile", "inside", "perf", "perfdata", "probe", "proc", "runtime", "unwind", "profile", "symbol", "tasks", "waiting"},
    "doctor": {"debuginfod", "elf", "inside", "perf", "proc", "profile", "record", "symbol"},
    "serve": {"format", "output"},
}

# External headers, and the source files that may include them.
CONFINED = {
    r"linux/(audit|filter|seccomp)\.h": r"lib/(sandbox/syscall_filter|inside/library/hooks)\.c",
    r"linux/bpf\.h": r"lib/symbol/ksym\.c|lib/perf/bpf\.h",
    r"linux/perf_event\.h": r"lib/perf(data)?/",
    r"libelf\.h|gelf\.h|elfutils/.*": r"lib/symbol/libdw\w*\.[ch]|tests/",
    r"dwarf\.h": r"lib/unwind/|lib/dwarf/|lib/symbol/libdw\w*\.c",
    r"zlib\.h": r"lib/base/(gzip|unpack)\.c",
    r"libdeflate\.h|lzma\.h": r"lib/base/unpack\.c",
    r"isa-l/.*": r"lib/base/gzip\.c",
    r"curses\.h|term\.h": r"cmd/ui/(terminal|terminal_restore)\.c",
    r"zstd\.h": r"lib/base/unpack\.c|lib/perfdata/inflater\.c",
    r"capstone/.*": r"lib/elf/disassembly\.c",
    r"microhttpd\.h": r"lib/serve/library\.h",
    r"libiberty/.*|demangle\.h": r"lib/symbol/demangle\.c",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
FILES = sorted(path for folder in ("lib", "cmd") for path in (SOURCE / folder).rglob("*.[ch]"))


def includes(path):
    """(own, header) for each include of a file."""
    return [(quote == '"', header) for quote, header in INCLUDE.findall(path.read_text())]


def stage_of_file(path):
    return path.relative_to(SOURCE / "lib").parts[0]


def stage_of_header(header):
    """base/error.h belongs to base."""
    return header.split("/")[0]


def module_of_header(path, header):
    """Returns the stem of the file that an include names ("lib/base/error"), or None if the header is generated."""
    for folder in (SOURCE / "lib", SOURCE, path.parent):
        if (folder / header).is_file():
            return str((folder / header).relative_to(SOURCE).with_suffix(""))
    return None


def module_dependencies():
    found = {}
    for path in FILES:
        module = str(path.relative_to(SOURCE).with_suffix(""))
        included = {module_of_header(path, header) for own, header in includes(path) if own}
        found.setdefault(module, set()).update(included - {module, None})
    return found


def dependencies():
    found = {}
    for path in FILES:
        if path.is_relative_to(SOURCE / "lib"):
            stages = {stage_of_header(header) for own, header in includes(path) if own}
            found.setdefault(stage_of_file(path), set()).update(stages & ALLOWED.keys())
    return {stage: stages - {stage} for stage, stages in found.items()}


@pytest.mark.parametrize("stage", ALLOWED)
def test_a_stage_includes_only_what_it_may(stage):
    assert dependencies()[stage] <= ALLOWED[stage] | {"base"}


def test_every_folder_of_lib_is_a_known_stage():
    assert dependencies().keys() == ALLOWED.keys()


def test_there_are_no_cycles_between_stages():
    list(TopologicalSorter(dependencies()).static_order())


def test_there_are_no_cycles_between_modules():
    list(TopologicalSorter(module_dependencies()).static_order())


def test_the_session_includes_only_the_record_header_of_perf():
    for name in ("record/session.c", "record/session.h"):
        seen = {header for _, header in includes(SOURCE / "lib" / name) if header.startswith("perf/")}
        assert seen <= {"perf/record.h"}


@pytest.mark.parametrize("header", CONFINED)
def test_untrusted_headers_stay_where_they_belong(header):
    for path in FILES:
        name = str(path.relative_to(SOURCE))
        for own, included in includes(path):
            if not own and re.fullmatch(header, included):
                assert re.match(CONFINED[header], name), f"{name} includes <{included}>"


def test_a_file_includes_its_own_header_first():
    for path in FILES:
        header = path.with_suffix(".h")
        if path.suffix == ".c" and header.exists():
            assert includes(path)[0][1].endswith(header.name), path


def test_only_commands_print_and_exit():
    speaking = re.compile(r"(?<![\w.>])(printf|puts|perror|fprintf\s*\(\s*std\w+|exit|_exit)\s*\(")
    for path in (SOURCE / "lib").rglob("*.c"):
        if path.name != "alloc.c":  # running out of memory ends the program in one place
            code = re.sub(r"/\*.*?\*/|\"(\\.|[^\"\\])*\"", "", path.read_text(), flags=re.DOTALL)
            # Children that end without executing another program, and processes that end by signals, from which pid 1
            # is exempt.
            if path.name in ("forked_child.c", "worker_main.c", "signal_guard.c"):
                code = code.replace("_exit(", "")
            assert not speaking.search(code), path


def test_only_one_module_forks():
    """base/forked_child.h defines the rules for children."""
    forking = re.compile(r"(?<![\w.>])(fork|vfork|_Fork|posix_spawnp?)\s*\(")
    found = [str(path.relative_to(SOURCE)) for path in FILES if forking.search(re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL))]
    assert found == ["lib/base/forked_child.c"]


def test_no_file_is_named_util_or_the_like():
    vague = {"util", "utils", "common", "misc", "helper", "helpers", "core"}
    for path in FILES:
        assert not vague & {part.split(".")[0] for part in path.relative_to(SOURCE).parts}
