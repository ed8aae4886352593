/*
 * An aggregated profile: distinct frames, distinct stacks (a trie, also called a calling context
 * tree), and for each (stack, label set, event) the number of samples and their weight.
 *
 * Everything has a dense integer id and lives as long as the profile. Individual samples are not
 * kept, so memory grows with the number of distinct stacks, not with time, unless timestamps are
 * kept: then each sample is also a timed sample of 16 bytes. Frames are (module, offset) until
 * symbolization gives them lines: functions with source lines, inlined ones innermost first.
 * Strings are interned in profile_strings().
 */
#ifndef PROF_PROFILE_PROFILE_H
#define PROF_PROFILE_PROFILE_H

#include "base/cleanup.h"
#include "base/strtab.h"
#include "base/value.h"
#include "profile/labels.h"
#include "profile/quality.h"
#include "profile/sample_table.h"
#include "profile/stack_trie.h"
#include "profile/timeline.h"
#include "profile/turns.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef uint32_t function_id;

/*
 * The module of synthetic frames. profile_get_module() accepts it; profile_module_count() does not
 * count it.
 */
#define PROFILE_SYNTHETIC UINT32_MAX

enum profile_module_kind {
	PROFILE_MODULE_FILE,
	PROFILE_MODULE_KERNEL,
	PROFILE_MODULE_VDSO,
	PROFILE_MODULE_JIT,
	PROFILE_MODULE_UNKNOWN,
	PROFILE_MODULE_NONE,	  /* of frames from a file without modules, such as folded stacks */
	PROFILE_MODULE_SYNTHETIC, /* of frames that are not code, such as [truncated] */
	/* of named frames of an interpreter; its path is "[python]" (lib/format/pprof/modules.c) */
	PROFILE_MODULE_INTERPRETED,
};

/* A loaded part of the file; converts offsets to the file's own addresses. */
struct profile_segment {
	uint64_t offset, vaddr, size_bytes;
};

/*
 * The caller numbers modules (lib/proc, readers of files); the profile stores what outputs need
 * about each. A file that was mapped twice can be two modules with one path.
 */
struct profile_module {
	enum profile_module_kind kind;
	string_id path;	    /* "/usr/bin/x", "[kernel.kallsyms]", "[vdso]", "[jit]", "[python]" */
	string_id build_id; /* hex; "" when unknown */
	const struct profile_segment *segments; /* executable ones, by offset; borrowed by
						   profile_describe_module(), then owned */
	unsigned segment_count;
	pid_t pid;    /* PROFILE_MODULE_JIT, live: the process; else 0 */
	bool is_main; /* the main program */
	bool named;   /* at least one of its frames is symbolized; set by profile_set_lines() */
	uid_t source_user; /* source_users.h */
};

struct profile_function {
	string_id name;	       /* demangled, for people */
	string_id system_name; /* mangled; the same as name if it is not mangled */
	string_id file;	       /* "" when unknown */
	uint32_t start_line;   /* 0 when unknown */
};

/* A function and a line in it. It is inlined into the function of the next line, if any. */
struct profile_line {
	function_id function;
	uint32_t line;	 /* 0 when unknown */
	uint32_t folded; /* in a logical profile (report/logical.h): lines between the caller and
			    this one that are left out; else 0 */
};

struct profile_frame {
	uint32_t module;
	uint64_t offset; /* of the pc */
	bool is_return_address;
	bool is_named;			  /* made by profile_named_frame() */
	const struct profile_line *lines; /* innermost first; none: not symbolized */
	unsigned line_count;
};

/* A sampled event; samples and weights are counted per event. */
struct profile_event {
	string_id name;	      /* "cpu-clock" */
	enum value_kind kind; /* of the weights */
	string_id unit;	      /* of the weights, as given in a file; "": value_unit(kind) */
	uint64_t period;      /* as asked for: 0 by frequency … */
	uint64_t frequency_hz;
	bool one_value; /* the file has weights only, which are also used as numbers of samples */
};

/* About the recording as a whole. Strings are copied into the profile by profile_set_info(). */
struct profile_info {
	uint64_t start_unix_ns; /* start, real time */
	uint64_t start_ns;	/* start, on the clock of timed samples; 0 without timed samples */
	uint64_t duration_ns;	/* length of the recording */
	const char *command;	/* prof's own command line */
	const char *host;
	const char *kernel;
	struct profile_quality quality;
	const char *headline; /* shown in the place of the quality: the verdict of a difference */
	const char *remarks;  /* other comments of a file; lines that end with \n */
	const char *problems; /* what could not be read of a file, for the user; lines as above */
	bool is_run; /* a command was recorded from start to end, so another run does the same work
		      */
};

struct profile;

struct profile *profile_new(void);
void profile_free(struct profile *profile);
DEFINE_CLEANUP(profile, profile_free)

