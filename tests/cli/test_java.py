"""Stacks of Java programs, whose compiled code keeps no frame pointers."""

import pytest

from lacking import tool

PROGRAM = """
import java.util.function.LongUnaryOperator;

public class Chain {
    interface Shape { long area(int n); }
    static class Square implements Shape { public long area(int n) { return innermost(n) + 1; } }
    static class Circle implements Shape { public long area(int n) { return innermost(n) + 2; } }
    static long sink;

    static long innermost(int n) { long s = n; for (int i = 0; i < n; i++) s = s * 31 + (s >>> 7); return s; }
    static long recurse(int depth, Shape shape) { return depth == 0 ? shape.area(200) : recurse(depth - 1, shape) + 1; }
    static long thrower(int n) throws Exception { if (innermost(100) != 1) throw new Exception(); return n; }
    static long catcher(int n) { try { return thrower(n); } catch (Exception e) { return innermost(100); } }
    static long lambda(int n) { LongUnaryOperator f = x -> innermost(100) + x; return f.applyAsLong(n); }
    static long strings(int n) { return ("a" + n).repeat(20).split("a").length; }

    public static void main(String[] arguments) {
        Shape[] shapes = { new Square(), new Circle() };
        long end = System.nanoTime() + 1500000000L;
        for (int i = 0; System.nanoTime() < end; i++)
            sink += recurse(10, shapes[i % 2]) + catcher(i) + lambda(i) + strings(i);
    }
}
"""

CALLERS = {"innermost": {"area", "thrower", "catcher", "lambda$lambda$0"}, "area": {"recurse"},
           "recurse": {"recurse", "main"}, "thrower": {"catcher"}, "catcher": {"main"}, "lambda": {"main"}}

# Names of compiled methods come when the program ends.
NAMES = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Chain*.*"]


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    import subprocess

    folder = tmp_path_factory.mktemp("java")
    (folder / "Chain.java").write_text(PROGRAM)
    subprocess.run([tool("javac"), "-d", folder, folder / "Chain.java"], check=True)
    return folder


def method(frame):
    """The method of the program, or None."""
    name = frame.split("(")[0].split(" ")[-1]
    return name.rpartition(".")[2] if name.startswith("Chain") else None


def wrong_calls(stacks):
    """Calls from one compiled method of the program to another that it does not contain."""
    calls = [(method(caller), method(callee)) for frames in stacks.counts for caller, callee in zip(frames, frames[1:])]
    known = [call for call in calls if all(call)]
    assert known, stacks.hottest()
    return [(caller, callee) for caller, callee in known if caller not in CALLERS.get(callee, {caller})]


@pytest.mark.parametrize("mode", [[], ["-Xint"], ["-XX:TieredStopAtLevel=1"]], ids=["tiered", "interpreted", "c1"])
def test_java_stacks_reach_their_root(prof, classes, mode):
    stacks = prof.record("-F", "499", "--", tool("java"), *NAMES, *mode, "-cp", classes, "Chain").stacks
    truncated = stacks.count(lambda frames: "[truncated]" in frames)
    assert truncated <= 0.02 * stacks.total, stacks.hottest()
    if mode != ["-Xint"]:
        assert wrong_calls(stacks) == []
