// The heat map over time: a grid of equal cells in time order, down each column and then down the
// next one.

import { clockShift } from "./clock.js";
import { spread } from "./states.js";
import { intervalsWithin, weightOfOne } from "./weights.js";

const MOST_COLUMNS = 300;
// The possible units of columns and rows.
const GRIDS = [
  { columnUs: 1e6, rowUs: 5e4, words: "Seconds across, 50 ms down", cell: "50 ms" },
  { columnUs: 60e6, rowUs: 1e6, words: "Minutes across, seconds down", cell: "second" },
  { columnUs: 3600e6, rowUs: 60e6, words: "Hours across, minutes down", cell: "minute" },
  { columnUs: 86400e6, rowUs: 3600e6, words: "Days across, hours down", cell: "hour" },
];

// Returns the finest grid of a span of microseconds that does not have too many columns. Columns
// start at whole units of local time.
export function gridOf(info, [from, to]) {
  const grid = GRIDS.find(({ columnUs }) => (to - from) / columnUs <= MOST_COLUMNS) ?? GRIDS[GRIDS.length - 1];
  const { columnUs, rowUs } = grid;
  const shift = clockShift(info);
  const start = Math.floor((from + shift) / columnUs) * columnUs - shift;
  const columns = Math.max(1, Math.ceil((to - start) / columnUs));
  return { ...grid, start, columns, rows: Math.round(columnUs / rowUs), span: [from, to] };
}

// Returns the number of the cell that contains a time.
export const cellAt = ({ start, rowUs }, us) => Math.floor((us - start) / rowUs);

// Returns the start time of a cell.
export const timeOf = ({ start, rowUs }, cell) => start + cell * rowUs;

// Returns the first and the last cell of the grid's span.
export const cellsOf = (grid) => [cellAt(grid, grid.span[0]), cellAt(grid, grid.span[1] - 1)];

// Returns the time from the earlier to the later of two cells, clamped to the span.
export function rangeOf(grid, a, b) {
  const [from, to] = [timeOf(grid, Math.min(a, b)), timeOf(grid, Math.max(a, b) + 1)];
  return [Math.max(grid.span[0], from), Math.min(grid.span[1], to)].map(Math.round);
}

// Returns the weight in each cell. whole: the weight of each sample in the recording.
export function heatOf(profile, whole, { start, rowUs, columns, rows }) {
  const { timedSamples, intervals } = profile;
  const bins = columns * rows;
  const heat = new Float64Array(bins + 1);
  const slopes = new Float64Array(bins + 1);
  const ofOne = weightOfOne(profile, whole);
  for (let i = 0; i < timedSamples.count; i++) {
    const bin = Math.floor((timedSamples.time[i] - start) / rowUs);
    if (bin >= 0 && bin < bins) heat[bin] += ofOne[timedSamples.sample[i]];
  }
  intervalsWithin(profile, whole, [start, start + bins * rowUs], (i, weight) => {
    const from = Math.max(0, (intervals.start[i] - start) / rowUs);
    const to = Math.min(bins, (intervals.end[i] - start) / rowUs);
    spread(heat, slopes, 0, bins, from, to, weight / (to - from));
  });
  for (let i = 0, sum = 0; i < bins; i++) heat[i] += sum += slopes[i];
  return heat.subarray(0, bins);
}
