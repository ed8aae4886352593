// Sums by function: the function table, the matches of a search, and the source lines of one
// function.

import { leafOf, STATES, wakersOf } from "./reasons.js";
import { kindOf } from "./colours.js";
import { parallelismIn } from "./elapsed.js";
import { childrenOf, labelOf, outermost } from "./tree.js";

// The rank of labels that cannot be a blocking function: RANKS of enum waiting_rank.
const NO_RANK = 5;

// Returns for each node of a shape the node that gets its self weight. Usually it is the node
// itself. For the reason of a wait it is the blocking function: the innermost one of the lowest
// rank. "[woken by …]" and the waker's functions have the same owner as the reason.
function ownersOf(tree, labels) {
  const owner = new Uint32Array(tree.count);
  const isWaker = wakersOf(labels);
  const isReason = Uint8Array.from(labels.kind, (kind) => Number(STATES.includes(kind)));
  if (!isWaker.includes(1) && !isReason.includes(1)) {
    for (let i = 1; i < tree.count; i++) owner[i] = i;
    return owner;
  }
  const place = new Uint32Array(tree.count);
  const rankAt = (node) => (node ? labels.rank[labelOf(tree, node)] : undefined) ?? NO_RANK;
  for (let i = 1; i < tree.count; i++) {
    const parent = tree.parent[i];
    const rank = rankAt(i);
    const label = labelOf(tree, i);
    place[i] = rank < NO_RANK && rank <= rankAt(place[parent]) ? i : place[parent];
    if (owner[parent] !== parent || (parent && isWaker[label])) owner[i] = owner[parent];
    else owner[i] = (isReason[label] && place[i]) || i;
  }
  return owner;
}

// Like ownersOf(), but for memory: the function that allocates is the innermost function of the
// program that is not library code or glue (lib/report/allocating_place.h).
function allocatorsOf(tree, labels) {
  const owner = new Uint32Array(tree.count);
  const rankAt = (node) => {
    const label = labelOf(tree, node);
    if (!node || label >= labels.count) return NO_RANK;
    return labels.rank[label] < 2 && labels.fate[label] !== 0 && labels.fate[label] !== 2 ? 2 : labels.rank[label];
  };
  for (let i = 1; i < tree.count; i++) {
    const above = owner[tree.parent[i]];
    owner[i] = above && rankAt(above) < rankAt(i) ? above : i;
  }
  return owner;
}

// Returns a flag for each node that is not below a node of the same label.
function outermostOf({ count, code, end }, labels) {
  const isOutermost = new Uint8Array(count);
  const until = new Uint32Array(labels.name.length); // where the label's open outermost node ends
  for (let i = 1; i < count; i++) {
    if (i < until[code[i] >>> 1]) continue;
    until[code[i] >>> 1] = end[i];
    isOutermost[i] = 1;
  }
  return isOutermost;
}

// Returns for each node the label of the innermost of the user's own functions plus 1, or 0.
function ownOf({ count, parent, code }, { isOwn }) {
  const own = new Uint32Array(count);
  for (let i = 1; i < count; i++) own[i] = isOwn[code[i] >>> 1] ? (code[i] >>> 1) + 1 : own[parent[i]];
  return own;
}

// Returns self and total of each label with weight. near: self of the function and of all code that
// it calls, up to the next of the user's own functions. A recursive function counts once per sample.
// The shape caches everything that does not depend on the weights.
export function functionTable(tree, labels, isOfMemory = false) {
  const { shape, leaves, code } = tree;
  const owner = isOfMemory ? (shape.allocators ??= allocatorsOf(shape, labels)) : (shape.owners ??= ownersOf(shape, labels));
  const isOutermost = (shape.outermost ??= outermostOf(shape, labels));
  const own = (shape.own ??= ownOf(shape, labels));
  const near = new Float64Array(labels.name.length);
  const self = new Float64Array(labels.name.length);
  const total = new Float64Array(labels.name.length);
  const base = new Float64Array(labels.name.length);
  const baseSelf = new Float64Array(labels.name.length);
  for (const leaf of leaves) {
    const weight = tree.self(leaf);
    self[labelOf(shape, owner[leaf])] += weight;
    if (own[owner[leaf]]) near[own[owner[leaf]] - 1] += weight;
  }
  if (tree.baseSums) for (const leaf of leaves) baseSelf[labelOf(shape, owner[leaf])] += tree.baseSelf(leaf);
  tree.visit((node, weight) => {
    if (isOutermost[node]) total[code[node] >>> 1] += weight;
    if (isOutermost[node] && tree.baseSums) base[code[node] >>> 1] += tree.base(node);
  });
  const rows = [];
  for (let label = 0; label < labels.count; label++)
    if (total[label] > 0 || base[label] > 0)
      rows.push({ label, self: self[label], near: near[label], total: total[label], base: base[label], baseSelf: baseSelf[label],
        isUnsampled: labels.unsampled.has(label) });
  return rows;
}

