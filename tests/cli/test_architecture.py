"""The files that ARCHITECTURE.md and the READMEs of the folders name must exist."""

import re

import pytest

from conftest import SOURCE

READMES = sorted(path.parent for folder in ("lib", "cmd") for path in (SOURCE / folder).rglob("README.md"))


def named_files(text):
    """Returns the parts in backticks that look like source files; `libdw*.c` means several."""
    return [word for quoted in re.findall(r"`([^`]+)`", text) for word in quoted.split()
            if re.fullmatch(r"[\w*./-]+\.(c|h|js|py)", word) and "NAME" not in word]


def is_there(name, folder):
    """name: a path from the root, from the folder or below it. A bare name may also be in a folder that the text names."""
    below = (folder.rglob(name.split("/")[-1]) if folder != SOURCE else ())
    return any(SOURCE.glob(name)) or any(folder.glob(name)) or any(path.match(name) for path in below)


@pytest.mark.parametrize("folder", READMES, ids=lambda folder: str(folder.relative_to(SOURCE)))
def test_files_that_a_readme_names_are_there(folder):
    text = (folder / "README.md").read_text(encoding="utf-8")
    others = [SOURCE / name for name in re.findall(r"`((?:lib|web|cmd)/[\w/]+)/?`", text)]
    lost = [name for name in named_files(text) if not any(is_there(name, place) for place in (folder, *others))]
    assert lost == []


def test_files_that_architecture_md_names_are_there():
    text = (SOURCE / "ARCHITECTURE.md").read_text(encoding="utf-8")
    lost = [name for name in named_files(text) if not any((SOURCE / top).rglob(name.split("/")[-1]) for top in ("lib", "cmd", "tests", "web"))
            or "/" in name and not any(SOURCE.glob(name)) and not any((SOURCE / "lib").glob(name))]
    assert lost == []


def test_every_folder_of_lib_has_a_readme():
    assert [path.name for path in (SOURCE / "lib").iterdir() if path.is_dir() and not (path / "README.md").exists()] == []
