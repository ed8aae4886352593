// Writes the data of a page for the browser tests: a main thread that prepares alone for 2 s, works
// for 4 s together with a worker, and waits for it until the worker has ended 2 s later. Then nothing
// runs for 2 s.

import { gzipSync } from "node:zlib";

import { encode } from "./encode.mjs";

const SECOND = 1000000;
const threads = [{ pid: 20, tid: 20, process: "batch", name: "batch" }, { pid: 20, tid: 21, process: "batch", name: "worker" }];
const events = [{ name: "cpu-clock", unit: "nanoseconds", kind: 1, each: 1e7 }, { name: "off-cpu", unit: "nanoseconds", kind: 3, each: 0 },
  { name: "elapsed", unit: "nanoseconds", kind: 2, each: 0 }, { name: "critical-path", unit: "nanoseconds", kind: 2, each: 0 }];
const EVENTS = Object.fromEntries(events.map(({ name }, event) => [name, event]));

// Times are in seconds.
function runs(thread, stack, from, to) {
  const times = Array.from({ length: (to - from) * 100 }, (_, i) => [from * SECOND + (i + 1) * 10000, thread]);
  return { thread, stack, event: EVENTS["cpu-clock"], samples: times.length, weight: times.length * 1e7, times };
}

function spends(event, thread, stack, from, to, running = 0) {
  const weight = ((to - from) * 1e9) / Math.max(1, running);
  return { thread, stack, event: EVENTS[event], samples: 1, weight, waits: [[from * SECOND, to * SECOND, weight]],
    tags: event === "elapsed" ? [["parallelism", String(running)]] : [] };
}

const [prepare, work, end, rest] = [["main", "prepare"], ["main", "work"], ["main", "join", "[end of worker]"], ["main", "rest", "[nanosleep]"]];
const part = ["start_thread", "part"];
const samples = [
  runs(0, prepare, 0, 2), runs(0, work, 2, 6), runs(1, part, 2, 8), spends("off-cpu", 0, end, 6, 8), spends("off-cpu", 0, rest, 8, 10),
  spends("elapsed", 0, prepare, 0, 2, 1), spends("elapsed", 0, work, 2, 6, 2), spends("elapsed", 1, part, 2, 6, 2),
  spends("elapsed", 1, part, 6, 8, 1), spends("elapsed", 0, rest, 8, 10),
  spends("critical-path", 0, prepare, 0, 2), spends("critical-path", 1, part, 2, 8), spends("critical-path", 0, rest, 8, 10),
];
process.stdout.write(gzipSync(encode({ threads, events, samples, info: { durationUs: 10 * SECOND } })).toString("base64"));
