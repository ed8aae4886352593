// The page: keeps its state in the address, shows it in all parts, and handles actions.

import { describe } from "./about.js";
import { fieldsOf, rangeWords, timeWords } from "./clock.js";
import { colouring, heatRamp, KIND_NAMES, stateColour } from "./colours.js";
import { listen } from "./controls.js";
import { fillDetails, fillTip, modulePath, nodeWords } from "./details.js";
import { folded, svg } from "./export.js";
import { matchingNodes, matchSum, sourceLines } from "./functions.js";
import { Graph, ROW_PX } from "./graph.js";
import { timeOf } from "./heat.js";
import { HeatMap } from "./heatmap.js";
import { LiveLine } from "./live.js";
import { isOfMemory, liveSteps, peakWithin } from "./memory.js";
import { Menu } from "./menu.js";
import { decode, unpack } from "./reader.js";
import { STATES, STATE_NAMES } from "./reasons.js";
import { functionsOf, stateAt } from "./states.js";
import { fromHash, stepsText, toHash, withStep, zoomIn, zoomOf } from "./state.js";
import { $, CallTree, FunctionTable, make } from "./tables.js";
import { Timeline } from "./timeline.js";
import { labelOf, widthOf } from "./tree.js";
import { View } from "./view.js";
import { partsOf, threadMatcher } from "./weights.js";
import { count, fileName, moduleName, percent, quantity, shown, time } from "./words.js";

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

// The stored choice, or the system's preference.
function firstTheme() {
  try {
    const theme = localStorage.getItem("prof-theme");
    if (theme === "dark" || theme === "light") return theme;
  } catch { /* no storage */ }
  return systemIsDark.matches ? "dark" : "light";
}

// Browsers reject frequent changes of the address, for example while a key is held down.
function replaceAddress(hash) {
  try {
    history.replaceState(null, "", hash);
  } catch { /* a later change sets the address */ }
}

const STEP_WORDS = { only: "only with", without: "without", hide: "hidden:", from: "from" };
const LIVE_MS = 12; // an update while dragging may take this long
const MANY_TIMED_SAMPLES = 20000;

// Changes of these renumber the nodes of the tree in time order, so a zoom by node number becomes invalid.
const RENUMBERS = ["steps", "only", "threads", "idle", "from", "to", "event", "by", "recursion", "inlined", "logical"];

class Page extends View {
  constructor(profile) {
    super(profile);
    this.drawn = new Map();
    this.waiting = new Map();
    this.menu = new Menu($("menu"));
    this.node = 0;
    const graphTell = {
      select: (node) => this.select(node),
      open: (node) => this.open(node),
      choose: (node) => this.choose(this.shownTree(), node),
      menu: (node, x, y) => this.showMenu(this.shownTree(), node, x, y),
      zoom: (place) => this.go({ zoom: zoomOf(this.shownTree(), place) }),
      hover: (node, event) => this.hover(this.shownTree(), node, event),
      hidden: (hidden) => !this.said && this.tellState(hidden),
    };
    this.graph = new Graph($("graph"), "Flame graph; arrow keys move, Enter zooms", graphTell);
    this.half = { callers: this.makeHalf("callers", "Callers"), callees: this.makeHalf("callees", "Callees") };
    this.table = new FunctionTable($("function-table"), (label) => this.go({ fn: label }));
    this.calls = new CallTree($("call-tree"), { select: (node) => this.selectIn(this.tree(), node) });
    this.timeline = new Timeline({ canvas: $("lane-canvas"), names: $("lane-names") }, {
      range: (from, to, isOver, threads) => (isOver ? this.letGo(from, to, threads) : this.drag(from, to)),
      thread: (pattern, adds) => this.toggleThread(pattern, adds),
      hover: (words, event) => this.tip(words && { ...words, figures: shown(words.figures) }, event),
      lane: (thread, range, event) => this.tip(this.laneWords(thread, range), event),
    });
    this.map = new HeatMap($("heat-canvas"), {
      range: (from, to, isOver) => (isOver ? this.letGo(from, to) : this.drag(from, to)),
      hover: (cell, event) => this.tip(cell === null ? null : this.cellWords(cell), event),
      cell: (cell) => this.say(Object.values(this.cellWords(cell)).join(": ")),
    });
    this.live = new LiveLine($("live-canvas"), {
      range: (from, to, isOver) => (isOver ? this.letGo(from, to) : this.drag(from, to)),
      hover: (words, event) => this.tip(words, event),
    });
    listen(this);
    addEventListener("hashchange", () => {
      if (location.hash === this.applied) return; // set by this page
      clearTimeout(this.waiting.get("address"));
      this.applied = location.hash;
      this.apply(fromHash(location.hash));
    });
    systemIsDark.addEventListener("change", () => {
      setTheme(systemIsDark.matches ? "dark" : "light");
      this.apply(this.state);
    });
    this.apply(fromHash(location.hash));
  }

