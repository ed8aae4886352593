"""Documents can be read: their spelling, the width of their lines, and their pictures."""

import re
import subprocess

import pytest
from conftest import SOURCE

DOCUMENTS = sorted(path for path in SOURCE.rglob("*.md")
                   if not any(part.startswith((".", "build")) for part in path.relative_to(SOURCE).parts))
PICTURES = sorted((SOURCE / "docs/pictures").glob("*.png"))
# Languages' keywords, parts of names, and mistakes that tests make on purpose.
NOT_MISTAKES = "bu,clos,fo,fro,ist,ore,pares,qery,ream,recrod,reprot,runn,selectin,selfs,ser,statics,terator,ure"
NOT_PROSE = re.compile(r"tests/fuzz/corpus/|golden|\.(pb|gz|data|png|html|lock)$")


def test_words_are_spelled_correctly(client):
    tracked = subprocess.run(["git", "ls-files"], cwd=SOURCE, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a git repository")
    files = [name for name in tracked.stdout.splitlines() if not NOT_PROSE.search(name)]
    result = subprocess.run([client("codespell"), f"--ignore-words-list={NOT_MISTAKES}", *files], cwd=SOURCE,
                            capture_output=True, text=True, check=False)
    assert not result.stdout and result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_lines_of_documents_fit_in_100_columns(path):
    """But for tables, links and what programs print."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    long = [line for line in text.splitlines() if len(re.sub(r"\]\([^)]*\)", "]", line)) > 100 and not line.startswith(("|", "!"))]
    assert not long


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_what_documents_link_to_is_there(path):
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", path.read_text(encoding="utf-8"))
    assert [target for target in targets if ":" not in target and not (path.parent / target).exists()] == []


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_small_and_shown_in_a_document(path):
    assert path.stat().st_size <= 300 << 10
    assert any(path.name in document.read_text(encoding="utf-8") for document in DOCUMENTS)
