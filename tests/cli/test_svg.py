"""The SVG flame graph, as a file and in a browser."""

import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

from time_limit import TIME_LIMIT_S

SVG = "{http://www.w3.org/2000/svg}"

STACKS = """\
app;main;parse;alloc 10
app;main;parse;alloc;page_fault 5
app;main;solve;alloc 20
app;main;solve;step;alloc 5
app;main;solve;step 40
app;main;print(std::vector<std::pair<int, int> > const&) 20
"""


@pytest.fixture
def drawing(prof):
    """Returns the SVG of folded stacks, parsed and as a file."""

    def draw(stacks=STACKS):
        path = prof.folder / "flame.svg"
        (prof.folder / "in.folded").write_text(stacks, encoding="utf-8")
        result = prof.run("convert", "in.folded", "-o", path)
        assert "xdg-open" in result.stderr
        return path

    return draw


def frames_of(path):
    """Returns (title, x, width, y) of each frame; x and width in percent."""
    root = ElementTree.parse(path).getroot()
    canvas = root.find(f"{SVG}svg[@id='frames']")
    found = []
    for group in canvas:
        rect = group.find(f"{SVG}rect")
        found.append((group.find(f"{SVG}title").text, float(rect.get("x")[:-1]), float(rect.get("width")[:-1]),
                      int(rect.get("y"))))
    return found


def test_every_frame_is_directly_below_its_caller(drawing):
    path = []
    for title, x, width, y in frames_of(drawing()):
        while path and path[-1][2] >= y:
            path.pop()
        if path:
            left, right, above = path[-1]
            assert y == above + 16, title
            assert left - 0.001 <= x and x + width <= right + 0.001, title
        path.append((x, x + width, y))


def test_it_shows_the_shares_of_the_stacks(drawing):
    shares = {title.rpartition(" (")[0]: width for title, _, width, _ in frames_of(drawing())}
    assert shares["all"] == shares["main"] == 100
    assert (shares["parse"], shares["solve"], shares["step"]) == (15, 65, 45)


def test_the_tree_equals_that_of_inferno(drawing, client, prof):
    ours = {title for title, *_ in frames_of(drawing())}
    svg = subprocess.run([client("inferno-flamegraph"), prof.folder / "in.folded"], check=True, capture_output=True,
                         timeout=TIME_LIMIT_S).stdout
    theirs = {element.text.replace("100.00%", "100%") for element in ElementTree.fromstring(svg).iter(f"{SVG}title")}
    assert {title.replace("100.00%", "100%") for title in ours} == theirs


def test_the_svg_loads_nothing_from_the_network(drawing):
    text = drawing().read_text(encoding="utf-8")
    assert "http" not in text.replace("http://www.w3.org/", "")


@pytest.fixture
def page(drawing, browser):
    opened = browser.open(f"file://{drawing()}")
    yield opened
    assert not opened.problems
    assert not opened.requests
    opened.close()


def visible(page):
    """Returns the readable names."""
    return page.value("""[...document.querySelectorAll("#frames > g:not(.hidden) > text:not(.hidden)")]
                         .map(text => text.textContent)""")


def press(page, name):
    """Clicks on the frame with this name."""
    page.click(*page.value(f"""(() => {{
        const text = [...document.querySelectorAll("#frames > g:not(.hidden) > title")]
            .find(title => title.textContent.startsWith("{name} ("));
        const box = text.parentNode.querySelector("rect").getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    }})()"""))


def test_a_click_zooms_in_and_reset_zooms_out(page):
    before = visible(page)
    assert {"app", "main", "parse", "solve"} <= set(before)
    press(page, "solve")
    assert set(visible(page)) == {"all", "app", "main", "solve", "step", "alloc"}
    width = """[...document.querySelectorAll("#frames > g")].find(g => g.textContent.startsWith("step"))
               .querySelector("rect").getAttribute("width")"""
    assert float(page.value(width)[:-1]) == pytest.approx(45 / 65 * 100, abs=0.01)
    page.press_on("#reset")
    assert visible(page) == before


def test_a_search_counts_callers_once(page):
    page.press_on("#box")
    page.write("solve|alloc")
    assert page.value("document.getElementById('matched').textContent") == "matched: 80.00%"
    assert page.value("document.querySelectorAll('.found').length") == 4
    page.key("Escape")
    assert page.value("document.querySelectorAll('.found').length") == 0


