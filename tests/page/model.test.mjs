// The part of the page that computes, without a page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { gzipSync } from "node:zlib";

import { colouring } from "../../lib/format/html/colours.js";
import { folded, svg } from "../../lib/format/html/export.js";
import { functionTable, matchingCells, matchingNodes, matchSum, search, sourceLines }
  from "../../lib/format/html/functions.js";
import { boxAt, layout, restRange } from "../../lib/format/html/layout.js";
import { timeTree } from "../../lib/format/html/order.js";
import { decode, unpack } from "../../lib/format/html/reader.js";
import { DEFAULTS, fromHash, spanOf, stepsOf, stepsText, toHash, withStep, zoomIn, zoomOf } from "../../lib/format/html/state.js";
import { lanesOf } from "../../lib/format/html/timeline.js";
import { callTree, calleesOf, callersOf, change, childrenOf, inverted, isInlined, labelOf, nodeAt, pathOf, standsForAll }
  from "../../lib/format/html/tree.js";
import { cellWeights, histogram, threadMatcher } from "../../lib/format/html/weights.js";
import { percent, points, shortName, shown, time } from "../../lib/format/html/words.js";
import { encode } from "./encode.mjs";

const ALL = { event: 0, bySamples: true, threads: "", range: null };

const profileOf = (parts) => decode(encode(Array.isArray(parts) ? { samples: parts } : parts));

function treeOf(profile, view = {}, options = {}) {
  return callTree(profile, cellWeights(profile, { ...ALL, ...view }), options);
}

// "main(f(g*))": with weights, and * behind what is inlined.
function drawn(profile, tree, node = 0) {
  const name = standsForAll(tree, node) ? "all" : profile.labels.name[labelOf(tree, node)] + (isInlined(tree, node) ? "*" : "");
  const children = childrenOf(tree, node).map((child) => drawn(profile, tree, child));
  return `${name} ${tree.total[node]}${children.length ? ` (${children.join(", ")})` : ""}`;
}

const SHOP = [
  { stack: ["main", "serve>next:310", "read"], samples: 4 },
  { stack: ["main", "serve>next:312"], samples: 3 },
  { stack: ["main", "log"], samples: 2 },
  { stack: ["start"], samples: 1 },
];

test("stacks of the same functions are one path, the heaviest first", () => {
  const profile = profileOf(SHOP);
  assert.equal(drawn(profile, treeOf(profile)), "all 10 (main 9 (serve 7 (next* 7 (read 4)), log 2), start 1)");
});

test("nodes stand in preorder with their ends, starts and depths", () => {
  const tree = treeOf(profileOf(SHOP));
  for (let i = 1; i < tree.count; i++) {
    const parent = tree.parent[i];
    assert.ok(parent < i && i < tree.end[parent] && tree.end[i] <= tree.end[parent]);
    assert.equal(tree.depth[i], tree.depth[parent] + 1);
    assert.ok(tree.start[i] >= tree.start[parent]);
    assert.ok(tree.start[i] + tree.total[i] <= tree.start[parent] + tree.total[parent]);
  }
  assert.equal(tree.maxDepth, 4);
});

test("weights are sums of periods, or samples", () => {
  const profile = profileOf([{ stack: ["a"], samples: 2, weight: 5000 }, { stack: ["b"], samples: 3, weight: 10 }]);
  assert.equal(treeOf(profile, { bySamples: false }).total[0], 5010);
  assert.equal(treeOf(profile).total[0], 5);
});

test("numbers of any size survive", () => {
  const weight = 2 ** 50;
  const profile = profileOf([{ stack: ["a"], samples: 1, weight }, { stack: ["b"], samples: 2 ** 40, weight: 0 }]);
  assert.deepEqual([...profile.cells.weight], [weight, 0]);
  assert.deepEqual([...profile.cells.samples], [1, 2 ** 40]);
});

test("events are kept apart", () => {
  const profile = profileOf({ events: [{ name: "cycles" }, { name: "faults" }],
    samples: [{ stack: ["a"], samples: 5 }, { stack: ["b"], event: 1, samples: 2 }] });
  assert.equal(drawn(profile, treeOf(profile)), "all 5 (a 5)");
  assert.equal(drawn(profile, treeOf(profile, { event: 1 })), "all 2 (b 2)");
});

