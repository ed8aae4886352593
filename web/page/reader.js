// Reads the profile that lib/format/page/page.c writes: LEB128 numbers in tables, column by column.

import { runningOf } from "./elapsed.js";
import { takeMemory } from "./memory.js";
import { addWallClock, markStates } from "./reasons.js";

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
    this.text = new TextDecoder();
  }

  // Reads a LEB128 number, exact up to 2^53. Most fit into the fast loop of 28 bits.
  number() {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.bytes[this.at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    for (let factor = 2 ** 28; ; factor *= 128) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new RangeError("the data of this page is truncated");
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  // Zigzag: 0, -1, 1, -2, … are stored as 0, 1, 2, 3, …
  signed() {
    const value = this.number();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }

  string() {
    const length = this.number();
    this.at += length;
    return this.text.decode(this.bytes.subarray(this.at - length, this.at));
  }

  column(array) {
    for (let i = 0; i < array.length; i++) array[i] = this.number();
    return array;
  }

  // Each number is stored as the difference from the previous one.
  rising(array) {
    let value = 0;
    for (let i = 0; i < array.length; i++) array[i] = value += this.signed();
    return array;
  }

  list(read) {
    return Array.from({ length: this.number() }, () => read());
  }
}

// The values of enum profile_module_kind. A frame whose name is an address is unsymbolized in any
// module.
const KINDS = ["user", "kernel", "user", "jit", "unnamed", "user", "note", "interpreted"];

// The values of enum value_kind.
const VALUE_KINDS = ["count", "cpu-time", "wall-time", "off-cpu-time", "bytes", "objects"];

// Weight that the kernel counted but no sample covers (lib/profile/unsampled.h).
const UNSAMPLED = /^\[(kernel|not sampled)\]$/;

function readLabels(reader, modules) {
  const count = reader.number();
  const name = Array.from({ length: count }, () => reader.string());
  const short = Array.from(name, (full) => reader.string() || full);
  const module = reader.column(new Uint32Array(count));
  const file = reader.column(new Uint32Array(count));
  const line = reader.column(new Uint32Array(count));
  const flags = reader.column(new Uint8Array(count));
  const isAddress = flags.map((flag) => flag & 1);
  const rank = flags.map((flag) => (flag >> 1) & 7); // enum waiting_rank
  const fate = flags.map((flag) => (flag >> 4) & 7); // enum fate
  const isOwn = flags.map((flag) => flag >> 7); // the user's own code
  const runtime = reader.column(new Uint32Array(count)); // the label of its row in the logical view, or 0
  const kind = Array.from(module, (id, i) => (isAddress[i] ? "unnamed" : modules[id].kind));
  const unsampled = new Set(Array.from(name.keys()).filter((label) => kind[label] === "note" && UNSAMPLED.test(name[label])));
  return { count, name, short, module, file, line, kind, isAddress, rank, fate, isOwn, runtime, unsampled };
}

function readFrames(reader) {
  const count = reader.number();
  const first = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) first[i + 1] = first[i] + reader.number();
  const code = reader.column(new Uint32Array(first[count]));
  const line = reader.column(new Uint32Array(first[count]));
  return { count, first, code, line };
}

function readStacks(reader) {
  const count = reader.number() + 1;
  const parent = new Uint32Array(count);
  for (let i = 1; i < count; i++) parent[i] = i - reader.number();
  const frame = new Uint32Array(count);
  reader.column(frame.subarray(1));
  return { count, parent, frame };
}

// Reads label sets. thread: a number; tags: texts such as "request=checkout".
function readSets(reader, threads) {
  const tags = reader.list(() => [reader.string(), reader.string()]);
  return reader.list(() => {
    const thread = reader.number();
    const own = reader.list(() => tags[reader.number()]);
    return { ...threads[thread], thread, own, tags: own.map((tag) => tag.join("=")) };
  });
}

// Reads aggregated samples. `samples` is the number of samples of each, `idle` whether it is idle time
// (lib/report/idle.h).
function readSamples(reader, events, sets) {
  const count = reader.number();
  const stack = reader.rising(new Uint32Array(count));
  const set = reader.column(new Uint32Array(count));
  const thread = set.map((id) => sets[id].thread);
  const event = reader.column(new Uint32Array(count));
  const idle = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    idle[i] = event[i] & 1;
    event[i] >>>= 1;
  }
  const samples = reader.column(new Float64Array(count));
  const weight = new Float64Array(count);
  for (let i = 0; i < count; i++) weight[i] = samples[i] * events[event[i]].each + reader.signed();
  return { count, stack, set, thread, event, idle, samples, weight };
}

// Reads times in microseconds since the start of the recording. A large profile contains only every
// `each`th timed sample.
function readTimedSamples(reader) {
  const count = reader.number();
  const each = reader.number();
  const time = reader.rising(new Float64Array(count));
  const cpu = reader.column(new Uint32Array(count)).map((id) => id & 0xffff); // bounded, because each CPU gets a lane
  const sample = reader.column(new Uint32Array(count));
  return { count, each, time, cpu, sample };
}

// Reads intervals in microseconds since the start of the recording. Waits have weights in
// nanoseconds; lifetimes of blocks (memory.js) have weights in bytes. In a large profile, several
// short waits of a sample are merged into one interval of up to spanNs, whose weight is then less
// than its length.
function readIntervals(reader) {
  const count = reader.number();
  const spanNs = reader.number();
  const end = reader.rising(new Float64Array(count));
  const length = reader.column(new Float64Array(count));
  const weight = length.map((ns) => ns - reader.signed());
  const sample = reader.column(new Uint32Array(count));
  const start = end.map((ns, i) => (ns - length[i]) / 1e3);
  return { count, spanNs, start, end: end.map((ns) => ns / 1e3), weight, sample };
}

