// Call trees. A shape contains the nodes of all stacks without weights. Siblings differ in their
// code, which is 2 * label + inlined. Nodes are in preorder: the subtree of node i is i … end[i] -
// 1. A tree is a shape with weights. It computes weights and the order of children on demand,
// because only a few of many nodes are wide enough to be drawn.

import { bitCount, bitSet, numbersOf, setBit } from "./bits.js";

export const NO_CODE = 0xffffffff; // of a root that is not a function

export function grown(array) {
  const larger = new array.constructor(array.length * 2);
  larger.set(array);
  return larger;
}

const MANY_CHILDREN = 16;

// The shape of a tree: parent and code of each node, parents first. room: the expected number of
// nodes. Children are found in a list, and those of a node with many in a map.
class Builder {
  constructor(room = 256, rootCode = NO_CODE) {
    this.count = 1;
    for (const column of ["parent", "code", "newest", "older"]) this[column] = new Uint32Array(room + 1);
    this.code[0] = rootCode;
    this.many = new Map(); // by parent: children by code
  }

  // Finds or adds a child.
  child(parent, code) {
    let steps = 0;
    for (let at = this.newest[parent]; at; at = this.older[at]) {
      if (this.code[at] === code) return at;
      if (++steps === MANY_CHILDREN) return this.childOfMany(parent, code);
    }
    return this.add(parent, code);
  }

  childOfMany(parent, code) {
    let children = this.many.get(parent);
    if (!children) {
      this.many.set(parent, children = new Map());
      for (let at = this.newest[parent]; at; at = this.older[at]) children.set(this.code[at], at);
    }
    if (!children.has(code)) children.set(code, this.add(parent, code));
    return children.get(code);
  }

  add(parent, code) {
    if (this.count === this.parent.length) for (const column of ["parent", "code", "newest", "older"]) this[column] = grown(this[column]);
    const node = this.count++;
    this.parent[node] = parent;
    this.code[node] = code;
    this.older[node] = this.newest[parent];
    this.newest[parent] = node;
    return node;
  }

  // Finds or adds a callee. folds: a recursive call becomes the outer node of the same function.
  callee(node, code, folds) {
    if (folds)
      for (let at = node; at; at = this.parent[at]) if (this.code[at] >>> 1 === code >>> 1) return at;
    return this.child(node, code);
  }
}

// Returns the nodes of a builder in preorder: the subtree of node i is i … end[i] - 1. place: the
// builder's numbers to these.
function inPreorder(builder) {
  const { count } = builder;
  const child = new Uint32Array(count); // the first one
  const next = new Uint32Array(count); // the next sibling
  for (let node = count - 1; node > 0; node--) {
    next[node] = child[builder.parent[node]];
    child[builder.parent[node]] = node;
  }
  const place = new Uint32Array(count);
  const [parent, code, end, depth] = Array.from({ length: 4 }, () => new Uint32Array(count));
  let maxDepth = 0;
  for (let node = 0, at = 0; ; node = next[node]) {
    for (; ; node = child[node]) {
      place[node] = at;
      parent[at] = place[builder.parent[node]];
      depth[at] = at ? depth[parent[at]] + 1 : 0;
      if (depth[at] > maxDepth) maxDepth = depth[at];
      code[at++] = builder.code[node];
      if (!child[node]) break;
    }
    for (; node && !next[node]; node = builder.parent[node]) end[place[node]] = at;
    end[place[node]] = at;
    if (!node) return { count, parent, code, end, depth, maxDepth, place };
  }
}

// Returns a number that is not a label for a root that is not a function.
export const labelOf = (tree, node) => tree.code[node] >>> 1;
export const isInlined = (tree, node) => tree.code[node] !== NO_CODE && (tree.code[node] & 1) === 1;
// " [12 folded]", or "".
export const foldedWords = (tree, node) => (tree.folded?.[node] ? ` [${tree.folded[node]} folded]` : "");
// Returns the change of a node's share of the whole, compared with its base.
export function change(tree, node, whole = { total: tree.total(0), base: tree.base(0) }) {
  return (whole.total ? tree.total(node) / whole.total : 0) - (whole.base ? tree.base(node) / whole.base : 0);
}

