// Call trees. Each node has self and total weight, and in a comparison those of the other profile: baseSelf and base.
// Siblings differ in their code, which is 2 * label + inlined. Nodes are in preorder, siblings by descending weight:
// the subtree of node i is i … end[i] - 1, and children that are too narrow to draw are the last of their parent.

export const NO_CODE = 0xffffffff; // of a root that is not a function

export function grown(array) {
  const larger = new array.constructor(array.length * 2);
  larger.set(array);
  return larger;
}

// The shape of a tree: parent and code of each node, parents first. room: the expected number of nodes.
class Builder {
  constructor(room = 256, rootCode = NO_CODE) {
    this.count = 1;
    this.parent = new Uint32Array(room + 1);
    this.code = new Uint32Array(room + 1).fill(rootCode, 0, 1);
    this.table = new Uint32Array(2 ** Math.ceil(Math.log2(room + 2) + 1)); // at most half full
  }

  // The slot of a node in the table, or a free one for it. Tries first a place near the slots of its parent's
  // neighbours: the next lookups are then in the CPU cache. Cache misses dominate in large trees.
  slot(parent, code) {
    const mask = this.table.length - 1;
    const mixed = Math.imul(parent ^ Math.imul(code, 0x9e3779b1), 0x85ebca6b);
    let at = (parent * 2 + ((mixed >>> 20) & 7)) & mask;
    if (this.isFreeOrOf(at, parent, code)) return at;
    for (at = (mixed ^ (mixed >>> 15)) & mask; !this.isFreeOrOf(at, parent, code); at = (at + 1) & mask);
    return at;
  }

  isFreeOrOf(at, parent, code) {
    const node = this.table[at];
    return !node || (this.parent[node] === parent && this.code[node] === code);
  }

  // Finds or adds a child.
  child(parent, code) {
    const slot = this.slot(parent, code);
    return this.table[slot] || this.add(slot, parent, code);
  }

  add(slot, parent, code) {
    if (this.count === this.parent.length) for (const column of ["parent", "code"]) this[column] = grown(this[column]);
    const node = this.count++;
    this.parent[node] = parent;
    this.code[node] = code;
    this.table[slot] = node;
    if (this.count * 2 > this.table.length) this.rehash();
    return node;
  }

  rehash() {
    this.table = new Uint32Array(this.table.length * 4);
    for (let node = 1; node < this.count; node++)
      this.table[this.slot(this.parent[node], this.code[node])] = node;
  }

  // Finds or adds a callee. folds: a recursive call is the outer node of the same function.
  callee(node, code, folds) {
    if (folds)
      for (let at = node; at; at = this.parent[at]) if (this.code[at] >>> 1 === code >>> 1) return at;
    return this.child(node, code);
  }
}

// Base weights without a comparison; read only.
let zeros = new Float64Array(0);

function nothing(count) {
  if (zeros.length < count) zeros = new Float64Array(count);
  return zeros.subarray(0, count);
}

// The totals of all nodes, into an array of at least as many.
function sumUp({ count, parent }, self, total) {
  total.set(self);
  for (let node = count - 1; node > 0; node--) if (total[node]) total[parent[node]] += total[node];
  return total;
}

// Large arrays for one computation after another: to get fresh ones from the system takes longer than the computation.
const kept = new Map();

function scratch(name, Column, count) {
  if (!(kept.get(name)?.length >= count)) kept.set(name, new Column(count));
  return kept.get(name).subarray(0, count);
}

// The nodes of a builder in preorder: the subtree of node i is i … end[i] - 1. place: the builder's numbers to these.
function inPreorder(builder) {
  const { count } = builder;
  const child = new Uint32Array(count); // the first one
  const next = new Uint32Array(count); // the next sibling
  for (let node = count - 1; node > 0; node--) {
    next[node] = child[builder.parent[node]];
    child[builder.parent[node]] = node;
  }
  const place = new Uint32Array(count);
  const [parent, code, end] = [new Uint32Array(count), new Uint32Array(count), new Uint32Array(count)];
  for (let node = 0, at = 0; ; node = next[node]) {
    for (; ; node = child[node]) {
      place[node] = at;
      parent[at] = place[builder.parent[node]];
      code[at++] = builder.code[node];
      if (!child[node]) break;
    }
    for (; node && !next[node]; node = builder.parent[node]) end[place[node]] = at;
    end[place[node]] = at;
    if (!node) return { count, parent, code, end, place };
  }
}

// Most nodes have few children, for which an insertion sort is much faster than sort().
const FEW = 10;

function sortSiblings(children, first, end, isBefore) {
  if (end - first > FEW) {
    children.subarray(first, end).sort((a, b) => (isBefore(a, b) ? -1 : 1));
    return;
  }
  for (let i = first + 1; i < end; i++) {
    const child = children[i];
    let at = i;
    for (; at > first && isBefore(child, children[at - 1]); at--) children[at] = children[at - 1];
    children[at] = child;
  }
}

