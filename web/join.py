"""Joins skeleton, style and modules into one page: join.py BEFORE BEHIND page.html page.css MODULE.js … writes the
parts of the page before and after the data.

A module is listed after those that it imports. All modules become one script, so top-level names must be distinct.
Comments, and spaces that tokens do not need, are removed; names stay. The hashes are for the content security policy:
the browser runs only this script and applies only this style."""

import base64
import hashlib
import re
import sys
from pathlib import Path

IMPORT = re.compile(r'^import \{[^}]*\}\s+from "\./[a-z]+\.js";\n', re.MULTILINE)


TOP_NAME = re.compile(r"^(?:export )?(?:const|let|(?:async )?function|class) (\w+)", re.MULTILINE)


TOKEN = re.compile(r"""(?P<space>(?:\s|//[^\n]*|/\*.*?\*/)+)|(?P<word>[\w$]+)|(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<sign>.)""", re.DOTALL)
REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[])+/[a-z]*")
# A slash after one of these begins a regular expression; after other words and brackets it divides.
OPERAND_FOLLOWS = {"return", "typeof", "case", "of", "in", "void", "=>"}


def template_end(text, at):
    """The end of the template literal that begins at `at`; expressions in it may have literals of their own."""
    at += 1
    while text[at] != "`":
        if text.startswith("${", at):
            at = expression_end(text, at + 2)
        else:
            at += 2 if text[at] == "\\" else 1
    return at + 1


def expression_end(text, at):
    """The place after the brace that closes the expression."""
    depth = 1
    for token, begin in tokens(text, at):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if not depth:
            return begin + 1
    raise ValueError("an expression in a template has no end")


def tokens(text, at=0):
    """The tokens from a place on, with their places; spaces and comments are " " or a line break."""
    before = ""
    while at < len(text):
        begin = at
        divides = re.fullmatch(r"[\w$]+|[)\]}]|[\"'`].*", before, re.DOTALL) and before not in OPERAND_FOLLOWS
        if text[at] == "`":
            at = template_end(text, at)
            token = text[begin:at]
        elif text[at] == "/" and text[at + 1] not in "/*" and not divides:
            at = REGEX.match(text, at).end()
            token = text[begin:at]
        else:
            found = TOKEN.match(text, at)
            at = found.end()
            token = found[0] if found.lastgroup != "space" else "\n" if "\n" in found[0] else " "
        yield token, begin
        before = token if token.strip() else before


def needs_space(before, space, after):
    """Whether what is between two tokens must stay. A line may end where a statement may, before a word or a bracket."""
    if before[-1:] in "+-" and after[:1] == before[-1:]:
        return True
    if re.match(r"[\w$]", before[-1:] or " ") and re.match(r"[\w$]", after[:1]):
        return True
    return space == "\n" and before[-1:] not in ";{}(,[=:?&|+-*<>." and after[:1] not in ")]};,.?:=&|*<>"


def without_spaces(script):
    parts, space = [""], ""
    for token, _ in tokens(script):
        if not token.strip():
            space = token
            continue
        if space and needs_space(parts[-1], space, token):
            parts.append(space)
        parts.append(token)
        space = ""
    return "".join(parts)


def without_margins(text):
    return re.sub(r"^\s+|^\s*//.*\n", "", text, flags=re.MULTILINE)


def script_of(modules):
    text = "".join(IMPORT.sub("", path.read_text()) for path in modules)
    names = TOP_NAME.findall(text)
    assert len(set(names)) == len(names), f"twice at the top: {sorted({name for name in names if names.count(name) > 1})}"
    text = without_spaces(re.sub(r"^export ", "", text, flags=re.MULTILINE))
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
