// Draws the heat map over time. A click selects a cell, and a second click selects all cells from
// the first to it. A drag does the same, and so does the keyboard with Enter or with Shift and an
// arrow key.

import { ticksOf } from "./clock.js";
import { cellAt, cellsOf, rangeOf } from "./heat.js";
import { wordOf } from "./timeline.js";

const HEAT_TOP_PX = 18; // for the times of columns
const HEAT_SIDE_PX = 34; // for the times of rows
const HEAT_MARGIN_PX = 10; // at the right
const HEAT_TALL_PX = 180;
const LEAST_TICK_PX = 70;

// tell: {range(from, to, isOver), hover(cell, event), cell(cell): the keyboard has moved to it}.
// heat.js defines the numbers of cells.
export class HeatMap {
  constructor(canvas, tell) {
    Object.assign(this, { canvas, tell, cursor: null, anchor: null, pressed: null, hovered: null });
    canvas.addEventListener("pointerdown", (event) => this.begin(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.finish(event));
    canvas.addEventListener("pointercancel", () => (this.pressed = null));
    canvas.addEventListener("pointerleave", () => this.point(null, null));
    canvas.addEventListener("keydown", (event) => this.key(event));
    for (const type of ["focus", "blur"]) canvas.addEventListener(type, () => this.grid && this.paint());
    new ResizeObserver(() => this.grid && this.width !== this.room() && this.paint()).observe(canvas.parentElement);
  }

  room() {
    return this.canvas.parentElement.clientWidth - HEAT_SIDE_PX - HEAT_MARGIN_PX;
  }

  // heat: the weight of each cell of the grid; most: the weight of the hottest colour; look: the
  // theme's colours and the ramp of heat.
  show(info, grid, { heat, most }, look, range) {
    if (String(range) !== this.taken) this.anchor = null; // the range was changed elsewhere
    if (grid.start !== this.grid?.start || grid.rowUs !== this.grid?.rowUs) this.cursor = this.anchor = this.hovered = null;
    Object.assign(this, { info, grid, heat, most, look, range });
    this.paint();
  }

  paint() {
    const { canvas, look } = this;
    const width = this.room();
    if (width <= 0) return;
    const ratio = devicePixelRatio;
    const [wide, tall] = [HEAT_SIDE_PX + width + HEAT_MARGIN_PX, HEAT_TOP_PX + HEAT_TALL_PX + 2];
    this.width = width;
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(tall * ratio);
    canvas.style.width = `${wide}px`;
    canvas.style.height = `${tall}px`;
    this.context = canvas.getContext("2d");
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawCells();
    this.drawTimes();
    if (this.range) this.drawRange();
    if (this.anchor !== null && this.hovered !== null) this.outline([this.anchor, this.hovered], look.focus, 1);
    if (this.cursor !== null && document.activeElement === canvas) this.outline([this.cursor, this.cursor], look.ink, 2);
  }

  x(column) {
    return HEAT_SIDE_PX + (column * this.width) / this.grid.columns;
  }

  y(row) {
    return HEAT_TOP_PX + (row * HEAT_TALL_PX) / this.grid.rows;
  }

  // Draws one pixel per cell and enlarges the picture. Cells outside the recording stay empty.
  drawCells() {
    const { grid, heat, most, look, context } = this;
    const { columns, rows } = grid;
    const image = new ImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    const words = look.ramp.map((fill) => wordOf(fill));
    const [first, last] = cellsOf(grid);
    for (let cell = first; cell <= last; cell++) {
      const step = heat[cell] > 0 ? 1 + Math.min(words.length - 2, Math.floor((heat[cell] / most) * (words.length - 1))) : 0;
      pixels[(cell % rows) * columns + Math.floor(cell / rows)] = words[step];
    }
    const small = document.createElement("canvas");
    small.width = columns;
    small.height = rows;
    small.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, HEAT_SIDE_PX, HEAT_TOP_PX, this.width, HEAT_TALL_PX);
  }

  // Draws the local time above the columns, and the part of the column next to the rows.
  drawTimes() {
    const { grid, info, look, context, width } = this;
    const { start, columnUs, columns, rows } = grid;
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "top";
    const least = Math.max(columnUs, (LEAST_TICK_PX / width) * columns * columnUs);
    for (const { us, text } of ticksOf(info, [start, start + columns * columnUs], width, least)) {
      const x = this.x((us - start) / columnUs);
      context.fillStyle = look.muted;
      context.fillRect(x, HEAT_TOP_PX - 4, 1, 4);
      if (x + 6 + context.measureText(text).width < HEAT_SIDE_PX + width + HEAT_MARGIN_PX) context.fillText(text, x + 3, 3);
    }
    context.textAlign = "right";
    for (let part = 0; part < 4; part++) {
      const text = columnUs === 1e6 ? `.${String(part * 250).padStart(3, "0")}` : `:${String((rows * part) / 4).padStart(2, "0")}`;
      context.fillText(text, HEAT_SIDE_PX - 4, this.y((rows * part) / 4));
    }
    context.textAlign = "left";
  }

