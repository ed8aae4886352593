// The logical view: stacks without the code of language runtimes, computed like in
// lib/report/logical.c.

// Values of enum fate. The program's functions have 0.
const WORK = 1;
const ADDRESS = 2;
const SCHEDULER = 5;
const FIXED = 6;

// Returns for each frame the index after its innermost line of the program, and for each stack
// whether a stack below it contains a line of the program.
function findProgram({ labels: { fate }, frames, stacks }) {
  const until = new Uint32Array(frames.count);
  for (let frame = 0; frame < frames.count; frame++)
    for (let i = frames.first[frame]; i < frames.first[frame + 1]; i++) if (!fate[frames.code[i] >>> 1]) until[frame] = i + 1;
  const leads = new Uint8Array(stacks.count);
  for (let stack = stacks.count; --stack > 0; ) {
    const frame = stacks.frame[stack];
    if ((leads[stack] || until[frame]) && fate[frames.code[frames.first[frame]] >>> 1] !== FIXED) leads[stacks.parent[stack]] = 1;
  }
  return { until, leads };
}

const ROOT = { at: 0, count: 0, runtime: 0, isScheduler: false };

class Folder {
  constructor({ labels, frames }) {
    this.labels = labels;
    this.old = frames;
    this.frames = { first: [0], code: [], line: [], folded: [] };
    this.stacks = { parent: [0], frame: [0] };
    this.wholes = new Map(); // the numbers of frames that are unchanged
  }

  // Adds a line to the frame under construction. count: the number of lines folded before it.
  keep(code, line, count) {
    const { frames } = this;
    frames.code.push(frames.code.length > frames.first[frames.first.length - 1] ? code : code & ~1);
    frames.line.push(line);
    frames.folded.push(count);
  }

  // Ends the frame and returns its number.
  made() {
    return this.frames.first.push(this.frames.code.length) - 2;
  }

  push(at, frame) {
    this.stacks.frame.push(frame);
    return this.stacks.parent.push(at) - 1;
  }

  pushWhole(at, frame) {
    const { first, code, line } = this.old;
    if (!this.wholes.has(frame)) {
      for (let i = first[frame]; i < first[frame + 1]; i++) this.keep(code[i], line[i], 0);
      this.wholes.set(frame, this.made());
    }
    return this.push(at, this.wholes.get(frame));
  }

  // Returns the stack that remains if glue leads to no program code. If the glue's runtime has a
  // row, the stack ends in that row.
  end({ at, count, runtime, isScheduler }) {
    if (!runtime || (at && !isScheduler)) return at;
    this.keep(runtime * 2, 0, count);
    return this.push(at, this.made());
  }

  // Returns whether a line of this label is folded. Glue is; library code is if it runs for a
  // scheduler; an unsymbolized address of a library is if it is the root.
  isFolded(label, { at, isScheduler }, leads, isFirst) {
    const fate = this.labels.fate[label];
    if (fate !== WORK && fate !== ADDRESS) return fate > ADDRESS && fate < FIXED;
    return (isScheduler && !leads) || (fate === ADDRESS && leads && !at && isFirst);
  }

  // Returns the place below a frame: the remaining stack, and the glue since then.
  step(place, frame, leads, until) {
    const { fate, runtime } = this.labels;
    const { first, code, line } = this.old;
    let [now, kept] = [place, 0];
    for (let i = first[frame]; i < first[frame + 1]; i++) {
      const label = code[i] >>> 1;
      if (!kept && fate[label] === FIXED) now = { ...ROOT, at: this.end(now) };
      if (this.isFolded(label, now, leads || i < until, !kept)) {
        const isNamed = runtime[label] && (!now.isScheduler || fate[label] === SCHEDULER);
        now = { at: now.at, count: now.count + 1, runtime: isNamed ? runtime[label] : now.runtime,
          isScheduler: isNamed ? fate[label] === SCHEDULER : now.isScheduler };
      } else {
        this.keep(code[i], line[i], now.count);
        kept++;
        if (now.count) now = { ...ROOT, at: now.at };
      }
    }
    return kept ? { ...now, at: this.push(now.at, this.made()) } : now;
  }
}

// Returns a copy of the profile with logical stacks. frames.folded: by line.
export function logicalOf(profile) {
  const { labels: { fate }, frames, stacks, samples } = profile;
  const { until, leads } = findProgram(profile);
  const folder = new Folder(profile);
  const isWhole = until.map((_, frame) => Number(frames.code.subarray(frames.first[frame], frames.first[frame + 1])
    .every((code) => fate[code >>> 1] <= WORK)));
  const places = [ROOT];
  for (let stack = 1; stack < stacks.count; stack++) {
    const place = places[stacks.parent[stack]];
    const frame = stacks.frame[stack];
    places.push(!place.count && isWhole[frame] ? { ...ROOT, at: folder.pushWhole(place.at, frame) }
      : folder.step(place, frame, leads[stack] > 0, until[frame]));
  }
  const ends = new Uint32Array(stacks.count);
  const end = (stack) => (ends[stack] ||= folder.end(places[stack]) || (stack && folder.pushWhole(0, stacks.frame[stack])));
  const stack = samples.stack.map(end);
  const numbers = (lists) => Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, Uint32Array.from(list)]));
  return { ...profile, frames: { count: folder.frames.first.length - 1, ...numbers(folder.frames) },
    stacks: { count: folder.stacks.parent.length, ...numbers(folder.stacks) }, samples: { ...samples, stack } };
}