const MOST_NEIGHBOURS = 6;

const heaviest = (weights) => [...weights].sort((a, b) => b[1] - a[1]).slice(0, MOST_NEIGHBOURS);

function addTo(weights, label, weight) {
  weights.set(label, (weights.get(label) ?? 0) + weight);
}

// Returns the direct callers and callees of a function: [[label, weight]].
export function neighbours(tree, label) {
  const [callers, callees] = [new Map(), new Map()];
  for (const node of outermost(tree, (other) => other === label)) {
    if (tree.parent[node]) addTo(callers, labelOf(tree, tree.parent[node]), tree.total(node));
    for (const child of childrenOf(tree, node)) addTo(callees, labelOf(tree, child), tree.total(child));
  }
  return { callers: heaviest(callers), callees: heaviest(callees) };
}

// Returns the reasons of the waits among the flagged samples: [[label, weight]].
export function reasonsOf(profile, { sample, weight }, flags) {
  const { own, state } = profile.samples;
  const reasons = new Map();
  for (let i = 0; i < sample.length; i++)
    if (flags[sample[i]] && state[sample[i]] && own[sample[i]]) addTo(reasons, leafOf(profile, own[sample[i]]) >>> 1, weight[i]);
  return heaviest(reasons);
}

// Returns a flag for each sample: whether the legend entry of its state, of its innermost
// function's kind, or of that function's module is one of these. For elapsed time, the entry of the
// number of running threads must be one of these, too.
export function samplesOfKinds(profile, keys) {
  const { labels, samples, running } = profile;
  const { others: kinds, includes } = parallelismIn(keys);
  return Uint8Array.from(samples.stack, (stack, sample) => {
    const isIncluded = includes(running[samples.set[sample]]);
    if (!isIncluded || !kinds.length) return Number(isIncluded);
    const leaf = stack && leafOf(profile, stack);
    const state = STATES[samples.state[sample]];
    return Number(kinds.includes(`m${labels.module[leaf >>> 1]}`) || kinds.includes(state) || (state === "running" && kinds.includes(kindOf(labels, leaf))));
  });
}

