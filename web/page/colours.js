// Colours of boxes: by kind of code, by module, or by change. Each kind also has a mark of its own
// (graph.js).

import { STATES, STATE_NAMES } from "./reasons.js";
import { evidenceOf } from "./comparison.js";
import { change, isUnsampled, labelOf } from "./tree.js";

export const KIND_NAMES = {
  user: "code of the program and its libraries",
  inlined: "inlined into its caller",
  kernel: "kernel",
  jit: "compiled at run time (JIT)",
  interpreted: "run by an interpreter",
  unnamed: "unsymbolized",
  note: "not code: a note about the stack",
  group: "process, thread or label",
  wanted: "runnable: waits for a CPU",
  lock: "waits for a lock, a condition variable or a thread",
  disk: "waits for a file or a page fault",
  network: "waits for the network",
  peer: "waits for a pipe, a terminal or another process",
  wait: "waits",
  sleep: "sleeps",
  idle: "waits in an event loop for work",
};

// [hue, saturation, lightness] in the light and in the dark theme.
const KIND_COLOURS = {
  user: [[34, 92, 72], [26, 62, 34]],
  inlined: [[48, 88, 80], [42, 52, 29]],
  kernel: [[216, 72, 80], [216, 48, 37]],
  jit: [[150, 46, 74], [155, 45, 27]],
  interpreted: [[268, 62, 85], [268, 34, 39]],
  unnamed: [[220, 9, 82], [220, 8, 31]],
  note: [[350, 80, 87], [350, 40, 33]],
  group: [[220, 18, 90], [220, 14, 23]],
};

// The colours of thread states in the light and in the dark theme. They differ in brightness too,
// so that people who do not see red, green or blue can distinguish them. Idle is close to the
// background.
const STATE_COLOURS = {
  running: ["#f4b121", "#e9b566"],
  wanted: ["#f4552e", "#f84b21"],
  lock: ["#aa75cc", "#b686db"],
  disk: ["#757ff7", "#6e71fa"],
  network: ["#8bd2f5", "#98cbe2"],
  peer: ["#39a376", "#35a57c"],
  wait: ["#8f97a7", "#778193"],
  sleep: ["#dbc776", "#695e3d"],
  idle: ["#e5e7ea", "#313840"],
};

// Returns the colour of a state in lanes, in the legend and in boxes.
export const stateColour = (state, isDark) => STATE_COLOURS[state][Number(isDark)];

// The colours of the heat map's cells, coldest first, in the light and in the dark theme. The
// brightness rises or falls steadily.
const HEAT_STOPS = [["#fdf1cf", "#f8c95c", "#f08c2e", "#cf3f24", "#7c0f23"], ["#33204a", "#74286a", "#c0455a", "#f28a45", "#fde58b"]];
const NO_HEAT = ["#e9ecf0", "#24282e"];
const HEAT_SHADES = 64;

export function heatRamp(isDark) {
  const stops = HEAT_STOPS[Number(isDark)].map((fill) => [1, 3, 5].map((at) => parseInt(fill.slice(at, at + 2), 16)));
  const shade = (i) => {
    const at = (i / (HEAT_SHADES - 1)) * (stops.length - 1);
    const stop = Math.min(stops.length - 2, Math.floor(at));
    return `#${stops[stop].map((value, channel) => Math.round(value + (stops[stop + 1][channel] - value) * (at - stop)).toString(16).padStart(2, "0")).join("")}`;
  };
  return [NO_HEAT[Number(isDark)], ...Array.from({ length: HEAT_SHADES }, (_, i) => shade(i))];
}

// Returns the text colour on boxes of a state, or null for the default.
const inkOn = (kind, isDark) => (isDark && Object.hasOwn(STATE_COLOURS, kind) && kind !== "sleep" && kind !== "idle" ? "#14161a" : null);

const MODULE_HUES = [34, 204, 140, 286, 350, 60, 176, 244, 100, 320];

const STRONG_CHANGE = 0.1; // a share of the whole

const SHADES = 4; // per colour, so that adjacent boxes differ

function shadeOf(name) {
  let hash = 0;
  for (let i = 0; i < name.length && i < 200; i++) hash = (Math.imul(hash, 31) + name.charCodeAt(i)) | 0;
  return (hash >>> 4) % SHADES;
}