test("recursion is folded on request, also through others", () => {
  const profile = profileOf([{ stack: ["main", "f", "f", "g", "f", "h"], samples: 3 }, { stack: ["main", "f", "g"], samples: 1 }]);
  assert.equal(drawn(profile, treeOf(profile, {}, { folds: true })), "all 4 (main 4 (f 4 (h 3, g 1)))");
  assert.equal(drawn(profile, treeOf(profile)), "all 4 (main 4 (f 4 (f 3 (g 3 (f 3 (h 3))), g 1)))");
});

const THREADS = [
  { pid: 10, tid: 10, process: "app", name: "app" },
  { pid: 10, tid: 11, process: "app", name: "worker-1" },
  { pid: 10, tid: 12, process: "app", name: "worker-2" },
  { pid: 20, tid: 20, process: "db", name: "" },
];
const BY_THREAD = { threads: THREADS, samples: [0, 1, 2, 3].map((thread) =>
  ({ stack: ["main", "f"], thread, samples: thread + 1, times: Array.from({ length: thread + 1 }, (_, i) => [i * 100, thread % 2]) })) };

test("processes and threads can be a level of their own", () => {
  const profile = profileOf(BY_THREAD);
  const byProcess = profile.threads.map((thread) => thread.processLabel);
  assert.equal(drawn(profile, treeOf(profile, {}, { groupOf: byProcess })), "all 10 (app (10) 6 (main 6 (f 6)), db (20) 4 (main 4 (f 4)))");
  const byThread = profile.threads.map((thread) => thread.label);
  assert.match(drawn(profile, treeOf(profile, {}, { groupOf: byThread })), /^all 10 \(db \(20\) 4 .*, worker-2 \(12\) 3 .*, app \(10\) 1/);
});

test("threads are filtered by patterns of names and numbers", () => {
  const profile = profileOf(BY_THREAD);
  const total = (threads) => treeOf(profile, { threads }).total[0];
  assert.equal(total("worker-*"), 5);
  assert.equal(total("WORKER-?"), 5);
  assert.equal(total("12"), 3);
  assert.equal(total("db, worker-1"), 6);
  assert.equal(total("app"), 6);
  assert.equal(total("work"), 0);
  assert.equal(total("a.p"), 0);
  assert.ok(threadMatcher(" , ")(THREADS[0]));
});

test("a range of time counts what was sampled in it", () => {
  const profile = profileOf(BY_THREAD);
  assert.equal(treeOf(profile, { range: [0, 100] }).total[0], 4);
  assert.equal(treeOf(profile, { range: [100, 1000] }).total[0], 6);
  assert.equal(treeOf(profile, { range: [100, 1000], threads: "db" }).total[0], 3);
  assert.equal(treeOf(profile, { range: [500, 600] }).total[0], 0);
});

test("of thinned moments each stands for several", () => {
  const profile = profileOf({ each: 10, samples: [{ stack: ["a"], samples: 20, times: [[0, 0], [900, 0]] }] });
  assert.equal(treeOf(profile, { range: [0, 500] }).total[0], 10);
  assert.equal(treeOf(profile, { range: [0, 500], bySamples: false }).total[0], 10000);
});

test("the histogram has every moment once", () => {
  const profile = profileOf(BY_THREAD);
  const counts = histogram(profile, 4, 10, profile.moments.cell, profile.cells.thread);
  assert.deepEqual([0, 1, 2, 3].map((row) => counts.slice(row * 10, row * 10 + 10).reduce((a, b) => a + b)), [1, 2, 3, 4]);
  assert.equal(counts[30 + 3], 1);
});

test("lanes are threads, the busiest first, or CPUs in order", () => {
  const profile = profileOf(BY_THREAD);
  assert.deepEqual(lanesOf(profile, false).lanes.map(({ name }) => name), ["db", "worker-2", "worker-1", "app"]);
  assert.deepEqual(lanesOf(profile, true).lanes.map(({ name, share }) => [name, share]), [["CPU 0", 0.4], ["CPU 1", 0.6]]);
});

test("inverted: leaves first, with those that call them", () => {
  const profile = profileOf(SHOP);
  assert.equal(drawn(profile, inverted(treeOf(profile))),
    "all 10 (read 4 (next* 4 (serve 4 (main 4))), next* 3 (serve 3 (main 3)), log 2 (main 2), start 1)");
});

const RECURSIVE = [
  { stack: ["main", "a", "f", "f", "g"], samples: 4 },
  { stack: ["main", "b", "f"], samples: 3 },
  { stack: ["main", "b"], samples: 2 },
];

test("callers and callees of a function count each of its samples once", () => {
  const profile = profileOf(RECURSIVE);
  const tree = treeOf(profile);
  const f = profile.labels.name.indexOf("f");
  assert.equal(drawn(profile, callersOf(tree, f)), "f 7 (a 4 (main 4), b 3 (main 3))");
  assert.equal(drawn(profile, calleesOf(tree, f)), "f 7 (f 4 (g 4))");
});

test("the function table counts a recursive function once a sample", () => {
  const profile = profileOf(RECURSIVE);
  const rows = functionTable(treeOf(profile), profile.labels).map(({ label, self, total }) => [profile.labels.name[label], self, total]);
  assert.deepEqual(rows, [["g", 4, 4], ["f", 3, 7], ["b", 2, 5], ["main", 0, 9], ["a", 0, 4]]);
});

test("a search counts a sample once, however many of its functions match", () => {
  const profile = profileOf(RECURSIVE);
  const tree = treeOf(profile);
  const weightOf = (text) => matchSum(tree, search(profile.labels.name, text).matches).weight;
  assert.equal(weightOf("^[fg]$"), 7);
  assert.equal(weightOf("a"), 9);
  assert.equal(weightOf("nowhere"), 0);
  assert.equal(weightOf("MAIN"), 0);
  assert.equal(matchingNodes(tree, search(profile.labels.name, "^f$").matches).length, 3);
});

test("samples that match can be looked at alone, or left out", () => {
  const profile = profileOf(RECURSIVE);
  const { matches } = search(profile.labels.name, "^f$");
  assert.equal(treeOf(profile, { cells: matchingCells(profile, matches) }).total[0], 7);
  assert.equal(treeOf(profile, { cells: matchingCells(profile, matches, true) }).total[0], 2);
});

test("what is no regular expression is searched as text", () => {
  const profile = profileOf([{ stack: ["operator()(int"], samples: 2 }, { stack: ["x"] }]);
  const { matches, isText } = search(profile.labels.name, "()(");
  assert.deepEqual([matchSum(treeOf(profile), matches).weight, isText], [2, true]);
});

test("source lines of a function, each once a sample", () => {
  const profile = profileOf([{ stack: ["main:3", "f:10", "f:12", "g:1"], samples: 4 }, { stack: ["main:4", "f:10"], samples: 3 },
    { stack: ["main:3", "f:10", "f:10"], samples: 1 }]);
  const lines = (name) => sourceLines(profile, cellWeights(profile, ALL), profile.labels.name.indexOf(name))
    .map(({ line, self, total }) => [line, self, total]);
  assert.deepEqual(lines("f"), [[10, 4, 8], [12, 0, 4]]);
  assert.deepEqual(lines("main"), [[3, 0, 5], [4, 0, 3]]);
});

test("a comparison has the weight before on the same tree, also of what is gone", () => {
  const profile = profileOf({ info: { compares: true }, events: [{ name: "after" }, { name: "before" }], samples: [
    { stack: ["main", "f"], samples: 6 }, { stack: ["main", "f"], event: 1, samples: 2 }, { stack: ["main", "new"], samples: 2 },
    { stack: ["main", "gone"], event: 1, samples: 2 }] });
  const base = cellWeights(profile, { ...ALL, event: 1 });
  const tree = treeOf(profile, {}, { base });
  const changes = (some) => Object.fromEntries(Array.from({ length: some.count }, (_, node) =>
    [standsForAll(some, node) ? "all" : profile.labels.name[labelOf(some, node)], change(some, node, tree)]));
  assert.deepEqual(changes(tree), { all: 0, main: 0, f: 0.25, new: 0.25, gone: -0.5 });
  assert.deepEqual(changes(callersOf(tree, profile.labels.name.indexOf("gone"))), { gone: -0.5, main: -0.5 });
  assert.deepEqual(changes(calleesOf(tree, profile.labels.name.indexOf("f"))), { f: 0.25 });
  assert.equal(inverted(tree).base[0], 4);
  assert.equal(functionTable(tree, profile.labels).find(({ label }) => profile.labels.name[label] === "gone").base, 2);
  assert.deepEqual([0.25, -0.5, 0.0001].map(points), ["▲ 25", "▼ 50", "="]);
});

test("the text of source lines is there where it was asked for", () => {
  const samples = [{ stack: ["main:3"] }];
  const labels = { main: { file: "main.c" } };
  const profile = profileOf({ samples, labels, sources: { "main.c": { 3: "\treturn work();" } } });
  assert.equal(profile.sources.get(profile.labels.file[0]).get(3), "\treturn work();");
  assert.equal(profileOf({ samples, labels }).sources.size, 0);
});

test("random profiles: every tree has all the weight, and the table agrees with a count by hand", () => {
  let seed = 1;
  const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 30; round++) {
    const samples = Array.from({ length: 40 }, () =>
      ({ stack: Array.from({ length: random(6) }, () => "abcdef"[random(6)] + (random(3) ? "" : `>${"abc"[random(3)]}`)), samples: 1 + random(9) }));
    const profile = profileOf(samples);
    const tree = treeOf(profile);
    const whole = samples.reduce((sum, sample) => sum + sample.samples, 0);
    assert.equal(tree.total[0], whole);
    assert.equal(treeOf(profile, {}, { folds: true }).total[0], whole);
    assert.equal(inverted(tree).total[0] + tree.self[0], whole);
    for (const { label, self, total } of functionTable(tree, profile.labels)) {
      const name = profile.labels.name[label];
      const functions = samples.map(({ stack, samples: count }) => ({ path: stack.flatMap((frame) => frame.split(">")), count }));
      const sum = (matches) => functions.filter(({ path }) => matches(path)).reduce((all, { count }) => all + count, 0);
      assert.equal(total, sum((path) => path.includes(name)));
      assert.equal(self, sum((path) => path.at(-1) === name));
      assert.equal(callersOf(tree, label).total[0], total);
      assert.equal(calleesOf(tree, label).total[0], total);
    }
  }
});

