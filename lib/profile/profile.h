/*
 * An aggregated profile: distinct frames, distinct stacks (a trie, also called
 * a calling context tree), and for each (stack, label set, event) the number of
 * samples and their weight.
 *
 * Everything has a dense integer id and lives as long as the profile.
 * Individual samples are not kept, so memory grows with the number of distinct
 * stacks, not with time. If timestamps are kept, there is also a timed sample
 * of 16 bytes for each sample. A frame is a (module, offset). Symbolization
 * adds its lines: the function and the functions inlined in it, innermost
 * first, each with a source line. Strings are interned in profile_strings().
 */
#ifndef PROF_PROFILE_PROFILE_H
#define PROF_PROFILE_PROFILE_H

#include "base/cleanup.h"
#include "base/strtab.h"
#include "base/value.h"
#include "profile/labels.h"
#include "profile/quality.h"
#include "profile/sample_order.h"
#include "profile/sample_table.h"
#include "profile/stack_trie.h"
#include "profile/timeline.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef uint32_t function_id;

/*
 * The module of synthetic frames. profile_get_module() accepts it;
 * profile_module_count() does not count it.
 */
#define PROFILE_SYNTHETIC UINT32_MAX

enum profile_module_kind {
	PROFILE_MODULE_FILE,
	PROFILE_MODULE_KERNEL,
	PROFILE_MODULE_VDSO,
	PROFILE_MODULE_JIT,
	PROFILE_MODULE_UNKNOWN,
	PROFILE_MODULE_NONE,	  /* frames from a file without modules, such as folded stacks */
	PROFILE_MODULE_SYNTHETIC, /* frames that are not code, such as [truncated] */
	/*
	 * Frames of an interpreter, which come with their names. The path is
	 * "[python]", for example (lib/format/pprof/modules.c).
	 */
	PROFILE_MODULE_INTERPRETED,
};

/*
 * A loadable segment of an ELF file. It converts file offsets to virtual
 * addresses of the file.
 */
struct profile_segment {
	uint64_t offset, vaddr, size_bytes;
};

/*
 * A module, as far as outputs need it. The caller assigns its number: lib/proc,
 * or the reader of a file. Two modules may have the same path if a file was
 * mapped twice.
 */
struct profile_module {
	enum profile_module_kind kind;
	string_id path;	    /* "/usr/bin/x", "[kernel.kallsyms]", "[vdso]", "[jit]", "[python]" */
	string_id build_id; /* hexadecimal; "" if unknown */
	/*
	 * Executable segments by offset; borrowed by profile_describe_module(),
	 * owned in the profile.
	 */
	const struct profile_segment *segments;
	unsigned segment_count;
	pid_t pid;    /* the process of live JIT code (PROFILE_MODULE_JIT), else 0 */
	bool is_main; /* true for the main program */
	bool named;   /* true if at least one frame is symbolized; set by profile_set_lines() */
	uid_t source_user; /* see source_users.h */
};

struct profile_function {
	string_id name;	       /* demangled, for display */
	string_id system_name; /* mangled; equal to name if the name is not mangled */
	string_id file;	       /* "" if unknown */
	uint32_t start_line;   /* 0 if unknown */
};

/*
 * A function and a line in it. It is inlined into the function of the next
 * line, if there is one.
 */
struct profile_line {
	function_id function;
	uint32_t line; /* 0 if unknown */
	/*
	 * Number of lines folded between the caller and this line in a logical
	 * profile (report/logical.h), else 0.
	 */
	uint32_t folded;
};

struct profile_frame {
	uint32_t module;
	uint64_t offset; /* of the program counter */
	bool is_return_address;
	bool is_named; /* created by profile_named_frame() */
	/* Innermost first; empty if the frame is not symbolized. */
	const struct profile_line *lines;
	unsigned line_count;
};

/* A sampled event; samples and weights are counted per event. */
struct profile_event {
	string_id name;	      /* "cpu-clock" */
	enum value_kind kind; /* kind of the weights */
	string_id unit;	      /* unit of the weights if a file names one; "": value_unit(kind) */
	uint64_t period;      /* requested period, or 0 if sampled by frequency */
	uint64_t frequency_hz;
	/*
	 * The profile was read from a file that contains one value per stack.
	 * It serves as the weight and as the number of samples.
	 */
	bool one_value;
};

