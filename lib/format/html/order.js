// Stacks in the order of time: a tree whose nodes are calls that go on, as far as samples tell; of each
// thread its own, the busiest first. The axis is weight as everywhere, so nothing stands where a thread did not run.

import { grown, leftOut, NO_CODE } from "./tree.js";

const MOST_MOMENTS = 100000; // drawn; of more each second, third … stands for as many

// By thread, in order: the moments in the range that have weight.
function momentsOf({ moments, cells, threads }, weights, [from, to]) {
  const lists = threads.map(() => ({ weight: 0, moments: [] }));
  for (let i = 0; i < moments.count; i++) {
    const cell = moments.cell[i];
    if (!weights[cell] || moments.time[i] < from || moments.time[i] >= to) continue;
    const list = lists[cells.thread[cell]];
    list.weight += weights[cell] / cells.samples[cell];
    list.moments.push(i);
  }
  return lists.map((list, thread) => ({ ...list, thread })).filter((list) => list.moments.length)
    .sort((a, b) => b.weight - a.weight || a.thread - b.thread);
}

const FIELDS = { parent: Uint32Array, code: Uint32Array, depth: Uint32Array, end: Uint32Array, self: Float64Array, start: Float64Array,
  total: Float64Array, begins: Float64Array, ends: Float64Array };

class Path {
  constructor() {
    this.count = 0;
    for (const [name, Column] of Object.entries(FIELDS)) this[name] = new Column(1024);
    this.open = [];
    this.at = 0; // on the axis
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

  // Ends what is deeper than that.
  close(depth) {
    const { open } = this;
    while (open.length > depth) {
      const node = open.pop();
      this.total[node] = this.at - this.start[node];
      this.end[node] = this.count;
      const parent = open[open.length - 1];
      if (open.length && this.ends[parent] < this.ends[node]) this.ends[parent] = this.ends[node];
    }
  }

  // A sample: its codes from the root. `kept` nodes above them stay open.
  take(codes, kept, weight, time) {
    const { open } = this;
    let same = 0;
    while (same < codes.length && kept + same < open.length && this.code[open[kept + same]] === codes[same]) same++;
    this.close(kept + same);
    for (let i = same; i < codes.length; i++) this.begin(codes[i], time);
    const leaf = open[open.length - 1];
    this.self[leaf] += weight;
    this.ends[leaf] = time;
    this.at += weight;
  }

  tree() {
    this.close(0);
    const { count } = this;
    const tree = { count, maxDepth: 0, inOrder: true, base: new Float64Array(count), baseSelf: new Float64Array(count) };
    for (const name of Object.keys(FIELDS)) tree[name] = this[name].subarray(0, count);
    for (let i = 0; i < count; i++) if (tree.depth[i] > tree.maxDepth) tree.maxDepth = tree.depth[i];
    return tree;
  }
}

// The codes of a stack from the root, as options of shapeOf() (tree.js) leave them.
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

// weights: of each cell, for all of the recording. options: those of shapeOf(), and range.
export function timeTree(profile, weights, { range, folds = false, from = -1, ...options }) {
  const { moments, cells, threads, stacks } = profile;
  const isLeftOut = leftOut(options);
  const lists = momentsOf(profile, weights, range || [-Infinity, Infinity]);
  const each = Math.ceil(lists.reduce((sum, list) => sum + list.moments.length, 0) / MOST_MOMENTS);
  const known = new Array(stacks.count);
  const path = new Path();
  path.begin(NO_CODE, 0);
  for (const list of lists) {
    path.close(1);
    path.begin(threads[list.thread].label * 2, moments.time[list.moments[0]]);
    for (let k = 0; k < list.moments.length; k += each) {
      const moment = list.moments[k];
      const cell = moments.cell[moment];
      const stack = cells.stack[cell];
      known[stack] ||= codesOf(profile, stack, isLeftOut, { folds, from });
      path.take(known[stack], 2, (weights[cell] / cells.samples[cell]) * moments.each * Math.min(each, list.moments.length - k), moments.time[moment]);
    }
  }
  return { ...path.tree(), each };
}
