// Draws samples over time: one lane for all, and one per thread or CPU. If the recording has
// off-CPU time, the lanes of threads show their states: running, runnable or waiting. A drag
// selects a range; across several lanes it also selects their threads.

import { ticksOf, timeWords } from "./clock.js";
import { cpuLanes, patternOf, threadLanes } from "./lanes.js";
import { STATES } from "./reasons.js";
import { ofThreads, stateCounts } from "./states.js";
import { histogram, partsOf } from "./weights.js";
import { count, heading, percent } from "./words.js";

const LANE_PX = 18;
const ALL_PX = 44;
const MARGIN_PX = 10; // at the right, for marks at the end
const NARROWEST_BIN_PX = 2;
const SAMPLES_A_BIN = 6; // on average
const LAYERS = ["user", "inlined", "jit", "interpreted", "unnamed", "kernel"]; // of the lane for all, bottom first
const LEAST_DRAG_PX = 4;
const EDGE_PX = 5; // a press this close to an edge drags the edge

// Returns the layer of each sample: the kind of its innermost frame.
function layersOfSamples(profile) {
  const { samples, stacks, frames, labels } = profile;
  const layers = new Uint8Array(samples.count);
  for (let sample = 0; sample < samples.count; sample++) {
    const stack = samples.stack[sample];
    const last = frames.first[stacks.frame[stack] + 1] - 1;
    const kind = stack && last >= 0 ? labels.kind[frames.code[last] >>> 1] : "unnamed";
    layers[sample] = Math.max(0, LAYERS.indexOf(kind));
  }
  return layers;
}

// A picture of columns of device pixels, which draws faster than rectangles.
class Pixels {
  constructor(bins, height, ratio) {
    Object.assign(this, { bins, ratio, image: new ImageData(bins, height) });
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  // Stacks the bars of several rows, the first at the bottom. Row r starts at first + r * (bins +
  // 1). full: the sum of a full column; 0 for the largest one. The first row is known only from
  // samples and gets what the other rows leave.
  stack(counts, first, fills, { ground, tall, full = 0, isFaded = false }) {
    const { bins, ratio, pixels } = this;
    const sums = new Float64Array(bins);
    for (let row = 0; row < fills.length; row++) for (let bin = 0; bin < bins; bin++) sums[bin] += counts[first + row * (bins + 1) + bin];
    const most = full || sums.reduce((value, sum) => Math.max(value, sum), 1e-9);
    const words = fills.map((fill) => wordOf(fill, isFaded));
    const bottom = Math.round(ground * ratio);
    for (let bin = 0; bin < bins; bin++) {
      if (!sums[bin]) continue;
      const waits = sums[bin] - counts[first + bin];
      const scale = waits > most ? most / waits : 1;
      let done = 0;
      let top = bottom;
      for (let row = 0; row < fills.length; row++) {
        const count = counts[first + row * (bins + 1) + bin];
        done += row ? count * scale : Math.min(count, Math.max(0, most - waits));
        const end = bottom - Math.round(Math.min(1, done / most) * tall * ratio);
        for (; top > end; top--) pixels[(top - 1) * bins + bin] = words[row];
      }
    }
  }

  drawOn(context, width) {
    const canvas = document.createElement("canvas");
    canvas.width = this.bins;
    canvas.height = this.image.height;
    canvas.getContext("2d").putImageData(this.image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(canvas, 0, 0, width, this.image.height / this.ratio);
  }
}

// Converts "#rrggbb" to a pixel in little-endian byte order, which all machines with browsers have.
export function wordOf(fill, isFaded = false) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(fill.slice(at, at + 2), 16));
  return ((isFaded ? 70 : 255) << 24) | (blue << 16) | (green << 8) | red;
}