export const standsForAll = (tree, node) => tree.code[node] === NO_CODE;

// Returns the samples sorted by group. groupOf: a label for each label set, or null.
function samplesByGroup({ samples }, groupOf) {
  const { count, set } = samples;
  const keys = new Float64Array(count);
  for (let sample = 0; sample < count; sample++) keys[sample] = (groupOf ? groupOf[set[sample]] : 0) * count + sample;
  return groupOf ? keys.sort().map((key) => key % count) : keys;
}

// Returns a predicate for codes that get no node. hides: a flag for each label. physical: omit
// inlined calls.
export function leftOut({ hides = null, physical = false }) {
  return (code) => (physical && (code & 1) === 1) || (hides !== null && hides[code >>> 1] === 1);
}

// Returns the shape of the tree of all stacks, merged from the root, and the node of each sample.
// The shape has no weights, so a change of the time range or the threads only needs new sums.
// options: groupOf, folds (recursion), hides, physical, from (a label whose callers are omitted; -1
// for none).
export function shapeOf(profile, { groupOf = null, folds = false, from = -1, ...options } = {}) {
  const { frames, stacks, samples } = profile;
  const isLeftOut = leftOut(options);
  const builder = new Builder(stacks.count);
  const node = new Uint32Array(samples.count);
  // The node plus 1 of each stack in this group, or 0 if it is unknown.
  const nodeOf = new Uint32Array(stacks.count);
  const path = [];
  const folded = []; // sparse: the maximum number of lines folded before a node, in a logical profile
  let known = [];
  let group = -1;
  let top = 0;
  const descend = (at, frame) => {
    for (let i = frames.first[frame]; i < frames.first[frame + 1]; i++) {
      const code = frames.code[i];
      if (isLeftOut(code) || (at === top && from >= 0 && code >>> 1 !== from)) continue;
      at = builder.callee(at, code, folds);
      if (frames.folded?.[i]) folded[at] = Math.max(frames.folded[i], folded[at] || 0);
    }
    return at;
  };
  for (const sample of samplesByGroup(profile, groupOf)) {
    if (groupOf && groupOf[samples.set[sample]] !== group) {
      group = groupOf[samples.set[sample]];
      top = builder.child(0, group * 2);
      for (const stack of known) nodeOf[stack] = 0;
      known = [];
    }
    let stack = samples.stack[sample];
    for (; stack && !nodeOf[stack]; stack = stacks.parent[stack]) path.push(stack);
    let at = stack ? nodeOf[stack] - 1 : top;
    while (path.length) {
      stack = path.pop();
      if (groupOf) known.push(stack);
      at = descend(at, stacks.frame[stack]);
      nodeOf[stack] = at + 1;
    }
    node[sample] = at;
  }
  const { place, ...shape } = inPreorder(builder);
  const foldedAt = [];
  folded.forEach((lines, at) => { foldedAt[place[at]] = lines; });
  return { ...shape, unsampled: profile.labels.unsampled, node: node.map((at) => place[at]), folded: folded.length ? foldedAt : null };
}

// Returns the outermost nodes of unsampled weight, in preorder.
function unsampledNodes(shape) {
  const nodes = [];
  for (let i = 0; i < shape.count; )
    if (isUnsampled(shape, i)) {
      nodes.push(i);
      i = shape.end[i];
    } else i++;
  return nodes;
}

// A shape with the weights of its samples. In a comparison it also has those of the other profile:
// base and baseSelf. Leaves are the nodes in which samples with weight end. Every weight is a
// difference of the prefix sums of the leaves, found with one bit per node. This keeps the number
// of cache misses low, which dominate in large trees.
export class Tree {
  constructor(shape, weights, base = null) {
    Object.assign(this, shape, { shape, places: new Map() });
    this.bits = bitSet(shape.count);
    this.mark(weights);
    if (base) this.mark(base);
    this.leaves = numbersOf(this.bits);
    this.ranks = new Uint32Array(this.bits.length); // of the first node of each word
    for (let word = 1; word < this.ranks.length; word++) this.ranks[word] = this.ranks[word - 1] + bitCount(this.bits[word - 1]);
    this.sums = this.sumUp(weights);
    this.baseSums = base && this.sumUp(base);
  }