  // A graph of the callers or callees of the selected function, with its own zoom.
  makeHalf(name, label) {
    const half = { zoom: { node: 0 } };
    const tree = () => this.sandwich()[name];
    const zoom = (place) => {
      half.zoom = place;
      half.graph.show(tree(), this.look(name === "callers"), place);
    };
    half.graph = new Graph($(name), label, {
      select: (node) => this.tellNode(tree(), node),
      choose: (node) => this.choose(tree(), node),
      menu: (node, x, y) => this.showMenu(tree(), node, x, y),
      open: (node) => {
        this.tellNode(tree(), node);
        zoom({ node });
      },
      zoom: (place) => zoom(place),
      hover: (node, event) => this.hover(tree(), node, event),
      hidden: () => {},
    });
    return half;
  }

  // ---- State to page ----

  isDark() {
    return document.documentElement.dataset.theme === "dark";
  }

  // The colours that the style sheet sets for the current theme.
  colours() {
    return this.memory.of("colours", this.isDark(), () => {
      const style = getComputedStyle(document.documentElement);
      const names = ["ground", "ink", "box-ink", "mark", "mark-ink", "focus", "rest", "sign", "faint", "accent", "line", "muted", "alarm", "veil"];
      return Object.fromEntries(names.map((name) => [name.replace(/-i/, "I"), style.getPropertyValue(`--${name}`).trim()]));
    });
  }

  look(upward) {
    const found = this.found();
    const { boxInk: ink, ...colours } = this.colours();
    return { ...colours, ink, upward, colours: this.colouring(this.isDark()), labels: this.profile.labels, names: this.names(),
      matches: found && found.matches, chosen: this.state.fn, compares: this.compares() };
  }

  // Runs `does` after ms, or after drawing; a later call with the same name replaces it.
  soon(name, does, ms = 0) {
    clearTimeout(this.waiting.get(name));
    this.waiting.set(name, setTimeout(does, ms));
  }

  // Changes the state and the address, so that back and forward work. replaces: without a new history entry.
  go(change, replaces = false) {
    const state = { ...this.state, ...change };
    if (this.state.shape === "order" && !("zoom" in change) && RENUMBERS.some((key) => state[key] !== this.state[key])) state.zoom = "";
    this.keepAddress(`#${toHash(state)}`, replaces);
    this.apply(state);
  }

  // Changing the address takes a millisecond or more, so with `replaces` (typed text) it waits for a pause.
  keepAddress(hash, replaces) {
    clearTimeout(this.waiting.get("address"));
    if (replaces) this.soon("address", () => replaceAddress(hash), 200);
    else if (hash !== (location.hash || "#")) {
      this.applied = hash;
      location.hash = hash;
    }
  }

  address() {
    return `${location.href.split("#")[0]}#${toHash(this.state)}`;
  }

  apply(state) {
    const { events, labels } = this.profile;
    if (!events[state.event]) state.event = 0;
    if (events[state.event]?.oneValue) state.by = "weight";
    if (state.fn >= labels.count) state.fn = -1;
    if (state.fn !== this.state?.fn) for (const half of Object.values(this.half)) half.zoom = { node: 0 };
    const isTyped = this.state && state.q !== this.state.q;
    this.state = state;
    this.said = false;
    this.fillControls();
    if (!events.length || this.profile.samples.count === 0) return this.showEmpty();
    this.showSearch();
    if (isTyped && this.profile.timedSamples.count + this.profile.intervals.count > MANY_TIMED_SAMPLES) this.soon("timeline", () => this.showTimeline(), 150);
    else this.showTimeline();
    this.showSteps();
    this.showView();
    this.showCrumbs();
    this.soon("details", () => this.showDetails(), 30);
    this.showLegend();
    this.showStates();
    this.tellState(this.graph.boxes?.hidden || 0);
    document.documentElement.dataset.ready = "true";
    return undefined;
  }

