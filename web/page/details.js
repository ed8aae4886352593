// Details of a function or node: the side panel and the tooltip.

import { KIND_NAMES, kindOf } from "./colours.js";
import { restCount, restRange } from "./layout.js";
import { change, foldedWords, isInlined, labelOf, standsForAll } from "./tree.js";
import { make, share } from "./tables.js";
import { count, moduleName, percent, points, shown, time } from "./words.js";

const MOST_LINES = 40;
const HOTTEST = 20;
const MOST_BRANCHES = 20;

function place(profile, label) {
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
    figures: `${percent(to - from, tree.total(0))} total, ${words(to - from)}`, kind: "A click shows them alone.", place: "" };
}

// Text about a node, for the tooltip and the state line.
export function nodeWords(context, node) {
  const { profile, tree, words, names } = context;
  if (node < 0) return restWords(context, -node);
  const label = labelOf(tree, node);
  const whole = tree.total(0);
  const inlined = isInlined(tree, node) ? `, inlined into ${names[labelOf(tree, tree.parent[node])] || "its caller"}` : "";
  const kind = standsForAll(tree, node) ? "" : kindOf(profile.labels, tree.code[node]);
  const when = tree.inOrder && kind ? `${time(tree.begins[node] * 1e3)} to ${time(tree.ends[node] * 1e3)}` : "";
  const { compares } = context;
  const changed = compares ? `; ${points(change(tree, node, compares.whole) * compares.sign)} points` : "";
  return {
    name: standsForAll(tree, node) ? "all" : context.full[label] + foldedWords(tree, node),
    figures: `${percent(tree.total(node), whole)} total, ${words(tree.total(node))}; ` +
      `${percent(tree.self(node), whole)} self, ${words(tree.self(node))}${changed}`,
    kind: kind === "inlined" ? inlined.slice(2) : (KIND_NAMES[kind] || "") + inlined,
    place: kind ? [when, moduleName(modulePath(profile, label)), place(profile, label).split("/").slice(-2).join("/")]
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
  const more = known.length > hot.length ? [make("p", { className: "quiet" }, `and ${known.length - hot.length} lines more`)] : [];
  return [make("h3", {}, "Source lines"), make("table", { className: "lines" },
    make("thead", {}, make("tr", {}, ...["Line", "Self", "Total"].map((name) => make("th", {}, name)))),
    make("tbody", {}, ...rows)), ...more];
}

// Where the branches of a function go. The cycles are the time since the branch before, which is that of the code between.
function branchList({ names, full }, branches, tell) {
  if (!branches.length) return [];
  const rows = branches.slice(0, MOST_BRANCHES).map(({ line, to, toLine, taken, mispredicted, told, cycles }) => make("tr", {},
    make("td", { className: "line" }, line ? String(line) : ""), make("td", { className: "number" }, count(taken)),
    make("td", { className: "number" }, told ? percent(mispredicted, told) : "–"),
    make("td", { className: "number" }, cycles ? (cycles / taken).toFixed(1) : "–"),
    make("td", {}, make("button", { type: "button", title: full[to].slice(0, 2000), onclick: () => tell.choose(to) },
      make("bdi", {}, `${names[to]}${toLine ? `:${toLine}` : ""}`)))));
  const more = branches.length > rows.length ? [make("p", { className: "quiet" }, `and ${count(branches.length - rows.length)} more`)] : [];
  return [make("h3", {}, "Branches from here"), make("table", { className: "lines branches" },
    make("thead", {}, make("tr", {}, ...["Line", "Taken", "Mispredicted", "Cycles", "To"].map((name) => make("th", {}, name)))),
    make("tbody", {}, ...rows)), ...more];
}

// Lists the functions with the most self weight; shown if nothing is selected.
function fillHottest(panel, { tree, names, full }, rows, tell) {
  const whole = tree.total(0);
  const least = Float64Array.from(rows, ({ self }) => self).sort().at(-HOTTEST) ?? 0; // sorts numbers in a fifth of the time of rows
  const hottest = rows.filter(({ self, isUnsampled }) => self > 0 && self >= least && !isUnsampled).sort((a, b) => b.self - a.self || b.total - a.total || a.label - b.label);
  const items = hottest.slice(0, HOTTEST).map(({ label, self }) =>
    make("li", { "data-label": label }, share(self, whole), make("button", { type: "button", title: full[label].slice(0, 2000),
      onclick: () => tell.choose(label) }, make("bdi", {}, names[label]))));
  panel.replaceChildren(make("h3", {}, "Hottest functions, by self"), make("ol", { className: "hottest" }, ...items));
}

// context: {profile, tree, names, full, words, …}. label: the function, or -1. node: the selected node, or 0 for the
// function as a whole. rows: the function table. branches: those from the function. tell: {choose(label), close(), sandwich(), search(), more(place)}.
export function fillDetails(panel, context, { label, node, rows, lines, branches }, tell) {
  if (label < 0) return fillHottest(panel, context, rows, tell);
  const row = rows.find((other) => other.label === label);
  const { profile, tree, words, full, compares } = context;
  const whole = tree.total(0);
  const figure = (value, of) => [share(value, of), ` ${words(value)}`];
  const parts = [make("h2", {}, make("bdi", {}, full[label]))];
  const list = make("dl", {});
  if (row) list.append(...term("Total", ...figure(row.total, whole)), ...term("Self", ...figure(row.self, whole)));
  if (row && compares)
    list.append(...term("Change", `${points((row.total / (compares.whole.total || 1) - row.base / (compares.whole.base || 1)) * compares.sign)} points`));
  if (node) {
    const parent = tree.parent[node];
    list.append(...term("Here", ...figure(tree.total(node), whole)),
      ...term("Of its caller", percent(tree.total(node), tree.total(parent))));
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
  return panel.replaceChildren(...parts, ...branchList(context, branches, tell), ...linesList(profile, label, lines, whole));
}
