"""Embeds files in the program: embed.py OUTPUT NAME=FILE … writes a C header with one array per file, compressed with
gzip. lib/format/embedded.h writes them."""

import gzip
import sys
from pathlib import Path


def rows_of(data):
    rows = [data[at:at + 24] for at in range(0, len(data), 24)]
    return "".join("\t" + "".join(f"{byte}, " for byte in row).rstrip() + "\n" for row in rows)


def main():
    output, *pieces = sys.argv[1:]
    text = ""
    for piece in pieces:
        name, _, path = piece.partition("=")
        packed = gzip.compress(Path(path).read_bytes(), mtime=0)
        text += f"static const unsigned char {name}[] = {{\n{rows_of(packed)}}};\n"
    Path(output).write_text(text, encoding="ascii")


main()
