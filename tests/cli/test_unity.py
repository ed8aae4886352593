"""./bootstrap compiles many files of a library as one (a unity build of meson). Therefore no two files of a library may
have the same name for different things, as CONTRIBUTING.md requires."""

import json
import re
import shlex
import subprocess
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

from conftest import BUILD

# These libraries have 'unity=off' in their meson.build.
ALONE = {"lib/waiting/libcall_names_i386.a", "cmd/libterminal.a"}


def libraries():
    """Returns the compiler commands of each library."""
    ret = defaultdict(list)
    for entry in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        library = re.fullmatch(r"((?:lib|cmd)/.*\.a)\.p/.*", entry["output"])
        if library and library[1] not in ALONE:
            ret[library[1]].append(entry)
    return ret


def compile_as_one(entries):
    """Returns the compiler's messages."""
    command = shlex.split(entries[0]["command"])
    command = command[: command.index("-MD")]
    sources = "".join(f'#include "{(BUILD / entry["file"]).resolve()}"\n' for entry in entries)
    # A name that is defined twice without a value is one variable.
    checks = ["-fsyntax-only", "-fdiagnostics-color=never", "-Werror", "-Wredundant-decls", "-x", "c", "-"]
    return subprocess.run([*command, *checks], cwd=BUILD, input=sources, capture_output=True, text=True).stderr


def test_the_files_of_a_library_compile_as_one():
    with ThreadPoolExecutor(2) as pool:
        messages = list(pool.map(compile_as_one, libraries().values()))
    assert not any(messages), "".join(messages)
