// Formatting of names and numbers.

// Replaces control characters and bidirectional controls by visible ones.
export function shown(name) {
  return name.replace(/[\u0000-\u001f\u007f]/g, (c) => String.fromCharCode(0x2400 + (c === "\x7f" ? 0x21 : c.charCodeAt(0))))
    .replace(/[\u0080-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, "\ufffd");
}

export function fileName(path) {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}

export const moduleName = (path) => fileName(path).replace("[kernel.kallsyms]", "[kernel]");

export function percent(part, whole) {
  if (!(part > 0) || !(whole > 0)) return "0%";
  const share = (part / whole) * 100;
  if (share < 0.01) return "<0.01%";
  return `${share.toFixed(share < 10 ? 2 : 1)}%`;
}

// A difference of shares in percentage points: "▲ 3.1", "▼ 0.5", "=" if it rounds to zero.
export function points(difference) {
  const value = Math.abs(difference) * 100;
  if (value < 0.05) return "=";
  return `${difference > 0 ? "▲" : "▼"} ${value.toFixed(value < 10 ? 1 : 0)}`;
}

// A time with three significant digits: "1.2 s", "12.3 ms".
export function time(ns) {
  const units = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
  const [unit, size] = units.find(([, size]) => ns >= size * 0.9995) || units[3];
  const value = ns / size;
  return `${value >= 1000 ? count(value) : Number(value.toPrecision(3))} ${unit}`;
}

// A number with commas. The first call of toLocaleString() would take 40 ms.
export function count(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
}

function scaled(value, step, units) {
  let unit = 0;
  for (; value >= step * 0.9995 && unit < units.length - 1; unit++) value /= step;
  return `${Number(value.toPrecision(3))} ${units[unit]}`;
}

// As prof report has them.
const bytes = (value) => scaled(value, 1000, ["B", "KB", "MB", "GB", "TB"]);
// As --alloc takes them: "512 KiB".
export const period = (value) => scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);

const HEADINGS = { "cpu-time": "CPU time", "wall-time": "Wall time", "off-cpu-time": "Off-CPU time", bytes: "Bytes", objects: "Objects" };

// The column heading of an event: "CPU time", "Bytes"; the event's name for a count.
export const heading = (event) => HEADINGS[event.kind] || shown(event.name);

// Returns a function that formats weights of an event.
export function quantity(event, bySamples) {
  const samples = (value) => `${count(value)} ${Math.round(value) === 1 ? "sample" : "samples"}`;
  if (bySamples) return samples;
  if (event.kind.endsWith("-time")) return (value) => time(value * event.scale);
  if (event.kind === "bytes") return (value) => bytes(value * event.scale);
  if (event.kind === "objects") return (value) => `${count(value)} ${Math.round(value) === 1 ? "object" : "objects"}`;
  if (event.name === "samples") return samples;
  return (value) => (event.unit && event.unit !== "count" ? `${count(value)} ${event.unit}` : `${count(value)}`);
}