test("boxes too narrow to draw are one rest, and counted", () => {
  const samples = [{ stack: ["wide"], samples: 9000 }, ...Array.from({ length: 1000 }, (_, i) => ({ stack: [`n${i}`, "leaf"] }))];
  const tree = treeOf(profileOf(samples));
  const boxes = layout(tree, 0, tree.total[0], 100);
  assert.equal(boxes.hidden, 2000);
  assert.deepEqual(boxes.node.map((node) => Math.sign(node)), [0, 1, -1]);
  assert.deepEqual(boxes.x, [0, 0, 90]);
  assert.equal(boxes.width[2], 10);
  assert.equal(boxAt(boxes, 50, 1), 1);
  assert.equal(boxAt(boxes, 95, 1), 2);
  assert.equal(boxAt(boxes, 50, 2), -1);
});

test("what is too narrow is zoomed into as a whole, and the address keeps it", () => {
  const tree = treeOf(profileOf([{ stack: ["wide"], samples: 900 }, ...Array.from({ length: 100 }, (_, i) => ({ stack: [`n${i}`] }))]));
  const first = -layout(tree, 0, 1000, 100).node[2];
  assert.deepEqual(restRange(tree, first), [900, 1000]);
  assert.equal(layout(tree, ...restRange(tree, first), 1000).node.length, 101);
  assert.deepEqual(zoomIn(tree, zoomOf(tree, { node: 0, first })), { node: 0, first });
});

