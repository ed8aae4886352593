// Sums by function: the table, what a search matches, and the source lines of one function.

import { STATES } from "./reasons.js";
import { labelOf } from "./tree.js";

// The rank of labels that cannot be the place of a wait: RANKS of enum waiting_rank.
const NO_RANK = 5;

// For each node of a shape the one whose self weight its own is: itself; for the reason of a wait the function that chose to wait, the
// innermost one of the lowest rank; and for "[woken by …]" and the waker's functions what the reason has.
function ownersOf(tree, labels) {
  const owner = new Uint32Array(tree.count);
  const place = new Uint32Array(tree.count);
  const rankAt = (node) => (node ? labels.rank[labelOf(tree, node)] : undefined) ?? NO_RANK;
  for (let i = 1; i < tree.count; i++) {
    const parent = tree.parent[i];
    const rank = rankAt(i);
    const label = labelOf(tree, i);
    place[i] = rank < NO_RANK && rank <= rankAt(place[parent]) ? i : place[parent];
    if (owner[parent] !== parent || (parent && labels.name[label].startsWith("[woken by "))) owner[i] = owner[parent];
    else owner[i] = (STATES.includes(labels.kind[label]) && place[i]) || i;
  }
  return owner;
}

// The same of memory: the function that allocates is the innermost one of the program that is no work or glue of a library
// (lib/report/allocating_place.h).
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

// A flag for each node that is not below one of the same label.
function outermostOf({ count, code, end }, labels) {
  const isOutermost = new Uint8Array(count);
  const until = new Uint32Array(labels.name.length); // end of the label's open outermost node
  for (let i = 1; i < count; i++) {
    if (i < until[code[i] >>> 1]) continue;
    until[code[i] >>> 1] = end[i];
    isOutermost[i] = 1;
  }
  return isOutermost;
}

// Self and total of each label with weight. A recursive function counts once per sample. What does not depend on the weights
// is kept with the shape.
export function functionTable(tree, labels, isOfMemory = false) {
  const { shape, leaves, code } = tree;
  const owner = isOfMemory ? (shape.allocators ??= allocatorsOf(shape, labels)) : (shape.owners ??= ownersOf(shape, labels));
  const isOutermost = (shape.outermost ??= outermostOf(shape, labels));
  const self = new Float64Array(labels.name.length);
  const total = new Float64Array(labels.name.length);
  const base = new Float64Array(labels.name.length);
  for (const leaf of leaves) self[labelOf(shape, owner[leaf])] += tree.self(leaf);
  tree.visit((node, weight) => {
    if (isOutermost[node]) total[code[node] >>> 1] += weight;
    if (isOutermost[node] && tree.baseSums) base[code[node] >>> 1] += tree.base(node);
  });
  const rows = [];
  for (let label = 0; label < labels.count; label++)
    if (total[label] > 0 || base[label] > 0)
      rows.push({ label, self: self[label], total: total[label], base: base[label], isUnsampled: labels.unsampled.has(label) });
  return rows;
}

// The text as a regular expression; case-sensitive only if it has capitals. An invalid one is searched as plain text.
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

// The weight of the samples with at least one matching function, and the number of matching nodes.
export function matchSum(tree, matches) {
  const { count, code, end, leaves, sums } = tree;
  let weight = 0;
  let places = 0;
  let first = 0; // the number of the first leaf that is not before the node
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

// A flag for each sample: whether its stack has a matching function, or with `others`, whether it has none.
export function matchingSamples({ frames, stacks, samples }, matches, others = false) {
  const hit = new Uint8Array(stacks.count);
  for (let stack = 1; stack < stacks.count; stack++) {
    hit[stack] = hit[stacks.parent[stack]];
    const frame = stacks.frame[stack];
    for (let i = frames.first[frame]; !hit[stack] && i < frames.first[frame + 1]; i++)
      hit[stack] = matches[frames.code[i] >>> 1];
  }
  const flags = new Uint8Array(samples.count); // a loop is ten times as fast as from()
  for (let sample = 0; sample < samples.count; sample++) flags[sample] = Number(hit[samples.stack[sample]] !== Number(others));
  return flags;
}

// The nodes with matching labels, the heaviest first.
export function matchingNodes(tree, matches) {
  const found = [];
  tree.visit((node, total) => { if (matches[labelOf(tree, node)]) found.push({ node, total }); });
  return found.sort((a, b) => b.total - a.total || a.node - b.node).map(({ node }) => node);
}

// Which lines of one function each stack has: {sets, setOf}, sets of lines and the number of that of each stack; 0: none.
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

// The lines of one function that have weight. self: the line itself ran; total: also all functions called from it.
// Each line counts once per sample.
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
