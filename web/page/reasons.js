// What threads wait for, told by the last frame of their stacks: "[futex]", "[read socket]", "[mutex held by …]".

// The states of a thread, in the order in which they are drawn. The first is no reason to wait.
export const STATES = ["running", "wanted", "lock", "disk", "network", "peer", "wait", "sleep", "idle"];
export const STATE_NAMES = {
  running: "running", wanted: "wanted a CPU", lock: "locks, threads", disk: "files, page faults", network: "network",
  peer: "pipes, processes", wait: "other waits", sleep: "sleep", idle: "event loops",
};

// The first that fits counts. Names of kernel functions stand where nothing else was readable.
const PATTERNS = [
  ["wanted", /^(wanted a CPU|sched_yield)/],
  ["lock", /^(futex|mutex|rwlock|lock|end of |flock|fcntl|sem|ipc\b)| held by |^(do_)?futex|rwsem|^posix_lock/],
  ["idle", /epoll|^(do_sys_)?(poll|select)|^(do_select|ep_poll|pause|sigwait|sigsuspend|do_sigtimedwait|io_uring|io_cqring_wait)/],
  ["sleep", /nanosleep/],
  ["network", /sock|^(accept|connect|recv|send|shutdown|unix_|tcp_|udp_|inet|sk_)/],
  ["disk", new RegExp("^page fault|file|folio|^(read|write)$|^(fsync|sync|msync|open|close|stat|access|getdents|rename|unlink|link|mkdir|rmdir|truncate|" +
    "fallocate|io_getevents|io_schedule|copy_file_range|readahead|madvise|mmap|munmap|mprotect|mlock|jbd2|wait_on_)")],
  ["peer", /pipe|^(read|write|splice) |^n_tty|^(wait4|do_wait|vfork|fork|clone|execve|msg|mq_|ptrace|kernel_clone)/],
];

const IN_BRACKETS = /^\[(.+)\]$/s;

// The state that a frame's name tells; "wait" for one that is not known.
export function stateOf(name) {
  const text = IN_BRACKETS.exec(name)?.[1] ?? "";
  return PATTERNS.find(([, pattern]) => pattern.test(text))?.[0] ?? "wait";
}

const isReason = ({ name, isAddress }, label) => !isAddress[label] && IN_BRACKETS.test(name[label]);

// For each stack the one in which its wait ends, with the reason: itself, or the caller of "[woken by …]" in it.
function endsOfWaits(stacks, frames, labels) {
  const ends = new Uint32Array(stacks.frame.length);
  for (let stack = 1; stack < ends.length; stack++) {
    const parent = stacks.parent[stack];
    const first = frames.first[stacks.frame[stack]];
    const isWaker = labels.name[frames.code[first] >>> 1]?.startsWith("[woken by ");
    ends[stack] = isWaker ? parent : ends[parent] !== parent ? ends[parent] : stack;
  }
  return ends;
}

// Tells `samples` the state of each (an index of STATES) and its stack without that of a waker, and `labels` which are
// reasons: their kind is the state.
export function markStates({ events, samples, stacks, frames, labels }) {
  const ends = endsOfWaits(stacks, frames, labels);
  samples.state = new Uint8Array(samples.count);
  samples.own = samples.stack.map((stack) => ends[stack]);
  for (let sample = 0; sample < samples.count; sample++) {
    if (events[samples.event[sample]].kind !== "off-cpu-time") continue;
    const stack = samples.own[sample];
    const last = frames.first[stacks.frame[stack] + 1] - 1;
    const label = stack && last >= 0 ? frames.code[last] >>> 1 : -1;
    const state = label >= 0 && isReason(labels, label) ? stateOf(labels.name[label]) : "wait";
    if (label >= 0 && isReason(labels, label)) labels.kind[label] = state;
    samples.state[sample] = STATES.indexOf(state);
  }
}

// Where a profile has CPU time and off-CPU time: the event of their sum, which is shown first unless the profile's
// first event is another, or was chosen. Returns the numbers of the three events, or null.
export function addWallClock({ events, samples, info }) {
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
