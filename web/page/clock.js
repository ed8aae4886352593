// Formats times. A long recording has local wall-clock times. A short recording, or one whose start
// is unknown, has seconds since its start.

import { time } from "./words.js";

const LONG_US = 120e6;
const DAY_US = 86400e6;
const TICK_PX = 110;
const MOST_TICKS = 1000;
const CLOCK_STEPS_US = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400].map((seconds) => seconds * 1e6);

export const isLong = ({ durationUs }) => durationUs > LONG_US;
const hasClock = (info) => info.startMs > 0 && isLong(info);

// Formats a duration: "1 h 30 min" for a long recording, "12.5 s" for a short one.
export function durationWords(info) {
  if (!isLong(info)) return time(info.durationUs * 1e3);
  const seconds = Math.round(info.durationUs / 1e6);
  const parts = [[Math.floor(seconds / 3600), "h"], [Math.floor((seconds % 3600) / 60), "min"], [seconds % 60, "s"]];
  return parts.filter(([number]) => number).slice(0, 2).map((part) => part.join(" ")).join(" ");
}

const dateAt = ({ startMs }, us) => new Date(startMs + us / 1e3);
const digits = (number, length = 2) => String(number).padStart(length, "0");

export const dayOf = (date) => `${date.getFullYear()}-${digits(date.getMonth() + 1)}-${digits(date.getDate())}`;

// Formats a time of day: "14:05". Seconds and milliseconds follow if steps are that small.
export function clockOf(date, stepUs) {
  const minutes = `${digits(date.getHours())}:${digits(date.getMinutes())}`;
  if (stepUs >= 60e6) return minutes;
  const seconds = `${minutes}:${digits(date.getSeconds())}`;
  return stepUs >= 1e6 ? seconds : `${seconds}.${digits(date.getMilliseconds(), 3)}`;
}

// "2026-11-24 14:05:30", or "12.345 s".
export function timeWords(info, us, stepUs) {
  if (!hasClock(info)) return `${(us / 1e6).toFixed(3)} s`;
  const date = dateAt(info, us);
  return `${dayOf(date)} ${clockOf(date, stepUs)}`;
}

// "2026-11-24 14:05 to 14:06", or "12 s to 12.5 s".
export function rangeWords(info, range) {
  if (!hasClock(info)) return range.map((us) => time(us * 1e3)).join(" to ");
  const stepUs = [60e6, 1e6].find((step) => range.every((us) => (info.startMs * 1e3 + us) % step === 0)) ?? 1e3;
  const [from, to] = range.map((us) => timeWords(info, us, stepUs));
  return `${from} to ${from.slice(0, 11) === to.slice(0, 11) ? to.slice(11) : to}`;
}

// Returns the offset that makes whole minutes, hours and days of local time multiples of their
// length.
export const clockShift = (info) => (hasClock(info) ? info.startMs * 1e3 - dateAt(info, 0).getTimezoneOffset() * 60e6 : 0);

function decimalStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((factor) => factor * power >= rough) || 10);
}

function tickWords(info, us, step) {
  if (!hasClock(info)) return `${Number((us / 1e6).toPrecision(9))} s`;
  const date = dateAt(info, us);
  const text = clockOf(date, step);
  return text === "00:00" ? dayOf(date) : text;
}

// Returns the ticks of a time axis, {us, text}, at least leastUs apart.
export function ticksOf(info, [from, to], width, leastUs = 0) {
  const rough = Math.max(leastUs, (to - from) / Math.max(2, width / TICK_PX));
  const isOfClock = hasClock(info) && rough > CLOCK_STEPS_US[0] / 2;
  const step = !isOfClock ? decimalStep(rough) : CLOCK_STEPS_US.find((us) => us >= rough) ?? Math.ceil(rough / DAY_US) * DAY_US;
  const shift = clockShift(info);
  const first = Math.ceil((from + shift) / step);
  const ticks = [];
  for (let i = 0, us = first * step - shift; us < to && i < MOST_TICKS; us = (first + ++i) * step - shift)
    ticks.push({ us, text: tickWords(info, us, step) });
  return ticks;
}

// The type of the input fields of a range: "number" for seconds (empty without a range), or
// "datetime-local".
export const fieldType = (info) => (hasClock(info) ? "datetime-local" : "number");

export function fieldsOf(info, range) {
  if (!hasClock(info)) return range ? range.map((us) => us / 1e6) : ["", ""];
  return (range ?? [0, info.durationUs]).map((us) => {
    const date = dateAt(info, us);
    return `${dayOf(date)}T${clockOf(date, date.getMilliseconds() ? 1e3 : 1e6)}`;
  });
}

export function timeOfField(info, text) {
  const us = hasClock(info) ? (new Date(text).getTime() - info.startMs) * 1e3 : Number(text) * 1e6;
  return Math.max(0, Math.round(us)) || 0;
}