  mark({ sample }) {
    const { shape: { node }, bits } = this;
    for (let i = 0; i < sample.length; i++) setBit(bits, node[sample[i]]);
  }

  // Returns the prefix sums of the leaves: for each leaf the sum of all leaves before it, and last
  // the sum of all.
  sumUp({ sample, weight }) {
    const { shape: { node }, leaves } = this;
    const sums = new Float64Array(leaves.length + 1);
    for (let i = 0; i < sample.length; i++) sums[this.rank(node[sample[i]]) + 1] += weight[i];
    for (let i = 0; i < leaves.length; i++) sums[i + 1] += sums[i];
    return sums;
  }

  // Returns the number of leaves before a node.
  rank(node) {
    const word = node >>> 5;
    return this.ranks[word] + bitCount(this.bits[word] & ((1 << (node & 31)) - 1));
  }

  within(sums, node, end) {
    return sums === null ? 0 : sums[this.rank(end)] - sums[this.rank(node)];
  }

  total(node) {
    return this.within(this.sums, node, this.end[node]);
  }

  // Returns the part of a node's total that was not sampled.
  unsampledTotal(node) {
    this.unsampledSums ??= this.sumUpUnsampled();
    return this.within(this.unsampledSums, node, this.end[node]);
  }

  // Like sumUp(), but counts only leaves at and below nodes of unsampled weight.
  sumUpUnsampled() {
    const { shape, leaves, sums } = this;
    const apart = (shape.apart ??= unsampledNodes(shape));
    const result = new Float64Array(sums.length);
    let at = 0;
    for (let i = 0; i < leaves.length; i++) {
      while (at < apart.length && shape.end[apart[at]] <= leaves[i]) at++;
      result[i + 1] = result[i] + (at < apart.length && apart[at] <= leaves[i] ? sums[i + 1] - sums[i] : 0);
    }
    return result;
  }

  self(node) {
    return this.within(this.sums, node, node + 1);
  }

  base(node) {
    return this.within(this.baseSums, node, this.end[node]);
  }

  baseSelf(node) {
    return this.within(this.baseSums, node, node + 1);
  }

  has(node) {
    return this.rank(this.end[node]) > this.rank(node);
  }

  // Calls take(node, total) for all nodes with weight except the root, callees before their
  // callers.
  visit(take) {
    const { leaves, sums, parent, end, count } = this;
    for (let i = 0; i < leaves.length; i++) {
      const next = i + 1 < leaves.length ? leaves[i + 1] : count;
      for (let at = leaves[i]; at && end[at] <= next; at = parent[at]) take(at, sums[i + 1] - sums[this.rank(at)]);
    }
  }

  // Returns the number of nodes with weight in the subtree of a node, which is not the root.
  size(node) {
    const { leaves, parent } = this;
    this.opened ||= this.countOpened();
    const first = this.rank(node);
    const last = first ? leaves[first - 1] : 0;
    let size = this.opened[this.rank(this.end[node])] - this.opened[first];
    for (let at = parent[node]; at > last; at = parent[at]) size--;
    return size;
  }

  // Returns for each leaf the number of ancestors of the leaves before it, each counted once.
  countOpened() {
    const { leaves, parent } = this;
    const opened = new Uint32Array(leaves.length + 1);
    for (let i = 0, count = 0, last = 0; i < leaves.length; last = leaves[i++]) {
      for (let at = leaves[i]; at > last; at = parent[at]) count++;
      opened[i + 1] = count;
    }
    return opened;
  }
}

export function callTree(profile, weights, { base = null, ...options } = {}) {
  return new Tree(shapeOf(profile, options), weights, base);
}

