// Sums by function: the table, what a search matches, and the source lines of one function.

import { STATES } from "./reasons.js";
import { labelOf } from "./tree.js";

// The rank of labels that cannot be the place of a wait: RANKS of enum waiting_rank.
const NO_RANK = 5;

// For each node the one whose self weight its own is: itself; for the reason of a wait the function that chose to wait, the
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

// Self and total of each label, the heaviest first. A recursive function counts once per sample.
export function functionTable(tree, labels, isOfMemory = false) {
  const self = new Float64Array(labels.name.length);
  const total = new Float64Array(labels.name.length);
  const base = new Float64Array(labels.name.length);
  const until = new Uint32Array(labels.name.length); // end of the label's open outermost node
  const owner = isOfMemory ? allocatorsOf(tree, labels) : ownersOf(tree, labels);
  for (let i = 1; i < tree.count; i++) {
    const label = labelOf(tree, i);
    self[labelOf(tree, owner[i])] += tree.self[i];
    if (i < until[label]) continue;
    until[label] = tree.end[i];
    total[label] += tree.total[i];
    base[label] += tree.base[i];
  }
  const rows = [];
  for (let label = 0; label < labels.count; label++)
    if (total[label] > 0 || base[label] > 0)
      rows.push({ label, self: self[label], total: total[label], base: base[label] });
  return rows.sort((a, b) => b.self - a.self || b.total - a.total || a.label - b.label);
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
  let weight = 0;
  let places = 0;
  for (let i = 1, until = 0; i < tree.count; i++) {
    if (!matches[labelOf(tree, i)]) continue;
    places++;
    if (i < until) continue;
    until = tree.end[i];
    weight += tree.total[i];
  }
  return { weight, places };
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
  const nodes = [];
  for (let i = 1; i < tree.count; i++) if (matches[labelOf(tree, i)]) nodes.push(i);
  return nodes.sort((a, b) => tree.total[b] - tree.total[a] || a - b);
}

// The lines of one function that have weight. self: the line itself ran; total: also all functions called from it.
// Each line counts once per sample.
export function sourceLines(profile, weights, label) {
  const { frames, stacks, samples } = profile;
  const sets = [new Set()]; // sets of lines; 0 is empty
  const ids = new Map([["", 0]]);
  const setOf = new Uint32Array(stacks.count);
  const leafLine = (frame) => {
    const last = frames.first[frame + 1] - 1;
    return frames.code[last] >>> 1 === label ? frames.line[last] : -1;
  };
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
  const rows = new Map();
  for (let i = 0; i < samples.count; i++) {
    const stack = samples.stack[i];
    if (!weights[i] || !setOf[stack]) continue;
    for (const line of sets[setOf[stack]]) {
      if (!rows.has(line)) rows.set(line, { line, self: 0, total: 0 });
      rows.get(line).total += weights[i];
    }
    const leaf = leafLine(stacks.frame[stack]);
    if (leaf >= 0) rows.get(leaf).self += weights[i];
  }
  return [...rows.values()].sort((a, b) => a.line - b.line);
}
