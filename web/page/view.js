// Computes weights, trees, tables and matches from the state. Each result is cached until the part
// of the state that it depends on changes.

import { branchesFrom, branchEvents } from "./branches.js";
import { isLong } from "./clock.js";
import { colouring, modulesByWeight } from "./colours.js";
import { functionTable, lineSets, matchingSamples, neighbours, reasonsOf, samplesOfKinds, search } from "./functions.js";
import { gridOf, heatOf } from "./heat.js";
import { parallelismIn, parallelismSums } from "./elapsed.js";
import { timeTree } from "./order.js";
import { IDLE, STATES } from "./reasons.js";
import { logicalOf } from "./logical.js";
import { spanOf, stepsOf } from "./state.js";
import { livesOf } from "./states.js";
import { callTree, calleesOf, callersOf, inverted, shapeOf, Tree } from "./tree.js";
import { sampleWeights, wholeWeights } from "./weights.js";
import { quantity, shown } from "./words.js";

// Caches the last result for each name. Another key computes it again.
class Memory {
  constructor() {
    this.kept = new Map();
  }

  of(name, key, compute) {
    const text = JSON.stringify(key);
    const kept = this.kept.get(name);
    if (kept && kept.text === text) return kept.value;
    const value = compute();
    this.kept.set(name, { text, value });
    return value;
  }
}

// enum format_difference
const COMPARES_SHARES = 1;

// Boxes of many processes with few names, such as the commands of a script, would be too narrow to
// see.
function defaultGroup({ processCount, processNameCount }) {
  if (processCount <= 1) return "none";
  return processCount > 2 * processNameCount ? "name" : "process";
}

// The view of a profile. Its owner sets `state` (state.js).
export class View {
  constructor(profile) {
    this.profile = profile;
    this.memory = new Memory();
    this.full = profile.labels.name.map(shown);
    this.short = profile.labels.short.map(shown);
    this.defaultGroup = defaultGroup(profile);
    this.lives = profile.intervals.count ? livesOf(profile) : null;
    this.idle = Uint8Array.from(profile.threads, (_, thread) => Number(this.lives?.[thread].isIdle ?? 0));
    const { samples, events } = profile;
    const isWait = (sample) => samples.state[sample] > 1 && events[samples.event[sample]].kind === "off-cpu-time";
    for (let i = 0; this.lives && i < samples.count; i++) if (isWait(i) && this.idle[samples.thread[i]]) samples.state[i] = IDLE;
    this.hasIdle = samples.state.includes(IDLE) && samples.state.some((state) => state !== IDLE);
  }

  range() {
    const { from, to } = this.state;
    return to > from && this.profile.hasTimes ? [from, to] : null;
  }

  isLogical() {
    return this.state.logical ? this.state.logical === "on" : this.profile.info.isLogical;
  }

  // Returns the value of state.logical that shows or leaves the logical view.
  logicalAs(isOn) {
    return isOn === this.profile.info.isLogical ? "" : isOn ? "on" : "off";
  }

  // Returns the profile with the stacks that are shown.
  stacked() {
    return this.isLogical() ? this.memory.of("logical", 0, () => logicalOf(this.profile)) : this.profile;
  }

  steps() {
    return stepsOf(this.state.steps, this.profile.labels.count);
  }

  // Returns the state that the weights depend on. It is part of the cache key of everything
  // computed from them.
  filters() {
    const { event, by, threads, q, only, kinds } = this.state;
    return { event, logical: this.isLogical(), bySamples: by === "samples", threads, kinds, hidesIdle: this.hidesIdle(), range: this.range(), only: q && (only === "matches" || only === "others") && [q, only],
      steps: this.steps().filter(({ kind }) => kind !== "hide") };
  }

  hidesIdle() {
    return this.state.idle === "hidden" && this.hasIdle;
  }

  // Returns the weight of each sample in the whole recording, and what it was computed from.
  wholeOf({ only, steps, kinds, hidesIdle, ...filters }) {
    return this.memory.of(`whole ${filters.event}`, { ...filters, only, steps, kinds, hidesIdle, range: null }, () => {
      const view = { ...filters, samples: this.countedSamples(only, steps, kinds, hidesIdle) };
      return { view, whole: wholeWeights(this.profile, view) };
    });
  }

  weightsOf(filters) {
    const { view, whole } = this.wholeOf(filters);
    return sampleWeights(this.profile, { ...view, range: filters.range }, whole);
  }

