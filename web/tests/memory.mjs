// Writes the data of a page for the browser tests: a program that allocates memory, peaks halfway
// and leaks. With --cpu the page also has CPU time.

import { gzipSync } from "node:zlib";

import { encode } from "./encode.mjs";

const SECOND = 1000000;
const KIB = 1024;
const isBeside = process.argv.includes("--cpu");
const first = Number(isBeside);
const events = [...(isBeside ? [{ name: "cpu-clock", unit: "nanoseconds", kind: 1, each: 1e6 }] : []),
  { name: "alloc_space", unit: "bytes", kind: 4, each: 0, period: 512 * KIB, frequency: 0 }, { name: "alloc_objects", unit: "count", kind: 5, each: 0, period: 512 * KIB, frequency: 0 },
  { name: "inuse_objects", unit: "count", kind: 5, each: 0, period: 512 * KIB, frequency: 0 }, { name: "inuse_space", unit: "bytes", kind: 4, each: 0, period: 512 * KIB, frequency: 0 }];
const labels = { malloc: { rank: 3, fate: 1 }, "operator new": { rank: 2, fate: 1 } };

// Returns blocks of this many bytes (objects of 64 bytes), each living from its time to the next.
// live: the blocks that live until the end.
function blocks(stack, size, lives) {
  const live = lives.filter(([, to]) => to === 10).length;
  const event = (number, each, count = lives.length) => (count ? [{ stack, event: first + number, samples: count, weight: count * each }] : []);
  const [all, ...others] = [...event(0, size), ...event(1, size / 64), ...event(2, size / 64, live), ...event(3, size, live)];
  return [{ ...all, waits: lives.map(([from, to]) => [Math.round(from * SECOND), Math.round(to * SECOND), size]) }, ...others];
}

const lives = (count, life) => Array.from({ length: count }, (_, i) => life(i));
const samples = [
  ...blocks(["main", "serve", "parse", "malloc"], 512 * KIB, lives(400, (i) => [i / 41, Math.min(9.9, i / 41 + 0.2)])),
  ...blocks(["main", "grow", "operator new", "malloc"], 1024 * KIB, lives(40, (i) => [3 + i / 20, 5 + i / 400])),
  ...blocks(["main", "serve", "remember", "malloc"], 512 * KIB, lives(20, (i) => [i / 2, 10])),
  ...(isBeside ? [{ stack: ["main", "serve", "work"], event: 0, samples: 4000, weight: 4e9,
    times: lives(4000, (i) => [i * 2500 + 1, 0]) }] : []),
];
process.stdout.write(gzipSync(encode({ events, labels, samples, info: { durationUs: 10 * SECOND } })).toString("base64"));
