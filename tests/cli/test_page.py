"""The HTML report in a real browser, used with mouse and keyboard."""

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
    """show(folded stacks) opens their page, which must have had no problems or requests at the end of the test."""
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
    """The page of a server that waits: `show` with the data of web/tests/waiting.mjs."""
    write_page(prof, client, "waiting.mjs")
    return show


@pytest.fixture
def elapsed(show, prof, client):
    """The page of two threads with elapsed time: `show` with the data of web/tests/elapsed.mjs."""
    write_page(prof, client, "elapsed.mjs")
    return show


@pytest.fixture
def hours(show, prof, client):
    """The page of three hours: `show` with the data of web/tests/hours.mjs."""
    write_page(prof, client, "hours.mjs")
    return show


def memory_page(show, prof, client, *words):
    """The page of a program that allocates: `show` with the data of web/tests/memory.mjs."""
    write_page(prof, client, "memory.mjs", *words)
    return show()


def write_page(prof, client, script, *words):
    """Writes page.html with the data of a script in web/tests."""
    (prof.folder / "in.folded").write_text("a 1\n")
    assert prof("convert", "in.folded", "-o", "page.html").returncode == 0
    data = subprocess.run([client("node"), SOURCE / "web" / "tests" / script, *words], check=True, capture_output=True, text=True,
                          timeout=TIME_LIMIT_S).stdout
    path = prof.folder / "page.html"
    path.write_text(re.sub(r'(id="data">)[^<]*', lambda found: found[1] + data, path.read_text()))


def boxes(page):
    """The drawn boxes of the flame graph: name → [x, y, width] in the page's coordinates, and their nodes."""
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
    """Returns the width of each function relative to the width of all."""
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
    until_state(page, "without matches of log")
    page.value("prof.go({only: 'hidden', q: 'serve|next'})")
    assert widths(page) == {"all": 1, "main": 0.9, "read": 0.4, "log": 0.2, "write": 0.2, "thread_start": 0.1}


DEEP = ";".join(["shop", *(f"f{i}" for i in range(60)), "needle", "eye"])


def hits(page):
    """The listed functions that match the search, with their shares."""
    return page.value("[...document.querySelectorAll('#hits li')].map((item) => [item.querySelector('.share')?.textContent, item.querySelector('button').textContent])")


def until_visible(page, name, depth):
    """Waits until a box of a function is in the visible part of the graph, below so many rows."""
    page.until(f"""(() => {{ const {{graph}} = prof, {{boxes}} = graph, isVisible = (y) => y >= 0 && y + 20 <= graph.height;
        return [...boxes.node.keys()].some((i) => boxes.node[i] >= 0 && graph.nameOf(boxes.node[i]) === {json.dumps(name)} &&
            boxes.depth[i] > {depth} && isVisible(graph.top(boxes.depth[i]))); }})()""")


def test_a_search_scrolls_to_its_first_hit_and_lists_its_hits_with_their_shares(show):
    page = show(f"{DEEP} 60\nshop;f0;needle 30\nshop;other 10\n")
    page.press_on("#search")
    page.write("needle|eye")
    until_visible(page, "needle", 50)
    page.until("document.querySelectorAll('#hits li').length === 2")
    assert hits(page) == [["90.0%", "needle"], ["60.0%", "eye"]]
    page.key("ArrowDown")
    page.key("ArrowDown")
    page.until("document.activeElement.textContent === 'eye'")
    page.key("Enter")
    until_state(page, "eye: 60.0% total")
    page.press_on("#search")
    page.value("document.getElementById('search').select()")
    page.write("f\\d+")
    page.until("document.querySelectorAll('#hits li').length === 11")
    assert hits(page)[0] == ["90.0%", "f0"] and hits(page)[-1] == [None, "50 more functions"]


