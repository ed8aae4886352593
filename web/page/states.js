// What each thread did and when: ran, wanted a CPU, waited for one reason or another.

import { STATES } from "./reasons.js";

const POOL = /× \d+ threads$/; // a pseudo thread: threads that never ran
const IDLE_RUNS = 0.001; // of its time, an idle thread runs at most as much
const IDLE_WANTS = 0.01; // … and wants a CPU for at most as much: more when the machine is busy
const IDLE_WAITS = 0.9; // … and waits at one place at least as much
const RESTLESS = ["running", "wanted", "disk"]; // idle threads do nothing of this

const isHeld = ({ labels, frames, stacks }, stack) =>
  / held by /.test(labels.name[frames.code[frames.first[stacks.frame[stack] + 1] - 1] >>> 1] ?? "");

const isPool = ({ tid, name }) => tid < 0 && POOL.test(name);

// For each thread {running, wanted, waiting, waits, isIdle}: weights in nanoseconds, and the number of waits. Idle is a
// thread that never ran, or that hardly did and waited at one place. It is not idle where another thread holds its lock.
export function livesOf(profile) {
  const { samples, threads, events } = profile;
  const lives = threads.map(() => ({ running: 0, wanted: 0, waiting: 0, waits: 0, longest: 0, place: -1 }));
  for (let sample = 0; sample < samples.count; sample++) {
    const life = lives[samples.thread[sample]];
    const state = STATES[samples.state[sample]];
    const weight = samples.weight[sample];
    if (state === "running" && events[samples.event[sample]].kind !== "cpu-time") continue;
    life[state === "running" || state === "wanted" ? state : "waiting"] += weight;
    if (state === "running" || state === "wanted") continue;
    life.waits += samples.samples[sample];
    if (weight > life.longest) Object.assign(life, { longest: weight, place: sample });
  }
  lives.forEach((life, thread) => (life.isIdle = isIdle(profile, life, threads[thread])));
  // Something has to be left: threads of which each is itself, or else all.
  for (const isLeft of [(thread) => !isPool(threads[thread]), () => true])
    if (!lives.some((life) => !life.isIdle && life.running + life.wanted + life.waiting > 0))
      lives.forEach((life, thread) => (life.isIdle &&= !isLeft(thread)));
  return lives;
}

function isIdle(profile, { running, wanted, waiting, longest, place }, thread) {
  const { samples } = profile;
  if (place < 0 || RESTLESS.includes(STATES[samples.state[place]]) || isHeld(profile, samples.own[place])) return false;
  if (isPool(thread)) return true;
  const life = running + wanted + waiting;
  return running <= IDLE_RUNS * life && wanted <= IDLE_WANTS * life && longest >= IDLE_WAITS * waiting;
}

// The lanes, the most active first; pseudo threads last. share: of the thread's time on a CPU; null: unknown.
export function stateLanes({ threads, events }, lives, isShown, most) {
  const knowsCpu = events.some(({ kind }) => kind === "cpu-time");
  const ran = ({ running, wanted }) => running + wanted;
  const order = [...threads.keys()].filter((thread) => ran(lives[thread]) + lives[thread].waiting > 0 && isShown(thread)).sort((a, b) =>
    isPool(threads[a]) - isPool(threads[b]) || ran(lives[b]) - ran(lives[a]) || lives[b].waits - lives[a].waits || lives[b].waiting - lives[a].waiting || a - b);
  const lanes = order.slice(0, most).map((key) => {
    const { name, process, pid, tid } = threads[key];
    const { running, wanted, waiting } = lives[key];
    const id = tid < 0 ? "" : String(tid);
    const words = name || process || "thread";
    return { key, name: words, id, isPool: isPool(threads[key]), pattern: id || words.replaceAll(",", "?"), share: knowsCpu ? running / (running + wanted + waiting) : null,
      process: pid === tid ? "" : process };
  });
  return { lanes, hidden: order.length - lanes.length };
}

