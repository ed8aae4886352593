// Fills the texts that do not change: the header with the facts of the recording, and the help.

import { clockOf, dayOf, durationWords, fieldType, isLong } from "./clock.js";
import { isWholeTime } from "./elapsed.js";
import { $, make, makeCompared } from "./tables.js";
import { count, heading, period, quantity, shown } from "./words.js";

const OF_MEMORY = /^(alloc|inuse)_(objects|space)$/;

const KEYS = [
  ["/ Ctrl+F", "search"], ["n  N", "next and previous match"], ["Esc", "zoom out, clear the search, close"],
  ["← → ↑ ↓", "move in the graph, the tree or the table"],
  ["Enter", "zoom into the selected box"], ["Backspace  0", "zoom out by one step, or fully"], ["+  -", "zoom in, zoom out (also Ctrl and the wheel)"],
  ["Shift ← →", "pan left, right (also a drag, or Shift and the wheel)"],
  ["1 2 3", "flame graph, functions, call tree"], ["s", "callers and callees of the selected function (also a double click)"],
  ["right click, m", "actions for a function"],
  ["o x", "only stacks with the selected function, only stacks without it"], ["h b", "hide it, start stacks at it"], ["u", "remove these filters and those of the legend"],
  ["y", "copy its name"], ["e", "switch between CPU time, off-CPU time, both, elapsed time, critical path; allocated bytes, objects and live bytes"], ["p", "select the moment of peak live memory"], ["d", "hide or show idle time"], ["i", "switch between icicle, flame, inverted and time order"], ["c", "colour by kind or by module"], ["f", "full or short names"],
  ["r", "fold recursion"], ["L", "logical view: fold the code of runtimes into the functions that it calls"], ["z", "show only the range in the timeline"], ["[  ]", "move the range back, forward"], ["w", "clear the range"],
  ["t", "dark or light theme"], ["?", "this help"],
];

// Shows the verdict as the title, and removes the controls that have no function in a comparison.
function describeComparison({ info, comparison, threads }) {
  const { verdict, causes, sides, uncertainty, isGuess } = comparison;
  $("title").textContent = shown(verdict[0].toUpperCase() + verdict.slice(1));
  document.title = `${$("title").textContent.slice(0, 100)} – prof diff`;
  const [first, second] = causes.length ? [causes, sides] : [sides, []];
  $("subtitle").textContent = (isGuess && causes.length ? "perhaps " : "") + first.map(shown).join(" · ");
  $("went").hidden = !second.length;
  $("went").textContent = second.map(shown).join(" · ");
  $("title").title = shown(info.title);
  $("quality").textContent = uncertainty.map(shown).join("; ").replaceAll(".; ", ". ");
  makeCompared($("function-table"));
  $("calls").querySelector(".heads").lastElementChild.before(make("span", {}, "Change"));
  $("calls").querySelector(".heads").classList.add("compared");
  if (threads.every(({ tid }) => tid < 0)) $("group").querySelector("[value=thread]").remove();
}

// Formats a date in local time: "2024-01-31 09:05".
const dateOf = (date) => `${dayOf(date)} ${clockOf(date, 60e6)}`;

// The name of a measure: "CPU time". If there are several events, the event follows: "Bytes
// (inuse_space)".
function measureOf(event, isOneOfSeveral) {
  const text = heading(event);
  return isOneOfSeveral && text !== shown(event.name) && !isWholeTime(event) ? `${text} (${shown(event.name)})` : text;
}

// Shows where the time of all threads went. A profile with CPU time and off-CPU time, or with elapsed
// time, has buttons for them instead of the list of events.
function describeTimes({ info, events, measures, timedSamples, intervals, memory, blocks }) {
  $("went").hidden = !info.waiting || info.compares > 0;
  $("went").textContent = info.waiting;
  $("lanes").hidden = timedSamples.count + intervals.count === 0;
  if (!timedSamples.count) $("lanes").querySelector("[value=cpus]").remove();
  for (const id of ["from", "to"]) $(id).type = fieldType(info);
  $("range-unit").hidden = fieldType(info) !== "number";
  for (const id of ["live", "live-words"]) $(id).hidden = !memory || !blocks.count;
  $("memory-kinds").hidden = !memory;
  $("timeline").classList.toggle("states", intervals.count > 0);
  $("time-kinds").hidden = !measures;
  $("counted-label").hidden = !measures;
  for (const button of $("time-kinds").children) button.hidden = !(button.dataset.measure in (measures ?? {}));
  $("measure").hidden = measures !== null && events.every((_, i) => Object.values(measures).includes(i));
}

