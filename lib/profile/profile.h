/*
 * What was measured, aggregated: distinct frames, distinct stacks (a trie), and for each (stack,
 * thread, event) how many samples of what weight.
 *
 * Everything is named by dense integer ids and lives as long as the profile; no sample is kept, so
 * memory grows with distinct stacks, not with time; unless a picture of time is wanted: then each
 * sample is a moment of 16 bytes. Frames are (module, offset) until symbolize()
 * gives them lines: functions with their source lines, inlined ones innermost first. Strings are
 * interned in profile_strings().
 */
#ifndef PROF_PROFILE_PROFILE_H
#define PROF_PROFILE_PROFILE_H

#include "base/cleanup.h"
#include "base/strtab.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef uint32_t frame_id;
typedef uint32_t stack_id;
typedef uint32_t thread_id;
typedef uint32_t function_id;
typedef uint32_t event_id;

/* The stack with no frame: parent of every root. */
#define STACK_EMPTY ((stack_id)0)
/*
 * The module of the frames that prof itself puts into a stack. It is outside the numbers that
 * lib/proc gives and not counted by profile_module_count(); profile_get_module() knows it.
 */
#define PROFILE_NOTES UINT32_MAX

enum profile_module_kind {
	PROFILE_MODULE_FILE,
	PROFILE_MODULE_KERNEL,
	PROFILE_MODULE_VDSO,
	PROFILE_MODULE_JIT,
	PROFILE_MODULE_UNKNOWN,
	PROFILE_MODULE_NONE, /* of frames that a file has without saying where they are */
	PROFILE_MODULE_NOTE, /* not code: what prof itself says in a stack, such as [truncated] */
};

/* A loaded piece of the file: turns offsets into the file's own addresses. */
struct profile_segment {
	uint64_t offset, vaddr, size_bytes;
};

/* Modules are numbered by whoever finds them (lib/proc, readers of files); the profile keeps what
 * outputs need to know of each. A file that was mapped twice may be two modules of one path. */
struct profile_module {
	enum profile_module_kind kind;
	string_id path;	    /* "/usr/bin/x", "[kernel.kallsyms]", "[vdso]", "[jit]" */
	string_id build_id; /* hex; "" when unknown */
	const struct profile_segment *segments; /* executable ones, by offset; borrowed by
						   profile_describe_module(), then owned */
	unsigned segment_count;
	pid_t pid;    /* PROFILE_MODULE_JIT, live: whose code it is; else 0 */
	bool is_main; /* the program that was asked about */
	bool named;   /* at least one of its frames has a name; profile_set_lines() sees to it */
};

struct profile_function {
	string_id name;	       /* demangled, for people */
	string_id system_name; /* as the linker knows it; the same as name when it is not mangled */
	string_id file;	       /* "" when unknown */
	uint32_t start_line;   /* 0 when unknown */
};

/* One function at one place: a physical function, or one inlined into the next. */
struct profile_line {
	function_id function;
	uint32_t line; /* 0 when unknown */
};

struct profile_frame {
	uint32_t module;
	uint64_t offset; /* of the pc; a caller's is a return address */
	bool is_return_address;
	const struct profile_line *lines; /* innermost first; none: no name is known */
	unsigned line_count;
};

struct profile_stack {
	stack_id parent; /* towards the root; its id is the lower one */
	frame_id frame;
	uint32_t depth; /* frames; 0 for STACK_EMPTY */
};

struct profile_thread {
	pid_t pid, tid;	   /* -1 when unknown */
	string_id process; /* name of the process; "" when unknown */
	string_id name;	   /* of the thread */
};

/* What was sampled: sample counts and weights are kept for each apart. */
struct profile_event {
	string_id name;	 /* "cpu-clock" */
	bool counts_ns;	 /* weights are nanoseconds of CPU time */
	uint64_t period; /* as asked for: 0 by frequency … */
	uint64_t frequency_hz;
	/* Of events out of a file: */
	string_id unit; /* of the weights, "bytes"; "" of what was recorded */
	bool one_value; /* the file has no counts of samples: they are the weights once more */
};

struct profile_cell {
	stack_id stack;
	thread_id thread;
	event_id event;
	uint64_t samples;
	uint64_t weight; /* sum of periods */
};

/* When one sample of a cell was taken. Its weight is the cell's average. */
struct profile_moment {
	uint64_t time_ns; /* CLOCK_MONOTONIC, or the clock of the file */
	uint32_t cell;
	uint32_t cpu;
};

enum profile_marker_kind {
	PROFILE_MARKER_FORK, /* text: the new process's name */
	PROFILE_MARKER_EXEC, /* text: the new program's name */
	PROFILE_MARKER_EXIT,
	PROFILE_MARKER_LOST,	  /* so many samples: count */
	PROFILE_MARKER_THROTTLED, /* the kernel paused sampling */
};

/* What happened besides samples. */
struct profile_marker {
	enum profile_marker_kind kind;
	uint64_t time_ns; /* as of moments */
	uint32_t cpu;
	pid_t pid, tid; /* -1: of no thread */
	string_id text;
	uint64_t count;
};

/* About the recording as a whole. Strings are copied into the profile by profile_set_info(). */
struct profile_info {
	uint64_t start_unix_ns; /* when it began, real time */
	uint64_t start_ns;	/* the same on the clock of moments; 0 when there are none */
	uint64_t duration_ns;	/* the recorded window */
	const char *command;	/* prof's own command line */
	const char *host;
	const char *kernel;
	const char *quality; /* one line: samples, lost, truncated, unnamed */
	const char *remarks; /* what a file says besides; lines that end with \n */
	bool is_run; /* of a command from its start to its end: another one is the same work */
};

