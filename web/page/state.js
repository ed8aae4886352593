// The state of the page. It is kept in the address after the #, so that a link shows the same view.

import { childrenOf, nodeAt, pathOf } from "./tree.js";

export const DEFAULTS = {
  view: "graph",
  shape: "icicle",
  steps: "", // function filters: kind-LABEL,… (STEPS)
  // CODE.CODE… from the root. A last -CODE shows that child and all later ones.
  zoom: "",
  q: "", // search
  // Which samples: those that match the search, the others, or all without the matching frames.
  only: "",
  threads: "", // patterns (weights.js)
  from: 0, to: 0, // microseconds; 0, 0: everything
  event: 0,
  by: "weight",
  fn: -1, // the label of the selected function
  colours: "", // empty: by change in a comparison, else by kind
  names: "short",
  recursion: "shown",
  inlined: "shown",
  logical: "", // fold the code of runtimes (logical.js). Empty: if most frames are such code
  shared: "folded", // the callers that all samples share are one row
  kinds: "", // the entries of legends to show: kinds of code, states, m and the number of a module
  // Empty: no groups for a single process, else by process, or by process name if there are many.
  // label:KEY: by the value of a label.
  group: "",
  lanes: "", // empty: the heat map for a long recording, else threads
  idle: "hidden", // waits for work, and threads that spent nearly all of their time waiting at one stack
  // FROM-TO: the range of the timeline in microseconds. Empty: everything.
  lens: "",
};

// Filters by label: only stacks with it, only stacks without it, hide its frames, start stacks at
// it.
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
  logical: ["", "off", "on"],
  shared: ["folded", "shown"],
  group: ["", "name", "process", "thread", "none"],
  lanes: ["", "threads", "cpus", "heat"],
  idle: ["hidden", "shown"],
};

export function toHash(state) {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(DEFAULTS))
    if (state[key] !== value) parts.set(key, state[key]);
  return parts.toString();
}

// Ignores invalid parts, because a link is untrusted input.
export function fromHash(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const state = { ...DEFAULTS };
  for (const [key, value] of Object.entries(DEFAULTS)) {
    if (!parts.has(key)) continue;
    const text = parts.get(key);
    if (CHOICES[key] && !CHOICES[key].includes(text) && !(key === "group" && text.startsWith("label:"))) continue;
    if (typeof value === "string") state[key] = text;
    else if (/^\d{1,15}$/.test(text)) state[key] = Number(text);
  }
  return state;
}

// Parses `steps` into [{kind, label}]. Drops labels that are not below `count`.
export function stepsOf(text, count) {
  return text.split(",").map((part) => /^([a-z]+)-(\d{1,9})$/.exec(part)).filter(Boolean)
    .map(([, kind, label]) => ({ kind, label: Number(label) })).filter(({ kind, label }) => STEPS.includes(kind) && label < count);
}

export const stepsText = (steps) => steps.map(({ kind, label }) => `${kind}-${label}`).join();

// Adds a step. A new "from" replaces the old one.
export function withStep(steps, step) {
  const others = steps.filter(({ kind, label }) => (kind !== step.kind || label !== step.label) && (kind !== "from" || step.kind !== "from"));
  return [...others, step];
}

export function spanOf(text) {
  const found = /^(\d{1,15})-(\d{1,15})$/.exec(text);
  return found && Number(found[2]) > Number(found[1]) ? [Number(found[1]), Number(found[2])] : null;
}

// Parses `zoom` into {node, first}. first: the first child to show, or 0 for all.
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
  if (tree.inOrder) return node ? `@${node}` : ""; // several nodes have the same path
  return [...pathOf(tree, node), ...(first ? [-tree.code[first]] : [])].join(".");
}
