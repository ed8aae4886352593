// What is computed of the state: weights, trees, tables, matches, each once until the state asks for others.

import { colouring, modulesByWeight } from "./colours.js";
import { functionTable, matchingCells, search } from "./functions.js";
import { timeTree } from "./order.js";
import { stepsOf } from "./state.js";
import { callTree, calleesOf, callersOf, inverted, shapeOf, weighed } from "./tree.js";
import { cellWeights } from "./weights.js";
import { quantity, shortName, shown } from "./words.js";

// Computed once for each value of its key.
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

// Of a profile; `state` (state.js) is set from outside.
// As enum format_difference has it.
const COMPARES_SHARES = 1;

export class View {
  constructor(profile) {
    this.profile = profile;
    this.memory = new Memory();
    this.full = profile.labels.name.map(shown);
    this.short = this.full.map((name, label) => (profile.labels.kind[label] === "group" ? name : shortName(name)));
    this.defaultGroup = profile.processCount > 1 ? "process" : "none";
  }

  range() {
    const { from, to } = this.state;
    return to > from && this.profile.moments.count ? [from, to] : null;
  }

  steps() {
    return stepsOf(this.state.steps, this.profile.labels.count);
  }

  // What the weights depend on, as the key of all that is made of them.
  filters() {
    const { event, by, threads, q, only } = this.state;
    return { event, bySamples: by === "samples", threads, range: this.range(), only: q && (only === "matches" || only === "others") && [q, only],
      steps: this.steps().filter(({ kind }) => kind !== "hide") };
  }

  weightsOf({ only, steps, ...view }) {
    return cellWeights(this.profile, { ...view, cells: this.countedCells(only, steps) });
  }

  // Which cells the search and the steps leave, as flags; null: all.
  countedCells(only, steps) {
    const having = (label) => Uint8Array.from(this.full, (_, other) => Number(other === label));
    const sets = steps.map(({ kind, label }) => matchingCells(this.profile, having(label), kind === "without"));
    if (only) sets.push(matchingCells(this.profile, this.found().matches, only[1] === "others"));
    return sets.length ? sets.reduce((all, set) => all.map((flag, cell) => flag & set[cell])) : null;
  }

  weights() {
    return this.memory.of("weights", this.filters(), () => this.weightsOf(this.filters()));
  }

  // All that there is of this event.
  recorded() {
    const { event, by } = this.state;
    return this.memory.of("recorded", [event, by], () => cellWeights(this.profile,
      { event, bySamples: by === "samples", threads: "", range: null, cells: null }).reduce((sum, weight) => sum + weight, 0));
  }

  // In a comparison: of the other event.
  baseWeights() {
    return this.profile.info.compares ? this.weightsOf({ ...this.filters(), event: 1 - this.state.event }) : null;
  }

  // Changes are from the second event to the first, whichever gives the boxes their width.
  // whole: what the shares are of, of each side its own, or where weights are compared of that before.
  compares() {
    const { compares } = this.profile.info;
    if (!compares) return null;
    const isAfter = this.state.event === 0;
    const { total, base } = this.tree();
    const before = isAfter ? base : total;
    return { sign: isAfter ? 1 : -1, whole: compares === COMPARES_SHARES ? { total, base } : { total: before, base: before } };
  }

  coloursBy() {
    return this.state.colours || (this.profile.info.compares ? "change" : "kind");
  }

  groupOf() {
    const group = this.state.group || this.defaultGroup;
    if (group === "none") return null;
    return this.profile.threads.map((thread) => (group === "thread" ? thread.label : thread.processLabel));
  }

  // How stacks become paths of the tree (shapeOf).
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
    return [group, recursion, inlined, this.hidesMatches() && q, this.steps().filter(({ kind }) => kind === "hide" || kind === "from")];
  }

  treeKey() {
    return [this.filters(), this.shapeKey()];
  }

  tree() {
    return this.memory.of("tree", this.treeKey(), () => weighed(
      this.memory.of("shape", this.shapeKey(), () => shapeOf(this.profile, { groupOf: this.groupOf(), ...this.shaping() })),
      this.weights(), this.baseWeights()));
  }

  shownTree() {
    const { shape } = this.state;
    if (shape === "inverted") return this.memory.of("inverted", this.treeKey(), () => inverted(this.tree()));
    if (shape !== "order" || !this.profile.moments.count) return this.tree();
    return this.memory.of("order", this.treeKey(), () => timeTree(this.profile, this.weightsOf({ ...this.filters(), range: null }),
      { ...this.shaping(), range: this.range() }));
  }

  sandwich() {
    return this.memory.of("sandwich", [this.treeKey(), this.state.fn], () =>
      ({ callers: callersOf(this.tree(), this.state.fn), callees: calleesOf(this.tree(), this.state.fn) }));
  }

  functions() {
    return this.memory.of("functions", this.treeKey(), () => functionTable(this.tree(), this.profile.labels));
  }

  found() {
    const { q } = this.state;
    if (!q) return null;
    return this.memory.of("found", q, () => search(this.full, q));
  }

  // Which cells have a function that the search matches.
  matchedCells() {
    if (!this.state.q) return null;
    return this.memory.of("matched", this.state.q, () => matchingCells(this.profile, this.found().matches));
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
      by, isDark, modules: by === "module" ? this.modules() : [], ...this.compares() }));
  }

  // In the order of the whole recording, so that colours stay when the range changes.
  modules() {
    return this.memory.of("modules", this.state.event, () => {
      const all = { event: this.state.event, bySamples: false, threads: "", range: null, cells: null };
      return modulesByWeight(this.profile, functionTable(callTree(this.profile, cellWeights(this.profile, all)), this.profile.labels));
    });
  }
}
