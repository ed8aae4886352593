// Samples over time, a lane for each thread or CPU under one for all; a range is taken by dragging.

import { histogram } from "./weights.js";
import { percent } from "./words.js";

const LANE_PX = 18;
const ALL_PX = 44;
const MARGIN_PX = 10; // at the right, for what happens at the end
const NARROWEST_BIN_PX = 2;
const SAMPLES_A_BIN = 6; // fewer say nothing
const MOST_LANES = 64;
const LAYERS = ["user", "inlined", "jit", "unnamed", "kernel"]; // of the lane for all, from the ground
const LEAST_DRAG_PX = 4;
const EDGE_PX = 5; // so near to the edge of a range, that is dragged

// The lanes: {key (of a thread or CPU), name, id, pattern, process, share of the samples of an event}: the busiest
// first, CPUs by number. Of very many threads those that are included (flags by thread) come before.
export function lanesOf(profile, byCpu, event = 0, included = null) {
  const { moments, cells, threads } = profile;
  const mostCpus = 1 + moments.cpu.reduce((most, cpu) => Math.max(most, cpu), 0);
  const counts = new Float64Array(byCpu ? mostCpus : threads.length);
  let all = 0;
  for (let i = 0; i < moments.count; i++) {
    const cell = moments.cell[i];
    if (cells.event[cell] !== event) continue;
    counts[byCpu ? moments.cpu[i] : cells.thread[cell]]++;
    all++;
  }
  const busy = [...counts.keys()].filter((key) => counts[key]).sort((a, b) => counts[b] - counts[a] || a - b);
  if (!byCpu && included && busy.length > MOST_LANES) busy.sort((a, b) => included[b] - included[a]);
  const lanes = busy.slice(0, MOST_LANES).map((key) => {
    const thread = threads[key];
    const name = byCpu ? `CPU ${key}` : thread.name || thread.process || "thread";
    const id = byCpu || thread.tid < 0 ? "" : String(thread.tid);
    return { key, name, id, pattern: id || name, share: counts[key] / all,
      process: byCpu || thread.pid === thread.tid ? "" : thread.process };
  });
  if (byCpu) lanes.sort((a, b) => a.key - b.key);
  return { lanes, mostCpus, hidden: busy.length - lanes.length };
}

// What the innermost frame of each cell is.
function layersOfCells(profile) {
  const { cells, stacks, frames, labels } = profile;
  const layers = new Uint8Array(cells.count);
  for (let cell = 0; cell < cells.count; cell++) {
    const stack = cells.stack[cell];
    const last = frames.first[stacks.frame[stack] + 1] - 1;
    const kind = stack && last >= 0 ? labels.kind[frames.code[last] >>> 1] : "unnamed";
    layers[cell] = Math.max(0, LAYERS.indexOf(kind));
  }
  return layers;
}

