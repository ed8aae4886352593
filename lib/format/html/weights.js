// What counts: the weight of each cell (stack, thread, event) under the filters.

// worker-*, 1234, main: patterns of the names and numbers of threads and processes, comma between.
export function threadMatcher(pattern) {
  const wanted = pattern.split(",").map((part) => part.trim()).filter(Boolean).map((part) =>
    new RegExp(`^${part.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".")}$`, "is"));
  if (!wanted.length) return () => true;
  return (thread) => wanted.some((regexp) =>
    [thread.name, thread.process, String(thread.pid), String(thread.tid)].some((text) => regexp.test(text)));
}

// view: event, bySamples, threads (a pattern), range (microseconds, or null), cells (a flag for each
// that counts, or null).
export function cellWeights(profile, view) {
  const { cells, moments, threads } = profile;
  const included = Uint8Array.from(threads, threadMatcher(view.threads));
  const value = view.bySamples ? cells.samples : cells.weight;
  const weights = new Float64Array(cells.count);
  for (let i = 0; i < cells.count; i++)
    if (cells.event[i] === view.event && included[cells.thread[i]] && (!view.cells || view.cells[i])) weights[i] = value[i];
  return view.range ? weightsWithin(moments, cells, weights, view.range) : weights;
}

// Of each cell what its moments in the range have of its weight.
function weightsWithin({ count, each, time, cell }, cells, whole, [from, to]) {
  const ofOne = whole.map((weight, i) => weight && (weight / cells.samples[i]) * each);
  const weights = new Float64Array(cells.count);
  for (let i = 0; i < count; i++) {
    const at = time[i];
    if (at >= from && at < to) weights[cell[i]] += ofOne[cell[i]];
  }
  return weights;
}

// Samples over time, in rows of bins over a span of microseconds. keys: of each moment what chooses its row, its
// cell or its CPU; rowOf: the row of each key, or -1.
export function histogram({ moments, info }, rows, bins, keys, rowOf, [from, to] = [0, Math.max(1, info.durationUs)]) {
  const { count, each, time } = moments;
  const counts = new Float64Array(rows * bins);
  const perUs = bins / (to - from);
  const isWhole = from === 0 && to >= info.durationUs; // then what is a little outside is at its edges
  for (let i = 0; i < count; i++) {
    const row = rowOf[keys[i]];
    if (row < 0) continue;
    const bin = Math.floor((time[i] - from) * perUs);
    if (bin >= 0 && bin < bins) counts[row * bins + bin] += each;
    else if (isWhole) counts[row * bins + (bin < 0 ? 0 : bins - 1)] += each;
  }
  return counts;
}