// Sets the end of each node of a preorder.
function closeNodes({ count, parent, end }) {
  for (let i = 0; i < count; i++) end[i] = i + 1;
  for (let i = count - 1; i > 0; i--) if (end[i] > end[parent[i]]) end[parent[i]] = end[i];
}

// Makes the tree of nodes in preorder and of their weights. baseSelf: null without a comparison.
function arrange(shape, self, baseSelf) {
  const { count, code, end, folded } = shape;
  const totals = sumUp(shape, self, scratch("total", Float64Array, count));
  const bases = baseSelf && sumUp(shape, baseSelf, scratch("base", Float64Array, count));
  const tree = { count, parent: new Uint32Array(count), code: new Uint32Array(count), end: new Uint32Array(count),
    depth: new Uint32Array(count), self: new Float64Array(count), total: new Float64Array(count),
    baseSelf: baseSelf ? new Float64Array(count) : nothing(count), base: baseSelf ? new Float64Array(count) : nothing(count), start: new Float64Array(count), maxDepth: 0, folded: [] };
  const { parent, depth, total, start } = tree;
  const open = scratch("open", Uint32Array, count); // nodes of the shape, the next one last; and of each
  const parents = scratch("parents", Uint32Array, count);
  const starts = scratch("starts", Float64Array, count); // its start on the axis of weight
  const isLighter = (a, b) => totals[a] < totals[b] || (totals[a] === totals[b] && code[a] > code[b]);
  open[0] = parents[0] = starts[0] = 0;
  for (let at = 0, height = 1; height; at++) {
    const node = open[--height];
    parent[at] = parents[height];
    start[at] = starts[height];
    depth[at] = at ? depth[parent[at]] + 1 : 0;
    if (depth[at] > tree.maxDepth) tree.maxDepth = depth[at];
    tree.code[at] = code[node];
    tree.self[at] = self[node];
    total[at] = totals[node];
    if (bases) {
      tree.baseSelf[at] = baseSelf[node];
      tree.base[at] = bases[node];
    }
    if (folded?.[node]) tree.folded[at] = folded[node];
    const first = height;
    for (let child = node + 1; child < end[node]; child = end[child]) open[height++] = child;
    if (height - first > 1) sortSiblings(open, first, height, isLighter);
    for (let i = height, from = start[at]; i-- > first; from += totals[open[i]]) {
      parents[i] = at;
      starts[i] = from;
    }
  }
  closeNodes(tree);
  return tree;
}

// For a root that is not a function, a number that is not a label.
export const labelOf = (tree, node) => tree.code[node] >>> 1;
export const isInlined = (tree, node) => tree.code[node] !== NO_CODE && (tree.code[node] & 1) === 1;
// " [12 folded]", or "".
export const foldedWords = (tree, node) => (tree.folded?.[node] ? ` [${tree.folded[node]} folded]` : "");
// The change of a node's share of the whole, compared with its base.
export function change(tree, node, whole = tree) {
  return (whole.total[0] ? tree.total[node] / whole.total[0] : 0) - (whole.base[0] ? tree.base[node] / whole.base[0] : 0);
}

export const standsForAll = (tree, node) => tree.code[node] === NO_CODE;

// The samples sorted by group. groupOf: a label for each label set, or null.
function samplesByGroup({ samples }, groupOf) {
  const { count, set } = samples;
  const keys = new Float64Array(count);
  for (let sample = 0; sample < count; sample++) keys[sample] = (groupOf ? groupOf[set[sample]] : 0) * count + sample;
  return groupOf ? keys.sort().map((key) => key % count) : keys;
}

// Returns a predicate for codes that get no node. hides: a flag for each label. physical: leave inlined calls out.
export function leftOut({ hides = null, physical = false }) {
  return (code) => (physical && (code & 1) === 1) || (hides !== null && hides[code >>> 1] === 1);
}

// The shape of the tree of all stacks, merged from the root, and the node of each sample. It has no weights, so that a
// change of the time range or the threads costs only a sum. options: groupOf, folds (recursion), hides, physical,
// from (a label: its callers are left out; -1 for none).
export function shapeOf(profile, { groupOf = null, folds = false, from = -1, ...options } = {}) {
  const { frames, stacks, samples } = profile;
  const isLeftOut = leftOut(options);
  const builder = new Builder(stacks.count);
  const node = new Uint32Array(samples.count);
  // The node, plus 1, of each stack in this group; 0: unknown.
  const nodeOf = new Uint32Array(stacks.count);
  const path = [];
  const folded = []; // sparse: the most lines folded before a node, in a logical profile
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
  return { ...shape, node: node.map((at) => place[at]), folded: folded.length ? foldedAt : null };
}

// Numbers the nodes of a shape that have weight, in preorder: {nodes, place}, from the new numbers and to them.
function nodesWithWeight({ count, parent, node }, weights, base) {
  const bits = scratch("bits", Uint32Array, (count >>> 5) + 1).fill(0);
  bits[0] = 1; // the root
  let kept = 1;
  for (let sample = 0; sample < weights.length; sample++)
    if (weights[sample] > 0 || (base !== null && base[sample] > 0))
      for (let at = node[sample]; !(bits[at >>> 5] & (1 << (at & 31))); at = parent[at]) {
        bits[at >>> 5] |= 1 << (at & 31);
        kept++;
      }
  const nodes = scratch("nodes", Uint32Array, kept);
  const place = scratch("place", Uint32Array, count);
  for (let word = 0, i = 0; i < kept; word++)
    for (let left = bits[word]; left; left &= left - 1) {
      const at = word * 32 + 31 - Math.clz32(left & -left);
      place[at] = i;
      nodes[i++] = at;
    }
  return { nodes, place };
}