export function describe(profile) {
  const { info, events } = profile;
  const name = shown(info.title) || "Profile";
  const allocated = profile.memory && events[profile.memory.bytes];
  const rates = events.filter(({ parts, name }) => parts.length === 1 && !(allocated && OF_MEMORY.test(name))).map((event) => shown(event.name) +
    (event.frequency ? ` at ${count(event.frequency)} Hz` : event.period ? ` every ${quantity(event)(event.period)}` : ""));
  if (allocated) rates.push(`allocations${allocated.period ? `, one sample per ${period(allocated.period)}` : ""}`);
  document.title = `${name.slice(0, 100)} – prof`;
  $("title").textContent = name;
  $("title").title = shown(info.command);
  const began = info.startMs ? dateOf(new Date(info.startMs)) : "";
  $("subtitle").textContent = [began, info.durationUs ? durationWords(info) : "", shown(info.host), shown(info.kernel),
    rates.slice(0, 3).join(", ")].filter(Boolean).join(" · ");
  if (!info.compares) $("colours").querySelector("[value=change]").remove();
  if (!(profile.timedSamples.count + profile.intervals.count)) $("shape").querySelector("[value=order]").remove();
  $("quality").textContent = [info.quality === info.waiting ? "" : info.quality, ...info.runtimes.split("\n")].filter(Boolean).map(shown).join("; ");
  $("quality").title = shown(info.remarks);
  $("group").append(...profile.keys.map((key) => make("option", { value: `label:${key}` }, shown(key))));
  $("measure").replaceChildren(...events.flatMap((event, i) => [
    make("option", { value: `${i} weight` }, info.compares ? `Widths: ${["new", "old"][i]}` : measureOf(event, events.length > 1)),
    ...(event.oneValue || info.compares ? [] : [make("option", { value: `${i} samples` }, `samples${events.length > 1 ? ` of ${shown(event.name)}` : ""}`)]),
  ]));
  describeTimes(profile);
  $("inlined").parentElement.hidden = !profile.frames.code.some((code) => code & 1);
  if (info.compares) describeComparison(profile);
  $("logical-words").textContent = info.glue ? `folds ${info.glue} of ${info.lines} frames` : "";
  $("logical-label").hidden = !profile.labels.fate.some((fate) => fate > 2 && fate < 6);
  $("keys").replaceChildren(make("h2", { id: "keys-title" }, "Keys"),
    make("dl", {}, ...KEYS.map(([key, means]) => make("div", {}, make("dt", {}, make("kbd", {}, key)), make("dd", {}, means)))),
    make("p", {}, "Each box is a function. Its width is the share of samples in the function and its callees. In time order, time runs from left to right; otherwise the widest box comes first. " +
      "Inlined functions are in italics and have a dashed edge. Kernel functions have a solid edge, JIT code has a line below, interpreted code a dashed line, unsymbolized code a dotted line."),
    ...(isLong(info) ? [make("p", {}, "Each cell of the heat map is a short time; hotter cells have more samples. A click selects a cell, and the next click all cells from there to another. " +
      "A drag does the same, and so do Enter and Shift with an arrow key. Magnify shows only the range, in shorter cells.")] : []),
    ...(profile.intervals.count ? [make("p", {}, "If a thread waits, the last box is the reason. The lane of a thread shows its states over time: each colour is as tall as " +
      "the part of the time that the thread spent in that state. Idle time is hidden until you click it: event loops, pool threads without work, threads that wait for connections, and threads that spent nearly all of their time waiting at one stack.")] : []),
    ...(profile.measures?.elapsed >= 0 ? [make("p", {}, "Elapsed time adds up to the run: each moment is shared among the threads that ran. The strip above the lanes is the number of threads that ran, and the entries with " +
      "numbers of threads select the time in which that many ran. On the critical path, the lanes are bright where the program's end waited for the thread.")] : []),
    make("form", { method: "dialog" }, make("button", {}, "Close")));
}
