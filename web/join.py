"""Joins skeleton, style and modules into one page: join.py BEFORE BEHIND page.html page.css MODULE.js … writes the
parts of the page before and after the data.

A module is listed after those that it imports. All modules become one script, so top-level names must be distinct.
Line comments and indentation are removed, so no string may span lines. The hashes are for the content security
policy: the browser runs only this script and applies only this style."""

import base64
import hashlib
import re
import sys
from pathlib import Path

IMPORT = re.compile(r'^import \{[^}]*\}\s+from "\./[a-z]+\.js";\n', re.MULTILINE)


TOP_NAME = re.compile(r"^(?:export )?(?:const|let|(?:async )?function|class) (\w+)", re.MULTILINE)


def without_margins(text):
    return re.sub(r"^\s+|^\s*//.*\n", "", text, flags=re.MULTILINE)


def script_of(modules):
    text = "".join(IMPORT.sub("", path.read_text()) for path in modules)
    names = TOP_NAME.findall(text)
    assert len(set(names)) == len(names), f"twice at the top: {sorted({name for name in names if names.count(name) > 1})}"
    text = without_margins(re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return re.sub(r"[^\x00-\x7f]", lambda found: f"\\u{ord(found[0]):04x}", text)


def style_of(path):
    return re.sub(r"[^\x00-\x7f]", lambda found: f"\\{ord(found[0]):x} ", without_margins(path.read_text()))


def content_hash(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def main():
    before, behind, skeleton, style, *modules = map(Path, sys.argv[1:])
    pieces = {"STYLE": style_of(style), "SCRIPT": script_of(modules)}
    assert "</script" not in pieces["SCRIPT"] and "</style" not in pieces["STYLE"]
    pieces |= {f"{name}_HASH": content_hash(text) for name, text in pieces.items()}
    text = skeleton.read_text().encode("ascii", "xmlcharrefreplace").decode()
    page = re.sub(r"@(\w+_HASH|STYLE|SCRIPT)@", lambda found: pieces[found[1]], text)
    for path, part in zip((before, behind), page.split("@DATA@"), strict=True):
        path.write_text(part, encoding="ascii")


if __name__ == "__main__":
    main()
