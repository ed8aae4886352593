// The function table and the call tree as HTML elements: sortable, and readable by screen readers.

import { changesOf, changeWords, differenceOf, nodeChange } from "./comparison.js";
import { foldedWords, isInlined, labelOf, lastShared, mainLine, rowOf, sharedWords, shownAs, shownChildren, shownParent } from "./tree.js";
import { count, nameParts, pathEnd, percent } from "./words.js";

const ROWS_AT_ONCE = 300;
const CHILDREN_AT_ONCE = 100;
const OPENED_AT_ONCE = 50;

export const $ = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties))
    if (key in element && key !== "role") element[key] = value;
    else element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Returns a percentage with a bar. The content security policy of the page does not restrict styles
// set by script.
export function share(part, whole) {
  const cell = make("span", { className: "share" }, percent(part, whole));
  cell.style.setProperty("--part", whole > 0 ? Math.min(1, part / whole) : 0);
  return cell;
}

// The columns of a comparison, before those with the name and the place.
const COMPARED = [["change", "Self change"], ["before", "Old"], ["after", "New"], ["growth", "Total change"]];

export function makeCompared(table) {
  for (const column of ["self", "total"]) table.querySelector(`[data-column=${column}]`).remove();
  table.tHead.rows[0].prepend(...COMPARED.map(([column, name]) => make("th", { "data-column": column }, make("button", { type: "button" }, name))));
}

export function changeCell(tag, change) {
  return make(tag, { className: change.isNotable ? "change notable" : "change" }, changeWords(change));
}

// Returns a button with a name. Its style cuts the scopes at their start, then the function's own
// name at its end. A hover shows the full name.
export function nameButton(name, full, properties) {
  const [scopes, own] = nameParts(name);
  return make("button", { type: "button", className: "name", title: full.slice(0, 2000), ...properties },
    ...(scopes ? [make("span", {}, make("bdi", {}, scopes))] : []), make("bdi", {}, own));
}

const byText = (a, b) => (a < b ? -1 : Number(a > b)); // faster than localeCompare()

const bySize = (a, b) => Math.abs(differenceOf(b)) - Math.abs(differenceOf(a));

const COLUMNS = {
  self: (a, b) => b.self - a.self || b.total - a.total,
  change: (a, b) => a.changes.rank - b.changes.rank || bySize(a.changes.self, b.changes.self) || b.total - a.total,
  before: (a, b) => b.changes.self.before - a.changes.self.before,
  after: (a, b) => b.changes.self.after - a.changes.self.after,
  growth: (a, b) => bySize(a.changes.total, b.changes.total),
  total: (a, b) => b.total - a.total || b.self - a.self,
  name: (a, b) => byText(a.name, b.name),
  module: (a, b) => byText(a.module, b.module) || b.self - a.self,
  file: (a, b) => byText(a.file, b.file) || b.self - a.self,
};

