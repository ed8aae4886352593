#!/usr/bin/env python3
"""Measures how soon the HTML report is drawn and how smoothly it moves, in a headless Chromium.

page.py [--profile] BENCH_FORMATS|PAGE.html …

bench_formats makes reports of half a million samples with 100,000 nodes (45,000 distinct stacks), and of 10 million
samples with 2.2 million nodes (a million stacks). Prints, for each report, the time from the start of loading to the
first frame, and the CPU time of its main thread in it. Then, for each kind of movement, the main thread's time per
frame, and the time from frame to frame (60 per second at best), as medians and 95th percentiles; and the mean CPU
time per frame, which is less affected by other programs. --profile also prints which functions of the report use the
time. Prints results without judging them.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "cli"))

import browser as driver  # noqa: E402
from browser import Browser, Page  # noqa: E402

PROFILES = (("500000", "45000"), ("10000000", "1000000"))
OPENINGS = 5
FRAME_COUNT = 60

driver.WAIT_S = 600  # on a busy machine, with a million stacks

# When the first frame is drawn: two frames after the mark that the report makes.
WATCH = """
new MutationObserver((_, observer) => {
    if (!document.documentElement?.dataset.ready) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => { window.pictureMs = performance.now(); }));
}).observe(document, { attributes: true, childList: true, subtree: true });
"""

# Does something before each frame. Returns, in milliseconds, the main thread's time for the frame until it is
# painted, and the time from frame to frame.
FRAMES = """
async (does) => {
    const channel = new MessageChannel();
    const work = [], between = [];
    const frame = () => new Promise((next) => requestAnimationFrame(next));
    const message = () => new Promise((next) => { channel.port1.onmessage = next; channel.port2.postMessage(0); });
    await frame();
    for (let i = 0, last = performance.now(); i < %d; i++) {
        await message();
        const next = frame().then(() => performance.now());
        const asked = performance.now();
        does(i);
        const done = performance.now();
        const began = await next;
        await message();
        work.push(done - asked + performance.now() - began);
        between.push(began - last);
        last = began;
    }
    return [work, between];
}
"""

# The work before frame i. wide: zooms to boxes of some width, starting with those of the root.
PREPARE = """
    window.wide = (() => {
        const tree = prof.tree(), boxes = prof.graph.boxes;
        return Array.from(boxes.node).filter((node, at) => node >= 0 && boxes.width[at] > 20 && tree.end[node] - node > 20)
            .map((node) => ({ node, range: prof.graph.aim({ zoomed: node, first: 0 }) }));
    })();
    prof.go({ lanes: "threads" }, true);
    window.letters = prof.full[prof.functions()[0].label].slice(0, 11).replace(/[^\\w]/g, ".");
"""
MOVEMENTS = {
    "zooming, a frame of the glide": "(i) => { const [from, to] = wide[0].range, [a, b] = wide[1 + (i >> 3) % (wide.length - 1)].range, "
                                     "part = (i % 8) / 8; prof.graph.range = [from + (a - from) * part, to + (b - to) * part]; prof.graph.fit(); prof.graph.later(); }",
    "zooming into one box after another": "(i) => prof.graph.open(wide[(i * 7) % wide.length].node)",
    "scrolling": "(i) => { prof.graph.element.scrollTop = (i * 37) % 500; }",
    "pointing": "(i) => prof.graph.hover({ offsetX: (i * 61) % 900, offsetY: (i * 23) % 400, clientX: 9, clientY: 9 })",
    "searching, a letter more": "(i) => prof.go({ q: letters.slice(0, 1 + i % 11) }, true)",
    "dragging over the timeline": "(i) => { prof.timeline.range = [i * 1e4, i * 3e4]; prof.timeline.draw(); }",
    "taking a range, everything anew": "(i) => prof.go({ q: '', zoom: '', from: 1 + i, to: Math.ceil(prof.profile.info.durationUs / 2) + i }, true)",
    "taking 1 % in the heat map": "(i) => prof.go({ lanes: 'heat', q: '', zoom: '', from: i * 1e6, to: i * 1e6 + Math.ceil(prof.profile.info.durationUs / 100) }, true)",
}


def cpu_seconds(page):
    """Returns the CPU time of the page's main thread so far."""
    return {entry["name"]: entry["value"] for entry in page.call("Performance.getMetrics")["metrics"]}["TaskDuration"]


