// The weights of samples (stack, label set, event) under the filters. For the whole recording there
// is a weight for each sample. For a time range there is a list {sample, weight} of those with
// weight in it, because a range contains few of many samples.

import { bitSet, numbersOf, setBit } from "./bits.js";
import { isOfMemory, memoryWithin } from "./memory.js";

// Parses comma-separated patterns of thread and process names and numbers, of ranges of thread
// numbers, and of tags: worker-*,1234,1300-1400,request=check*.
export function threadMatcher(pattern) {
  const parts = pattern.split(",").map((part) => part.trim()).filter(Boolean);
  const ranges = parts.map((part) => /^(\d+)-(\d+)$/.exec(part)).filter(Boolean);
  const wanted = parts.map((part) => new RegExp(`^${part.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".")}$`, "is"));
  if (!wanted.length) return () => true;
  return ({ name, process, pid, tid, tags }) => ranges.some(([, from, to]) => tid >= from && tid <= to) || wanted.some((regexp) =>
    [name, process, String(pid), String(tid), ...tags].some((text) => regexp.test(text)));
}

// Returns a flag for each event: whether it is part of this one.
export const partsOf = ({ events }, event) => Uint8Array.from(events, (_, i) => Number(events[event].parts.includes(i)));

// Returns a flag for each label set: whether its thread belongs to the view.
function includedSets({ sets }, view) {
  const matches = threadMatcher(view.threads);
  return Uint8Array.from(sets, (set) => Number(matches(set)));
}

// Returns the weight of each sample in the whole recording.
export function wholeWeights(profile, view) {
  const { samples } = profile;
  const included = includedSets(profile, view);
  const wanted = partsOf(profile, view.event);
  const value = view.bySamples ? samples.samples : samples.weight;
  const weights = new Float64Array(samples.count);
  for (let i = 0; i < samples.count; i++)
    if (wanted[samples.event[i]] && included[samples.set[i]] && (!view.samples || view.samples[i])) weights[i] = value[i];
  return weights;
}

// Returns the samples with weight in ascending order, so that reading other columns has fewer cache
// misses.
function listed(weights) {
  const sample = new Uint32Array(weights.length);
  let count = 0;
  for (let i = 0; i < weights.length; i++) if (weights[i] > 0) sample[count++] = i;
  return { sample: sample.slice(0, count), weight: weights.filter((weight) => weight > 0) };
}

// view: {event, bySamples, threads (patterns), range (microseconds, or null for all), samples (a
// flag for each, or null for all)}. whole: the result of wholeWeights() for the view, if it is
// known.
export function sampleWeights(profile, view, whole = null) {
  if (view.range && isOfMemory(profile, view.event)) return listed(memoryWithin(profile, view, includedSets(profile, view), view.samples));
  const weights = whole ?? wholeWeights(profile, view);
  return view.range ? weightsWithin(profile, weights, view.range) : listed(weights);
}

const ofOne = new WeakMap(); // by whole weights

// Returns the weight that one timed sample stands for, by sample.
export function weightOfOne({ samples, timedSamples }, whole) {
  if (!ofOne.has(whole)) ofOne.set(whole, whole.map((weight, i) => weight && (weight / samples.samples[i]) * timedSamples.each));
  return ofOne.get(whole);
}

// Returns the index of the first timed sample at or after a time.
function firstFrom({ time, count }, at) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[middle] < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Calls take(interval, weight) for all intervals with weight in the range. An interval has its
// share of its sample's weight (`whole`), reduced to the part that lies in the range.
export function intervalsWithin({ intervals, samples }, whole, [from, to], take) {
  const { count, start, end, weight, sample } = intervals;
  intervals.sums ||= intervals.sample.reduce((sums, id, i) => {
    sums[id] += weight[i];
    return sums;
  }, new Float64Array(samples.count));
  for (let i = 0; i < count; i++) {
    const common = Math.min(to, end[i]) - Math.max(from, start[i]);
    const id = sample[i];
    if (common > 0 && whole[id]) take(i, (whole[id] * weight[i] * common) / ((end[i] - start[i]) * intervals.sums[id]));
  }
}

// Returns the part of each sample's weight that lies in the range, from its timed samples and
// intervals. The unsampled time of a thread is distributed over time like its samples.
function weightsWithin(profile, whole, [from, to]) {
  const { samples, timedSamples, intervals, threads, events } = profile;
  const one = weightOfOne(profile, whole);
  // By sample. Every call leaves all elements 0.
  profile.found ||= { counts: new Uint32Array(samples.count), parts: new Float64Array(samples.count) };
  profile.unsampled ||= [...samples.samples.keys()].filter((i) => !samples.samples[i]);
  const { found: { counts, parts }, unsampled } = profile;
  const bits = bitSet(samples.count);
  const end = firstFrom(timedSamples, to);
  for (let i = firstFrom(timedSamples, from); i < end; i++) {
    const id = timedSamples.sample[i];
    if (!counts[id]++) setBit(bits, id);
  }
  if (unsampled.length) {
    const kind = (i) => samples.thread[i] * events.length + samples.event[i];
    const [all, within] = [0, 1].map(() => new Float64Array(threads.length * events.length));
    for (let i = 0; i < samples.count; i++) {
      if (!samples.samples[i]) continue;
      all[kind(i)] += whole[i];
      within[kind(i)] += counts[i] * one[i];
    }
    for (const i of unsampled) {
      if (!within[kind(i)]) continue;
      parts[i] = (whole[i] * within[kind(i)]) / all[kind(i)];
      setBit(bits, i);
    }
  }
  intervalsWithin(profile, whole, [from, to], (i, part) => {
    parts[intervals.sample[i]] += part;
    setBit(bits, intervals.sample[i]);
  });
  const sample = numbersOf(bits);
  const weight = new Float64Array(sample.length);
  let count = 0;
  for (let i = 0; i < sample.length; i++) {
    const id = sample[i];
    const sum = (counts[id] && counts[id] * one[id]) + parts[id];
    counts[id] = 0;
    parts[id] = 0;
    if (!(sum > 0)) continue;
    sample[count] = id;
    weight[count++] = sum;
  }
  return { sample: sample.subarray(0, count), weight: weight.subarray(0, count) };
}

// Counts timed samples into rows of bins over a span of microseconds. keys: the sample or CPU of
// each timed sample. rowOf: the row of each key, or -1.
export function histogram({ timedSamples, info }, rows, bins, keys, rowOf, [from, to] = [0, Math.max(1, info.durationUs)]) {
  const { count, each, time } = timedSamples;
  const counts = new Float64Array(rows * bins);
  const perUs = bins / (to - from);
  // Counts samples slightly outside the recording in the first or last bin.
  const isWhole = from === 0 && to >= info.durationUs;
  for (let i = 0; i < count; i++) {
    const row = rowOf[keys[i]];
    if (row < 0) continue;
    const bin = Math.floor((time[i] - from) * perUs);
    if (bin >= 0 && bin < bins) counts[row * bins + bin] += each;
    else if (isWhole) counts[row * bins + (bin < 0 ? 0 : bins - 1)] += each;
  }
  return counts;
}
