"""The output of prof on a terminal."""

import os
import re
import subprocess
import sys

import pytest

from terminal import Terminal

WIDTH = 80


@pytest.fixture
def terminal(prof):
    return lambda *words: Terminal([str(prof.binary), "record", "-o", "out.folded", *map(str, words)], prof.folder, WIDTH)


CXX = """
#include <map>
#include <string>
#include <vector>
struct something_with_a_long_name {};
struct something_with_another_name {};
template <class A, class B, class C> struct three_of_them {
	__attribute__((noinline)) bool spins()
	{
		volatile long i = 0;
		while (i < 200000000)
			i = i + 1;
		return i > 0;
	}
};
int main()
{
	return !three_of_them<std::map<something_with_a_long_name, something_with_another_name>,
			      std::vector<something_with_another_name>, something_with_a_long_name>().spins();
}
"""


def test_long_function_names_are_shortened_to_the_width_of_the_terminal(terminal, client, tmp_path):
    (tmp_path / "words.cc").write_text(CXX)
    subprocess.run([client("g++"), "-O1", "-g", "-o", tmp_path / "words", tmp_path / "words.cc"], check=True)
    shown = terminal("--", tmp_path / "words")
    assert shown.end() == 0, shown.text
    rows = [line for line in shown.text.splitlines() if re.match(r" *[0-9.]+ % +[0-9.]+ %  ", line)]
    assert rows and all(len(row) <= WIDTH for row in rows), shown.text
    assert any(re.search(r"three_of_them\S*::spins", row) for row in rows), shown.text


def test_output_of_the_command_without_a_newline_is_not_overwritten(terminal):
    script = "import sys, time; end = time.process_time() + 1.2\n" \
             "while time.process_time() < end: pass\nsys.stdout.write('half a line')"
    shown = terminal("--", sys.executable, "-c", script)
    assert shown.end() == 0, shown.text
    assert "half a line" in shown.text and "\033" not in shown.text


def test_progress_is_shown_while_another_process_is_recorded(terminal, service):
    shown = terminal("-p", service.pid)
    shown.read_until(r"samples, [0-9]+ lost")
    os.write(shown.fd, b"\x03")
    assert shown.end() == 0, shown.text
    # The line is erased before anything else is printed.
    assert re.search(r"recording: [0-9.]+ s, [0-9]+ samples, [0-9]+ lost\r\033\[K", shown.text.replace("^C", "")), shown.text
