// Draws the line of live bytes over time above the lanes. A drag selects a range, a click a moment.

import { ticksOf, timeWords } from "./clock.js";
import { bytesAt, liveByBin, peakWithin } from "./memory.js";

const TALL_PX = 56;
const TOP_PX = 14; // for the times
const LIVE_MARGIN_PX = 10; // the same as that of the lanes
const LIVE_DRAG_PX = 4;

// tell: {range(from, to, isOver), hover({name, figures}, event)}.
export class LiveLine {
  constructor(canvas, tell) {
    this.canvas = canvas;
    this.tell = tell;
    canvas.addEventListener("pointerdown", (event) => this.begin(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.finish(event));
    canvas.addEventListener("pointercancel", () => (this.pressed = null));
    canvas.addEventListener("pointerleave", () => this.tell.hover(null, null));
    new ResizeObserver(() => this.steps && this.width !== this.room() && this.paint()).observe(canvas.parentElement);
  }

  room() {
    return this.canvas.parentElement.clientWidth - LIVE_MARGIN_PX;
  }

  // look: the theme's colours; bytes: formats a number of bytes.
  show(info, steps, look, range, span, bytes) {
    Object.assign(this, { info, steps, look, range, span, bytes });
    this.paint();
  }

  paint() {
    const { canvas } = this;
    const width = this.room();
    if (width <= 0) return;
    this.width = width;
    const ratio = devicePixelRatio;
    canvas.width = Math.round((width + LIVE_MARGIN_PX) * ratio);
    canvas.height = Math.round(TALL_PX * ratio);
    canvas.style.width = `${width + LIVE_MARGIN_PX}px`;
    canvas.style.height = `${TALL_PX}px`;
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawLine(context);
    this.drawTimes(context);
    this.drawRange(context);
  }

  drawLine(context) {
    const { steps, look, span, width } = this;
    const bins = Math.max(1, Math.floor(width));
    const values = liveByBin(steps, bins, span);
    const peak = peakWithin(steps, span);
    const y = (value) => TALL_PX - 2 - (value / (peak.bytes || 1)) * (TALL_PX - TOP_PX - 4);
    context.beginPath();
    context.moveTo(0, y(0));
    values.forEach((value, bin) => {
      context.lineTo(bin * (width / bins), y(value));
      context.lineTo((bin + 1) * (width / bins), y(value));
    });
    context.lineTo(width, y(0));
    context.globalAlpha = 0.3;
    context.fillStyle = look.accent;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = look.accent;
    context.lineWidth = 1.5;
    context.stroke();
    if (!peak.bytes) return;
    context.fillStyle = look.ink;
    context.beginPath();
    context.arc(this.x(peak.time), y(peak.bytes), 3, 0, 2 * Math.PI);
    context.fill();
  }

  drawTimes(context) {
    const { look, width, info, span } = this;
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "top";
    for (const { us, text } of ticksOf(info, span, width)) {
      const x = this.x(us);
      context.fillStyle = look.line;
      context.fillRect(x, 0, 1, TOP_PX);
      context.fillStyle = look.muted;
      if (x + 6 + context.measureText(text).width < width + LIVE_MARGIN_PX) context.fillText(text, x + 4, 1);
    }
  }

  drawRange(context) {
    const { look, range, width } = this;
    if (!range) return;
    const [from, to] = range.map((time) => this.x(time));
    // The veil outside a single moment would cover the whole line.
    if (to - from > 1) {
      context.fillStyle = look.veil;
      context.fillRect(0, 0, from, TALL_PX);
      context.fillRect(to, 0, width + LIVE_MARGIN_PX - to, TALL_PX);
    }
    context.fillStyle = look.focus;
    context.fillRect(from - 1, 0, 2, TALL_PX);
    context.fillRect(to - 1, 0, 2, TALL_PX);
  }

  x(time) {
    const [from, to] = this.span;
    return ((time - from) / (to - from)) * this.width;
  }

  time(x) {
    const [from, to] = this.span;
    return from + (Math.min(this.width, Math.max(0, x)) / this.width) * (to - from);
  }

  begin(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pressed = event.offsetX;
  }

  dragged(event) {
    return [this.pressed, event.offsetX].sort((a, b) => a - b).map((x) => Math.round(this.time(x)));
  }

  move(event) {
    if (this.pressed === null || this.pressed === undefined) {
      const at = this.time(event.offsetX);
      this.tell.hover({ name: `${this.bytes(bytesAt(this.steps, at))} live`, figures: `at ${timeWords(this.info, at, 1e3)}` }, event);
      return;
    }
    const [from, to] = this.dragged(event);
    if (to > from && Math.abs(event.offsetX - this.pressed) >= LIVE_DRAG_PX) this.tell.range(from, to, false);
  }

  finish(event) {
    if (this.pressed === null || this.pressed === undefined) return;
    const isDrag = Math.abs(event.offsetX - this.pressed) >= LIVE_DRAG_PX;
    const at = Math.floor(this.time(event.offsetX));
    const [from, to] = isDrag ? this.dragged(event) : [at, at + 1];
    this.pressed = null;
    this.tell.range(from, to, true);
  }
}
