// What is looked at, as the address of the page keeps it behind the #: a link shows the same again.

import { childrenOf, nodeAt, pathOf } from "./tree.js";

export const DEFAULTS = {
  view: "graph",
  shape: "icicle",
  steps: "", // what is done with functions: kind-LABEL, with commas between (STEPS)
  zoom: "", // codes from the root, with dots between; -CODE at the end: that child and those behind it
  q: "", // search
  only: "", // samples that the search matches, or the others, or all without the frames that match
  threads: "", // pattern
  from: 0, to: 0, // microseconds; 0 to 0: all
  event: 0,
  by: "weight",
  fn: -1, // label of the selected function
  colours: "", // empty: by kind, or in a comparison by change
  names: "short",
  recursion: "shown",
  inlined: "shown",
  group: "", // empty: by processes where there are several
  lanes: "threads",
  lens: "", // microseconds FROM-TO that the timeline shows; empty: all
};

// Of a label: only stacks that have it, those without it, its frames not drawn, stacks from it on.
export const STEPS = ["only", "without", "hide", "from"];

const CHOICES = {
  view: ["graph", "functions", "calls"],
  shape: ["icicle", "flame", "inverted", "order"],
  only: ["", "matches", "others", "hidden"],
  by: ["weight", "samples"],
  colours: ["", "kind", "module", "change"],
  names: ["short", "full"],
  recursion: ["shown", "folded"],
  inlined: ["shown", "merged"],
  group: ["", "process", "thread", "none"],
  lanes: ["threads", "cpus"],
};

export function toHash(state) {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(DEFAULTS))
    if (state[key] !== value) parts.set(key, state[key]);
  return parts.toString();
}

// What is no state is left out: a link may come from anywhere.
export function fromHash(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const state = { ...DEFAULTS };
  for (const [key, value] of Object.entries(DEFAULTS)) {
    if (!parts.has(key)) continue;
    const text = parts.get(key);
    if (CHOICES[key] && !CHOICES[key].includes(text)) continue;
    if (typeof value === "string") state[key] = text;
    else if (/^\d{1,15}$/.test(text)) state[key] = Number(text);
  }
  return state;
}

// [{kind, label}], of labels below count.
export function stepsOf(text, count) {
  return text.split(",").map((part) => /^([a-z]+)-(\d{1,9})$/.exec(part)).filter(Boolean)
    .map(([, kind, label]) => ({ kind, label: Number(label) })).filter(({ kind, label }) => STEPS.includes(kind) && label < count);
}

export const stepsText = (steps) => steps.map(({ kind, label }) => `${kind}-${label}`).join();

// With one more; stacks begin at one function alone.
export function withStep(steps, step) {
  const others = steps.filter(({ kind, label }) => (kind !== step.kind || label !== step.label) && (kind !== "from" || step.kind !== "from"));
  return [...others, step];
}

export function spanOf(text) {
  const found = /^(\d{1,15})-(\d{1,15})$/.exec(text);
  return found && Number(found[2]) > Number(found[1]) ? [Number(found[1]), Number(found[2])] : null;
}

// Of the address: {node, first}. first: 0, or the first of the children that alone are seen.
export function zoomIn(tree, zoom) {
  if (tree.inOrder || zoom.startsWith("@")) {
    const node = tree.inOrder && /^@\d+$/.test(zoom) ? Number(zoom.slice(1)) : 0;
    return { node: node < tree.count ? node : 0, first: 0 };
  }
  const path = zoom.split(".").filter(Boolean).map(Number);
  const rest = path.length && path[path.length - 1] < 0 ? -path.pop() : 0;
  const node = nodeAt(tree, path);
  return { node, first: (rest && childrenOf(tree, node).find((child) => tree.code[child] === rest)) || 0 };
}

export function zoomOf(tree, { node, first = 0 }) {
  if (tree.inOrder) return node ? `@${node}` : ""; // paths are not told apart by their codes
  return [...pathOf(tree, node), ...(first ? [-tree.code[first]] : [])].join(".");
}