def test_a_search_is_case_sensitive_only_if_it_has_capitals(page):
    page.press_on("#box")
    page.write("solVe")
    assert page.value("document.getElementById('matched').textContent") == "matched: 0.00%"
    page.value("document.getElementById('box').select()")
    page.write("solve")
    assert page.value("document.getElementById('matched').textContent") == "matched: 65.00%"


def test_an_invalid_regular_expression_is_searched_as_plain_text(page):
    page.press_on("#box")
    page.write("print(std")
    assert page.value("document.getElementById('matched').textContent") == "matched: 20.00%"


def test_a_link_leads_to_the_same_view(page, browser):
    press(page, "parse")
    page.press_on("#box")
    page.write("alloc")
    again = browser.open(page.value("location.href"))
    assert visible(again) == visible(page)
    assert again.value("document.getElementById('matched').textContent") == "matched: 40.00%"
    again.close()


def test_the_hovered_frame_is_described(page):
    page.move(*page.place("#frames > g:nth-child(3)"))
    assert page.until("document.getElementById('details').textContent.trim()") == "main (100 samples, 100.00%)"


def test_the_svg_is_as_wide_as_the_window(page):
    page.resize(600, 500)
    page.until("document.getElementById('frames').getBoundingClientRect().width <= 580")
    assert visible(page)[0] == "all"


def test_boxes_have_short_names_and_titles_full_ones(drawing, browser):
    name = "<shop::catalog::Index as core::ops::function::FnMut<alloc::string::String>>::call_mut"
    stacks = f"app;main;{name} 90\napp;main;parse 10\n"
    text = drawing(stacks).read_text(encoding="utf-8")
    assert f"<title>{name.replace('<', '&lt;').replace('>', '&gt;')} (90 samples" in text and ">shop::Index::call_mut</text>" in text
    page = browser.open(f"file://{drawing(stacks)}")
    assert "shop::Index::call_mut" in visible(page)
    for term in ("shop::catalog", "Index::call_mut"):
        page.press_on("#box")
        page.value("document.getElementById('box').select()")
        page.write(term)
        assert page.value("document.getElementById('matched').textContent") == "matched: 90.00%"
    assert not page.problems
    page.close()


def test_it_opens_on_the_header_the_legend_and_the_widest_frames(drawing, browser):
    deep = "app;main;" + ";".join(f"f{level}" for level in range(200)) + " 1\napp;main;work 99\n"
    page = browser.open(f"file://{drawing(deep)}")
    inside = """(element) => { const {top, bottom} = element.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; }"""
    shown = page.value(f"[...document.querySelectorAll('text')].filter({inside}).map((text) => text.textContent)")
    assert {"user", "all", "app", "main", "work"} <= set(shown)
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_have_enough_contrast(drawing, browser, scheme):
    page = browser.open(f"file://{drawing()}", scheme=scheme)
    luminance = """(color) => { const [r, g, b] = color.match(/[\\d.]+/g).map(Number)
        .map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; }"""
    contrast = page.value(f"""(() => {{
        const luminance = {luminance};
        const of = (selector) => luminance(getComputedStyle(document.querySelector(selector)).fill);
        const [ink, paper] = [of("#title"), of("#paper")];
        return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    }})()""")
    assert contrast > 7
    page.close()


def test_the_svg_is_complete_without_its_script(drawing, prof, browser):
    path = drawing()
    shutil.copy(path, prof.folder / "picture.svg")
    (prof.folder / "wiki.html").write_text("<!doctype html><link rel=icon href=data:,><img src=picture.svg>")
    page = browser.open(f"file://{prof.folder}/wiki.html")
    assert page.until("document.images[0].naturalWidth") == 1200
    assert not page.problems
    page.close()


def test_a_profile_without_samples_says_so(prof, browser):
    prof.run("record", "-o", "empty.svg", "-e", "cpu-clock", "-F", "1", "--", "true")
    page = browser.open(f"file://{prof.folder}/empty.svg")
    assert "No samples" in page.value("document.documentElement.textContent")
    assert not page.problems
    page.close()
