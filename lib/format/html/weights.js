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
  const counts = (cell) => cells.event[cell] === view.event && included[cells.thread[cell]] &&
    (!view.cells || view.cells[cell]);
  const weights = new Float64Array(cells.count);
  if (!view.range) {
    for (let i = 0; i < cells.count; i++) if (counts(i)) weights[i] = value[i];
    return weights;
  }
  const [from, to] = view.range;
  for (let i = 0; i < moments.count; i++) {
    const time = moments.time[i];
    const cell = moments.cell[i];
    if (time >= from && time < to && counts(cell))
      weights[cell] += (value[cell] / cells.samples[cell]) * moments.each;
  }
  return weights;
}

// Samples over time, in rows of bins. keys: of each moment what chooses its row, its cell or its CPU;
// rowOf: the row of each key, or -1.
export function histogram({ moments, info }, rows, bins, keys, rowOf) {
  const { count, each, time } = moments;
  const counts = new Float64Array(rows * bins);
  const perUs = bins / Math.max(1, info.durationUs);
  for (let i = 0; i < count; i++) {
    const row = rowOf[keys[i]];
    if (row < 0) continue;
    const bin = Math.floor(time[i] * perUs);
    counts[row * bins + (bin < 0 ? 0 : bin < bins ? bin : bins - 1)] += each;
  }
  return counts;
}