// The part of a shape with these nodes. Its arrays are small and read in order: in a large tree each access that misses the
// CPU cache takes longer than everything that is computed.
function partOf(shape, nodes, place) {
  const count = nodes.length;
  if (count === shape.count) return shape;
  const part = { count, parent: scratch("parent", Uint32Array, count), code: scratch("code", Uint32Array, count),
    end: scratch("end", Uint32Array, count), folded: shape.folded && [] };
  for (let i = 0; i < count; i++) {
    part.parent[i] = place[shape.parent[nodes[i]]];
    part.code[i] = shape.code[nodes[i]];
    if (shape.folded?.[nodes[i]]) part.folded[i] = shape.folded[nodes[i]];
  }
  closeNodes(part);
  return part;
}

// The tree of the nodes with weight. base: the weights to compare with.
export function weighed(shape, weights, base = null) {
  const { nodes, place } = nodesWithWeight(shape, weights, base);
  const summed = (name, values) => {
    const self = scratch(name, Float64Array, nodes.length).fill(0);
    for (let sample = 0; sample < values.length; sample++) if (values[sample] > 0) self[place[shape.node[sample]]] += values[sample];
    return self;
  };
  return arrange(partOf(shape, nodes, place), summed("self", weights), base && summed("baseSelf", base));
}

export function callTree(profile, weights, { base = null, ...options } = {}) {
  return weighed(shapeOf(profile, options), weights, base);
}

// The tree of a builder; `into` has the node that each of the weights belongs to.
function arrangeParts(builder, into, weights, bases) {
  const shape = inPreorder(builder);
  const self = new Float64Array(shape.count);
  const baseSelf = new Float64Array(shape.count);
  for (let i = 0; i < into.length; i++) {
    self[shape.place[into[i]]] += weights[i];
    baseSelf[shape.place[into[i]]] += bases[i];
  }
  return arrange(shape, self, baseSelf);
}

// Merges the paths from nodes of a tree to its root. Nodes with less weight than `least` get no callers, because the
// inverse of a large tree would be far larger. starts: {at, weight, base}.
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
  return arrangeParts(builder, into, starts.weight, starts.base);
}

const LEAST_SHARE = 1e-5;

// The inverted tree, leaves first: the callers of each function with self weight.
export function inverted(tree) {
  const at = Uint32Array.from(tree.self.keys()).filter((i) => i && (tree.self[i] > 0 || tree.baseSelf[i] > 0));
  return addCallers(tree, { at, weight: Float64Array.from(at, (i) => tree.self[i]),
    base: Float64Array.from(at, (i) => tree.baseSelf[i]) }, tree.total[0] * LEAST_SHARE);
}

// The outermost nodes with matching labels. Each matching sample is below exactly one of them.
export function outermost(tree, matches) {
  const nodes = [];
  for (let i = 1; i < tree.count; )
    if (matches(labelOf(tree, i))) {
      nodes.push(i);
      i = tree.end[i];
    } else i++;
  return nodes;
}

// The callers, and below the callees, of a function, which is the root.
export function callersOf(tree, label) {
  const nodes = outermost(tree, (other) => other === label);
  return addCallers(tree, { at: Uint32Array.from(nodes, (node) => tree.parent[node]),
    weight: Float64Array.from(nodes, (node) => tree.total[node]),
    base: Float64Array.from(nodes, (node) => tree.base[node]) }, 0, label * 2);
}

export function calleesOf(tree, label) {
  const builder = new Builder(256, label * 2);
  const into = new Uint32Array(tree.count);
  const nodes = [];
  for (const top of outermost(tree, (other) => other === label))
    for (let i = top; i < tree.end[top]; i++) {
      into[i] = i === top ? 0 : builder.child(into[tree.parent[i]], tree.code[i]);
      nodes.push(i);
    }
  return arrangeParts(builder, nodes.map((i) => into[i]), nodes.map((i) => tree.self[i]), nodes.map((i) => tree.baseSelf[i]));
}

// The codes from the root to a node. nodeAt() is the inverse; it stops at the first code that it does not find.
export function pathOf(tree, node) {
  const path = [];
  for (; node; node = tree.parent[node]) path.push(tree.code[node]);
  return path.reverse();
}

export function childrenOf(tree, node) {
  const children = [];
  for (let i = node + 1; i < tree.end[node]; i = tree.end[i]) children.push(i);
  return children;
}

export function nodeAt(tree, path) {
  let node = 0;
  for (const code of path) {
    const child = childrenOf(tree, node).find((other) => tree.code[other] === code);
    if (!child) break;
    node = child;
  }
  return node;
}
