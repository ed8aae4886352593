/*
 * Calls of functions: pairs the sample at the entry with that at the return, and adds the time
 * between them to the stack at the entry, as wall time, with its class as a label
 * (profile/latency.h).
 *
 * Entries of a thread are kept on a stack, and a return belongs to the entry with its stack
 * pointer, so recursion is told apart. A call that is left by longjmp() or an exception does not
 * return: its entry goes when a call further out returns, or the thread ends. The kernel follows 64
 * nested returns of a thread; calls further in are not measured.
 *
 * To see a return the kernel replaces the return address on the stack. The sample at the entry has
 * the true one, so stacks that are sampled during the call get it back. Events that sample returns
 * (event.follows_calls) have entries for that alone.
 */
#ifndef PROF_RECORD_LATENCIES_H
#define PROF_RECORD_LATENCIES_H

#include "perf/event.h"
#include "perf/record.h"
#include "record/listener.h"
#include "record/session.h"

struct latencies;

/* All borrowed. sp_bit: the stack pointer's in the mask of registers. */
struct latencies_options {
	struct session *session;
	const struct event *events; /* in the order of the session's */
	size_t event_count;
	uint64_t least_ns; /* shorter calls are left out */
	unsigned sp_bit;
};

/* NULL: no event measures or follows calls. */
struct latencies *latencies_new(const struct latencies_options *options);
void latencies_free(struct latencies *latencies);

/*
 * True: the record is a sample of an event that measures calls, or of an entry, and is dealt with.
 * Other samples of threads with calls that are under way get the true return addresses; their stack
 * is then a copy that lives until the next call. latencies may be NULL.
 */
bool latencies_feed(struct latencies *latencies, struct record *record);
/* The session has another profile: calls that are under way are forgotten. */
void latencies_begin_profile(struct latencies *latencies);
/* Gives the listener the number of calls that were not measured, if there are any. */
void latencies_tell(const struct latencies *latencies, const struct listener *listener);

#endif
