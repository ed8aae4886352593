// Memory over time, told by the lives of sampled blocks: intervals of the event alloc_space, whose weights are bytes.

const NAMES = { bytes: "alloc_space", objects: "alloc_objects", live: "inuse_space" };

// Moves the lives of blocks out of the intervals, which are those of waiting then, and finds the events of memory:
// {bytes, objects, live} are their numbers. Without these memory is null.
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

// What lived over time: bytes[i] from time[i] on. sets: a flag for each label set.
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

// The number of the step that a time is in; -1: before the first.
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

// The moment from `from` to before `to` at which most lived.
export function peakWithin(steps, [from, to]) {
  const first = stepAt(steps, from);
  const peak = { time: from, bytes: steps.bytes[first] ?? 0 };
  for (let i = first + 1; i < steps.time.length && steps.time[i] < to; i++)
    if (steps.bytes[i] > peak.bytes) Object.assign(peak, { time: steps.time[i], bytes: steps.bytes[i] });
  return peak;
}

// The most that lived in each of several equal parts of a span.
export function liveByBin(steps, bins, [from, to]) {
  const most = new Float64Array(bins);
  const width = (to - from) / bins;
  for (let bin = 0; bin < bins; bin++) most[bin] = peakWithin(steps, [from + bin * width, from + (bin + 1) * width]).bytes;
  return most;
}

// The objects that a byte of each sample of alloc_space stands for: the sample of alloc_objects has its stack and labels.
function objectsPerByte({ samples, memory }) {
  const objects = new Map();
  const key = (i) => `${samples.stack[i]} ${samples.set[i]}`;
  for (let i = 0; i < samples.count; i++) if (samples.event[i] === memory.objects) objects.set(key(i), samples.weight[i]);
  return samples.weight.map((weight, i) => (samples.event[i] === memory.bytes && weight ? (objects.get(key(i)) ?? 0) / weight : 0));
}

export const isOfMemory = ({ memory, blocks }, event) => memory !== null && blocks.count > 0 && Object.values(memory).includes(event);

// Of an event of memory, the weights of samples of alloc_space in a range: what was allocated in it; or what lived at its
// moment with the most. sets, kept: a flag for each label set and each sample (null: all).
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