// Returns the tree of a builder. `into` contains the node that each of the weights belongs to.
function treeOf(builder, into, weight, base, unsampled = null) {
  const { place, ...shape } = inPreorder(builder);
  const sample = Uint32Array.from(into.keys());
  return new Tree({ ...shape, unsampled, node: Uint32Array.from(into, (at) => place[at]) }, { sample, weight }, { sample, weight: base });
}

// Merges the paths from nodes of a tree to its root. Nodes that weigh less than `least` get no
// callers, because the inverse of a large tree would be far larger. starts: {at, weight, base}.
function addCallers(tree, starts, least, rootCode = NO_CODE) {
  const builder = new Builder(starts.at.length, rootCode);
  const at = starts.at.slice();
  const into = new Uint32Array(at.length);
  let moving = Uint32Array.from(at.keys()).filter((i) => at[i]);
  while (moving.length) {
    const first = builder.count; // this round adds all nodes from here on
    const totals = new Float64Array(moving.length);
    for (let k = 0; k < moving.length; k++) {
      const i = moving[k];
      into[i] = builder.child(into[i], tree.code[at[i]]);
      totals[into[i] - first] += starts.weight[i];
      at[i] = tree.parent[at[i]];
    }
    moving = moving.filter((i) => at[i] && totals[into[i] - first] >= least);
  }
  return treeOf(builder, into, starts.weight, starts.base, tree.unsampled);
}

const LEAST_SHARE = 1e-5;

// Returns the inverted tree, leaves first: the callers of each function with self weight.
export function inverted(tree) {
  const at = tree.leaves.filter((node) => node);
  return addCallers(tree, { at, weight: Float64Array.from(at, (node) => tree.self(node)),
    base: Float64Array.from(at, (node) => tree.baseSelf(node)) }, tree.total(0) * LEAST_SHARE);
}

// Returns the outermost nodes with matching labels. Each matching sample is below exactly one of
// them.
export function outermost(tree, matches) {
  const nodes = [];
  for (let i = 1; i < tree.count; )
    if (matches(labelOf(tree, i))) {
      if (tree.has(i)) nodes.push(i);
      i = tree.end[i];
    } else i++;
  return nodes;
}

// callersOf() and calleesOf() return a tree whose root is the function.
export function callersOf(tree, label) {
  const nodes = outermost(tree, (other) => other === label);
  return addCallers(tree, { at: Uint32Array.from(nodes, (node) => tree.parent[node]),
    weight: Float64Array.from(nodes, (node) => tree.total(node)),
    base: Float64Array.from(nodes, (node) => tree.base(node)) }, 0, label * 2);
}

export function calleesOf(tree, label) {
  const builder = new Builder(256, label * 2);
  const into = new Uint32Array(tree.count);
  const nodes = [];
  for (const top of outermost(tree, (other) => other === label))
    for (let i = top; i < tree.end[top]; i++) {
      if (!tree.has(i)) continue;
      into[i] = i === top ? 0 : builder.child(into[tree.parent[i]], tree.code[i]);
      if (tree.self(i) > 0 || tree.baseSelf(i) > 0) nodes.push(i);
    }
  return treeOf(builder, nodes.map((i) => into[i]), nodes.map((i) => tree.self(i)), nodes.map((i) => tree.baseSelf(i)));
}

// Returns the path to a node from the root, without the root.
export function lineTo(tree, node) {
  const line = [];
  for (; node; node = tree.parent[node]) line.push(node);
  return line.reverse();
}

const BAND = 0.04; // the share of the axis for all unsampled weight

export const isUnsampled = (tree, node) => tree.unsampled?.has(labelOf(tree, node)) ?? false;

// Returns the width of a node on the axis: its weight. Unsampled weight is not drawn to scale: it
// is one box without details, in a band next to the samples.
export function widthOf(tree, node) {
  const unsampled = tree.unsampled?.size ? tree.unsampledTotal(node) : 0;
  if (!unsampled) return tree.total(node);
  const all = tree.unsampledTotal(0);
  const most = ((tree.total(0) - all) * BAND) / (1 - BAND);
  return tree.total(node) - unsampled * (all > most && most > 0 ? 1 - most / all : 0);
}

