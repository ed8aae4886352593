// Comparisons: the change of each function, with the interval that the report computed.

import { change, labelOf } from "./tree.js";
import { points } from "./words.js";

// Returns {rank, self, total} of a row of the function table: its changes, as shares of the whole.
// Without filters they are those of the report, whose order is `rank`. With a filter they have no
// interval. compares: see view.js.
export function changesOf({ label, self, baseSelf, total, base }, { rows, sign, whole, isFiltered }) {
  const known = rows.get(label);
  if (known && !isFiltered) return known;
  const change = (value, other, part) => {
    const [after, before] = [value / (whole.total || 1), other / (whole.base || 1)];
    return { ...(sign > 0 ? { before, after } : { before: after, after: before }), margin: null,
      isNotable: part?.isNotable ?? false, isSignificant: part?.isSignificant ?? false };
  };
  return { rank: Infinity, self: change(self, baseSelf, known?.self), total: change(total, base, known?.total) };
}

export const differenceOf = ({ before, after }) => after - before;

// Returns 0 if the change of a function may be chance, else 1, or 2 if the recordings prove it.
export function evidenceOf({ rows }, label) {
  const row = rows.get(label);
  return row ? Math.max(...[row.self, row.total].map((change) => Number(change.isNotable) + Number(change.isSignificant))) : 0;
}

// Formats the change of a node in points: "▲ +9.6".
export const nodeChange = (tree, node, compares) =>
  points(change(tree, node, compares.whole) * compares.sign, evidenceOf(compares, labelOf(tree, node)) > 1);

// Formats a change in points with its margin: "▲ +9.6 ± 3.0".
export function changeWords(change) {
  const words = points(differenceOf(change), change.isSignificant);
  return change.margin === null || words === "=" ? words : `${words} ± ${(change.margin * 100).toFixed(1)}`;
}

const LEAST_CHANGE = 0.005; // DIFF_LEAST_CHANGE

// Returns the rows whose self has changed by more than chance or by half a point, in the order of
// the report.
export function changedRows(rows, compares, most) {
  return rows.filter(({ isUnsampled }) => !isUnsampled).map((row) => ({ ...row, changes: changesOf(row, compares) }))
    .filter(({ changes: { self } }) => self.isNotable || Math.abs(differenceOf(self)) >= LEAST_CHANGE)
    .sort((a, b) => a.changes.rank - b.changes.rank || Math.abs(differenceOf(b.changes.self)) - Math.abs(differenceOf(a.changes.self)))
    .slice(0, most);
}
