"""The HTML page in a real browser, used by mouse and keyboard."""

import gzip
import json
import os
import re
import select
import shutil
import subprocess

import pytest

from conftest import SOURCE, Prof
from time_limit import TIME_LIMIT_S
from profiles import Stacks, profile_message

GO_CPU = SOURCE / "tests" / "golden" / "go_cpu.pb.gz"
SHOP = """\
shop;main;serve;next;read 40
shop;main;serve;next 30
shop;main;log;write 20
shop;thread_start 10
"""


@pytest.fixture
def show(prof, browser):
    """show(folded stacks) is the page of them, without problem or request by the end of the test."""
    pages = []

    def open_page(folded=None, hash="", **how):
        if folded is not None:
            (prof.folder / "in.folded").write_bytes(folded if isinstance(folded, bytes) else folded.encode())
            prof.run("convert", "in.folded", "-o", "page.html")
        page = browser.open(f"file://{prof.folder}/page.html{hash}", **how)
        pages.append(page)
        page.until("document.documentElement.dataset.ready || !document.getElementById('empty').hidden")
        return page

    yield open_page
    for page in pages:
        assert page.problems == []
        assert [url for url in page.requests if not url.startswith("data:")] == []
        page.close()


@pytest.fixture(scope="module")
def recording_of_threads(tmp_path_factory, target):
    prof = Prof(tmp_path_factory.mktemp("threads"))
    prof.run("record", "-o", "page.html", "-o", "page.folded", "--", target("threads"))
    return prof.folder


@pytest.fixture
def recorded(prof, recording_of_threads, show):
    """The page of a recording of threads, with time."""
    for name in "page.html", "page.folded":
        shutil.copy(recording_of_threads / name, prof.folder)
    return show


@pytest.fixture
def waiting(show, prof, client):
    """The page of a server that waits: `show` of the data that web/tests/waiting.mjs makes."""
    write_page(prof, client, "waiting.mjs")
    return show


@pytest.fixture
def hours(show, prof, client):
    """The page of three hours: `show` of the data that web/tests/hours.mjs makes."""
    write_page(prof, client, "hours.mjs")
    return show


def memory_page(show, prof, client, *words):
    """The page of a program that allocates: `show` of the data that web/tests/memory.mjs makes."""
    write_page(prof, client, "memory.mjs", *words)
    return show()


def write_page(prof, client, script, *words):
    """page.html with the data that a script of web/tests makes."""
    (prof.folder / "in.folded").write_text("a 1\n")
    assert prof("convert", "in.folded", "-o", "page.html").returncode == 0
    data = subprocess.run([client("node"), SOURCE / "web" / "tests" / script, *words], check=True, capture_output=True, text=True,
                          timeout=TIME_LIMIT_S).stdout
    path = prof.folder / "page.html"
    path.write_text(re.sub(r'(id="data">)[^<]*', lambda found: found[1] + data, path.read_text()))


def boxes(page):
    """The drawn boxes of the flame graph: name → [x, y, width], in the page's coordinates, and their nodes."""
    return page.value("""(() => {
        const graph = prof.graph, at = graph.canvas.getBoundingClientRect();
        return Object.fromEntries(graph.boxes.node.map((node, i) => [node, i]).filter(([node]) => node >= 0).map(([node, i]) =>
            [graph.nameOf(node), [at.x + graph.boxes.x[i], at.y + graph.top(graph.boxes.depth[i]), graph.boxes.width[i]]]));
    })()""")


def click_box(page, name, **how):
    x, y, width = boxes(page)[name]
    page.click(x + width / 2, y + 8, **how)


def state(page):
    return page.value("document.getElementById('state').textContent")


def until_state(page, part):
    page.until(f"document.getElementById('state').textContent.includes({json.dumps(part)})")


def crumbs(page):
    return page.value("[...document.querySelectorAll('#crumbs button')].map((crumb) => crumb.textContent)")


def widths(page):
    """The share of each function of the width of all."""
    all_boxes = boxes(page)
    return {name: round(width / all_boxes["all"][2], 2) for name, (_, _, width) in all_boxes.items()}


def test_boxes_are_as_wide_as_their_share(show):
    page = show(SHOP)
    assert widths(page) == {"all": 1, "main": 0.9, "serve": 0.7, "next": 0.7, "read": 0.4, "log": 0.2, "write": 0.2, "thread_start": 0.1}
    assert "100 samples (100.0%)" in state(page)


def test_a_click_zooms_and_shows_the_callers_to_go_back_to(show):
    page = show(SHOP)
    click_box(page, "serve")
    page.until("location.hash.includes('zoom=')")
    assert widths(page) == {"all": 1, "main": 1, "serve": 1, "next": 1, "read": 0.57}
    assert crumbs(page) == ["all", "main", "serve"]
    page.press_on("#crumbs button:nth-child(2)")
    page.until("prof.state.zoom.split('.').length === 1")
    assert widths(page)["main"] == 1 and "log" in boxes(page)
    page.value("history.back()")
    page.until("prof.state.zoom.split('.').length === 2")
    assert crumbs(page) == ["all", "main", "serve"]


def test_a_double_click_leads_to_callers_and_callees(show):
    page = show(SHOP)
    x, y, width = boxes(page)["write"]
    page.click(x + width / 2, y + 8)
    page.click(x + width / 2, y + 8, count=2)
    page.until("prof.state.view === 'functions' && prof.full[prof.state.fn] === 'write'")


def test_a_tooltip_describes_the_hovered_box(show):
    page = show(SHOP)
    x, y, width = boxes(page)["log"]
    page.move(x + width / 2, y + 8)
    tip = page.until("!document.getElementById('tip').hidden && document.getElementById('tip').textContent")
    assert tip.startswith("log20.0% total, 20 samples; 0% self")