test("a zoomed node and its callers have the whole width", () => {
  const tree = treeOf(profileOf(SHOP));
  const log = nodeAt(tree, pathOf(tree, childrenOf(tree, 1)[1]));
  const boxes = layout(tree, tree.start[log], tree.start[log] + tree.total[log], 100);
  assert.deepEqual(boxes.node, [0, 1, log]);
  assert.deepEqual(boxes.width, [100, 100, 100]);
});

test("a path leads back to its node, or as far as there is one", () => {
  const tree = treeOf(profileOf(SHOP));
  for (let i = 0; i < tree.count; i++) assert.equal(nodeAt(tree, pathOf(tree, i)), i);
  assert.equal(nodeAt(tree, [...pathOf(tree, 2), 999999]), 2);
});

test("the state survives the address, and rubbish in it does no harm", () => {
  const state = { ...DEFAULTS, q: "a&b=#%", zoom: "2.4.7", from: 5, to: 10, fn: 3, view: "calls", threads: "w*" };
  assert.deepEqual(fromHash(`#${toHash(state)}`), state);
  assert.equal(toHash(DEFAULTS), "");
  assert.deepEqual(fromHash("#from=x&fn=1e9&view=nowhere&event=-1&__proto__=1&%%%"), DEFAULTS);
  assert.deepEqual(zoomIn(treeOf(profileOf(SHOP)), "0.4..x.-9"), { node: 1, first: 0 });
});

