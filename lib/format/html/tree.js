// Call trees. Each node has self and total weight, and in a comparison those of what it is compared
// with: baseSelf and base. A node is a label below its parent, seen as a call or inlined; its code is
// 2 * label + inlined. Nodes stand in preorder, siblings by weight, so that node i and all below
// it are i … end[i] - 1, and what is too narrow to draw stands at the end of its parent.

const NO_CODE = 0xffffffff; // of the root, where it stands for all

function grown(array) {
  const larger = new array.constructor(array.length * 2);
  larger.set(array);
  return larger;
}

class Builder {
  constructor(rootCode = NO_CODE) {
    this.count = 1;
    this.parent = new Uint32Array(256);
    this.code = new Uint32Array(256).fill(rootCode, 0, 1);
    this.self = new Float64Array(256);
    this.baseSelf = new Float64Array(256);
    this.table = new Uint32Array(1024);
  }

  slot(parent, code) {
    const mask = this.table.length - 1;
    let hash = Math.imul(parent ^ Math.imul(code, 0x9e3779b1), 0x85ebca6b);
    for (hash = (hash ^ (hash >>> 15)) & mask; ; hash = (hash + 1) & mask) {
      const node = this.table[hash];
      if (!node || (this.parent[node] === parent && this.code[node] === code)) return hash;
    }
  }

  // Made when it is new.
  child(parent, code) {
    const slot = this.slot(parent, code);
    return this.table[slot] || this.add(slot, parent, code);
  }