def test_a_search_shows_the_share_of_its_matches_without_counting_samples_twice(show):
    page = show(SHOP)
    page.key("f", "control")
    page.write("^(serve|next|write)$")
    page.until("document.getElementById('found').textContent === '90.0% in 3 places'")
    page.key("Enter")
    until_state(page, "serve: 70.0% total")
    page.key("Enter")
    until_state(page, "next: 70.0% total")
    page.press_on("#next")
    until_state(page, "write: 20.0% total")
    page.press_on("#previous")
    until_state(page, "next: 70.0% total")
    page.press_on("#search")
    page.value("document.getElementById('search').select()")
    page.write("(")
    page.until("document.getElementById('found').textContent === 'no match'")


def test_a_search_can_keep_only_the_matching_samples(show):
    page = show(SHOP, hash="#q=log&only=matches")
    assert widths(page) == {"all": 1, "main": 1, "log": 1, "write": 1}
    page.value("document.getElementById('only').value = 'others'")
    page.value("document.getElementById('only').dispatchEvent(new Event('change'))")
    page.until("prof.tree().total(0) === 80")
    assert "log" not in boxes(page)
    until_state(page, "without what matches log")
    page.value("prof.go({only: 'hidden', q: 'serve|next'})")
    assert widths(page) == {"all": 1, "main": 0.9, "read": 0.4, "log": 0.2, "write": 0.2, "thread_start": 0.1}


def menu(page):
    """The items of the open menu."""
    return page.value("[...document.querySelectorAll('#menu:not([hidden]) [role=menuitem] span')].map((item) => item.textContent)")


def press_in_menu(page, words):
    page.until(f"[...document.querySelectorAll('#menu:not([hidden]) [role=menuitem]')].some((item) => item.textContent.startsWith({json.dumps(words)}))")
    page.value(f"[...document.querySelectorAll('#menu [role=menuitem]')].find((item) => item.textContent.startsWith({json.dumps(words)})).click()")


def test_the_menu_of_a_function_has_filters_that_can_be_removed(show):
    page = show(SHOP)
    click_box(page, "serve", button="right")
    page.until("!document.getElementById('menu').hidden")
    assert {"Zoom in", "Callers and callees", "Copy name", "Copy stack"} <= set(menu(page))
    press_in_menu(page, "Only stacks with it")
    page.until("prof.tree().total(0) === 70")
    assert widths(page) == {"all": 1, "main": 1, "serve": 1, "next": 1, "read": 0.57}
    until_state(page, "70.0%")
    click_box(page, "next", button="right")
    press_in_menu(page, "Hide it")
    page.until("document.querySelectorAll('#steps button').length === 2")
    assert "next" not in boxes(page) and widths(page)["read"] == 0.57
    page.press_on("#steps button")
    page.until("prof.tree().total(0) === 100")
    assert "next" not in boxes(page)
    page.value("history.back()")
    page.until("prof.tree().total(0) === 70")


def test_the_menu_is_usable_by_keyboard(show):
    page = show(SHOP)
    page.value("prof.graph.canvas.focus()")
    page.key("ArrowDown")
    page.key("ArrowDown")
    page.key("m")
    page.until("document.activeElement.textContent.startsWith('Zoom in')")
    page.key("ArrowUp")
    page.until("document.activeElement.textContent === 'Copy stack'")
    page.key("Escape")
    page.until("document.getElementById('menu').hidden && document.activeElement === prof.graph.canvas")
    page.key("b")
    page.until("prof.state.steps.startsWith('from-')")
    assert widths(page) == {"all": 1, "serve": 1, "next": 1, "read": 0.57}
    page.key("u")
    page.until("prof.state.steps === ''")
    assert "main" in boxes(page)


def test_the_time_order_shows_each_thread_from_its_first_to_its_last_sample(recorded):
    page = recorded()
    page.value("prof.go({shape: 'order'})")
    assert page.value("prof.shownTree().inOrder")
    assert page.value("prof.shownTree().total(0)") == pytest.approx(page.value("prof.tree().total(0)"))
    ordered = "(({begins, parent, depth, count}) => {let last = -1; for (let i = 1; i < count; i++) if (depth[i] === 2) { if (parent[i] === parent[i - 1] && begins[i] < last) return false; last = begins[i]; } return true; })(prof.shownTree())"
    assert page.value(ordered)
    # Each thread can be sampled before it gives itself a name.
    threads = [name for name in boxes(page) if re.fullmatch(r"\w+ \(\d+\)", name)]
    assert len({name.split()[1] for name in threads}) == 3
    assert [name.split()[0] for name in threads[:2]] == ["older", "younger"]
    click_box(page, threads[0])
    page.until("location.hash.includes('zoom=%40')")
    assert crumbs(page) == ["all", threads[0]]
    page.value("prof.go({threads: 'older'})")
    page.until("document.querySelector('#crumbs [aria-current]').textContent === 'all'")


def test_a_table_of_functions_leads_to_callers_and_callees(show):
    page = show(SHOP)
    page.press_on("#tab-functions")
    rows = page.until("[...document.querySelectorAll('#function-table tbody tr')].map((row) => row.innerText.split('\\t').slice(0, 3).map((text) => text.trim()))")
    assert rows[0] == ["40.0%", "40.0%", "read"] and rows[-1] == ["0%", "20.0%", "log"]
    stops = "document.querySelectorAll('#function-table tbody button:not([tabindex=\"-1\"])')"
    assert page.value(f"{stops}.length") == 1
    page.value(f"{stops}[0].focus()")
    page.key("ArrowDown")
    page.until("document.activeElement.textContent === 'next'")
    page.key("Enter")
    page.until("document.querySelector('#function-table [aria-current]').innerText.includes('next')")
    page.press_on("[data-column=total] button")
    page.until("document.querySelector('#function-table tbody tr').innerText.includes('main')")
    assert page.value("document.querySelector('[data-column=total]').getAttribute('aria-sort')") == "descending"
    page.value("[...document.querySelectorAll('#function-table td button')].find((button) => button.textContent === 'next').click()")
    page.until("prof.half.callers.graph.boxes && prof.half.callees.graph.boxes")
    names = "prof.half.{0}.graph.boxes.node.map((node) => prof.half.{0}.graph.nameOf(node))"
    assert page.value(names.format("callers")) == ["next", "serve", "main"]
    assert page.value(names.format("callees")) == ["next", "read"]
    page.until("document.getElementById('details').innerText.includes('70.0%')")