test("folded stacks of a view have its weight, and the callers of what is zoomed into", () => {
  const profile = profileOf(SHOP);
  const tree = treeOf(profile);
  const name = (label) => profile.labels.name[label];
  assert.equal(folded(tree, 0, name), "main;log 2\nmain;serve;next 3\nmain;serve;next;read 4\nstart 1\n");
  assert.equal(folded(tree, 2, name), "main;serve;next 3\nmain;serve;next;read 4\n");
});

test("functions are hidden, inlined ones merged, stacks begun where it is asked for", () => {
  const profile = profileOf([{ stack: ["main", "a>b", "c"], samples: 2 }, { stack: ["main", "d", "c"], samples: 1 }]);
  const label = (name) => profile.labels.name.indexOf(name);
  const hides = Uint8Array.from(profile.labels.name, (name) => (name === "a" || name === "d" ? 1 : 0));
  assert.equal(drawn(profile, treeOf(profile, {}, { hides })), "all 3 (main 3 (b* 2 (c 2), c 1))");
  assert.equal(drawn(profile, treeOf(profile, {}, { physical: true })), "all 3 (main 3 (a 2 (c 2), d 1 (c 1)))");
  assert.equal(drawn(profile, treeOf(profile, {}, { from: label("a") })), "all 3 (a 2 (b* 2 (c 2)))");
});

// Each node with its part of the axis.
function placesOf(profile, tree) {
  return Array.from({ length: tree.count }, (_, i) => `${"  ".repeat(tree.depth[i])}${i ? profile.labels.name[labelOf(tree, i)] : "all"} ` +
    `${tree.start[i]}–${tree.start[i] + tree.total[i]}`);
}

test("in the order of time a call goes on as long as samples tell, thread by thread", () => {
  const threads = [{ pid: 1, tid: 1, process: "app", name: "one" }, { pid: 1, tid: 2, process: "app", name: "two" }];
  const profile = profileOf({ threads, samples: [
    { stack: ["main", "a"], samples: 3, times: [[10, 0], [20, 0], [60, 0]] }, { stack: ["main", "b"], samples: 2, times: [[30, 0], [50, 0]] },
    { stack: ["main", "b", "c"], samples: 1, times: [[40, 0]] }, { stack: ["main"], thread: 1, samples: 1, times: [[35, 1]] }] });
  const weights = cellWeights(profile, ALL);
  const tree = timeTree(profile, weights, { range: null });
  assert.deepEqual(placesOf(profile, tree), ["all 0–7", "  one (1) 0–6", "    main 0–6", "      a 0–2", "      b 2–5", "        c 3–4", "      a 5–6",
    "  two (2) 6–7", "    main 6–7"]);
  assert.deepEqual([tree.begins[4], tree.ends[4], tree.end[4], tree.self[4]], [30, 50, 6, 2]);
  assert.deepEqual(placesOf(profile, timeTree(profile, weights, { range: [30, 50] })).slice(1),
    ["  one (1) 0–2", "    main 0–2", "      b 0–2", "        c 1–2", "  two (2) 2–3", "    main 2–3"]);
  assert.deepEqual(placesOf(profile, timeTree(profile, weights, { range: [0, 100], from: profile.labels.name.indexOf("b") })).slice(1, 4),
    ["  one (1) 0–6", "    b 2–5", "      c 3–4"]);
  assert.deepEqual(zoomIn(tree, zoomOf(tree, { node: 6 })), { node: 6, first: 0 });
  assert.deepEqual([zoomIn(tree, "@99"), zoomIn(treeOf(profile), "@1")].map(({ node }) => node), [0, 0]);
});

