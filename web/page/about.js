// What the page says once: of the recording, and its help.

import { clockOf, dayOf, durationWords, fieldType, isLong } from "./clock.js";
import { $, make } from "./tables.js";
import { count, heading, period, quantity, shown } from "./words.js";

const OF_MEMORY = /^(alloc|inuse)_(objects|space)$/;

const KEYS = [
  ["/ Ctrl+F", "search"], ["n  N", "next and previous match"], ["Esc", "zoom out, clear the search, close"],
  ["← → ↑ ↓", "in the graph, the tree, the table: to what is beside, above, below"],
  ["Enter", "zoom into the selected box"], ["Backspace  0", "zoom out by one, or to all"], ["+  -", "closer, further; so does the wheel with Ctrl"],
  ["Shift ← →", "left, right; so does a drag, or the wheel with Shift"],
  ["1 2 3", "flame graph, functions, call tree"], ["s", "callers and callees of the selected function; so does a double click"],
  ["right click, m", "what can be done with a function"],
  ["o x", "only stacks with the selected function, or those without"], ["h b", "hide it, begin stacks at it"], ["u", "take all of these back"],
  ["y", "copy its name"], ["e", "CPU time, waiting, both in turn; allocated bytes, objects, live bytes"], ["p", "the moment at which most memory was live"], ["d", "hide idle threads, or show them"], ["i", "icicle, flame, inverted, order of time in turn"], ["c", "colours by kind or by module"], ["f", "full or short names"],
  ["r", "fold recursion"], ["L", "the logical view: code of runtimes is folded into the functions that it calls"], ["z", "the timeline shows the range alone"], ["[  ]", "the range of time one step earlier, later"], ["w", "the whole recording"],
  ["t", "dark or light"], ["?", "this help"],
];

// As 2024-01-31 09:05, here.
const dateOf = (date) => `${dayOf(date)} ${clockOf(date, 60e6)}`;

// "CPU time"; which one, where there are several events: "Bytes (inuse_space)".
function measureOf(event, isOneOfSeveral) {
  const text = heading(event);
  return isOneOfSeveral && text !== shown(event.name) ? `${text} (${shown(event.name)})` : text;
}

// Where the time of all threads went; the choice of CPU time, waiting and both takes the place of that of an event.
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
  $("measure").hidden = measures !== null && events.length === 3;
}

export function describe(profile) {
  const { info, events } = profile;
  const command = shown(info.command) || "Profile";
  const name = command.split(" -- ").slice(1).join(" -- ") || command;
  const allocated = profile.memory && events[profile.memory.bytes];
  const rates = events.filter(({ parts, name }) => parts.length === 1 && !(allocated && OF_MEMORY.test(name))).map((event) => shown(event.name) +
    (event.frequency ? ` at ${count(event.frequency)} Hz` : event.period ? ` every ${quantity(event)(event.period)}` : ""));
  if (allocated) rates.push(`allocations${allocated.period ? `, one sample per ${period(allocated.period)}` : ""}`);
  document.title = `${name.slice(0, 100)} – prof`;
  $("title").textContent = name;
  $("title").title = command;
  const began = info.startMs ? dateOf(new Date(info.startMs)) : "";
  $("subtitle").textContent = [began, info.durationUs ? durationWords(info) : "", shown(info.host), shown(info.kernel),
    info.compares ? "widths and figures are of one side, colours tell the change" : rates.slice(0, 3).join(", ")].filter(Boolean).join(" · ");
  if (!info.compares) $("colours").querySelector("[value=change]").remove();
  if (!(profile.timedSamples.count + profile.intervals.count)) $("shape").querySelector("[value=order]").remove();
  for (const element of document.querySelectorAll("[data-column=change]")) element.hidden = !info.compares;
  $("quality").textContent = info.quality === info.waiting ? "" : shown(info.quality);
  $("quality").title = shown(info.remarks);
  $("group").append(...profile.keys.map((key) => make("option", { value: `label:${key}` }, shown(key))));
  $("measure").replaceChildren(...events.flatMap((event, i) => [
    make("option", { value: `${i} weight` }, info.compares ? `widths ${shown(event.name)}` : measureOf(event, events.length > 1)),
    ...(event.oneValue ? [] : [make("option", { value: `${i} samples` }, `samples${events.length > 1 ? ` of ${shown(event.name)}` : ""}`)]),
  ]));
  describeTimes(profile);
  $("logical-label").hidden = !profile.labels.fate.some((fate) => fate > 2 && fate < 6);
  $("keys").replaceChildren(make("h2", { id: "keys-title" }, "Keys"),
    make("dl", {}, ...KEYS.map(([key, means]) => make("div", {}, make("dt", {}, make("kbd", {}, key)), make("dd", {}, means)))),
    make("p", {}, "Each box is a function; its width is its share of the samples, with all that it calls. Time runs from left to right in the order of time alone, else the widest stands first. " +
      "Inlined functions are in italics with a dashed edge, the kernel has a solid edge, JIT a line below, interpreted code a dashed line, what has no name a dotted line."),
    ...(isLong(info) ? [make("p", {}, "Each cell of the heat map is a short time; hotter ones have more samples. A click takes a cell, the next click all from there to another; " +
      "so does a drag, or Enter and arrows with Shift. Magnify shows the range alone, in shorter cells.")] : []),
    ...(profile.intervals.count ? [make("p", {}, "Where a thread waits, the last box says for what. Its lane shows over time what it did: each colour is as tall as " +
      "the part of the time that the thread was in that state; the share beside its name is that on a CPU. Idle threads hardly did anything but wait at one place.")] : []),
    make("form", { method: "dialog" }, make("button", {}, "Close")));
}