  // Returns the outline of a range of cells: a part of a column, whole columns, and a part of a
  // column.
  path(cells) {
    const { context, grid: { rows } } = this;
    const [first, last] = cells[0] < cells[1] ? cells : [cells[1], cells[0]];
    const [left, right] = [first, last].map((cell) => Math.floor(cell / rows));
    const [top, bottom] = [this.y(first % rows), this.y((last % rows) + 1)];
    context.beginPath();
    if (left === right) {
      context.rect(this.x(left), top, this.x(left + 1) - this.x(left), bottom - top);
      return;
    }
    context.moveTo(this.x(left), top);
    for (const [x, y] of [[left + 1, top], [left + 1, this.y(0)], [right + 1, this.y(0)], [right + 1, bottom], [right, bottom],
      [right, this.y(rows)], [left, this.y(rows)]]) context.lineTo(this.x(x), y);
    context.closePath();
  }

  outline(cells, colour, wide) {
    const { context } = this;
    this.path(cells);
    context.strokeStyle = colour;
    context.lineWidth = wide;
    context.stroke();
  }

  rangeCells() {
    const [from, to] = this.range;
    const [first, last] = cellsOf(this.grid);
    return [Math.max(first, cellAt(this.grid, from)), Math.min(last, cellAt(this.grid, to - 1))];
  }

  // Veils everything outside the range.
  drawRange() {
    const { context, look, width } = this;
    const cells = this.rangeCells();
    if (cells[1] < cells[0]) return;
    this.path(cells);
    context.rect(HEAT_SIDE_PX, HEAT_TOP_PX, width, HEAT_TALL_PX);
    context.fillStyle = look.veil;
    context.fill("evenodd");
    this.outline(cells, look.focus, 2);
  }

  // Returns the cell at a place, or the nearest one if the place is outside the map.
  cell({ offsetX, offsetY }) {
    const { grid, width } = this;
    const at = (place, size, parts) => Math.min(parts - 1, Math.max(0, Math.floor((place / size) * parts)));
    return this.inside(at(offsetX - HEAT_SIDE_PX, width, grid.columns) * grid.rows + at(offsetY - HEAT_TOP_PX, HEAT_TALL_PX, grid.rows));
  }

  inside(cell) {
    const [first, last] = cellsOf(this.grid);
    return Math.min(last, Math.max(first, cell));
  }

  take(a, b, isOver) {
    const range = rangeOf(this.grid, a, b);
    this.taken = String(range);
    this.tell.range(...range, isOver);
  }

  // The first click selects a cell. The next click, or one with Shift, extends the range to its
  // cell.
  click(cell, goesOn) {
    const first = this.anchor ?? (goesOn && this.range ? this.rangeCells()[0] : null);
    this.anchor = first === null ? cell : null;
    this.take(first ?? cell, cell, true);
  }

  begin(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pressed = this.cell(event);
    this.isDrag = false;
  }

  move(event) {
    const cell = this.cell(event);
    if (this.pressed === null) return this.point(cell, event);
    this.isDrag ||= cell !== this.pressed;
    if (this.isDrag) {
      this.anchor = null;
      this.range = rangeOf(this.grid, this.pressed, cell);
      this.take(this.pressed, cell, false);
      this.paint();
    }
    return undefined;
  }

  finish(event) {
    if (this.pressed === null) return;
    const [first, cell] = [this.pressed, this.cell(event)];
    this.pressed = null;
    this.cursor = cell;
    if (this.isDrag) this.take(first, cell, true);
    else this.click(cell, event.shiftKey);
  }

  point(cell, event) {
    const isNew = cell !== this.hovered;
    this.hovered = cell;
    if (isNew && this.anchor !== null) this.paint();
    this.tell.hover(cell, event);
  }

  key(event) {
    const cursor = this.cursor ?? (this.range && this.rangeCells()[0]);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") this.click(cursor ?? cellsOf(this.grid)[0], event.shiftKey);
    else {
      const goal = this.goal(event.key, cursor);
      if (goal === null) return;
      this.cursor = this.hovered = goal;
      if (event.shiftKey) this.extend(cursor ?? goal);
      this.paint();
      this.tell.cell(goal);
    }
    event.preventDefault();
  }

  // Returns the cell that a key moves to, or null if the key does not move.
  goal(key, cursor) {
    const { rows } = this.grid;
    const [first, last] = cellsOf(this.grid);
    const step = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -rows, ArrowRight: rows }[key];
    if (step) return cursor === null ? first : this.inside(cursor + step);
    return { Home: first, End: last }[key] ?? null;
  }

  // Shift and an arrow key: selects the cells from where the first one was pressed to the cursor.
  extend(cursor) {
    const anchor = this.anchor ?? cursor;
    this.take(anchor, this.cursor, true);
    this.anchor = anchor;
  }
}