// elements: {canvas, names (a list)}. tell: {range(from, to, isOver), thread(pattern, adds), hover(lines, event)}.
export class Timeline {
  constructor({ canvas, names }, tell) {
    this.canvas = canvas;
    this.names = names;
    this.tell = tell;
    this.context = canvas.getContext("2d");
    this.picture = document.createElement("canvas"); // without the range
    canvas.addEventListener("pointerdown", (event) => this.begin(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.finish(event));
    canvas.addEventListener("pointercancel", () => (this.drag = null));
    canvas.addEventListener("pointerleave", () => this.tell.hover(null, null));
    new ResizeObserver(() => this.width !== this.room() && this.paint()).observe(canvas.parentElement);
  }

  room() {
    return this.canvas.parentElement.clientWidth - MARGIN_PX;
  }

  // look: {event, byCpu, colours, ink, faint, accent, ground, mark, …, matches (a flag for each cell, or null),
  // included (a flag for each thread)}; another object where anything in it is another. span: what is seen.
  show(profile, look, range, span) {
    const isNew = look !== this.look || String(span) !== String(this.span);
    this.layers ||= layersOfCells(profile);
    this.profile = profile;
    this.look = look;
    this.range = range;
    this.span = span;
    if (!isNew) return this.draw();
    const key = `${look.byCpu} ${look.event} ${look.included}`;
    if (key !== this.laneKey) Object.assign(this, lanesOf(profile, look.byCpu, look.event, look.included));
    if (key !== this.laneKey) this.nameLanes();
    this.laneKey = key;
    return this.paint();
  }

  nameLanes() {
    const { byCpu, included } = this.look;
    this.names.replaceChildren(...this.lanes.map((lane) => {
      const item = document.createElement("li");
      const name = document.createElement(byCpu ? "span" : "button");
      const words = document.createElement("bdi");
      const share = document.createElement("small");
      words.textContent = lane.name;
      share.textContent = lane.id ? `${lane.id} · ${percent(lane.share, 1)}` : percent(lane.share, 1);
      name.append(words, share);
      name.title = `${lane.name} ${lane.id} ${lane.process ? `of ${lane.process}` : ""}: ${percent(lane.share, 1)} of the samples`;
      if (!byCpu) {
        name.type = "button";
        name.setAttribute("aria-pressed", String(this.isFiltered() && included[lane.key] === 1));
        name.addEventListener("click", (event) => this.tell.thread(lane.pattern, event.ctrlKey || event.metaKey));
      }
      if (!byCpu && !included[lane.key]) item.className = "off";
      item.append(name);
      return item;
    }));
    if (this.hidden) {
      const more = document.createElement("li");
      more.textContent = `and ${this.hidden} more`;
      this.names.append(more);
    }
  }

  isFiltered() {
    return this.look.included.some((flag) => !flag);
  }

  // All but the range, and that on it.
  paint() {
    const { profile, picture, canvas } = this;
    const width = profile ? this.room() : 0;
    if (width <= 0) return;
    const height = ALL_PX + this.lanes.length * LANE_PX;
    const ratio = devicePixelRatio;
    this.width = width;
    for (const each of [picture, canvas]) {
      each.width = Math.round((width + MARGIN_PX) * ratio);
      each.height = Math.round(height * ratio);
    }
    canvas.style.width = `${width + MARGIN_PX}px`;
    canvas.style.height = `${height}px`;
    const context = picture.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.bins = Math.ceil(Math.min(width / NARROWEST_BIN_PX, Math.max(40, profile.moments.count / SAMPLES_A_BIN)));
    this.binWidth = width / this.bins;
    this.drawAll(context);
    this.drawLanes(context);
    this.drawTicks(context);
    this.drawMarkers(context);
    this.draw();
  }

  draw() {
    const { context, picture, canvas, width } = this;
    if (!width) return;
    context.clearRect(0, 0, width + MARGIN_PX, canvas.height);
    context.drawImage(picture, 0, 0, width + MARGIN_PX, picture.height / devicePixelRatio);
    this.drawRange();
  }

  // Of this event: its row, or -1.
  rows(rowOf) {
    const { cells } = this.profile;
    const rows = new Int16Array(cells.count).fill(-1);
    for (let cell = 0; cell < cells.count; cell++)
      if (cells.event[cell] === this.look.event) rows[cell] = rowOf(cells.thread[cell], cell);
    return rows;
  }

  // Columns from the ground up, one fill for all.
  drawBars(context, fill, column) {
    context.fillStyle = fill;
    context.beginPath();
    for (let bin = 0; bin < this.bins; bin++) {
      const [ground, tall] = column(bin);
      if (tall) context.rect(bin * this.binWidth, ground - tall, this.binWidth + 0.3, tall);
    }
    context.fill();
  }

  // All threads that are not filtered out, one layer on the other.
  drawAll(context) {
    const { profile, look, bins } = this;
    const matching = LAYERS.length; // the last row: what the search matches
    const counts = histogram(profile, matching + 1, bins, profile.moments.cell, this.rows((thread, cell) =>
      !look.included[thread] ? -1 : look.matches && look.matches[cell] ? matching : this.layers[cell]), this.span);
    const grounds = new Float64Array(bins).fill(ALL_PX);
    const sums = Float64Array.from({ length: bins }, (_, bin) => {
      let sum = 0;
      for (let row = 0; row <= matching; row++) sum += counts[row * bins + bin];
      return sum;
    });
    const most = sums.reduce((value, sum) => Math.max(value, sum), 1);
    for (const row of [matching, ...LAYERS.keys()])
      this.drawBars(context, row === matching ? look.mark : look.matches ? look.faint : look.colours(LAYERS[row]), (bin) => {
        const ground = grounds[bin];
        const tall = (counts[row * bins + bin] / most) * (ALL_PX - 14);
        grounds[bin] -= tall;
        return [ground, tall];
      });
  }

  // Samples of each lane by bin; kept, for a search or another theme changes nothing in it.
  laneCounts() {
    const key = `${this.laneKey} ${this.bins} ${this.span}`;
    if (key === this.countsKey) return this.counts;
    const { profile, look, bins, lanes } = this;
    const { moments, cells } = profile;
    const rows = new Map(lanes.map((lane, row) => [lane.key, row]));
    const rowOf = (key) => rows.get(key) ?? -1;
    const keys = look.byCpu ? moments.cpu.map((cpu, i) => (cells.event[moments.cell[i]] === look.event ? cpu : this.mostCpus)) : moments.cell;
    this.countsKey = key;
    this.counts = histogram(profile, lanes.length, bins, keys, look.byCpu
      ? Int16Array.from({ length: this.mostCpus + 1 }, (_, cpu) => rowOf(cpu)) : this.rows(rowOf), this.span);
    return this.counts;
  }

  drawLanes(context) {
    const { look, bins, lanes } = this;
    const counts = this.laneCounts();
    const most = counts.reduce((value, count) => Math.max(value, count), 1);
    lanes.forEach((lane, row) => {
      const ground = ALL_PX + (row + 1) * LANE_PX - 2;
      context.fillStyle = look.line;
      context.fillRect(0, ground, this.width, 0.5);
      this.drawBars(context, look.byCpu || look.included[lane.key] ? look.accent : look.faint, (bin) => {
        const count = counts[row * bins + bin];
        return [ground, count ? Math.max(1.5, (count / most) * (LANE_PX - 5)) : 0];
      });
    });
  }

  drawTicks(context) {
    const { look, width } = this;
    const [from, to] = this.span.map((us) => us / 1e6);
    const rough = (to - from) / Math.max(2, width / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) || 10);
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "top";
    for (let i = Math.ceil(from / step), n = 0; i * step < to && n < 1000; i++, n++) {
      const x = this.x(i * step * 1e6);
      const text = `${Number((i * step).toPrecision(9))} s`;
      context.fillStyle = look.line;
      context.fillRect(x, 0, 1, 12);
      context.fillStyle = look.muted;
      if (x + 6 + context.measureText(text).width < width + MARGIN_PX) context.fillText(text, x + 4, 1);
    }
  }

