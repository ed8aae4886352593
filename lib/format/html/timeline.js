// Samples over time, a lane for each thread or CPU under one for all; a range is taken by dragging.

import { histogram } from "./weights.js";
import { percent } from "./words.js";

const LANE_PX = 18;
const ALL_PX = 44;
const NARROWEST_BIN_PX = 2;
const SAMPLES_A_BIN = 6; // fewer say nothing
const MOST_LANES = 64;
const LAYERS = ["user", "inlined", "jit", "unnamed", "kernel"]; // of the lane for all, from the ground
const LEAST_DRAG_PX = 4;

// The lanes: {name, title, rows: which threads or CPUs, share, pattern}; the busiest first.
export function lanesOf(profile, byCpu) {
  const { moments, cells, threads } = profile;
  const mostCpus = 1 + moments.cpu.reduce((most, cpu) => Math.max(most, cpu), 0);
  const counts = new Float64Array(byCpu ? mostCpus : threads.length);
  for (let i = 0; i < moments.count; i++) counts[byCpu ? moments.cpu[i] : cells.thread[moments.cell[i]]]++;
  const busy = [...counts.keys()].filter((key) => counts[key]).sort((a, b) => counts[b] - counts[a] || a - b);
  const lanes = busy.slice(0, MOST_LANES).map((key) => {
    const thread = threads[key];
    const name = byCpu ? `CPU ${key}` : thread.name || thread.process || "thread";
    const id = byCpu || thread.tid < 0 ? "" : String(thread.tid);
    return { key, name, id, pattern: id || name, share: counts[key] / moments.count,
      process: byCpu || thread.pid === thread.tid ? "" : thread.process };
  });
  if (byCpu) lanes.sort((a, b) => a.key - b.key);
  return { lanes, mostCpus, hidden: busy.length - lanes.length };
}

// What the innermost frame of each cell is.
function layersOfCells(profile) {
  const { cells, stacks, frames, labels } = profile;
  return Uint8Array.from(cells.stack, (stack) => {
    const last = frames.first[stacks.frame[stack] + 1] - 1;
    const kind = stack && last >= 0 ? labels.kind[frames.code[last] >>> 1] : "unnamed";
    return Math.max(0, LAYERS.indexOf(kind));
  });
}

