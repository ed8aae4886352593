// The reasons of waits, derived from the last frame of off-CPU stacks: "[futex]", "[read socket]",
// "[mutex held by …]".

import { isWholeTime } from "./elapsed.js";

// The states of a thread in drawing order. Every state but the first is a reason of off-CPU time.
export const STATES = ["running", "wanted", "lock", "disk", "network", "peer", "wait", "sleep", "idle"];
export const STATE_NAMES = {
  running: "running", wanted: "runnable", lock: "locks, threads", disk: "files, page faults", network: "network",
  peer: "pipes, processes", wait: "other waits", sleep: "sleep", idle: "idle",
};
export const IDLE = STATES.indexOf("idle"); // waits for work

// The first match decides. A kernel function's name takes the place of a reason that could not be
// read. "idle" is only the colour of a reason: whether a wait is idle depends on its callers.
const PATTERNS = [
  ["wanted", /^(runnable|wanted a CPU|sched_yield)/], // "wanted a CPU": profiles of earlier versions
  ["lock", /^(futex|mutex|rwlock|lock|end of |flock|fcntl|sem|ipc\b)| held by |^(do_)?futex|rwsem|^posix_lock/],
  ["idle", /epoll|accept|^(do_sys_)?(poll|select)|^(do_select|ep_poll|pause|sigwait|sigsuspend|do_sigtimedwait|io_uring|io_cqring_wait)/],
  ["sleep", /nanosleep/],
  ["network", /sock|^(connect|recv|send|shutdown|unix_|tcp_|udp_|inet|sk_)/],
  ["disk", new RegExp("^page fault|file|folio|^(read|write)$|^(fsync|sync|msync|open|close|stat|access|getdents|rename|unlink|link|mkdir|rmdir|truncate|" +
    "fallocate|io_getevents|io_schedule|copy_file_range|readahead|madvise|mmap|munmap|mprotect|mlock|jbd2|wait_on_)")],
  ["peer", /pipe|^(read|write|splice) |^n_tty|^(wait4|do_wait|vfork|fork|clone|execve|msg|mq_|ptrace|kernel_clone)/],
];

const IN_BRACKETS = /^\[(.+)\]$/s;

// Returns the state for a frame's name, and "wait" for an unknown one.
export function stateOf(name) {
  const text = IN_BRACKETS.exec(name)?.[1] ?? "";
  return PATTERNS.find(([, pattern]) => pattern.test(text))?.[0] ?? "wait";
}

const isReason = ({ name, isAddress }, label) => !isAddress[label] && IN_BRACKETS.test(name[label]);

// Returns a flag for each label: whether the frames after it are a waker's.
export const wakersOf = ({ name }) => Uint8Array.from(name, (text) => Number(text.startsWith("[woken by ")));

// Returns the stack of each sample that ends in the reason of its wait. It is the sample's stack, or
// that without "[woken by …]" and the waker's frames.
function endsOfWaits({ samples, stacks, frames, labels }) {
  const isWaker = wakersOf(labels);
  if (!isWaker.includes(1)) return samples.stack;
  const ends = new Uint32Array(stacks.frame.length);
  for (let stack = 1; stack < ends.length; stack++) {
    const parent = stacks.parent[stack];
    const first = frames.first[stacks.frame[stack]];
    ends[stack] = isWaker[frames.code[first] >>> 1] ? parent : ends[parent] !== parent ? ends[parent] : stack;
  }
  return samples.stack.map((stack) => ends[stack]);
}

// Returns the code of the innermost frame of a stack.
export const leafOf = ({ stacks, frames }, stack) => frames.code[frames.first[stacks.frame[stack] + 1] - 1];

// Sets samples.state (an index of STATES) and samples.own (the stack without the waker's frames).
// The kind of a label that is a reason becomes its state. Elapsed time is never idle, so that it adds
// up.
export function markStates(profile) {
  const { events, samples, stacks, frames, labels } = profile;
  samples.state = new Uint8Array(samples.count);
  samples.own = endsOfWaits(profile);
  for (let sample = 0; sample < samples.count; sample++) {
    if (events[samples.event[sample]].kind !== "off-cpu-time") continue;
    const stack = samples.own[sample];
    const last = frames.first[stacks.frame[stack] + 1] - 1;
    const label = stack && last >= 0 ? frames.code[last] >>> 1 : -1;
    const state = label >= 0 && isReason(labels, label) ? stateOf(labels.name[label]) : "wait";
    if (label >= 0 && isReason(labels, label)) labels.kind[label] = state;
    samples.state[sample] = samples.idle[sample] ? IDLE : STATES.indexOf(state === "idle" ? "wait" : state);
  }
  for (let sample = 0; sample < samples.count; sample++) {
    if (!isWholeTime(events[samples.event[sample]]) || !samples.own[sample]) continue;
    const kind = labels.kind[leafOf({ stacks, frames }, samples.own[sample]) >>> 1];
    samples.state[sample] = Math.max(0, STATES.indexOf(kind === "idle" ? "wait" : kind));
  }
}

// Adds the event "wall clock", the sum of CPU time and off-CPU time, to a profile that has both. It
// is shown first unless the profile's first event is another one or the user chose one. Returns the
// numbers of the three events and of elapsed time and the critical path, as far as there are any, or
// null.
export function addWallClock(profile) {
  const sum = addSum(profile);
  const find = (name) => profile.events.findIndex((event) => event.name === name && event.kind === "wall-time");
  const cpu = profile.events.findIndex(({ kind }) => kind === "cpu-time");
  const others = Object.entries({ ...(sum ? {} : { cpu }), elapsed: find("elapsed"), path: find("critical-path") }).filter(([, event]) => event >= 0);
  return profile.info.compares || (!sum && !others.some(([name]) => name !== "cpu")) ? null : { ...sum, ...Object.fromEntries(others) };
}

// Returns the numbers of the three events, or null.
function addSum({ events, samples, info }) {
  const both = ["cpu-time", "off-cpu-time"].map((kind) => events.findIndex((event) => event.kind === kind));
  events.forEach((event, i) => (event.parts = [i]));
  if (info.compares || both.includes(-1)) return null;
  const isFirst = both[0] === 0 && !info.isChosen;
  const [cpu, waiting] = both.map((event) => event + Number(isFirst));
  const wall = { ...events[both[1]], name: "wall clock", kind: "wall-time", scale: 1, period: 0, frequency: 0 };
  for (let sample = 0; sample < samples.count; sample++) {
    if (both.includes(samples.event[sample])) samples.weight[sample] *= events[samples.event[sample]].scale;
    samples.event[sample] += Number(isFirst);
  }
  for (const event of both) events[event].scale = 1;
  if (isFirst) events.unshift(wall);
  else events.push(wall);
  events.forEach((event, i) => (event.parts = event === wall ? [cpu, waiting] : [i]));
  return { cpu, waiting, both: events.indexOf(wall) };
}