struct strtab *profile_strings(struct profile *profile);
const char *profile_string(const struct profile *profile, string_id id);

/* Building. Equal arguments give equal ids. */
event_id profile_add_event(struct profile *profile, const struct profile_event *event);
void profile_describe_module(struct profile *profile, uint32_t module,
			     const struct profile_module *description);
/* Of a module that is described. */
void profile_set_source_user(struct profile *profile, uint32_t module, uid_t user);
/* Who has written the file that it was read from; 0 (until it is set): somebody trusted. */
void profile_set_writer(struct profile *profile, uid_t writer);
uid_t profile_writer(const struct profile *profile);
frame_id profile_frame(struct profile *profile, uint32_t module, uint64_t offset,
		       bool is_return_address);
/*
 * Says where a frame of profile_frame() really is, which was found out late. Another frame may be
 * there: both stay.
 */
void profile_move_frame(struct profile *profile, frame_id frame, uint32_t module, uint64_t offset);
/*
 * A frame that comes with its lines (at least one): from an interpreter, a JIT, or a file without
 * addresses. Frames with equal module, offset and lines have equal ids. It is never equal to
 * a frame of profile_frame(), even at the same offset.
 */
frame_id profile_named_frame(struct profile *profile, uint32_t module, uint64_t offset,
			     const struct profile_line *lines, unsigned count);
/* A synthetic frame: "[truncated]". */
frame_id profile_synthetic_frame(struct profile *profile, const char *text);
/*
 * A synthetic frame whose text quotes the name of another frame: "[mutex held by NAME in FUNCTION]"
 * of before "[mutex held by NAME", link " in " and after "]". FUNCTION is the innermost one of the
 * frame that is not of a runtime (code_origin.h), inlined or not. As long as the quoted frame has
 * no lines, its text lacks link and function.
 */
frame_id profile_quoting_frame(struct profile *profile, const char *before, const char *link,
			       frame_id quoted, const char *after);
stack_id profile_push(struct profile *profile, stack_id parent, frame_id frame);
/*
 * The same as profile_frame() and profile_push() without adding: several threads may look for them
 * while none adds anything. False: there is none.
 */
bool profile_find_frame(const struct profile *profile, uint32_t module, uint64_t offset,
			bool is_return_address, frame_id *ret);
bool profile_find_stack(const struct profile *profile, stack_id parent, frame_id frame,
			stack_id *ret);

/* As stack_trie_push_paths(). */
void profile_push_paths(struct profile *profile, struct profile_path *paths, size_t count);
/* The labels are copied and may be in any order. */
label_set_id profile_label_set(struct profile *profile, const struct profile_thread *thread,
			       const struct profile_label *labels, uint32_t count);
/*
 * Calls map for the thread of each label set; map may change the thread. Merges label sets that
 * have become equal, and their samples. The ids of threads, label sets and samples change. The
 * profile must not keep timestamps.
 */
void profile_map_threads(struct profile *profile,
			 void (*map)(void *user, struct profile_thread *thread), void *user);
/*
 * Gives each sample the labels that `labels_of` returns, which may add label sets. Merges samples
 * that have become equal; ids of samples change then, also those in the timeline.
 */
void profile_relabel(struct profile *profile,
		     label_set_id (*labels_of)(void *user, const struct profile_sample *sample),
		     void *user);
/* The label set of a thread without other labels. */
label_set_id profile_thread_labels(struct profile *profile, pid_t pid, pid_t tid,
				   const char *process, const char *name);
/* Adds one sample. Returns the index of its aggregated sample. */
uint32_t profile_add(struct profile *profile, label_set_id labels, stack_id stack, event_id event,
		     uint64_t weight);
/* Adds several samples at once; weight is their sum. */
uint32_t profile_add_samples(struct profile *profile, label_set_id labels, stack_id stack,
			     event_id event, uint64_t samples, uint64_t weight);
/*
 * Multiplies all counts by `factor` (below 1) and clears aggregated samples that fall below
 * least_samples. Returns the number of aggregated samples that are not 0.
 */
uint64_t profile_fade(struct profile *profile, double factor, uint64_t least_samples);
/* Reduces the weights of an event by `by` in all, or to 0, each by the same share. */
void profile_reduce_weight(struct profile *profile, event_id event, uint64_t by);
/* Before this call, timed samples and markers are ignored. */
void profile_keep_timestamps(struct profile *profile);
bool profile_keeps_timestamps(const struct profile *profile);
void profile_add_timed_sample(struct profile *profile,
			      const struct profile_timed_sample *timed_sample);
