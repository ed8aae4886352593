"""Embeds files in the program: embed.py OUTPUT NAME=FILE … writes a C header with one string per file."""

import sys
from pathlib import Path


def array_of(data):
    """Returns the rows of a NUL-terminated array. Compilers limit the length of string literals, not
    of arrays."""
    rows = [data[at:at + 24] for at in range(0, len(data), 24)]
    return "".join("\t" + "".join(f"{byte}, " for byte in row).rstrip() + "\n" for row in rows) + "\t0,\n"


def main():
    output, *pieces = sys.argv[1:]
    text = ""
    for piece in pieces:
        name, _, path = piece.partition("=")
        data = Path(path).read_bytes()
        if not data.isascii():  # char may be signed
            sys.exit(f"{path} is not ASCII")
        text += f"static const char {name}[] = {{\n{array_of(data)}}};\n"
    Path(output).write_text(text, encoding="ascii")


main()
