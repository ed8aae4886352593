// Writes the data of a page for the browser tests: two threads that run, are runnable and wait, and
// 500 idle threads. waiting.mjs N adds N threads that run once in a while.

import { gzipSync } from "node:zlib";

import { encode } from "./encode.mjs";

const SECOND = 1000000;
const threads = [{ pid: 10, tid: 11, process: "shop", name: "worker-1" }, { pid: 10, tid: 12, process: "shop", name: "worker-2" },
  { pid: 10, tid: -1, process: "shop", name: "pool × 500 threads" }];
const events = [{ name: "cpu-clock", unit: "nanoseconds", kind: 1, each: 1e6 }, { name: "off-cpu", unit: "nanoseconds", kind: 3, each: 0 }];

// Times are in seconds. There is a sample for each millisecond.
function runs(thread, stack, from, to) {
  const times = Array.from({ length: (to - from) * 1000 }, (_, i) => [from * SECOND + (i + 1) * 1000, thread]);
  return { thread, stack, event: 0, samples: times.length, weight: times.length * 1e6, times };
}

function waits(thread, stack, from, to, weight = (to - from) * 1e9) {
  return { thread, stack, event: 1, samples: 1, weight, waits: [[from * SECOND, to * SECOND, weight]] };
}

const serve = ["main", "serve"];
const samples = [
  runs(0, [...serve, "work"], 0, 4), waits(0, [...serve, "work", "[runnable]"], 4, 5),
  waits(0, [...serve, "take", "[mutex held by worker-2 in commit]"], 5, 8), waits(0, [...serve, "fetch", "[recv socket]"], 8, 10),
  waits(1, [...serve, "take", "[mutex held by worker-2 in commit]"], 0, 3), waits(1, [...serve, "work", "[runnable]"], 3, 4),
  runs(1, [...serve, "work"], 4, 6), runs(1, [...serve, "work"], 6, 8),
  waits(1, [...serve, "fetch", "[recv socket]"], 6, 10, 2e9),
  waits(2, ["main", "pool", "[futex]"], 0, 10, 5e12),
];
for (let i = 1; i <= Number(process.argv[2] ?? 0); i++) {
  threads.push({ pid: 10, tid: 100 + i, process: "shop", name: `helper-${i}` });
  samples.push(waits(threads.length - 1, [...serve, "help", "[futex]"], 0, 9), runs(threads.length - 1, [...serve, "help"], 9, 9.1));
}
const info = { durationUs: 10 * SECOND, waiting: "5020 thread-seconds: 8 on CPU, 2 runnable, 5010 waiting" };
process.stdout.write(gzipSync(encode({ threads, events, samples, info })).toString("base64"));