test("where samples in the order of time are narrow, each column of pixels shows the stack at its middle", () => {
  const times = (first) => Array.from({ length: 500 }, (_, i) => [first + 2 * i, 0]);
  const profile = profileOf([{ stack: ["main", "a"], samples: 500, times: times(0) }, { stack: ["main", "b", "c"], samples: 500, times: times(1) }]);
  const tree = timeTree(profile, cellWeights(profile, ALL), { range: null });
  const boxes = layout(tree, 0, 1000, 100);
  const row = boxes.x.filter((_, i) => boxes.depth[i] === 3);
  assert.deepEqual(row, Array.from({ length: 100 }, (_, i) => i));
  assert.equal(boxes.hidden + boxes.node.length, tree.count);
  assert.equal(layout(tree, 0, 10, 100).node.length, 3 + 10 + 5);
});

test("what is done with functions is kept in the address, once each, and what is no function left out", () => {
  const steps = [{ kind: "only", label: 3 }, { kind: "from", label: 1 }];
  assert.deepEqual(stepsOf(stepsText(steps), 4), steps);
  assert.deepEqual(stepsOf("only-9,without-2,burn-1,hide-x,,hide--1", 4), [{ kind: "without", label: 2 }]);
  assert.equal(stepsText(withStep(withStep(steps, { kind: "from", label: 2 }), { kind: "only", label: 3 })), "from-2,only-3");
  assert.deepEqual(["5-9", "9-5", "x", ""].map(spanOf), [[5, 9], null, null, null]);
});