  add(slot, parent, code) {
    if (this.count === this.parent.length)
      for (const column of ["parent", "code", "self", "baseSelf"]) this[column] = grown(this[column]);
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

  put(node, self, baseSelf) {
    this.self[node] += self;
    this.baseSelf[node] += baseSelf;
  }

  // A callee, or where recursion is folded the caller itself that it calls again.
  callee(node, code, folds) {
    if (folds)
      for (let at = node; at; at = this.parent[at]) if (this.code[at] >>> 1 === code >>> 1) return at;
    return this.child(node, code);
  }
}

function sumUp({ count, parent }, self) {
  const total = self.slice(0, count);
  for (let node = count - 1; node > 0; node--) total[parent[node]] += total[node];
  return total;
}

// The children of each node, the heaviest first: those of n are at first[n] … first[n + 1] - 1.
function sortedChildren({ count, parent, code }, total) {
  const first = new Uint32Array(count + 1);
  const children = new Uint32Array(count - 1);
  for (let node = 1; node < count; node++) first[parent[node] + 1]++;
  for (let node = 0; node < count; node++) first[node + 1] += first[node];
  const next = first.slice();
  for (let node = 1; node < count; node++) children[next[parent[node]]++] = node;
  for (let node = 0; node < count; node++)
    if (first[node + 1] - first[node] > 1)
      children.subarray(first[node], first[node + 1]).sort((a, b) => total[b] - total[a] || code[a] - code[b]);
  return { first, children };
}

function arrange(builder) {
  const { count } = builder;
  const totals = sumUp(builder, builder.self);
  const bases = sumUp(builder, builder.baseSelf);
  const { first, children } = sortedChildren(builder, totals);
  const tree = { count, parent: new Uint32Array(count), code: new Uint32Array(count), end: new Uint32Array(count),
    depth: new Uint32Array(count), self: new Float64Array(count), total: new Float64Array(count),
    baseSelf: new Float64Array(count), base: new Float64Array(count), start: new Float64Array(count), maxDepth: 0 };
  const place = new Uint32Array(count); // of a node of the builder
  const open = [0];
  for (let at = 0; open.length; at++) {
    const node = open.pop();
    const parent = place[builder.parent[node]];
    place[node] = at;
    tree.parent[at] = parent;
    tree.code[at] = builder.code[node];
    tree.self[at] = builder.self[node];
    tree.total[at] = totals[node];
    tree.baseSelf[at] = builder.baseSelf[node];
    tree.base[at] = bases[node];
    tree.depth[at] = at ? tree.depth[parent] + 1 : 0;
    if (tree.depth[at] > tree.maxDepth) tree.maxDepth = tree.depth[at];
    for (let i = first[node + 1]; i-- > first[node]; ) open.push(children[i]);
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

// Cells with weight, those of a group next to each other. groupOf: a label for each thread, or null.
function orderedCells(profile, weights, base, groupOf) {
  const { thread } = profile.cells;
  const keys = new Float64Array(weights.length);
  let count = 0;
  for (let i = 0; i < weights.length; i++)
    if (weights[i] > 0 || (base && base[i] > 0)) keys[count++] = (groupOf ? groupOf[thread[i]] : 0) * weights.length + i;
  return keys.subarray(0, count).sort().map((key) => key % weights.length);
}

// The stacks of the cells with weight, merged from the root. options: groupOf, folds (recursion), base
// (the weights to compare with).
export function callTree(profile, weights, { groupOf = null, folds = false, base = null } = {}) {
  const { frames, stacks, cells } = profile;
  const builder = new Builder();
  const nodeOf = new Uint32Array(stacks.count); // 0: not known below this group
  const path = [];
  let known = [];
  let group = -1;
  let top = 0;
  const descend = (node, frame) => {
    for (let i = frames.first[frame]; i < frames.first[frame + 1]; i++)
      node = builder.callee(node, frames.code[i], folds);
    return node;
  };
  for (const cell of orderedCells(profile, weights, base, groupOf)) {
    if (groupOf && groupOf[cells.thread[cell]] !== group) {
      group = groupOf[cells.thread[cell]];
      top = builder.child(0, group * 2);
      for (const stack of known) nodeOf[stack] = 0;
      known = [];
    }
    let stack = cells.stack[cell];
    for (; stack && !nodeOf[stack]; stack = stacks.parent[stack]) path.push(stack);
    let node = stack ? nodeOf[stack] : top;
    while (path.length) {
      stack = path.pop();
      known.push(stack);
      nodeOf[stack] = node = descend(node, stacks.frame[stack]);
    }
    builder.put(node, weights[cell], base ? base[cell] : 0);
  }
  return arrange(builder);
}

// From each of these nodes of a tree towards the root, merged. A node of the builder that has less
// than `least` of weight gets no callers: else a large tree, inverted, would be far larger.
function addCallers(builder, tree, starts, weights, bases, least) {
  let at = starts;
  let weight = weights;
  let base = bases;
  let into = new Uint32Array(at.length);
  while (at.length) {
    const totals = new Float64Array(builder.count + at.length);
    const nodes = new Uint32Array(at.length);
    for (let i = 0; i < at.length; i++) {
      nodes[i] = at[i] ? builder.child(into[i], tree.code[at[i]]) : into[i];
      totals[nodes[i]] += weight[i];
    }
    let goesOn = 0;
    for (let i = 0; i < at.length; i++)
      if (tree.parent[at[i]] && totals[nodes[i]] >= least) {
        into[goesOn] = nodes[i];
        weight[goesOn] = weight[i];
        base[goesOn] = base[i];
        at[goesOn++] = tree.parent[at[i]];
      } else builder.put(nodes[i], weight[i], base[i]);
    at = at.subarray(0, goesOn);
    weight = weight.subarray(0, goesOn);
    base = base.subarray(0, goesOn);
    into = into.subarray(0, goesOn);
  }
  return arrange(builder);
}

const LEAST_SHARE = 1e-5;

// Leaves first: what calls each function that had the CPU.
export function inverted(tree) {
  const starts = [];
  for (let i = 1; i < tree.count; i++) if (tree.self[i] > 0 || tree.baseSelf[i] > 0) starts.push(i);
  return addCallers(new Builder(), tree, Uint32Array.from(starts), Float64Array.from(starts, (i) => tree.self[i]),
    Float64Array.from(starts, (i) => tree.baseSelf[i]), tree.total[0] * LEAST_SHARE);
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
  return addCallers(new Builder(label * 2), tree, Uint32Array.from(nodes, (node) => tree.parent[node]),
    Float64Array.from(nodes, (node) => tree.total[node]), Float64Array.from(nodes, (node) => tree.base[node]), 0);
}

export function calleesOf(tree, label) {
  const builder = new Builder(label * 2);
  for (const top of outermost(tree, (other) => other === label)) {
    const place = new Uint32Array(tree.end[top] - top);
    for (let i = top; i < tree.end[top]; i++) {
      place[i - top] = i === top ? 0 : builder.child(place[tree.parent[i] - top], tree.code[i]);
      builder.put(place[i - top], tree.self[i], tree.baseSelf[i]);
    }
  }
  return arrange(builder);
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
