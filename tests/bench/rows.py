#!/usr/bin/env python3
"""Measures what rows for databases cost (prof convert -o x.ndjson.gz), and a query of them in DuckDB.

rows.py PROF [ROWS]

A day made of copies of one segment is converted for one host after the other (--label host.name=…) until there are
ROWS (1,000,000). Prints bytes per row, and time and memory of prof, and of DuckDB with the query of docs/FLEET.md in
a process of its own, without judging them. Needs root.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from continuous import write_day

DOCS = Path(__file__).resolve().parents[2] / "docs" / "FLEET.md"


def run(*words):
    """Returns the standard output, wall-clock seconds, CPU seconds, and the peak memory in MB."""
    begun = time.monotonic()
    process = subprocess.Popen([*map(str, words)], stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return output, time.monotonic() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def duckdb(statements):
    return run(sys.executable, "-c", "import duckdb, os; connection = duckdb.connect(); "
                                     f"connection.execute('SET enable_progress_bar = false'); {statements}")


def query_in_duckdb(files):
    query = re.search(r"```sql\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)[1].replace("fleet.ndjson.gz", files)
    # A boundary inside the recorded day.
    query = query.replace("date_trunc('week', now())", "now() - INTERVAL 12 HOUR")
    for what in f"SELECT count(*) FROM read_json('{files}')", query:
        answer, seconds, cpu, memory = duckdb(f"print(connection.execute({what!r}).fetchall()[:2])")
        print(f"  {what.split()[0]:6} in {seconds:.1f} s, {cpu:.1f} s of CPU time, {memory:.0f} MB: {answer.strip()[:100]}")


def main():
    prof, wanted = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
    with tempfile.TemporaryDirectory() as name:
        day, rows, host, packed, plain = Path(name) / "day", 0, 0, 0, 0
        write_day(prof, day)
        while rows < wanted:
            host += 1
            path = f"{name}/web{host}.ndjson.gz"
            _, seconds, cpu, memory = run(prof, "convert", day, "-q", "-o", path, "--label", f"host.name=web{host}", "--label",
                                          f"env={('prod', 'test')[host % 2]}")
            count, size = map(int, run("sh", "-c", f"zcat {path} | wc -lc")[0].split())
            rows, packed, plain = rows + count, packed + os.path.getsize(path), plain + size
            if host == 1:
                print(f"{count} rows of a day written in {seconds:.1f} s, {cpu:.1f} s of CPU time, {memory:.0f} MB")
        print(f"{rows} rows of {host} hosts: {packed / 1e6:.0f} MB compressed ({packed / rows:.1f} bytes a row), {plain / 1e6:.0f} MB plain")
        query_in_duckdb(f"{name}/*.ndjson.gz")
        answer, seconds, _, _ = duckdb(f"connection.execute(\"COPY (FROM read_json('{name}/*.ndjson.gz')) TO '{name}/x.parquet'\"); "
                                       f"print(os.path.getsize('{name}/x.parquet'))")
        print(f"Parquet in {seconds:.1f} s: {int(answer) / 1e6:.0f} MB")


main()
