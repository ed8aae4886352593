// Tests of the page's computations. They need no browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { gzipSync } from "node:zlib";

import { branchEvents } from "../page/branches.js";
import { durationWords, fieldsOf, rangeWords, ticksOf, timeOfField } from "../page/clock.js";
import { changeShades, colouring, heatRamp, stateColour } from "../page/colours.js";
import { parallelismIn, parallelismSums, parallelismWords } from "../page/elapsed.js";
import { folded, svg } from "../page/export.js";
import { functionTable, matchingSamples, matchingNodes, matchSum, neighbours, reasonsOf, samplesOfKinds, search, sourceLines }
  from "../page/functions.js";
import { cellAt, cellsOf, gridOf, heatOf, rangeOf } from "../page/heat.js";
import { boxAt, layout, restRange } from "../page/layout.js";
import { logicalOf } from "../page/logical.js";
import { timeTree } from "../page/order.js";
import { bytesAt, liveByBin, liveSteps, peakWithin } from "../page/memory.js";
import { decode, unpack } from "../page/reader.js";
import { STATES, stateOf } from "../page/reasons.js";
import { DEFAULTS, fromHash, spanOf, stepsOf, stepsText, toHash, withStep, zoomIn, zoomOf } from "../page/state.js";
import { cpuLanes, patternOf, threadLanes } from "../page/lanes.js";
import { functionsOf, livesOf, stateAt, stateCounts } from "../page/states.js";
import { callTree, calleesOf, callersOf, change, childrenOf, inverted, isInlined, labelOf, lastShared, nodeAt, pathOf, placesBelow, rowOf, sharedWords, shownChildren, shownParent, standsForAll, startOf,
  widthOf }
  from "../page/tree.js";
import { View } from "../page/view.js";
import { sampleWeights, histogram, threadMatcher, wholeWeights } from "../page/weights.js";
import { nameParts, pathEnd, percent, shown, time } from "../page/words.js";
import { encode } from "./encode.mjs";

const ALL = { event: 0, bySamples: true, threads: "", range: null };

const profileOf = (parts) => decode(encode(Array.isArray(parts) ? { samples: parts } : parts));

function treeOf(profile, view = {}, options = {}) {
  return callTree(profile, sampleWeights(profile, { ...ALL, ...view }), options);
}

const byWeight = (a, b) => b.self - a.self || b.total - a.total;

// Returns the tree as text with weights, "main(f(g*))". * marks inlined calls.
function drawn(profile, tree, node = 0) {
  const name = standsForAll(tree, node) ? "all" : profile.labels.name[labelOf(tree, node)] + (isInlined(tree, node) ? "*" : "");
  const children = childrenOf(tree, node).map((child) => drawn(profile, tree, child));
  return `${name} ${tree.total(node)}${children.length ? ` (${children.join(", ")})` : ""}`;
}

const SHOP = [
  { stack: ["main", "serve>next:310", "read"], samples: 4 },
  { stack: ["main", "serve>next:312"], samples: 3 },
  { stack: ["main", "log"], samples: 2 },
  { stack: ["start"], samples: 1 },
];

test("equal stacks are one path, and the heaviest callee is first", () => {
  const profile = profileOf(SHOP);
  assert.equal(drawn(profile, treeOf(profile)), "all 10 (main 9 (serve 7 (next* 7 (read 4)), log 2), start 1)");
});

test("what was not sampled is last, and a band of the picture of all", () => {
  const modules = [{ path: "/bin/app", kind: 0 }, { path: "", kind: 6 }];
  const labels = { "[kernel]": { module: 1 }, "[not sampled]": { module: 1 } };
  const profile = profileOf({ samples: [...SHOP, { stack: ["[kernel]"], samples: 40 }, { stack: ["[not sampled]"], samples: 50 }], modules, labels });
  const tree = treeOf(profile);
  assert.equal(drawn(profile, tree), "all 100 (main 9 (serve 7 (next* 7 (read 4)), log 2), start 1, [not sampled] 50, [kernel] 40)");
  assert.ok(widthOf(tree, 0) > 10 && widthOf(tree, 0) < 11);
  assert.equal(placesBelow(tree, 0)[0].width, 9);
  assert.deepEqual(childrenOf(inverted(tree), 0).slice(-2).map((node) => inverted(tree).total(node)), [50, 40]);
});