def test_a_search_steps_through_its_hits_in_each_view(show):
    page = show(f"{DEEP} 60\nshop;f0;needle 30\nshop;other 10\n", hash="#view=calls&q=needle")
    current = "document.querySelector('#call-tree [aria-selected=true]')"
    at = f"(({{y, bottom}}) => {current}.textContent.endsWith('needle') && y >= 0 && bottom <= innerHeight && Number({current}.ariaLevel))({current}.getBoundingClientRect())"
    page.key("n")
    page.until(f"{at} > 60")
    until_state(page, "1 of 2 · needle: 60.0% total")
    page.key("n")
    page.until(f"{at} < 6")
    until_state(page, "2 of 2 · needle: 30.0% total")
    page.value("prof.go({view: 'functions', q: 'needle|eye', fn: -1})")
    page.key("n")
    page.until("prof.full[prof.state.fn] === 'eye'")
    page.key("n")
    page.until("prof.full[prof.state.fn] === 'needle'")


def test_the_kept_matches_are_a_filter_that_can_be_removed(show):
    page = show(SHOP, hash="#q=log&only=matches")
    filters = "[...document.querySelectorAll('#steps button')].map((filter) => filter.textContent)"
    assert page.value(filters) == ["only matches of log ×"]
    assert page.value("prof.tree().total(0)") == 20
    page.press_on("#steps button")
    page.until("prof.tree().total(0) === 100")
    assert page.value(filters) == [] and page.value("prof.state.q") == "log"


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


SHARED = """\
shop;_start;__libc_main;main;serve;read 40
shop;_start;__libc_main;main;serve;write 30
shop;_start;__libc_main;main;log 30
"""


def test_callers_that_all_samples_share_are_one_row_that_a_click_opens(show):
    page = show(SHARED)
    row = "_start → … → main, 3 frames"
    assert widths(page) == {"all": 1, row: 1, "serve": 0.7, "read": 0.4, "write": 0.3, "log": 0.3}
    tops = {name: top for name, (_, top, _) in boxes(page).items()}
    assert tops["serve"] - tops[row] == tops[row] - tops["all"]
    page.value("prof.graph.canvas.focus()")
    for _ in range(2):
        page.key("ArrowDown")
    until_state(page, "serve: 70.0% total")
    page.key("ArrowUp")
    until_state(page, "main: 100.0% total")
    click_box(page, row)
    page.until("location.hash.includes('shared=shown')")
    assert widths(page) == {"all": 1, "_start": 1, "__libc_main": 1, "main": 1, "serve": 0.7, "read": 0.4, "write": 0.3, "log": 0.3}
    page.value("prof.go({fn: -1})")
    until_state(page, "100 samples (100.0%)")
    page.value("prof.go({shared: 'folded', view: 'calls'})")
    rows = "[...document.querySelectorAll('#call-tree [role=treeitem] .name')].map((name) => name.textContent)"
    assert page.value(rows) == ["all", row, "serve", "read", "write", "log"]  # opened up to the hottest
    page.value("document.querySelectorAll('#call-tree [role=treeitem]')[1].click()")
    page.until("location.hash.includes('shared=shown')")
    assert page.value(rows)[:4] == ["all", "_start", "__libc_main", "main"]


def test_a_search_opens_the_row_of_shared_callers_if_its_hit_is_in_it(show):
    page = show(SHARED)
    x, y, _ = boxes(page)["_start → … → main, 3 frames"]
    page.move(x + 50, y + 8)
    page.until("document.getElementById('tip').innerText.startsWith('_start → … → main, 3 frames')")
    page.key("/")
    page.write("^__libc")
    page.until("document.getElementById('found').textContent.startsWith('100.0%')")
    page.key("Enter")
    page.until("prof.state.shared === 'shown'")
    assert "__libc_main" in boxes(page)
    page.value("prof.go({shared: 'folded', view: 'calls', q: '^(log|__libc)'})")
    page.value("document.getElementById('search').focus()")
    for _ in range(2):
        page.key("Enter")
    page.until("prof.state.shared === 'shown' && document.querySelector('#call-tree .match') !== null")


def lists(page):
    """The lists in the panel: title → [[share, function]]."""
    return page.value("""Object.fromEntries([...document.querySelectorAll('#details h2 + ol')].map((list) =>
        [list.previousSibling.textContent, [...list.children].map((item) => [...item.children].map((part) => part.textContent))]))""")


def test_the_panel_has_the_hottest_own_functions_and_callers_and_callees_of_the_selected_one(show):
    page = show(SHOP)
    page.until("document.querySelectorAll('#details li').length > 0")
    assert lists(page)["Your hottest functions, with the library code they call"][0] == ["40.0%", "read"]
    click_box(page, "serve")
    page.until("document.getElementById('details').classList.contains('chosen')")
    assert lists(page) == {"Callers": [["70.0%", "main"]], "Callees": [["70.0%", "next"]]}