/*
 * Facts about the recording as a whole. profile_set_info() copies the strings.
 */
struct profile_info {
	uint64_t start_unix_ns; /* start, in real time */
	uint64_t start_ns;	/* start, on the clock of timed samples; 0 if there are none */
	uint64_t duration_ns;	/* length of the recording */
	const char *title;	/* what was recorded; "" if unknown (report/title.h) */
	const char *command;	/* prof's own command line */
	const char *host;
	const char *kernel;
	struct profile_quality quality;
	const char *headline; /* verdict of a comparison, shown instead of the quality */
	const char *remarks;  /* other comments of a file; each line ends with \n */
	/*
	 * Messages about the parts of a file that could not be read; each line
	 * ends with \n.
	 */
	const char *problems;
	/*
	 * A command was recorded from start to end. Totals of two such runs can
	 * be compared, because both did the same work.
	 */
	bool is_run;
};

struct profile;

struct profile *profile_new(void);
void profile_free(struct profile *profile);
DEFINE_CLEANUP(profile, profile_free)

struct strtab *profile_strings(struct profile *profile);
const char *profile_string(const struct profile *profile, string_id id);

/* Functions that build a profile. Equal arguments return equal ids. */
event_id profile_add_event(struct profile *profile, const struct profile_event *event);
void profile_describe_module(struct profile *profile, uint32_t module,
			     const struct profile_module *description);
/* The module must have been described. */
void profile_set_source_user(struct profile *profile, uint32_t module, uid_t user);
/*
 * Sets the user who has written the file that the profile was read from. The
 * default 0 is a trusted user.
 */
void profile_set_writer(struct profile *profile, uid_t writer);
uid_t profile_writer(const struct profile *profile);
frame_id profile_frame(struct profile *profile, uint32_t module, uint64_t offset,
		       bool is_return_address);
/*
 * Changes the location of a frame of profile_frame(), for a location that
 * became known later. If another frame has that location, both frames stay.
 */
void profile_move_frame(struct profile *profile, frame_id frame, uint32_t module, uint64_t offset);
/*
 * Returns a frame that comes with its lines (at least one): from an
 * interpreter, a JIT, or a file without addresses. Frames with equal module,
 * offset and lines have equal ids. It never equals a frame of profile_frame(),
 * even at the same offset.
 */
frame_id profile_named_frame(struct profile *profile, uint32_t module, uint64_t offset,
			     const struct profile_line *lines, unsigned count);
/* Returns a synthetic frame such as "[truncated]". */
frame_id profile_synthetic_frame(struct profile *profile, const char *text);
/*
 * Returns a synthetic frame whose text contains the name of another frame:
 * "[mutex held by NAME in FUNCTION]". `before` is "[mutex held by NAME", `link`
 * is "in" between spaces, and `after` is "]". FUNCTION is the innermost
 * function of the other frame, inlined or not, that does not belong to a
 * runtime (code_origin.h). While that frame has no lines, the text lacks link
 * and function.
 */
frame_id profile_quoting_frame(struct profile *profile, const char *before, const char *link,
			       frame_id quoted, const char *after);
/* Returns the stack that consists of `parent` and a frame that it called. */
stack_id profile_push(struct profile *profile, stack_id parent, frame_id frame);
/* Finds the stack that profile_push() would return. Returns false if the
 * profile does not have it. */
bool profile_find_stack(const struct profile *profile, stack_id parent, frame_id frame,
			stack_id *ret);

/* See stack_trie_push_paths(). */
void profile_push_paths(struct profile *profile, struct profile_path *paths, size_t count);
/*
 * Returns the id of a label set. Copies the labels, which may be in any order.
 */
label_set_id profile_label_set(struct profile *profile, const struct profile_thread *thread,
			       const struct profile_label *labels, uint32_t count);
