// Tests of the page of a comparison. They need no browser.

import assert from "node:assert/strict";
import test from "node:test";

import { changeShades, colouring } from "../page/colours.js";
import { changedRows, changeWords, nodeChange } from "../page/comparison.js";
import { decode } from "../page/reader.js";
import { DEFAULTS } from "../page/state.js";
import { labelOf } from "../page/tree.js";
import { View } from "../page/view.js";
import { points } from "../page/words.js";
import { encode } from "./encode.mjs";

// parse() has become slower and emit() faster beyond chance. lex() may have. Two recordings a side.
const CHANGES = {
  parse: [[0.4, 0.6, 0.03, 2], [0.4, 0.6, 0.03, 2]],
  emit: [[0.2, 0.1, 0.02, 2], [0.2, 0.1, 0.02, 2]],
  main: [[0, 0, 0, 0], [1, 1.12, 0.05, 2]],
  lex: [[0.4, 0.42, 0.05, 0], [0.4, 0.42, 0.05, 0]],
};

function viewOf(state = {}, comparison = {}) {
  const sides = { parse: [8, 12], emit: [4, 2], lex: [8, 8.4] };
  const samples = Object.entries(sides).flatMap(([name, [before, after]]) =>
    [{ stack: ["main", name], weight: after * 1000, samples: 1 }, { stack: ["main", name], event: 1, weight: before * 1000, samples: 1 }]);
  samples.push({ stack: ["[kernel]"], weight: 9000, samples: 0 }, { stack: ["[kernel]"], event: 1, weight: 1000, samples: 0 });
  const view = new View(decode(encode({ samples, modules: [{ path: "/bin/app", kind: 0 }, { path: "", kind: 6 }], labels: { "[kernel]": { module: 1 } },
    events: [{ name: "after", unit: "nanoseconds", kind: 1 }, { name: "before", unit: "nanoseconds", kind: 1 }],
    info: { compares: 2, comparison: { recordings: 2, changes: CHANGES, ...comparison } } })));
  view.state = { ...DEFAULTS, ...state };
  return view;
}

const changed = (view) => changedRows(view.functions(), view.compares(), 20).map(({ label, changes }) =>
  [view.profile.labels.name[label], changeWords(changes.self)]);

const nodeOf = (view, name) => Array.from({ length: view.tree().count }, (_, node) => node)
  .find((node) => node && view.profile.labels.name[labelOf(view.tree(), node)] === name);

test("the changed functions are in the order of the report, with their intervals", () => {
  assert.deepEqual(changed(viewOf()), [["parse", "▲ +20.0 ± 3.0"], ["emit", "▼ -10.0 ± 2.0"], ["lex", "+2.0 ± 5.0"]]);
});

test("with a filter the changes are those of the filtered samples, without intervals", () => {
  const view = viewOf({ q: "parse", only: "matches" });
  assert.deepEqual(changed(view), [["parse", "▲ +50.0"]]);
});

test("the old widths change neither the figures nor their direction", () => {
  assert.deepEqual(changed(viewOf({ event: 1 })), changed(viewOf()));
  const [now, before] = [viewOf(), viewOf({ event: 1 })];
  assert.equal(nodeChange(now.tree(), nodeOf(now, "parse"), now.compares()), nodeChange(before.tree(), nodeOf(before, "parse"), before.compares()));
});

test("only significant changes have an arrow, and none has if a side has one recording", () => {
  assert.deepEqual([0.25, -0.5, 0.0001].map((value) => points(value, true)), ["▲ +25.0", "▼ -50.0", "="]);
  assert.equal(points(0.25, false), "+25.0");
  const guessed = Object.fromEntries(Object.entries(CHANGES).map(([name, both]) => [name, both.map(([before, after, margin]) => [before, after, margin, 1])]));
  assert.equal(changed(viewOf({}, { isGuess: true, changes: guessed }))[0][1], "+20.0 ± 3.0");
});

test("weights are those of one recording", () => {
  assert.equal(viewOf().words()(2e6), "1 ms");
});

function channels(fill) {
  return [1, 3, 5].map((at) => parseInt(fill.slice(at, at + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
}

// What people without one kind of cones see. Source: Machado, Oliveira, Fernandes, "A
// Physiologically-based Model for Simulation of Color Vision Deficiency", 2009; severity 1.0.
const BLIND = {
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
};
const XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];
const WHITE = [0.9505, 1, 1.089];

const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, value, i) => sum + value * vector[i], 0));

function lab(rgb) {
  const [x, y, z] = times(XYZ, rgb.map((c) => Math.min(1, Math.max(0, c)))).map((value, i) => value / WHITE[i])
    .map((value) => (value > 216 / 24389 ? Math.cbrt(value) : (value * 24389 / 27 + 16) / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test("people with any colour blindness can tell more from less", () => {
  for (const isDark of [false, true]) {
    const { grown, shrunk } = changeShades(isDark);
    for (const [name, matrix] of Object.entries(BLIND))
      for (let strength = 4; strength <= 10; strength++) {
        const [a, b] = [grown, shrunk].map((shades) => lab(times(matrix, channels(shades[strength]))));
        const difference = Math.hypot(...a.map((value, i) => value - b[i]));
        assert.ok(difference > 10, `${name}, ${isDark ? "dark" : "light"}, strength ${strength}: ${difference}`);
      }
  }
});

test("changes that may be chance are faint, and time that was not sampled has no colour", () => {
  const view = viewOf();
  const colours = colouring(view.profile, { by: "change", isDark: false, modules: [], compares: view.compares() });
  const { grown, shrunk, same } = changeShades(false);
  const fill = (name) => colours.of(0, view.tree(), nodeOf(view, name));
  assert.ok(grown.indexOf(fill("parse")) > 8 && shrunk.indexOf(fill("emit")) > 8);
  assert.ok(grown.indexOf(fill("lex")) < 3);
  assert.equal(fill("[kernel]"), same);
});
