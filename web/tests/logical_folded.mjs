// Prints the folded stacks of the logical view that a page shows: node logical_folded.mjs PAGE.html
// tests/cli/test_logical.py compares them with the output of prof convert --logical.

import { readFileSync } from "node:fs";

import { folded } from "../page/export.js";
import { logicalOf } from "../page/logical.js";
import { decode, unpack } from "../page/reader.js";
import { callTree } from "../page/tree.js";
import { sampleWeights } from "../page/weights.js";

const [, data] = /id="data">([^<]*)/.exec(readFileSync(process.argv[2], "utf8"));
const profile = logicalOf(decode(await unpack(data)));
const names = new Map();
const label = (name) => {
  if (!names.has(name)) names.set(name, profile.labels.name.push(name) - 1);
  return names.get(name);
};
const groupOf = profile.sets.map(({ process }) => label(process));
const weights = sampleWeights(profile, { event: 0, bySamples: true, threads: "", range: null });
process.stdout.write(folded(callTree(profile, weights, { groupOf }), 0, (id) => profile.labels.name[id]));
