// Details of a function or node: the side panel and the tooltip.

import { KIND_NAMES, kindOf } from "./colours.js";
import { restCount, restRange } from "./layout.js";
import { changedRows, changesOf, changeWords, nodeChange } from "./comparison.js";
import { foldedWords, isInlined, labelOf, standsForAll } from "./tree.js";
import { changeCell, make, nameButton, share } from "./tables.js";
import { count, moduleName, pathEnd, percent, shown, time } from "./words.js";

const MOST_LINES = 40;
const HOTTEST = 20;
const HOTTEST_OWN = 15;
const HOTTEST_BESIDES = 8;
const MOST_BRANCHES = 20;

export function place(profile, label) {
  const { labels, files } = profile;
  const path = label < labels.count ? files[labels.file[label]] : "";
  return path ? `${path}${labels.line[label] ? `:${labels.line[label]}` : ""}` : "";
}

export function modulePath(profile, label) {
  return label < profile.labels.count ? profile.modules[profile.labels.module[label]].path : "";
}

function restWords({ tree, words }, first) {
  const [from, to] = restRange(tree, first);
  const frames = restCount(tree, first);
  return { name: `${count(frames)} ${frames === 1 ? "frame" : "frames"} too narrow to draw`,
    figures: `${percent(to - from, tree.total(0))} total, ${words(to - from)}`, kind: "Click to show only these frames.", place: "" };
}

// Returns the text about a node for the tooltip and the state line.
export function nodeWords(context, node) {
  const { profile, tree, words, names } = context;
  if (node < 0) return restWords(context, -node);
  const label = labelOf(tree, node);
  const whole = tree.total(0);
  const inlined = isInlined(tree, node) ? `, inlined into ${names[labelOf(tree, tree.parent[node])] || "its caller"}` : "";
  const kind = standsForAll(tree, node) ? "" : kindOf(profile.labels, tree.code[node]);
  const when = tree.inOrder && kind ? `${time(tree.begins[node] * 1e3)} to ${time(tree.ends[node] * 1e3)}` : "";
  const { compares } = context;
  const changed = compares ? `; ${nodeChange(tree, node, compares)} points` : "";
  return {
    name: standsForAll(tree, node) ? "all" : context.full[label] + foldedWords(tree, node),
    figures: `${percent(tree.total(node), whole)} total, ${words(tree.total(node))}; ` +
      `${percent(tree.self(node), whole)} self, ${words(tree.self(node))}${changed}`,
    kind: kind === "inlined" ? inlined.slice(2) : (KIND_NAMES[kind] || "") + inlined,
    place: kind ? [when, moduleName(modulePath(profile, label)), pathEnd(place(profile, label))]
      .filter(Boolean).join(" · ") : "",
  };
}

export function fillTip(tip, words) {
  tip.replaceChildren(make("strong", {}, make("bdi", {}, words.name.slice(0, 1000))), make("span", {}, words.figures),
    ...[words.kind, words.place].filter(Boolean).map((text) => make("span", { className: "quiet" }, make("bdi", {}, text))));
}

function term(name, ...value) {
  return [make("dt", {}, name), make("dd", {}, ...value)];
}

function linesList(profile, label, lines, whole) {
  const known = lines.filter(({ line }) => line > 0);
  if (!known.length) return [];
  const texts = profile.sources.get(profile.labels.file[label]);
  const hot = [...known].sort((a, b) => b.total - a.total).slice(0, MOST_LINES);
  const rows = known.filter((row) => hot.includes(row)).flatMap(({ line, self, total }) => [
    make("tr", {}, make("td", { className: "line" }, String(line)), make("td", {}, share(self, whole)), make("td", {}, share(total, whole))),
    ...(texts ? [make("tr", {}, make("td", { className: "text", colSpan: 4 },
      make("bdi", {}, shown((texts.get(line) || "").trim().replace(/\t/g, " ")))))] : [])]);
  const more = known.length > hot.length ? [make("p", { className: "quiet" }, `and ${known.length - hot.length} more lines`)] : [];
  return [make("h2", {}, "Source lines"), make("table", { className: "lines" },
    make("thead", {}, make("tr", {}, ...["Line", "Self", "Total"].map((name) => make("th", {}, name)))),
    make("tbody", {}, ...rows)), ...more];
}

// Lists where the branches of a function go. The cycles of a branch are the time since the previous
// branch, so they belong to the code between the two.
function branchList({ names, full }, branches, tell) {
  if (!branches.length) return [];
  const rows = branches.slice(0, MOST_BRANCHES).map(({ line, to, toLine, taken, mispredicted, told, cycles }) => make("tr", {},
    make("td", { className: "line" }, line ? String(line) : ""), make("td", { className: "number" }, count(taken)),
    make("td", { className: "number" }, told ? percent(mispredicted, told) : "–"),
    make("td", { className: "number" }, cycles ? (cycles / taken).toFixed(1) : "–"),
    make("td", {}, make("button", { type: "button", title: full[to].slice(0, 2000), onclick: () => tell.choose(to) },
      make("bdi", {}, `${names[to]}${toLine ? `:${toLine}` : ""}`)))));
  const more = branches.length > rows.length ? [make("p", { className: "quiet" }, `and ${count(branches.length - rows.length)} more`)] : [];
  return [make("h2", {}, "Branches from here"), make("table", { className: "lines branches" },
    make("thead", {}, make("tr", {}, ...["Line", "Taken", "Mispredicted", "Cycles", "To"].map((name) => make("th", {}, name)))),
    make("tbody", {}, ...rows)), ...more];
}

