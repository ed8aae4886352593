// Sums by function: the table, what a search matches, and the source lines of one function.

import { labelOf } from "./tree.js";

// Each label's self and total, a recursive one counted once a sample; the heaviest first.
export function functionTable(tree, labels) {
  const self = new Float64Array(labels.name.length);
  const total = new Float64Array(labels.name.length);
  const base = new Float64Array(labels.name.length);
  const until = new Uint32Array(labels.name.length); // the end of the outermost node that is open
  for (let i = 1; i < tree.count; i++) {
    const label = labelOf(tree, i);
    self[label] += tree.self[i];
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

// A regular expression, which minds case only where it has capitals; what is none is taken as it stands.
export function searchPattern(text) {
  const flags = /\p{Lu}/u.test(text) ? "u" : "iu";
  try {
    return { regexp: new RegExp(text, flags), isText: false };
  } catch {
    return { regexp: new RegExp(text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"), flags), isText: true };
  }
}

// Which labels match.
export function search(names, text) {
  const { regexp, isText } = searchPattern(text);
  return { matches: Uint8Array.from(names, (name) => regexp.test(name)), isText };
}

// The weight of the samples that have at least one matching function, and in how many places there is one.
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

// Which cells have a matching function; with `others`, which have none.
export function matchingCells({ frames, stacks, cells }, matches, others = false) {
  const hit = new Uint8Array(stacks.count);
  for (let stack = 1; stack < stacks.count; stack++) {
    hit[stack] = hit[stacks.parent[stack]];
    const frame = stacks.frame[stack];
    for (let i = frames.first[frame]; !hit[stack] && i < frames.first[frame + 1]; i++)
      hit[stack] = matches[frames.code[i] >>> 1];
  }
  const flags = new Uint8Array(cells.count); // in a loop: from() takes ten times as long
  for (let cell = 0; cell < cells.count; cell++) flags[cell] = Number(hit[cells.stack[cell]] !== Number(others));
  return flags;
}

// Nodes of matching labels, the heaviest first.
export function matchingNodes(tree, matches) {
  const nodes = [];
  for (let i = 1; i < tree.count; i++) if (matches[labelOf(tree, i)]) nodes.push(i);
  return nodes.sort((a, b) => tree.total[b] - tree.total[a] || a - b);
}

// The lines of one function that have weight: self where it had the CPU itself, total with all that
// was called from there; each line once a sample.
export function sourceLines(profile, weights, label) {
  const { frames, stacks, cells } = profile;
  const sets = [new Set()]; // of lines; 0 is the empty one
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
  for (let i = 0; i < cells.count; i++) {
    const stack = cells.stack[i];
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
