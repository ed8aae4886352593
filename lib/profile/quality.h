/*
 * The quality of a recording: how many samples were lost, truncated, completed
 * or unsymbolized, in total and for each event. Zeroed, it is unknown.
 *
 * The text form has one line per subject. pprof files contain them as comments:
 *	prof: samples=12345 lost=12 truncated=3 completed=100 unnamed=0
 *	prof: samples=345 truncated=0 unnamed=0 sampled=345 counted=345 event=page-faults
 *	prof: waiting threads=12 thread_ns=12000000000 running_ns=3100000000 wanted_ns=400000000
 *	      waiting_ns=8500000000 proved_ns=8400000000 …	(one line)
 * Keys may be in any order and may be missing. `event` is the last key, and its
 * value extends to the end of the line. The word `waiting` comes first, so that
 * readers that do not know it treat the line as a remark.
 */
#ifndef PROF_PROFILE_QUALITY_H
#define PROF_PROFILE_QUALITY_H

#include "profile/stat_counts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a count is written and printed. */
enum quality_count_flags {
	COUNT_ALWAYS = 1,	/* also if it is 0 */
	COUNT_UNKNOWN_IF_0 = 2, /* JSON omits it if it is 0 */
	COUNT_SHARE = 4,	/* printed with its share of the samples */
	/* Printed with its share of the samples, which do not contain it. */
	COUNT_SHARE_BESIDE = 8,
};

/*
 * The counts of a recording in the order in which they are written and printed.
 * A count that is added to this list is added up, written and printed
 * everywhere: COUNT(member and key, flags, text in which # stands for the
 * number, or NULL).
 */
#define PROFILE_QUALITY_COUNTS(COUNT)                                                              \
	COUNT(samples, COUNT_ALWAYS, NULL)                                                         \
	/* Samples that the kernel could not write. */                                             \
	COUNT(lost, COUNT_ALWAYS | COUNT_SHARE_BESIDE, "# lost")                                   \
	/* Lost records of mappings, names, starts and ends of processes. */                       \
	COUNT(lost_changes, 0, "# records of processes lost")                                      \
	/* Stacks that end in [truncated]. */                                                      \
	COUNT(truncated, COUNT_ALWAYS | COUNT_SHARE, "# truncated")                                \
	/* Stacks larger than the copied part, but complete. */                                    \
	COUNT(completed, 0, "# completed from the live stack")                                     \
	/* Stacks that continue by frame pointers where CFI ends. */                               \
	COUNT(spliced, 0, "# completed by frame pointers")                                         \
	/* Samples in an interpreter whose frames could not be read: [python?]. */                 \
	COUNT(frameless, COUNT_SHARE, "# without their Python frames")                             \
	/* Samples whose innermost frame has no symbol. */                                         \
	COUNT(unnamed, COUNT_ALWAYS | COUNT_SHARE, "# without a symbol")                           \
	/* Samples of 32-bit processes. */                                                         \
	COUNT(compat, COUNT_SHARE, "# of 32-bit processes")                                        \
	/* Stacks truncated in the middle, because there were too many distinct ones. */           \
	COUNT(shortened, 0, "# without their middle")                                              \
	/* Number of times that the kernel throttled sampling. */                                  \
	COUNT(throttled, 0, "throttled # times by the kernel")                                     \
	/* Omitted samples of idle CPUs; not part of `samples`. */                                 \
	COUNT(idle, 0, "# of idle CPUs left out")                                                  \
	/* CPU time that prof used for sampling. */                                                \
	COUNT(own_cpu_ns, COUNT_UNKNOWN_IF_0, NULL)

/* The counts of one event. */
#define EVENT_QUALITY_COUNTS(COUNT)                                                                \
	COUNT(samples, COUNT_ALWAYS, NULL)                                                         \
	/* Lost samples of allocations. Those of other events are known only in total. */          \
	COUNT(lost, COUNT_UNKNOWN_IF_0 | COUNT_SHARE_BESIDE, "# lost")                             \
	COUNT(truncated, COUNT_ALWAYS | COUNT_SHARE, "# truncated")                                \
	COUNT(unnamed, COUNT_ALWAYS | COUNT_SHARE, "# without a symbol")                           \
	/* The weight of the samples, or 0 if unknown. 0 is a weight if `counted` is known. */     \
	COUNT(sampled, COUNT_UNKNOWN_IF_0, NULL)                                                   \
	/* The kernel's count over the same time. */                                               \
	COUNT(counted, COUNT_UNKNOWN_IF_0, NULL)

