// Input: connects fields, buttons, keys and clicks with the actions of app.js.

import { timeOfField } from "./clock.js";
import { $ } from "./tables.js";

function listenToFields(page) {
  const typed = (id, key) => $(id).addEventListener("input", () => page.go({ [key]: $(id).value }, true));
  const chosen = (id, change) => $(id).addEventListener("change", () => page.go(change()));
  typed("search", "q");
  typed("threads", "threads");
  $("search").addEventListener("keydown", (event) => event.key === "Enter" && page.step(event.shiftKey ? -1 : 1));
  $("search").parentElement.addEventListener("keydown", (event) => {
    const buttons = [$("search"), ...$("hits").querySelectorAll("button")];
    const goal = buttons[buttons.indexOf(document.activeElement) + ({ ArrowDown: 1, ArrowUp: -1 }[event.key] ?? NaN)];
    if (!goal) return;
    goal.focus();
    event.preventDefault();
  });
  for (const id of ["colours", "lanes", "group", "only"]) chosen(id, () => ({ [id]: $(id).value }));
  chosen("shape", () => ({ shape: $("shape").value, zoom: "" }));
  chosen("measure", () => {
    const [event, by] = $("measure").value.split(" ");
    return { event: Number(event), by };
  });
  chosen("counted", () => ({ by: $("counted").checked ? "samples" : "weight" }));
  chosen("names", () => ({ names: $("names").checked ? "full" : "short" }));
  chosen("recursion", () => ({ recursion: $("recursion").checked ? "folded" : "shown", zoom: "" }));
  chosen("shared", () => ({ shared: $("shared").checked ? "folded" : "shown" }));
  chosen("inlined", () => ({ inlined: $("inlined").checked ? "shown" : "merged", zoom: "" }));
  chosen("logical", () => ({ logical: page.logicalAs($("logical").checked), zoom: "" }));
  for (const id of ["from", "to"])
    chosen(id, () => {
      const { info } = page.profile;
      return { from: timeOfField(info, $("from").value), to: timeOfField(info, $("to").value) || info.durationUs };
    });
}

function listenToButtons(page) {
  const actions = { previous: () => page.step(-1), next: () => page.step(1), theme: () => page.turnTheme(), help: () => page.help(),
    whole: () => page.go({ from: 0, to: 0, lens: "" }), magnify: () => page.magnify(), "save-svg": () => page.saveSvg(),
    "copy-folded": () => page.copyFolded(), peak: () => page.toPeak(), "copy-link": () => page.copy(page.address(), "the link") };
  for (const [id, does] of Object.entries(actions)) $(id).addEventListener("click", does);
  $("time-kinds").addEventListener("click", ({ target: { dataset } }) =>
    dataset.measure && page.go({ event: page.profile.measures[dataset.measure] }));
  $("memory-kinds").addEventListener("click", ({ target: { dataset } }) =>
    dataset.memory && page.go({ event: page.profile.memory[dataset.memory], by: "weight" }));
  for (const menu of document.querySelectorAll(".menu")) {
    menu.addEventListener("focusout", (event) => { if (!menu.contains(event.relatedTarget)) menu.open = false; });
    menu.addEventListener("click", (event) => { if (event.target.matches("div > button")) menu.open = false; });
  }
}

// Arrow keys change the view (ARIA practices, "Tabs").
function listenToTabs(page) {
  const tabs = [...$("views").children];
  $("views").addEventListener("click", (event) => event.target.dataset.view && page.go({ view: event.target.dataset.view }));
  $("views").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: tabs.length - 1 }[event.key];
    if (!step) return;
    const tab = tabs[(tabs.indexOf(event.target) + step) % tabs.length];
    page.go({ view: tab.dataset.view });
    tab.focus();
  });
}

// Opens the menu of a row with the mouse or the keyboard.
function listenToRows(page) {
  const rowMenu = (event) => {
    const row = event.target.closest("[data-label], #call-tree [data-node]");
    if (!row) return;
    event.preventDefault();
    const { x, y } = row.getBoundingClientRect();
    const [left, top] = event.button === 2 ? [event.clientX, event.clientY] : [x + 40, y + 20];
    if (row.dataset.label) page.showMenu(page.tree(), 0, left, top, Number(row.dataset.label));
    else page.showMenu(page.tree(), Number(row.dataset.node), left, top);
  };
  for (const id of ["function-table", "call-tree", "details"]) $(id).addEventListener("contextmenu", rowMenu);
}

function keysOf(page) {
  const go = (change) => () => page.go(change);
  const step = (kind) => () => page.takeStep(kind, page.state.fn);
  const withFunction = (does) => () => page.state.fn >= 0 && does(page.state.fn);
  return {
    "/": () => $("search").select(), n: () => page.step(1), N: () => page.step(-1),
    0: () => page.zoomTo(""), 1: go({ view: "graph" }), 2: go({ view: "functions" }), 3: go({ view: "calls" }),
    s: withFunction(() => page.go({ view: "functions" })),
    o: step("only"), x: step("without"), h: step("hide"), b: step("from"), u: go({ steps: "", kinds: "", zoom: "" }),
    y: withFunction((label) => page.copy(page.profile.labels.name[label], "the name")),
    i: () => page.go({ zoom: "", shape: page.nextShape() }),
    c: () => page.go({ colours: page.coloursBy() === "kind" ? "module" : "kind" }),
    f: () => page.go({ names: page.state.names === "full" ? "short" : "full" }),
    r: () => page.go({ zoom: "", recursion: page.state.recursion === "folded" ? "shown" : "folded" }),
    L: () => page.go({ zoom: "", logical: page.logicalAs(!page.isLogical()) }),
    e: () => page.nextMeasure(), d: () => page.turnIdle(),
    "[": () => page.shift(-1), "]": () => page.shift(1), p: () => page.toPeak(), w: go({ from: 0, to: 0, lens: "" }), z: () => page.magnify(),
    t: () => page.turnTheme(), "?": () => page.help(),
  };
}

function listenToKeys(page) {
  const keys = keysOf(page);
  addEventListener("keydown", (event) => {
    const isHeld = event.ctrlKey || event.metaKey;
    // The browser cannot search text on a canvas. In the search field Ctrl-F opens the browser's
    // own search.
    if (isHeld && event.key === "f" && document.activeElement !== $("search")) {
      $("search").select();
      event.preventDefault();
    }
    if (isHeld || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape") return void page.escape();
    if (event.target.matches("input:not([type=checkbox]), select, textarea") || !Object.hasOwn(keys, event.key)) return;
    keys[event.key]();
    event.preventDefault();
  });
}

// Moves all controls except the search and the views into one menu on a phone.
function foldControls() {
  const phone = matchMedia("(max-width: 700px)");
  const folded = [...document.querySelectorAll("#timeline .bar, .range, nav > select, .kinds, #logical-label, #exports > div > button")];
  const places = folded.map(() => document.createComment(""));
  const fold = () => {
    if (phone.matches) $("options").lastElementChild.append(...folded);
    else folded.forEach((element, i) => places[i].after(element));
  };
  folded.forEach((element, i) => element.before(places[i]));
  phone.addEventListener("change", fold);
  fold();
}

export function listen(page) {
  foldControls();
  for (const listenTo of [listenToFields, listenToButtons, listenToTabs, listenToRows, listenToKeys]) listenTo(page);
}