def test_the_call_tree_is_usable_by_keyboard(show):
    page = show(SHOP, hash="#view=calls")
    rows = "[...document.querySelectorAll('[role=tree] [role=treeitem]')]"
    focused = "document.activeElement.getAttribute('aria-label')"
    page.value(f"{rows}[0].focus()")
    page.key("End")
    page.until(f"{focused}.startsWith('thread_start')")
    page.key("Home")
    page.key("ArrowRight")
    page.until(f"{focused} === 'main, total 90.0%, self 0%'")
    assert page.value("document.activeElement.getAttribute('aria-expanded')") == "true"
    assert page.value("document.activeElement.getAttribute('aria-level')") == "2"
    page.key("ArrowLeft")
    page.until("document.activeElement.getAttribute('aria-expanded') === 'false'")
    assert page.value(f"{rows}.length") == 3
    page.key("Enter")
    page.until("document.activeElement.getAttribute('aria-expanded') === 'true'")


def test_the_graph_is_usable_by_keyboard(show):
    page = show(SHOP)
    page.value("prof.graph.canvas.focus()")
    for key, name in (("ArrowDown", "main"), ("ArrowRight", "thread_start"), ("ArrowLeft", "main"), ("ArrowDown", "serve"),
                      ("ArrowRight", "log"), ("ArrowUp", "main"), ("ArrowDown", "serve")):
        page.key(key)
        until_state(page, f"{name}: ")
    page.key("Enter")
    page.until("document.querySelector('#crumbs [aria-current]').textContent === 'serve'")
    page.key("Backspace")
    page.until("document.querySelector('#crumbs [aria-current]').textContent === 'main'")
    page.key("Escape")
    page.until("document.querySelector('#crumbs [aria-current]').textContent === 'all'")
    page.key("3")
    page.until("!document.getElementById('calls').hidden")
    page.key("1")
    page.key("?")
    page.until("document.getElementById('keys').open")
    page.key("Escape")
    page.until("!document.getElementById('keys').open")


def test_wheel_and_drag_zoom_and_pan_freely_and_escape_goes_back(show):
    page = show(SHOP)
    at = boxes(page)
    left, top, wide = at["all"]
    page.mouse("mouseWheel", left + wide - 1, top + 8, deltaX=0, deltaY=-100, modifiers=2)
    page.until("prof.graph.isFree && prof.graph.range[0] > 0")
    assert page.value("prof.graph.range[1]") > 99.8
    assert boxes(page)["thread_start"][2] > at["thread_start"][2] * 1.3
    page.drag(left + 100, top + 200, left + 100 + wide / 10, top + 200)
    page.until("prof.graph.range[1] < 99")
    assert page.value("prof.state.zoom === '' && prof.state.fn === -1")
    page.key("Escape")
    page.until("!prof.graph.isFree && prof.graph.range[0] === 0 && prof.graph.range[1] === 100")
    page.value("prof.graph.canvas.focus()")
    page.key("+")
    page.until("prof.graph.isFree")
    click_box(page, "log")
    page.until("!prof.graph.isFree && document.querySelector('#crumbs [aria-current]').textContent === 'log'")


def test_the_graph_is_an_icicle_or_a_flame_graph_or_inverted(show):
    page = show(SHOP)
    assert boxes(page)["all"][1] < boxes(page)["main"][1]
    page.key("i")
    page.until("prof.state.shape === 'flame'")
    assert boxes(page)["all"][1] > boxes(page)["main"][1]
    page.key("i")
    page.until("prof.state.shape === 'inverted'")
    assert widths(page)["read"] == 0.4


def test_a_link_shows_the_same_view(show, prof):
    page = show(SHOP)
    click_box(page, "serve")
    page.key("/")
    page.write("read")
    page.until("prof.state.q === 'read'")
    page.until("location.hash.includes('q=read')")
    hash = page.value("location.hash")
    other = show(hash=hash)
    assert crumbs(other) == ["all", "main", "serve"]
    assert other.value("document.getElementById('search').value") == "read"
    assert widths(other) == widths(page)


def test_a_link_cannot_choose_numbers_of_samples_that_a_file_does_not_have(show):
    page = show(SHOP, hash="#by=samples")
    assert page.value("document.getElementById('measure').value") == "0 weight"


def test_a_link_with_invalid_parts_shows_the_profile(show):
    page = show(SHOP, hash="#zoom=x.9999.-1&fn=1e99&view=nowhere&event=77&from=9&to=1&shape=%ff&q=%5B")
    assert "all" in boxes(page)