// Lists functions with their shares: [[label, weight]].
function shareList({ tree, names, full }, title, weights, tell) {
  const items = weights.filter(([label]) => label < names.length).map(([label, weight]) =>
    make("li", { "data-label": label }, share(weight, tree.total(0)), nameButton(names[label], full[label], { onclick: () => tell.choose(label) })));
  return items.length ? [make("h2", {}, title), make("ol", { className: "hottest" }, ...items)] : [];
}

// Returns the functions with the largest weights: [[label, weight]].
function hottestOf(rows, key, most) {
  const least = Float64Array.from(rows, (row) => row[key]).sort().at(-most) ?? 0; // sorting numbers is faster than sorting rows
  return rows.filter((row) => row[key] > 0 && row[key] >= least && !row.isUnsampled)
    .sort((a, b) => b[key] - a[key] || b.total - a.total || a.label - b.label).slice(0, most).map((row) => [row.label, row[key]]);
}

// Lists the hottest of the user's own functions, then of all functions. It is shown if nothing is
// selected.
function fillHottest(panel, context, rows, tell) {
  const own = hottestOf(rows, "near", HOTTEST_OWN);
  panel.replaceChildren(...shareList(context, "Your hottest functions, with the library code they call", own, tell),
    ...shareList(context, own.length ? "Hottest of all functions, by self" : "Hottest functions, by self", hottestOf(rows, "self", own.length ? HOTTEST_BESIDES : HOTTEST), tell));
}

// Lists the functions that have changed, in the order of the report. It is shown if nothing is
// selected in a comparison.
function fillChanged(panel, { names, full, compares, profile: { comparison } }, rows, tell) {
  const changed = changedRows(rows, compares, HOTTEST);
  const items = changed.map(({ label, changes }) => make("li", { "data-label": label }, changeCell("span", changes.self),
    nameButton(names[label], full[label], { onclick: () => tell.choose(label) })));
  panel.replaceChildren(make("h2", {}, `Changes of self, in % of ${shown(comparison.of)}`), changed.length ? make("ol", { className: "hottest" }, ...items)
    : make("p", { className: "quiet" }, "No function has changed by half a point or more."));
}

const changeOfTerm = (change) => `${percent(change.before, 1)} → ${percent(change.after, 1)}, ${changeWords(change)} points`;

// context: {profile, tree, names, full, words, …}. label: the function, or -1. node: the selected
// node, or 0 for the whole function. rows: the function table. branches: those from the function.
// around: its callers, callees and reasons of waits.
// tell: {choose(label), close(), sandwich(), search(), more(place)}.
export function fillDetails(panel, context, { label, node, rows, lines, branches, around }, tell) {
  if (label < 0) return (context.compares ? fillChanged : fillHottest)(panel, context, rows, tell);
  const row = rows.find((other) => other.label === label);
  const { profile, tree, words, full, compares } = context;
  const whole = tree.total(0);
  const figure = (value, of) => [share(value, of), ` ${words(value)}`];
  const parts = [make("h2", { className: "of" }, make("bdi", {}, full[label]))];
  const list = make("dl", {});
  if (row) list.append(...term("Total", ...figure(row.total, whole)), ...term("Self", ...figure(row.self, whole)));
  if (row && compares) {
    const { self, total } = changesOf(row, compares);
    list.append(...term("Change of total", changeOfTerm(total)), ...term("of self", changeOfTerm(self)));
  }
  if (node) {
    const parent = tree.parent[node];
    list.append(...term("Here", ...figure(tree.total(node), whole)),
      ...term("Share of caller", percent(tree.total(node), tree.total(parent))));
    if (isInlined(tree, node)) list.append(...term("Inlined into", make("bdi", {}, full[labelOf(tree, parent)] || "")));
  }
  list.append(...term("Kind", KIND_NAMES[profile.labels.kind[label]]));
  if (modulePath(profile, label)) list.append(...term("Module", make("bdi", {}, modulePath(profile, label))));
  if (place(profile, label)) list.append(...term("Source", make("bdi", {}, place(profile, label))));
  const button = (name, does) => make("button", { type: "button", onclick: does }, name);
  parts.push(list, make("p", { className: "actions" }, button("Callers and callees", tell.sandwich),
    button("Find everywhere", tell.search), button("More…", (event) => tell.more(event.currentTarget.getBoundingClientRect()))));
  parts.unshift(make("button", { type: "button", className: "close", title: "Nothing selected", "aria-label": "Close",
    onclick: tell.close }, "×"));
  const lists = [["Callers", around.callers], ["Callees", around.callees], ["Waits", around.reasons]].flatMap(([title, weights]) =>
    shareList(context, title, weights, tell));
  return panel.replaceChildren(...parts, ...lists, ...branchList(context, branches, tell), ...linesList(profile, label, lines, whole));
}