// elements: {canvas, names (a list)}. tell: {range(from, to), thread(pattern, adds), hover(lines, event)}.
export class Timeline {
  constructor({ canvas, names }, tell) {
    this.canvas = canvas;
    this.names = names;
    this.tell = tell;
    this.context = canvas.getContext("2d");
    canvas.addEventListener("pointerdown", (event) => this.begin(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.finish(event));
    canvas.addEventListener("pointercancel", () => (this.drag = null));
    canvas.addEventListener("pointerleave", () => this.tell.hover(null, null));
    new ResizeObserver(() => this.width !== canvas.parentElement.clientWidth && this.draw()).observe(canvas.parentElement);
  }

  // look: {byCpu, colours, ink, faint, accent, ground, mark, matches (a flag for each cell, or null),
  // included (a flag for each thread)}.
  show(profile, look, range) {
    if (profile !== this.profile || look.byCpu !== this.look.byCpu) {
      Object.assign(this, lanesOf(profile, look.byCpu));
      this.layers = layersOfCells(profile);
    }
    this.profile = profile;
    this.look = look;
    this.range = range;
    this.nameLanes();
    this.draw();
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

  draw() {
    const { canvas, profile } = this;
    const width = canvas.parentElement.clientWidth;
    if (!profile || !width) return;
    const height = ALL_PX + this.lanes.length * LANE_PX;
    const ratio = devicePixelRatio;
    this.width = width;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.bins = Math.ceil(Math.min(width / NARROWEST_BIN_PX, Math.max(40, profile.moments.count / SAMPLES_A_BIN)));
    this.binWidth = width / this.bins;
    this.drawAll();
    this.drawLanes();
    this.drawTicks();
    this.drawMarkers();
    this.drawRange();
  }

  // All threads that are not filtered out, one layer on the other.
  drawAll() {
    const { context, profile, look, bins } = this;
    const rows = LAYERS.length + 1; // the last one: what the search matches
    const rowOf = Int8Array.from(profile.cells.thread, (thread, cell) =>
      !look.included[thread] ? -1 : look.matches && look.matches[cell] ? LAYERS.length : this.layers[cell]);
    const counts = histogram(profile, rows, bins, profile.moments.cell, rowOf);
    let most = 1;
    for (let bin = 0; bin < bins; bin++) {
      let sum = 0;
      for (let row = 0; row < rows; row++) sum += counts[row * bins + bin];
      if (sum > most) most = sum;
    }
    for (let bin = 0; bin < bins; bin++) {
      let y = ALL_PX;
      for (const row of [LAYERS.length, ...LAYERS.keys()]) {
        const tall = (counts[row * bins + bin] / most) * (ALL_PX - 14);
        if (!tall) continue;
        context.fillStyle = row === LAYERS.length ? look.mark : look.matches ? look.faint : look.colours(LAYERS[row]);
        context.fillRect(bin * this.binWidth, y - tall, this.binWidth + 0.3, tall);
        y -= tall;
      }
    }
  }

  drawLanes() {
    const { context, profile, look, bins, lanes } = this;
    const { moments, cells } = profile;
    const rows = new Map(lanes.map((lane, row) => [lane.key, row]));
    const rowOf = (key) => rows.get(key) ?? -1;
    const counts = look.byCpu
      ? histogram(profile, lanes.length, bins, moments.cpu, Int16Array.from({ length: this.mostCpus }, (_, cpu) => rowOf(cpu)))
      : histogram(profile, lanes.length, bins, moments.cell, Int16Array.from(cells.thread, rowOf));
    const most = counts.reduce((value, count) => Math.max(value, count), 1);
    lanes.forEach((lane, row) => {
      const ground = ALL_PX + (row + 1) * LANE_PX - 2;
      context.fillStyle = look.line;
      context.fillRect(0, ground, this.width, 0.5);
      context.fillStyle = look.byCpu || look.included[lane.key] ? look.accent : look.faint;
      for (let bin = 0; bin < bins; bin++) {
        const count = counts[row * bins + bin];
        const tall = count ? Math.max(1.5, (count / most) * (LANE_PX - 5)) : 0;
        if (tall) context.fillRect(bin * this.binWidth, ground - tall, this.binWidth + 0.3, tall);
      }
    });
  }

  drawTicks() {
    const { context, look, width } = this;
    const seconds = this.profile.info.durationUs / 1e6;
    const rough = seconds / Math.max(2, width / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) || 10);
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "top";
    for (let i = 0; i * step < seconds && i < 1000; i++) {
      const x = (i * step / seconds) * width;
      context.fillStyle = look.line;
      context.fillRect(x, 0, 1, 12);
      context.fillStyle = look.muted;
      context.fillText(`${Number((i * step).toPrecision(6))} s`, x + 4, 1);
    }
  }

  drawMarkers() {
    const { context, look } = this;
    for (const marker of this.profile.markers) {
      const x = this.x(marker.time);
      context.fillStyle = marker.kind >= 3 ? look.alarm : look.muted;
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
    context.fillRect(to, 0, width - to, canvas.height);
    context.fillStyle = look.focus;
    context.fillRect(from - 1, 0, 2, canvas.height);
    context.fillRect(to - 1, 0, 2, canvas.height);
  }

  x(time) {
    return (time / Math.max(1, this.profile.info.durationUs)) * this.width;
  }

  time(x) {
    return (Math.min(this.width, Math.max(0, x)) / this.width) * this.profile.info.durationUs;
  }

  begin(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = event.offsetX;
  }

  move(event) {
    if (this.drag === null || this.drag === undefined) {
      this.tell.hover([`${(this.time(event.offsetX) / 1e6).toFixed(3)} s`, ...this.markersNear(event.offsetX)], event);
      return;
    }
    this.range = [this.drag, event.offsetX].sort((a, b) => a - b).map((x) => this.time(x));
    this.draw();
  }

  // A click takes the range away.
  finish(event) {
    if (this.drag === null || this.drag === undefined) return;
    const isDrag = Math.abs(event.offsetX - this.drag) >= LEAST_DRAG_PX;
    const [from, to] = [this.drag, event.offsetX].sort((a, b) => a - b).map((x) => Math.round(this.time(x)));
    this.drag = null;
    this.tell.range(isDrag ? from : 0, isDrag ? to : 0);
  }

  markersNear(x) {
    const words = [({ text }) => `starts ${text}`, ({ text }) => `runs ${text}`, () => "ends",
      ({ count }) => `${count} samples lost`, () => "sampling paused by the kernel"];
    const near = this.profile.markers.filter((marker) => Math.abs(this.x(marker.time) - x) < 5);
    return near.slice(0, 8).map((marker) => `${(marker.time / 1e6).toFixed(3)} s: ${marker.pid >= 0
      ? `process ${marker.pid} ` : ""}${words[marker.kind](marker)}`);
  }
}