// Reads the text of source lines, by file number and line.
function readSources(reader) {
  const sources = new Map();
  for (let file = reader.number(); file; file = reader.number())
    sources.set(file, new Map(reader.list(() => [reader.number(), reader.string()])));
  return sources;
}

// Reads what only a comparison has: texts, and the changes of functions as shares.
function readComparison(reader) {
  const share = () => reader.signed() / 1e5;
  const change = () => {
    const [before, after, margin, evidence] = [share(), share(), share(), reader.number()];
    return { before, after, margin, isNotable: evidence > 0, isSignificant: evidence > 1 };
  };
  const lines = () => reader.string().split("\n").filter(Boolean);
  const comparison = { verdict: reader.string(), causes: lines(), sides: lines(), uncertainty: lines(), of: reader.string(),
    recordings: reader.number(), isGuess: reader.number() === 1 };
  const rows = reader.list(() => [reader.number(), { self: change(), total: change() }]);
  return { ...comparison, rows: new Map(rows.map(([label, row], rank) => [label, { rank, ...row }])) };
}

// Makes one thread of those with the same number: a thread that was renamed, or whose process runs
// another program. Its name is the one with most samples. Label sets keep the name that they were
// recorded with.
function mergeThreads(profile) {
  const { threads, sets, samples } = profile;
  const counts = new Float64Array(threads.length);
  samples.thread.forEach((thread, i) => counts[thread] += samples.samples[i]);
  const numbers = new Map();
  const merged = [];
  const most = [];
  const numberOf = threads.map((thread, i) => {
    const key = thread.tid < 0 ? -1 - i : `${thread.pid} ${thread.tid}`;
    if (!numbers.has(key)) numbers.set(key, merged.push(thread) - 1);
    const number = numbers.get(key);
    if (!(most[number] >= counts[i])) [merged[number], most[number]] = [thread, counts[i]];
    return number;
  });
  if (merged.length === threads.length) return;
  for (const set of sets) set.thread = numberOf[set.thread];
  samples.thread = samples.thread.map((thread) => numberOf[thread]);
  profile.threads = merged;
}

// Appends labels for the levels of the tree that group by process, process name, thread or tag.
function addGroups(profile) {
  const { labels, threads, sets } = profile;
  const processes = new Map();
  const names = new Map();
  const add = (name) => {
    labels.name.push(name);
    labels.short.push(name);
    labels.kind.push("group");
    return labels.name.length - 1;
  };
  const named = (name, what, id) => (id < 0 ? name || what : `${name || what} (${id})`);
  for (const thread of threads) thread.label = add(named(thread.name || thread.process, "thread", thread.tid));
  for (const set of sets) {
    const process = named(set.process, "process", set.pid);
    if (!processes.has(process)) processes.set(process, add(process));
    set.processLabel = processes.get(process);
    const name = named(set.process, "process", -1);
    if (!names.has(name)) names.set(name, add(name));
    set.nameLabel = names.get(name);
    set.label = threads[set.thread].label;
  }
  profile.processCount = processes.size;
  profile.processNameCount = names.size;
  profile.keys = [...new Set(sets.flatMap(({ own }) => own.map(([key]) => key)))].sort();
  for (const key of profile.keys) {
    const values = new Map();
    for (const set of sets) {
      const value = set.own.filter(([other]) => other === key).map((tag) => tag[1]).join(", ") || "(none)";
      if (!values.has(value)) values.set(value, add(value));
      (set.groups ??= new Map()).set(key, values.get(value));
    }
  }
}

export function decode(bytes) {
  const reader = new Reader(bytes);
  const number = () => reader.number();
  const string = () => reader.string();
  const info = { title: string(), command: string(), host: string(), kernel: string(), quality: string(), runtimes: string(), remarks: string(),
    startMs: number(), durationUs: number(), compares: number(),
    isChosen: number() === 1, // the event to show first
    waiting: string(), // where the time of all threads went
    lines: number(), glue: number(), isLogical: number() === 1 }; // frames of the mean stack; whether to open the logical view
  const events = reader.list(() => ({ name: string(), unit: string(), kind: VALUE_KINDS[number()] || "count",
    scale: number(), oneValue: number() === 1, period: number(), frequency: number(), each: number() }));
  const modules = reader.list(() => ({ path: string(), kind: KINDS[number()] || "unnamed" }));
  const files = reader.list(string);
  const labels = readLabels(reader, modules);
  const frames = readFrames(reader);
  const stacks = readStacks(reader);
  const threads = reader.list(() => ({ pid: number() - 1, tid: number() - 1, process: string(), name: string() }));
  const sets = readSets(reader, threads);
  const samples = readSamples(reader, events, sets);
  const timedSamples = readTimedSamples(reader);
  const intervals = readIntervals(reader);
  const markers = reader.list(() => ({ kind: number(), time: reader.signed(), cpu: number(), pid: number() - 1,
    tid: number() - 1, text: string(), count: number() }));
  const sources = readSources(reader);
  const comparison = info.compares ? readComparison(reader) : null;
  if (comparison) for (const event of events) event.scale /= comparison.recordings;
  const profile = { info, events, modules, files, labels, frames, stacks, threads, sets, samples, timedSamples, intervals, markers, sources, comparison };
  mergeThreads(profile);
  markStates(profile);
  profile.measures = addWallClock(profile);
  profile.running = runningOf(profile);
  takeMemory(profile);
  profile.hasTimes = timedSamples.count + intervals.count > 0; // times of samples, waits or blocks
  addGroups(profile);
  return profile;
}

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const packed = atob(base64);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  return bytes;
}

// Decodes the data in the page: base64 of gzip.
export async function unpack(base64) {
  const bytes = bytesOf(base64.trim());
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