  // Returns a flag for each sample that the search and the filters keep, or null for all.
  countedSamples(only, steps, kinds, hidesIdle) {
    const having = (label) => Uint8Array.from(this.full, (_, other) => Number(other === label));
    const sets = steps.map(({ kind, label }) => matchingSamples(this.stacked(), having(label), kind === "without"));
    if (only) sets.push(matchingSamples(this.stacked(), this.found().matches, only[1] === "others"));
    if (hidesIdle) sets.push(this.profile.samples.state.map((state) => Number(state !== IDLE)));
    if (kinds) sets.push(samplesOfKinds(this.stacked(), kinds.split(",")));
    return sets.length ? sets.reduce((all, set) => all.map((flag, sample) => flag & set[sample])) : null;
  }

  weights() {
    return this.memory.of("weights", this.filters(), () => this.weightsOf(this.filters()));
  }

  // Returns the taken branches from a function in the shown threads. Branches have no times.
  branchesFrom(label) {
    const events = branchEvents(this.profile);
    if (!events || label < 0) return [];
    const { threads } = this.state;
    const weightsOf = (event) => (event < 0 ? null : wholeWeights(this.profile, { event, bySamples: false, threads, samples: null }));
    return this.memory.of("branches", [label, threads], () =>
      branchesFrom(this.profile, { taken: weightsOf(events.taken), cycles: weightsOf(events.cycles) }, label));
  }

  // Returns the event of all threads' time, or -1.
  threadTime() {
    const { measures, events } = this.profile;
    return measures?.both ?? events.findIndex(({ kind }) => kind === "off-cpu-time");
  }

  // Returns the elapsed time by number of running threads (elapsed.js) under the filters.
  parallelism() {
    const filters = { ...this.filters(), event: this.profile.measures.elapsed, bySamples: false };
    filters.kinds = parallelismIn(filters.kinds.split(",").filter(Boolean)).others.join();
    return this.memory.of("parallelism", filters, () => parallelismSums(this.profile, this.weightsOf(filters)));
  }

  // Returns the time in each state (STATES) under the filters.
  stateSums() {
    const event = this.threadTime();
    const filters = { ...this.filters(), event, bySamples: false, kinds: "", hidesIdle: false };
    return this.memory.of("states", filters, () => {
      const sums = new Float64Array(STATES.length);
      const { sample, weight } = this.weightsOf(filters);
      for (let i = 0; i < sample.length; i++) sums[this.profile.samples.state[sample[i]]] += weight[i];
      return sums;
    });
  }

  // Returns what the timeline shows: threads, cpus or heat.
  lanesBy() {
    const { info, timedSamples, intervals } = this.profile;
    return this.state.lanes || (isLong(info) && timedSamples.count && !intervals.count ? "heat" : "threads");
  }

  // Returns the time range that the timeline shows.
  span() {
    return spanOf(this.state.lens) || [0, Math.max(1, this.profile.info.durationUs)];
  }

  // Returns the grid of the heat map and the weight in each of its cells under all filters except
  // the range. During a search only matches count.
  heat(event) {
    const { info } = this.profile;
    const filters = { ...this.filters(), event, range: null };
    const { q } = this.state;
    return this.memory.of("heat", [filters, q, this.span()], () => {
      const grid = gridOf(info, this.span());
      const matches = this.matchedCells();
      const { whole } = this.wholeOf(filters);
      const heat = heatOf(this.profile, matches ? whole.map((weight, sample) => weight * matches[sample]) : whole, grid);
      return { grid, heat, most: heat.reduce((most, weight) => Math.max(most, weight), 0) };
    });
  }

  // Returns the total weight of this event without any filter.
  recorded() {
    const { event, by } = this.state;
    return this.memory.of("recorded", [event, by], () => wholeWeights(this.profile,
      { event, bySamples: by === "samples", threads: "", samples: null }).reduce((sum, weight) => sum + weight, 0));
  }

  // Returns the weights of the other event in a comparison, else null.
  baseWeights() {
    return this.profile.info.compares ? this.weightsOf({ ...this.filters(), event: 1 - this.state.event }) : null;
  }

  // Changes are from the second event to the first, whichever event sets the width of boxes. whole:
  // the totals that shares refer to. They are each profile's own if shares are compared, and those
  // of the older profile if weights are. rows: the changes of functions by label (comparison.js).
  compares() {
    const { compares } = this.profile.info;
    if (!compares) return null;
    const isAfter = this.state.event === 0;
    const [total, base] = [this.tree().total(0), this.tree().base(0)];
    const before = isAfter ? base : total;
    const { threads, only } = this.filters();
    return { rows: this.profile.comparison.rows, isFiltered: Boolean(threads || only || this.steps().length), sign: isAfter ? 1 : -1, whole: compares === COMPARES_SHARES ? { total, base } : { total: before, base: before } };
  }

  coloursBy() {
    return this.state.colours || (this.profile.info.compares ? "change" : "kind");
  }

