// Draws a tree as boxes on a canvas, and handles hovering, selecting and zooming with mouse and
// keyboard.

import { boxAt, layout, restRange } from "./layout.js";
import { kindOf } from "./colours.js";
import { nodeChange } from "./comparison.js";
import { labelOf, lastShared, mainLine, rowOf, sharedWords, shownAs, shownChildren, shownParent, standsForAll, startOf, widthOf } from "./tree.js";
import { nameParts } from "./words.js";

export const ROW_PX = 20;
const TEXT_PX = 28; // narrower boxes have no text
const CALLERS_SHOWN = 4; // rows above the zoomed box
const FORK_SHARE = 0.85;
const LEAST_RANGE = 1e-7; // a share of the axis
const LEAST_DRAG = 5; // pixels
const ZOOM_MS = 160;
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", "DejaVu Sans", sans-serif';

const MOST_WIDTHS = 50000; // in the cache

// Cuts names to a width: their scopes from the start, then their own name at its end
// (lib/report/shorten.h). The measured width of each text is cached.
class Lettering {
  constructor(context) {
    this.context = context;
    this.widths = new Map();
  }

  width(text) {
    let width = this.widths.get(text);
    if (width !== undefined) return width;
    if (this.widths.size >= MOST_WIDTHS) this.widths.clear();
    width = this.context.measureText(text).width;
    this.widths.set(text, width);
    return width;
  }

  fitted(text, room) {
    if (this.width(text) <= room) return text;
    const [scopes, own] = nameParts(text);
    for (let at = scopes.indexOf("::"); at >= 0; at = scopes.indexOf("::", at + 2))
      if (this.width(`…${text.slice(at)}`) <= room) return `…${text.slice(at)}`;
    return this.cut(own, room);
  }

  cut(text, room) {
    const whole = this.width(text);
    if (whole <= room) return text;
    let letters = Math.floor((text.length * (room - 11)) / whole);
    while (letters > 1 && this.width(text.slice(0, letters)) > room - 11) letters--;
    return letters < 2 ? "" : `${text.slice(0, letters)}…`;
  }
}

// element: a scrolling block. tell: {select(node), open(node), zoom({node, first}), choose(node),
// menu(node, x, y), unfold(), hover(node, event), hidden(count)}. hover gets -node for a rest box
// (layout.js), and null if the pointer is over no box.
export class Graph {
  constructor(element, label, tell) {
    this.element = element;
    this.tell = tell;
    this.canvas = document.createElement("canvas");
    this.space = document.createElement("div");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", label);
    this.space.className = "space";
    element.append(this.space);
    this.space.append(this.canvas);
    this.context = this.canvas.getContext("2d", { alpha: false });
    this.context.font = FONT;
    this.letters = { normal: new Lettering(this.context), italic: new Lettering(this.context) };
    this.selected = 0;
    this.hovered = null;
    this.grasped = null; // the last position of a drag
    // True if the wheel or a drag has moved the range off the zoomed node.
    this.isFree = false;
    this.zoomed = 0;
    this.scrolled = 0; // scrollTop after the next drawing
    // The first shown child of the zoomed node, or 0 for all.
    this.first = 0;
    this.listen();
  }