// table: the element. The data-column of a heading names its column.
export class FunctionTable {
  constructor(table, select) {
    this.table = table;
    this.body = table.tBodies[0];
    this.headings = [...table.tHead.querySelectorAll("[data-column]")];
    this.select = select;
    this.column = this.headings[0].dataset.column;
    this.shownRows = ROWS_AT_ONCE;
    for (const heading of this.headings)
      heading.querySelector("button").addEventListener("click", () => {
        this.column = heading.dataset.column;
        this.fill();
      });
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-label]");
      if (row) this.select(Number(row.dataset.label));
      else if (event.target.closest("button")) {
        this.shownRows *= 4;
        this.fill();
      }
    });
  }

  // rows: [{label, self, total, name, full, module, file, isUnsampled}] that match the search. Rows
  // of unsampled weight come last. compares: see view.js.
  show(rows, tree, compares) {
    this.shownRows = ROWS_AT_ONCE;
    this.whole = tree.total(0);
    this.compares = compares;
    this.rows = rows.map((row) => ({ ...row, changes: compares && changesOf(row, compares) }));
    for (const column of ["module", "file"]) this.table.classList.toggle(`no-${column}`, !rows.some((row) => row[column]));
    this.fill();
  }

  mark(selected) {
    this.selected = selected;
    for (const row of this.body.rows)
      if (row.dataset.label === String(selected)) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    this.hold(this.body.querySelector("[aria-current] button") || this.body.querySelector("button"));
  }

  // The Tab key stops at one row. Arrow keys move to the others.
  hold(button) {
    for (const other of this.body.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
    if (button) button.tabIndex = 0;
  }

  key(event) {
    const buttons = [...this.body.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    const goal = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (at < 0 || goal === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (!buttons[goal]) return;
    this.hold(buttons[goal]);
    buttons[goal].focus();
  }

  // Returns the label of the row `step` rows after the selected one, or of the first or last row.
  beside(step) {
    const labels = [...this.body.querySelectorAll("[data-label]")].map((row) => Number(row.dataset.label));
    const at = labels.indexOf(this.selected);
    return labels[at < 0 ? (step > 0 ? 0 : labels.length - 1) : (at + step + labels.length) % labels.length] ?? -1;
  }

  fill() {
    for (const heading of this.headings)
      if (heading.dataset.column === this.column)
        heading.setAttribute("aria-sort", /self|total|change|before|after|growth/.test(this.column) ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    const order = COLUMNS[this.column];
    const sorted = [...this.rows].sort((a, b) => a.isUnsampled - b.isUnsampled || order(a, b));
    const rows = sorted.slice(0, this.shownRows).map((row) => this.row(row));
    if (sorted.length > rows.length)
      rows.push(make("tr", {}, make("td", { colSpan: this.headings.length }, make("button", { type: "button", tabIndex: -1 },
        `${count(sorted.length - rows.length)} more functions`))));
    if (!rows.length) rows.push(make("tr", {}, make("td", { colSpan: this.headings.length, className: "none" }, "no function matches")));
    this.body.replaceChildren(...rows);
    this.mark(this.selected);
  }

  row({ label, self, total, changes, name, full, module, file }) {
    const figure = (part) => make("td", { className: "figure" }, percent(part, 1));
    const figures = changes ? [changeCell("td", changes.self), figure(changes.self.before), figure(changes.self.after), changeCell("td", changes.total)]
      : [make("td", {}, share(self, this.whole)), make("td", {}, share(total, this.whole))];
    return make("tr", { "data-label": label }, ...figures,
      make("td", {}, nameButton(name, full, { tabIndex: -1 })),
      make("td", { className: "place module" }, make("bdi", {}, module)), make("td", { className: "place file", title: file }, make("bdi", {}, pathEnd(file))));
  }
}

// The call tree as role=tree: opened node by node, operable by keyboard (ARIA practices, "Tree
// View").
export class CallTree {
  constructor(element, tell) {
    this.element = element;
    this.tell = tell;
    this.open = new Set([0]);
    this.more = new Map();
    this.current = 0;
    element.addEventListener("click", (event) => this.click(event));
    element.addEventListener("keydown", (event) => this.key(event));
  }

  show(tree, look) {
    if (tree !== this.tree) {
      this.open = new Set([0]);
      this.more = new Map();
      this.current = 0;
      for (const node of mainLine(tree, (child, node) => tree.total(child) > Math.max(tree.total(node) / 4, tree.total(0) / 20)).slice(0, -1)) this.open.add(node);
    }
    this.shared = look.foldsShared ? lastShared(tree) : 0;
    this.tree = tree;
    this.look = look;
    this.fill();
  }

  fill() {
    const hadFocus = this.element.contains(document.activeElement);
    this.rows = [];
    const visit = (node, position, siblings) => {
      this.rows.push(this.row(node, position, siblings));
      if (!this.open.has(node)) return;
      const children = this.childrenOf(node);
      const limit = this.more.get(node) || CHILDREN_AT_ONCE;
      children.slice(0, limit).forEach((child, i) => visit(child, i + 1, children.length));
      if (children.length > limit)
        this.rows.push(make("div", { className: "more", "data-more": node },
          make("button", { type: "button", tabIndex: -1 }, `${children.length - limit} more below this function`)));
    };
    visit(0, 1, 1);
    this.element.replaceChildren(...this.rows);
    this.current = shownAs(this.tree, this.shared, this.current);
    if (!this.rowOf(this.current)) this.current = 0;
    this.rowOf(this.current).tabIndex = 0;
    if (hadFocus) this.rowOf(this.current).focus();
  }

  childrenOf(node) {
    return shownChildren(this.tree, this.shared, node);
  }

  rowOf(node) {
    return this.rows.find((row) => row.dataset.node === String(node));
  }

  row(node, position, siblings) {
    const { tree, look } = this;
    const label = labelOf(tree, node);
    const hasChildren = this.childrenOf(node).length > 0;
    const depth = rowOf(tree, this.shared, node);
    const words = !node ? "all" : node === this.shared ? sharedWords(tree, node, look.names) : look.names[label] + foldedWords(tree, node);
    const name = make("bdi", { className: "name" }, words);
    if (node && isInlined(tree, node)) name.classList.add("inlined");
    if (node && look.matches && look.matches[label]) name.classList.add("match");
    const row = make("div", { role: "treeitem", tabIndex: -1, "data-node": node, "aria-level": depth + 1,
      "aria-posinset": position, "aria-setsize": siblings }, share(tree.total(node), tree.total(0)),
      share(tree.self(node), tree.total(0)), ...this.changeAt(node), make("span", { className: "twist", "aria-hidden": "true" }, hasChildren
        ? this.open.has(node) ? "▾" : "▸" : ""), name);
    row.setAttribute("aria-label", `${[...row.children].filter((cell) => !cell.ariaHidden).map((cell) => cell.textContent).join(" ")}${
      node && isInlined(tree, node) ? ", inlined" : ""}`);
    row.style.setProperty("--depth", Math.min(60, depth));
    row.title = node ? look.full[label].slice(0, 2000) : "";
    if (hasChildren) row.setAttribute("aria-expanded", String(this.open.has(node)));
    row.setAttribute("aria-selected", String(node === this.current));
    return row;
  }

  changeAt(node) {
    const { tree, look: { compares } } = this;
    return compares ? [make("span", { className: "change" }, node ? nodeChange(tree, node, compares) : "")] : [];
  }

  click(event) {
    const more = event.target.closest("[data-more]");
    const row = event.target.closest("[data-node]");
    if (more) this.more.set(Number(more.dataset.more), Infinity);
    else if (!row) return;
    else if (Number(row.dataset.node) === this.shared && this.shared) return this.tell.unfold();
    else {
      this.current = Number(row.dataset.node);
      this.toggle(this.current, !this.open.has(this.current));
      this.tell.select(this.current);
    }
    this.fill();
    if (row) this.rowOf(this.current).focus();
    return undefined;
  }

  // Opening a node also opens its descendants as long as each is an only child.
  toggle(node, opens) {
    if (!opens) this.open.delete(node);
    else
      for (let children = [node], i = 0; children.length === 1 && i < OPENED_AT_ONCE; i++) {
        this.open.add(children[0]);
        children = this.childrenOf(children[0]);
      }
  }

  // Opens the callers of a node and scrolls to it.
  reveal(node) {
    const { tree } = this;
    if (shownAs(tree, this.shared, node) !== node) this.tell.unfold();
    this.current = node;
    for (let at = node; at; at = shownParent(tree, this.shared, at)) {
      const parent = shownParent(tree, this.shared, at);
      this.open.add(parent);
      this.more.set(parent, Math.max(CHILDREN_AT_ONCE, this.childrenOf(parent).indexOf(at) + 1));
    }
    this.fill();
    this.rowOf(node).scrollIntoView({ block: "nearest" });
  }

  goTo(node) {
    this.current = node;
    this.fill();
    this.rowOf(node).scrollIntoView({ block: "nearest" });
    this.tell.select(node);
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { tree, current } = this;
    const order = this.rows.filter((row) => row.dataset.node).map((row) => Number(row.dataset.node));
    const at = order.indexOf(current);
    const isOpen = this.open.has(current) && this.childrenOf(current).length > 0;
    if (event.key === "ArrowDown" && at + 1 < order.length) this.goTo(order[at + 1]);
    else if (event.key === "ArrowUp" && at > 0) this.goTo(order[at - 1]);
    else if (event.key === "ArrowRight" && isOpen) this.goTo(this.childrenOf(current)[0]);
    else if (event.key === "ArrowRight") this.toggle(current, true);
    else if (event.key === "ArrowLeft" && isOpen) this.toggle(current, false);
    else if (event.key === "ArrowLeft") this.goTo(shownParent(tree, this.shared, current));
    else if (event.key === "Home") this.goTo(order[0]);
    else if (event.key === "End") this.goTo(order[order.length - 1]);
    else if (event.key === "Enter" || event.key === " ") this.toggle(current, !isOpen);
    else return;
    this.fill();
    event.preventDefault();
    event.stopPropagation();
  }
}
