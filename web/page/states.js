// The states of each thread over time: running, runnable, or waiting for a reason.

import { isPool } from "./lanes.js";
import { STATES } from "./reasons.js";

const IDLE_RUNS = 0.001; // an idle thread runs for at most this share of its life
const IDLE_WANTS = 0.01; // an idle thread is runnable for at most this share; the machine may be busy
const IDLE_WAITS = 0.9; // an idle thread spends at least this share of its waiting time at one stack
const RESTLESS = ["running", "wanted", "disk"]; // states that an idle thread's longest wait does not have

// Returns a flag for each event: whether it is the time of threads.
export const ofThreads = ({ events }) => events.map(({ kind }) => kind === "cpu-time" || kind === "off-cpu-time");

const isHeld = ({ labels, frames, stacks }, stack) =>
  / held by /.test(labels.name[frames.code[frames.first[stacks.frame[stack] + 1] - 1] >>> 1] ?? "");

// Returns for each thread {running, wanted, waiting, waits, isIdle}: weights in nanoseconds, the
// number of waits, and whether it is idle. A thread is idle if it hardly ran and spent nearly all
// of its time waiting at one stack. A thread that waits for a lock that another thread holds is not
// idle.
export function livesOf(profile) {
  const { samples, threads, events } = profile;
  const lives = threads.map(() => ({ running: 0, wanted: 0, waiting: 0, waits: 0, longest: 0, place: -1 }));
  for (let sample = 0; sample < samples.count; sample++) {
    const life = lives[samples.thread[sample]];
    const state = STATES[samples.state[sample]];
    const weight = samples.weight[sample];
    if (events[samples.event[sample]].kind !== (state === "running" ? "cpu-time" : "off-cpu-time")) continue;
    life[state === "running" || state === "wanted" ? state : "waiting"] += weight;
    if (state === "running" || state === "wanted") continue;
    life.waits += samples.samples[sample];
    if (weight > life.longest) Object.assign(life, { longest: weight, place: sample });
  }
  lives.forEach((life, thread) => (life.isIdle = isIdle(profile, life, threads[thread])));
  // At least one thread must remain: preferably one that is not a pseudo-thread.
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

// Adds a rate to the bins from `from` to `to`, which may be fractions. slopes: changes of the rate
// at bins that are covered entirely, so that a long wait costs no more than a short one.
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

// Returns the average number of threads in each state, for each bin. rowOf: the row of each sample,
// below `rows`, or -1 to skip it. Row r starts at r * (bins + 1). A sample of CPU time covers the
// time before it. An interval counts for its weight in nanoseconds, or for that times a factor by
// sample.
export function stateCounts({ samples, timedSamples, intervals }, rows, bins, rowOf, [from, to], factors = null) {
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
    const weight = intervals.weight[i] * (factors?.[sample] ?? 1);
    spread(counts, slopes, rowOf[sample] * stride, bins, start, end, weight / 1e3 / (intervals.end[i] - intervals.start[i]));
  }
  for (let row = 0; row < rows; row++)
    for (let i = row * stride, sum = 0; i < (row + 1) * stride; i++) counts[i] += sum += slopes[i];
  return counts;
}

// Returns what one of the threads did between two times: {sample, start, end, weight}, times in microseconds,
// weight in nanoseconds. It is the interval that covers most of that time, else a sample of CPU
// time in it, else null. isWanted: a flag for each event.
export function stateAt(profile, threads, [from, to], isWanted = ofThreads(profile)) {
  const { samples, timedSamples, intervals } = profile;
  let best = null;
  let most = 0;
  for (let i = 0; i < intervals.count; i++) {
    const sample = intervals.sample[i];
    if (intervals.end[i] <= from || intervals.start[i] >= to || !isWanted[samples.event[sample]] || !threads.includes(samples.thread[sample])) continue;
    const part = Math.min(to, intervals.end[i]) - Math.max(from, intervals.start[i]);
    const weight = (part * intervals.weight[i]) / (intervals.end[i] - intervals.start[i]);
    if (weight > most) [most, best] = [weight, i];
  }
  const enough = (to - from) * 500; // half of the time, in nanoseconds
  const count = most < enough ? timedSamples.count : 0;
  for (let i = 0; i < count; i++) {
    const sample = timedSamples.sample[i];
    if (samples.state[sample] || timedSamples.time[i] <= from || !isWanted[samples.event[sample]]) continue;
    const weight = samples.weight[sample] / samples.samples[sample];
    const start = timedSamples.time[i] - weight / 1e3;
    if (start < to && threads.includes(samples.thread[sample])) return { sample, start, end: timedSamples.time[i], weight };
  }
  return best === null ? null : { sample: intervals.sample[best], start: intervals.start[best], end: intervals.end[best], weight: intervals.weight[best] };
}

// Returns the innermost functions of a sample, without reasons and kernel functions.
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
