// The HTML report: keeps its state in the address, updates all parts from it, and handles actions.

import { describe } from "./about.js";
import { fieldsOf, rangeWords, timeWords } from "./clock.js";
import { colouring, heatRamp, KIND_NAMES, stateColour } from "./colours.js";
import { listen } from "./controls.js";
import { fillDetails, fillTip, modulePath, nodeWords, place } from "./details.js";
import { folded, svg } from "./export.js";
import { heaviestMatch, matchingNodes, matchSum, sourceLines } from "./functions.js";
import { parallelismWords } from "./elapsed.js";
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
import { $, CallTree, FunctionTable, make, nameButton, share } from "./tables.js";
import { Timeline } from "./timeline.js";
import { labelOf, sharedWords, widthOf } from "./tree.js";
import { View } from "./view.js";
import { partsOf, threadMatcher } from "./weights.js";
import { count, moduleName, percent, quantity, shown, time } from "./words.js";

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

const STEP_WORDS = { only: "only with", without: "without", hide: "hidden:", from: "starting at" };
const KIND_WORDS = { user: "user", inlined: "inlined", kernel: "kernel", jit: "JIT", interpreted: "interpreted", unnamed: "unsymbolized", note: "note" };
const ONLY_WORDS = { matches: "only matches of", others: "without matches of", hidden: "hidden:" };
const MOST_HITS = 10;
const LIVE_MS = 12; // an update while dragging may take this long
const MANY_TIMED_SAMPLES = 20000;

// A change of one of these renumbers the nodes of the tree in time order and so invalidates a zoom
// by node number.
const RENUMBERS = ["steps", "only", "threads", "kinds", "idle", "from", "to", "event", "by", "recursion", "inlined", "logical"];

