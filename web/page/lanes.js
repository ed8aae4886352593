// Groups threads into the lanes of the timeline.

import { partsOf } from "./weights.js";

const MOST_LANES = 64;
const SHORT_LIFE = 0.1; // a short-lived thread is seen for less than this share of the recording
const POOL = /× \d+ threads$/; // a pseudo-thread for threads that never ran

export const isPool = ({ tid, name }) => tid < 0 && POOL.test(name);

// Returns the times in microseconds between which each thread was seen.
function seenOf({ threads, samples, timedSamples, intervals }) {
  const first = new Float64Array(threads.length).fill(Infinity);
  const last = new Float64Array(threads.length).fill(-Infinity);
  const take = (sample, from, to) => {
    const thread = samples.thread[sample];
    if (from < first[thread]) first[thread] = from;
    if (to > last[thread]) last[thread] = to;
  };
  for (let i = 0; i < timedSamples.count; i++) take(timedSamples.sample[i], timedSamples.time[i], timedSamples.time[i]);
  for (let i = 0; i < intervals.count; i++) take(intervals.sample[i], intervals.start[i], intervals.end[i]);
  return { first, last };
}

// Returns the patterns (weights.js) that select exactly these threads. Threads whose numbers follow
// each other are one range. The number of a process selects all of its threads, so the pattern of
// its main thread is a range, too.
export function patternOf(lane, { threads }) {
  const chosen = new Set(lane);
  if (threads[lane[0]].tid < 0) return (threads[lane[0]].name || threads[lane[0]].process || "thread").replaceAll(",", "?");
  const order = [...threads.keys()].filter((thread) => threads[thread].tid >= 0).sort((a, b) => threads[a].tid - threads[b].tid);
  const isProcess = (number) => threads.some(({ pid, tid }) => pid === number && tid !== number);
  const parts = [];
  for (let i = 0; i < order.length; i++) {
    const from = i;
    if (!chosen.has(order[i])) continue;
    while (chosen.has(order[i + 1])) i++;
    const [{ tid: first }, { tid: last }] = [threads[order[from]], threads[order[i]]];
    parts.push(from === i && !isProcess(first) ? String(first) : `${first}-${last}`);
  }
  return parts.join();
}

// Joins the threads of a name that are short-lived or idle. Returns lists of threads.
function joined(profile, keys, { lives, first, last }) {
  const { threads, info } = profile;
  const lists = new Map();
  for (const thread of keys) {
    const { name, process, tid } = threads[thread];
    const isSmall = tid >= 0 && (last[thread] - first[thread] < SHORT_LIFE * info.durationUs || lives?.[thread].isIdle);
    const key = isSmall ? `${process}\0${name}` : thread;
    if (lists.has(key)) lists.get(key).push(thread);
    else lists.set(key, [thread]);
  }
  return [...lists.values()];
}

// Returns a function that adds the numbers of the threads of a lane.
const sumBy = (value) => (lane) => lane.reduce((sum, thread) => sum + value(thread), 0);

// Returns the order of lanes: the most active first, pseudo-threads last. Without states, those
// with most weight are first.
function orderOf({ threads }, lives, weight) {
  if (!lives) return (a, b) => weight(b) - weight(a) || a[0] - b[0];
  const [ran, waits, waiting] = [({ running, wanted }) => running + wanted, (life) => life.waits, (life) => life.waiting]
    .map((part) => sumBy((thread) => part(lives[thread])));
  return (a, b) => isPool(threads[a[0]]) - isPool(threads[b[0]]) || ran(b) - ran(a) || waits(b) - waits(a) || waiting(b) - waiting(a) || a[0] - b[0];
}

// Returns the lanes of threads as {threads (their numbers), name, id, process, share, isMany}. share: of the weight of the event. isMany: whether several threads
// can run at a time. The short-lived
// and idle threads of a name are one lane. A lane without times in the span is omitted. lives:
// those of states.js, or null. hidden: a flag for each thread, or null. If there are too many
// lanes, those with included threads (flags) come first.
export function threadLanes(profile, { event, lives = null, hidden = null, included = null, span: [from, to] = [-Infinity, Infinity] }) {
  const { samples, threads } = profile;
  const { first, last } = (profile.seen ||= seenOf(profile));
  const weights = new Float64Array(threads.length);
  const wanted = partsOf(profile, event);
  samples.thread.forEach((thread, i) => weights[thread] += wanted[samples.event[i]] * samples.weight[i]);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const weight = sumBy((thread) => weights[thread]);
  const hasTime = ({ running, wanted: runnable, waiting }) => running + runnable + waiting > 0;
  const keys = [...threads.keys()].filter((thread) => (lives ? hasTime(lives[thread]) : weights[thread] > 0) && !hidden?.[thread]);
  const isSeen = (thread) => last[thread] >= Math.max(from, first[thread]) && first[thread] <= to;
  const order = orderOf(profile, lives, weight);
  const lists = joined(profile, keys, { lives, first, last }).filter((lane) => lane.some(isSeen)).sort(order);
  const isIn = (lane) => lane.some((thread) => included[thread]);
  if (included && lists.length > MOST_LANES) lists.sort((a, b) => isIn(b) - isIn(a) || order(a, b));
  const lanes = lists.slice(0, MOST_LANES).map((lane) => {
    const { name, process, pid, tid } = threads[lane[0]];
    const words = name || process || "thread";
    return { threads: lane, name: lane.length > 1 ? `${words} × ${lane.length}` : words, id: lane.length > 1 || tid < 0 ? "" : String(tid),
      share: weight(lane) / all, process: pid === tid ? "" : process,
      isMany: lane.length > 1 || isPool(threads[lane[0]]) };
  });
  return { lanes, threads: lists.reduce((sum, lane) => sum + lane.length, 0), hidden: lists.length - lanes.length };
}

// Returns the lanes of CPUs as {key (the CPU), name, share}, by number. share: of the weight of the
// event that has times.
export function cpuLanes(profile, event) {
  const { timedSamples, samples } = profile;
  const mostCpus = 1 + timedSamples.cpu.reduce((most, cpu) => Math.max(most, cpu), 0);
  const weights = new Float64Array(mostCpus);
  const wanted = partsOf(profile, event);
  timedSamples.sample.forEach((sample, i) => weights[timedSamples.cpu[i]] += (wanted[samples.event[sample]] * samples.weight[sample]) / samples.samples[sample]);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const busy = [...weights.keys()].filter((key) => weights[key]);
  return { lanes: busy.slice(0, MOST_LANES).map((key) => ({ key, name: `CPU ${key}`, id: "", process: "", share: weights[key] / all })),
    mostCpus, hidden: Math.max(0, busy.length - MOST_LANES) };
}