/*
 * Calls `map` for the thread of each label set. `map` may change the thread.
 * Merges label sets that have become equal, and their samples. The ids of
 * threads, label sets and samples change. The profile must not keep timestamps.
 */
void profile_map_threads(struct profile *profile,
			 void (*map)(void *user, struct profile_thread *thread), void *user);
/*
 * Returns a number that changes whenever profile_map_threads() changes ids. A
 * cache of ids must be cleared when the number differs.
 */
uint32_t profile_generation(const struct profile *profile);
/* Sets the generation of a profile that replaces `former`, so that caches of
 * ids of `former` notice the change. */
void profile_follow(struct profile *profile, const struct profile *former);
/*
 * Replaces the label set of each sample by the one that `labels_of` returns,
 * which may add label sets. Merges samples that have become equal. The ids of
 * samples change, also in the timeline.
 */
void profile_relabel(struct profile *profile,
		     label_set_id (*labels_of)(void *user, const struct profile_sample *sample),
		     void *user);
/* Returns the label set that has one label more than this one. */
label_set_id profile_add_label(struct profile *profile, label_set_id id,
			       const struct profile_label *label);
/* Returns the label set of a thread without other labels. */
label_set_id profile_thread_labels(struct profile *profile, pid_t pid, pid_t tid,
				   const char *process, const char *name);
/*
 * Adds one sample. Returns the index of its aggregated sample. The stack of a
 * sample without frames is the synthetic frame [unnamed], never STACK_EMPTY.
 */
uint32_t profile_add(struct profile *profile, label_set_id labels, stack_id stack, event_id event,
		     uint64_t weight);
/* Adds several samples at once. weight is their sum. */
uint32_t profile_add_samples(struct profile *profile, label_set_id labels, stack_id stack,
			     event_id event, uint64_t samples, uint64_t weight);
/*
 * Multiplies all counts by `factor` (below 1). Aggregated samples that fall
 * below least_samples are set to 0. Returns the number of those that are not 0.
 */
uint64_t profile_fade(struct profile *profile, double factor, uint64_t least_samples);
/*
 * Subtracts `by` from the total weight of an event. If the total is smaller
 * than `by`, it becomes 0. Each weight is reduced by the same share.
 */
void profile_reduce_weight(struct profile *profile, event_id event, uint64_t by);
/*
 * Keeps timed samples and markers from now on. Before this call they are
 * ignored.
 */
void profile_keep_timestamps(struct profile *profile);
bool profile_keeps_timestamps(const struct profile *profile);
void profile_add_timed_sample(struct profile *profile,
			      const struct profile_timed_sample *timed_sample);
/* Sorts timed samples that were not added in time order. */
void profile_sort_timed_samples(struct profile *profile);
/* Adds an interval. It is ignored unless timestamps are kept. */
void profile_add_interval(struct profile *profile, const struct profile_interval *interval);
/* Sorts intervals by their ends. */
void profile_sort_intervals(struct profile *profile);
void profile_add_marker(struct profile *profile, const struct profile_marker *marker);
/* Keeps the order of samples (sample_order.h) from now on. */
void profile_keep_sample_order(struct profile *profile);
void profile_add_to_sample_order(struct profile *profile, pid_t tid, uint32_t sample);
/*
 * Adds to the number of polls of a task: how often the samples show that a
 * thread has started to run it (tasks.h).
 */
void profile_add_polls(struct profile *profile, const char *task, uint64_t polls);
void profile_set_info(struct profile *profile, const struct profile_info *info);

/* Functions for symbolization. */
function_id profile_function(struct profile *profile, const struct profile_function *function);
/*
 * For a frame in a function without a symbol: sets the distance in bytes from
 * the start of the function to the frame's address (profile_frame_address()).
 * The default is 0.
 */
void profile_set_into_function(struct profile *profile, frame_id frame, uint64_t bytes);
/* Copies the lines. They replace the lines of an earlier call. */
void profile_set_lines(struct profile *profile, frame_id frame, const struct profile_line *lines,
		       unsigned count);

/*
 * Returns the size of the profile in bytes, without timed samples and markers,
 * in constant time. Readers of files check it against their limit.
 */