def test_the_view_is_exported_as_folded_stacks_and_svg(show):
    page = show(SHOP)
    page.value("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    page.press_on("#exports summary")
    page.press_on("#copy-folded")
    copied = page.until("window.copied")
    assert sorted(copied.splitlines()) == sorted(line.removeprefix("shop;") for line in SHOP.splitlines())
    page.value("(HTMLAnchorElement.prototype.click = function () { window.saved = this.download; })")
    page.press_on("#exports summary")
    page.press_on("#save-svg")
    assert page.until("window.saved") == "prof.svg"
    assert page.value("prof.lastSvg").count("<rect") == len(boxes(page)) + 1


def test_a_time_range_selects_its_samples(recorded, prof):
    page = recorded()
    whole = page.value("prof.tree().total(0)")
    lanes = page.value("[...document.querySelectorAll('#lane-names bdi')].map((name) => name.textContent)")
    assert {"older", "threads", "younger"} <= set(lanes)
    x, y, width, _ = page.value("(({x, y, width, height}) => [x, y, width, height])(document.getElementById('lane-canvas').getBoundingClientRect())")
    page.drag(x + 2, y + 25, x + width / 2, y + 25)
    page.until("location.hash.includes('to=')")
    half = page.value("prof.tree().total(0)")
    assert 0 < half < whole
    page.press_on("#magnify")
    page.until("location.hash.includes('lens=') && document.getElementById('magnify').hidden")
    assert page.value("Math.round(prof.timeline.x(prof.state.to) - prof.timeline.width)") == 0
    rest = page.value("(() => { prof.go({from: prof.state.to, to: prof.profile.info.durationUs + 1}); })()")
    assert rest is None
    page.press_on("#whole")
    page.until("!location.hash.includes('to=')")
    assert page.value("prof.tree().total(0)") == whole


def test_a_single_thread_can_be_selected(recorded):
    page = recorded()
    page.press_on("#threads")
    page.write("old*")
    page.until("document.querySelectorAll('#lane-names .off').length > 0")  # a brief thread may have no sample
    assert page.value("prof.tree().total(0)") < page.value("prof.profile.samples.weight.reduce((a, b) => a + b)")
    page.value("prof.go({threads: ''})")
    page.until("document.querySelectorAll('#lane-names .off').length === 0")
    page.press_on("#lane-names li:nth-child(2) button")
    page.until("document.querySelector('#lane-names li:nth-child(2) button').ariaPressed === 'true'")


def test_the_page_shows_the_tree_that_the_folded_stacks_have(recorded, prof):
    page = recorded()
    page.value("prof.go({by: 'samples', group: 'process'})")
    page.value("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    page.value("prof.copyFolded()")
    shown = {}
    for line in page.until("window.copied").splitlines():
        stack, count = line.rsplit(" ", 1)
        shown[re.sub(r"^(\w+) \(\d+\)", r"\1", stack)] = int(count)
    folded = dict(line.rsplit(" ", 1) for line in (prof.folder / "page.folded").read_text().splitlines())
    assert shown == {stack: int(count) for stack, count in folded.items()}
    assert Stacks.read(prof.folder / "page.folded").total == sum(shown.values())


def test_the_page_shows_how_the_profile_was_recorded_and_its_quality(recorded):
    page = recorded()
    text = page.value("document.body.innerText")
    assert re.search(r"\d+ samples, \d+ lost", text)
    assert "cpu-clock at 999 Hz" in text or "cycles" in text
    assert "threads" in page.value("document.title")


def test_source_lines_have_shares_and_their_text_only_on_request(prof, target, show):
    for options in ((), ("--source",)):
        assert prof("record", *options, "-o", "page.html", "--", target("geometry"), "0.3").returncode == 0
        page = show()
        texts = page.value("[...prof.profile.sources.values()].flatMap((lines) => [...lines.values()])")
        assert any("spin();" in text for text in texts) == bool(options)
        if not options:
            page.value("prof.go({fn: prof.full.indexOf('spin')})")
            page.until("document.querySelector('#details .lines') !== null")
            lines = page.value("[...document.querySelectorAll('.lines tbody tr')].map((row) => row.innerText.split('\\t'))")
            assert all(re.fullmatch(r"\d+", line[0]) and line[1].endswith("%") for line in lines)
    page.value("prof.go({fn: prof.full.findIndex((name) => name.includes('squared'))})")
    page.until("document.getElementById('details').innerText.includes('spin();')")


def test_only_files_with_names_of_source_files_get_into_the_page(prof, show):
    """A profile from someone else may name any file."""
    names = {"plain.c": True, "vector": False, "passwd": False, ".netrc": False, "key.pem": False, "notes.txt": False}
    (prof.folder / "include" / "c++" / "12").mkdir(parents=True)
    paths = {prof.folder / name: shown for name, shown in names.items()} | {prof.folder / "include" / "c++" / "12" / "vector": True}
    message = profile_message()(string_table=["", "samples", "count", *map(str, paths)])
    message.sample_type.add(type=1, unit=2)
    for number, path in enumerate(paths, 1):
        path.write_text(f"the text of {path.name}\n")
        message.function.add(id=number, name=number + 2, filename=number + 2)
        message.location.add(id=number).line.add(function_id=number, line=1)
        message.sample.add(location_id=[number], value=[1])
    (prof.folder / "in.pb.gz").write_bytes(gzip.compress(message.SerializeToString()))
    assert prof("convert", "in.pb.gz", "--source", "-o", "page.html").returncode == 0
    page = show()
    texts = page.value("[...prof.profile.sources].map(([file, lines]) => [prof.profile.files[file], lines.get(1)])")
    assert sorted(texts) == sorted([str(path), f"the text of {path.name}"] for path, shown in paths.items() if shown)


def test_the_page_is_opened_on_request(prof, tmp_path):
    opened = tmp_path / "opened"
    os.mkfifo(opened)
    reader = os.open(opened, os.O_RDWR)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "xdg-open").write_text(f'#!/bin/sh\necho "$1" >{opened}\n')
    (tmp_path / "bin" / "xdg-open").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    assert prof("record", "--open", "--", "true", env=environment).returncode == 0
    assert select.select([reader], [], [], TIME_LIMIT_S)[0], "nobody has opened it"
    assert os.read(reader, 100) == b"prof.html\n"
    os.close(reader)
    assert (tmp_path / "prof.html").stat().st_size > 1000


def test_the_page_is_written_even_if_nothing_can_open_it(prof):
    result = prof("record", "--open", "-o", "x.html", "--", "/bin/true", env={"PATH": "/nonexistent"})
    assert result.returncode == 0
    assert "xdg-open" in result.stderr and "open x.html by hand" in result.stderr
    assert (prof.folder / "x.html").exists()


COMPARISON = """
import { gzipSync } from "node:zlib";
import { encode } from "%s/web/tests/encode.mjs";
const bytes = encode({ info: { compares: true }, events: [{ name: "after", oneValue: true }, { name: "before", oneValue: true }], samples: [
    { stack: ["main", "parse"], samples: 60 }, { stack: ["main", "parse"], event: 1, samples: 20 },
    { stack: ["main", "write"], samples: 20 }, { stack: ["main", "write"], event: 1, samples: 40 },
    { stack: ["main", "same"], samples: 20 }, { stack: ["main", "same"], event: 1, samples: 20 },
    { stack: ["main", "gone"], event: 1, samples: 20 }] });
console.log(gzipSync(bytes).toString("base64"));
"""


def test_a_comparison_shows_what_changed_in_words_and_colours(prof, client, show):
    node = subprocess.run([client("node"), "--input-type=module"], input=COMPARISON % SOURCE, text=True, check=False,
                          capture_output=True)
    assert node.returncode == 0, node.stderr
    (prof.folder / "in.folded").write_text("a 1\n")
    assert prof("convert", "in.folded", "-o", "page.html").returncode == 0
    text = (prof.folder / "page.html").read_text()
    (prof.folder / "page.html").write_text(re.sub('(id="data">)[^<]*', rf"\g<1>{node.stdout}", text))
    page = show()
    assert set(boxes(page)) == {"all", "=  main", "▲ 40  parse", "=  same", "▼ 20  write"}
    fills = page.value("Object.fromEntries(prof.graph.boxes.node.map((node) => [prof.graph.nameOf(node), prof.graph.fillOf(node)]))")
    red, blue = (tuple(int(fills[name][at:at + 2], 16) for at in (1, 3, 5)) for name in ("▲ 40  parse", "▼ 20  write"))
    assert red[0] > red[2] and blue[2] > blue[0]
    page.press_on("#tab-functions")
    page.press_on("[data-column=change] button")
    page.until("document.querySelector('#function-table tbody tr').innerText.includes('parse')")
    assert "▼ 20" in page.value("[...document.querySelectorAll('#function-table tr')].find((row) => row.innerText.includes('gone')).innerText")
    page.key("1")
    page.value("prof.go({event: 1})")
    assert widths(page)["▼ 20  gone"] == 0.2


BAD_NAMES = [
    b"<img src=x onerror=alert(1)>", b"</script><script>alert(1)</script>", b"\"'&amp;--><!--", b"a\x01b\x7f",
    "\u202eevil\u2066".encode(), b"\xff\xfe\xc0\x80", b"x" * 65536, "函数 \U0001f525 é".encode(), b"@DATA@", b"${1+1}`",
    b"__proto__", b"constructor",
]


def test_names_with_markup_are_shown_as_text(show, prof):
    page = show(b"".join(b"p;main;%s 10\n" % name for name in BAD_NAMES))
    page.value("window.alert = () => { throw new Error('script ran') }")
    for hash in ("#view=functions&fn=2", "#view=calls", "#names=full&colours=module", "#shape=inverted&q=%3C"):
        page.value(f"location.hash = {json.dumps(hash)}")
        page.until(f"location.hash === {json.dumps(hash)}")
        page.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    names = page.value("prof.full.join('')")
    assert not re.search("[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]", names)
    assert page.value("document.querySelectorAll('img, body script:not([type])').length") == 0
    page.value("prof.go({...prof.state, view: 'graph', shape: 'icicle', q: ''})")
    page.value("prof.saveSvg()")
    parsed = "new DOMParser().parseFromString(prof.lastSvg, 'image/svg+xml').querySelector('parsererror')"
    assert page.value(f"{parsed} === null")
    assert page.value("document.documentElement.scrollWidth <= innerWidth")


def test_an_empty_profile_makes_a_page_that_says_so(prof, show):
    assert prof("record", "-o", "page.html", "-e", "cpu-clock:u", "-c", "100000000000", "--", "true").returncode == 0
    page = show()
    assert "no samples" in page.value("document.getElementById('empty').innerText")


def test_a_profile_of_another_profiler_is_shown_with_all_its_events(prof, show):
    assert prof("convert", GO_CPU, "-o", "page.html").returncode == 0
    page = show()
    assert "runtime.main" in boxes(page)
    assert len(page.value("[...document.querySelectorAll('#measure option')].map((option) => option.value)")) >= 2


def test_the_theme_follows_the_system_until_the_user_chooses_one(show):
    page = show(SHOP, scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.value(ground)
    page.prefer("light")
    page.until(f"{ground} !== {json.dumps(dark)}")
    page.press_on("#theme")
    page.until(f"{ground} === {json.dumps(dark)}")
    page.value("localStorage.clear()")


@pytest.mark.parametrize("width", [1600, 420])
def test_nothing_is_wider_than_the_window(show, width):
    page = show(SHOP, width=width, height=800)
    for view in ("graph", "functions", "calls"):
        page.value(f"prof.go({{view: '{view}', fn: 1}})")
        page.until(f"!document.getElementById('{view}').hidden")
        assert page.value("document.documentElement.scrollWidth") <= width


def test_every_control_has_an_accessible_name(show):
    page = show(SHOP)
    nameless = page.value("""[...document.querySelectorAll('button, input, select, summary, canvas, [role]')].filter((element) =>
        !(element.ariaLabel || element.getAttribute('aria-labelledby') || element.labels?.length || element.title ||
          element.textContent.trim() || element.ariaHidden || element.role === 'status' || element.role === 'tooltip' ||
          element.role === 'search')).map((element) => element.outerHTML)""")
    assert nameless == []
    assert page.value("document.getElementById('search').type") == "search"
    assert page.value("document.getElementById('state').getAttribute('role')") == "status"


def test_a_page_of_100_000_nodes_opens_at_once(show):
    lines = (f"p;main;f{i % 10};g{i % 1000};h{i} {1 + i % 7}" for i in range(100_000))
    page = show("\n".join(lines) + "\n")
    assert page.value("prof.tree().count") > 100_000
    assert "too narrow to draw" in state(page)
    assert page.value("prof.graph.boxes.node.length") < 20_000


def test_a_click_on_the_rest_box_shows_the_boxes_that_were_too_narrow(show):
    page = show("".join(f"main;f{i} 1\n" for i in range(5000)) + "main;wide 5000\n")
    assert sorted(boxes(page)) == ["all", "main", "wide"]
    x, y, width = boxes(page)["main"]
    page.move(x + width * 0.75, y + 28)
    page.until("document.getElementById('tip').textContent.startsWith('5,000 frames too narrow to draw')")
    page.click(x + width * 0.75, y + 28)
    page.until("document.querySelector('#crumbs [aria-current]').textContent === 'narrow ones'")
    assert widths(page)["main"] == 1
    page.value("prof.graph.canvas.focus()")
    page.key("Backspace")
    page.until("document.querySelector('#crumbs [aria-current]').textContent === 'main'")


def test_samples_are_filtered_and_grouped_by_their_labels(prof, show):
    assert prof("convert", GO_CPU, "-o", "page.html").returncode == 0
    page = show()
    assert "180 ms (100.0%)" in state(page)
    page.value("prof.go({threads: 'request=check*'})")
    until_state(page, "70 ms")
    page.value("prof.go({threads: ''})")
    options = page.value("[...document.getElementById('group').options].map((option) => option.value)")
    assert options[-1] == "label:request"
    page.value("""(() => {
        const group = document.getElementById("group");
        group.value = "label:request";
        group.dispatchEvent(new Event("change"));
    })()""")
    page.until("location.hash.includes('group=label')")
    assert widths(page)["checkout"] == 0.39 and widths(page)["(none)"] == 0.61


RUNTIME = """\
shop;start_thread;tokio::runtime::run;tokio::runtime::poll;shop::handler;core::ops::function::call;shop::crunch 60
shop;start_thread;tokio::runtime::run;shop::handler;malloc 30
shop;start_thread;tokio::runtime::park 10
"""


def test_a_key_and_a_switch_show_the_logical_view(show):
    page = show(RUNTIME)
    page.key("L")
    page.until("location.hash.includes('logical=on')")
    assert widths(page) == {"all": 1, "shop::handler": 0.9, "shop::crunch": 0.6, "malloc": 0.3, "[tokio runtime]": 0.1}
    assert page.value("document.getElementById('logical').checked")
    page.value("document.getElementById('logical').click()")
    page.until("!location.hash.includes('logical')")
    assert widths(page)["tokio::runtime::run"] == 0.9


def test_the_logical_view_is_in_the_address_and_its_folded_calls_can_be_opened(show):
    page = show(RUNTIME, hash="#logical=on&view=calls")
    assert "shop::handler [3 folded]" in page.value("document.getElementById('call-tree').textContent")
    page.value("""(() => {
        const row = [...document.querySelectorAll('[data-node]')].find((row) => row.textContent.includes('shop::handler'));
        row.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, button: 2, clientX: 50, clientY: 300 }));
    })()""")
    page.value("[...document.querySelectorAll('#menu button')].find((button) => button.textContent.includes('folded')).click()")
    page.until("!location.hash.includes('logical')")
    page.until("document.querySelector('#crumbs [aria-current]').textContent === 'start_thread'")


def test_lanes_and_header_show_the_sums_of_the_rows_in_the_terminal(prof, ordinary, paranoid, show, target):
    paranoid(2)  # what the kernel does is not sampled
    command = f"{ordinary.bring(target('threads'))}; ls -l /usr/bin; ls -l /usr/bin"
    ordinary.run("record", "-F", "99", "-o", "page.html", "-o", "x.pb.gz", "--", "/bin/sh", "-c", command)
    for name in "page.html", "x.pb.gz":
        shutil.copy(ordinary.folder / name, prof.folder)
    report = json.loads(prof.run("report", "--json", "--by", "thread", "--min", "0", "-n", "100", "x.pb.gz").stdout)
    whole = report["all"]["weight"]
    assert sum(row["total"]["weight"] for row in report["rows"]) == whole
    assert any(row["total"]["weight"] and not row["total"]["samples"] for row in report["rows"])
    page = show()
    lanes = page.value("prof.timeline.lanes.map(({name, id, share}) => [name, id, share])")
    assert sorted((name, id, pytest.approx(share)) for name, id, share in lanes) == sorted(
        (row["name"], str(row["tid"]) if row["tid"] >= 0 else "", row["total"]["weight"] / whole) for row in report["rows"])
    until_state(page, "(100.0%)")
    assert page.value("prof.tree().total(0)") == whole


def test_the_page_is_small(prof):
    (prof.folder / "in.folded").write_text("a;b 1\n")
    assert prof("convert", "in.folded", "-o", "page.html").returncode == 0
    assert (prof.folder / "page.html").stat().st_size <= 193_000


def lane(page, row, share):
    """A place in a lane: of its thread at that share of the shown time."""
    x, y, width = page.value("(({x, y}) => [x, y, prof.timeline.width])(document.getElementById('lane-canvas').getBoundingClientRect())")
    return x + width * share, y + 44 + 18 * row + 9


def sums(page):
    return page.value("[...document.querySelectorAll('#state-sums span')].map((item) => item.textContent)")


def test_a_switch_shows_cpu_time_waiting_or_both(waiting):
    page = waiting()
    assert page.value("document.getElementById('measure').hidden")
    assert page.value("document.querySelector('#time-kinds [aria-pressed=true]').textContent") == "Both"
    assert widths(page) == {"all": 1, "main": 1, "serve": 1, "work": 0.5, "[wanted a CPU]": 0.1, "take": 0.3, "[mutex held by worker-2 in commit]": 0.3,
                            "fetch": 0.2, "[recv socket]": 0.2}
    page.press_on("[data-measure=cpu]")
    page.until("location.hash.includes('event=1')")
    assert widths(page) == {"all": 1, "main": 1, "serve": 1, "work": 1}
    until_state(page, "8 s (100.0%)")
    page.key("e")
    page.until("document.querySelector('#time-kinds [aria-pressed=true]').textContent === 'Waiting'")
    assert widths(page)["take"] == 0.5 and widths(page)["work"] == 0.17
    until_state(page, "12 s (100.0%)")


def test_the_head_of_a_page_of_waiting_says_where_the_time_went(waiting):
    page = waiting()
    assert page.value("document.getElementById('went').textContent") == "of 5020 thread-seconds 8 CPU, 2 wanted a CPU, 5010 waiting"
    assert sums(page) == ["running 8 s", "wanted a CPU 2 s", "locks, threads 6 s", "network 4 s"]


def test_idle_threads_are_hidden_until_they_are_asked_for(waiting):
    page = waiting()
    lanes = "[...document.querySelectorAll('#lane-names bdi')].map((name) => name.textContent)"
    assert page.value(lanes) == ["worker-1", "worker-2"]
    assert page.value("document.getElementById('idle-words').textContent") == "1 idle thread hidden"
    until_state(page, "filtered: 20 s of 5,020 s")
    page.press_on("#idle")
    page.until(f"{lanes}.length === 3")
    assert page.value(lanes)[2] == "pool × 500 threads"
    until_state(page, "5,020 s (100.0%)")
    page.key("d")
    page.until(f"{lanes}.length === 2")


def test_a_lane_tells_what_its_thread_did(waiting):
    page = waiting()
    page.move(*lane(page, 0, 0.2))
    tip = "document.getElementById('tip').innerText"
    page.until(f"!document.getElementById('tip').hidden && {tip}.includes('running')")
    page.move(*lane(page, 0, 0.65))
    page.until(f"{tip}.includes('3 s of locks, threads, from 5 s to 8 s')")
    words = page.value(tip)
    assert words.startswith("worker-1 (11)") and "[mutex held by worker-2 in commit]" in words and "take ← serve ← main" in words
    page.move(*lane(page, 1, 0.95))
    page.until(f"{tip}.includes('short times of network: together 2 s within 4 s')")


def test_the_lanes_have_the_colours_of_the_reasons(waiting):
    page = waiting()
    colour = """((x, y) => { const {canvas} = prof.timeline, {x: left, y: top} = canvas.getBoundingClientRect();
        const copy = document.createElement("canvas"), context = copy.getContext("2d", {willReadFrequently: true});
        [copy.width, copy.height] = [canvas.width, canvas.height];
        context.drawImage(canvas, 0, 0);
        return [...context.getImageData(x - left, y - top, 1, 1).data].slice(0, 3); })"""
    swatches = page.value("""[...document.querySelectorAll('#state-sums .swatch')].map((swatch) => getComputedStyle(swatch).backgroundColor.match(/\\d+/g).map(Number))""")
    at = [page.value(f"{colour}({x}, {y})") for x, y in (lane(page, 0, 0.2), lane(page, 0, 0.45), lane(page, 0, 0.65))]
    assert at == swatches[:3]
    page.press_on("[data-measure=cpu]")
    page.until(f"String({colour}({lane(page, 0, 0.65)[0]}, {lane(page, 0, 0.65)[1]})) !== '{','.join(map(str, swatches[2]))}'")


def test_a_drag_takes_a_range_and_parts_of_waits_count(waiting):
    page = waiting()
    page.drag(*lane(page, 0, 0.6), *lane(page, 0, 0.7))
    page.until("location.hash.includes('to=')")
    assert page.value("prof.state.threads") == ""
    page.value("prof.go({from: 6000000, to: 7000000})")
    assert sums(page) == ["running 1 s", "locks, threads 1 s", "network 500 ms"]
    page.value("prof.go({from: 8500000, to: 9500000})")
    assert sums(page) == ["network 1.5 s"]
    page.press_on("#whole")
    page.until("!prof.range()")


def test_a_drag_over_lanes_takes_their_threads_too(waiting):
    page = waiting(hash="#idle=shown")
    page.drag(*lane(page, 0, 0.6), *lane(page, 1, 0.7))
    page.until("prof.state.threads === '11,12'")
    page.value("prof.go({from: 0, to: 0})")
    until_state(page, "20 s (100.0%)")


def test_a_search_finds_reasons_of_waits(waiting):
    page = waiting(hash="#q=held%20by")
    page.until("document.getElementById('found').textContent.startsWith('30.0% in 1 place')")
    page.value("prof.go({only: 'matches'})")
    assert sums(page) == ["locks, threads 6 s"]


def test_waits_are_in_the_order_of_time(waiting):
    page = waiting(hash="#shape=order")
    assert page.value("prof.shownTree().inOrder && prof.shownTree().total(0)") == 20e9
    assert {"[wanted a CPU]", "[recv socket]"} <= set(boxes(page))


def test_a_recording_of_waiting_shows_what_threads_wait_for(prof, target, show):
    prof.run("record", "--wall", "-o", "page.html", "--", target("waits"), "1", "1000", "20000", "mutex", "sleep")
    page = show()
    assert re.fullmatch(r"of [\d.]+ thread-seconds [\d.]+ CPU, [\d.]+ wanted a CPU, [\d.]+ waiting", page.value("document.getElementById('went').textContent"))
    page.press_on("[data-measure=waiting]")
    page.value("prof.go({threads: 'wants_lock'})")
    assert any(text.startswith("locks, threads ") for text in sums(page))
    running, wanted, locks, *others = page.value("[...prof.stateSums()]")  # on a busy machine CPUs may be wanted for longer
    assert locks > max(others), (running, wanted, locks, *others)
    whole = page.value("prof.tree().total(0)")
    halves = [page.value(f"(() => {{ prof.go({{from: {begin}, to: {end}}}); return prof.tree().total(0); }})()")
              for begin, end in (("0", "400000"), ("400000", "prof.profile.info.durationUs + 1"))]
    assert sum(halves) == pytest.approx(whole, rel=0.001) and min(halves) > 0.1 * whole


def test_memory_is_shown_in_bytes_objects_and_live_bytes(show, prof, client):
    page = memory_page(show, prof, client)
    assert "262 MB" in state(page)
    assert page.value("document.querySelector('#memory-kinds [aria-pressed=true]').textContent") == "Bytes"
    page.press_on("#memory-kinds [data-memory=objects]")
    until_state(page, "4,096,000 objects")
    page.press_on("#memory-kinds [data-memory=live]")
    until_state(page, "10.5 MB")
    page.key("e")
    until_state(page, "262 MB")


def test_the_peak_of_live_memory_can_be_selected(show, prof, client):
    page = memory_page(show, prof, client, "--cpu")
    assert page.value("document.getElementById('peak').textContent") == "Live: peak 51.9 MB at 4.95 s"
    page.press_on("#peak")
    until_state(page, "51.9 MB (100.0%) · live at 4.95 s")
    assert widths(page)["grow"] == 0.81
    page.key("w")
    until_state(page, "10.5 MB")


def test_a_range_of_the_line_of_live_memory_has_what_was_allocated_in_it(show, prof, client):
    page = memory_page(show, prof, client)
    left, top, right, bottom = page.value("(({ left, top, right, bottom }) => [left, top, right, bottom])(document.getElementById('live-canvas').getBoundingClientRect())")
    middle = (top + bottom) / 2
    page.drag((left + right) / 2, middle, right - 20, middle)
    page.until("location.hash.includes('from=')")
    assert 0 < page.value("prof.tree().total(0)") < 130 * 1048576
    page.move(left + 0.4 * (right - left), middle)
    page.until("document.getElementById('tip').textContent.includes(' live')")


def cell(page, hour, minute, second):
    """The middle of a cell of the heat map: that second of that minute."""
    at = f"((({hour} - 12) * 60 + {minute} - 30) * 60 + {second}) * 1e6"
    return page.value(f"""(() => {{
        const {{map}} = prof, cell = Math.floor(({at} - map.grid.start) / map.grid.rowUs), {{x, y}} = map.canvas.getBoundingClientRect();
        return [x + map.x(Math.floor(cell / map.grid.rows) + 0.5), y + map.y(cell % map.grid.rows + 0.5)];
    }})()""")


def test_a_long_recording_is_a_heat_map_by_the_clock(hours):
    page = hours()
    assert page.value("document.getElementById('heat-units').textContent") == "Minutes across, seconds down"
    assert page.value("document.getElementById('heat-most').textContent") == "2 s"
    tip = "document.getElementById('tip').innerText"
    page.move(*cell(page, 13, 5, 30))
    page.until(f"{tip} === '2026-11-24 13:05:30 to 13:05:31\\n1 s'")
    page.move(*cell(page, 14, 5, 30))
    page.until(f"{tip} === '2026-11-24 14:05:30 to 14:05:31\\n2 s'")
    page.value("prof.go({threads: 'backup'})")
    page.move(*cell(page, 13, 5, 30))
    page.until(f"{tip} === '2026-11-24 13:05:30 to 13:05:31\\nnothing'")


def test_a_click_takes_a_cell_and_the_next_one_all_from_there(hours):
    page = hours()
    page.click(*cell(page, 13, 59, 0))
    until_state(page, "2026-11-24 13:59:00 to 13:59:01")
    assert widths(page) == {"all": 1, "server (10)": 1, "main": 1, "serve": 1}
    page.click(*cell(page, 14, 0, 59))
    until_state(page, "180 s (100.0%)")
    until_state(page, "2026-11-24 13:59 to 14:01")
    page.click(*cell(page, 14, 2, 10))
    until_state(page, "2026-11-24 14:02:10 to 14:02:11")
    page.value("history.back()")
    until_state(page, "2026-11-24 13:59 to 14:01")
    page.press_on("#whole")
    page.until("!prof.range()")


def test_a_drag_over_the_heat_map_takes_a_range_that_can_be_magnified(hours):
    page = hours()
    page.drag(*cell(page, 14, 0, 0), *cell(page, 14, 3, 59))
    until_state(page, "2026-11-24 14:00 to 14:04")
    assert page.value("document.getElementById('from').value") == "2026-11-24T14:00"
    page.press_on("#magnify")
    page.until("document.getElementById('heat-units').textContent === 'Seconds across, 50 ms down'")
    page.move(*cell(page, 14, 2, 10.525))
    page.until("document.getElementById('tip').innerText.startsWith('2026-11-24 14:02:10.500 to 14:02:10.550')")


def test_the_heat_map_is_usable_by_keyboard(hours):
    page = hours()
    page.value("document.getElementById('heat-canvas').focus()")
    for key in ("End", "ArrowLeft", "ArrowUp"):
        page.key(key)
    until_state(page, "2026-11-24 15:28:58 to 15:28:59: 1 s")
    page.key("Enter")
    until_state(page, "2026-11-24 15:28:58 to 15:28:59")
    page.key("ArrowDown", "shift")
    page.key("ArrowRight", "shift")
    page.until("prof.range() && prof.range()[1] - prof.range()[0] === 62e6")
    page.key("Escape")
    page.until("!prof.range()")


def test_the_lanes_of_a_long_recording_are_a_choice_away_and_in_the_link(hours):
    page = hours()
    page.value("document.getElementById('lanes').value = 'threads'")
    page.value("document.getElementById('lanes').dispatchEvent(new Event('change'))")
    page.until("location.hash === '#lanes=threads' && document.getElementById('heat').hidden && !document.getElementById('lane-pictures').hidden")
    assert page.value("[...document.querySelectorAll('#lane-names bdi')].map((name) => name.textContent)") == ["server", "backup"]