def watched(browser):
    page = Page(browser, 1280, 800, "light")
    page.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    page.call("Performance.enable", timeDomain="threadTicks")
    return page


def percentiles(values):
    ordered = sorted(values)
    return f"{statistics.median(ordered):8.1f} {ordered[int(len(ordered) * 0.95)]:8.1f}"


def measure_opening(browser, url):
    times = []
    for _ in range(OPENINGS):
        page = watched(browser)
        page.go(url)
        times.append((page.until("window.pictureMs") / 1e3, cpu_seconds(page)))
        page.close()
    wall, cpu = zip(*times)
    print(f"  open to picture: {min(wall):.2f} s at best, {statistics.median(wall):.2f} s median; "
          f"main thread {min(cpu):.2f} s CPU at best, {statistics.median(cpu):.2f} s median")


def hottest(page, count=12):
    """Returns the hottest functions, by self, from DevTools sampling."""
    profile = page.call("Profiler.stop")["profile"]
    names = {node["id"]: node["callFrame"]["functionName"] or "(anonymous)" for node in profile["nodes"]}
    times = Counter()
    for node, delta in zip(profile["samples"], profile["timeDeltas"]):
        times[names[node]] += delta
    return ", ".join(f"{name} {us / 1e3:.0f}" for name, us in times.most_common(count) if name not in ("(idle)", "(program)"))


def frame_costs(page, does):
    """Returns, for FRAME_COUNT frames, the main thread's time per frame, the time from frame to frame, and the mean CPU
    time, in milliseconds."""
    before = cpu_seconds(page)
    work, between = page.value(f"({FRAMES % FRAME_COUNT})({does})")
    return work, between, (cpu_seconds(page) - before) / FRAME_COUNT * 1e3


def prepare(page):
    page.value(f"(() => {{ {PREPARE} }})()")
    page.prefer("light", motion="reduce")


def measure_frames(page, profiles):
    print(f"  {'ms, median and 95 % of':36} {'work of a frame':>17} {'frame to frame':>17} {'CPU of a frame':>15}")
    prepare(page)
    for name, does in MOVEMENTS.items():
        if profiles:
            page.call("Profiler.start")
        work, between, cpu_ms = frame_costs(page, does)
        print(f"  {name:36} {percentiles(work)} {percentiles(between)} {cpu_ms:15.1f}", flush=True)
        if profiles:
            print(f"    {hottest(page)}")


def measure(browser, path, profiles):
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB", flush=True)
    url = f"file://{path.resolve()}"
    measure_opening(browser, url)
    page = watched(browser)
    page.call("Profiler.enable")
    if profiles:
        page.call("Profiler.start")
    page.go(url)
    page.until("window.pictureMs")
    if profiles:
        print(f"    {hottest(page)}")
    print(f"  {page.value('prof.tree().count')} nodes, {page.value('prof.profile.timedSamples.count')} timed samples, "
          f"{page.value('prof.graph.boxes.node.length')} boxes drawn")
    measure_frames(page, profiles)
    page.close()


def pages(bench, folder):
    for samples, stacks in PROFILES:
        into = folder / stacks
        into.mkdir()
        subprocess.run([bench, into, samples, stacks, "html"], check=True, stdout=subprocess.DEVNULL)
        yield (into / "bench.html").rename(folder / f"{stacks}-stacks.html")


def main():
    profiles = "--profile" in sys.argv
    given = [Path(name) for name in sys.argv[1:] if name != "--profile"]
    chromium = shutil.which("chromium")
    if not chromium:
        print("page: no chromium")
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        browser = Browser(chromium, folder / "chromium")
        try:
            for path in given:
                for page in [path] if path.suffix == ".html" else pages(path, folder):
                    measure(browser, page, profiles)
        finally:
            browser.close()


if __name__ == "__main__":
    main()
