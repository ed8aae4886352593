// The profile as html.c writes it: numbers as LEB128, tables column by column.

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
    this.text = new TextDecoder();
  }

  // Up to 2^53, exactly; most are short.
  number() {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.bytes[this.at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    for (let factor = 2 ** 28; ; factor *= 128) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new RangeError("the data of this page is cut off");
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  // 0, -1, 1, -2, …
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

  // Each number but the first as its difference from the one before.
  rising(array) {
    let value = 0;
    for (let i = 0; i < array.length; i++) array[i] = value += this.signed();
    return array;
  }

  list(read) {
    return Array.from({ length: this.number() }, () => read());
  }
}

// As enum profile_module_kind has them. What is called by its address has no name, wherever it is.
const KINDS = ["user", "kernel", "user", "jit", "unnamed", "user", "note"];

function readLabels(reader, modules) {
  const count = reader.number();
  const name = Array.from({ length: count }, () => reader.string());
  const module = reader.column(new Uint32Array(count));
  const file = reader.column(new Uint32Array(count));
  const line = reader.column(new Uint32Array(count));
  const isAddress = reader.column(new Uint8Array(count));
  const kind = Array.from(module, (id, i) => (isAddress[i] ? "unnamed" : modules[id].kind));
  return { count, name, module, file, line, kind };
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

function readCells(reader, events) {
  const count = reader.number();
  const stack = reader.rising(new Uint32Array(count));
  const thread = reader.column(new Uint32Array(count));
  const event = reader.column(new Uint32Array(count));
  const samples = reader.column(new Float64Array(count));
  const weight = new Float64Array(count);
  for (let i = 0; i < count; i++) weight[i] = samples[i] * events[event[i]].each + reader.signed();
  return { count, stack, thread, event, samples, weight };
}

// Times are in microseconds since the recording began. Of very many moments each stands for several.
function readMoments(reader) {
  const count = reader.number();
  const each = reader.number();
  const time = reader.rising(new Float64Array(count));
  const cpu = reader.column(new Uint32Array(count)).map((id) => id & 0xffff); // whatever a file claims, a lane each can be counted
  const cell = reader.column(new Uint32Array(count));
  return { count, each, time, cpu, cell };
}

// The text of lines, by number of file and line.
function readSources(reader) {
  const sources = new Map();
  for (let file = reader.number(); file; file = reader.number())
    sources.set(file, new Map(reader.list(() => [reader.number(), reader.string()])));
  return sources;
}

// The levels that stand for a process or a thread have labels too, behind those of the profile.
function addGroups(profile) {
  const { labels, threads } = profile;
  const processes = new Map();
  const add = (name) => {
    labels.name.push(name);
    labels.kind.push("group");
    return labels.name.length - 1;
  };
  const named = (name, what, id) => (id < 0 ? name || what : `${name || what} (${id})`);
  for (const thread of threads) {
    const process = named(thread.process, "process", thread.pid);
    if (!processes.has(process)) processes.set(process, add(process));
    thread.processLabel = processes.get(process);
    thread.label = add(named(thread.name || thread.process, "thread", thread.tid));
  }
  profile.processCount = processes.size;
}

export function decode(bytes) {
  const reader = new Reader(bytes);
  const number = () => reader.number();
  const string = () => reader.string();
  const info = { command: string(), host: string(), kernel: string(), quality: string(), remarks: string(),
    startMs: number(), durationUs: number(), compares: number() };
  const events = reader.list(() => ({ name: string(), unit: string(), countsNs: number() === 1,
    oneValue: number() === 1, period: number(), frequency: number(), each: number() }));
  const modules = reader.list(() => ({ path: string(), kind: KINDS[number()] || "unnamed" }));
  const files = reader.list(string);
  const labels = readLabels(reader, modules);
  const frames = readFrames(reader);
  const stacks = readStacks(reader);
  const threads = reader.list(() => ({ pid: number() - 1, tid: number() - 1, process: string(), name: string() }));
  const cells = readCells(reader, events);
  const moments = readMoments(reader);
  const markers = reader.list(() => ({ kind: number(), time: reader.signed(), cpu: number(), pid: number() - 1,
    tid: number() - 1, text: string(), count: number() }));
  const sources = readSources(reader);
  const profile = { info, events, modules, files, labels, frames, stacks, threads, cells, moments, markers, sources };
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

// From the text that stands in the page.
export async function unpack(base64) {
  const bytes = bytesOf(base64.trim());
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
