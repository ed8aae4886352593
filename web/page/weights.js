// The weight of each sample (stack, label set, event) under the filters.

import { isOfMemory, memoryWithin } from "./memory.js";

// Comma-separated patterns of thread and process names and numbers, and of tags: worker-*,1234,request=check*.
export function threadMatcher(pattern) {
  const wanted = pattern.split(",").map((part) => part.trim()).filter(Boolean).map((part) =>
    new RegExp(`^${part.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".")}$`, "is"));
  if (!wanted.length) return () => true;
  return ({ name, process, pid, tid, tags }) => wanted.some((regexp) =>
    [name, process, String(pid), String(tid), ...tags].some((text) => regexp.test(text)));
}

// A flag for each event: whether it belongs to this one.
export const partsOf = ({ events }, event) => Uint8Array.from(events, (_, i) => Number(events[event].parts.includes(i)));

// view: {event, bySamples, threads (patterns), hidden (a flag for each thread, or null), range (microseconds, or null
// for all), samples (a flag for each, or null for all)}.
export function sampleWeights(profile, view) {
  const { samples, sets } = profile;
  const matches = threadMatcher(view.threads);
  const included = Uint8Array.from(sets, (set) => Number(matches(set) && !view.hidden?.[set.thread]));
  if (view.range && isOfMemory(profile, view.event)) return memoryWithin(profile, view, included, view.samples);
  const wanted = partsOf(profile, view.event);
  const value = view.bySamples ? samples.samples : samples.weight;
  const weights = new Float64Array(samples.count);
  for (let i = 0; i < samples.count; i++)
    if (wanted[samples.event[i]] && included[samples.set[i]] && (!view.samples || view.samples[i])) weights[i] = value[i];
  return view.range ? weightsWithin(profile, weights, view.range) : weights;
}

// Calls take(interval, weight) for all intervals with weight in the range: an interval has its share of its sample's
// weight (`whole`), and the part of it that lies in the range.
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

// The part of each sample's weight that lies in the range, by its timed samples and intervals.
function weightsWithin(profile, whole, [from, to]) {
  const { samples } = profile;
  const { count, each, time, sample } = profile.timedSamples;
  const ofOne = whole.map((weight, i) => weight && (weight / samples.samples[i]) * each);
  const weights = new Float64Array(samples.count);
  for (let i = 0; i < count; i++) {
    const at = time[i];
    if (at >= from && at < to) weights[sample[i]] += ofOne[sample[i]];
  }
  intervalsWithin(profile, whole, [from, to], (i, weight) => { weights[profile.intervals.sample[i]] += weight; });
  return weights;
}

// Counts timed samples into rows of bins over a span of microseconds. keys: for each timed sample its sample or CPU;
// rowOf: the row of each key, or -1.
export function histogram({ timedSamples, info }, rows, bins, keys, rowOf, [from, to] = [0, Math.max(1, info.durationUs)]) {
  const { count, each, time } = timedSamples;
  const counts = new Float64Array(rows * bins);
  const perUs = bins / (to - from);
  // Counts samples slightly outside at the edges.
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