  fillControls() {
    const { state } = this;
    for (const id of ["shape", "only"]) $(id).value = state[id];
    $("lanes").value = this.lanesBy();
    for (const button of $("time-kinds").children)
      button.setAttribute("aria-pressed", String(state.event === this.profile.measures?.[button.dataset.measure]));
    for (const button of $("memory-kinds").children)
      button.setAttribute("aria-pressed", String(state.event === this.profile.memory?.[button.dataset.memory]));
    $("idle").checked = state.idle === "hidden";
    $("counted").checked = state.by === "samples";
    $("colours").value = this.coloursBy();
    $("measure").value = `${state.event} ${state.by}`;
    $("group").value = state.group || this.defaultGroup;
    $("names").checked = state.names === "full";
    $("recursion").checked = state.recursion === "folded";
    $("inlined").checked = state.inlined === "shown";
    $("logical").checked = state.logical === "on";
    for (const id of ["search", "threads"]) {
      const value = state[id === "search" ? "q" : id];
      if ($(id).value !== value) $(id).value = value;
    }
    const range = this.range();
    fieldsOf(this.profile.info, range).forEach((value, i) => { $(["from", "to"][i]).value = value; });
    $("to").placeholder = Number((this.profile.info.durationUs / 1e6).toPrecision(4));
    $("magnify").hidden = !range || state.lens === range.join("-");
    $("whole").hidden = !range && !state.lens;
  }

  showEmpty() {
    const nothing = "This profile has no samples: nothing ran long enough on a CPU, or the event did not occur.";
    for (const id of ["graph", "functions", "calls", "crumbs", "details", "timeline"]) $(id).hidden = true;
    $("empty").hidden = false;
    $("empty").textContent = nothing;
    $("state").textContent = "No samples.";
    document.documentElement.dataset.ready = "true";
  }

  showSearch() {
    const found = this.found();
    const [tree, shownTree] = [this.tree(), this.shownTree()];
    const whole = tree.total(0);
    const sum = found ? matchSum(tree, found.matches) : { weight: 0, places: 0 };
    const { weight } = sum;
    const { places } = found && shownTree !== tree ? matchSum(shownTree, found.matches) : sum;
    for (const id of ["previous", "next"]) $(id).disabled = !places;
    $("only").hidden = !found;
    $("found").textContent = !found ? "" : this.hidesMatches() ? "hidden" : places
      ? `${percent(weight, whole)} in ${count(places)} ${places === 1 ? "place" : "places"}` : "no match";
    $("found").title = found?.isText ? "not a regular expression: searched as text" : "the share of samples with a match, each counted once";
  }

  // Whether a part must be drawn again because one of these values changed.
  isNew(part, ...key) {
    const text = JSON.stringify([this.isDark(), ...key]);
    const isNew = this.drawn.get(part) !== text;
    this.drawn.set(part, text);
    return isNew;
  }

  showTimeline() {
    const { profile } = this;
    const { hasTimes } = profile;
    $("timeline").hidden = !hasTimes && profile.sets.length < 2;
    $("timeline").classList.toggle("timeless", !hasTimes);
    if (!hasTimes) return;
    this.showLive();
    $("thinned").textContent = [
      ...(profile.timedSamples.each > 1 ? [`1 in ${profile.timedSamples.each} samples`] : []),
      ...(profile.intervals.spanNs ? [`waits within ${time(profile.intervals.spanNs)} are one`] : [])].map((text) => ` · ${text}`).join("");
    const lanes = this.lanesBy();
    const isHeat = lanes === "heat";
    $("timeline").classList.toggle("heat", isHeat);
    $("timeline").classList.toggle("states", !isHeat && profile.intervals.count > 0);
    for (const id of ["heat", "heat-words"]) $(id).hidden = !isHeat;
    for (const id of ["lane-names", "lane-pictures"]) $(id).hidden = isHeat || profile.timedSamples.count + profile.intervals.count === 0;
    $("drag-hint").textContent = isHeat ? "click the first and the last cell of a range, or drag" : profile.intervals.count
      ? "drag to take a range; over several lanes: threads too" : "drag to take a range";
    if (isHeat) return this.showHeat();
    return this.showLanes(lanes);
  }

