// The taken branches of a profile (lib/profile/cpu_records.h). Each is a stack of two frames: from
// and to.

const BRANCH_EVENTS = { taken: "taken-branches", cycles: "branch-cycles" };

// Returns the event numbers {taken, cycles}, -1 for an event that the profile lacks. Returns null
// if it has no branches.
export function branchEvents({ events }) {
  const found = Object.fromEntries(Object.entries(BRANCH_EVENTS).map(([kind, name]) => [kind, events.findIndex((event) => event.name === name)]));
  return found.taken < 0 ? null : found;
}

// Returns for each label set whether the branch was mispredicted: true, false, or undefined if
// unknown.
const mispredictions = (sets) => sets.map(({ own }) => {
  const value = own.find(([key]) => key === "branch")?.[1];
  return { mispredicted: true, predicted: false }[value];
});

// Returns the branches of one function, the most frequently taken first: {line, to: label, toLine,
// taken, mispredicted, told, cycles}. `told` counts the taken branches whose prediction is known.
// weights: those of the samples of taken branches, and of cycles.
export function branchesFrom({ frames, stacks, samples, sets }, weights, label) {
  const wrong = mispredictions(sets);
  const innermost = (stack) => frames.first[stacks.frame[stack] + 1] - 1;
  const rows = new Map();
  for (let i = 0; i < samples.count; i++) {
    const taken = weights.taken[i];
    const cycles = weights.cycles?.[i] ?? 0;
    const stack = samples.stack[i];
    if (!(taken || cycles) || !stacks.parent[stack]) continue;
    const from = innermost(stacks.parent[stack]);
    if (frames.code[from] >>> 1 !== label) continue;
    const to = innermost(stack);
    const key = `${frames.line[from]} ${frames.code[to] >>> 1} ${frames.line[to]}`;
    if (!rows.has(key))
      rows.set(key, { line: frames.line[from], to: frames.code[to] >>> 1, toLine: frames.line[to], taken: 0, mispredicted: 0, told: 0, cycles: 0 });
    const row = rows.get(key);
    const isWrong = wrong[samples.set[i]];
    row.taken += taken;
    row.cycles += cycles;
    if (isWrong !== undefined) row.told += taken;
    if (isWrong) row.mispredicted += taken;
  }
  return [...rows.values()].sort((a, b) => b.taken - a.taken || a.line - b.line || a.toLine - b.toLine);
}