function swatchOf(fill, kind) {
  const swatch = make("i", { className: `swatch ${kind}` });
  swatch.style.background = fill;
  return swatch;
}

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
      unfold: () => this.go({ shared: "shown" }),
      choose: (node) => this.choose(this.shownTree(), node),
      menu: (node, x, y) => this.showMenu(this.shownTree(), node, x, y),
      zoom: (place) => this.go({ zoom: zoomOf(this.shownTree(), place) }),
      hover: (node, event) => this.hover(this.shownTree(), node, event),
      hidden: (hidden) => !this.said && this.tellState(hidden),
    };
    this.graph = new Graph($("graph"), "Flame graph; arrow keys move, Enter zooms", graphTell);
    this.half = { callers: this.makeHalf("callers", "Callers"), callees: this.makeHalf("callees", "Callees") };
    this.table = new FunctionTable($("function-table"), (label) => this.go({ fn: label }));
    this.calls = new CallTree($("call-tree"), { select: (node) => this.selectIn(this.tree(), node), unfold: () => this.go({ shared: "shown" }) });
    this.timeline = new Timeline({ canvas: $("lane-canvas"), names: $("lane-names") }, {
      range: (from, to, isOver, threads) => (isOver ? this.letGo(from, to, threads) : this.drag(from, to)),
      thread: (pattern, adds) => this.toggle("threads", pattern, adds),
      hover: (words, event) => this.tip(words && { ...words, figures: shown(words.figures) }, event),
      lane: (lane, range, event) => this.tip(this.laneWords(lane, range), event),
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
      if (location.hash === this.applied) return; // this page has set it
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
    return { ...colours, ink, upward, foldsShared: this.state.shared === "folded" && this.state.shape !== "inverted", colours: this.colouring(this.isDark()), labels: this.profile.labels, names: this.names(),
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
    if (isTyped) this.soon("hit", () => this.showFirstHit(), 150);
    this.soon("hits", () => this.showHits(), 60);
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
    $("counted").checked = state.by === "samples";
    $("colours").value = this.coloursBy();
    $("measure").value = `${state.event} ${state.by}`;
    $("group").value = state.group || this.defaultGroup;
    $("names").checked = state.names === "full";
    $("recursion").checked = state.recursion === "folded";
    $("inlined").checked = state.inlined === "shown";
    $("shared").checked = state.shared === "folded";
    $("logical").checked = this.isLogical();
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
    $("found").title = found?.isText ? "not a regular expression: searched as text" : "the share of samples with a match; each sample counts once";
  }

  // Scrolls to the heaviest match, without selecting it.
  showFirstHit() {
    const found = this.found();
    const { view } = this.state;
    if (!found || view === "functions") return;
    const tree = view === "calls" ? this.tree() : this.shownTree();
    const node = heaviestMatch(tree, found.matches);
    if (!node) return;
    if (view === "calls") this.calls.reveal(node);
    else this.graph.keepInView(node);
  }

  // Lists the matching functions with their shares.
  showHits() {
    const found = this.found();
    const key = [this.treeKey(), this.state.q, this.state.names];
    if (!this.isNew("hits", found && key)) return;
    const rows = found ? this.functions().filter(({ label, total }) => found.matches[label] && total > 0).sort((a, b) => b.total - a.total || a.label - b.label) : [];
    const whole = this.tree().total(0);
    $("hits").hidden = !rows.length;
    $("hits").replaceChildren(...rows.slice(0, MOST_HITS).map(({ label, total }) => make("li", {}, share(total, whole),
      nameButton(this.names()[label], this.full[label], { onclick: () => this.showHit(label) }))),
    ...(rows.length > MOST_HITS ? [make("li", {}, make("button", { type: "button", onclick: () => this.go({ view: "functions" }) },
      `${count(rows.length - MOST_HITS)} more functions`))] : []));
  }

  // Selects a function in the view and shows its heaviest place.
  showHit(label) {
    const { view } = this.state;
    if (view === "functions") return this.go({ fn: label });
    const tree = view === "calls" ? this.tree() : this.shownTree();
    const node = heaviestMatch(tree, this.full.map((_, other) => other === label));
    return node ? this.showNode(tree, node) : this.go({ fn: label });
  }

  // Returns whether a part must be drawn again because one of the key's values has changed.
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
      ...(profile.intervals.spanNs ? [`waits within ${time(profile.intervals.spanNs)} are merged`] : [])].map((text) => ` · ${text}`).join("");
    const lanes = this.lanesBy();
    const isHeat = lanes === "heat";
    $("timeline").classList.toggle("heat", isHeat);
    $("timeline").classList.toggle("states", !isHeat && profile.intervals.count > 0);
    for (const id of ["heat", "heat-words"]) $(id).hidden = !isHeat;
    for (const id of ["lane-names", "lane-pictures"]) $(id).hidden = isHeat || profile.timedSamples.count + profile.intervals.count === 0;
    $("drag-hint").textContent = isHeat ? "click the first and the last cell of a range, or drag" : profile.intervals.count
      ? "drag to select a range; across several lanes: threads too" : "drag to select a range";
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
    const look = this.memory.of("lanes", [threads, byCpu, event, q, this.isLogical(), this.isDark(), Boolean(hidden)], () => ({ ...this.colours(),
      event: byCpu ? profile.measures?.cpu ?? event : event, byCpu, matches: this.matchedCells(), sets, included,
      states: byCpu || !this.lives ? null : { lives: this.lives, hidden, strong: this.strongStates(), words: (lane) => this.lifeWords(lane),
        isOfRunning: event === profile.measures?.elapsed, isOfPath: event === profile.measures?.path },
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
      $("heat-of").textContent = `per ${grid.cell}${state.q ? ", matches only" : ""}`;
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

  // Returns the event of the lanes. Memory has a line of its own; with it, the lanes show the first
  // event that has times.
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

  // Selects the moment of peak live memory.
  toPeak() {
    const { profile } = this;
    if (!profile.memory || !profile.blocks.count) return;
    const from = Math.floor(peakWithin(this.liveSteps(), this.span()).time);
    this.go({ event: profile.memory.live, by: "weight", from, to: from + 1 });
  }

  // Returns a flag for each state: whether samples of the event can have it. Events that do not
  // measure time have all states.
  strongStates() {
    const { profile, state } = this;
    const parts = partsOf(profile, state.event);
    const has = (kind) => profile.events.some((event, i) => parts[i] && event.kind === kind && event.parts.length === 1);
    const [cpu, waiting] = [has("cpu-time"), has("off-cpu-time")];
    return STATES.map((name) => (name === "running" ? cpu || !waiting : waiting || !cpu));
  }

  lifeWords(threads) {
    const [running, wanted, waiting] = ["running", "wanted", "waiting"].map((state) => threads.reduce((sum, thread) => sum + this.lives[thread][state], 0));
    return `${running ? `${time(running)} running, ` : ""}${time(wanted)} runnable, ${time(waiting)} waiting`;
  }

  // Returns the tooltip for a place in a lane: what its thread, or one of its threads, did then.
  laneWords({ threads, name, id }, range) {
    const { profile } = this;
    const found = stateAt(profile, threads, range);
    const isOnPath = this.laneEvent() === profile.measures?.path && stateAt(profile, threads, range, partsOf(profile, this.laneEvent()));
    const one = id || !found ? id : profile.threads[profile.samples.thread[found.sample]].tid;
    const title = `${shown(name)}${one && one > 0 ? ` (${one})` : ""}`;
    const at = timeWords(profile.info, (range[0] + range[1]) / 2, 1e3);
    if (!found) return { name: title, figures: `${at}: no data` };
    const { sample, start, end, weight } = found;
    const state = STATES[profile.samples.state[sample]];
    const stack = profile.samples.own[sample];
    const leaf = stack ? profile.frames.code[profile.frames.first[profile.stacks.frame[stack] + 1] - 1] >>> 1 : -1;
    const isDense = weight >= (end - start) * 990;
    const long = state === "running" ? "running" : isDense ? `${STATE_NAMES[state]} for ${time(weight)}, from ${time(start * 1e3)} to ${time(end * 1e3)}`
      : `${STATE_NAMES[state]} for ${time(weight)} of ${time((end - start) * 1e3)}, in short intervals`;
    const functions = functionsOf(profile, sample, 4).map((label) => this.short[label].slice(0, 80));
    return { name: title, figures: `${at}: ${long}${isOnPath ? "; on the critical path" : ""}`, kind: state === "running" || leaf < 0 || profile.labels.kind[leaf] !== state ? "" : this.full[leaf],
      place: functions.join(" ← ") };
  }

  // Shows the time in each state under the filters, and the number of idle threads.
  showStates() {
    const { profile } = this;
    const isShown = !profile.info.compares && this.threadTime() >= 0 && (profile.intervals.count > 0 || profile.labels.kind.some((kind) => STATES.includes(kind)));
    const isOfRunning = !profile.info.compares && this.state.event === profile.measures?.elapsed;
    $("states").hidden = !isShown && !isOfRunning;
    $("running-sums").hidden = !isOfRunning;
    if (isOfRunning) this.showParallelism();
    if (!isShown || !this.isNew("states", this.filters(), this.hidesIdle())) return;
    const sums = this.stateSums();
    const whole = sums.reduce((sum, part) => sum + part, 0);
    const strong = this.strongStates();
    $("state-sums").replaceChildren(...STATES.map((name, i) => [name, i]).filter(([, i]) => sums[i] > 0).map(([name, i]) => {
      const isHidden = name === "idle" && this.hidesIdle();
      const entry = this.legendEntry(name, stateColour(name, this.isDark()), `${STATE_NAMES[name]} `,
        make("small", {}, `${time(sums[i])}${isHidden ? " hidden" : ""}`));
      if (isHidden || !strong[i]) entry.classList.add("off");
      entry.title = `${KIND_NAMES[name] ?? STATE_NAMES[name]}: ${percent(sums[i], whole)}. ${entry.title}`;
      if (name === "idle") Object.assign(entry, { onclick: () => this.turnIdle(), title: "Time without work: event loops, parked threads. Click to show or hide it (d)" });
      return entry;
    }));
  }

  // Shows for how long which numbers of threads ran.
  showParallelism() {
    const sums = this.parallelism();
    if (!this.isNew("parallelism", sums, this.state.kinds)) return;
    const whole = sums.reduce((sum, [, weight]) => sum + weight, 0);
    $("running-sums").replaceChildren("running at a time:", ...sums.map(([key, weight]) => {
      const entry = this.legendEntry(key, null, `${parallelismWords(key)} `, make("small", {}, percent(weight, whole)));
      entry.title = `${time(weight)} of ${time(whole)}. ${entry.title}`;
      return entry;
    }));
  }

  // Returns an entry of a legend. A click shows only its samples; with Ctrl or Shift it adds them.
  legendEntry(key, fill, ...words) {
    const isOfRunning = (entry) => parallelismWords(entry) !== null;
    const kinds = this.state.kinds.split(",").filter((entry) => entry && isOfRunning(entry) === isOfRunning(key));
    return make("button", { type: "button", className: kinds.length && !kinds.includes(key) ? "off" : "", "aria-pressed": String(kinds.includes(key)),
      title: "Click: only these samples", onclick: (event) => this.toggle("kinds", key, event.ctrlKey || event.metaKey || event.shiftKey) }, ...(fill ? [swatchOf(fill, key)] : []), ...words);
  }

  turnIdle() {
    this.go({ idle: this.state.idle === "hidden" ? "shown" : "hidden" });
  }

  // Shows the applied filters by function. A click removes a filter.
  showSteps() {
    const steps = this.steps();
    const { q, names } = this.state;
    const only = q && this.state.only;
    $("steps").hidden = !steps.length && !only;
    if (!this.isNew("steps", steps, names, only, q)) return;
    const filter = (words, name, change) => make("button", { type: "button", title: "Remove this filter", onclick: () => this.go({ ...change, zoom: "" }) },
      `${words} `, make("bdi", {}, name), make("span", { "aria-hidden": "true" }, " ×"));
    $("steps").replaceChildren(...(only ? [filter(ONLY_WORDS[only], shown(q), { only: "" })] : []), ...steps.map((step) =>
      filter(STEP_WORDS[step.kind], this.names()[step.label], { steps: stepsText(steps.filter((other) => other !== step)) })));
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
    $("empty").textContent = isLeft ? "" : "No samples match. Remove a filter or the time range, show idle time, or go back.";
    $("crumbs").hidden = state.view !== "graph";
    $("shape").hidden = state.view !== "graph";
    if (state.view === "graph") {
      const tree = this.shownTree();
      this.graph.show(tree, this.look(state.shape === "flame"), zoomIn(tree, state.zoom));
    } else if (state.view === "functions") this.showFunctions();
    else this.calls.show(this.tree(), { names: this.names(), full: this.full, matches: this.found()?.matches, compares: this.compares(),
      foldsShared: state.shared === "folded" });
  }

  showFunctions() {
    const { profile, state } = this;
    const found = this.found();
    if (this.isNew("table", this.treeKey(), state.q, state.names)) {
      const rows = this.functions().filter(({ label }) => !found || found.matches[label]).map((row) => ({ ...row,
        name: this.names()[row.label], full: this.full[row.label], module: shown(moduleName(modulePath(profile, row.label))),
        file: shown(place(profile, row.label)) }));
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
    const crumbs = path.map((at) => [this.names()[labelOf(tree, at)], { node: at }, this.full[labelOf(tree, at)].slice(0, 2000)]);
    const shownCrumbs = [["all", { node: 0 }], ...crumbs, ...(first ? [["narrow frames", { node, first }]] : [])];
    if (shownCrumbs.length > 7) shownCrumbs.splice(2, shownCrumbs.length - 6, ["…", null]);
    $("crumbs").replaceChildren(...shownCrumbs.map(([name, goal, title = ""], i) => {
      if (!goal) return make("span", {}, "…");
      const crumb = make("button", { type: "button", title, onclick: () => this.zoomTo(zoomOf(tree, goal)) }, make("bdi", {}, name));
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
    fillDetails($("details"), this.context(tree), { label: fn, node, rows: this.functions(), lines, branches: this.branchesFrom(fn), around: fn < 0 ? null : this.around(fn) }, {
      choose: (label) => this.go({ fn: label }),
      close: () => this.go({ fn: -1 }),
      sandwich: () => this.go({ view: "functions" }),
      search: () => this.findAll(fn),
      more: ({ x, bottom }) => this.showMenu(tree, node, x, bottom, fn),
    });
  }

  showLegend() {
    if (!this.isNew("legend", this.coloursBy(), this.state.event, this.state.kinds)) return;
    const colours = this.colouring(this.isDark());
    if (this.coloursBy() === "change") {
      const { more, less, faint } = colours.changes;
      const { isGuess, of } = this.profile.comparison;
      const item = (name, fill) => make("span", {}, swatchOf(fill, ""), name);
      $("legend").replaceChildren(item(isGuess ? "perhaps more than before" : "▲ more than before", more), item(isGuess ? "perhaps less" : "▼ less", less),
        item("may be chance", faint), make("span", {}, `in % of ${shown(of)}`));
      return;
    }
    if (this.coloursBy() === "module") {
      const modules = this.modules();
      const whole = modules.reduce((sum, { weight }) => sum + weight, 0);
      $("legend").replaceChildren(...modules.slice(0, 8).map(({ id, weight }) =>
        this.legendEntry(`m${id}`, colours.module(id), make("bdi", {}, `${shown(moduleName(this.profile.modules[id].path || "unknown"))} ${percent(weight, whole)}`))));
      return;
    }
    const there = new Set(this.profile.labels.kind);
    if (this.profile.frames.code.some((code) => code & 1)) there.add("inlined");
    $("legend").replaceChildren(...Object.keys(KIND_WORDS).filter((kind) => there.has(kind)).map((kind) => {
      const entry = this.legendEntry(kind, colours.kind(kind), KIND_WORDS[kind]);
      entry.title = `${KIND_NAMES[kind]}. ${entry.title}`;
      return entry;
    }));
  }

  rangeWords(range) {
    const { profile, state } = this;
    if (state.event !== profile.memory?.live || !profile.blocks.count) return rangeWords(profile.info, range);
    return `live at ${time(peakWithin(this.liveSteps(), range).time * 1e3)}${range[1] - range[0] > 1 ? ", the peak in the range" : ""}`;
  }

  tellState(hidden) {
    if (!this.state || !this.profile.samples.count) return;
    const tree = this.shownTree();
    const node = this.state.view === "graph" ? zoomIn(tree, this.state.zoom).node : 0;
    const whole = this.tree().total(0);
    const all = this.recorded();
    const range = this.range();
    const parts = [whole > 0 ? `${this.words()(tree.total(node))} (${percent(tree.total(node), whole)})` : "No samples match"];
    const isMoment = range && this.state.event === this.profile.memory?.live;
    if (whole > 0 && whole < all * 0.99999 && !isMoment) parts.push(`filtered: ${this.words()(whole)} of ${this.words()(all)} (${percent(whole, all)})`);
    if (node) parts.unshift(`Zoomed into ${this.names()[labelOf(tree, node)]}`);
    if (range) parts.push(this.rangeWords(range));
    if (this.state.q && this.state.only)
      parts.push(`${ONLY_WORDS[this.state.only]} ${this.state.q}`);
    if (this.state.kinds) parts.push(`only ${this.state.kinds.split(",").map((kind) => KIND_WORDS[kind] ?? STATE_NAMES[kind] ?? parallelismWords(kind) ??
      moduleName(this.profile.modules[kind.slice(1)]?.path ?? kind)).join(", ")}`);
    if (this.state.threads) parts.push(`threads ${this.state.threads}`);
    if (this.state.view === "graph" && tree.each > 1) parts.push(`1 in ${tree.each} samples`);
    if (this.state.view === "graph" && widthOf(tree, node) < tree.total(node)) parts.push("unsampled weight is not drawn to scale");
    if (this.state.view === "graph" && hidden)
      parts.push(`${count(hidden)} ${hidden === 1 ? "frame" : "frames"} too narrow to draw`);
    const text = shown(parts.join(" · "));
    if ($("state").textContent !== text) $("state").textContent = text;
  }

  // Shows a text instead of the state line until the state changes.
  say(text) {
    this.said = true;
    $("state").textContent = text;
  }

  // ---- Actions ----

  select(node) {
    this.selectIn(this.shownTree(), node);
  }

  // change: other members of the state, which change in the same history entry.
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

  // Returns to the zoomed node, too, if the wheel or a drag has moved the range off it.
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
      ? [["Select its time range", () => this.go({ from: tree.begins[node], to: tree.ends[node] + 1 })]] : [])];
    const ofFunction = [["Callers and callees", () => this.go({ view: "functions", fn: label }), "s"],
      ["Find everywhere", () => this.findAll(label)], null,
      ["Only stacks with it", step("only"), "o"], ["Only stacks without it", step("without"), "x"],
      ["Hide it: its samples count for its caller", step("hide"), "h"], ["Start stacks at it", step("from"), "b"], null,
      ["Copy name", () => this.copy(this.profile.labels.name[label], "the name"), "y"]];
    const ofFolded = [["Show the calls folded here", () => this.unfold(label, tree.folded[node])], null];
    const items = [...(isShown ? ofNode : []), ...(node && tree.folded?.[node] ? ofFolded : []), ...(isFunction ? ofFunction : []),
      ...(node ? [["Copy stack", () => this.copyStack(tree, node)]] : [])];
    if (items.length) this.menu.open(isFunction || node ? this.names()[label] : "all", items, x, y);
  }

  // Leaves the logical view and zooms to the calls that are folded before a function, in the
  // heaviest of its nodes.
  unfold(label, folded) {
    const shape = this.state.shape === "flame" ? "flame" : "icicle";
    this.state = { ...this.state, logical: this.logicalAs(false) };
    const tree = this.tree();
    let [node] = matchingNodes(tree, this.full.map((_, other) => other === label));
    for (let i = 0; i < folded && tree.parent[node]; i++) node = tree.parent[node];
    this.go({ view: "graph", shape, zoom: zoomOf(tree, { node }), fn: label, shared: "shown" });
  }

  // Copies the stack in drawing order: root first in a call tree, the called function first in a tree of callers.
  copyStack(tree, node) {
    const names = [];
    for (let at = node; at; at = tree.parent[at]) names.unshift(this.full[labelOf(tree, at)]);
    this.copy(names.join("\n"), "the stack");
  }

  findAll(label) {
    this.go({ q: `^${this.full[label].replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$` });
  }

  // Updates everything while a range is dragged. If an update takes longer than LIVE_MS, the next
  // one waits for the release.
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

  tellNode(tree, node, before = "") {
    const { name, figures } = nodeWords(this.context(tree), node);
    this.say(`${before}${name}: ${figures}`);
  }

  // Shows the function of a node with its callers and callees.
  choose(tree, node) {
    const label = labelOf(tree, node);
    if (label < this.profile.labels.count) this.go({ view: "functions", fn: label });
  }

  hover(tree, node, event) {
    const words = node !== null && event ? nodeWords(this.context(tree), node) : null;
    if (words && node && tree === this.graph.tree && node === this.graph.shared)
      Object.assign(words, { name: sharedWords(tree, node, this.full), kind: "Callers of all samples. Click to show them.", place: "" });
    this.tip(words, event);
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

  // Shows only one lane or one entry of a legend, or everything. adds: adds it to the others or
  // removes it.
  toggle(key, pattern, adds) {
    const parts = pattern.split(",");
    const now = this.state[key].split(",").filter(Boolean);
    const rest = now.filter((part) => !parts.includes(part));
    if (adds) this.go({ [key]: [...rest, ...(rest.length < now.length ? [] : parts)].join(",") });
    else this.go({ [key]: this.state[key] === pattern ? "" : pattern });
  }

  // Shows the next match in the view.
  step(direction) {
    const found = this.found();
    const { view, shape, q } = this.state;
    if (!found) return;
    if (view === "functions") {
      this.go({ fn: this.table.beside(direction) }, true);
      return;
    }
    const tree = view === "calls" ? this.tree() : this.shownTree();
    const matching = this.memory.of("matching", [this.treeKey(), view, shape, q], () => matchingNodes(tree, found.matches));
    const { length } = matching;
    if (!length) return;
    const at = matching.indexOf(view === "calls" ? this.calls.current : this.graph.selected);
    const next = at < 0 ? (direction > 0 ? 0 : length - 1) : (at + direction + length) % length;
    this.showNode(tree, matching[next], `${count(next + 1)} of ${count(length)} · `);
  }

  // Selects a node in the graph or the call tree and scrolls to it. The graph zooms to its caller if
  // it is too narrow.
  showNode(tree, node, words = "") {
    const fn = labelOf(tree, node);
    if (this.state.view === "calls") {
      this.go({ fn }, true);
      this.calls.reveal(node);
    } else {
      const zoomed = zoomIn(tree, this.state.zoom).node;
      const isInside = node >= zoomed && node < tree.end[zoomed];
      const isWide = tree.total(node) * 60 > tree.total(zoomed);
      const goal = isInside && isWide ? zoomed : tree.total(node) * 60 > tree.total(0) ? 0 : tree.parent[node];
      this.go({ zoom: zoomOf(tree, { node: goal }), fn }, true);
      this.graph.select(node);
    }
    this.tellNode(tree, node, words);
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

  // Switches to the next measure of time, then of memory.
  nextMeasure() {
    const { measures, memory } = this.profile;
    if (!measures && !memory) return;
    const order = [...Object.values(measures ?? {}), ...(memory ? [memory.bytes, memory.objects, memory.live] : [])];
    this.go({ event: order[(order.indexOf(this.state.event) + 1) % order.length] });
  }

  help() {
    $("keys").showModal();
    $("keys").scrollTop = 0; // the focus has scrolled it to its end
  }

  // Shows only the range in the timeline.
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
    this.say(`Copied ${what}.`);
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
    return this.copy(folded(tree, node, (label) => this.full[label]), "the folded stacks of this view");
  }

  escape() {
    if (document.querySelector(".menu[open]")) document.querySelector(".menu[open]").open = false;
    else if ($("keys").open) $("keys").close();
    else if (this.state.view === "graph" && this.graph.unfree()) return;
    else if (this.state.zoom && this.state.view === "graph") this.go({ zoom: "" });
    else if (this.state.q) this.go({ q: "" });
    else if (this.state.kinds) this.go({ kinds: "" });
    else if (this.range() || this.state.lens) this.go({ from: 0, to: 0, lens: "" });
  }
}

async function main() {
  setTheme(firstTheme());
  try {
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