  showLanes(lanes) {
    const { profile, state } = this;
    const { threads, q } = state;
    const event = this.laneEvent();
    const byCpu = lanes === "cpus" && profile.timedSamples.count > 0;
    const hidden = this.hidesIdle() ? this.idle : null;
    const sets = Uint8Array.from(profile.sets, threadMatcher(threads));
    const included = new Uint8Array(profile.threads.length);
    profile.sets.forEach(({ thread }, i) => { included[thread] |= sets[i]; });
    const look = this.memory.of("lanes", [threads, byCpu, event, q, state.logical, this.isDark(), Boolean(hidden)], () => ({ ...this.colours(),
      event: byCpu ? profile.measures?.cpu ?? event : event, byCpu, matches: this.matchedCells(), sets, included,
      states: byCpu || !this.lives ? null : { lives: this.lives, hidden, strong: this.strongStates(), words: (thread) => this.lifeWords(thread) },
      colours: colouring(profile, { by: "kind", isDark: this.isDark() }).kind }));
    this.timeline.show(profile, look, this.range(), this.span());
  }

  showHeat() {
    const { profile: { info }, state } = this;
    const event = this.laneEvent();
    const { grid, heat, most } = this.heat(event);
    const ramp = heatRamp(this.isDark());
    if (this.isNew("heat", event, state.by, state.q, grid.cell, most)) {
      const words = this.heatWords();
      $("heat-units").textContent = grid.words;
      $("heat-most").textContent = words(most);
      $("heat-scale").querySelector("i").style.background = `linear-gradient(90deg, ${ramp.slice(1).join()})`;
      $("heat-of").textContent = `per ${grid.cell}${state.q ? ", of what matches the search" : ""}`;
    }
    this.map.show(info, grid, { heat, most }, { ...this.colours(), ramp }, this.range());
  }

  heatWords() {
    return quantity(this.profile.events[this.laneEvent()], this.state.by === "samples");
  }

  cellWords(cell) {
    const { grid, heat } = this.heat(this.laneEvent());
    return { name: rangeWords(this.profile.info, [timeOf(grid, cell), timeOf(grid, cell + 1)]), figures: heat[cell] ? this.heatWords()(heat[cell]) : "nothing" };
  }

  // Memory has a line of its own: its lanes are those of the first event that has times.
  laneEvent() {
    const { profile, state } = this;
    if (!isOfMemory(profile, state.event)) return state.event;
    return profile.measures?.cpu ?? profile.samples.event[profile.timedSamples.sample[0]] ?? state.event;
  }

  liveSteps() {
    const { profile, state } = this;
    return this.memory.of("live", state.threads, () => liveSteps(profile, Uint8Array.from(profile.sets, threadMatcher(state.threads))));
  }

  liveWords() {
    return quantity(this.profile.events[this.profile.memory.live], false);
  }

  showLive() {
    const { profile } = this;
    if (!profile.memory || !profile.blocks.count) return;
    const bytes = this.liveWords();
    const peak = peakWithin(this.liveSteps(), this.span());
    $("peak").textContent = `Live: peak ${bytes(peak.bytes)} at ${time(peak.time * 1e3)}`;
    this.live.show(profile.info, this.liveSteps(), this.colours(), this.range(), this.span(), bytes);
  }

  // Shows what was live at the moment with the most.
  toPeak() {
    const { profile } = this;
    if (!profile.memory || !profile.blocks.count) return;
    const from = Math.floor(peakWithin(this.liveSteps(), this.span()).time);
    this.go({ event: profile.memory.live, by: "weight", from, to: from + 1 });
  }

