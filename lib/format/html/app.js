// The page: keeps the state in its address, shows it in all its parts, and does what people ask for.

import { describe } from "./about.js";
import { colouring, KIND_NAMES } from "./colours.js";
import { fillDetails, fillTip, modulePath, nodeWords } from "./details.js";
import { folded, svg } from "./export.js";
import { matchingNodes, matchingWeight, sourceLines } from "./functions.js";
import { Graph, ROW_PX } from "./graph.js";
import { decode, unpack } from "./reader.js";
import { fromHash, toHash, zoomIn, zoomOf } from "./state.js";
import { $, CallTree, FunctionTable, make } from "./tables.js";
import { Timeline } from "./timeline.js";
import { labelOf, pathOf } from "./tree.js";
import { View } from "./view.js";
import { threadMatcher } from "./weights.js";
import { count, fileName, percent, shown, time } from "./words.js";

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

// What was chosen once, or what the system says.
function firstTheme() {
  try {
    const theme = localStorage.getItem("prof-theme");
    if (theme === "dark" || theme === "light") return theme;
  } catch { /* no storage */ }
  return systemIsDark.matches ? "dark" : "light";
}

// Browsers refuse it to those who ask too often, as a key held down does.
function replaceAddress(hash) {
  try {
    history.replaceState(null, "", hash);
  } catch { /* the next one will do */ }
}

class Page extends View {
  constructor(profile) {
    super(profile);
    this.drawn = new Map();
    this.node = 0;
    const graphTell = {
      select: (node) => this.select(node),
      choose: (node) => this.choose(this.shownTree(), node),
      zoom: (place) => this.go({ zoom: zoomOf(this.shownTree(), place) }),
      hover: (node, event) => this.hover(this.shownTree(), node, event),
      hidden: (hidden) => this.tellState(hidden),
    };
    this.graph = new Graph($("graph"), "Flame graph; arrow keys move, Enter zooms", graphTell);
    this.half = { callers: this.makeHalf("callers", "Callers"), callees: this.makeHalf("callees", "Callees") };
    this.table = new FunctionTable($("function-table"), (label) => this.go({ fn: label }));
    this.calls = new CallTree($("call-tree"), { select: (node) => this.selectIn(this.tree(), node) });
    this.timeline = new Timeline({ canvas: $("lane-canvas"), names: $("lane-names") }, {
      range: (from, to) => this.go({ from, to }),
      thread: (pattern, adds) => this.toggleThread(pattern, adds),
      hover: (lines, event) => this.tip(lines && { name: lines[0], figures: shown(lines.slice(1).join("; ")) }, event),
    });
    this.listen();
    this.apply(fromHash(location.hash));
  }

  // The callers, or callees, of the selected function: a graph with a zoom of its own.
  makeHalf(name, label) {
    const half = { zoom: { node: 0 } };
    const tree = () => this.sandwich()[name];
    half.graph = new Graph($(name), label, {
      select: (node) => this.tellNode(tree(), node),
      choose: (node) => this.choose(tree(), node),
      zoom: (place) => {
        half.zoom = place;
        half.graph.show(tree(), this.look(name === "callers"), place);
      },
      hover: (node, event) => this.hover(tree(), node, event),
      hidden: () => {},
    });
    return half;
  }

  // ---- State to page ----

  isDark() {
    return document.documentElement.dataset.theme === "dark";
  }

  colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  }

  look(upward) {
    const found = this.found();
    const colour = (name) => this.colour(name);
    return { upward, colours: this.colouring(this.isDark()), labels: this.profile.labels, names: this.names(),
      matches: found && found.matches, chosen: this.state.fn, compares: this.compares(), ground: colour("ground"), ink: colour("box-ink"), mark: colour("mark"),
      markInk: colour("mark-ink"), focus: colour("focus"), rest: colour("rest"), sign: colour("sign") };
  }

  // Every change is one of the address, so that back and forward work.
  go(change, replaces = false) {
    const state = { ...this.state, ...change };
    const hash = `#${toHash(state)}`;
    if (replaces) replaceAddress(hash);
    else if (hash !== (location.hash || "#")) location.hash = hash;
    this.applied = location.hash;
    this.apply(state);
  }

  apply(state) {
    const { events, labels } = this.profile;
    if (!events[state.event]) state.event = 0;
    if (state.fn >= labels.count) state.fn = -1;
    if (state.fn !== this.state?.fn) for (const half of Object.values(this.half)) half.zoom = { node: 0 };
    this.state = state;
    this.fillControls();
    if (!events.length || this.profile.cells.count === 0) return this.showEmpty();
    this.showSearch();
    this.showTimeline();
    this.showView();
    this.showCrumbs();
    this.showDetails();
    this.showLegend();
    this.tellState(this.graph.boxes?.hidden || 0);
    document.documentElement.dataset.ready = "true";
    return undefined;
  }

  fillControls() {
    const { state } = this;
    for (const id of ["shape", "lanes", "only"]) $(id).value = state[id];
    $("colours").value = this.coloursBy();
    $("measure").value = `${state.event} ${state.by}`;
    $("group").value = state.group || this.defaultGroup;
    $("names").checked = state.names === "full";
    $("recursion").checked = state.recursion === "folded";
    for (const id of ["search", "threads"]) {
      const value = state[id === "search" ? "q" : id];
      if ($(id).value !== value) $(id).value = value;
    }
    const range = this.range();
    $("from").value = range ? range[0] / 1e6 : "";
    $("to").value = range ? range[1] / 1e6 : "";
    $("to").placeholder = Number((this.profile.info.durationUs / 1e6).toPrecision(4));
    $("whole").hidden = !range;
  }

  showEmpty() {
    const nothing = "This profile is empty: no sample was taken. Nothing ran on a CPU for long enough, or the event never happened.";
    for (const id of ["graph", "functions", "calls", "crumbs", "details", "timeline"]) $(id).hidden = true;
    $("empty").hidden = false;
    $("empty").textContent = nothing;
    $("state").textContent = "No samples.";
    document.documentElement.dataset.ready = "true";
  }

  showSearch() {
    const found = this.found();
    const whole = this.tree().total[0];
    const nodes = found ? matchingNodes(this.shownTree(), found.matches) : [];
    this.matching = nodes;
    for (const id of ["previous", "next"]) $(id).disabled = !nodes.length;
    $("only").hidden = !found;
    $("found").textContent = !found ? "" : nodes.length
      ? `${percent(matchingWeight(this.tree(), found.matches), whole)} in ${count(nodes.length)} ${nodes.length === 1 ? "place" : "places"}` : "no match";
    $("found").title = found?.isText ? "not a regular expression: searched as text" : "the share of samples with a match, each counted once";
  }

  // Whether a part is to be drawn anew: something of this has changed since it was.
  isNew(part, ...key) {
    const text = JSON.stringify([this.isDark(), ...key]);
    const isNew = this.drawn.get(part) !== text;
    this.drawn.set(part, text);
    return isNew;
  }

  showTimeline() {
    const { profile, state } = this;
    if (!this.isNew("timeline", state.threads, state.lanes, state.from, state.to, state.q)) return;
    const hasTimes = profile.moments.count > 0;
    $("timeline").hidden = !hasTimes && profile.threads.length < 2;
    $("timeline").classList.toggle("timeless", !hasTimes);
    if (!hasTimes) return;
    $("thinned").textContent = profile.moments.each > 1 ? `1 in ${profile.moments.each} samples` : "";
    const byKind = this.memory.of("kinds", this.isDark(), () => colouring(profile, { by: "kind", isDark: this.isDark() }));
    this.timeline.show(profile, {
      byCpu: state.lanes === "cpus", colours: byKind.kind, matches: this.matchedCells(),
      included: Uint8Array.from(profile.threads, threadMatcher(state.threads)),
      ...Object.fromEntries(["ink", "faint", "accent", "ground", "mark", "line", "muted", "alarm", "veil", "focus"]
        .map((name) => [name, this.colour(name)])),
    }, this.range());
  }

  showView() {
    const { state } = this;
    for (const tab of $("views").children) {
      const isShown = tab.dataset.view === state.view;
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      $(tab.dataset.view).hidden = !isShown;
    }
    $("crumbs").hidden = state.view !== "graph";
    $("shape").hidden = state.view !== "graph";
    if (state.view === "graph") {
      const tree = this.shownTree();
      this.graph.show(tree, this.look(state.shape === "flame"), zoomIn(tree, state.zoom));
    } else if (state.view === "functions") this.showFunctions();
    else this.calls.show(this.tree(), { names: this.names(), matches: this.found()?.matches });
  }

  showFunctions() {
    const { profile, state } = this;
    const { labels, files } = profile;
    const found = this.found();
    if (this.isNew("table", this.treeKey(), state.q, state.names)) {
      const rows = this.functions().filter(({ label }) => !found || found.matches[label]).map((row) => ({ ...row,
        name: this.names()[row.label], full: this.full[row.label], module: shown(fileName(modulePath(profile, row.label))),
        file: shown(fileName(files[labels.file[row.label]])) }));
      this.table.show(rows, this.tree(), this.compares());
    }
    this.table.mark(state.fn);
    const isChosen = state.fn >= 0;
    $("functions").classList.toggle("chosen", isChosen);
    if (!isChosen) return;
    for (const [name, half] of Object.entries(this.half)) {
      const tree = this.sandwich()[name];
      if (name === "callers") $(name).style.height = `${(tree.maxDepth + 1) * ROW_PX}px`;
      if (half.zoom.node >= tree.count || tree !== half.graph.tree) half.zoom = { node: 0 };
      half.graph.show(tree, this.look(name === "callers"), half.zoom);
    }
  }

  showCrumbs() {
    const tree = this.shownTree();
    const { node, first } = zoomIn(tree, this.state.zoom);
    const path = pathOf(tree, node);
    const crumbs = path.map((code, i) => [this.names()[code >>> 1], path.slice(0, i + 1)]);
    const shownCrumbs = [["all", []], ...crumbs, ...(first ? [["narrow ones", [...path, -tree.code[first]]]] : [])];
    if (shownCrumbs.length > 7) shownCrumbs.splice(2, shownCrumbs.length - 6, ["…", null]);
    $("crumbs").replaceChildren(...shownCrumbs.map(([name, codes], i) => {
      if (!codes) return make("span", {}, "…");
      const crumb = make("button", { type: "button", onclick: () => this.go({ zoom: codes.join(".") }) }, make("bdi", {}, name));
      if (i === shownCrumbs.length - 1) crumb.setAttribute("aria-current", "location");
      return crumb;
    }));
  }

  showDetails() {
    const { fn } = this.state;
    const lines = fn < 0 ? [] : this.memory.of("lines", [this.filters(), fn], () =>
      sourceLines(this.profile, this.weights(), fn));
    const isCurrent = [this.shownTree(), this.tree()].includes(this.selectedTree);
    const tree = isCurrent ? this.selectedTree : this.tree();
    const node = isCurrent && labelOf(tree, this.node) === fn ? this.node : 0;
    $("details").classList.toggle("chosen", fn >= 0);
    fillDetails($("details"), this.context(tree), { label: fn, node, rows: this.functions(), lines }, {
      choose: (label) => this.go({ fn: label }),
      close: () => this.go({ fn: -1 }),
      sandwich: () => this.go({ view: "functions" }),
      search: () => this.go({ q: `^${this.full[fn].replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$` }),
      copy: () => this.copy(this.profile.labels.name[fn], "The name"),
    });
  }

  showLegend() {
    if (!this.isNew("legend", this.coloursBy(), this.state.event)) return;
    const colours = this.colouring(this.isDark());
    const item = (name, fill, kind) => {
      const swatch = make("i", { className: `swatch ${kind}` });
      swatch.style.background = fill;
      return make("span", {}, swatch, make("bdi", {}, name));
    };
    if (this.coloursBy() === "change") {
      $("legend").textContent = "▲ red: more than before · ▼ blue: less · in points of percent";
      return;
    }
    if (this.coloursBy() === "module") {
      const modules = this.modules();
      const whole = modules.reduce((sum, { weight }) => sum + weight, 0);
      $("legend").replaceChildren(...modules.slice(0, 8).map(({ id, weight }) =>
        item(`${shown(fileName(this.profile.modules[id].path || "unknown"))} ${percent(weight, whole)}`, colours.module(id), "")));
      return;
    }
    const words = { user: "user", inlined: "inlined", kernel: "kernel", jit: "JIT", unnamed: "no name", note: "note" };
    const there = new Set(this.profile.labels.kind);
    if (this.profile.frames.code.some((code) => code & 1)) there.add("inlined");
    $("legend").replaceChildren(...Object.keys(words).filter((kind) => there.has(kind)).map((kind) => {
      const entry = item(words[kind], colours.kind(kind), kind);
      entry.title = KIND_NAMES[kind];
      return entry;
    }));
  }

  tellState(hidden) {
    if (!this.state || !this.profile.cells.count) return;
    const tree = this.shownTree();
    const node = this.state.view === "graph" ? zoomIn(tree, this.state.zoom).node : 0;
    const whole = this.tree().total[0];
    const range = this.range();
    const parts = [whole > 0 ? `${this.words()(tree.total[node])} (${percent(tree.total[node], whole)})` : "Nothing is left by the filters"];
    if (node) parts.unshift(`Zoomed into ${this.names()[labelOf(tree, node)]}`);
    if (range) parts.push(`${time(range[0] * 1e3)} to ${time(range[1] * 1e3)}`);
    if (this.state.q && this.state.only)
      parts.push(`${this.state.only === "others" ? "without" : "only"} what matches ${this.state.q}`);
    if (this.state.threads) parts.push(`threads ${this.state.threads}`);
    if (this.state.view === "graph" && hidden)
      parts.push(`${count(hidden)} ${hidden === 1 ? "frame" : "frames"} too narrow to draw`);
    const text = shown(parts.join(" · "));
    if ($("state").textContent !== text) $("state").textContent = text;
  }

  // ---- What people do ----

  select(node) {
    this.selectIn(this.shownTree(), node);
  }

  selectIn(tree, node) {
    const label = node ? labelOf(tree, node) : -1;
    this.node = node;
    this.selectedTree = tree;
    this.go({ fn: label < this.profile.labels.count ? label : -1 }, true);
    this.tellNode(tree, node);
  }

  tellNode(tree, node) {
    const { name, figures } = nodeWords(this.context(tree), node);
    $("state").textContent = `${name}: ${figures}`;
  }

  // The function of a node, with its callers and callees.
  choose(tree, node) {
    const label = labelOf(tree, node);
    if (label < this.profile.labels.count) this.go({ view: "functions", fn: label });
  }

  hover(tree, node, event) {
    this.tip(node !== null && event ? nodeWords(this.context(tree), node) : null, event);
  }

  tip(words, event) {
    const tip = $("tip");
    tip.hidden = !words || !event;
    if (tip.hidden) return;
    fillTip(tip, words);
    const { innerWidth, innerHeight } = window;
    const { width, height } = tip.getBoundingClientRect();
    const x = event.clientX + 14 + width > innerWidth ? Math.max(4, event.clientX - width - 10) : event.clientX + 14;
    const y = event.clientY + 18 + height > innerHeight ? Math.max(4, event.clientY - height - 10) : event.clientY + 18;
    tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }

  toggleThread(pattern, adds) {
    const now = this.state.threads.split(",").filter(Boolean);
    const rest = now.filter((part) => part !== pattern);
    if (adds) this.go({ threads: [...rest, ...(rest.length < now.length ? [] : [pattern])].join(",") });
    else this.go({ threads: this.state.threads === pattern ? "" : pattern });
  }

  // The match that follows, into view: zoomed to its caller where it is too narrow to see.
  step(direction) {
    if (!this.matching?.length) return;
    const { length } = this.matching;
    const at = this.matching.indexOf(this.graph.selected);
    const node = this.matching[at < 0 ? (direction > 0 ? 0 : length - 1) : (at + direction + length) % length];
    const tree = this.shownTree();
    const zoomed = zoomIn(tree, this.state.zoom).node;
    const isInside = node >= zoomed && node < tree.end[zoomed];
    const isWide = tree.total[node] * 60 > tree.total[zoomed];
    const goal = isInside && isWide ? zoomed : tree.total[node] * 60 > tree.total[0] ? 0 : tree.parent[node];
    this.go({ view: "graph", zoom: zoomOf(tree, { node: goal }), fn: labelOf(tree, node) }, true);
    this.graph.select(node);
  }

  shift(direction) {
    const { durationUs } = this.profile.info;
    const [from, to] = this.range() || [0, durationUs / 20];
    const step = Math.round((to - from) / 2) * direction;
    const start = Math.min(Math.max(0, Math.round(from) + step), durationUs);
    if (this.profile.moments.count) this.go({ from: start, to: start + Math.round(to - from) }, true);
  }

  turnTheme() {
    try {
      localStorage.setItem("prof-theme", this.isDark() ? "light" : "dark");
    } catch { /* a page from disk may have no storage */ }
    setTheme(this.isDark() ? "light" : "dark");
    this.apply(this.state);
  }

  async copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", { value: text });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    $("state").textContent = `${what} is copied.`;
  }

  saveSvg() {
    const graph = this.state.view === "functions" && this.state.fn >= 0 ? this.half.callees.graph : this.graph;
    const context = this.context(graph.tree);
    const text = svg(graph.picture((node) => {
      const { name, figures } = nodeWords(context, node);
      return `${name.slice(0, 500)}\n${figures}`;
    }), { width: graph.width, height: graph.rows * ROW_PX, row: ROW_PX, ground: this.colour("ground"),
      ink: this.colour("box-ink"), title: document.title });
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })), download: "prof.svg" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    this.lastSvg = text;
    $("state").textContent = "Saved as prof.svg.";
  }

  copyFolded() {
    const tree = this.tree();
    const node = this.state.shape === "inverted" ? 0 : zoomIn(tree, this.state.zoom).node;
    return this.copy(folded(tree, node, (label) => this.full[label]), "The folded stacks of this view");
  }

  escape() {
    if ($("keys").open) $("keys").close();
    else if (this.state.zoom && this.state.view === "graph") this.go({ zoom: "" });
    else if (this.state.q) this.go({ q: "" });
    else if (this.range()) this.go({ from: 0, to: 0 });
  }

  listen() {
    const turn = (key, values) => this.go({ [key]: values[(values.indexOf(this.state[key]) + 1) % values.length] });
    const typed = (id, key) => $(id).addEventListener("input", () => this.go({ [key]: $(id).value }, true));
    const chosen = (id) => $(id).addEventListener("change", () => this.go({ [id]: $(id).value, ...(id === "shape" ? { zoom: "" } : {}) }));
    addEventListener("hashchange", () => {
      if (location.hash !== this.applied) this.apply(fromHash(location.hash));
      this.applied = location.hash;
    });
    systemIsDark.addEventListener("change", () => {
      setTheme(systemIsDark.matches ? "dark" : "light");
      this.apply(this.state);
    });
    typed("search", "q");
    typed("threads", "threads");
    for (const id of ["shape", "colours", "lanes", "group", "only"]) chosen(id);
    $("search").addEventListener("keydown", (event) => event.key === "Enter" && this.step(event.shiftKey ? -1 : 1));
    $("measure").addEventListener("change", () => {
      const [event, by] = $("measure").value.split(" ");
      this.go({ event: Number(event), by });
    });
    $("names").addEventListener("change", () => this.go({ names: $("names").checked ? "full" : "short" }));
    $("recursion").addEventListener("change", () => this.go({ recursion: $("recursion").checked ? "folded" : "shown", zoom: "" }));
    for (const id of ["from", "to"])
      $(id).addEventListener("change", () => this.go({ from: Math.round(Number($("from").value) * 1e6),
        to: Math.round(Number($("to").value) * 1e6) || this.profile.info.durationUs }));
    $("views").addEventListener("click", (event) => event.target.dataset.view && this.go({ view: event.target.dataset.view }));
    $("views").addEventListener("keydown", (event) => {
      const tabs = [...$("views").children];
      const step = { ArrowRight: 1, ArrowLeft: tabs.length - 1 }[event.key];
      if (!step) return;
      const tab = tabs[(tabs.indexOf(event.target) + step) % tabs.length];
      this.go({ view: tab.dataset.view });
      tab.focus();
    });
    const actions = { previous: () => this.step(-1), next: () => this.step(1), theme: () => this.turnTheme(),
      help: () => $("keys").showModal(), whole: () => this.go({ from: 0, to: 0 }), "save-svg": () => this.saveSvg(),
      "copy-folded": () => this.copyFolded(), "copy-link": () => this.copy(location.href, "The link") };
    for (const [id, does] of Object.entries(actions)) $(id).addEventListener("click", does);
    for (const menu of document.querySelectorAll(".menu")) {
      menu.addEventListener("focusout", (event) => { if (!menu.contains(event.relatedTarget)) menu.open = false; });
      menu.addEventListener("click", (event) => { if (event.target.matches("div > button")) menu.open = false; });
    }
    const keys = { "/": () => $("search").select(), n: () => this.step(1), N: () => this.step(-1), t: () => this.turnTheme(),
      1: () => this.go({ view: "graph" }), 2: () => this.go({ view: "functions" }), 3: () => this.go({ view: "calls" }),
      s: () => this.state.fn >= 0 && this.go({ view: "functions" }), i: () => this.go({ zoom: "", shape:
        { icicle: "flame", flame: "inverted", inverted: "icicle" }[this.state.shape] }),
      c: () => this.go({ colours: this.coloursBy() === "kind" ? "module" : "kind" }), f: () => turn("names", ["short", "full"]),
      r: () => this.go({ zoom: "", recursion: this.state.recursion === "folded" ? "shown" : "folded" }),
      "[": () => this.shift(-1), "]": () => this.shift(1), w: () => this.go({ from: 0, to: 0 }),
      "?": () => $("keys").showModal() };
    addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
      if (event.key === "Escape") return void this.escape();
      if (event.target.matches("input, select, textarea") || !Object.hasOwn(keys, event.key)) return;
      keys[event.key]();
      event.preventDefault();
    });
  }
}

async function main() {
  setTheme(firstTheme());
  try {
    if (!window.DecompressionStream) throw new Error("it needs a browser of 2023 or later");
    const profile = decode(await unpack($("data").textContent));
    describe(profile);
    window.prof = new Page(profile);
  } catch (error) {
    $("empty").hidden = false;
    $("empty").textContent = `This page cannot show its profile: ${error.message}`;
    throw error;
  }
}

main();