test("without time that was not sampled a picture of all has all, also a function that is called so", () => {
  const profile = profileOf([...SHOP, { stack: ["[kernel]"], samples: 90 }]);
  const tree = treeOf(profile);
  assert.match(drawn(profile, tree), /^all 100 \(\[kernel\] 90, main 9/);
  assert.equal(widthOf(tree, 0), 100);
});

test("nodes are in preorder, with end, start and depth", () => {
  const tree = treeOf(profileOf(SHOP));
  for (let i = 1; i < tree.count; i++) {
    const parent = tree.parent[i];
    assert.ok(parent < i && i < tree.end[parent] && tree.end[i] <= tree.end[parent]);
    assert.equal(tree.depth[i], tree.depth[parent] + 1);
    assert.ok(startOf(tree, i) >= startOf(tree, parent));
    assert.ok(startOf(tree, i) + tree.total(i) <= startOf(tree, parent) + tree.total(parent));
  }
  assert.equal(tree.maxDepth, 4);
});

test("weights are sums of periods or numbers of samples", () => {
  const profile = profileOf([{ stack: ["a"], samples: 2, weight: 5000 }, { stack: ["b"], samples: 3, weight: 10 }]);
  assert.equal(treeOf(profile, { bySamples: false }).total(0), 5010);
  assert.equal(treeOf(profile).total(0), 5);
});

test("numbers of any size are read back", () => {
  const weight = 2 ** 50;
  const profile = profileOf([{ stack: ["a"], samples: 1, weight }, { stack: ["b"], samples: 2 ** 40, weight: 0 }]);
  assert.deepEqual([...profile.samples.weight], [weight, 0]);
  assert.deepEqual([...profile.samples.samples], [1, 2 ** 40]);
});

test("events are kept apart", () => {
  const profile = profileOf({ events: [{ name: "cycles" }, { name: "faults" }],
    samples: [{ stack: ["a"], samples: 5 }, { stack: ["b"], event: 1, samples: 2 }] });
  assert.equal(drawn(profile, treeOf(profile)), "all 5 (a 5)");
  assert.equal(drawn(profile, treeOf(profile, { event: 1 })), "all 2 (b 2)");
});

test("recursion is folded on request, also if other functions are in between", () => {
  const profile = profileOf([{ stack: ["main", "f", "f", "g", "f", "h"], samples: 3 }, { stack: ["main", "f", "g"], samples: 1 }]);
  assert.equal(drawn(profile, treeOf(profile, {}, { folds: true })), "all 4 (main 4 (f 4 (h 3, g 1)))");
  assert.equal(drawn(profile, treeOf(profile)), "all 4 (main 4 (f 4 (f 3 (g 3 (f 3 (h 3))), g 1)))");
});

const FATES = { work: 1, address: 2, adaptor: 3, entry: 4, scheduler: 5, fixed: 6 };
// Returns the labels of names that start with these words. All other names belong to the program.
const fatesOf = (...names) => Object.fromEntries(names.map((name) => {
  const [word] = name.split(" ");
  const runtime = { entry: "[libc runtime]", scheduler: "[tokio runtime]" }[word];
  return [name, { fate: FATES[word], runtime }];
}));
const LABELS = fatesOf("entry start", "scheduler run", "adaptor call", "work malloc", "fixed irq");
const logical = (...stacks) => {
  const profile = logicalOf(profileOf({ labels: LABELS, samples: stacks.map((stack) => ({ stack })) }));
  return drawn(profile, treeOf(profile));
};

test("the logical view folds glue into what it leads to, and adaptors at a leaf into their caller", () => {
  assert.equal(logical(["entry start", "scheduler run>adaptor call", "handler>adaptor call>query", "adaptor call"]), "all 1 (handler 1 (query* 1))");
  assert.equal(logical(["handler", "adaptor call", "work malloc"]), "all 1 (handler 1 (work malloc 1))");
  assert.equal(logical(["adaptor call"]), "all 1 (adaptor call 1)");
});

test("a scheduler without the program is one row of its runtime, above the kernel", () => {
  assert.equal(logical(["entry start", "scheduler run", "work malloc"]), "all 1 ([tokio runtime] 1)");
  assert.equal(logical(["handler", "scheduler run", "work malloc", "fixed irq"]), "all 1 (handler 1 ([tokio runtime] 1 (fixed irq 1)))");
  assert.equal(logical(["entry start"], ["entry start", "handler"]), "all 2 (handler 1, [libc runtime] 1)");
});

test("nodes of the logical view know how many calls were folded before them", () => {
  const profile = logicalOf(profileOf({ labels: LABELS, samples: [{ stack: ["entry start", "scheduler run", "handler"] }, { stack: ["scheduler run", "handler"] }] }));
  const tree = treeOf(profile);
  assert.equal(tree.folded[1], 2);
  assert.equal(profile.samples.weight.length, 2);
});

const THREADS = [
  { pid: 10, tid: 10, process: "app", name: "app" },
  { pid: 10, tid: 11, process: "app", name: "worker-1" },
  { pid: 10, tid: 12, process: "app", name: "worker-2" },
  { pid: 20, tid: 20, process: "db", name: "" },
];
const BY_THREAD = { threads: THREADS, samples: [0, 1, 2, 3].map((thread) =>
  ({ stack: ["main", "f"], thread, samples: thread + 1, times: Array.from({ length: thread + 1 }, (_, i) => [i * 100, thread % 2]) })) };

test("processes and threads can be a level of the tree", () => {
  const profile = profileOf(BY_THREAD);
  const byProcess = profile.sets.map(({ processLabel }) => processLabel);
  assert.equal(drawn(profile, treeOf(profile, {}, { groupOf: byProcess })), "all 10 (app (10) 6 (main 6 (f 6)), db (20) 4 (main 4 (f 4)))");
  const byThread = profile.sets.map(({ label }) => label);
  assert.match(drawn(profile, treeOf(profile, {}, { groupOf: byThread })), /^all 10 \(db \(20\) 4 .*, worker-2 \(12\) 3 .*, app \(10\) 1/);
});

test("threads are filtered by patterns of names and numbers", () => {
  const profile = profileOf(BY_THREAD);
  const total = (threads) => treeOf(profile, { threads }).total(0);
  assert.equal(total("worker-*"), 5);
  assert.equal(total("WORKER-?"), 5);
  assert.equal(total("12"), 3);
  assert.equal(total("db, worker-1"), 6);
  assert.equal(total("app"), 6);
  assert.equal(total("work"), 0);
  assert.equal(total("a.p"), 0);
  assert.ok(threadMatcher(" , ")(THREADS[0]));
});

const TAGGED = { samples: [
  { stack: ["main", "f"], samples: 1 },
  { stack: ["main", "f"], tags: [["request", "checkout"]], samples: 2 },
  { stack: ["main", "g"], tags: [["request", "abandon"], ["request", "checkout"], ["bytes", "8 KiB"]], samples: 4 }] };

test("tags are filtered by patterns, and can be a level of the tree", () => {
  const profile = profileOf(TAGGED);
  const total = (threads) => treeOf(profile, { threads }).total(0);
  assert.equal(total("request=check*"), 6);
  assert.equal(total("request=abandon"), 4);
  assert.equal(total("bytes=*, nothing"), 4);
  assert.equal(total("app"), 7);
  assert.deepEqual(profile.keys, ["bytes", "request"]);
  const groupOf = profile.sets.map(({ groups }) => groups.get("request"));
  assert.equal(drawn(profile, treeOf(profile, {}, { groupOf })),
    "all 7 (abandon, checkout 4 (main 4 (g 4)), checkout 2 (main 2 (f 2)), (none) 1 (main 1 (f 1)))");
});

test("a tag that is called process does not take the place of the process", () => {
  const view = new View(profileOf({ samples: [{ stack: ["main"], tags: [["process", "checkout"]], samples: 1 }] }));
  const groups = (group) => {
    view.state = { ...DEFAULTS, group };
    return view.groupOf().map((label) => view.full[label]);
  };
  assert.deepEqual(groups("label:process"), ["(none)", "checkout"]);
  assert.deepEqual(groups("process"), ["app (1)", "app (1)"]);
});

test("many processes of few names are one group for each name, unless asked for", () => {
  const processes = (...names) => names.map((process, i) => ({ pid: i + 1, tid: i + 1, process, name: process }));
  const view = (...names) => new View(profileOf({ threads: processes(...names),
    samples: names.map((_, thread) => ({ stack: ["main"], thread, samples: 1 })) }));
  const groups = (of, state) => {
    of.state = { ...DEFAULTS, ...state };
    return [...new Set(of.groupOf()?.map((label) => of.full[label]))];
  };
  const script = view("sh", "ls", "sed", "ls", "sed", "ls", "sed");
  assert.deepEqual(groups(script, {}), ["sh", "ls", "sed"]);
  assert.deepEqual(groups(script, { group: "process" }).slice(0, 2), ["sh (1)", "ls (2)"]);
  assert.deepEqual(groups(view("sh", "ls"), {}), ["sh (1)", "ls (2)"]);
  assert.deepEqual(groups(view("sh", "ls"), fromHash("group=name")), ["sh", "ls"]);
  assert.deepEqual(groups(view("sh"), {}), []);
});

test("samples of a thread with different tags are in one lane", () => {
  const profile = profileOf({ samples: TAGGED.samples.map((sample, i) => ({ ...sample, times: [[i, 0]] })) });
  assert.deepEqual(threadLanes(profile, { event: 0 }).lanes.map(({ name, share }) => [name, share]), [["app", 1]]);
});

// A main thread, a worker that is renamed, and brief threads of one name.
const BRIEF = { info: { durationUs: 10000 }, threads: [{ pid: 1, tid: 1, process: "app", name: "app" }, { pid: 1, tid: 2, process: "app", name: "app" },
  { pid: 1, tid: 2, process: "app", name: "worker" }, ...[3, 4, 5, 7, 9].map((tid) => ({ pid: 1, tid, process: "app", name: "app" })),
  { pid: 1, tid: 8, process: "app", name: "other" }],
samples: [[0, 0, 9999], [1, 100], [2, 200, 8000], [3, 1000], [4, 2000, 2500], [5, 3000], [6, 4000], [7, 5000], [8, 4500]].map(([thread, ...times]) =>
  ({ stack: ["main", "f"], thread, samples: times.length, times: times.map((time) => [time, 0]) })) };

test("a renamed thread is one thread, with the name of most of its samples", () => {
  const profile = profileOf(BRIEF);
  assert.deepEqual(profile.threads.map(({ tid, name }) => [tid, name]), [[1, "app"], [2, "worker"], [3, "app"], [4, "app"], [5, "app"], [7, "app"], [9, "app"], [8, "other"]]);
  assert.equal(treeOf(profile, { threads: "2" }).total(0), 3);
  assert.equal(treeOf(profile, { threads: "worker" }).total(0), 2); // the time under this name
  const view = new View(profile);
  view.state = { ...DEFAULTS, group: "thread" };
  assert.equal(new Set(view.groupOf()).size, 8);
});

test("the brief threads of a name are one lane, and a click on a lane selects its threads and no others", () => {
  const profile = profileOf(BRIEF);
  const { lanes, threads } = threadLanes(profile, { event: 0 });
  assert.deepEqual(lanes.map(({ name, id, share }) => [name, id, share]), [["app × 5", "", 6 / 12], ["worker", "2", 3 / 12], ["app", "1", 2 / 12], ["other", "8", 1 / 12]]);
  assert.equal(threads, 8);
  assert.deepEqual(lanes.map((lane) => patternOf(lane.threads, profile)), ["3-7,9", "2", "1-1", "8"]);
  for (const lane of lanes) assert.equal(treeOf(profile, { threads: patternOf(lane.threads, profile) }).total(0), Math.round(lane.share * 12));
});

test("a lane without times in the span takes no room", () => {
  const profile = profileOf(BRIEF);
  assert.deepEqual(threadLanes(profile, { event: 0, span: [7000, 9000] }).lanes.map(({ name }) => name), ["worker", "app"]);
});

test("a name is split before the function's own name, and a long path keeps its end", () => {
  const parts = (name) => nameParts(name).join("|");
  assert.equal(parts("shop::ThreadPool::submit"), "shop::ThreadPool::|submit");
  assert.equal(parts("std::map<std::string, int>::operator[]"), "std::map<std::string, int>::|operator[]");
  assert.equal(parts("std::function<void (a::b)>::operator()(a::b)"), "std::function<void (a::b)>::|operator()(a::b)");
  assert.equal(parts("a::operator->"), "a::|operator->");
  assert.equal(parts("<u8 as core::SliceOrd>::compare"), "<u8 as core::SliceOrd>::|compare");
  assert.equal(parts("pure (batch.py:9)"), "|pure (batch.py:9)");
  assert.equal(pathEnd("/root/.cargo/registry/serde_json/src/read.rs:512"), "…/serde_json/src/read.rs:512");
  assert.equal(pathEnd("src/main.c:1"), "src/main.c:1");
});

test("a time range counts only its own samples", () => {
  const profile = profileOf(BY_THREAD);
  assert.equal(treeOf(profile, { range: [0, 100] }).total(0), 4);
  assert.equal(treeOf(profile, { range: [100, 1000] }).total(0), 6);
  assert.equal(treeOf(profile, { range: [100, 1000], threads: "db" }).total(0), 3);
  assert.equal(treeOf(profile, { range: [500, 600] }).total(0), 0);
});

test("each of the thinned timed samples counts several times", () => {
  const profile = profileOf({ each: 10, samples: [{ stack: ["a"], samples: 20, times: [[0, 0], [900, 0]] }] });
  assert.equal(treeOf(profile, { range: [0, 500] }).total(0), 10);
  assert.equal(treeOf(profile, { range: [0, 500], bySamples: false }).total(0), 10000);
});

test("the histogram counts every timed sample once", () => {
  const profile = profileOf(BY_THREAD);
  const counts = histogram(profile, 4, 10, profile.timedSamples.sample, profile.samples.thread);
  assert.deepEqual([0, 1, 2, 3].map((row) => counts.slice(row * 10, row * 10 + 10).reduce((a, b) => a + b)), [1, 2, 3, 4]);
  assert.equal(counts[30 + 3], 1);
});

test("lanes are threads, the busiest first, or CPUs by number", () => {
  const profile = profileOf(BY_THREAD);
  assert.deepEqual(threadLanes(profile, { event: 0 }).lanes.map(({ name }) => name), ["db", "worker-2", "worker-1", "app"]);
  assert.deepEqual(cpuLanes(profile, 0).lanes.map(({ name, share }) => [name, share]), [["CPU 0", 0.4], ["CPU 1", 0.6]]);
});

// Half of app's time is unsampled. worker has no samples at all.
const UNSAMPLED = {
  threads: ["app", "worker"].map((name, i) => ({ pid: 1, tid: i + 1, process: "app", name })),
  samples: [
    { stack: ["main", "read"], samples: 3, times: [[0, 0], [100, 0], [200, 1]] },
    { stack: ["main", "write"], samples: 1, times: [[900, 1]] },
    { stack: ["[kernel]"], samples: 0, weight: 4000 },
    { stack: ["[not sampled]"], thread: 1, samples: 0, weight: 2000 },
  ],
};

test("time that was not sampled lies in time where its thread was sampled", () => {
  const profile = profileOf(UNSAMPLED);
  const total = (range, threads = "") => treeOf(profile, { range, threads, bySamples: false }).total(0);
  assert.equal(total(null), 10000);
  assert.equal(total([0, 500]), 2 * 3000);
  assert.equal(total([500, 1000], "app"), 2 * 1000);
  assert.equal(total([300, 800]), 0);
  assert.equal(total([0, 1000], "worker"), 0);
});

test("the lanes of threads have the shares that rows of threads have", () => {
  const profile = profileOf(UNSAMPLED);
  const { sample, weight } = sampleWeights(profile, { ...ALL, bySamples: false });
  const { lanes } = threadLanes(profile, { event: 0 });
  for (const { threads, share } of lanes) {
    const row = sample.reduce((sum, id, i) => sum + (threads.includes(profile.samples.thread[id]) ? weight[i] : 0), 0);
    assert.equal(share, row / 10000);
  }
  assert.deepEqual(lanes.map(({ name, share }) => [name, share]), [["app", 0.8]]); // worker's lane would be empty
  assert.deepEqual(cpuLanes(profile, 0).lanes.map(({ share }) => share), [0.5, 0.5]);
});

test("the inverted tree has the leaves first, with their callers below", () => {
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

test("the function table counts a recursive function once per sample", () => {
  const profile = profileOf(RECURSIVE);
  const rows = functionTable(treeOf(profile), profile.labels).sort(byWeight).map(({ label, self, total }) => [profile.labels.name[label], self, total]);
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

test("a search can keep only the matching samples, or drop them", () => {
  const profile = profileOf(RECURSIVE);
  const { matches } = search(profile.labels.name, "^f$");
  assert.equal(treeOf(profile, { samples: matchingSamples(profile, matches) }).total(0), 7);
  assert.equal(treeOf(profile, { samples: matchingSamples(profile, matches, true) }).total(0), 2);
});

test("an invalid regular expression is searched as plain text", () => {
  const profile = profileOf([{ stack: ["operator()(int"], samples: 2 }, { stack: ["x"] }]);
  const { matches, isText } = search(profile.labels.name, "()(");
  assert.deepEqual([matchSum(treeOf(profile), matches).weight, isText], [2, true]);
});

const [SECOND, MINUTE, HOUR] = [1e6, 60e6, 3600e6];
process.env.TZ = "Asia/Kolkata"; // hours start there at half past in UTC
const DAY = { startMs: new Date(2026, 10, 24, 0, 20).getTime(), durationUs: 24 * HOUR };

test("the columns of a heat map are the clock's seconds, minutes, hours or days", () => {
  const shapes = [[0, 4 * MINUTE], [0, 2 * HOUR], [0, 24 * HOUR], [0, 900 * HOUR]].map((span) => gridOf(DAY, span))
    .map(({ columnUs, columns, rows }) => [columnUs / SECOND, columns, rows]);
  assert.deepEqual(shapes, [[1, 240, 20], [60, 120, 60], [3600, 25, 60], [86400, 38, 24]]);
  const grid = gridOf(DAY, [0, 24 * HOUR]);
  assert.equal(grid.start, -20 * MINUTE);
  assert.deepEqual(cellsOf(grid), [20, 24 * 60 + 19]);
  assert.equal(cellAt(grid, 40 * MINUTE), 60);
  assert.deepEqual(rangeOf(grid, 61, 60), [40 * MINUTE, 42 * MINUTE]);
  assert.deepEqual(rangeOf(grid, 0, 20), [0, MINUTE]);
});

test("the heat of a cell is the weight of its samples and its part of each wait", () => {
  const samples = [{ stack: ["f"], samples: 3, times: [[0, 0], [MINUTE, 0], [HOUR + SECOND, 1]] },
    { stack: ["g"], samples: 1, weight: 4, waits: [[58 * MINUTE, 62 * MINUTE, 4]] }];
  const profile = profileOf({ samples, info: { ...DAY, startMs: DAY.startMs - 20 * 60e3 } });
  const grid = gridOf(profile.info, [0, 24 * HOUR]);
  const heat = heatOf(profile, Float64Array.of(30, 4), grid);
  assert.deepEqual([0, 1, 2, 57, 58, 59, 60, 61, 62].map((cell) => Number(heat[cell].toPrecision(6))), [10, 10, 0, 0, 1, 1, 11, 1, 0]);
  assert.ok(Math.abs(heat.reduce((sum, weight) => sum + weight) - 34) < 1e-9);
});

test("hotter colours have more contrast to the ground in both themes", () => {
  const brightness = (fill) => [1, 3, 5].reduce((sum, at) => sum + parseInt(fill.slice(at, at + 2), 16), 0);
  for (const isDark of [false, true]) {
    const shades = heatRamp(isDark).slice(1).map((fill) => (isDark ? brightness(fill) : -brightness(fill)));
    assert.deepEqual(shades, shades.toSorted((a, b) => a - b));
  }
});

test("times of a long recording are those of the clock", () => {
  assert.deepEqual([24 * HOUR, 90 * MINUTE, 200 * SECOND, 12.5 * SECOND].map((durationUs) => durationWords({ durationUs })), ["24 h", "1 h 30 min", "3 min 20 s", "12.5 s"]);
  assert.equal(rangeWords(DAY, [0, 40 * MINUTE]), "2026-11-24 00:20 to 01:00");
  assert.equal(rangeWords(DAY, [SECOND, 24 * HOUR]), "2026-11-24 00:20:01 to 2026-11-25 00:20:00");
  assert.deepEqual(ticksOf(DAY, [0, 24 * HOUR], 600).map(({ text }) => text), ["06:00", "12:00", "18:00", "2026-11-25"]);
  assert.equal(ticksOf(DAY, [0, 24 * HOUR], 600)[0].us, 5 * HOUR + 40 * MINUTE);
  const fields = fieldsOf(DAY, [SECOND, 2 * MINUTE + 5e4]);
  assert.deepEqual(fields, ["2026-11-24T00:20:01", "2026-11-24T00:22:00.050"]);
  assert.deepEqual(fields.map((field) => timeOfField(DAY, field)), [SECOND, 2 * MINUTE + 5e4]);
});

test("times of a short recording, or of one without a date, are seconds", () => {
  for (const info of [{ ...DAY, durationUs: MINUTE }, { startMs: 0, durationUs: 24 * HOUR }]) {
    assert.equal(rangeWords(info, [0, 12.5 * SECOND]), "0 ns to 12.5 s");
    assert.deepEqual(ticksOf(info, [0, 4 * SECOND], 300).map(({ text }) => text), ["0 s", "2 s"]);
    assert.deepEqual(fieldsOf(info, null), ["", ""]);
    assert.equal(timeOfField(info, "12.5"), 12.5 * SECOND);
  }
});

test("a long recording is shown as a heat map unless threads or CPUs are asked for", () => {
  const lanes = (durationUs, lane = "") => {
    const view = new View(profileOf({ samples: [{ stack: ["f"], times: [[1, 0]] }], info: { durationUs } }));
    view.state = { ...DEFAULTS, lanes: lane };
    return view.lanesBy();
  };
  assert.deepEqual([lanes(MINUTE), lanes(HOUR), lanes(HOUR, "threads"), lanes(MINUTE, "heat")], ["threads", "heat", "threads", "heat"]);
  const waits = new View(profileOf({ samples: [{ stack: ["f"], waits: [[0, MINUTE, 9]] }], info: { durationUs: HOUR } }));
  waits.state = DEFAULTS;
  assert.equal(waits.lanesBy(), "threads");
});

test("each source line of a function counts once per sample", () => {
  const profile = profileOf([{ stack: ["main:3", "f:10", "f:12", "g:1"], samples: 4 }, { stack: ["main:4", "f:10"], samples: 3 },
    { stack: ["main:3", "f:10", "f:10"], samples: 1 }]);
  const lines = (name) => sourceLines(profile, sampleWeights(profile, ALL), profile.labels.name.indexOf(name))
    .map(({ line, self, total }) => [line, self, total]);
  assert.deepEqual(lines("f"), [[10, 4, 8], [12, 0, 4]]);
  assert.deepEqual(lines("main"), [[3, 0, 5], [4, 0, 3]]);
});

test("a comparison has the weights of both profiles on one tree, also of functions that are gone", () => {
  const profile = profileOf({ info: { compares: true }, events: [{ name: "after" }, { name: "before" }], samples: [
    { stack: ["main", "f"], samples: 6 }, { stack: ["main", "f"], event: 1, samples: 2 }, { stack: ["main", "new"], samples: 2 },
    { stack: ["main", "gone"], event: 1, samples: 2 }] });
  const base = sampleWeights(profile, { ...ALL, event: 1 });
  const tree = treeOf(profile, {}, { base });
  const changes = (some) => Object.fromEntries(Array.from({ length: some.count }, (_, node) =>
    [standsForAll(some, node) ? "all" : profile.labels.name[labelOf(some, node)], change(some, node, { total: tree.total(0), base: tree.base(0) })]));
  assert.deepEqual(changes(tree), { all: 0, main: 0, f: 0.25, new: 0.25, gone: -0.5 });
  assert.deepEqual(changes(callersOf(tree, profile.labels.name.indexOf("gone"))), { gone: -0.5, main: -0.5 });
  assert.deepEqual(changes(calleesOf(tree, profile.labels.name.indexOf("f"))), { f: 0.25 });
  assert.equal(inverted(tree).base(0), 4);
  assert.equal(functionTable(tree, profile.labels).find(({ label }) => profile.labels.name[label] === "gone").base, 2);
  assert.equal(functionTable(tree, profile.labels).find(({ label }) => profile.labels.name[label] === "gone").baseSelf, 2);
});

test("the text of source lines is read if the profile has it", () => {
  const samples = [{ stack: ["main:3"] }];
  const labels = { main: { file: "main.c" } };
  const profile = profileOf({ samples, labels, sources: { "main.c": { 3: "\treturn work();" } } });
  assert.equal(profile.sources.get(profile.labels.file[0]).get(3), "\treturn work();");
  assert.equal(profileOf({ samples, labels }).sources.size, 0);
});

test("for random profiles, every tree has all the weight, and the table agrees with a naive count", () => {
  let seed = 1;
  const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 30; round++) {
    const samples = Array.from({ length: 40 }, () =>
      ({ stack: Array.from({ length: random(6) }, () => "abcdef"[random(6)] + (random(3) ? "" : `>${"abc"[random(3)]}`)), samples: 1 + random(9) }));
    const profile = profileOf(samples);
    const tree = treeOf(profile);
    const whole = samples.reduce((sum, sample) => sum + sample.samples, 0);
    assert.equal(tree.total(0), whole);
    assert.equal(treeOf(profile, {}, { folds: true }).total(0), whole);
    assert.equal(inverted(tree).total(0) + tree.self(0), whole);
    for (const { label, self, total } of functionTable(tree, profile.labels)) {
      const name = profile.labels.name[label];
      const functions = samples.map(({ stack, samples: count }) => ({ path: stack.flatMap((frame) => frame.split(">")), count }));
      const sum = (matches) => functions.filter(({ path }) => matches(path)).reduce((all, { count }) => all + count, 0);
      assert.equal(total, sum((path) => path.includes(name)));
      assert.equal(self, sum((path) => path.at(-1) === name));
      assert.equal(callersOf(tree, label).total(0), total);
      assert.equal(calleesOf(tree, label).total(0), total);
    }
  }
});

test("in any range of time, every node has the weight of the samples below it, and no other node is there", () => {
  let seed = 7;
  const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
  const samples = Array.from({ length: 300 }, () => {
    const times = Array.from({ length: 1 + random(5) }, () => [random(1000), 0]);
    return { stack: Array.from({ length: random(7) }, () => "abcd"[random(4)]), samples: times.length, times };
  });
  const profile = profileOf(samples);
  for (const range of [[0, 1000], [0, 500], [333, 901], [500, 510], [77, 78], [999, 999]]) {
    const sums = new Map(); // by path
    for (const { stack, times } of samples)
      for (let depth = 0; depth <= stack.length; depth++) {
        const path = stack.slice(0, depth).join();
        const { self = 0, total = 0 } = sums.get(path) ?? {};
        const weight = times.filter(([us]) => us >= range[0] && us < range[1]).length;
        if (weight) sums.set(path, { self: self + (depth === stack.length ? weight : 0), total: total + weight });
      }
    const tree = treeOf(profile, { range });
    const pathTo = (node) => pathOf(tree, node).map((code) => profile.labels.name[code >>> 1]).join();
    const visit = (node) => {
      const path = pathTo(node);
      assert.deepEqual({ self: tree.self(node), total: tree.total(node) }, sums.get(path) ?? { self: 0, total: 0 });
      const below = childrenOf(tree, node).flatMap(visit);
      if (node) assert.equal(tree.size(node), below.length + 1);
      return [path, ...below];
    };
    const paths = visit(0);
    assert.deepEqual(paths.slice().sort(), [...new Set(["", ...sums.keys()])].sort());
    const seen = [];
    tree.visit((node, total) => seen.push([pathTo(node), total]));
    assert.deepEqual(seen.sort(), [...sums].filter(([path]) => path).map(([path, { total }]) => [path, total]).sort());
  }
});

test("boxes that are too narrow to draw share one rest box and are counted", () => {
  const samples = [{ stack: ["wide"], samples: 9000 }, ...Array.from({ length: 1000 }, (_, i) => ({ stack: [`n${i}`, "leaf"] }))];
  const tree = treeOf(profileOf(samples));
  const boxes = layout(tree, 0, tree.total(0), 100);
  assert.equal(boxes.hidden, 2000);
  assert.deepEqual(boxes.node.map((node) => Math.sign(node)), [0, 1, -1]);
  assert.deepEqual(boxes.x, [0, 0, 90]);
  assert.equal(boxes.width[2], 10);
  assert.equal(boxAt(boxes, 50, 1), 1);
  assert.equal(boxAt(boxes, 95, 1), 2);
  assert.equal(boxAt(boxes, 50, 2), -1);
});

test("a rest box can be zoomed into, and the address keeps that", () => {
  const tree = treeOf(profileOf([{ stack: ["wide"], samples: 900 }, ...Array.from({ length: 100 }, (_, i) => ({ stack: [`n${i}`] }))]));
  const first = -layout(tree, 0, 1000, 100).node[2];
  assert.deepEqual(restRange(tree, first), [900, 1000]);
  assert.equal(layout(tree, ...restRange(tree, first), 1000).node.length, 101);
  assert.deepEqual(zoomIn(tree, zoomOf(tree, { node: 0, first })), { node: 0, first });
});

test("a zoomed node and its callers have the whole width", () => {
  const tree = treeOf(profileOf(SHOP));
  const log = nodeAt(tree, pathOf(tree, childrenOf(tree, 1)[1]));
  const boxes = layout(tree, startOf(tree, log), startOf(tree, log) + tree.total(log), 100);
  assert.deepEqual(boxes.node, [0, 1, log]);
  assert.deepEqual(boxes.width, [100, 100, 100]);
});

test("a path leads back to its node, or to the last node that exists", () => {
  const tree = treeOf(profileOf(SHOP));
  for (let i = 0; i < tree.count; i++) assert.equal(nodeAt(tree, pathOf(tree, i)), i);
  assert.equal(nodeAt(tree, [...pathOf(tree, 2), 999999]), 2);
});

test("the state is read back from the address, and invalid parts are ignored", () => {
  const state = { ...DEFAULTS, q: "a&b=#%", zoom: "2.4.7", from: 5, to: 10, fn: 3, view: "calls", threads: "w*" };
  assert.deepEqual(fromHash(`#${toHash(state)}`), state);
  assert.equal(toHash(DEFAULTS), "");
  assert.deepEqual(fromHash("#from=x&fn=1e9&view=nowhere&event=-1&__proto__=1&%%%"), DEFAULTS);
  assert.deepEqual(zoomIn(treeOf(profileOf(SHOP)), "0.4..x.-9"), { node: 1, first: 0 });
});

test("folded stacks of a view have its weight and the callers of the zoomed node", () => {
  const profile = profileOf(SHOP);
  const tree = treeOf(profile);
  const name = (label) => profile.labels.name[label];
  assert.equal(folded(tree, 0, name), "main;log 2\nmain;serve;next 3\nmain;serve;next;read 4\nstart 1\n");
  assert.equal(folded(tree, 2, name), "main;serve;next 3\nmain;serve;next;read 4\n");
});

test("functions are hidden, inlined calls merged, and stacks begun at a function, on request", () => {
  const profile = profileOf([{ stack: ["main", "a>b", "c"], samples: 2 }, { stack: ["main", "d", "c"], samples: 1 }]);
  const label = (name) => profile.labels.name.indexOf(name);
  const hides = Uint8Array.from(profile.labels.name, (name) => (name === "a" || name === "d" ? 1 : 0));
  assert.equal(drawn(profile, treeOf(profile, {}, { hides })), "all 3 (main 3 (b* 2 (c 2), c 1))");
  assert.equal(drawn(profile, treeOf(profile, {}, { physical: true })), "all 3 (main 3 (a 2 (c 2), d 1 (c 1)))");
  assert.equal(drawn(profile, treeOf(profile, {}, { from: label("a") })), "all 3 (a 2 (b* 2 (c 2)))");
});

// Returns each node with its range of the axis.
function placesOf(profile, tree) {
  return Array.from({ length: tree.count }, (_, i) => `${"  ".repeat(tree.depth[i])}${i ? profile.labels.name[labelOf(tree, i)] : "all"} ` +
    `${tree.start[i]}–${tree.start[i] + tree.total(i)}`);
}

test("in time order, consecutive samples of a thread with the same frames are one call", () => {
  const threads = [{ pid: 1, tid: 1, process: "app", name: "one" }, { pid: 1, tid: 2, process: "app", name: "two" }];
  const profile = profileOf({ threads, samples: [
    { stack: ["main", "a"], samples: 3, times: [[10, 0], [20, 0], [60, 0]] }, { stack: ["main", "b"], samples: 2, times: [[30, 0], [50, 0]] },
    { stack: ["main", "b", "c"], samples: 1, times: [[40, 0]] }, { stack: ["main"], thread: 1, samples: 1, times: [[35, 1]] }] });
  const weights = wholeWeights(profile, ALL);
  const tree = timeTree(profile, weights, { range: null });
  assert.deepEqual(placesOf(profile, tree), ["all 0–7", "  one (1) 0–6", "    main 0–6", "      a 0–2", "      b 2–5", "        c 3–4", "      a 5–6",
    "  two (2) 6–7", "    main 6–7"]);
  assert.deepEqual([tree.begins[4], tree.ends[4], tree.end[4], tree.self(4)], [30, 50, 6, 2]);
  assert.deepEqual(placesOf(profile, timeTree(profile, weights, { range: [30, 50] })).slice(1),
    ["  one (1) 0–2", "    main 0–2", "      b 0–2", "        c 1–2", "  two (2) 2–3", "    main 2–3"]);
  assert.deepEqual(placesOf(profile, timeTree(profile, weights, { range: [0, 100], from: profile.labels.name.indexOf("b") })).slice(1, 4),
    ["  one (1) 0–6", "    b 2–5", "      c 3–4"]);
  assert.deepEqual(zoomIn(tree, zoomOf(tree, { node: 6 })), { node: 6, first: 0 });
  assert.deepEqual([zoomIn(tree, "@99"), zoomIn(treeOf(profile), "@1")].map(({ node }) => node), [0, 0]);
});

test("in time order, each pixel column shows the stack at its middle if samples are narrower", () => {
  const times = (first) => Array.from({ length: 500 }, (_, i) => [first + 2 * i, 0]);
  const profile = profileOf([{ stack: ["main", "a"], samples: 500, times: times(0) }, { stack: ["main", "b", "c"], samples: 500, times: times(1) }]);
  const tree = timeTree(profile, wholeWeights(profile, ALL), { range: null });
  const boxes = layout(tree, 0, 1000, 100);
  const row = boxes.x.filter((_, i) => boxes.depth[i] === 3);
  assert.deepEqual(row, Array.from({ length: 100 }, (_, i) => i));
  assert.equal(boxes.hidden + boxes.node.length, tree.count);
  assert.equal(layout(tree, 0, 10, 100).node.length, 3 + 10 + 5);
});

test("the address keeps each function filter once and ignores unknown functions", () => {
  const steps = [{ kind: "only", label: 3 }, { kind: "from", label: 1 }];
  assert.deepEqual(stepsOf(stepsText(steps), 4), steps);
  assert.deepEqual(stepsOf("only-9,without-2,burn-1,hide-x,,hide--1", 4), [{ kind: "without", label: 2 }]);
  assert.equal(stepsText(withStep(withStep(steps, { kind: "from", label: 2 }), { kind: "only", label: 3 })), "from-2,only-3");
  assert.deepEqual(["5-9", "9-5", "x", ""].map(spanOf), [[5, 9], null, null, null]);
});

test("names are escaped in an SVG", () => {
  const text = svg([{ x: 0, y: 0, width: 100, fill: "red", text: "<b>&\"", title: "]]><script>" }],
    { width: 100, height: 20, row: 20, ground: "white", ink: "black", title: "<" });
  assert.doesNotMatch(text, /<b>|<script|&"/);
  assert.match(text, /&#60;b&#62;&#38;&#34;/);
});

test("names are shown short at first, and found by both", () => {
  const profile = profileOf({ samples: [{ stack: ["Vec_of_T_push"], samples: 1 }], labels: { Vec_of_T_push: { short: "Vec push" } } });
  assert.equal(profile.labels.short[0], "Vec push");
  for (const text of ["^Vec push$", "of_T"]) assert.equal(search(profile.labels.name, text, profile.labels.short).matches[0], 1);
});

// WCAG 2.2, 1.4.3: a contrast of at least 4.5 to 1.
function luminance([red, green, blue]) {
  const linear = [red, green, blue].map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

const ofHex = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16) / 255);

test("names have enough contrast on the reasons of waits in both themes", () => {
  const css = readFileSync(new URL("../page/page.css", import.meta.url), "utf8");
  const inks = [...css.matchAll(/--box-ink: (#\w{6})/g)].map((found) => found[1]);
  const profile = profileOf(SHOP);
  for (const isDark of [false, true]) {
    const colours = colouring(profile, { by: "kind", isDark, modules: [] });
    for (const state of STATES.slice(1)) {
      const [ground, ink] = [colours.kind(state), colours.ink(state) || inks[Number(isDark)]].map((text) => luminance(ofHex(text)));
      assert.ok((Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05) >= 4.5, `${state} ${isDark}`);
    }
  }
});

// Matrices that simulate the lack of one kind of cones. Sources: Viénot, Brettel, Mollon 1999
// (protan, deutan); Machado, Oliveira, Fernandes 2009, in linear RGB (tritan).
const SIGHTS = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
  deutan: [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

// Returns the CIELAB values of a colour as it is seen.
function lab(colour, sight) {
  const linear = ofHex(colour).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  const seen = sight.map((row) => Math.min(1, Math.max(0, row.reduce((sum, factor, i) => sum + factor * linear[i], 0))));
  const [x, y, z] = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]].map((row, i) =>
    row.reduce((sum, factor, k) => sum + factor * seen[k], 0) / [0.9505, 1, 1.089][i])
    .map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test("states of threads have colours that also those tell apart who do not see all of them", () => {
  for (const isDark of [false, true])
    for (const [name, sight] of Object.entries(SIGHTS))
      STATES.forEach((state, i) => STATES.slice(i + 1).forEach((other) => {
        const [one, two] = [state, other].map((each) => lab(stateColour(each, isDark), sight));
        const distance = Math.hypot(...one.map((value, k) => value - two[k]));
        assert.ok(distance >= 20, `${state}, ${other}: ${distance.toFixed(1)} (${name}, ${isDark ? "dark" : "light"})`);
      }));
});

test("names have enough contrast on every box in both themes", () => {
  const css = readFileSync(new URL("../page/page.css", import.meta.url), "utf8");
  const [lightInk, darkInk] = [...css.matchAll(/--box-ink: (#\w{6})/g)].map((found) => luminance(ofHex(found[1])));
  const kinds = [0, 1, 3, 4, 6, 7, 0, 0, 0, 0].map((kind, i) => ({ path: `/m${i}`, kind }));
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
  for (const isDark of [false, true])
    for (const fill of Object.values(changeShades(isDark)).flat()) {
      const ground = luminance(ofHex(fill));
      const ink = isDark ? darkInk : lightInk;
      assert.ok((Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05) >= 4.5, fill);
    }
});

test("control characters and bidirectional controls become visible", () => {
  assert.equal(shown("a\u0000b\nc\u202ed\u007f"), "a␀b␊c\ufffdd␡");
  assert.equal(shown("été 函数"), "été 函数");
});

test("numbers are written with few digits", () => {
  assert.deepEqual([percent(0, 10), percent(1, 3), percent(1, 1e6), percent(1, 11), percent(1, 0)], ["0%", "33.3%", "<0.01%", "9.09%", "0%"]);
  assert.deepEqual([time(0), time(999.6e6), time(1234567), time(5e12)], ["0 ns", "1 s", "1.23 ms", "5,000 s"]);
});

test("data is unpacked from base64 and gzip, and truncated data is an error", async () => {
  const bytes = encode({ samples: SHOP });
  assert.deepEqual(await unpack(`\n${gzipSync(bytes).toString("base64")}\n`), bytes);
  assert.throws(() => decode(bytes.subarray(0, bytes.length - 4)), /truncated/);
});

// ---- Waiting ----

const TIMES = [{ name: "cpu-clock", unit: "nanoseconds", kind: 1, each: 1e6 }, { name: "off-cpu", unit: "nanoseconds", kind: 3, each: 0 }];
const waiting = (thread, stack, waits, idle = false) => ({ thread, stack, event: 1, idle, samples: waits.length, waits,
  weight: waits.reduce((sum, [from, to, weight = (to - from) * 1000]) => sum + weight, 0) });
const running = (thread, stack, times) => ({ thread, stack, samples: times.length, weight: times.length * 1e6, times: times.map((time) => [time, 0]) });
const CREW = { threads: [...THREADS.slice(0, 3), { pid: 10, tid: -1, process: "app", name: "pool × 498 threads" }], events: TIMES,
  info: { durationUs: 20000 },
  samples: [
    running(0, ["main", "work"], [1000, 2000, 3000]), waiting(0, ["main", "lock", "[mutex held by worker-1 in f]"], [[3000, 13000]]),
    waiting(0, ["main", "work", "[runnable]"], [[13000, 14000]]), waiting(0, ["main", "read", "[read socket]"], [[14000, 20000, 3000000]]),
    running(1, ["main", "f"], [20000]), waiting(1, ["main", "f", "[nanosleep]"], [[0, 19000]]),
    waiting(2, ["main", "g", "[epoll_wait]"], [[0, 20000]], true), waiting(3, ["main", "pool", "[futex]"], [[0, 20000]]),
  ] };

test("the reason of a wait tells its kind", () => {
  const kinds = {
    wanted: ["runnable", "wanted a CPU", "sched_yield"], lock: ["futex", "mutex held by poller in epoll_wait", "rwlock held by w", "flock", "fcntl lock", "futex_wait_queue", "semop", "end of worker-1"],
    idle: ["epoll_wait", "poll", "select", "do_epoll_wait", "io_uring", "sigwait", "pause", "accept", "inet_csk_accept"], sleep: ["nanosleep", "hrtimer_nanosleep"],
    network: ["read socket", "recv socket", "connect", "unix_stream_read_generic"],
    disk: ["page fault", "read file", "fsync", "stat", "open", "splice file"], peer: ["read pipe", "wait4", "write terminal", "read eventfd", "vfork", "pipe_read"],
    wait: ["stopped", "traced", "system call 463", "ioctl /dev/dri/card0", ""],
  };
  for (const [state, texts] of Object.entries(kinds)) for (const text of texts) assert.equal(stateOf(`[${text}]`), state, text);
  assert.equal(stateOf("futex"), "wait");
});

test("a profile of CPU time and waiting has an event of both, which is shown first", () => {
  const profile = profileOf(CREW);
  assert.deepEqual(profile.measures, { cpu: 1, waiting: 2, both: 0 });
  assert.deepEqual(profile.events.map(({ name, kind, parts }) => [name, kind, parts]),
    [["wall clock", "wall-time", [1, 2]], ["cpu-clock", "cpu-time", [1]], ["off-cpu", "off-cpu-time", [2]]]);
  const total = (event) => treeOf(profile, { event, bySamples: false }).total(0) / 1e6;
  assert.deepEqual([0, 1, 2].map(total), [77, 4, 73]);
  const waitingFirst = profileOf({ ...CREW, events: [...TIMES].reverse(), samples: CREW.samples.map((sample) => ({ ...sample, event: 1 - (sample.event || 0) })) });
  assert.deepEqual(waitingFirst.measures, { cpu: 1, waiting: 0, both: 2 });
  assert.deepEqual(profileOf({ ...CREW, info: { isChosen: true } }).measures, { cpu: 0, waiting: 1, both: 2 });
  assert.deepEqual(profileOf({ ...CREW, events: [{ ...TIMES[0], name: "cycles", kind: 0 }, TIMES[1]] }).measures, null);
});

test("an interval that is partly in the range counts by its part", () => {
  const profile = profileOf(CREW);
  const total = (range, event = 2) => treeOf(profile, { event, range, bySamples: false, threads: "app" }).total(0) / 1e6;
  const weightsIn = (view) => {
    const { sample, weight } = sampleWeights(profile, { ...ALL, bySamples: false, ...view });
    return Array.from({ length: profile.samples.count }, (_, i) => weight[sample.indexOf(i)] ?? 0);
  };
  const own = (range, event) => weightsIn({ event, range, threads: "10" })
    .reduce((sum, weight, i) => sum + (profile.samples.thread[i] === 0 ? weight : 0), 0) / 1e6;
  assert.ok(total([0, 20000]) > 0);
  assert.equal(own([3000, 8000], 2), 5);
  assert.equal(own([12000, 16000], 2), 1 + 1 + 1); // half of the last interval is waiting
  assert.equal(own([1500, 4000], 0), 2 + 1);
  assert.equal(own([20000, 30000], 2), 0);
  const whole = weightsIn({ event: 0 });
  const parts = [[0, 7000], [7000, 13500], [13500, 20001]].map((range) => weightsIn({ event: 0, range }));
  whole.forEach((weight, i) => assert.ok(Math.abs(parts.reduce((sum, part) => sum + part[i], 0) - weight) < 1));
});

test("threads that hardly ran and wait at one place are idle, but not where another holds their lock", () => {
  const profile = profileOf(CREW);
  const idle = (lives) => lives.map(({ isIdle }) => isIdle);
  assert.deepEqual(idle(livesOf(profile)), [false, false, true, true]);
  const stuck = profileOf({ ...CREW, samples: [...CREW.samples.slice(0, 6), waiting(2, ["main", "g", "[mutex held by app in f]"], [[0, 20000]])] });
  assert.deepEqual(idle(livesOf(stuck)).slice(0, 3), [false, false, false]);
  const onlyWaits = profileOf({ ...CREW, samples: [waiting(2, ["main", "g", "[nanosleep]"], [[0, 20000]])] });
  assert.deepEqual(idle(livesOf(onlyWaits)), [false, false, false, false]);
  const poolBesides = profileOf({ ...CREW, samples: [waiting(2, ["main", "g", "[nanosleep]"], [[0, 20000]]), CREW.samples[7]] });
  assert.deepEqual(idle(livesOf(poolBesides)), [false, false, false, true]);
  const view = new View(profile);
  view.state = { ...DEFAULTS };
  assert.equal(view.tree().total(0) / 1e6, 37);
  assert.equal(view.stateSums()[STATES.indexOf("idle")] / 1e6, 40);
  view.state = { ...DEFAULTS, idle: "shown" };
  assert.equal(view.tree().total(0) / 1e6, 77);
  const nothingElse = new View(profileOf({ ...CREW, samples: [waiting(2, ["main", "g", "[epoll_wait]"], [[0, 20000]], true)] }));
  nothingElse.state = { ...DEFAULTS };
  assert.equal(nothingElse.tree().total(0) / 1e6, 20);
});

test("a wait is idle if the profile says so, whatever its reason", () => {
  const stack = ["main", "park", "[futex]"];
  const profile = profileOf({ ...CREW, samples: [waiting(1, stack, [[0, 1000]], true), waiting(2, stack, [[0, 1000]]),
    waiting(1, ["main", "g", "[epoll_wait]"], [[1000, 2000]], true), waiting(2, ["main", "g", "[poll]"], [[1000, 2000]]), waiting(1, ["main", "park"], [[2000, 3000]], true)] });
  assert.deepEqual([...profile.samples.state].map((state) => STATES[state]), ["idle", "lock", "idle", "wait", "idle"]);
  assert.deepEqual(["[futex]", "[epoll_wait]", "[poll]"].map((name) => profile.labels.kind[profile.labels.name.indexOf(name)]), ["lock", "idle", "idle"]);
});

test("the entries of legends are filters: states of waits, kinds and modules of innermost functions", () => {
  const profile = profileOf({ ...CREW, labels: { f: { module: 1 } }, modules: [{ path: "/bin/app", kind: 0 }, { path: "/lib/libf.so", kind: 0 }] });
  const kept = (...kinds) => [...samplesOfKinds(profile, kinds).keys()].filter((i) => samplesOfKinds(profile, kinds)[i]);
  assert.deepEqual(kept("lock"), [1, 7]);
  assert.deepEqual(kept("lock", "network"), [1, 3, 7]);
  assert.deepEqual(kept("user"), [0, 4]);
  assert.deepEqual(kept("m1"), [4]);
  const view = new View(profile);
  view.state = { ...DEFAULTS, kinds: "lock" };
  assert.equal(view.tree().total(0) / 1e6, 10);
  assert.equal(view.stateSums()[STATES.indexOf("network")] / 1e6, 3); // the legend keeps its sums
});

test("callers that all samples share are one row, and unsampled weight does not count", () => {
  const stack = (...names) => ["_start", "libc_main", "main", ...names];
  const profile = profileOf({ modules: [{ path: "/bin/app", kind: 0 }, { path: "", kind: 6 }], labels: { "[not sampled]": { module: 1 } },
    samples: [{ stack: stack("f", "g"), samples: 6 }, { stack: stack("h"), samples: 3 }, { stack: ["[not sampled]"], samples: 1 }] });
  const tree = treeOf(profile);
  const shared = lastShared(tree);
  assert.equal(sharedWords(tree, shared, profile.labels.name), "_start → … → main, 3 frames");
  const [f, h] = childrenOf(tree, shared);
  assert.deepEqual([0, 1, 2, shared, f, h].map((node) => rowOf(tree, shared, node)), [0, 1, 1, 1, 2, 2]);
  assert.deepEqual(shownChildren(tree, shared, 0).map((node) => profile.labels.name[labelOf(tree, node)]), ["main", "[not sampled]"]);
  assert.equal(shownParent(tree, shared, shared), 0);
  const boxes = layout(tree, 0, widthOf(tree, 0), 1000, shared);
  assert.deepEqual(boxes.node.map((node, i) => [profile.labels.name[labelOf(tree, node)], boxes.depth[i]]),
    [[undefined, 0], ["main", 1], ["f", 2], ["g", 3], ["h", 2], ["[not sampled]", 1]]);
  assert.equal(lastShared(treeOf(profileOf(SHOP))), 0);
  const worksItself = profileOf([{ stack: stack("f"), samples: 6 }, { stack: stack(), samples: 1 }]);
  assert.equal(lastShared(treeOf(worksItself)), 0); // _start and libc_main are too few
});

test("the time of library code counts for the innermost of the user's own functions", () => {
  const profile = profileOf({ labels: { main: { isOwn: true }, parse: { isOwn: true } },
    samples: [{ stack: ["_start", "main", "std::map", "malloc"], samples: 4 }, { stack: ["_start", "main", "parse", "memcpy"], samples: 3 },
      { stack: ["_start", "main"], samples: 2 }, { stack: ["_start"], samples: 1 }] });
  const near = Object.fromEntries(functionTable(treeOf(profile), profile.labels).map((row) => [profile.labels.name[row.label], row.near]));
  assert.deepEqual(near, { _start: 0, main: 6, "std::map": 0, malloc: 0, parse: 3, memcpy: 0 });
});

test("a function has callers, callees and reasons of waits", () => {
  const profile = profileOf(CREW);
  const named = (weights) => weights.map(([label, weight]) => [profile.labels.name[label], weight / 1e6]);
  const label = profile.labels.name.indexOf("main");
  const tree = treeOf(profile, { bySamples: false });
  assert.deepEqual(named(neighbours(tree, label).callees), [["f", 20], ["g", 20], ["pool", 20], ["lock", 10], ["work", 4], ["read", 3]]);
  assert.deepEqual(named(neighbours(tree, profile.labels.name.indexOf("work")).callers), [["main", 4]]);
  assert.deepEqual(named(reasonsOf(profile, sampleWeights(profile, { ...ALL, bySamples: false }), new Uint8Array(8).fill(1))).slice(3),
    [["[mutex held by worker-1 in f]", 10], ["[read socket]", 3], ["[runnable]", 1]]);
});

test("lanes are sorted by activity, and threads that stand for many are the last", () => {
  const profile = profileOf(CREW);
  const lives = livesOf(profile);
  const names = (hidden) => threadLanes(profile, { event: 0, lives, hidden }).lanes.map(({ name }) => name);
  assert.deepEqual(names(null), ["app", "worker-1", "worker-2", "pool × 498 threads"]);
  assert.deepEqual(names(Uint8Array.from(lives, ({ isIdle }) => Number(isIdle))), ["app", "worker-1"]);
  const shares = (event) => threadLanes(profile, { event, lives }).lanes.map(({ share }) => share);
  assert.deepEqual(shares(1), [3 / 4, 1 / 4, 0, 0]); // of CPU time
  assert.deepEqual(shares(0), [17 / 77, 20 / 77, 20 / 77, 20 / 77]);
});

test("a lane shows the part of each moment that a thread spends in each state", () => {
  const profile = profileOf(CREW);
  const rows = Int16Array.from(profile.samples.thread, (thread, sample) => (thread === 0 ? profile.samples.state[sample] : -1));
  const counts = stateCounts(profile, STATES.length, 10, rows, [0, 20000]);
  const row = (state) => Array.from({ length: 10 }, (_, bin) => Math.round(counts[STATES.indexOf(state) * 11 + bin] * 1000) / 1000);
  assert.deepEqual(row("running"), [1, 0.5, 0, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(row("lock"), [0, 0.5, 1, 1, 1, 1, 0.5, 0, 0, 0]);
  assert.deepEqual(row("wanted"), [0, 0, 0, 0, 0, 0, 0.5, 0, 0, 0]);
  assert.deepEqual(row("network"), [0, 0, 0, 0, 0, 0, 0, 0.5, 0.5, 0.5]); // short waits, which cover half of the time
  const closer = stateCounts(profile, STATES.length, 4, rows, [2000, 4000]);
  assert.deepEqual([...closer.subarray(0, 4)], [1, 1, 0, 0]);
});

test("a place in a lane tells what the thread did there", () => {
  const profile = profileOf(CREW);
  const at = (thread, time) => stateAt(profile, [thread], [time - 5, time + 5]);
  const { sample, ...place } = at(0, 10000);
  assert.deepEqual(place, { start: 3000, end: 13000, weight: 10e6 });
  assert.deepEqual(functionsOf(profile, sample, 4).map((label) => profile.labels.name[label]), ["lock", "main"]);
  assert.equal(STATES[profile.samples.state[at(0, 1500).sample]], "running");
  assert.equal(at(1, 19500).start, 19000);
  assert.equal(at(0, 500000), null);
});

test("the waker of a wait has no part in its reason and its function", () => {
  const woken = ["main", "reads", "[read pipe]", "[woken by feeder]", "write", "feeds", "[truncated]"];
  const profile = profileOf({ ...CREW, samples: [running(0, ["main", "work"], [1000]), waiting(0, woken, [[2000, 9000]]), waiting(0, woken.slice(0, 3), [[9000, 9500]])] });
  const { sample } = stateAt(profile, [0], [4000, 4010]);
  assert.equal(STATES[profile.samples.state[sample]], "peer");
  assert.deepEqual(functionsOf(profile, sample, 4).map((label) => profile.labels.name[label]), ["reads", "main"]);
  const weights = sampleWeights(profile, { ...ALL, event: 0, bySamples: false, threads: "10" });
  const rows = functionTable(callTree(profile, weights), profile.labels);
  assert.deepEqual(rows.filter(({ self }) => self > 0).sort(byWeight).map(({ label, self }) => [profile.labels.name[label], Math.round(self / 1e5)]),
    [["reads", 75], ["work", 10]]);
});

test("the self time of a wait is of the function that chose to wait", () => {
  const stack = ["main", "job", "std::lock", "futex_wait", "do_futex", "[futex]"];
  const labels = { "std::lock": { rank: 2 }, futex_wait: { rank: 3 }, do_futex: { rank: 4 } };
  const profile = profileOf({ ...CREW, labels, samples: [running(0, ["main", "work"], [1000]), waiting(0, stack, [[2000, 9000]])] });
  const weights = sampleWeights(profile, { ...ALL, event: 0, bySamples: false, threads: "10" });
  const rows = functionTable(callTree(profile, weights), profile.labels).filter(({ self }) => self > 0).sort(byWeight);
  assert.deepEqual(rows.map(({ label }) => profile.labels.name[label]), ["job", "work"]);
});

test("waits have their places in the order of time, and their weight as width", () => {
  const profile = profileOf(CREW);
  const weights = wholeWeights(profile, { ...ALL, event: 0, bySamples: false, threads: "10" });
  const tree = timeTree(profile, weights, { range: null });
  const app = childrenOf(tree, 0).find((node) => profile.labels.name[labelOf(tree, node)].startsWith("app"));
  const calls = childrenOf(tree, app + 1).map((node) => [profile.labels.name[labelOf(tree, node)], Math.round(tree.total(node) / 1e6), tree.begins[node], tree.ends[node]]);
  assert.deepEqual(calls, [["work", 3, 1000, 3000], ["lock", 10, 3000, 13000], ["work", 1, 13000, 14000], ["read", 3, 14000, 20000]]);
});

// A moment is shared among the threads that ran; one in which none ran is a wait.
const SHARED = { ...CREW, events: [...TIMES, { name: "elapsed", unit: "nanoseconds", kind: 2, each: 0 }], samples: [...CREW.samples,
  ...[["main", "f"], ["main", "g"]].map((stack, thread) =>
    ({ stack, thread, event: 2, samples: 1, weight: 1e6, tags: [["parallelism", "2"]], waits: [[0, 2000, 1e6]] })),
  { stack: ["main", "f"], thread: 0, event: 2, samples: 1, weight: 1e6, tags: [["parallelism", "1"]], waits: [[2000, 3000]] },
  { stack: ["main", "lock", "[mutex held by worker-1 in f]"], thread: 0, event: 2, samples: 1, weight: 5e6, tags: [["parallelism", "0"]], waits: [[3000, 8000]] }] };

test("elapsed time is a measure beside CPU time, and the lives of threads do not change with it", () => {
  const profile = profileOf(SHARED);
  assert.deepEqual(profile.measures, { cpu: 1, waiting: 2, both: 0, elapsed: 3 });
  assert.deepEqual(livesOf(profile).map(({ running, waiting }) => [running, waiting]), livesOf(profileOf(CREW)).map(({ running, waiting }) => [running, waiting]));
  assert.equal(treeOf(profile, { event: 3, bySamples: false }).total(0), 8e6);
  const elapsedAlone = profileOf({ events: [TIMES[0], SHARED.events[2]], samples: [{ stack: ["f"], event: 1 }] });
  assert.deepEqual(elapsedAlone.measures, { cpu: 0, elapsed: 1 });
});

test("elapsed time is shown by the number of threads that ran, and filtered by it", () => {
  const profile = profileOf(SHARED);
  const view = new View(profile);
  view.state = { ...DEFAULTS, event: 3 };
  assert.deepEqual(view.parallelism(), [["p0", 5e6], ["p1", 1e6], ["p2", 2e6]]);
  for (const [kinds, weight] of [["p1", 1e6], ["p0,p1", 6e6], ["p1-2", 3e6], ["p0,running", 0], ["running", 3e6], ["lock", 5e6]]) {
    view.state = { ...DEFAULTS, event: 3, kinds };
    assert.equal(view.tree().total(0), weight, kinds);
  }
  view.state = { ...DEFAULTS, event: 3, kinds: "p1" };
  assert.deepEqual(view.parallelism().length, 3);
  view.state = { ...DEFAULTS, event: 1, kinds: "p1" };
  assert.equal(view.tree().total(0), 4e6);
});

test("elapsed time is never hidden as idle", () => {
  const wait = { stack: ["main", "loop", "[epoll_wait]"], thread: 2, idle: true, samples: 1, weight: 20e6, waits: [[0, 20000]] };
  const view = new View(profileOf({ ...SHARED, samples: [...CREW.samples, { ...wait, event: 1 }, { ...wait, event: 2, tags: [["parallelism", "0"]] }] }));
  view.state = { ...DEFAULTS, event: 3 };
  assert.ok(view.hidesIdle());
  assert.equal(view.tree().total(0), 20e6);
});

test("many numbers of running threads are joined", () => {
  const sumsOf = (numbers) => parallelismSums({ samples: { set: numbers.map((_, i) => i) }, running: numbers },
    { sample: numbers.map((_, i) => i), weight: numbers.map(() => 1) });
  assert.deepEqual(sumsOf([8, 0, 2]), [["p0", 1], ["p2", 1], ["p8", 1]]);
  assert.deepEqual(sumsOf(Array.from({ length: 18 }, (_, i) => i)), [["p0", 1], ["p1", 1], ["p2", 1], ["p3-4", 2], ["p5-8", 4], ["p9-16", 8], ["p17-32", 1]]);
  assert.deepEqual(["p0", "p1", "p2", "p3-4", "lock", "m1"].map(parallelismWords), ["no thread", "1 thread", "2 threads", "3–4 threads", null, null]);
  const { others, includes } = parallelismIn(["lock", "p3-4", "p8"]);
  assert.deepEqual([others, [-1, 2, 3, 4, 8, 9].map(includes)], [["lock"], [true, false, true, true, true, false]]);
});

test("the strip of elapsed time is the number of threads that ran", () => {
  const profile = profileOf(SHARED);
  const rows = Int16Array.from(profile.samples.event, (event) => (event === 3 ? 0 : -1));
  const counts = stateCounts(profile, 1, 8, rows, [0, 8000], Float64Array.from(profile.samples.set, (set) => profile.running[set]));
  assert.deepEqual([...counts.subarray(0, 8)].map((value) => Math.round(value * 1e6) / 1e6), [2, 2, 1, 0, 0, 0, 0, 0]);
});

const MEMORY_EVENTS = [{ name: "alloc_space", unit: "bytes", kind: 4, each: 0 }, { name: "alloc_objects", unit: "count", kind: 5, each: 0 },
  { name: "inuse_objects", unit: "count", kind: 5, each: 0 }, { name: "inuse_space", unit: "bytes", kind: 4, each: 0 }];
// Blocks of 100 bytes in f, live from 10 to 30, from 20 to 50, and from 70 until the end at 100 µs;
// one block of 1000 bytes in g, live from 40 to 45.
const MEMORY = { events: MEMORY_EVENTS, info: { durationUs: 100 }, samples: [
  { stack: ["main", "f"], event: 0, samples: 3, weight: 300, waits: [[10, 30, 100], [20, 50, 100], [70, 100, 100]] },
  { stack: ["main", "g"], event: 0, samples: 1, weight: 1000, waits: [[40, 45, 1000]] },
  { stack: ["main", "f"], event: 1, samples: 3, weight: 30 }, { stack: ["main", "g"], event: 1, samples: 1, weight: 1 },
  { stack: ["main", "f"], event: 2, samples: 1, weight: 10 }, { stack: ["main", "f"], event: 3, samples: 1, weight: 100 },
] };

test("what lived is a line over time with a peak", () => {
  const profile = profileOf(MEMORY);
  assert.deepEqual(profile.memory, { bytes: 0, objects: 1, live: 3 });
  assert.equal(profile.intervals.count, 0);
  const steps = liveSteps(profile, [1]);
  assert.deepEqual([5, 10, 25, 30, 42, 60, 80].map((at) => bytesAt(steps, at)), [0, 100, 200, 100, 1100, 0, 100]);
  assert.deepEqual(peakWithin(steps, [0, 100]), { time: 40, bytes: 1100 });
  assert.deepEqual(peakWithin(steps, [25, 28]), { time: 25, bytes: 200 });
  assert.deepEqual([...liveByBin(steps, 5, [0, 100])], [100, 200, 1100, 100, 100]);
  assert.deepEqual(peakWithin(liveSteps(profile, [0]), [0, 100]), { time: 0, bytes: 0 });
});

test("a range of memory has what was allocated in it, or what lived at its peak", () => {
  const profile = profileOf(MEMORY);
  const drawnOf = (event, range) => drawn(profile, treeOf(profile, { event, bySamples: false, range }));
  assert.equal(drawnOf(0, null), "all 1300 (main 1300 (g 1000, f 300))");
  assert.equal(drawnOf(0, [15, 41]), "all 1100 (main 1100 (g 1000, f 100))");
  assert.equal(drawnOf(1, [15, 41]), "all 11 (main 11 (f 10, g 1))");
  assert.equal(drawnOf(3, null), "all 100 (main 100 (f 100))");
  assert.equal(drawnOf(3, [0, 100]), "all 1100 (main 1100 (g 1000, f 100))");
  assert.equal(drawnOf(3, [80, 81]), "all 100 (main 100 (f 100))");
});

test("memory beside CPU time has its own events, and its blocks are no waits", () => {
  const profile = profileOf({ ...MEMORY, events: [{ name: "cpu-clock", unit: "nanoseconds", kind: 1, each: 1e6 }, ...MEMORY_EVENTS],
    samples: [...MEMORY.samples.map((sample) => ({ ...sample, event: sample.event + 1 })),
      { stack: ["main", "f"], event: 0, samples: 1, weight: 1e6, times: [[50, 0]] }] });
  assert.deepEqual(profile.memory, { bytes: 1, objects: 2, live: 4 });
  assert.equal(profile.blocks.count, 4);
  assert.equal(profile.intervals.count, 0);
  assert.ok(profile.hasTimes);
});

test("the self bytes of memory are those of the function that allocates", () => {
  const labels = { "operator new": { rank: 2, fate: 1 }, "hashbrown::insert": { rank: 1, fate: 1 }, malloc: { rank: 3, fate: 1 } };
  const profile = profileOf({ ...MEMORY, labels, samples: [
    { stack: ["main", "f", "hashbrown::insert", "operator new", "malloc"], event: 0, samples: 1, weight: 300 },
    { stack: ["main", "g"], event: 0, samples: 1, weight: 100 }] });
  const tree = treeOf(profile, { event: 0, bySamples: false });
  const rows = functionTable(tree, profile.labels, true).filter(({ self }) => self).sort(byWeight).map(({ label, self }) => [profile.labels.name[label], self]);
  assert.deepEqual(rows, [["f", 300], ["g", 100]]);
});

const EVENTS_OF_BRANCHES = [{ name: "cpu-clock" }, { name: "taken-branches", each: 1 }, { name: "branch-cycles", unit: "cycles", each: 1 }];
const branch = (from, to, prediction, taken) => ({ stack: [from, to], event: 1, samples: taken, weight: taken, tags: prediction ? [["branch", prediction]] : [] });
const BRANCHES = { events: EVENTS_OF_BRANCHES, samples: [
  { stack: ["main", "loop:7"], samples: 4 },
  branch("main>loop:7", "loop:3", "predicted", 30), branch("main>loop:7", "loop:3", "mispredicted", 10),
  branch("loop:7", "loop:3", "", 2), branch("loop:9", "exit:1", "mispredicted", 5), branch("main:2", "loop:1", "predicted", 90),
  { stack: ["main>loop:7", "loop:3"], event: 2, samples: 40, weight: 420, tags: [["branch", "predicted"]] },
] };

test("the branches of a function are told apart by their lines, the most taken first", () => {
  const view = new View(profileOf(BRANCHES));
  view.state = { ...DEFAULTS };
  const { labels } = view.profile;
  const rows = view.branchesFrom(labels.name.indexOf("loop"));
  assert.deepEqual(rows.map(({ line, to, toLine, ...counts }) => [line, labels.name[to], toLine, counts]), [
    [7, "loop", 3, { taken: 42, mispredicted: 10, told: 40, cycles: 420 }],
    [9, "exit", 1, { taken: 5, mispredicted: 5, told: 5, cycles: 0 }]]);
});

test("branches are of the threads that are shown", () => {
  const view = new View(profileOf({ ...BRANCHES, threads: [{ pid: 1, tid: 1, process: "app", name: "app" }] }));
  view.state = { ...DEFAULTS, threads: "other" };
  assert.deepEqual(view.branchesFrom(view.profile.labels.name.indexOf("loop")), []);
});

test("a profile without branches has none", () => {
  const view = new View(profileOf(SHOP));
  view.state = { ...DEFAULTS };
  assert.equal(branchEvents(view.profile), null);
  assert.deepEqual(view.branchesFrom(0), []);
});
