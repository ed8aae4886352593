// Elapsed time and the critical path: events whose weights add up to the time that has passed. A
// sample of elapsed time has the label "parallelism", the number of threads that ran. Entries of the
// legend select samples by it: "p1" if one thread ran, "p3-4" if three or four did.

const LABEL = "parallelism";
const MOST_CLASSES = 9;
const CLASS = /^p(\d{1,9})(?:-(\d{1,9}))?$/;

export const isWholeTime = ({ name }) => name === "elapsed" || name === "critical-path";

// Returns the number of threads that ran at the samples of each label set, or -1.
export const runningOf = ({ sets }) => Int32Array.from(sets, ({ own }) => Number(own.find(([key]) => key === LABEL)?.[1] ?? -1));

// Returns {others (the keys of other entries), includes(running)}. Samples of other events, which
// have no number of running threads, are included.
export function parallelismIn(keys) {
  const classes = keys.map((key) => CLASS.exec(key)).filter(Boolean).map(([, from, to = from]) => [Number(from), Number(to)]);
  return { others: keys.filter((key) => !CLASS.test(key)),
    includes: (running) => running < 0 || !classes.length || classes.some(([from, to]) => running >= from && running <= to) };
}

// Returns the text of an entry, "3–4 threads", or null if it is another one.
export function parallelismWords(key) {
  const [found, from, to] = CLASS.exec(key) ?? [];
  return !found ? null : `${from === "0" ? "no" : from}${to ? `–${to}` : ""} ${from === "0" || (from === "1" && !to) ? "thread" : "threads"}`;
}

// Returns the sum of the weights by entry, [[key, weight]], in the order of their numbers of
// threads. Many different numbers are joined: 0, 1, 2, 3-4, 5-8, …
export function parallelismSums({ samples, running }, { sample, weight }) {
  const sums = new Map();
  for (let i = 0; i < sample.length; i++) {
    const threads = running[samples.set[sample[i]]];
    if (threads >= 0) sums.set(threads, (sums.get(threads) ?? 0) + weight[i]);
  }
  const isJoined = sums.size > MOST_CLASSES;
  const classes = new Map();
  for (const [threads, sum] of [...sums].sort(([a], [b]) => a - b)) {
    const to = isJoined && threads > 2 ? 2 ** Math.ceil(Math.log2(threads)) : threads;
    const key = to > threads || (isJoined && threads > 2) ? `p${to / 2 + 1}-${to}` : `p${threads}`;
    classes.set(key, (classes.get(key) ?? 0) + sum);
  }
  return [...classes];
}