/* By time, for those that were not added in order. */
void profile_sort_timed_samples(struct profile *profile);
/* Ignored like timed samples. */
void profile_add_interval(struct profile *profile, const struct profile_interval *interval);
/* By their ends. */
void profile_sort_intervals(struct profile *profile);
void profile_add_marker(struct profile *profile, const struct profile_marker *marker);
/* Before this call, turns (turns.h) are ignored. */
void profile_keep_turns(struct profile *profile);
void profile_add_turn(struct profile *profile, pid_t tid, uint32_t sample);
/* Adds how often samples show that a thread began with a task (tasks.h). */
void profile_add_polls(struct profile *profile, const char *task, uint64_t polls);
void profile_set_info(struct profile *profile, const struct profile_info *info);

/* Symbolizing. */
function_id profile_function(struct profile *profile, const struct profile_function *function);
/*
 * Says how many bytes the address of a frame without lines (profile_frame_address()) is from the
 * start of its function, which has no symbol. Without this call, 0.
 */
void profile_set_into_function(struct profile *profile, frame_id frame, uint64_t bytes);
/* Copies the lines. They replace those that an earlier call has set. */
void profile_set_lines(struct profile *profile, frame_id frame, const struct profile_line *lines,
		       unsigned count);

/*
 * The memory that the profile needs, except for timed samples and markers, in constant time:
 * readers of files hold it against their bound.
 */
size_t profile_memory_bytes(const struct profile *profile);

/*
 * Reading: each table is dense from id 0 (stacks: from 1; 0 is STACK_EMPTY). Pointers are valid
 * until the next change.
 */
uint32_t profile_event_count(const struct profile *profile);
const struct profile_event *profile_get_event(const struct profile *profile, event_id id);
/* The unit of an event's weights, such as "nanoseconds". */
const char *profile_event_unit(const struct profile *profile, event_id id);
/* True if the numbers of samples are known: counted, or the only value ("samples" of folded
 * stacks). */
bool profile_counts_samples(const struct profile *profile, event_id id);
/* A weight of an event as text: "1.25 s". */
struct humanized profile_humanize_weight(const struct profile *profile, event_id id,
					 uint64_t weight);
uint32_t profile_module_count(const struct profile *profile);
/* A module that was never described has the kind PROFILE_MODULE_UNKNOWN and no path. */
const struct profile_module *profile_get_module(const struct profile *profile, uint32_t id);
uint32_t profile_frame_count(const struct profile *profile);
struct profile_frame profile_get_frame(const struct profile *profile, frame_id id);
uint32_t profile_thread_count(const struct profile *profile);
const struct profile_thread *profile_get_thread(const struct profile *profile, thread_id id);
uint32_t profile_label_set_count(const struct profile *profile);
const struct profile_label_set *profile_get_label_set(const struct profile *profile,
						      label_set_id id);
/* The thread of a label set. */
const struct profile_thread *profile_thread_of(const struct profile *profile, label_set_id id);
uint32_t profile_function_count(const struct profile *profile);
const struct profile_function *profile_get_function(const struct profile *profile, function_id id);

/* The large tables, as arrays: for loops over all of their items. */
struct profile_stacks {
	const struct profile_stack *items; /* by stack_id, STACK_EMPTY included */
	uint32_t count;
};
struct profile_stacks profile_stacks(const struct profile *profile);

struct profile_samples {
	const struct profile_sample *items;
	uint64_t count;
};
struct profile_samples profile_samples(const struct profile *profile);

/* Empty unless timestamps are kept. */
struct profile_timed_samples profile_timed_samples(const struct profile *profile);
struct profile_intervals profile_intervals(const struct profile *profile);
uint64_t profile_marker_count(const struct profile *profile);
const struct profile_marker *profile_get_marker(const struct profile *profile, uint64_t index);
struct turns profile_turns(const struct profile *profile);

struct profile_polls {
	string_id task;
	uint64_t polls;
};
uint32_t profile_polls_count(const struct profile *profile);
const struct profile_polls *profile_get_polls(const struct profile *profile, uint32_t index);
const struct profile_info *profile_get_info(const struct profile *profile);

/*
 * The vaddr of a frame in its file; its offset if no segment contains it. A return address stays a
 * return address.
 */
uint64_t profile_frame_vaddr(const struct profile *profile, frame_id id);
/* The same, but that of the call: one less for a return address. What addr2line -e FILE takes. */
uint64_t profile_frame_address(const struct profile *profile, frame_id id);
/* What profile_set_into_function() has said of a frame without lines; else 0. */
uint64_t profile_frame_into_function(const struct profile *profile, frame_id id);
/*
 * The address of the function of a frame without lines, by which outputs group: its start, or the
 * address of the frame if the start is unknown.
 */
uint64_t profile_frame_function_address(const struct profile *profile, frame_id id);
/*
 * The name of a frame without lines, from the address of its function: "[libfoo.so+0x1a2b]",
 * "[kernel.kallsyms+0xffffffff81000000]". The caller frees it.
 */
char *profile_frame_address_name(const struct profile *profile, frame_id id);

#endif