struct profile;

struct profile *profile_new(void);
void profile_free(struct profile *profile);
DEFINE_CLEANUP(profile, profile_free)

struct strtab *profile_strings(struct profile *profile);
/* A string of the profile. */
const char *profile_string(const struct profile *profile, string_id id);

/* Building. Equal arguments give equal ids. */
event_id profile_add_event(struct profile *profile, const struct profile_event *event);
void profile_describe_module(struct profile *profile, uint32_t module,
			     const struct profile_module *description);
frame_id profile_frame(struct profile *profile, uint32_t module, uint64_t offset,
		       bool is_return_address);
/*
 * A frame that a file gives together with its names (lines, at least one). Each call makes one more
 * frame: whoever reads the file sees to it that what is one frame there is one here.
 */
frame_id profile_named_frame(struct profile *profile, uint32_t module, uint64_t offset,
			     const struct profile_line *lines, unsigned count);
/* A frame that prof itself puts into a stack: "[truncated]". */
frame_id profile_note(struct profile *profile, const char *text);
stack_id profile_push(struct profile *profile, stack_id parent, frame_id frame);

/* A stack that is soon pushed, from the root on. */
struct profile_path {
	const frame_id *frames;
	size_t count;
	stack_id known; /* for profile_prefetch() itself */
};
/*
 * Changes nothing but what is in the processor's caches: the way from stack to stack is one of
 * waiting for memory, which many stacks of no common callers may as well do at the same time.
 */
void profile_prefetch(const struct profile *profile, struct profile_path *paths, size_t count);
thread_id profile_thread(struct profile *profile, pid_t pid, pid_t tid, const char *process,
			 const char *name);
/* One sample. The result is the index of its cell. */
uint32_t profile_add(struct profile *profile, thread_id thread, stack_id stack, event_id event,
		     uint64_t weight);
/* So many samples, and the sum of their weights. */
uint32_t profile_add_samples(struct profile *profile, thread_id thread, stack_id stack,
			     event_id event, uint64_t samples, uint64_t weight);
/*
 * All counts become `factor` (below 1) of what they were; a cell that has less than so many samples
 * then has none. How many cells have some.
 */
uint64_t profile_fade(struct profile *profile, double factor, uint64_t least_samples);
/* From now on moments and markers are kept; before, they are passed over. */
void profile_keep_moments(struct profile *profile);
void profile_add_moment(struct profile *profile, const struct profile_moment *moment);
void profile_add_marker(struct profile *profile, const struct profile_marker *marker);
void profile_set_info(struct profile *profile, const struct profile_info *info);

/* Naming. */
function_id profile_function(struct profile *profile, const struct profile_function *function);
/* lines are copied; a frame's lines are set at most once. */
void profile_set_lines(struct profile *profile, frame_id frame, const struct profile_line *lines,
		       unsigned count);

/* Reading: each table is dense from id 0 (stacks: from 1, 0 being STACK_EMPTY); borrowed until the
 * next change. */
uint32_t profile_event_count(const struct profile *profile);
const struct profile_event *profile_get_event(const struct profile *profile, event_id id);
uint32_t profile_module_count(const struct profile *profile);
/* A number that was never described is a module of kind PROFILE_MODULE_UNKNOWN without a path. */
const struct profile_module *profile_get_module(const struct profile *profile, uint32_t id);
uint32_t profile_frame_count(const struct profile *profile);
struct profile_frame profile_get_frame(const struct profile *profile, frame_id id);
uint32_t profile_stack_count(const struct profile *profile);
struct profile_stack profile_get_stack(const struct profile *profile, stack_id id);
/* It is soon asked for: it may be on its way from memory by then. */
void profile_prefetch_stack(const struct profile *profile, stack_id id);
uint32_t profile_thread_count(const struct profile *profile);
const struct profile_thread *profile_get_thread(const struct profile *profile, thread_id id);
uint32_t profile_function_count(const struct profile *profile);
const struct profile_function *profile_get_function(const struct profile *profile, function_id id);
uint64_t profile_cell_count(const struct profile *profile);
const struct profile_cell *profile_get_cell(const struct profile *profile, uint64_t index);
/* In the order of their coming, which is that of time but for some microseconds between CPUs. None
 * in a profile whose moments are not known. */
uint64_t profile_moment_count(const struct profile *profile);
const struct profile_moment *profile_get_moment(const struct profile *profile, uint64_t index);
uint64_t profile_marker_count(const struct profile *profile);
const struct profile_marker *profile_get_marker(const struct profile *profile, uint64_t index);
const struct profile_info *profile_get_info(const struct profile *profile);

/* The vaddr of a frame in its file: its offset where no segment holds it. A return address stays
 * one. */
uint64_t profile_frame_vaddr(const struct profile *profile, frame_id id);
/* The same for the call itself: one before a return address. What addr2line -e FILE takes. */
uint64_t profile_frame_address(const struct profile *profile, frame_id id);
/* What a frame without lines is called: "[libfoo.so+0x1a2b]",
 * "[kernel.kallsyms+0xffffffff81000000]"; to be freed. */
char *profile_frame_address_name(const struct profile *profile, frame_id id);

#endif
