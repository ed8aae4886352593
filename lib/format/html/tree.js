// Call trees. Each node has self and total weight, and in a comparison those of what it is compared
// with: baseSelf and base. A node is a label below its parent, seen as a call or inlined; its code is
// 2 * label + inlined. Nodes stand in preorder, siblings by weight, so that node i and all below
// it are i … end[i] - 1, and what is too narrow to draw stands at the end of its parent.

export const NO_CODE = 0xffffffff; // of the root, where it stands for all

export function grown(array) {
  const larger = new array.constructor(array.length * 2);
  larger.set(array);
  return larger;
}

// The shape of a tree: parent and code of each node, parents first. room: how many nodes are expected.
class Builder {
  constructor(room = 256, rootCode = NO_CODE) {
    this.count = 1;
    this.parent = new Uint32Array(room + 1);
    this.code = new Uint32Array(room + 1).fill(rootCode, 0, 1);
    this.table = new Uint32Array(2 ** Math.ceil(Math.log2(room + 2) + 1)); // at most half full
  }

  // Where a node is in the table, or would be. First near those of its parent's neighbours: what is asked for
  // next is then in the processor's cache, which is most of the time of a large tree.
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

  // Made when it is new.
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

  // A callee, or where recursion is folded the caller itself that it calls again.
  callee(node, code, folds) {
    if (folds)
      for (let at = node; at; at = this.parent[at]) if (this.code[at] >>> 1 === code >>> 1) return at;
    return this.child(node, code);
  }
}

// Where nothing is compared: read, never written.
let zeros = new Float64Array(0);

function nothing(count) {
  if (zeros.length < count) zeros = new Float64Array(count);
  return zeros.subarray(0, count);
}

function sumUp({ count, parent }, self) {
  if (!self) return nothing(count);
  const total = self.slice(0, count);
  for (let node = count - 1; node > 0; node--) total[parent[node]] += total[node];
  return total;
}

// Few siblings are the rule, and a sort of their own for each would be most of the work.
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

// The children of each node that have weight, the heaviest first: those of n are at first[n] … first[n + 1] - 1.
function sortedChildren({ count, parent, code }, total, base) {
  const first = new Uint32Array(count + 1);
  let kept = 0;
  for (let node = 1; node < count; node++)
    if (total[node] > 0 || base[node] > 0) {
      first[parent[node] + 1]++;
      kept++;
    }
  for (let node = 0; node < count; node++) first[node + 1] += first[node];
  const children = new Uint32Array(kept);
  const next = first.slice();
  for (let node = 1; node < count; node++)
    if (total[node] > 0 || base[node] > 0) children[next[parent[node]]++] = node;
  const isBefore = (a, b) => total[a] > total[b] || (total[a] === total[b] && code[a] < code[b]);
  for (let node = 0; node < count; node++)
    if (first[node + 1] - first[node] > 1) sortSiblings(children, first[node], first[node + 1], isBefore);
  return { first, children };
}

// The tree of a shape and the weights of its nodes, without those that have none. baseSelf: null where nothing is compared.
function arrange(shape, self, baseSelf) {
  const totals = sumUp(shape, self);
  const bases = sumUp(shape, baseSelf);
  const { first, children } = sortedChildren(shape, totals, bases);
  const count = children.length + 1;
  const tree = { count, parent: new Uint32Array(count), code: new Uint32Array(count), end: new Uint32Array(count),
    depth: new Uint32Array(count), self: new Float64Array(count), total: new Float64Array(count),
    baseSelf: baseSelf ? new Float64Array(count) : nothing(count), base: baseSelf ? new Float64Array(count) : nothing(count), start: new Float64Array(count), maxDepth: 0 };
  const place = new Uint32Array(shape.count); // of a node of the shape
  const open = new Uint32Array(count);
  for (let at = 0, height = 1; height; at++) {
    const node = open[--height];
    const parent = place[shape.parent[node]];
    place[node] = at;
    tree.parent[at] = parent;
    tree.code[at] = shape.code[node];
    tree.self[at] = self[node];
    tree.total[at] = totals[node];
    if (baseSelf) {
      tree.baseSelf[at] = baseSelf[node];
      tree.base[at] = bases[node];
    }
    tree.depth[at] = at ? tree.depth[parent] + 1 : 0;
    if (tree.depth[at] > tree.maxDepth) tree.maxDepth = tree.depth[at];
    for (let i = first[node + 1]; i-- > first[node]; ) open[height++] = children[i];
  }
  return measured(tree);
}