  // A flag for each state: whether the event has it. Other events than times have all.
  strongStates() {
    const { profile, state } = this;
    const parts = partsOf(profile, state.event);
    const has = (kind) => profile.events.some((event, i) => parts[i] && event.kind === kind && event.parts.length === 1);
    const [cpu, waiting] = [has("cpu-time"), has("off-cpu-time")];
    return STATES.map((name) => (name === "running" ? cpu || !waiting : waiting || !cpu));
  }

  lifeWords(thread) {
    const { running, wanted, waiting } = this.lives[thread];
    return `${running ? `${time(running)} running, ` : ""}${time(wanted)} wanted a CPU, ${time(waiting)} waiting`;
  }

  // What a thread did at a place of its lane.
  laneWords(thread, range) {
    const { profile } = this;
    const { name, process, tid } = profile.threads[thread];
    const title = `${shown(name || process || "thread")}${tid < 0 ? "" : ` (${tid})`}`;
    const found = stateAt(profile, thread, range);
    const at = timeWords(profile.info, (range[0] + range[1]) / 2, 1e3);
    if (!found) return { name: title, figures: `${at}: nothing is known` };
    const { sample, start, end, weight } = found;
    const state = STATES[profile.samples.state[sample]];
    const stack = profile.samples.own[sample];
    const leaf = stack ? profile.frames.code[profile.frames.first[profile.stacks.frame[stack] + 1] - 1] >>> 1 : -1;
    const isDense = weight >= (end - start) * 990;
    const long = state === "running" ? "running" : isDense ? `${time(weight)} of ${STATE_NAMES[state]}, from ${time(start * 1e3)} to ${time(end * 1e3)}`
      : `short times of ${STATE_NAMES[state]}: together ${time(weight)} within ${time((end - start) * 1e3)}`;
    const functions = functionsOf(profile, sample, 4).map((label) => this.short[label].slice(0, 80));
    return { name: title, figures: `${at}: ${long}`, kind: state === "running" || leaf < 0 || profile.labels.kind[leaf] !== state ? "" : this.full[leaf],
      place: functions.join(" ← ") };
  }

  // The time in each state of what is selected, and how many idle threads there are.
  showStates() {
    const { profile, state } = this;
    const isShown = !profile.info.compares && (profile.intervals.count > 0 || profile.labels.kind.some((kind) => STATES.includes(kind)));
    $("states").hidden = !isShown;
    if (!isShown || !this.isNew("states", this.filters())) return;
    const sums = this.stateSums();
    const whole = sums.reduce((sum, part) => sum + part, 0);
    const strong = this.strongStates();
    $("state-sums").replaceChildren(...STATES.map((name, i) => [name, i]).filter(([, i]) => sums[i] > 0).map(([name, i]) => {
      const swatch = make("i", { className: "swatch" });
      swatch.style.background = stateColour(name, this.isDark());
      return make("span", { className: strong[i] ? "" : "off", title: `${KIND_NAMES[name] ?? STATE_NAMES[name]}: ${percent(sums[i], whole)}` }, swatch,
        `${STATE_NAMES[name]} `, make("small", {}, time(sums[i])));
    }));
    const idle = this.idle.reduce((sum, flag) => sum + flag, 0);
    $("idle-label").hidden = !idle;
    $("idle-words").textContent = `${state.idle === "hidden" ? "" : "hide "}${count(idle)} idle ${idle === 1 ? "thread" : "threads"}${state.idle === "hidden" ? " hidden" : ""}`;
  }

  // The applied filters by function; a click removes one.
  showSteps() {
    const steps = this.steps();
    $("steps").hidden = !steps.length;
    if (!this.isNew("steps", steps, this.state.names)) return;
    $("steps").replaceChildren(...steps.map((step) => make("button", { type: "button", title: "Take this back",
      onclick: () => this.go({ steps: stepsText(steps.filter((other) => other !== step)), zoom: "" }) },
      `${STEP_WORDS[step.kind]} `, make("bdi", {}, this.names()[step.label]), make("span", { "aria-hidden": "true" }, " ×"))));
  }

