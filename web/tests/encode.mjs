// Encodes profiles for the tests in the format that page.c writes.

class Writer {
  constructor() {
    this.bytes = [];
  }

  number(value) {
    for (; value >= 128; value = Math.floor(value / 128)) this.bytes.push((value % 128) + 128);
    this.bytes.push(value);
  }

  signed(value) {
    this.number(value < 0 ? -2 * value - 1 : 2 * value);
  }

  string(text) {
    const bytes = new TextEncoder().encode(text);
    this.number(bytes.length);
    this.bytes.push(...bytes);
  }

  numbers(values) {
    for (const value of values) this.number(value);
  }

  rising(values) {
    values.forEach((value, i) => this.signed(value - (i ? values[i - 1] : 0)));
  }
}

class Ids {
  constructor() {
    this.items = [];
    this.ids = new Map();
  }

  of(item) {
    const key = JSON.stringify(item);
    if (!this.ids.has(key)) this.ids.set(key, this.items.push(item) - 1);
    return this.ids.get(key);
  }
}

// "main>inline:7" is a frame of main with an inlined call of inline at line 7.
function linesOf(frame, labels) {
  return frame.split(">").map((part, i) => {
    const [, name, line] = /^(.*?)(?::(\d+))?$/s.exec(part);
    return { code: labels.of(name) * 2 + (i > 0 ? 1 : 0), line: Number(line || 0) };
  });
}

// changes: NAME: [self, total], each [before, after, margin, evidence].
function encodeComparison(out, names, { verdict = "slower", causes = "", sides = "", uncertainty = "", of = "old's CPU time", recordings = 1,
  isGuess = false, changes = {} } = {}) {
  for (const text of [verdict, causes, sides, uncertainty, of]) out.string(text);
  out.numbers([recordings, isGuess ? 1 : 0, Object.keys(changes).length]);
  for (const [name, both] of Object.entries(changes)) {
    out.number(names.of(name));
    for (const [before, after, margin, evidence] of both) {
      for (const share of [before, after, margin]) out.signed(Math.round(share * 1e5));
      out.number(evidence);
    }
  }
}