// elements: {canvas, names (a list)}. tell: {range(from, to, isOver, threads (patterns, or null)),
// thread(pattern, adds), hover({name, figures}, event), lane(lane, [from, to], event): the pointer
// is on a lane of states}.
export class Timeline {
  constructor({ canvas, names }, tell) {
    this.canvas = canvas;
    this.names = names;
    this.tell = tell;
    this.context = canvas.getContext("2d");
    this.picture = document.createElement("canvas"); // everything except the range
    canvas.addEventListener("pointerdown", (event) => this.begin(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.finish(event));
    canvas.addEventListener("pointercancel", () => (this.drag = this.dragRows = null));
    canvas.addEventListener("pointerleave", () => this.tell.hover(null, null));
    names.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.width !== this.room() && this.paint()).observe(canvas.parentElement);
  }

  room() {
    return this.canvas.parentElement.clientWidth - MARGIN_PX;
  }

  // look: {event, byCpu, colours, ink, faint, accent, ground, mark, …, matches (a flag for each
  // sample, or null), sets and included (a flag for each label set and thread), states: null, or
  // {lives, hidden (a flag for each thread, or null), strong (a flag for each state),
  // words(threads)}}. A change needs a new object. span: the visible time.
  show(profile, look, range, span) {
    const isNew = look !== this.look || String(span) !== String(this.span);
    this.layers ||= layersOfSamples(profile);
    this.profile = profile;
    this.look = look;
    this.range = range;
    this.span = span;
    if (!isNew) return this.draw();
    const key = `${look.byCpu} ${look.event} ${look.included} ${look.states?.hidden} ${span}`;
    if (key !== this.laneKey) Object.assign(this, this.lanesOfLook());
    if (key !== this.laneKey) this.nameLanes();
    this.laneKey = key;
    return this.paint();
  }

  lanesOfLook() {
    const { profile, look, span } = this;
    const { event, included, states } = look;
    return look.byCpu ? cpuLanes(profile, event) : threadLanes(profile, { event, included, span, ...states });
  }

  // Returns the row of the lane of each thread, or -1.
  rowsOfThreads() {
    const rows = new Int16Array(this.profile.threads.length).fill(-1);
    this.lanes.forEach(({ threads }, row) => threads.forEach((thread) => (rows[thread] = row)));
    return rows;
  }

  isIncluded({ threads }) {
    return this.look.byCpu || threads.some((thread) => this.look.included[thread]);
  }

  // Returns the header of the names, which defines their percentages.
  header() {
    const item = document.createElement("li");
    const words = document.createElement("span");
    const share = document.createElement("small");
    words.textContent = this.look.byCpu ? "CPUs" : `${this.look.states?.isOfRunning ? `0 to ${this.mostRunning()} running\n` : ""}${
      count(this.threads)} ${this.threads === 1 ? "thread" : "threads"}`;
    share.textContent = `% of ${this.measure()}`;
    item.className = "head";
    item.append(words, share);
    return item;
  }

  // Returns the largest number of threads that ran at a time.
  mostRunning() {
    return this.profile.running.reduce((most, threads) => Math.max(most, threads), 1);
  }

  measure() {
    return heading(this.profile.events[this.look.event]).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
  }