test("an SVG has every name escaped", () => {
  const text = svg([{ x: 0, y: 0, width: 100, fill: "red", text: "<b>&\"", title: "]]><script>" }],
    { width: 100, height: 20, row: 20, ground: "white", ink: "black", title: "<" });
  assert.doesNotMatch(text, /<b>|<script|&"/);
  assert.match(text, /&#60;b&#62;&#38;&#34;/);
});

test("names are shortened to what tells most", () => {
  const names = {
    main: "main",
    "core::iter::traits::iterator::Iterator::fold": "Iterator::fold",
    "alloc::vec::Vec<T,A>::push": "Vec::push",
    "<alloc::vec::Vec<T> as core::iter::traits::collect::Extend<U>>::extend": "Vec::extend",
    "shop::serve::{closure#0}": "serve::{closure#0}",
    "std::vector<std::pair<int, int>, std::allocator<int> >::push_back(std::pair<int, int>&&)": "vector::push_back",
    "void geometry::sum<int, long>(int, long)": "geometry::sum",
    "geometry::Circle::area() const": "Circle::area",
    "std::basic_ostream<char>& std::operator<< <char>(std::basic_ostream<char>&, char const*)": "std::operator<<",
    "operator new(unsigned long)": "operator new",
    "main::{lambda()#1}::operator()() const": "main::{lambda#1}::operator()",
    "std::function<void (int)>::operator()(int) const": "function::operator()",
    "[libfoo.so+0x1a2b]": "[libfoo.so+0x1a2b]",
    "runtime/pprof.Do": "runtime/pprof.Do",
    "regexp.(*Regexp).doExecute": "regexp.(*Regexp).doExecute",
    "net/http.(*conn).serve": "http.(*conn).serve",
    "slices.partitionOrdered[go.shape.[]int]": "slices.partitionOrdered",
    "sync.(*Map[go.shape.string,go.shape.int]).Load": "sync.(*Map).Load",
    "LazyCompile:~tick shop.js:12": "LazyCompile:~tick shop.js:12",
    "py::f:/srv/app.py": "py::f:/srv/app.py",
    "<module>": "<module>",
    "_ZN3foo": "_ZN3foo",
    "do_syscall_64": "do_syscall_64",
    "(anonymous namespace)::f(int)": "f",
    "v8::internal::(anonymous namespace)::Invoke(v8::Isolate*, v8::(anonymous namespace)::Params const&)": "internal::Invoke",
    "<core::option::Option<&u8>>::map::<bool, <std::path::PathBuf>::_push::{closure#0}>": "Option::map",
    "<*const u8>::copy_to": "u8::copy_to",
    "<(A,B) as args::FromArgs>::from_args": "_::from_args",
    "<&mut F as core::ops::FnOnce<A>>::call_once": "F::call_once",
    "std::thread::spawn::{{closure}}::{{closure}}": "spawn::{{closure}}",
    "foo(int) [clone .isra.0]": "foo",
    "": "",
  };
  for (const [name, short] of Object.entries(names)) assert.equal(shortName(name), short, name);
  assert.equal(shortName("<".repeat(65536)).length, 65536);
});

// WCAG 2.2, 1.4.3: 4.5 to 1.
function luminance([red, green, blue]) {
  const linear = [red, green, blue].map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

const ofHex = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16) / 255);

test("names can be read on every box, light and dark", () => {
  const css = readFileSync(new URL("../../lib/format/html/page.css", import.meta.url), "utf8");
  const [lightInk, darkInk] = [...css.matchAll(/--box-ink: (#\w{6})/g)].map((found) => luminance(ofHex(found[1])));
  const kinds = [0, 1, 3, 4, 6].map((kind, i) => ({ path: `/m${i}`, kind }));
  const labels = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f${i}`, { module: i % kinds.length }]));
  const profile = profileOf({ modules: kinds, labels, samples: Object.keys(labels).map((name) => ({ stack: [name, `main>${name}`] })) });
  for (const isDark of [false, true])
    for (const by of ["kind", "module"]) {
      const modules = kinds.map((_, id) => ({ id }));
      const colours = colouring(profile, { by, isDark, modules });
      const ink = isDark ? darkInk : lightInk;
      for (let code = 0; code < profile.labels.name.length * 2; code++) {
        const ground = luminance(ofHex(colours.of(code)));
        const contrast = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
        assert.ok(contrast >= 4.5, `${colours.of(code)}: ${contrast}`);
      }
    }
  const changed = { count: 21, total: Float64Array.from({ length: 21 }, (_, i) => 90 + i), base: new Float64Array(21).fill(100) };
  const whole = { total: [100], base: [100] };
  for (const isDark of [false, true])
    for (let node = 0; node < changed.count; node++) {
      const ground = luminance(ofHex(colouring(profile, { by: "change", isDark, whole }).of(0, changed, node)));
      const ink = isDark ? darkInk : lightInk;
      assert.ok((Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05) >= 4.5);
    }
});

test("what would turn or hide text is shown", () => {
  assert.equal(shown("a\u0000b\nc\u202ed\u007f"), "a␀b␊c\ufffdd␡");
  assert.equal(shown("été 函数"), "été 函数");
});

test("figures are written shortly", () => {
  assert.deepEqual([percent(0, 10), percent(1, 3), percent(1, 1e6), percent(1, 11), percent(1, 0)], ["0%", "33.3%", "<0.01%", "9.09%", "0%"]);
  assert.deepEqual([time(0), time(999.6e6), time(1234567), time(5e12)], ["0 ns", "1 s", "1.23 ms", "5,000 s"]);
});

test("data is unpacked from base64 and gzip; what is cut off is an error", async () => {
  const bytes = encode({ samples: SHOP });
  assert.deepEqual(await unpack(`\n${gzipSync(bytes).toString("base64")}\n`), bytes);
  assert.throws(() => decode(bytes.subarray(0, bytes.length - 4)), /cut off/);
});