// Converts HSL to #rrggbb, which canvases parse fastest. Source: CSS Color Module Level 4, 7.1.
function hexOf(hue, saturation, lightness) {
  const reach = (saturation / 100) * Math.min(lightness, 100 - lightness);
  const channel = (n) => {
    const k = (n + hue / 30) % 12;
    const value = lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(value * 2.55).toString(16).padStart(2, "0");
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}

function css([hue, saturation, lightness], shade, isDark) {
  return hexOf(hue, saturation, lightness + (shade - 1) * (isDark ? 1.7 : -1.9));
}

// Returns the kind that a node is drawn as.
export function kindOf(labels, code) {
  const kind = labels.kind[code >>> 1];
  return code & 1 && kind === "user" ? "inlined" : kind;
}

// Returns [{id, weight}] of the modules that have self weight, the heaviest first.
export function modulesByWeight(profile, rows) {
  const weights = new Float64Array(profile.modules.length);
  for (const { label, self } of rows) weights[profile.labels.module[label]] += self;
  return [...weights.keys()].filter((id) => weights[id] > 0)
    .sort((a, b) => weights[b] - weights[a] || a - b).map((id) => ({ id, weight: weights[id] }));
}

// The hues of comparisons: orange if the share grew, blue if it shrank. People who do not see red,
// green or blue can tell the two apart.
const GROWN = 22;
const SHRUNK = 212;
const STRENGTHS = 10;
const FAINT = 2; // the strength of a change that may be chance

export function changeShades(isDark) {
  const shades = (hue) => Array.from({ length: STRENGTHS + 1 }, (_, i) => hexOf(hue, isDark ? 8 + i * 6.4 : 26 + i * 7,
    isDark ? 24 + i * 1.4 : 93 - i * 2.9));
  return { grown: shades(GROWN), shrunk: shades(SHRUNK), same: isDark ? "#2b2f36" : "#eceef1" };
}

// The larger a change, the stronger its colour. A change that may be chance is faint. Unsampled
// weight is not the cost of a function, so it has no colour.
function byChange(isDark, { sign, whole, rows }) {
  const { grown, shrunk, same } = changeShades(isDark);
  return (_, tree, node) => {
    const difference = change(tree, node, whole) * sign;
    if (Math.abs(difference) < 0.0005 || isUnsampled(tree, node)) return same;
    const strength = Math.min(evidenceOf({ rows }, labelOf(tree, node)) ? STRENGTHS : FAINT, Math.round(Math.sqrt(Math.abs(difference) / STRONG_CHANGE) * STRENGTHS));
    return (difference > 0 ? grown : shrunk)[strength];
  };
}

// Returns {of, kind, ink, module}. of(code, tree, node) returns the fill of a box. ink(kind)
// returns the text colour on it, or null for the default.
// compares: see view.js; only for "change".
export function colouring(profile, { by, isDark, modules, compares = null }) {
  const { labels } = profile;
  const shade = Uint8Array.from(labels.name, shadeOf);
  const ground = (kind) => KIND_COLOURS[kind][isDark ? 1 : 0];
  const ofKind = (kind, step) => css(ground(kind), step, isDark);
  const kinds = Object.fromEntries(Object.keys(KIND_COLOURS).map((kind) =>
    [kind, Array.from({ length: SHADES }, (_, step) => ofKind(kind, step))]));
  for (const state of STATES) kinds[state] = Array(SHADES).fill(stateColour(state, isDark));
  const byKind = (code) => kinds[kindOf(labels, code)][shade[code >>> 1]];
  const ink = (kind) => inkOn(kind, isDark);
  if (by === "change") {
    const { grown, shrunk } = changeShades(isDark);
    const changes = { more: grown[STRENGTHS], less: shrunk[STRENGTHS], faint: grown[FAINT] };
    return { of: byChange(isDark, compares), kind: (kind) => kinds[kind][1], ink: () => null, changes };
  }
  if (by === "kind") return { of: byKind, kind: (kind) => kinds[kind][1], ink };
  const fills = new Map(modules.slice(0, MODULE_HUES.length).map(({ id }, i) =>
    [id, Array.from({ length: SHADES }, (_, step) =>
      css(isDark ? [MODULE_HUES[i], 45, 28] : [MODULE_HUES[i], 72, 77], step, isDark))]));
  const of = (code) => {
    const label = code >>> 1;
    const kind = labels.kind[label];
    if (kind === "group" || kind === "note" || kind in STATE_NAMES) return byKind(code);
    return (fills.get(labels.module[label]) || kinds.unnamed)[shade[label]];
  };
  return { of, ink, kind: (kind) => kinds[kind][1], module: (id) => (fills.get(id) || kinds.unnamed)[1] };
}
