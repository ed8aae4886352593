// Writes the data of a page of three hours, starting at 2026-11-24 12:30 local time, for the
// browser tests. A server runs every second, and from 14:00 to 14:10 a backup runs too.

import { gzipSync } from "node:zlib";

import { encode } from "./encode.mjs";

const SECOND = 1000000;
const MINUTE = 60 * SECOND;
const threads = [{ pid: 10, tid: 10, process: "server", name: "server" }, { pid: 20, tid: 20, process: "backup", name: "backup" }];
const events = [{ name: "cpu-clock", unit: "nanoseconds", kind: 1, each: 1e9 }];

function runs(thread, stack, from, to) {
  const times = Array.from({ length: (to - from) / SECOND }, (_, i) => [from + i * SECOND + SECOND / 2, thread]);
  return { thread, stack, samples: times.length, weight: times.length * 1e9, times };
}

const samples = [runs(0, ["main", "serve"], 0, 180 * MINUTE), runs(1, ["main", "copy"], 90 * MINUTE, 100 * MINUTE)];
const info = { durationUs: 180 * MINUTE, startMs: new Date(2026, 10, 24, 12, 30).getTime() };
process.stdout.write(gzipSync(encode({ threads, events, samples, info })).toString("base64"));