size_t profile_memory_bytes(const struct profile *profile);

/*
 * Functions that read a profile. Ids are dense from 0 (stacks: from 1, because
 * 0 is STACK_EMPTY). Pointers are valid until the next change.
 */
uint32_t profile_event_count(const struct profile *profile);
const struct profile_event *profile_get_event(const struct profile *profile, event_id id);
/* Returns the unit of an event's weights, such as "nanoseconds". */
const char *profile_event_unit(const struct profile *profile, event_id id);
/*
 * Returns whether the numbers of samples of an event are known. They are known
 * if the profile has counted them. They are also known if the event has only
 * one value and this value is the number of samples, as in folded stacks.
 */
bool profile_counts_samples(const struct profile *profile, event_id id);
/* Formats a weight of an event: "1.25 s". */
struct humanized profile_humanize_weight(const struct profile *profile, event_id id,
					 uint64_t weight);
uint32_t profile_module_count(const struct profile *profile);
/*
 * Returns a module. One that was never described has the kind
 * PROFILE_MODULE_UNKNOWN and no path.
 */
const struct profile_module *profile_get_module(const struct profile *profile, uint32_t id);
uint32_t profile_frame_count(const struct profile *profile);
struct profile_frame profile_get_frame(const struct profile *profile, frame_id id);
uint32_t profile_thread_count(const struct profile *profile);
const struct profile_thread *profile_get_thread(const struct profile *profile, thread_id id);
uint32_t profile_label_set_count(const struct profile *profile);
const struct profile_label_set *profile_get_label_set(const struct profile *profile,
						      label_set_id id);
/* Returns the thread of a label set. */
const struct profile_thread *profile_thread_of(const struct profile *profile, label_set_id id);
uint32_t profile_function_count(const struct profile *profile);
const struct profile_function *profile_get_function(const struct profile *profile, function_id id);

/* The large tables as arrays, for loops over all items. */
struct profile_stacks {
	const struct profile_stack *items; /* by stack_id, including STACK_EMPTY */
	uint32_t count;
};
struct profile_stacks profile_stacks(const struct profile *profile);

struct profile_samples {
	const struct profile_sample *items;
	uint64_t count;
};
struct profile_samples profile_samples(const struct profile *profile);

/* Returns no samples unless timestamps are kept. */
struct profile_timed_samples profile_timed_samples(const struct profile *profile);
struct profile_intervals profile_intervals(const struct profile *profile);
uint64_t profile_marker_count(const struct profile *profile);
const struct profile_marker *profile_get_marker(const struct profile *profile, uint64_t index);
struct sample_order profile_sample_order(const struct profile *profile);

struct profile_polls {
	string_id task;
	uint64_t polls;
};
uint32_t profile_polls_count(const struct profile *profile);
const struct profile_polls *profile_get_polls(const struct profile *profile, uint32_t index);
const struct profile_info *profile_get_info(const struct profile *profile);

/*
 * Returns the virtual address of a frame in its file, or its offset if no
 * segment contains it. A return address stays a return address.
 */
uint64_t profile_frame_vaddr(const struct profile *profile, frame_id id);
/*
 * Returns the address that addr2line -e FILE expects: like
 * profile_frame_vaddr(), but one less for a return address, so that it is
 * within the call.
 */
uint64_t profile_frame_address(const struct profile *profile, frame_id id);
/*
 * Returns the value of profile_set_into_function() for a frame without lines,
 * else 0.
 */
uint64_t profile_frame_into_function(const struct profile *profile, frame_id id);
/*
 * Returns the start of the function of a frame without lines, or the address of
 * the frame if the start is unknown. Outputs group such frames by it.
 */
uint64_t profile_frame_function_address(const struct profile *profile, frame_id id);
/*
 * Returns the name of a frame without lines, made of the address of its
 * function: "[libfoo.so+0x1a2b]", "[kernel.kallsyms+0xffffffff81000000]". The
 * caller frees it.
 */
char *profile_frame_address_name(const struct profile *profile, frame_id id);

#endif