  listen() {
    const { canvas, element } = this;
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    canvas.addEventListener("pointerleave", () => this.setHovered(null, null));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.grasp(event));
    canvas.addEventListener("pointerup", () => (this.grasped = null));
    canvas.addEventListener("pointercancel", () => (this.grasped = null));
    canvas.addEventListener("click", (event) => {
      if (event.detail > 1 || this.hasPanned) return;
      const node = this.nodeUnder(event);
      this.clicked = node;
      this.setHovered(null, null); // the boxes move
      if (node < 0) this.tell.zoom({ node: this.tree.parent[-node], first: -node });
      else if (node !== null) this.open(node);
    });
    // The first click of a double click moves the boxes, so this uses the node that it hit.
    canvas.addEventListener("dblclick", () => this.clicked !== null && this.clicked >= 0 && this.tell.choose(this.clicked));
    canvas.addEventListener("contextmenu", (event) => this.menu(event));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("focus", () => this.later());
    canvas.addEventListener("blur", () => this.later());
    element.addEventListener("scroll", () => {
      this.scrolled = element.scrollTop;
      this.later();
    }, { passive: true });
    // Draws immediately, because a resized canvas is black until it is drawn, which would be
    // visible for a frame.
    new ResizeObserver(() => {
      this.seenWidth = 0;
      if (this.refit()) this.draw();
    }).observe(element);
  }

  // look: {upward, colours, labels, names, matches, chosen, compares, ground, ink, mark, …}.
  show(tree, look, { node: zoomed, first = 0 }) {
    const isNew = tree !== this.tree || look.upward !== this.look.upward;
    const shared = look.foldsShared ? lastShared(tree) : 0;
    const isFolded = shared !== this.shared;
    this.shared = shared;
    const from = this.tree && !isNew ? this.range : null;
    this.tree = tree;
    this.look = look;
    if (isNew) this.selected = 0;
    if (isNew) this.hovered = null;
    if (isNew || zoomed !== this.zoomed || first !== this.first) this.isFree = false;
    if (isNew || (!this.isFree && String(this.goal) !== String(this.aim({ zoomed, first })))) {
      this.zoomed = zoomed;
      this.first = first;
      if (this.selected === 0) this.selected = zoomed;
      this.turn(from);
    } else if (this.refit() && isFolded) this.reveal();
  }

  // Returns the row of a node, counted from the root.
  row(node) {
    return rowOf(this.tree, this.shared, node);
  }

  // Returns the range of the axis that is visible when zooming ends.
  aim({ zoomed, first } = this) {
    const { tree } = this;
    if (first) return restRange(tree, first);
    const start = startOf(tree, zoomed);
    return [start, start + widthOf(tree, zoomed)];
  }

  // Animates the zoom to a node. Jumps if the user prefers reduced motion.
  turn(from) {
    const goal = this.aim();
    this.goal = goal;
    cancelAnimationFrame(this.gliding);
    if (!from || matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.range = goal;
      this.refit();
      this.reveal();
      return;
    }
    const start = performance.now();
    const step = (now) => {
      const t = Math.min(1, Math.max(0, (now - start) / ZOOM_MS));
      const ease = 1 - (1 - t) ** 3;
      this.range = [from[0] + (goal[0] - from[0]) * ease, from[1] + (goal[1] - from[1]) * ease];
      if (this.fit()) this.draw();
      if (t < 1) this.gliding = requestAnimationFrame(step);
      else {
        this.reveal();
        this.tell.hidden(this.boxes.hidden);
      }
    };
    this.gliding = requestAnimationFrame(step);
  }

  // Shows a range of the axis, clamped to its ends, independent of the zoomed node.
  freeTo(from, to) {
    const all = widthOf(this.tree, 0);
    const wide = Math.min(all, Math.max(to - from, all * LEAST_RANGE));
    const start = Math.min(Math.max(0, from), all - wide);
    cancelAnimationFrame(this.gliding);
    this.range = [start, start + wide];
    this.isFree = true;
    this.refit();
  }

  // Scales the visible range by a factor around x.
  scale(factor, x) {
    const [from, to] = this.range;
    const at = from + ((to - from) * x) / this.width;
    this.freeTo(at - (at - from) * factor, at + (to - at) * factor);
  }

  pan(pixels) {
    const [from, to] = this.range;
    const by = ((to - from) * pixels) / this.width;
    this.freeTo(from + by, to + by);
  }

  // Returns to the zoomed node after wheel or drag. Returns false if there is nothing to do.
  unfree() {
    if (!this.isFree) return false;
    this.isFree = false;
    this.turn(this.range);
    return true;
  }

  wheel(event) {
    const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
    if (!this.tree || (!event.ctrlKey && !event.metaKey && Math.abs(sideways) <= (event.shiftKey ? 0 : Math.abs(event.deltaY)))) return;
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) this.scale(Math.exp(Math.max(-100, Math.min(100, event.deltaY)) / 200), event.offsetX);
    else this.pan(sideways);
  }

  grasp(event) {
    this.hasPanned = false;
    if (event.button === 0 && event.pointerType === "mouse") this.grasped = { x: event.clientX, y: event.clientY };
  }

  // Returns whether this is a drag: the pointer may move by less than LEAST_DRAG during a click.
  drag(event) {
    const { x, y } = this.grasped;
    if (!this.hasPanned && Math.hypot(event.clientX - x, event.clientY - y) < LEAST_DRAG) return false;
    if (!this.hasPanned) this.canvas.setPointerCapture(event.pointerId);
    this.hasPanned = true;
    this.grasped = { x: event.clientX, y: event.clientY };
    this.scrollTo(this.scrolled - (event.clientY - y));
    this.pan(x - event.clientX);
    return true;
  }

  // Returns the first node whose heaviest callee lacks a substantial part of its weight.
  fork() {
    const { tree } = this;
    return mainLine(tree, (child, node) => tree.total(child) > FORK_SHARE * tree.total(node)).pop();
  }

  // Scrolls so that the zoomed box, a few of its callers and as many callees as fit are visible. If nothing is zoomed
  // and the first fork is far from the root, scrolls to the fork.
  reveal() {
    const { tree, zoomed, selected } = this;
    const fork = zoomed || tree.inOrder || !standsForAll(tree, 0) ? 0 : this.row(this.fork());
    const isFar = fork * ROW_PX > this.height / 2;
    const rows = Math.max(0, (isFar ? fork : this.row(zoomed)) - CALLERS_SHOWN) * ROW_PX;
    this.scrollTo(this.look.upward ? this.rows * ROW_PX - this.height - rows : rows);
    if (selected) this.keepInView(selected);
  }

  keepInView(node) {
    const y = this.top(this.row(node));
    if (y < 0) this.scrollTo(this.scrolled + y);
    else if (y + ROW_PX > this.height) this.scrollTo(this.scrolled + y + ROW_PX - this.height);
  }

  // The next drawing sets scrollTop, because setting it can force the browser to lay out the page.
  scrollTo(top) {
    this.scrolled = Math.max(0, Math.min(top, this.rows * ROW_PX - this.height));
    this.later();
  }

  // Computes the layout again. The next frame draws it.
  refit() {
    if (!this.fit()) return false;
    this.tell.hidden(this.boxes.hidden);
    this.later();
    return true;
  }

  fit() {
    if (!this.tree || !this.measure()) return false;
    const { canvas } = this;
    const ratio = devicePixelRatio;
    if (canvas.width !== Math.round(this.width * ratio) || canvas.height !== Math.round(this.height * ratio)) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(this.height * ratio);
      canvas.style.width = `${this.width}px`;
      canvas.style.height = `${this.height}px`;
    }
    this.boxes = layout(this.tree, ...this.range, this.width, this.shared);
    this.rows = this.boxes.depth.reduce((most, depth) => Math.max(most, depth), 0) + 1;
    const tall = `${Math.max(this.height, this.rows * ROW_PX)}px`;
    if (this.space.style.height !== tall) this.space.style.height = tall;
    return true;
  }

  // Reads the size only after a change, because reading it can force the browser to lay out the
  // whole page.
  measure() {
    if (!this.seenWidth) {
      this.seenWidth = this.element.clientWidth;
      this.width = this.seenWidth;
      this.height = this.element.clientHeight;
    }
    return this.seenWidth;
  }

  later() {
    this.waiting ||= requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  top(depth) {
    if (!this.look.upward) return depth * ROW_PX - this.scrolled;
    return Math.max(this.height, this.rows * ROW_PX) - (depth + 1) * ROW_PX - this.scrolled;
  }

  // Returns a node's change in percentage points if profiles are compared. A narrow box shows only
  // this.
  changeOf(node) {
    const { compares } = this.look;
    return compares && node ? nodeChange(this.tree, node, compares) : "";
  }

  nameOf(node) {
    const name = standsForAll(this.tree, node) ? "all" : node && node === this.shared ? sharedWords(this.tree, node, this.look.names) : this.look.names[labelOf(this.tree, node)];
    const changed = this.changeOf(node);
    return changed ? `${changed}  ${name}` : name;
  }

  textOf(node, style, room) {
    const letters = this.letters[style];
    const changed = this.changeOf(node);
    const name = this.nameOf(node).slice(changed && changed.length + 2);
    if (!changed) return letters.fitted(name, room);
    const rest = letters.fitted(name, room - letters.width(`${changed}  `));
    return rest ? `${changed}  ${rest}` : letters.cut(changed, room);
  }

  nodeUnder(event) {
    const at = event.offsetY + this.scrolled;
    const rows = Math.max(this.height, this.rows * ROW_PX);
    const depth = Math.floor((this.look.upward ? rows - at : at) / ROW_PX);
    const box = this.boxes ? boxAt(this.boxes, event.offsetX, depth) : -1;
    return box < 0 ? null : this.boxes.node[box];
  }

  draw() {
    if (!this.boxes) return;
    const { context, boxes, look } = this;
    const ratio = devicePixelRatio;
    this.element.scrollTop = this.scrolled;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = look.ground;
    context.fillRect(0, 0, this.width, this.height);
    context.textBaseline = "middle";
    this.style = "";
    const first = this.top(0);
    const step = look.upward ? -ROW_PX : ROW_PX;
    for (let i = 0; i < boxes.node.length; i++) {
      const y = first + step * boxes.depth[i];
      if (y > -ROW_PX && y < this.height) this.drawBox(boxes.node[i], boxes.x[i], y, boxes.width[i]);
    }
    this.outline(this.hovered, look.ink, 1);
    if (document.activeElement === this.canvas) this.outline(this.selected, look.focus, 2.5);
    else if (this.selected !== this.zoomed) this.outline(this.selected, look.ink, 1.5);
  }

  drawBox(node, x, y, width) {
    const { context, tree, look } = this;
    const gap = width > 3 ? 1 : width > 1.5 ? 0.5 : 0;
    if (node < 0) {
      context.fillStyle = look.rest;
      context.fillRect(x, y, Math.max(0.5, width - gap), ROW_PX - 1);
      return;
    }
    const code = tree.code[node];
    const kind = standsForAll(tree, node) ? "group" : kindOf(look.labels, code);
    const isMatch = this.isMatch(node);
    const isFaded = (look.matches && !isMatch) || tree.depth[node] < tree.depth[this.zoomed];
    context.globalAlpha = isFaded ? 0.42 : 1;
    context.fillStyle = this.fillOf(node);
    context.fillRect(x, y, width - gap, ROW_PX - 1);
    if (code >>> 1 === look.chosen && width > 4) this.drawChosen(x, y, width - gap);
    if (width > 6) this.drawSign(kind, x, y, width - gap);
    context.globalAlpha = isFaded ? 0.75 : 1;
    if (width >= TEXT_PX) this.drawText(node, kind, x, y, width, isMatch ? look.markInk : (!isFaded && look.colours.ink(kind)) || look.ink);
    context.globalAlpha = 1;
  }

  isMatch(node) {
    const { matches } = this.look;
    return Boolean(matches && matches[labelOf(this.tree, node)]);
  }

  fillOf(node) {
    const { tree, look } = this;
    if (this.isMatch(node)) return look.mark;
    return standsForAll(tree, node) ? look.colours.kind("group") : look.colours.of(tree.code[node], tree, node);
  }

  // Marks the other boxes of the selected function.
  drawChosen(x, y, width) {
    this.context.fillStyle = this.look.focus;
    this.context.fillRect(x, y, width, 2);
  }

  // Marks the kinds without colour: an edge at the left, dashes, or a line below.
  drawSign(kind, x, y, width) {
    const { context, look } = this;
    context.fillStyle = look.sign;
    if (kind === "kernel") context.fillRect(x, y, 3, ROW_PX - 1);
    else if (kind === "jit") context.fillRect(x, y + ROW_PX - 4, width, 3);
    else if (kind === "interpreted") for (let at = 0; at < width; at += 12) context.fillRect(x + at, y + ROW_PX - 4, Math.min(8, width - at), 3);
    else if (kind === "unnamed") for (let at = 0; at < width; at += 6) context.fillRect(x + at, y + ROW_PX - 4, 3, 3);
    else if (kind === "inlined") for (let at = 1; at < ROW_PX - 3; at += 5) context.fillRect(x, y + at, 2, 3);
  }

  drawText(node, kind, x, y, width, ink) {
    const { context } = this;
    const style = kind === "inlined" ? "italic" : "normal";
    const room = width - 10;
    if (style !== this.style) {
      this.style = style;
      context.font = style === "italic" ? `italic ${FONT}` : FONT;
    }
    const text = this.textOf(node, style, room);
    if (!text) return;
    context.fillStyle = ink;
    context.fillText(text, x + 6, y + ROW_PX / 2);
  }

  outline(node, colour, thickness) {
    const box = node === null ? -1 : this.boxes.node.indexOf(node);
    if (box < 0 || (node === 0 && thickness < 2)) return;
    const { context, boxes } = this;
    context.strokeStyle = colour;
    context.lineWidth = thickness;
    context.strokeRect(boxes.x[box] + thickness / 2, this.top(boxes.depth[box]) + thickness / 2,
      Math.max(1, boxes.width[box] - thickness), ROW_PX - thickness);
  }

  hover(event) {
    if (this.grasped && event.buttons === 1 && this.drag(event)) return this.setHovered(null, null);
    return this.setHovered(this.nodeUnder(event), event);
  }

  setHovered(node, event) {
    if (node !== this.hovered) this.later();
    this.hovered = node;
    this.canvas.style.cursor = node === null ? "default" : "pointer";
    this.tell.hover(node, event);
  }

  select(node) {
    if (shownAs(this.tree, this.shared, node) !== node) this.tell.unfold();
    this.selected = node;
    this.keepInView(node);
    this.later();
    this.tell.select(node);
  }

  open(node) {
    if (node && node === this.shared) return this.tell.unfold();
    this.selected = node;
    return this.tell.open(node);
  }

  // Opens the menu of the node under the pointer (mouse) or of the selected node (keyboard).
  menu(event) {
    const isKey = event.button !== 2;
    const node = isKey ? this.selected : this.nodeUnder(event);
    event.preventDefault();
    if (node === null || node < 0) return;
    if (isKey) this.keyMenu(node);
    else this.tell.menu(node, event.clientX, event.clientY);
  }

  keyMenu(node) {
    const box = this.boxes.node.indexOf(node);
    const { x, y } = this.canvas.getBoundingClientRect();
    this.tell.menu(node, x + Math.max(0, this.boxes.x[box] || 0) + 12, y + this.top(this.row(node)) + ROW_PX);
  }

  isDrawn(node) {
    return this.boxes.node.includes(node);
  }

  // Returns the box `step` places to the right of the selected box in its row.
  beside(step) {
    const { boxes, tree } = this;
    const row = boxes.node.filter((node) => node >= 0 && tree.depth[node] === tree.depth[this.selected]);
    return row[row.indexOf(this.selected) + step];
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !this.tree) return;
    const steps = { "+": () => this.scale(0.7, this.width / 2), "-": () => this.scale(1 / 0.7, this.width / 2),
      ...(event.shiftKey ? { ArrowLeft: () => this.pan(-this.width / 5), ArrowRight: () => this.pan(this.width / 5) } : {}) };
    if (Object.hasOwn(steps, event.key)) {
      steps[event.key]();
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const { tree, selected } = this;
    const outwards = this.look.upward ? "ArrowDown" : "ArrowUp";
    const inwards = this.look.upward ? "ArrowUp" : "ArrowDown";
    const goTo = (node) => node !== undefined && node >= 0 && this.isDrawn(node) && this.select(node);
    if (!this.isDrawn(selected)) this.selected = this.zoomed;
    if (event.key === outwards) goTo(selected ? shownParent(tree, this.shared, selected) : undefined);
    else if (event.key === inwards) goTo(shownChildren(tree, this.shared, selected)[0]);
    else if (event.key === "ArrowLeft") goTo(this.beside(-1));
    else if (event.key === "ArrowRight") goTo(this.beside(1));
    else if (event.key === "Home") goTo(0);
    else if (event.key === "m") this.keyMenu(selected);
    else if (event.key === "s") this.tell.choose(selected);
    else if (event.key === "Enter" || event.key === " ") this.open(selected);
    else if (event.key === "Backspace") this.open(this.first ? this.zoomed : tree.parent[this.zoomed]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Returns all boxes with their texts, for the SVG export.
  picture(title) {
    const { boxes, look, context } = this;
    context.font = FONT;
    const height = this.rows * ROW_PX;
    return Array.from(boxes.node, (node, i) => ({ node, i })).filter(({ node }) => node >= 0).map(({ node, i }) => {
      const depth = boxes.depth[i];
      return {
        x: boxes.x[i], y: look.upward ? height - (depth + 1) * ROW_PX : depth * ROW_PX, width: boxes.width[i],
        fill: this.fillOf(node),
        ink: node && !standsForAll(this.tree, node) ? look.colours.ink(kindOf(look.labels, this.tree.code[node])) : null,
        text: boxes.width[i] >= TEXT_PX ? this.textOf(node, "normal", boxes.width[i] - 8) : "",
        title: title(node),
      };
    });
  }
}
