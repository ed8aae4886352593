// Formatting of names and numbers.

// Replaces control characters and bidirectional controls by visible ones.
export function shown(name) {
  return name.replace(/[\u0000-\u001f\u007f]/g, (c) => String.fromCharCode(0x2400 + (c === "\x7f" ? 0x21 : c.charCodeAt(0))))
    .replace(/[\u0080-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, "\ufffd");
}

// Removes brackets and their contents; null if they are not balanced. operator<, operator() and the like keep theirs.
function withoutBrackets(name) {
  let depth = 0;
  let text = "";
  for (let i = 0; i < name.length; i++) {
    const c = name[i];
    const isSign = (c === "<" || c === ">") && /operator[<>=-]*$|-$/.test(name.slice(Math.max(0, i - 11), i));
    if (depth === 0 && name.startsWith("operator()", i)) {
      text += "operator()";
      i += "operator()".length - 1;
      continue;
    }
    if (!isSign && (c === "<" || c === "(")) depth++;
    if (depth === 0) text += c;
    if (!isSign && (c === ">" || c === ")") && depth-- === 0) return null;
  }
  return depth ? null : text;
}

// A Rust name can begin with a type: <alloc::vec::Vec<T> as Extend<U>>::extend becomes Vec::extend.
function withPlainType(name) {
  let depth = 0;
  let end = 0;
  for (; end < name.length; end++) {
    if (name[end] === "<") depth++;
    if (name[end] === ">" && name[end - 1] !== "-" && --depth === 0) break;
  }
  if (!name.startsWith("::", end + 1)) return name;
  const type = (withoutBrackets(name.slice(1, end).replace(/^([&*]|const |mut |dyn |impl )*/, "")) || "").split(" as ")[0];
  return (type.split("::").pop() || "_") + name.slice(end + 1);
}

// The last two parts of a path; for a closure, the enclosing function and the closure.
function lastParts(path) {
  const parts = path.split("::").filter((part) => part && part !== "{anonymous}");
  const isClosure = (part) => part?.startsWith("{");
  const named = parts.findLastIndex((part) => !isClosure(part));
  if (named >= 0 && named < parts.length - 1) return `${parts[named]}::${parts[parts.length - 1]}`;
  return parts.slice(isClosure(parts[parts.length - 2]) ? -3 : -2).join("::");
}

// Go: regexp.(*Regexp).doExecute, slices.Sort[go.shape.[]int]; type arguments are removed.
const OF_GO = /\.\(\*?\w|\[(go\.shape|\.\.\.)/;

function shortGoName(name) {
  let bare = name;
  for (let last = ""; bare !== last; ) [last, bare] = [bare, bare.replace(/\[[^[\]]*\]/g, "")];
  return bare.slice(bare.lastIndexOf("/") + 1) || name;
}

const LONGEST = 2000;

// core::iter::traits::iterator::Iterator::fold<…> becomes Iterator::fold; void geometry::sum<int>(int) becomes
// geometry::sum.
export function shortName(name) {
  if (name.length <= LONGEST && OF_GO.test(name) && !/::|\(\)|, /.test(name)) return shortGoName(name);
  if (name.length > LONGEST || /^\[|^<[^>]*>$|[/\\]|^\w+:[~*^+]/.test(name)) return name;
  const plain = name.replaceAll("(anonymous namespace)", "{anonymous}");
  const bare = withoutBrackets(plain.startsWith("<") ? withPlainType(plain) : plain)
    ?.replace(/ (const|volatile|&|&&|noexcept|\[clone [^\]]*\])*$/g, "").trim();
  if (!bare) return name;
  const path = !plain.includes("(") ? bare : bare.replace(/^.* (?=[^ ]*$)/, (lead) => (/operator $/.test(lead) ? lead : ""));
  return lastParts(path) || name;
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

function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${Number(value.toPrecision(3))} ${units[unit]}`;
}

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