  groupOf() {
    const group = this.state.group || this.defaultGroup;
    if (group === "none") return null;
    const { sets } = this.profile;
    const key = group.startsWith("label:") ? group.slice("label:".length) : null;
    const own = { thread: "label", name: "nameLabel" }[group] ?? "processLabel";
    return sets.map((set) => set.groups?.get(key) ?? set[own]);
  }

  // Returns the options of shapeOf() (tree.js).
  shaping() {
    const steps = this.steps();
    const hidden = steps.filter(({ kind }) => kind === "hide");
    const matches = this.hidesMatches() ? this.found().matches : null;
    const hides = matches || hidden.length ? new Uint8Array(matches || this.full.length) : null;
    for (const { label } of hidden) hides[label] = 1;
    return { folds: this.state.recursion === "folded", physical: this.state.inlined === "merged", hides,
      from: steps.find(({ kind }) => kind === "from")?.label ?? -1 };
  }

  hidesMatches() {
    return Boolean(this.state.q) && this.state.only === "hidden";
  }

  shapeKey() {
    const { group, recursion, inlined, q } = this.state;
    return [group, recursion, inlined, this.isLogical(), this.hidesMatches() && q, this.steps().filter(({ kind }) => kind === "hide" || kind === "from")];
  }

  treeKey() {
    return [this.filters(), this.shapeKey()];
  }

  tree() {
    return this.memory.of("tree", this.treeKey(), () => new Tree(
      this.memory.of("shape", this.shapeKey(), () => shapeOf(this.stacked(), { groupOf: this.groupOf(), ...this.shaping() })),
      this.weights(), this.baseWeights()));
  }

  shownTree() {
    const { shape } = this.state;
    if (shape === "inverted") return this.memory.of("inverted", this.treeKey(), () => inverted(this.tree()));
    if (shape !== "order" || !(this.profile.timedSamples.count + this.profile.intervals.count)) return this.tree();
    return this.memory.of("order", this.treeKey(), () => timeTree(this.stacked(), this.wholeOf(this.filters()).whole,
      { ...this.shaping(), range: this.range() }));
  }

  sandwich() {
    return this.memory.of("sandwich", [this.treeKey(), this.state.fn], () =>
      ({ callers: callersOf(this.tree(), this.state.fn), callees: calleesOf(this.tree(), this.state.fn) }));
  }

  functions() {
    return this.memory.of("functions", this.treeKey(), () => functionTable(this.tree(), this.profile.labels, this.isOfMemory()));
  }

  lineSets(label) {
    return this.memory.of("line sets", [label, this.isLogical()], () => lineSets(this.stacked(), label));
  }

  // Returns the heaviest callers and callees of a function, and the reasons of its waits.
  around(label) {
    const { measures, events } = this.profile;
    const event = measures?.waiting ?? events.findIndex(({ kind }) => kind === "off-cpu-time");
    return this.memory.of("around", [this.treeKey(), label], () => ({ ...neighbours(this.tree(), label),
      reasons: event < 0 ? [] : reasonsOf(this.profile, this.weightsOf({ ...this.filters(), event, bySamples: false }),
        matchingSamples(this.stacked(), Uint8Array.from(this.full, (_, other) => Number(other === label)))) }));
  }

  isOfMemory() {
    return /^((alloc|inuse)_(objects|space)|growth)$/.test(this.profile.events[this.state.event].name);
  }

  found() {
    const { q } = this.state;
    if (!q) return null;
    return this.memory.of("found", q, () => search(this.full, q, this.short));
  }

  // Returns a flag for each sample that has a function matching the search.
  matchedCells() {
    if (!this.state.q) return null;
    return this.memory.of("matched", [this.state.q, this.isLogical()], () => matchingSamples(this.stacked(), this.found().matches));
  }

  words() {
    return quantity(this.profile.events[this.state.event], this.state.by === "samples");
  }

  names() {
    return this.state.names === "full" ? this.full : this.short;
  }

  context(tree) {
    return { profile: this.profile, tree, names: this.names(), full: this.full, words: this.words(), compares: this.compares() };
  }

  colouring(isDark) {
    const by = this.coloursBy();
    const key = [by, isDark, this.state.event, by === "change" && this.treeKey()];
    return this.memory.of("colouring", key, () => colouring(this.profile, {
      by, isDark, modules: by === "module" ? this.modules() : [], compares: this.compares() }));
  }

  // Sorted by weight in the whole recording, so that colours do not change with the range.
  modules() {
    return this.memory.of("modules", this.state.event, () => {
      const all = { event: this.state.event, bySamples: false, threads: "", range: null, samples: null };
      return modulesByWeight(this.profile, functionTable(callTree(this.profile, sampleWeights(this.profile, all)), this.profile.labels));
    });
  }
}