/*
 * How the lifetimes of threads divide, and how reliably the locations of waits
 * are known. thread_ns is the sum of running_ns, wanted_ns and waiting_ns.
 */
#define WAITING_QUALITY_COUNTS(COUNT)                                                              \
	/* Threads that lived during the recording, or 0 if off-CPU time was not recorded. */      \
	COUNT(threads, COUNT_UNKNOWN_IF_0, NULL)                                                   \
	/* Sum of their lifetimes within the recording. */                                         \
	COUNT(thread_ns, COUNT_ALWAYS, NULL)                                                       \
	/* On a CPU. */                                                                            \
	COUNT(running_ns, COUNT_ALWAYS, NULL)                                                      \
	/* Runnable, but not on a CPU. */                                                          \
	COUNT(wanted_ns, COUNT_ALWAYS, NULL)                                                       \
	/* The remaining time. The next four are parts of it. */                                   \
	COUNT(waiting_ns, COUNT_ALWAYS, NULL)                                                      \
	/* The stack was read during the wait. */                                                  \
	COUNT(proved_ns, COUNT_UNKNOWN_IF_0, NULL)                                                 \
	/* Waits without a stack, attributed to other waits of the same thread. */                 \
	COUNT(spread_ns, COUNT_UNKNOWN_IF_0, NULL)                                                 \
	/* The kernel wrote the stack at the context switch. */                                    \
	COUNT(sampled_ns, COUNT_UNKNOWN_IF_0, NULL)                                                \
	/* Waits without a stack. */                                                               \
	COUNT(placeless_ns, COUNT_UNKNOWN_IF_0, NULL)                                              \
	/* Waits in an interpreter whose frames could not be read: [python?]. */                   \
	COUNT(frameless_ns, COUNT_UNKNOWN_IF_0, NULL)                                              \
	/* Waits shorter than the requested minimum; not in the profile. */                        \
	COUNT(left_out_ns, COUNT_UNKNOWN_IF_0, NULL)                                               \
	/* Records of context switches that the kernel could not write. */                         \
	COUNT(lost, COUNT_UNKNOWN_IF_0, NULL)

#define COUNT_MEMBER(name, flags, text) uint64_t name;

struct event_quality {
	const char *event; /* the event's name */
	EVENT_QUALITY_COUNTS(COUNT_MEMBER)
};

struct waiting_quality {
	WAITING_QUALITY_COUNTS(COUNT_MEMBER)
};

struct profile_quality {
	bool is_known;
	PROFILE_QUALITY_COUNTS(COUNT_MEMBER)
	/* For recordings with several events, or one that is counted. */
	const struct event_quality *events;
	size_t event_count;
	struct waiting_quality waiting;
	struct stat_counts stat; /* counters in addition to the samples */
};

/* The counts as tables. A zeroed element ends a table. */
struct quality_count {
	const char *key;
	size_t offset; /* in the struct */
	unsigned flags;
	const char *text; /* may be NULL */
};
extern const struct quality_count profile_quality_counts[], event_quality_counts[],
	waiting_quality_counts[];
/* Returns the count of a struct that the table describes. */
uint64_t quality_count_value(const void *quality, const struct quality_count *count);

/*
 * Adds the counts of another recording of the same kind, except events and
 * waiting. A count that is known for only one of them becomes unknown.
 */
void quality_add(struct profile_quality *quality, const struct profile_quality *more);

/* Adds the counts of the same event in another recording. */
void event_quality_add(struct event_quality *quality, const struct event_quality *more);
void waiting_quality_add(struct waiting_quality *quality, const struct waiting_quality *more);

/*
 * Returns the counted weight that samples do not cover, or 0 if it is unknown.
 */
uint64_t quality_unsampled(const struct event_quality *event);

/* Returns the quality of an event, or NULL if it is unknown. */
const struct event_quality *quality_of_event(const struct profile_quality *quality,
					     const char *event);

/* Returns one line of text without the line end. The caller frees it. */
char *quality_encode(const struct profile_quality *quality);
char *quality_encode_event(const struct event_quality *quality);
/* Like quality_encode(). Returns "" if off-CPU time was not recorded. */
char *quality_encode_waiting(const struct waiting_quality *waiting);

/*
 * Parses a line and ignores unknown keys. Returns false and leaves *ret
 * unchanged if the text is something else.
 */
bool quality_decode(const char *text, struct profile_quality *ret);
/* Like quality_decode(). ret->event is borrowed from the text. */
bool quality_decode_event(const char *text, struct event_quality *ret);
/* Like quality_decode(). Also returns false for a line without threads. */
bool quality_decode_waiting(const char *text, struct waiting_quality *ret);

#endif