// Returns the text as a regular expression. It is case-sensitive only if the text contains a
// capital letter. An invalid expression is searched as plain text.
export function searchPattern(text) {
  const flags = /\p{Lu}/u.test(text) ? "u" : "iu";
  try {
    return { regexp: new RegExp(text, flags), isText: false };
  } catch {
    return { regexp: new RegExp(text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"), flags), isText: true };
  }
}

// matches: a flag for each label whose name or short name matches.
export function search(names, text, short = names) {
  const { regexp, isText } = searchPattern(text);
  return { matches: Uint8Array.from(names, (name, i) => regexp.test(name) || regexp.test(short[i])), isText };
}

// Returns the weight of the samples with at least one matching function, and the number of matching
// nodes.
export function matchSum(tree, matches) {
  const { count, code, end, leaves, sums } = tree;
  let weight = 0;
  let places = 0;
  let first = 0; // the number of the first leaf at or after the node
  let until = 0; // the end of the outermost match, and the number of its first leaf
  let from = 0;
  for (let i = 1; i < count; i++) {
    if (!matches[code[i] >>> 1]) continue;
    if (i >= until) {
      while (leaves[first] < until) first++;
      weight += sums[first] - sums[from];
    }
    while (leaves[first] < i) first++;
    if (i >= until) {
      until = end[i];
      from = first;
    }
    if (leaves[first] < end[i]) places++;
  }
  while (leaves[first] < until) first++;
  return { weight: weight + sums[first] - sums[from], places };
}

// Returns a flag for each sample: whether its stack has a matching function. With `others`: whether
// it has none.
export function matchingSamples({ frames, stacks, samples }, matches, others = false) {
  const hit = new Uint8Array(stacks.count);
  for (let stack = 1; stack < stacks.count; stack++) {
    hit[stack] = hit[stacks.parent[stack]];
    const frame = stacks.frame[stack];
    for (let i = frames.first[frame]; !hit[stack] && i < frames.first[frame + 1]; i++)
      hit[stack] = matches[frames.code[i] >>> 1];
  }
  const flags = new Uint8Array(samples.count); // a loop is faster than from()
  for (let sample = 0; sample < samples.count; sample++) flags[sample] = Number(hit[samples.stack[sample]] !== Number(others));
  return flags;
}

// Returns the heaviest node with a matching label, or 0.
export function heaviestMatch(tree, matches) {
  let found = 0;
  let most = 0;
  tree.visit((node, total) => { if (total > most && node && matches[labelOf(tree, node)]) [found, most] = [node, total]; });
  return found;
}

// Returns the nodes with matching labels, the heaviest first.
export function matchingNodes(tree, matches) {
  const found = [];
  tree.visit((node, total) => { if (matches[labelOf(tree, node)]) found.push({ node, total }); });
  return found.sort((a, b) => b.total - a.total || a.node - b.node).map(({ node }) => node);
}

// Returns {sets, setOf}: the distinct sets of lines that stacks have in one function, and the set
// of each stack (0: none).
export function lineSets({ frames, stacks }, label) {
  const sets = [new Set()];
  const ids = new Map([["", 0]]);
  const setOf = new Uint32Array(stacks.count);
  const extended = (id, line) => {
    if (sets[id].has(line)) return id;
    const lines = [...sets[id], line].sort((a, b) => a - b);
    const key = lines.join();
    if (!ids.has(key)) {
      ids.set(key, sets.length);
      sets.push(new Set(lines));
    }
    return ids.get(key);
  };
  const has = new Uint8Array(frames.count);
  for (let frame = 0; frame < frames.count; frame++)
    for (let i = frames.first[frame]; i < frames.first[frame + 1]; i++) if (frames.code[i] >>> 1 === label) has[frame] = 1;
  for (let stack = 1; stack < stacks.count; stack++) {
    const frame = stacks.frame[stack];
    setOf[stack] = setOf[stacks.parent[stack]];
    if (!has[frame]) continue;
    for (let i = frames.first[frame]; i < frames.first[frame + 1]; i++)
      if (frames.code[i] >>> 1 === label) setOf[stack] = extended(setOf[stack], frames.line[i]);
  }
  return { sets, setOf };
}

// Returns the lines of one function that have weight. self: samples in the line itself; total: also
// samples in functions called from it. Each line counts once per sample.
export function sourceLines(profile, { sample, weight }, label, { sets, setOf } = lineSets(profile, label)) {
  const { frames, stacks, samples } = profile;
  const leafLine = (frame) => {
    const last = frames.first[frame + 1] - 1;
    return frames.code[last] >>> 1 === label ? frames.line[last] : -1;
  };
  const rows = new Map();
  for (let i = 0; i < sample.length; i++) {
    const stack = samples.stack[sample[i]];
    if (!setOf[stack]) continue;
    for (const line of sets[setOf[stack]]) {
      if (!rows.has(line)) rows.set(line, { line, self: 0, total: 0 });
      rows.get(line).total += weight[i];
    }
    const leaf = leafLine(stacks.frame[stack]);
    if (leaf >= 0) rows.get(leaf).self += weight[i];
  }
  return [...rows.values()].sort((a, b) => a.line - b.line);
}