// Where each node ends, and where it begins on the axis of weight.
function measured(tree) {
  const { count, parent, end, start, total } = tree;
  const used = new Float64Array(count); // by the children so far
  for (let i = 0; i < count; i++) end[i] = i + 1;
  for (let i = count - 1; i > 0; i--) if (end[i] > end[parent[i]]) end[parent[i]] = end[i];
  for (let i = 1; i < count; i++) {
    start[i] = start[parent[i]] + used[parent[i]];
    used[parent[i]] += total[i];
  }
  return tree;
}

// Of the root that stands for all a number that is no label.
export const labelOf = (tree, node) => tree.code[node] >>> 1;
export const isInlined = (tree, node) => tree.code[node] !== NO_CODE && (tree.code[node] & 1) === 1;
// How much larger a node's share of the whole is than that of what it is compared with.
export function change(tree, node, whole = tree) {
  return (whole.total[0] ? tree.total[node] / whole.total[0] : 0) - (whole.base[0] ? tree.base[node] / whole.base[0] : 0);
}

export const standsForAll = (tree, node) => tree.code[node] === NO_CODE;

// The cells, those of a group next to each other. groupOf: a label for each thread, or null.
function cellsByGroup({ cells }, groupOf) {
  const { count, thread } = cells;
  const keys = new Float64Array(count);
  for (let cell = 0; cell < count; cell++) keys[cell] = (groupOf ? groupOf[thread[cell]] : 0) * count + cell;
  return groupOf ? keys.sort().map((key) => key % count) : keys;
}

// What of a frame's codes is no node: hides (a flag for each label) and, with `physical`, what is inlined.
export function leftOut({ hides = null, physical = false }) {
  return (code) => (physical && (code & 1) === 1) || (hides !== null && hides[code >>> 1] === 1);
}

// The shape of the tree of all stacks, merged from the root, and the node of each cell. Weights come later: so
// a range of time or a thread costs no more than a sum. options: groupOf, folds (recursion), hides, physical,
// from (a label: what stands before it is left out; -1 for none).
export function shapeOf(profile, { groupOf = null, folds = false, from = -1, ...options } = {}) {
  const { frames, stacks, cells } = profile;
  const isLeftOut = leftOut(options);
  const builder = new Builder(stacks.count);
  const node = new Uint32Array(cells.count);
  const nodeOf = new Uint32Array(stacks.count); // below this group, plus 1; 0: not known
  const path = [];
  let known = [];
  let group = -1;
  let top = 0;
  const descend = (at, frame) => {
    for (let i = frames.first[frame]; i < frames.first[frame + 1]; i++) {
      const code = frames.code[i];
      if (!isLeftOut(code) && (at !== top || from < 0 || code >>> 1 === from)) at = builder.callee(at, code, folds);
    }
    return at;
  };
  for (const cell of cellsByGroup(profile, groupOf)) {
    if (groupOf && groupOf[cells.thread[cell]] !== group) {
      group = groupOf[cells.thread[cell]];
      top = builder.child(0, group * 2);
      for (const stack of known) nodeOf[stack] = 0;
      known = [];
    }
    let stack = cells.stack[cell];
    for (; stack && !nodeOf[stack]; stack = stacks.parent[stack]) path.push(stack);
    let at = stack ? nodeOf[stack] - 1 : top;
    while (path.length) {
      stack = path.pop();
      if (groupOf) known.push(stack);
      at = descend(at, stacks.frame[stack]);
      nodeOf[stack] = at + 1;
    }
    node[cell] = at;
  }
  return { count: builder.count, parent: builder.parent, code: builder.code, node };
}