  // What went wrong on top.
  drawMarkers(context) {
    const { look } = this;
    const isAlarm = (marker) => marker.kind >= 3;
    for (const marker of [...this.profile.markers].sort((a, b) => isAlarm(a) - isAlarm(b))) {
      const x = this.x(marker.time);
      if (x < 0 || x > this.width + 1) continue;
      context.fillStyle = isAlarm(marker) ? look.alarm : look.muted;
      context.beginPath();
      context.moveTo(x - 3.5, 12);
      context.lineTo(x + 3.5, 12);
      context.lineTo(x, 18);
      context.fill();
    }
  }

  drawRange() {
    const { context, look, range, width, canvas } = this;
    if (!range) return;
    const [from, to] = range.map((time) => this.x(time));
    context.fillStyle = look.veil;
    context.fillRect(0, 0, from, canvas.height);
    context.fillRect(to, 0, width + MARGIN_PX - to, canvas.height);
    context.fillStyle = look.focus;
    context.fillRect(from - 1, 0, 2, canvas.height);
    context.fillRect(to - 1, 0, 2, canvas.height);
  }

  x(time) {
    const [from, to] = this.span;
    return ((time - from) / (to - from)) * this.width;
  }

  time(x) {
    const [from, to] = this.span;
    return from + (Math.min(this.width, Math.max(0, x)) / this.width) * (to - from);
  }

  // At an edge of the range, that is moved; elsewhere a new one begins.
  begin(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    const edges = this.range ? this.range.map((time) => this.x(time)) : [];
    const edge = edges.findIndex((x) => Math.abs(x - event.offsetX) <= EDGE_PX);
    this.drag = edge < 0 ? event.offsetX : edges[1 - edge];
  }

  dragged(event) {
    return [this.drag, event.offsetX].sort((a, b) => a - b).map((x) => Math.round(this.time(x)));
  }

  move(event) {
    if (this.drag === null || this.drag === undefined) {
      this.tell.hover([`${(this.time(event.offsetX) / 1e6).toFixed(3)} s`, ...this.markersNear(event.offsetX)], event);
      return;
    }
    this.range = this.dragged(event);
    if (this.range[1] > this.range[0]) this.tell.range(...this.range, false);
    this.draw();
  }

  // A click takes the range away.
  finish(event) {
    if (this.drag === null || this.drag === undefined) return;
    const isDrag = Math.abs(event.offsetX - this.drag) >= LEAST_DRAG_PX;
    const [from, to] = this.dragged(event);
    this.drag = null;
    this.tell.range(isDrag ? from : 0, isDrag ? to : 0, true);
  }

  markersNear(x) {
    const words = [({ text }) => `starts ${text}`, ({ text }) => `runs ${text}`, () => "ends",
      ({ count }) => `${count} samples lost`, () => "sampling paused by the kernel"];
    const near = this.profile.markers.filter((marker) => Math.abs(this.x(marker.time) - x) < 5);
    return near.slice(0, 8).map((marker) => `${(marker.time / 1e6).toFixed(3)} s: ${marker.pid >= 0
      ? `process ${marker.pid} ` : ""}${words[marker.kind](marker)}`);
  }
}