// samples: {stack: ["main", "f>g:7"], thread, tags: [[key, value], …], event, idle, samples, weight,
// times: [[us, cpu], …], waits: [[from us, to us, weight in ns (default: all of it)], …]}.
export function encode({ samples, threads = [{ pid: 1, tid: 1, process: "app", name: "app" }], events, modules, labels = {},
  info = {}, each = 1, spanNs = 0, markers = [], sources = {} }) {
  const names = new Ids();
  const frames = new Ids();
  const stacks = new Ids();
  const sets = new Ids();
  threads.forEach((_, thread) => sets.of([thread, []]));
  const rows = samples.map(({ stack, thread = 0, tags = [], event = 0, idle = false, samples: count = 1, weight = count * 1000 }) => {
    let id = 0;
    for (const frame of stack) {
      linesOf(frame, names);
      id = stacks.of([id, frames.of(frame)]) + 1;
    }
    return { stack: id, set: sets.of([thread, tags]), event, idle, count, weight };
  });
  const timed = samples.flatMap(({ times = [] }, sample) => times.map(([us, cpu]) => ({ us, cpu, sample })))
    .sort((a, b) => a.us - b.us);
  const out = new Writer();
  for (const key of ["title", "command", "host", "kernel", "quality", "runtimes", "remarks"]) out.string(info[key] || "");
  out.number(info.startMs || 0);
  out.numbers([info.durationUs || 1000, Number(info.compares) || 0]);
  out.number(info.isChosen ? 1 : 0);
  out.string(info.waiting || "");
  out.numbers([info.lines || 0, info.glue || 0, info.isLogical ? 1 : 0]);
  for (const { runtime } of Object.values(labels)) if (runtime) names.of(runtime);
  const allEvents = events || [{ name: "cpu-clock", unit: "nanoseconds", kind: 1 }];
  out.number(allEvents.length);
  for (const { name, unit = "count", kind = 0, scale = 1, oneValue = false, each: weight = 1000 } of allEvents) {
    out.string(name);
    out.string(unit);
    out.numbers([kind, scale, oneValue ? 1 : 0, 0, 999, weight]);
  }
  const allModules = modules || [{ path: "/bin/app", kind: 0 }];
  out.number(allModules.length);
  for (const { path, kind } of allModules) {
    out.string(path);
    out.number(kind);
  }
  const files = new Ids();
  files.of("");
  for (const name of names.items) files.of(labels[name]?.file || "");
  out.number(files.items.length);
  files.items.forEach((file) => out.string(file));
  out.number(names.items.length);
  names.items.forEach((name) => out.string(name));
  names.items.forEach((name) => out.string(labels[name]?.short || ""));
  out.numbers(names.items.map((name) => labels[name]?.module || 0));
  out.numbers(names.items.map((name) => files.of(labels[name]?.file || "")));
  out.numbers(names.items.map((name) => labels[name]?.line || 0));
  out.numbers(names.items.map((name) => (labels[name]?.isAddress ? 1 : 0) + 2 * (labels[name]?.rank ?? (name.startsWith("[") ? 5 : 1)) + 16 * (labels[name]?.fate ?? 0) +
    128 * (labels[name]?.isOwn ? 1 : 0)));
  out.numbers(names.items.map((name) => (labels[name]?.runtime ? names.of(labels[name].runtime) : 0)));
  const lines = frames.items.map((frame) => linesOf(frame, names));
  out.number(lines.length);
  out.numbers(lines.map((list) => list.length));
  out.numbers(lines.flat().map(({ code }) => code));
  out.numbers(lines.flat().map(({ line }) => line));
  out.number(stacks.items.length);
  out.numbers(stacks.items.map(([parent], i) => i + 1 - parent));
  out.numbers(stacks.items.map(([, frame]) => frame));
  out.number(threads.length);
  for (const { pid, tid, process, name } of threads) {
    out.numbers([pid + 1, tid + 1]);
    out.string(process);
    out.string(name);
  }
  const tags = new Ids();
  const tagsOfSets = sets.items.map(([, own]) => own.map((tag) => tags.of(tag)));
  out.number(tags.items.length);
  tags.items.flat().forEach((text) => out.string(text));
  out.number(sets.items.length);
  sets.items.forEach(([thread], i) => out.numbers([thread, tagsOfSets[i].length, ...tagsOfSets[i]]));
  out.number(rows.length);
  out.rising(rows.map(({ stack }) => stack));
  out.numbers(rows.map(({ set }) => set));
  out.numbers(rows.map(({ event, idle }) => event * 2 + Number(idle)));
  out.numbers(rows.map(({ count }) => count));
  rows.forEach(({ weight, count, event }) => out.signed(weight - count * (allEvents[event].each ?? 1000)));
  out.numbers([timed.length, each]);
  out.rising(timed.map(({ us }) => us));
  out.numbers(timed.map(({ cpu }) => cpu));
  out.numbers(timed.map(({ sample }) => sample));
  const pieces = samples.flatMap(({ waits = [] }, sample) => waits.map(([start, end, weight = (end - start) * 1000]) => ({ start, end, weight, sample })))
    .sort((a, b) => a.end - b.end);
  out.numbers([pieces.length, spanNs]);
  out.rising(pieces.map(({ end }) => end * 1000));
  out.numbers(pieces.map(({ start, end }) => (end - start) * 1000));
  pieces.forEach(({ start, end, weight }) => out.signed((end - start) * 1000 - weight));
  out.numbers(pieces.map(({ sample }) => sample));
  out.number(markers.length);
  for (const { kind, time, cpu = 0, pid = 1, tid = 1, text = "", count = 0 } of markers) {
    out.number(kind);
    out.signed(time);
    out.numbers([cpu, pid + 1, tid + 1]);
    out.string(text);
    out.number(count);
  }
  for (const [file, lines] of Object.entries(sources)) {
    out.number(files.of(file));
    out.number(Object.keys(lines).length);
    for (const [line, text] of Object.entries(lines)) {
      out.number(Number(line));
      out.string(text);
    }
  }
  out.number(0);
  if (info.compares) encodeComparison(out, names, info.comparison);
  return Uint8Array.from(out.bytes);
}