// Returns the children of a node on the axis from left to right: {node, start, width}. The heaviest
// child is first and unsampled weight last, except in time order. start: of the node, if it is
// known.
export function placesBelow(tree, node, start = -1) {
  let places = tree.places.get(node);
  if (places) return places;
  places = [];
  for (let i = node + 1; i < tree.end[node]; i = tree.end[i]) if (tree.has(i)) places.push({ node: i, start: 0, width: widthOf(tree, i) });
  if (!tree.inOrder) places.sort((a, b) => isUnsampled(tree, a.node) - isUnsampled(tree, b.node) || b.width - a.width || tree.code[a.node] - tree.code[b.node]);
  let from = start < 0 ? startOf(tree, node) : start;
  for (const place of places) {
    place.start = tree.inOrder ? tree.start[place.node] : from;
    from += place.width;
  }
  tree.places.set(node, places);
  return places;
}

export const childrenOf = (tree, node) => placesBelow(tree, node).map((place) => place.node);

// Returns where a node starts on the axis.
export function startOf(tree, node) {
  let start = 0;
  for (const at of lineTo(tree, node)) ({ start } = placesBelow(tree, tree.parent[at], start).find((place) => place.node === at));
  return start;
}

// Returns the nodes from the root downwards, each the heaviest child of the previous one, while
// goesOn(child, node) is true.
export function mainLine(tree, goesOn) {
  const line = [];
  for (let place = { node: 0, start: 0 }; place; ) {
    const { node, start } = place;
    line.push(node);
    [place] = placesBelow(tree, node, start);
    if (place && !goesOn(place.node, node)) place = null;
  }
  return line;
}

const LEAST_SHARED = 3;

// Returns the last of the callers that all samples share, or 0 if they are few. Unsampled weight has
// no callers.
export function lastShared(tree) {
  if (tree.inOrder || !standsForAll(tree, 0)) return 0;
  const whole = widest(tree, 0);
  const line = mainLine(tree, (child) => widest(tree, child) >= whole * 0.99999 && !(tree.self(child) > 0));
  return line.length > LEAST_SHARED ? line[line.length - 1] : 0;
}

const widest = (tree, node) => tree.total(node) - (tree.unsampled?.size ? tree.unsampledTotal(node) : 0);

// The next functions take the result of lastShared() as `shared`. The callers up to it are one row.
const isShared = (tree, shared, node) => node > 0 && node <= shared && tree.end[node] > shared;

// Returns the row of a node, counted from the root.
export const rowOf = (tree, shared, node) => (isShared(tree, shared, node) ? 1 :
  tree.depth[node] - (shared && node > shared && node < tree.end[shared] ? tree.depth[shared] - 1 : 0));

// Returns the node that is shown for a node: itself, or the last one of its row.
export const shownAs = (tree, shared, node) => (isShared(tree, shared, node) ? shared : node);

export const shownParent = (tree, shared, node) => (shared && node === shared ? 0 : tree.parent[node]);

export const shownChildren = (tree, shared, node) => childrenOf(tree, node).map((child) => shownAs(tree, shared, child));

// Returns "_start → … → main, 14 frames".
export function sharedWords(tree, shared, names) {
  const first = lineTo(tree, shared)[0];
  return `${names[labelOf(tree, first)]} → … → ${names[labelOf(tree, shared)]}, ${tree.depth[shared]} frames`;
}

// Returns the codes from the root to a node. nodeAt() is the inverse; it stops at the first code
// that it does not find.
export const pathOf = (tree, node) => lineTo(tree, node).map((at) => tree.code[at]);

export function nodeAt(tree, path) {
  let at = { node: 0, start: 0 };
  for (const code of path) {
    const child = placesBelow(tree, at.node, at.start).find(({ node }) => tree.code[node] === code);
    if (!child) break;
    at = child;
  }
  return at.node;
}