  showView() {
    const { state } = this;
    const isLeft = this.tree().total(0) > 0;
    for (const tab of $("views").children) {
      const isShown = tab.dataset.view === state.view;
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      $(tab.dataset.view).hidden = !isShown || !isLeft;
    }
    $("empty").hidden = isLeft;
    $("empty").textContent = isLeft ? "" : "Nothing is left of the samples: take a filter, a range or a step back.";
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
        name: this.names()[row.label], full: this.full[row.label], module: shown(moduleName(modulePath(profile, row.label))),
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
    if (!this.isNew("crumbs", this.treeKey(), this.state.shape, node, first, this.state.names)) return;
    const path = [];
    for (let at = node; at; at = tree.parent[at]) path.unshift(at);
    const crumbs = path.map((at) => [this.names()[labelOf(tree, at)], { node: at }]);
    const shownCrumbs = [["all", { node: 0 }], ...crumbs, ...(first ? [["narrow ones", { node, first }]] : [])];
    if (shownCrumbs.length > 7) shownCrumbs.splice(2, shownCrumbs.length - 6, ["…", null]);
    $("crumbs").replaceChildren(...shownCrumbs.map(([name, place], i) => {
      if (!place) return make("span", {}, "…");
      const crumb = make("button", { type: "button", onclick: () => this.zoomTo(zoomOf(tree, place)) }, make("bdi", {}, name));
      if (i === shownCrumbs.length - 1) crumb.setAttribute("aria-current", "location");
      return crumb;
    }));
  }

