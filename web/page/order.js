// Stacks in time order, thread by thread, the busiest thread first. A node is a call: consecutive
// samples and waits of a thread with the same function and callers. The axis is weight, not time,
// so a thread that does not run takes no width.

import { grown, leftOut, NO_CODE, Tree } from "./tree.js";
import { intervalsWithin } from "./weights.js";

const MOST_PIECES = 100000; // if there are more pieces, light ones are merged

// Returns for each thread the timed samples and intervals with weight in the range, in time order:
// {sample, weight, begins, ends}.
function piecesOf(profile, weights, [from, to]) {
  const { timedSamples, intervals, samples, threads } = profile;
  const lists = threads.map((_, thread) => ({ thread, weight: 0, pieces: [] }));
  const add = (sample, weight, begins, ends) => {
    const list = lists[samples.thread[sample]];
    list.weight += weight;
    list.pieces.push({ sample, weight, begins, ends });
  };
  for (let i = 0; i < timedSamples.count; i++) {
    const sample = timedSamples.sample[i];
    const time = timedSamples.time[i];
    if (weights[sample] && time >= from && time < to)
      add(sample, (weights[sample] / samples.samples[sample]) * timedSamples.each, time, time);
  }
  intervalsWithin(profile, weights, [from, to], (i, weight) =>
    add(intervals.sample[i], weight, Math.max(from, intervals.start[i]), Math.min(to, intervals.end[i])));
  const full = lists.filter(({ pieces }) => pieces.length).sort((a, b) => b.weight - a.weight || a.thread - b.thread);
  if (intervals.count) for (const { pieces } of full) pieces.sort((a, b) => a.begins - b.begins);
  return full;
}

const FIELDS = { parent: Uint32Array, code: Uint32Array, depth: Uint32Array, end: Uint32Array, self: Float64Array, start: Float64Array,
  begins: Float64Array, ends: Float64Array };

class Path {
  constructor() {
    this.count = 0;
    for (const [name, Column] of Object.entries(FIELDS)) this[name] = new Column(1024);
    this.open = [];
    this.at = 0; // the position on the axis
  }

  begin(code, time) {
    if (this.count === this.code.length) for (const name of Object.keys(FIELDS)) this[name] = grown(this[name]);
    const node = this.count++;
    const { open } = this;
    this.parent[node] = open.length ? open[open.length - 1] : 0;
    this.code[node] = code;
    this.depth[node] = open.length;
    this.start[node] = this.at;
    this.begins[node] = time;
    this.ends[node] = time;
    open.push(node);
  }

  // Ends the calls deeper than `depth`.
  close(depth) {
    const { open } = this;
    while (open.length > depth) {
      const node = open.pop();
      this.end[node] = this.count;
      const parent = open[open.length - 1];
      if (open.length && this.ends[parent] < this.ends[node]) this.ends[parent] = this.ends[node];
    }
  }

  // Adds a sample. codes: its frames from the root. The first `kept` of them are already open
  // nodes.
  take(codes, kept, weight, { begins, ends }) {
    const { open } = this;
    let same = 0;
    while (same < codes.length && kept + same < open.length && this.code[open[kept + same]] === codes[same]) same++;
    this.close(kept + same);
    for (let i = same; i < codes.length; i++) this.begin(codes[i], begins);
    const leaf = open[open.length - 1];
    this.self[leaf] += weight;
    if (this.ends[leaf] < ends) this.ends[leaf] = ends;
    this.at += weight;
  }

  tree() {
    this.close(0);
    const { count } = this;
    const { self, begins, ends, start, ...shape } = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, this[name].subarray(0, count)]));
    const node = Uint32Array.from(self.keys()).filter((at) => self[at] > 0);
    const tree = new Tree({ ...shape, count, node }, { sample: Uint32Array.from(node.keys()), weight: Float64Array.from(node, (at) => self[at]) });
    return Object.assign(tree, { inOrder: true, start, begins, ends });
  }
}

// Returns the codes of a stack from the root, filtered by the options of shapeOf() (tree.js).
function codesOf({ frames, stacks }, stack, isLeftOut, { folds, from }) {
  const codes = [];
  for (; stack; stack = stacks.parent[stack])
    for (let i = frames.first[stacks.frame[stack] + 1]; i-- > frames.first[stacks.frame[stack]]; )
      if (!isLeftOut(frames.code[i])) codes.push(frames.code[i]);
  codes.reverse();
  const first = from < 0 ? 0 : codes.findIndex((code) => code >>> 1 === from);
  const path = first < 0 ? [] : codes.slice(first);
  return folds ? path.filter((code, i) => path.findIndex((other) => other >>> 1 === code >>> 1) === i) : path;
}

// weights: the weight of each sample in the whole recording. options: range, and those of
// shapeOf().
export function timeTree(profile, weights, { range, folds = false, from = -1, ...options }) {
  const { samples, threads, stacks } = profile;
  const isLeftOut = leftOut(options);
  const lists = piecesOf(profile, weights, range || [-Infinity, Infinity]);
  const each = Math.ceil(lists.reduce((sum, { pieces }) => sum + pieces.length, 0) / MOST_PIECES);
  const least = each > 1 ? lists.reduce((sum, { weight }) => sum + weight, 0) / MOST_PIECES : 0;
  const known = new Array(stacks.count);
  const path = new Path();
  path.begin(NO_CODE, 0);
  for (const { thread, pieces } of lists) {
    path.close(1);
    path.begin(threads[thread].label * 2, pieces[0].begins);
    let weight = 0;
    pieces.forEach((piece, i) => {
      weight += piece.weight;
      if (weight < least && i + 1 < pieces.length) return;
      const stack = samples.stack[piece.sample];
      known[stack] ||= codesOf(profile, stack, isLeftOut, { folds, from });
      path.take(known[stack], 2, weight, piece);
      weight = 0;
    });
  }
  return Object.assign(path.tree(), { each });
}
