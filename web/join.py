"""Joins skeleton, style, loader and modules into one page: join.py BEFORE BEHIND page.html page.css
loader.js MODULE.js … writes the parts of the page before and after the data.

A module must be listed after those that it imports. All modules become one script, so top-level
names must be distinct. The page contains the script compressed; the loader unpacks and runs it. The
hashes are for the content security policy: the browser runs only these two scripts and applies only
this style."""

import base64
import gzip
import hashlib
import re
import sys
from pathlib import Path

IMPORT = re.compile(r'^import \{[^}]*\}\s+from "\./[a-z]+\.js";\n', re.MULTILINE)
TOP_NAME = re.compile(r"^(?:export )?(?:const|let|(?:async )?function|class) (\w+)", re.MULTILINE)


def without_comment_lines(text):
    return re.sub(r"^\s*//.*\n", "", text, flags=re.MULTILINE)


def without_margins(text):
    return re.sub(r"^\s+|^\s*/\*.*?\*/\n", "", text, flags=re.MULTILINE)


def script_of(modules):
    text = "".join(IMPORT.sub("", path.read_text()) for path in modules)
    names = TOP_NAME.findall(text)
    assert len(set(names)) == len(names), f"twice at the top: {sorted({name for name in names if names.count(name) > 1})}"
    return without_comment_lines(re.sub(r"^export ", "", text, flags=re.MULTILINE))


def style_of(path):
    return re.sub(r"[^\x00-\x7f]", lambda found: f"\\{ord(found[0]):x} ", without_margins(path.read_text()))


def packed(text):
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def content_hash(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def main():
    before, behind, skeleton, style, loader, *modules = map(Path, sys.argv[1:])
    script = script_of(modules)
    pieces = {"STYLE": style_of(style), "LOADER": without_comment_lines(loader.read_text())}
    pieces |= {f"{name}_HASH": content_hash(text) for name, text in {**pieces, "SCRIPT": script}.items()}
    pieces["SCRIPT"] = packed(script)
    text = skeleton.read_text().encode("ascii", "xmlcharrefreplace").decode()
    page = re.sub(r"@(\w+_HASH|STYLE|LOADER|SCRIPT)@", lambda found: pieces[found[1]], text)
    for path, part in zip((before, behind), page.split("@DATA@"), strict=True):
        path.write_text(part, encoding="ascii")


if __name__ == "__main__":
    main()