  showDetails() {
    const { fn } = this.state;
    const lines = fn < 0 ? [] : this.memory.of("lines", [this.filters(), fn], () =>
      sourceLines(this.stacked(), this.weights(), fn, this.lineSets(fn)));
    const isCurrent = [this.shownTree(), this.tree()].includes(this.selectedTree);
    const tree = isCurrent ? this.selectedTree : this.tree();
    const node = isCurrent && labelOf(tree, this.node) === fn ? this.node : 0;
    $("details").classList.toggle("chosen", fn >= 0);
    fillDetails($("details"), this.context(tree), { label: fn, node, rows: this.functions(), lines, branches: this.branchesFrom(fn) }, {
      choose: (label) => this.go({ fn: label }),
      close: () => this.go({ fn: -1 }),
      sandwich: () => this.go({ view: "functions" }),
      search: () => this.findAll(fn),
      more: ({ x, bottom }) => this.showMenu(tree, node, x, bottom, fn),
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
        item(`${shown(moduleName(this.profile.modules[id].path || "unknown"))} ${percent(weight, whole)}`, colours.module(id), "")));
      return;
    }
    const words = { user: "user", inlined: "inlined", kernel: "kernel", jit: "JIT", interpreted: "interpreted", unnamed: "no name", note: "note" };
    const there = new Set(this.profile.labels.kind);
    if (this.profile.frames.code.some((code) => code & 1)) there.add("inlined");
    $("legend").replaceChildren(...Object.keys(words).filter((kind) => there.has(kind)).map((kind) => {
      const entry = item(words[kind], colours.kind(kind), kind);
      entry.title = KIND_NAMES[kind];
      return entry;
    }));
  }

  rangeWords(range) {
    const { profile, state } = this;
    if (state.event !== profile.memory?.live || !profile.blocks.count) return rangeWords(profile.info, range);
    return `live at ${time(peakWithin(this.liveSteps(), range).time * 1e3)}${range[1] - range[0] > 1 ? ", the most in the range" : ""}`;
  }

  tellState(hidden) {
    if (!this.state || !this.profile.samples.count) return;
    const tree = this.shownTree();
    const node = this.state.view === "graph" ? zoomIn(tree, this.state.zoom).node : 0;
    const whole = this.tree().total(0);
    const all = this.recorded();
    const range = this.range();
    const parts = [whole > 0 ? `${this.words()(tree.total(node))} (${percent(tree.total(node), whole)})` : "Nothing is left by the filters"];
    const isMoment = range && this.state.event === this.profile.memory?.live;
    if (whole > 0 && whole < all * 0.99999 && !isMoment) parts.push(`filtered: ${this.words()(whole)} of ${this.words()(all)} (${percent(whole, all)})`);
    if (node) parts.unshift(`Zoomed into ${this.names()[labelOf(tree, node)]}`);
    if (range) parts.push(this.rangeWords(range));
    if (this.state.q && this.state.only)
      parts.push(`${{ others: "without", matches: "only", hidden: "hidden:" }[this.state.only]} what matches ${this.state.q}`);
    if (this.state.threads) parts.push(`threads ${this.state.threads}`);
    if (this.state.view === "graph" && tree.each > 1) parts.push(`1 in ${tree.each} samples`);
    if (this.state.view === "graph" && widthOf(tree, node) < tree.total(node)) parts.push("unsampled weight is not to scale");
    if (this.state.view === "graph" && hidden)
      parts.push(`${count(hidden)} ${hidden === 1 ? "frame" : "frames"} too narrow to draw`);
    const text = shown(parts.join(" · "));
    if ($("state").textContent !== text) $("state").textContent = text;
  }

  // Shows a text in place of the state line until the state changes.
  say(text) {
    this.said = true;
    $("state").textContent = text;
  }

  // ---- Actions ----

  select(node) {
    this.selectIn(this.shownTree(), node);
  }

  // change: other members of the state to change in the same history entry.
  selectIn(tree, node, change = null) {
    const label = node ? labelOf(tree, node) : -1;
    this.node = node;
    this.selectedTree = tree;
    this.go({ fn: label < this.profile.labels.count ? label : -1, ...change }, !change);
    if (!change) this.tellNode(tree, node);
  }

  open(node) {
    const tree = this.shownTree();
    this.selectIn(tree, node, { zoom: zoomOf(tree, { node }) });
  }

  // Also returns to a node that is zoomed already, but was left by wheel or drag.
  zoomTo(zoom) {
    this.graph.unfree();
    this.go({ zoom });
  }

  takeStep(kind, label) {
    if (label >= 0) this.go({ steps: stepsText(withStep(this.steps(), { kind, label })), zoom: "" });
  }

  // Opens the menu of a node, or of a function if node is 0.
  showMenu(tree, node, x, y, label = labelOf(tree, node)) {
    const isFunction = label < this.profile.labels.count;
    const isShown = node && tree === this.shownTree() && this.state.view === "graph";
    const step = (kind) => () => this.takeStep(kind, label);
    const ofNode = [["Zoom in", () => this.open(node), "Enter"], ...(tree.inOrder
      ? [["Its time alone", () => this.go({ from: tree.begins[node], to: tree.ends[node] + 1 })]] : [])];
    const ofFunction = [["Callers and callees", () => this.go({ view: "functions", fn: label }), "s"],
      ["Find everywhere", () => this.findAll(label)], null,
      ["Only stacks with it", step("only"), "o"], ["Without stacks with it", step("without"), "x"],
      ["Hide it: its samples count for its caller", step("hide"), "h"], ["Begin stacks at it", step("from"), "b"], null,
      ["Copy name", () => this.copy(this.profile.labels.name[label], "The name"), "y"]];
    const ofFolded = [["Show the calls that are folded here", () => this.unfold(label, tree.folded[node])], null];
    const items = [...(isShown ? ofNode : []), ...(node && tree.folded?.[node] ? ofFolded : []), ...(isFunction ? ofFunction : []),
      ...(node ? [["Copy stack", () => this.copyStack(tree, node)]] : [])];
    if (items.length) this.menu.open(isFunction || node ? this.names()[label] : "all", items, x, y);
  }

  // Leaves the logical view and zooms to the calls that were folded before a function, where it weighs most.
  unfold(label, folded) {
    const shape = this.state.shape === "flame" ? "flame" : "icicle";
    this.state = { ...this.state, logical: "off" };
    const tree = this.tree();
    let [node] = matchingNodes(tree, this.full.map((_, other) => other === label));
    for (let i = 0; i < folded && tree.parent[node]; i++) node = tree.parent[node];
    this.go({ view: "graph", shape, zoom: zoomOf(tree, { node }), fn: label });
  }

  // Copies the stack in drawing order: root first in a call tree, the called function first in a tree of callers.
  copyStack(tree, node) {
    const names = [];
    for (let at = node; at; at = tree.parent[at]) names.unshift(this.full[labelOf(tree, at)]);
    this.copy(names.join("\n"), "The stack");
  }

  findAll(label) {
    this.go({ q: `^${this.full[label].replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$` });
  }

  // Updates everything while a range is dragged. If that takes more than LIVE_MS, the update waits for the release.
  drag(from, to) {
    if (this.dragMs > LIVE_MS) return;
    const began = performance.now();
    this.apply({ ...this.state, from, to, ...(this.state.shape === "order" ? { zoom: "" } : {}) });
    this.dragMs = performance.now() - began;
  }

  letGo(from, to, threads) {
    this.dragMs = 0;
    this.go({ from, to, ...(threads ? { threads } : {}) });
  }

  tellNode(tree, node) {
    const { name, figures } = nodeWords(this.context(tree), node);
    this.say(`${name}: ${figures}`);
  }

  // Shows the function of a node with its callers and callees.
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

  // Shows the next match; zooms to its caller if it is too narrow.
  step(direction) {
    const found = this.found();
    if (!found) return;
    const tree = this.shownTree();
    const matching = this.memory.of("matching", [this.treeKey(), this.state.shape, this.state.q], () => matchingNodes(tree, found.matches));
    const { length } = matching;
    if (!length) return;
    const at = matching.indexOf(this.graph.selected);
    const node = matching[at < 0 ? (direction > 0 ? 0 : length - 1) : (at + direction + length) % length];
    const zoomed = zoomIn(tree, this.state.zoom).node;
    const isInside = node >= zoomed && node < tree.end[zoomed];
    const isWide = tree.total(node) * 60 > tree.total(zoomed);
    const goal = isInside && isWide ? zoomed : tree.total(node) * 60 > tree.total(0) ? 0 : tree.parent[node];
    this.go({ view: "graph", zoom: zoomOf(tree, { node: goal }), fn: labelOf(tree, node) }, true);
    this.graph.select(node);
  }

  shift(direction) {
    const { durationUs } = this.profile.info;
    const [from, to] = this.range() || [0, durationUs / 20];
    const step = Math.round((to - from) / 2) * direction;
    const start = Math.min(Math.max(0, Math.round(from) + step), durationUs);
    if (this.profile.hasTimes) this.go({ from: start, to: start + Math.round(to - from) }, true);
  }

  nextShape() {
    const shapes = [...$("shape").options].map((option) => option.value);
    return shapes[(shapes.indexOf(this.state.shape) + 1) % shapes.length];
  }

  // CPU time, waiting, both in turn.
  nextMeasure() {
    const { measures, memory } = this.profile;
    if (!measures && !memory) return;
    const order = [...(measures ? [measures.cpu, measures.waiting, measures.both] : []), ...(memory ? [memory.bytes, memory.objects, memory.live] : [])];
    this.go({ event: order[(order.indexOf(this.state.event) + 1) % order.length] });
  }

  help() {
    $("keys").showModal();
    $("keys").scrollTop = 0; // focus scrolled it to its end
  }

  // Lets the timeline show only the range.
  magnify() {
    const range = this.range();
    if (range) this.go({ lens: range.join("-") });
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
    this.say(`${what} is copied.`);
  }

  saveSvg() {
    const graph = this.state.view === "functions" && this.state.fn >= 0 ? this.half.callees.graph : this.graph;
    const context = this.context(graph.tree);
    const text = svg(graph.picture((node) => {
      const { name, figures } = nodeWords(context, node);
      return `${name.slice(0, 500)}\n${figures}`;
    }), { width: graph.width, height: graph.rows * ROW_PX, row: ROW_PX, ground: this.colours().ground,
      ink: this.colours().boxInk, title: document.title });
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })), download: "prof.svg" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    this.lastSvg = text;
    this.say("Saved as prof.svg.");
  }

  copyFolded() {
    const tree = this.tree();
    const node = this.state.shape === "inverted" ? 0 : zoomIn(tree, this.state.zoom).node;
    return this.copy(folded(tree, node, (label) => this.full[label]), "The folded stacks of this view");
  }

  escape() {
    if (document.querySelector(".menu[open]")) document.querySelector(".menu[open]").open = false;
    else if ($("keys").open) $("keys").close();
    else if (this.state.view === "graph" && this.graph.unfree()) return;
    else if (this.state.zoom && this.state.view === "graph") this.go({ zoom: "" });
    else if (this.state.q) this.go({ q: "" });
    else if (this.range() || this.state.lens) this.go({ from: 0, to: 0, lens: "" });
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