// Adds a rate over the bins from `from` to `to`, which can lie anywhere. slopes: where it begins and ends for all bins that
// are covered whole, so that a long wait costs no more than a short one.
export function spread(counts, slopes, first, bins, from, to, rate) {
  const a = Math.max(0, from);
  const b = Math.min(bins, to);
  if (!(b > a)) return;
  const i = Math.floor(a);
  const j = Math.floor(b);
  if (i === j) {
    counts[first + i] += (b - a) * rate;
    return;
  }
  counts[first + i] += (i + 1 - a) * rate;
  counts[first + j] += (b - j) * rate;
  slopes[first + i + 1] += rate;
  slopes[first + j] -= rate;
}

// The number of threads in each state, on average over each bin: for each sample its row by rowOf (below `rows`), or -1.
// Row r is at r * (bins + 1). A sample of CPU time is the time before it.
export function stateCounts({ samples, timedSamples, intervals }, rows, bins, rowOf, [from, to]) {
  const stride = bins + 1;
  const counts = new Float64Array(rows * stride);
  const slopes = new Float64Array(rows * stride);
  const perUs = bins / (to - from);
  for (let i = 0; i < timedSamples.count; i++) {
    const sample = timedSamples.sample[i];
    if (rowOf[sample] < 0) continue;
    const end = (timedSamples.time[i] - from) * perUs;
    const long = (samples.weight[sample] / samples.samples[sample] / 1e3) * perUs;
    spread(counts, slopes, rowOf[sample] * stride, bins, end - long, end, timedSamples.each);
  }
  for (let i = 0; i < intervals.count; i++) {
    const sample = intervals.sample[i];
    if (rowOf[sample] < 0) continue;
    const start = (intervals.start[i] - from) * perUs;
    const end = (intervals.end[i] - from) * perUs;
    spread(counts, slopes, rowOf[sample] * stride, bins, start, end, intervals.weight[i] / 1e3 / (intervals.end[i] - intervals.start[i]));
  }
  for (let row = 0; row < rows; row++)
    for (let i = row * stride, sum = 0; i < (row + 1) * stride; i++) counts[i] += sum += slopes[i];
  return counts;
}

// What a thread did between two times: the interval that most of them belongs to, else a sample of CPU time in them, else null.
// {sample, start, end, weight}; microseconds, the weight in nanoseconds. rowOf: see stateCounts().
export function stateAt({ samples, timedSamples, intervals }, thread, [from, to]) {
  let best = null;
  let most = 0;
  for (let i = 0; i < intervals.count; i++) {
    if (intervals.end[i] <= from || intervals.start[i] >= to || samples.thread[intervals.sample[i]] !== thread) continue;
    const part = Math.min(to, intervals.end[i]) - Math.max(from, intervals.start[i]);
    const weight = (part * intervals.weight[i]) / (intervals.end[i] - intervals.start[i]);
    if (weight > most) [most, best] = [weight, i];
  }
  const enough = (to - from) * 500; // half of the time, in nanoseconds
  const count = most < enough ? timedSamples.count : 0;
  for (let i = 0; i < count; i++) {
    const sample = timedSamples.sample[i];
    if (samples.thread[sample] !== thread || samples.state[sample]) continue;
    const weight = samples.weight[sample] / samples.samples[sample];
    const start = timedSamples.time[i] - weight / 1e3;
    if (start < to && timedSamples.time[i] > from) return { sample, start, end: timedSamples.time[i], weight };
  }
  return best === null ? null : { sample: intervals.sample[best], start: intervals.start[best], end: intervals.end[best], weight: intervals.weight[best] };
}

// The names of the innermost functions of a sample, without reasons and the kernel.
export function functionsOf({ samples, stacks, frames, labels }, sample, most) {
  const found = [];
  for (let stack = samples.own[sample]; stack && found.length < most; stack = stacks.parent[stack]) {
    const frame = stacks.frame[stack];
    for (let i = frames.first[frame + 1]; i-- > frames.first[frame] && found.length < most; ) {
      const label = frames.code[i] >>> 1;
      if (labels.kind[label] !== "kernel" && labels.kind[label] !== "note" && !STATES.includes(labels.kind[label])) found.push(label);
    }
  }
  return found;
}
