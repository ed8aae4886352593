// Colours of boxes: by kind of code, by module, or by change. Kinds also have marks of their own (graph.js).

import { STATES, STATE_NAMES } from "./reasons.js";
import { change } from "./tree.js";

export const KIND_NAMES = {
  user: "code of the program and its libraries",
  inlined: "inlined into its caller",
  kernel: "kernel",
  jit: "compiled at run time (JIT)",
  interpreted: "run by an interpreter",
  unnamed: "no name known",
  note: "not code: what prof says about the stack",
  group: "process, thread or label",
  wanted: "could run, but had no CPU",
  lock: "waits for a lock, a condition or a thread",
  disk: "waits for a file or a page of memory",
  network: "waits for the network",
  peer: "waits for a pipe, a terminal or another process",
  wait: "waits",
  sleep: "sleeps",
  idle: "waits in an event loop, for anything to do",
};

// [hue, saturation, lightness] for the light and for the dark theme.
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

// Of the states of threads, for the light and for the dark theme. Their brightness differs too, so that they can be told
// apart without seeing red, green or blue; what is idle is near to the ground.
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

// The colour of a state in lanes, the legend and boxes.
export const stateColour = (state, isDark) => STATE_COLOURS[state][Number(isDark)];

// Of the cells of a heat map, the coldest first, for the light and for the dark theme; the first one is of cells without
// samples. Their brightness tells them apart, too.
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

// The ink on boxes of a state, if it is not that of all boxes.
const inkOn = (kind, isDark) => (isDark && Object.hasOwn(STATE_COLOURS, kind) && kind !== "sleep" && kind !== "idle" ? "#14161a" : null);

const MODULE_HUES = [34, 204, 140, 286, 350, 60, 176, 244, 100, 320];

const STRONG_CHANGE = 0.1; // of the whole

const SHADES = 4; // per colour, so that neighbours differ

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

// The kind that a node is drawn as.
export function kindOf(labels, code) {
  const kind = labels.kind[code >>> 1];
  return code & 1 && kind === "user" ? "inlined" : kind;
}

// [{id, weight}] of the modules that have self weight, the heaviest first.
export function modulesByWeight(profile, rows) {
  const weights = new Float64Array(profile.modules.length);
  for (const { label, self } of rows) weights[profile.labels.module[label]] += self;
  return [...weights.keys()].filter((id) => weights[id] > 0)
    .sort((a, b) => weights[b] - weights[a] || a - b).map((id) => ({ id, weight: weights[id] }));
}

// For comparisons: red if the share grew, blue if it shrank; a larger change gets a stronger colour.
function byChange(isDark, sign, whole) {
  const shades = (hue) => Array.from({ length: 11 }, (_, i) => hexOf(hue, isDark ? 10 + i * 4.5 : 30 + i * 6,
    isDark ? 25 + i * 0.9 : 92 - i * 2.4));
  const [grown, shrunk] = [shades(4), shades(214)];
  return (_, tree, node) => {
    const difference = change(tree, node, whole) * sign;
    const strength = Math.min(10, Math.round(Math.sqrt(Math.abs(difference) / STRONG_CHANGE) * 10));
    return (difference > 0 ? grown : shrunk)[strength];
  };
}

// Returns {of, kind, ink, module}. of(code, tree, node): the fill of a box. ink(kind): what to write on it; null: as on all.
export function colouring(profile, { by, isDark, modules, sign = 1, whole = null }) {
  const { labels } = profile;
  const shade = Uint8Array.from(labels.name, shadeOf);
  const ground = (kind) => KIND_COLOURS[kind][isDark ? 1 : 0];
  const ofKind = (kind, step) => css(ground(kind), step, isDark);
  const kinds = Object.fromEntries(Object.keys(KIND_COLOURS).map((kind) =>
    [kind, Array.from({ length: SHADES }, (_, step) => ofKind(kind, step))]));
  for (const state of STATES) kinds[state] = Array(SHADES).fill(stateColour(state, isDark));
  const byKind = (code) => kinds[kindOf(labels, code)][shade[code >>> 1]];
  const ink = (kind) => inkOn(kind, isDark);
  if (by === "change") return { of: byChange(isDark, sign, whole), kind: (kind) => kinds[kind][1], ink: () => null };
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
