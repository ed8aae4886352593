// Profiles for the tests, in the bytes that html.c writes.

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

// "main>inline:7" is a frame: main, and inline in it at line 7.
function linesOf(frame, labels) {
  return frame.split(">").map((part, i) => {
    const [, name, line] = /^(.*?)(?::(\d+))?$/s.exec(part);
    return { code: labels.of(name) * 2 + (i > 0 ? 1 : 0), line: Number(line || 0) };
  });
}

// samples: {stack: ["main", "f>g:7"], thread, event, samples, weight, times: [[us, cpu], …]}.
export function encode({ samples, threads = [{ pid: 1, tid: 1, process: "app", name: "app" }], events, modules, labels = {},
  info = {}, each = 1, markers = [], sources = {} }) {
  const names = new Ids();
  const frames = new Ids();
  const stacks = new Ids();
  const cells = samples.map(({ stack, thread = 0, event = 0, samples: count = 1, weight = count * 1000 }) => {
    let id = 0;
    for (const frame of stack) {
      linesOf(frame, names);
      id = stacks.of([id, frames.of(frame)]) + 1;
    }
    return { stack: id, thread, event, count, weight };
  });
  const moments = samples.flatMap(({ times = [] }, cell) => times.map(([us, cpu]) => ({ us, cpu, cell })))
    .sort((a, b) => a.us - b.us);
  const out = new Writer();
  for (const key of ["command", "host", "kernel", "quality", "remarks"]) out.string(info[key] || "");
  out.number(info.startMs || 0);
  out.numbers([info.durationUs || 1000, info.compares ? 1 : 0]);
  const allEvents = events || [{ name: "cpu-clock", countsNs: true }];
  out.number(allEvents.length);
  for (const { name, unit = "", countsNs = false, oneValue = false, each: weight = 1000 } of allEvents) {
    out.string(name);
    out.string(unit);
    out.numbers([countsNs ? 1 : 0, oneValue ? 1 : 0, 0, 999, weight]);
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
  out.numbers(names.items.map((name) => labels[name]?.module || 0));
  out.numbers(names.items.map((name) => files.of(labels[name]?.file || "")));
  out.numbers(names.items.map((name) => labels[name]?.line || 0));
  out.numbers(names.items.map((name) => (labels[name]?.isAddress ? 1 : 0)));
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
  out.number(cells.length);
  out.rising(cells.map(({ stack }) => stack));
  out.numbers(cells.map(({ thread }) => thread));
  out.numbers(cells.map(({ event }) => event));
  out.numbers(cells.map(({ count }) => count));
  cells.forEach(({ weight, count, event }) => out.signed(weight - count * (allEvents[event].each ?? 1000)));
  out.numbers([moments.length, each]);
  out.rising(moments.map(({ us }) => us));
  out.numbers(moments.map(({ cpu }) => cpu));
  out.numbers(moments.map(({ cell }) => cell));
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
  return Uint8Array.from(out.bytes);
}