def test_the_panel_has_what_the_selected_function_waits_for(waiting):
    page = waiting()
    click_box(page, "serve")
    page.until("document.getElementById('details').classList.contains('chosen')")
    assert lists(page)["Waits"] == [["30.0%", "[mutex held by worker-2 in commit]"], ["20.0%", "[recv socket]"], ["10.0%", "[runnable]"]]


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


def test_long_names_and_paths_keep_their_end_and_a_hover_shows_them_whole(show, prof):
    name = "shop::storage::engine::LogStructuredMergeTree::compact_the_levels"
    path = "/home/user/.cargo/registry/src/storage-1.0/src/merge.rs"
    message = profile_message()(string_table=["", "samples", "count", name, path])
    message.sample_type.add(type=1, unit=2)
    message.function.add(id=1, name=3, filename=4, start_line=7)
    message.location.add(id=1).line.add(function_id=1, line=9)
    message.sample.add(location_id=[1], value=[1])
    (prof.folder / "in.pb.gz").write_bytes(gzip.compress(message.SerializeToString()))
    assert prof("convert", "in.pb.gz", "-o", "page.html").returncode == 0
    page = show()
    cell = "document.querySelector('#function-table tbody tr .file')"
    page.value("prof.go({view: 'functions'})")
    assert page.until(f"{cell} && {cell}.textContent") == "…/storage-1.0/src/merge.rs:7"
    assert page.value(f"{cell}.title") == f"{path}:7"
    button = "document.querySelector('#details .name')"
    assert page.until(f"{button} && {button}.title") == name
    right = f"(({{right}}) => right)({button}.lastChild.getBoundingClientRect())"
    assert page.value(f"{button}.lastChild.textContent") == "compact_the_levels"
    assert page.value(f"{button}.lastChild.scrollWidth <= {button}.lastChild.clientWidth")  # the scopes are cut instead
    assert page.value(f"{button}.firstChild.scrollWidth > {button}.firstChild.clientWidth && {right} <= innerWidth")


def test_the_call_tree_is_usable_by_keyboard(show):
    page = show(SHOP, hash="#view=calls")
    rows = "[...document.querySelectorAll('[role=tree] [role=treeitem]')]"
    focused = "document.activeElement.getAttribute('aria-label')"
    page.value(f"{rows}[0].focus()")
    page.key("End")
    page.until(f"{focused}.endsWith(' thread_start')")
    page.key("Home")
    page.key("ArrowRight")
    page.until(f"{focused} === '90.0% 0% main'")
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
    page.wheel(left + wide - 1, top + 8, -100, modifiers=("control",))
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
    """A profile from another person may name any file."""
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
const changes = { parse: [[0.2, 0.6, 0.02, 2], [0.2, 0.6, 0.02, 2]], write: [[0.4, 0.2, 0.02, 2], [0.4, 0.2, 0.02, 2]],
    gone: [[0.2, 0, 0.02, 2], [0.2, 0, 0.02, 2]] };