function summed(shape, weights) {
  if (!weights) return null;
  const self = new Float64Array(shape.count);
  for (let cell = 0; cell < weights.length; cell++) self[shape.node[cell]] += weights[cell];
  return self;
}

// The tree of what has weight. base: the weights to compare with.
export function weighed(shape, weights, base = null) {
  return arrange(shape, summed(shape, weights), summed(shape, base));
}

export function callTree(profile, weights, { base = null, ...options } = {}) {
  return weighed(shapeOf(profile, options), weights, base);
}

// From each of these nodes of a tree towards the root, merged. What has less than `least` of weight gets no
// callers: else a large tree, inverted, would be far larger. starts: {at, weight, base}.
function addCallers(tree, starts, least, rootCode = NO_CODE) {
  const builder = new Builder(starts.at.length, rootCode);
  const at = starts.at.slice();
  const into = new Uint32Array(at.length);
  let moving = Uint32Array.from(at.keys()).filter((i) => at[i]);
  while (moving.length) {
    const first = builder.count; // all that these come to is new
    const totals = new Float64Array(moving.length);
    for (let k = 0; k < moving.length; k++) {
      const i = moving[k];
      into[i] = builder.child(into[i], tree.code[at[i]]);
      totals[into[i] - first] += starts.weight[i];
      at[i] = tree.parent[at[i]];
    }
    moving = moving.filter((i) => at[i] && totals[into[i] - first] >= least);
  }
  const self = new Float64Array(builder.count);
  const baseSelf = new Float64Array(builder.count);
  for (let i = 0; i < into.length; i++) {
    self[into[i]] += starts.weight[i];
    baseSelf[into[i]] += starts.base[i];
  }
  return arrange(builder, self, baseSelf);
}

const LEAST_SHARE = 1e-5;

// Leaves first: what calls each function that had the CPU.
export function inverted(tree) {
  const at = Uint32Array.from(tree.self.keys()).filter((i) => i && (tree.self[i] > 0 || tree.baseSelf[i] > 0));
  return addCallers(tree, { at, weight: Float64Array.from(at, (i) => tree.self[i]),
    base: Float64Array.from(at, (i) => tree.baseSelf[i]) }, tree.total[0] * LEAST_SHARE);
}

// The outermost nodes of a label: each sample that has it is below one of them.
export function outermost(tree, matches) {
  const nodes = [];
  for (let i = 1; i < tree.count; )
    if (matches(labelOf(tree, i))) {
      nodes.push(i);
      i = tree.end[i];
    } else i++;
  return nodes;
}

// Who calls a function: it is the root. And what it calls.
export function callersOf(tree, label) {
  const nodes = outermost(tree, (other) => other === label);
  return addCallers(tree, { at: Uint32Array.from(nodes, (node) => tree.parent[node]),
    weight: Float64Array.from(nodes, (node) => tree.total[node]),
    base: Float64Array.from(nodes, (node) => tree.base[node]) }, 0, label * 2);
}

export function calleesOf(tree, label) {
  const builder = new Builder(256, label * 2);
  const place = new Uint32Array(tree.count);
  const nodes = [];
  for (const top of outermost(tree, (other) => other === label))
    for (let i = top; i < tree.end[top]; i++) {
      place[i] = i === top ? 0 : builder.child(place[tree.parent[i]], tree.code[i]);
      nodes.push(i);
    }
  const self = new Float64Array(builder.count);
  const baseSelf = new Float64Array(builder.count);
  for (const i of nodes) {
    self[place[i]] += tree.self[i];
    baseSelf[place[i]] += tree.baseSelf[i];
  }
  return arrange(builder, self, baseSelf);
}

// The labels from the root to a node, and back. As many as there are, where there are fewer.
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
