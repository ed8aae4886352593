// Memory over time, computed from the lifetimes of sampled blocks: intervals of the event
// alloc_space, whose weights are bytes.

const NAMES = { bytes: "alloc_space", objects: "alloc_objects", live: "inuse_space" };

// Moves the lifetimes of blocks from profile.intervals to profile.blocks, so that only waits stay.
// Sets profile.memory to the event numbers {bytes, objects, live}, or to null if the profile lacks
// one of these events.
export function takeMemory(profile) {
  const { events, samples, intervals, info } = profile;
  const found = Object.fromEntries(Object.entries(NAMES).map(([kind, name]) => [kind, events.findIndex((event) => event.name === name)]));
  profile.memory = Object.values(found).includes(-1) || info.compares ? null : found;
  const isBlock = Uint8Array.from(intervals.sample, (sample) => Number(samples.event[sample] === found.bytes));
  const part = (flag) => {
    const kept = (array) => array.filter((_, i) => isBlock[i] === flag);
    const [start, end, weight, sample] = [intervals.start, intervals.end, intervals.weight, intervals.sample].map(kept);
    return { count: sample.length, spanNs: intervals.spanNs, start, end, weight, sample };
  };
  profile.blocks = part(1);
  if (profile.blocks.count) profile.intervals = part(0);
}

// Returns the live bytes over time: bytes[i] from time[i] on. sets: a flag for each label set.
export function liveSteps({ blocks, samples }, sets) {
  const { start, end, weight, sample } = blocks;
  const shown = Uint32Array.from(sample.keys()).filter((i) => end[i] > start[i] && sets[samples.set[sample[i]]]);
  const starts = shown.slice().sort((a, b) => start[a] - start[b]);
  const ends = shown.slice().sort((a, b) => end[a] - end[b]);
  const time = new Float64Array(2 * shown.length);
  const bytes = new Float64Array(2 * shown.length);
  for (let i = 0, s = 0, e = 0, sum = 0; i < time.length; i++) {
    const isEnd = s === starts.length || end[ends[e]] <= start[starts[s]];
    time[i] = isEnd ? end[ends[e]] : start[starts[s]];
    bytes[i] = sum += isEnd ? -weight[ends[e++]] : weight[starts[s++]];
  }
  return { time, bytes };
}

// Returns the index of the step at a time, or -1 before the first step.
function stepAt({ time }, at) {
  let low = 0;
  let high = time.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export const bytesAt = (steps, at) => steps.bytes[stepAt(steps, at)] ?? 0;

// Returns the moment of peak live memory, at or after `from` and before `to`.
export function peakWithin(steps, [from, to]) {
  const first = stepAt(steps, from);
  const peak = { time: from, bytes: steps.bytes[first] ?? 0 };
  for (let i = first + 1; i < steps.time.length && steps.time[i] < to; i++)
    if (steps.bytes[i] > peak.bytes) Object.assign(peak, { time: steps.time[i], bytes: steps.bytes[i] });
  return peak;
}

// Returns the peak of live bytes in each of several equal parts of a span.
export function liveByBin(steps, bins, [from, to]) {
  const most = new Float64Array(bins);
  const width = (to - from) / bins;
  for (let bin = 0; bin < bins; bin++) most[bin] = peakWithin(steps, [from + bin * width, from + (bin + 1) * width]).bytes;
  return most;
}

// Returns, for each sample of alloc_space, how many objects a byte of it stands for. The
// corresponding sample of alloc_objects has the same stack and labels.
function objectsPerByte({ samples, memory }) {
  const objects = new Map();
  const key = (i) => `${samples.stack[i]} ${samples.set[i]}`;
  for (let i = 0; i < samples.count; i++) if (samples.event[i] === memory.objects) objects.set(key(i), samples.weight[i]);
  return samples.weight.map((weight, i) => (samples.event[i] === memory.bytes && weight ? (objects.get(key(i)) ?? 0) / weight : 0));
}

export const isOfMemory = ({ memory, blocks }, event) => memory !== null && blocks.count > 0 && Object.values(memory).includes(event);

// Returns the weights of the alloc_space samples for a memory event in a range: the memory
// allocated in the range, or the memory live at the peak within it. sets, kept: a flag for each
// label set and each sample (null: all).
export function memoryWithin(profile, { event, bySamples, range }, sets, kept) {
  const { samples, blocks, memory } = profile;
  const { start, end, weight, sample } = blocks;
  const weights = new Float64Array(samples.count);
  const isLive = event === memory.live;
  const at = isLive ? peakWithin(liveSteps(profile, sets), range).time : 0;
  const factors = event === memory.objects && !bySamples ? objectsPerByte(profile) : null;
  for (let i = 0; i < blocks.count; i++) {
    const id = sample[i];
    const isIn = isLive ? start[i] <= at && at < end[i] : start[i] >= range[0] && start[i] < range[1];
    if (isIn && sets[samples.set[id]] && (!kept || kept[id])) weights[id] += bySamples ? 1 : weight[i] * (factors ? factors[id] : 1);
  }
  return weights;
}