const bytes = encode({ info: { compares: true, comparison: { changes } }, events: [{ name: "after", oneValue: true }, { name: "before", oneValue: true }], samples: [
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
    assert set(boxes(page)) == {"all", "=  main", "▲ +40.0  parse", "=  same", "▼ -20.0  write"}
    fills = page.value("Object.fromEntries(prof.graph.boxes.node.map((node) => [prof.graph.nameOf(node), prof.graph.fillOf(node)]))")
    orange, blue = (tuple(int(fills[name][at:at + 2], 16) for at in (1, 3, 5)) for name in ("▲ +40.0  parse", "▼ -20.0  write"))
    assert orange[0] > orange[2] and blue[2] > blue[0]
    page.press_on("#tab-functions")
    page.press_on("[data-column=change] button")
    page.until("document.querySelector('#function-table tbody tr').innerText.includes('parse')")
    assert "▼ -20.0 ± 2.0" in page.value("[...document.querySelectorAll('#function-table tr')].find((row) => row.innerText.includes('gone')).innerText")
    page.key("1")
    page.value("prof.go({event: 1})")
    assert widths(page)["▼ -20.0  gone"] == 0.2


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


def problems_of_axe(page, package):
    """The rules of axe that the page violates, with the first element of each."""
    page.value((package("axe-core") / "axe.min.js").read_text() + "; true")
    return page.value("""axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations.map(({id, impact, nodes}) =>
        [impact, id, nodes[0].html.slice(0, 200), nodes[0].failureSummary]))""")


@pytest.mark.parametrize("scheme, width", [("light", 1280), ("dark", 1280), ("light", 390)])
def test_axe_finds_no_problem_in_any_view(waiting, node_package, scheme, width):
    page = waiting(scheme=scheme, width=width)
    for change in ("{}", "{view: 'functions', fn: 3, q: 'e'}", "{view: 'calls', fn: -1}", "{view: 'graph', shape: 'order', only: 'matches', colours: 'module'}"):
        page.value(f"prof.go({change}); prof.showDetails()")  # which is otherwise filled a moment later
        assert problems_of_axe(page, node_package) == [], change


def test_axe_finds_no_problem_in_a_heat_map_and_in_the_help(hours, node_package):
    page = hours()
    assert problems_of_axe(page, node_package) == []
    page.press_on("#help")
    assert problems_of_axe(page, node_package) == []


# Controls that the Tab key must reach. Others are reached by arrow keys within their list, tree or table.
CONTROLS = """[...document.querySelectorAll('a, button, input, select, summary, [tabindex]')].filter((element) =>
    element.checkVisibility({checkVisibilityCSS: true}) && !element.disabled && element.tabIndex >= 0)"""


def test_a_keyboard_tour_reaches_every_control_once_and_shows_where_it_is(waiting):
    page = waiting()
    page.until("document.getElementById('details').childElementCount > 0")
    controls = page.value(f"({CONTROLS}).map((element, i) => element.dataset.tour = i)")
    stops = []
    for _ in controls:
        page.key("Tab")
        stops.append(page.value("Number(document.activeElement.dataset.tour ?? -1)"))
        shown = page.value("""(({matches, x, y, right, bottom, outline}) => [matches, x >= 0 && y >= 0 && right <= innerWidth && bottom <= innerHeight, outline])({
            matches: document.activeElement.matches(':focus-visible'), outline: getComputedStyle(document.activeElement).outlineStyle,
            ...document.activeElement.getBoundingClientRect().toJSON()})""")
        assert shown == [True, True, "solid"], page.value("document.activeElement.outerHTML.slice(0, 200)")
    assert stops == sorted(controls)
    others = page.value(f"""[...document.querySelectorAll('button[tabindex="-1"]')].filter((element) => element.checkVisibility() &&
        !element.closest('[role=tablist], [role=tree], tbody, #lane-names')).map((element) => element.outerHTML)""")
    assert others == []


def test_the_lanes_are_one_stop_of_the_tab_key(waiting):
    page = waiting()
    page.value("document.querySelector('#lane-names button').focus()")
    page.key("ArrowDown")
    page.key("Enter")
    page.until("prof.state.threads === '12'")
    page.until("document.activeElement === document.querySelectorAll('#lane-names button')[1] && document.activeElement.ariaPressed === 'true'")
    assert page.value("[...document.querySelectorAll('#lane-names button')].map(({tabIndex}) => tabIndex)") == [-1, 0]


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
    page.until("document.querySelector('#crumbs [aria-current]').textContent === 'narrow frames'")
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


MOSTLY_RUNTIME = """\
shop;start_thread;std::rt::a;std::rt::b;tokio::runtime::run;tokio::runtime::poll;shop::handler;shop::crunch 60
shop;start_thread;std::rt::a;std::rt::b;tokio::runtime::run;tokio::runtime::poll;shop::handler;malloc 40
"""


def test_a_page_opens_on_the_logical_view_if_most_frames_are_glue(show):
    page = show(MOSTLY_RUNTIME)
    assert widths(page) == {"all": 1, "shop::handler": 1, "shop::crunch": 0.6, "malloc": 0.4}
    assert page.value("document.getElementById('logical').checked")
    assert page.value("document.getElementById('logical-label').textContent.trim()") == "Logical folds 5 of 7 frames"
    until_state(page, "100 samples (100.0%)")
    page.press_on("#logical")
    page.until("location.hash.includes('logical=off')")
    assert set(boxes(page)) == {"all", "start_thread → … → shop::handler, 6 frames", "shop::crunch", "malloc"}
    until_state(page, "100 samples (100.0%)")
    page.key("L")
    page.until("location.hash === ''")


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
    paranoid(2)  # kernel code is not sampled
    command = f"{ordinary.bring(target('threads'))}; ls -l /usr/bin; ls -l /usr/bin"
    ordinary.run("record", "-F", "99", "-o", "page.html", "-o", "x.pb.gz", "--", "/bin/sh", "-c", command)
    for name in "page.html", "x.pb.gz":
        shutil.copy(ordinary.folder / name, prof.folder)
    report = json.loads(prof.run("report", "--json", "--by", "thread", "--min", "0", "-n", "100", "x.pb.gz").stdout)
    whole = report["all"]["weight"]
    assert sum(row["total"]["weight"] for row in report["rows"]) == whole
    assert any(row["total"]["weight"] and not row["total"]["samples"] for row in report["rows"])
    page = show()
    lanes = page.value("prof.timeline.lanes.map(({threads, share}) => [threads.map((thread) => prof.profile.threads[thread].tid), share])")
    for tids, share in lanes:
        assert share == pytest.approx(sum(row["total"]["weight"] for row in report["rows"] if row["tid"] in tids) / whole)
    assert {row["tid"] for row in report["rows"] if row["total"]["samples"]} <= {tid for tids, _ in lanes for tid in tids}
    until_state(page, "(100.0%)")
    assert page.value("prof.tree().total(0)") == whole


def test_the_page_is_small(prof):
    (prof.folder / "in.folded").write_text("a;b 1\n")
    assert prof("convert", "in.folded", "-o", "page.html").returncode == 0
    assert (prof.folder / "page.html").stat().st_size <= 200_000


def lane(page, row, share):
    """Returns a position in the lane of a thread, at that share of the shown time."""
    x, y, width = page.value("(({x, y}) => [x, y, prof.timeline.width])(document.getElementById('lane-canvas').getBoundingClientRect())")
    return x + width * share, y + 44 + 18 * row + 9


def sums(page):
    return page.value("[...document.querySelectorAll('#state-sums button')].map((item) => item.textContent)")


def test_a_switch_shows_cpu_time_waiting_or_both(waiting):
    page = waiting()
    assert page.value("document.getElementById('measure').hidden")
    assert page.value("document.querySelector('#time-kinds [aria-pressed=true]').textContent") == "Both"
    assert widths(page) == {"all": 1, "main": 1, "serve": 1, "work": 0.5, "[runnable]": 0.1, "take": 0.3, "[mutex held by worker-2 in commit]": 0.3,
                            "fetch": 0.2, "[recv socket]": 0.2}
    page.press_on("[data-measure=cpu]")
    page.until("location.hash.includes('event=1')")
    assert widths(page) == {"all": 1, "main": 1, "serve": 1, "work": 1}
    until_state(page, "8 s (100.0%)")
    page.key("e")
    page.until("document.querySelector('#time-kinds [aria-pressed=true]').textContent === 'Off-CPU'")
    assert widths(page)["take"] == 0.5 and widths(page)["work"] == 0.17
    until_state(page, "12 s (100.0%)")


def test_the_head_of_a_page_of_waiting_says_where_the_time_went(waiting):
    page = waiting()
    assert page.value("document.getElementById('went').textContent") == "5020 thread-seconds: 8 on CPU, 2 runnable, 5010 waiting"
    assert sums(page) == ["running 8 s", "runnable 2 s", "locks, threads 6 s", "network 4 s", "idle 5,000 s hidden"]


def test_idle_threads_are_hidden_until_they_are_asked_for(waiting):
    page = waiting()
    lanes = "[...document.querySelectorAll('#lane-names bdi')].map((name) => name.textContent)"
    assert page.value(lanes) == ["worker-1", "worker-2"]
    until_state(page, "filtered: 20 s of 5,020 s")
    page.press_on("#state-sums button:last-child")
    page.until(f"{lanes}.length === 3")
    assert sums(page)[-1] == "idle 5,000 s"
    assert page.value(lanes)[2] == "pool × 500 threads"
    until_state(page, "5,020 s (100.0%)")
    page.key("d")
    page.until(f"{lanes}.length === 2")


OFF_CPU = "".join(f"shop 10/11 [000] {at}.0: {ns} off-cpu:\n" + "".join(f"\t{0x1000 + i} {name} (/bin/shop)\n" for i, name in enumerate(stack)) + "\n"
                  for at, (ns, *stack) in enumerate([(1000000, "read", "shop::serve", "main"), (6000000, "tokio::runtime::park", "main"),
                                                     (2000000, "shop::serve", "tokio::runtime::park", "main")], 1))


def test_the_report_and_pages_hide_the_same_idle_time(show, prof):
    (prof.folder / "old.perf").write_text(OFF_CPU)
    (prof.folder / "new.perf").write_text(OFF_CPU.replace("2000000 off", "3000000 off"))
    assert "idle: 6 ms of waiting for work hidden" in prof.run("report", "-e", "off-cpu", "old.perf").stdout
    prof.run("convert", "old.perf", "-o", "page.html")
    page = show()
    until_state(page, "3 ms (100.0%)")
    assert "tokio::runtime::park" in boxes(page) and widths(page)["read"] == 0.33
    page.key("d")
    until_state(page, "9 ms (100.0%)")
    prof.run("diff", "-e", "off-cpu", "-o", "page.html", "old.perf", "new.perf")
    assert show().value("prof.tree().total(0)") == 4e6


def test_a_header_says_what_the_percentages_of_the_lanes_are(waiting):
    page = waiting()
    header = "document.querySelector('#lane-names .head').innerText.split(/\\s*\\n\\s*/).join(': ')"
    shares = "[...document.querySelectorAll('#lane-names button small')].map((text) => text.textContent)"
    assert page.value(header) == "2 threads: % of wall time"
    assert page.value(shares) == ["11 · 0.20%", "12 · 0.20%"]
    page.press_on("[data-measure=cpu]")
    page.until(f"{header} === '2 threads: % of CPU time'")
    assert page.value(shares) == ["11 · 50.0%", "12 · 50.0%"]


@pytest.mark.parametrize("width, height", [(1400, 900), (1280, 720), (1920, 1080)])
def test_the_lanes_take_at_most_a_third_of_the_first_screen(show, prof, client, width, height):
    write_page(prof, client, "waiting.mjs", "40")
    page = show(width=width, height=height)
    assert page.value("prof.timeline.lanes.length") == 42
    top, bottom = page.value("[document.getElementById('timeline').getBoundingClientRect().top, document.getElementById('states').getBoundingClientRect().bottom]")
    assert bottom - top <= height / 3


def test_the_entries_of_legends_are_filters(waiting):
    page = waiting()
    page.press_on("#state-sums button:nth-child(3)")
    until_state(page, "6 s (100.0%)")
    until_state(page, "only locks, threads")
    assert sums(page) == ["running 8 s", "runnable 2 s", "locks, threads 6 s", "network 4 s", "idle 5,000 s hidden"]
    page.press_on("#state-sums button:nth-child(4)", modifiers=("control",))
    until_state(page, "10 s (100.0%)")
    page.key("u")
    until_state(page, "20 s (100.0%)")
    page.press_on("#legend button")
    until_state(page, "only user")
    assert page.value("document.querySelector('#legend button').ariaPressed") == "true"
    until_state(page, "8 s (100.0%)")
    page.press_on("#legend button")
    until_state(page, "20 s (100.0%)")


def test_on_a_phone_the_controls_are_one_row_and_the_graph_has_two_thirds_of_the_screen(show, prof, client):
    write_page(prof, client, "waiting.mjs", "40")
    page = show(width=390, height=844)
    top, bottom = page.value("(({top, bottom}) => [top, bottom])(prof.graph.canvas.getBoundingClientRect())")
    assert min(bottom, 844) - top >= 844 * 2 / 3
    visible = "[...document.querySelectorAll('nav.bar :is(button, select, summary)')].filter((control) => control.checkVisibility())"
    assert page.value(f"new Set({visible}.map((control) => Math.round(control.getBoundingClientRect().bottom / 10))).size") == 1
    page.press_on("#options summary")
    page.press_on("#options [data-measure=cpu]")
    page.until("prof.state.event === 1")
    page.resize(1280, 800)
    page.until("document.querySelector('nav.bar > #time-kinds') !== null && document.querySelector('#timeline > .bar #threads') !== null")


def test_a_lane_tells_what_its_thread_did(waiting):
    page = waiting()
    page.move(*lane(page, 0, 0.2))
    tip = "document.getElementById('tip').innerText"
    page.until(f"!document.getElementById('tip').hidden && {tip}.includes('running')")
    page.move(*lane(page, 0, 0.65))
    page.until(f"{tip}.includes('locks, threads for 3 s, from 5 s to 8 s')")
    words = page.value(tip)
    assert words.startswith("worker-1 (11)") and "[mutex held by worker-2 in commit]" in words and "take ← serve ← main" in words
    page.move(*lane(page, 1, 0.95))
    page.until(f"{tip}.includes('network for 2 s of 4 s, in short intervals')")


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
    assert sums(page) == ["running 1 s", "locks, threads 1 s", "network 500 ms", "idle 500 s hidden"]
    page.value("prof.go({from: 8500000, to: 9500000})")
    assert sums(page) == ["network 1.5 s", "idle 500 s hidden"]
    page.press_on("#whole")
    page.until("!prof.range()")


def test_a_drag_over_lanes_takes_their_threads_too(waiting):
    page = waiting(hash="#idle=shown")
    page.drag(*lane(page, 0, 0.6), *lane(page, 1, 0.7))
    page.until("prof.state.threads === '11,12'")
    page.value("prof.go({from: 0, to: 0})")
    until_state(page, "20 s (100.0%)")


def measure(page, name):
    page.press_on(f"[data-measure={name}]")
    page.until(f"document.querySelector('[data-measure={name}]').ariaPressed === 'true'")


def colour_at(page, x, y):
    """Returns the colour of a place in the lanes."""
    return page.value(f"""(() => {{ const {{canvas}} = prof.timeline, {{x, y}} = canvas.getBoundingClientRect();
        const copy = document.createElement("canvas"), context = copy.getContext("2d", {{willReadFrequently: true}});
        [copy.width, copy.height] = [canvas.width, canvas.height];
        context.drawImage(canvas, 0, 0);
        return [...context.getImageData({x} - x, {y} - y, 1, 1).data].slice(0, 3); }})()""")


def swatch(page, state):
    return page.value(f"getComputedStyle(document.querySelector('#state-sums .swatch.{state}')).backgroundColor.match(/\\d+/g).map(Number)")


def test_buttons_show_elapsed_time_and_the_critical_path(elapsed):
    page = elapsed()
    header = "document.querySelector('#lane-names .head').innerText.split(/\\s*\\n\\s*/).join(': ')"
    assert page.value("document.getElementById('measure').hidden")
    until_state(page, "16 s (100.0%)")
    measure(page, "elapsed")
    until_state(page, "10 s (100.0%)")
    assert widths(page)["work"] == 0.2 and widths(page)["part"] == 0.4 and widths(page)["rest"] == 0.2
    assert page.value(header) == "0 to 2 running: 2 threads: % of elapsed time"
    page.key("e")
    page.until("document.querySelector('[data-measure=path]').ariaPressed === 'true'")
    assert widths(page) == {"all": 1, "start_thread": 0.6, "part": 0.6, "main": 0.4, "prepare": 0.2, "rest": 0.2, "[nanosleep]": 0.2}
    assert page.value(header) == "2 threads: % of critical path"


def test_a_page_without_elapsed_time_has_no_buttons_for_it(waiting):
    page = waiting()
    assert page.value("[...document.querySelectorAll('#time-kinds button:not([hidden])')].map((button) => button.textContent)") == ["CPU", "Off-CPU", "Both"]


def test_elapsed_time_is_filtered_by_the_number_of_running_threads(elapsed):
    page = elapsed()
    assert page.value("document.getElementById('running-sums').hidden")
    measure(page, "elapsed")
    entries = "[...document.querySelectorAll('#running-sums button')].map((entry) => entry.textContent)"
    assert page.value(entries) == ["no thread 20.0%", "1 thread 40.0%", "2 threads 40.0%"]
    page.press_on("#running-sums button:nth-of-type(2)")
    until_state(page, "4 s (100.0%)")
    until_state(page, "only 1 thread")
    assert page.value(entries) == ["no thread 20.0%", "1 thread 40.0%", "2 threads 40.0%"]
    page.press_on("#running-sums button:nth-of-type(3)", modifiers=("control",))
    until_state(page, "8 s (100.0%)")
    page.value("prof.go({from: 4000000, to: 7000000})")
    assert page.value(entries) == ["1 thread 33.3%", "2 threads 66.7%"]


def test_the_strip_over_the_lanes_shows_how_many_threads_ran(elapsed):
    page = elapsed()
    measure(page, "elapsed")
    running = swatch(page, "running")
    top, middle = ({second: colour_at(page, lane(page, 0, second / 10)[0], lane(page, -1, 0)[1] + y) for second in (1, 4, 7, 9)} for y in (-12, 0))
    assert [top[second] == running for second in (1, 4, 7, 9)] == [False, True, False, False]
    assert [middle[second] == running for second in (1, 4, 7, 9)] == [True, True, True, False]


def test_the_lanes_are_bright_where_the_critical_path_was(elapsed):
    page = elapsed()
    rows = page.value("prof.timeline.lanes.map(({name}) => name)")
    main, worker = rows.index("batch"), rows.index("worker")
    measure(page, "path")
    running, sleeping, locked = (swatch(page, state) for state in ("running", "sleep", "lock"))
    assert [colour_at(page, *lane(page, main, share)) for share in (0.1, 0.9)] == [running, sleeping]
    assert colour_at(page, *lane(page, main, 0.4)) != running and colour_at(page, *lane(page, main, 0.7)) != locked
    assert [colour_at(page, *lane(page, worker, share)) for share in (0.4, 0.7)] == [running, running]
    page.move(*lane(page, worker, 0.4))
    page.until("document.getElementById('tip').innerText.includes('running; on the critical path')")
    page.move(*lane(page, main, 0.4))
    page.until("!document.getElementById('tip').innerText.includes('critical path')")


def test_the_buttons_of_elapsed_time_fit_in_one_line(elapsed):
    page = elapsed(width=1400, height=900)
    assert page.value("document.querySelector('nav.bar').getBoundingClientRect().height") < 60


def test_a_search_finds_reasons_of_waits(waiting):
    page = waiting(hash="#q=held%20by")
    page.until("document.getElementById('found').textContent.startsWith('30.0% in 1 place')")
    page.value("prof.go({only: 'matches'})")
    assert sums(page) == ["locks, threads 6 s"]


def test_waits_are_in_the_order_of_time(waiting):
    page = waiting(hash="#shape=order")
    assert page.value("prof.shownTree().inOrder && prof.shownTree().total(0)") == 20e9
    assert {"[runnable]", "[recv socket]"} <= set(boxes(page))


def test_a_recording_of_waiting_shows_what_threads_wait_for(prof, target, show):
    prof.run("record", "--wall", "-o", "page.html", "--", target("waits"), "1", "1000", "20000", "mutex", "sleep")
    page = show()
    assert re.fullmatch(r"[\d.]+ thread-seconds: [\d.]+ on CPU, [\d.]+ runnable, [\d.]+ waiting", page.value("document.getElementById('went').textContent"))
    page.press_on("[data-measure=waiting]")
    page.value("prof.go({threads: 'wants_lock'})")
    assert any(text.startswith("locks, threads ") for text in sums(page))
    # on a busy machine, threads may be runnable for longer
    running, wanted, locks, *others = page.value("[...prof.stateSums()]")
    assert locks > max(others), (running, wanted, locks, *others)
    whole = page.value("prof.tree().total(0)")
    # On a busy machine, the threads start late in the recording.
    over = page.value("prof.profile.info.durationUs + 1")
    halves = [page.value(f"(() => {{ prof.go({{from: {begin}, to: {end}}}); return prof.tree().total(0); }})()")
              for begin, end in ((0, over // 2), (over // 2, over))]
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
    """Returns the middle of a cell of the heat map: that second of that minute."""
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
