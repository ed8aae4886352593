/*
 * Measures calls of functions. Pairs the sample at the entry with the sample at
 * the return, and adds the time between them to the stack at the entry, as wall
 * time. The histogram bucket of the time becomes a label (profile/latency.h).
 *
 * Open entries of a thread are kept on a stack. A return matches the entry with
 * the same stack pointer, which handles recursion. A call that ends with
 * longjmp() or an exception does not return. Its entry is dropped when an outer
 * call returns or the thread ends. The kernel tracks 64 nested returns per
 * thread; calls nested deeper are not measured.
 *
 * To observe a return the kernel replaces the return address on the stack. The
 * sample at the entry has the original address, which is restored in stacks
 * that are sampled during the call. Events that sample returns
 * (event.follows_calls) record entries only for that purpose.
 */
#ifndef PROF_RECORD_LATENCIES_H
#define PROF_RECORD_LATENCIES_H

#include "perf/event.h"
#include "perf/record.h"
#include "record/listener.h"
#include "record/session.h"

struct latencies;

/* All pointers are borrowed. sp_bit is the stack pointer's bit in the register
 * mask. */
struct latencies_options {
	struct session *session;
	const struct event *events; /* in the order of the session's events */
	size_t event_count;
	uint64_t least_ns; /* shorter calls are omitted */
	unsigned sp_bit;
};

/* Returns NULL if no event measures or follows calls. */
struct latencies *latencies_new(const struct latencies_options *options);
void latencies_free(struct latencies *latencies);

/*
 * Takes the next record. Returns true if the record was consumed: a sample of
 * an event that measures calls, or of an entry.
 *
 * In other samples of a thread with open calls, restores the return addresses.
 * Their stack is then a copy that is valid until the next call. Does nothing
 * and returns false if latencies is NULL.
 */
bool latencies_feed(struct latencies *latencies, struct record *record);
/* Must be called when the session gets another profile. Open calls are
 * dropped. */
void latencies_begin_profile(struct latencies *latencies);
/* Reports to the listener how many calls were not measured, if any. */
void latencies_tell(const struct latencies *latencies, const struct listener *listener);

#endif
