// Formats names and numbers.

// Replaces control characters and bidirectional controls with visible characters.
export function shown(name) {
  return name.replace(/[\u0000-\u001f\u007f]/g, (c) => String.fromCharCode(0x2400 + (c === "\x7f" ? 0x21 : c.charCodeAt(0))))
    .replace(/[\u0080-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, "\ufffd");
}

export function fileName(path) {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}

// Returns the last three parts of a long path: "…/serde_json/src/read.rs:512".
export function pathEnd(path) {
  const parts = path.split("/");
  return parts.length > 4 ? `…/${parts.slice(-3).join("/")}` : path;
}

// Splits a name into its scopes, "shop::ThreadPool::", and its own name, "submit".
export function nameParts(name) {
  for (let at = name.length, depth = 0; at-- > 0; ) {
    if (/[>)]/.test(name[at]) && name[at - 1] !== "-") depth++;
    else if (/[<(]/.test(name[at])) depth--;
    else if (depth <= 0 && name.startsWith("::", at)) return [name.slice(0, at + 2), name.slice(at + 2)];
  }
  return ["", name];
}

export const moduleName = (path) => fileName(path).replace("[kernel.kallsyms]", "[kernel]");

export function percent(part, whole) {
  if (!(part > 0) || !(whole > 0)) return "0%";
  const share = (part / whole) * 100;
  if (share < 0.01) return "<0.01%";
  return `${share.toFixed(share < 10 ? 2 : 1)}%`;
}

// Formats a difference of shares in percentage points: "▲ +3.1", "▼ -0.5", "=" if it rounds to zero.
// Only a significant difference has an arrow.
export function points(difference, isSignificant) {
  const value = Math.abs(difference) * 100;
  if (value < 0.05) return "=";
  return `${isSignificant ? (difference > 0 ? "▲ " : "▼ ") : ""}${difference > 0 ? "+" : "-"}${value.toFixed(1)}`;
}

// Formats a time with three significant digits: "1.2 s", "12.3 ms".
export function time(ns) {
  const units = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
  const [unit, size] = units.find(([, size]) => ns >= size * 0.9995) || units[3];
  const value = ns / size;
  return `${value >= 1000 ? count(value) : Number(value.toPrecision(3))} ${unit}`;
}

// Formats a number with commas. The first call of toLocaleString() would be too slow.
export function count(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
}

function scaled(value, step, units) {
  let unit = 0;
  for (; value >= step * 0.9995 && unit < units.length - 1; unit++) value /= step;
  return `${Number(value.toPrecision(3))} ${units[unit]}`;
}

// Uses the units of prof report.
const bytes = (value) => scaled(value, 1000, ["B", "KB", "MB", "GB", "TB"]);
// Uses the units of --alloc: "512 KiB".
export const period = (value) => scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);

const HEADINGS = { "cpu-time": "CPU time", "wall-time": "Wall time", "off-cpu-time": "Off-CPU time", bytes: "Bytes", objects: "Objects" };

const NAMED = { elapsed: "Elapsed time", "critical-path": "Critical path" };

// Returns the column heading of an event: "CPU time", "Bytes"; the event's name for a count.
export const heading = ({ kind, name }) => (kind === "wall-time" && NAMED[name]) || HEADINGS[kind] || shown(name);

// Returns a function that formats weights of an event.
export function quantity(event, bySamples) {
  const samples = (value) => `${count(value * event.scale)} ${Math.round(value * event.scale) === 1 ? "sample" : "samples"}`;
  if (bySamples) return samples;
  if (event.kind.endsWith("-time")) return (value) => time(value * event.scale);
  if (event.kind === "bytes") return (value) => bytes(value * event.scale);
  if (event.kind === "objects") return (value) => `${count(value)} ${Math.round(value) === 1 ? "object" : "objects"}`;
  if (event.name === "samples") return samples;
  return (value) => `${count(value * event.scale)}${event.unit && event.unit !== "count" ? ` ${event.unit}` : ""}`;
}