  // The Tab key stops at one lane. Arrow keys move to the others.
  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    this.hold(this.heldLane() + step, true);
    event.preventDefault();
  }

  heldLane() {
    return [...this.names.querySelectorAll("button")].findIndex((name) => name.tabIndex === 0);
  }

  hold(row, hasFocus) {
    const buttons = [...this.names.querySelectorAll("button")];
    const held = buttons[Math.max(0, Math.min(row, buttons.length - 1))];
    for (const name of buttons) name.tabIndex = name === held ? 0 : -1;
    if (hasFocus) held?.focus();
  }

  nameLanes() {
    const { byCpu, included, states } = this.look;
    const [held, hasFocus] = [this.heldLane(), this.names.contains(document.activeElement)];
    this.names.replaceChildren(this.header(), ...this.lanes.map((lane) => {
      const item = document.createElement("li");
      const name = document.createElement(byCpu ? "span" : "button");
      const words = document.createElement("bdi");
      const share = document.createElement("small");
      words.textContent = lane.name;
      share.textContent = [lane.id, percent(lane.share, 1)].filter(Boolean).join(" · ");
      name.append(words, share);
      name.title = `${lane.name} ${lane.id} ${lane.process ? `of ${lane.process}` : ""}: ${percent(lane.share, 1)} of ${this.measure()}${
        states ? `; ${states.words(lane.threads)}` : ""}`;
      if (!byCpu) {
        name.type = "button";
        name.setAttribute("aria-pressed", String(this.isFiltered() && lane.threads.every((thread) => included[thread])));
        name.addEventListener("click", (event) => this.tell.thread(patternOf(lane.threads, this.profile), event.ctrlKey || event.metaKey));
      }
      if (!this.isIncluded(lane)) item.className = "off";
      item.append(name);
      return item;
    }));
    if (this.hidden) {
      const more = document.createElement("li");
      more.textContent = `and ${this.hidden} more`;
      this.names.append(more);
    }
    this.hold(held, hasFocus);
  }

  isFiltered() {
    return this.look.included.some((flag) => !flag);
  }

  // Draws the lanes, then the range over them.
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
    this.bins = this.look.states ? Math.round(width * ratio)
      : Math.ceil(Math.min(width / NARROWEST_BIN_PX, Math.max(40, profile.timedSamples.count / SAMPLES_A_BIN)));
    this.binWidth = width / this.bins;
    if (this.look.states) this.drawStates(context);
    else {
      this.drawAll(context);
      this.drawLanes(context);
    }
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

  // Returns the row of each sample by rowOf, and -1 for samples of other events.
  rows(rowOf) {
    const { samples } = this.profile;
    const rows = new Int16Array(samples.count).fill(-1);
    const wanted = partsOf(this.profile, this.look.event);
    for (let sample = 0; sample < samples.count; sample++)
      if (wanted[samples.event[sample]]) rows[sample] = rowOf(samples.thread[sample], sample);
    return rows;
  }

  // Draws bars with one fill. column(bin): [bottom, height].
  drawBars(context, fill, column) {
    context.fillStyle = fill;
    context.beginPath();
    for (let bin = 0; bin < this.bins; bin++) {
      const [ground, tall] = column(bin);
      if (tall) context.rect(bin * this.binWidth, ground - tall, this.binWidth + 0.3, tall);
    }
    context.fill();
  }

  // Draws the lane for all included threads, as stacked layers.
  drawAll(context) {
    const { profile, look, bins } = this;
    const matching = LAYERS.length; // the last row: samples that match the search
    const counts = histogram(profile, matching + 1, bins, profile.timedSamples.sample, this.rows((thread, sample) =>
      !look.sets[profile.samples.set[sample]] ? -1 : look.matches && look.matches[sample] ? matching : this.layers[sample]), this.span);
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

  // Returns the samples per lane and bin. They are cached, because neither a search nor the theme
  // changes them.
  laneCounts() {
    const key = `${this.laneKey} ${this.bins} ${this.span}`;
    if (key === this.countsKey) return this.counts;
    const { profile, look, bins, lanes } = this;
    const { timedSamples, samples } = profile;
    const cpus = new Map(lanes.map(({ key }, row) => [key, row]));
    const rows = look.byCpu ? [] : this.rowsOfThreads();
    const wanted = partsOf(profile, look.event);
    const keys = look.byCpu ? timedSamples.cpu.map((cpu, i) => (wanted[samples.event[timedSamples.sample[i]]] ? cpu : this.mostCpus)) : timedSamples.sample;
    this.countsKey = key;
    this.counts = histogram(profile, lanes.length, bins, keys, look.byCpu
      ? Int16Array.from({ length: this.mostCpus + 1 }, (_, cpu) => cpus.get(cpu) ?? -1) : this.rows((thread) => rows[thread]), this.span);
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
      this.drawBars(context, this.isIncluded(lane) ? look.accent : look.faint, (bin) => {
        const count = counts[row * bins + bin];
        return [ground, count ? Math.max(1.5, (count / most) * (LANE_PX - 5)) : 0];
      });
    });
  }

  // Returns the number of threads by state in each bin: one row per state for each lane.
  // isWanted: a flag for each event.
  statesOfLanes(isWanted) {
    const { profile: { samples }, bins, lanes } = this;
    const rows = this.rowsOfThreads();
    return stateCounts(this.profile, lanes.length * STATES.length, bins, Int16Array.from(samples.thread, (thread, sample) =>
      (rows[thread] < 0 || !isWanted[samples.event[sample]] ? -1 : rows[thread] * STATES.length + samples.state[sample])), this.span);
  }

  // Returns the counts for the lanes and for all threads. The critical path has a further one for
  // the lanes, and is shown for all threads. With elapsed time, all threads have the number of
  // running threads. The last row for all threads is that of the matches of the search.
  statesByBin() {
    const { profile, look: { event, sets, matches, states: { hidden, isOfRunning, isOfPath } }, bins } = this;
    const key = `${this.laneKey} ${this.bins} ${this.span}`;
    const { samples, running } = profile;
    const isOfTime = ofThreads(profile);
    const isShown = partsOf(profile, event);
    if (key !== this.countsKey) {
      this.counts = this.statesOfLanes(isOfTime);
      this.pathCounts = isOfPath ? this.statesOfLanes(isShown) : null;
      this.countsKey = key;
    }
    const ofAll = isOfRunning || isOfPath ? isShown : isOfTime;
    const rowOf = Int16Array.from(samples.thread, (thread, sample) => {
      if (!ofAll[samples.event[sample]] || !sets[samples.set[sample]] || (ofAll === isOfTime && hidden?.[thread])) return -1;
      return matches?.[sample] ? STATES.length : samples.state[sample];
    });
    return { lanes: this.counts, path: this.pathCounts, all: stateCounts(profile, STATES.length + 1, bins, rowOf, this.span,
      isOfRunning ? Float64Array.from(samples.set, (set) => running[set]) : null) };
  }

  drawStates(context) {
    const { look, lanes, bins } = this;
    const { strong, isOfRunning, isOfPath } = look.states;
    const counts = this.statesByBin();
    const picture = new Pixels(bins, Math.round((ALL_PX + lanes.length * LANE_PX) * devicePixelRatio), devicePixelRatio);
    const fills = STATES.map((state, i) => (strong[i] ? look.colours(state) : look.faint));
    picture.stack(counts.all, 0, [...(look.matches ? fills.map(() => look.faint) : fills), look.mark],
      { ground: ALL_PX, tall: ALL_PX - 14, full: isOfRunning ? this.mostRunning() : isOfPath ? 1 : 0 });
    const stackLane = (all, row, look) => picture.stack(all, row * STATES.length * (bins + 1), fills, { ground: ALL_PX + (row + 1) * LANE_PX - 2, tall: LANE_PX - 4, ...look });
    lanes.forEach((lane, row) => {
      const isFaded = !this.isIncluded(lane);
      stackLane(counts.lanes, row, { full: lane.isMany ? 0 : 1, isFaded: isFaded || isOfPath });
      if (isOfPath) stackLane(counts.path, row, { full: 1, isFaded });
    });
    picture.drawOn(context, this.width);
    context.fillStyle = look.line;
    lanes.forEach((_, row) => context.fillRect(0, ALL_PX + (row + 1) * LANE_PX - 1.5, this.width, 0.5));
  }

  drawTicks(context) {
    const { look, width, profile, span } = this;
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "top";
    for (const { us, text } of ticksOf(profile.info, span, width)) {
      const x = this.x(us);
      context.fillStyle = look.line;
      context.fillRect(x, 0, 1, 12);
      context.fillStyle = look.muted;
      if (x + 6 + context.measureText(text).width < width + MARGIN_PX) context.fillText(text, x + 4, 1);
    }
  }

  // Draws marks of events such as exec and lost samples. Problems are on top.
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
    if (this.dragRows) this.drawRows();
    if (!range) return;
    const [from, to] = range.map((time) => this.x(time));
    context.fillStyle = look.veil;
    context.fillRect(0, 0, from, canvas.height);
    context.fillRect(to, 0, width + MARGIN_PX - to, canvas.height);
    context.fillStyle = look.focus;
    context.fillRect(from - 1, 0, 2, canvas.height);
    context.fillRect(to - 1, 0, 2, canvas.height);
  }

  // Veils the other lanes while a drag selects threads.
  drawRows() {
    const { context, look, width, canvas } = this;
    const [first, last] = this.dragRows;
    context.fillStyle = look.veil;
    context.fillRect(0, 0, width, ALL_PX + first * LANE_PX);
    context.fillRect(0, ALL_PX + (last + 1) * LANE_PX, width, canvas.height);
  }

  // Returns the lane at a height, or -1 for the lane of all threads.
  row(y) {
    return y < ALL_PX ? -1 : Math.min(this.lanes.length - 1, Math.floor((y - ALL_PX) / LANE_PX));
  }

  x(time) {
    const [from, to] = this.span;
    return ((time - from) / (to - from)) * this.width;
  }

  time(x) {
    const [from, to] = this.span;
    return from + (Math.min(this.width, Math.max(0, x)) / this.width) * (to - from);
  }

  // A press at an edge of the range moves the edge. Elsewhere it starts a new range.
  begin(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    const edges = this.range ? this.range.map((time) => this.x(time)) : [];
    const edge = edges.findIndex((x) => Math.abs(x - event.offsetX) <= EDGE_PX);
    this.drag = edge < 0 ? event.offsetX : edges[1 - edge];
    this.dragRow = edge < 0 && !this.look.byCpu ? this.row(event.offsetY) : -1;
  }

  // Returns the first and the last lane of a drag if it covers several lanes. With Shift, one lane
  // is enough.
  draggedRows(event) {
    const rows = [this.dragRow, this.row(Math.max(ALL_PX, event.offsetY))].sort((a, b) => a - b);
    return rows[0] >= 0 && (rows[1] > rows[0] || event.shiftKey) ? rows : null;
  }

  dragged(event) {
    return [this.drag, event.offsetX].sort((a, b) => a - b).map((x) => Math.round(this.time(x)));
  }

  move(event) {
    if (this.drag === null || this.drag === undefined) {
      this.hoverAt(event);
      return;
    }
    this.dragRows = this.draggedRows(event);
    this.range = this.dragged(event);
    if (this.range[1] > this.range[0]) this.tell.range(...this.range, false);
    this.draw();
  }

  hoverAt(event) {
    const { offsetX: x, offsetY: y } = event;
    const row = this.look.states ? this.row(y) : -1;
    if (row >= 0) this.tell.lane(this.lanes[row], [this.time(x - 0.5), this.time(x + 0.5)], event);
    else this.tell.hover({ name: timeWords(this.profile.info, this.time(x), 1e3), figures: this.markersNear(x).join("; ") }, event);
  }

  // A click clears the range.
  finish(event) {
    if (this.drag === null || this.drag === undefined) return;
    const isDrag = Math.abs(event.offsetX - this.drag) >= LEAST_DRAG_PX;
    const [from, to] = this.dragged(event);
    const rows = isDrag ? this.draggedRows(event) : null;
    this.drag = null;
    this.dragRows = null;
    this.tell.range(isDrag ? from : 0, isDrag ? to : 0, true,
      rows && this.lanes.slice(rows[0], rows[1] + 1).map(({ threads }) => patternOf(threads, this.profile)).join(","));
  }

  markersNear(x) {
    const words = [({ text }) => `starts ${text}`, ({ text }) => `runs ${text}`, () => "ends",
      ({ count }) => `${count} samples lost`, () => "sampling paused by the kernel"];
    const near = this.profile.markers.filter((marker) => Math.abs(this.x(marker.time) - x) < 5);
    return near.slice(0, 8).map((marker) => `${timeWords(this.profile.info, marker.time, 1e3)}: ${marker.pid >= 0
      ? `process ${marker.pid} ` : ""}${words[marker.kind](marker)}`);
  }
}
