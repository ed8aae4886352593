/*
 * Looks ahead at the samples of a machine with many CPUs: several threads find their stacks before
 * the session adds them, in their order.
 *
 * The threads change nothing, and the session does nothing meanwhile, so that they need no locks
 * and no caches of their own, and the profile does not depend on their number. What takes a change
 * (a rule that is not in the cache, the first sample of a mapping, a stack that is not plain) is
 * left to the session, which finds it alone; what of a stack is new, it adds.
 */
#ifndef PROF_RECORD_LOOK_AHEAD_H
#define PROF_RECORD_LOOK_AHEAD_H

#include "record/sample_stacks.h"

struct look_ahead;

/* threads: with the caller's. stacks: borrowed. */
struct look_ahead *look_ahead_new(const struct sample_stacks *stacks, unsigned threads);
void look_ahead_free(struct look_ahead *ahead);

/* Begins to look for the stacks of records, unless they are few; borrows the records until … */
void look_ahead_begin(struct look_ahead *ahead, const struct profile *profile,
		      const struct record *records, size_t count);
/* … the next call. Looks for them, too; returns when all were looked for. */
void look_ahead_finish(struct look_ahead *ahead);
/* Whether it is one of those records. */
bool look_ahead_has(const struct look_ahead *ahead, const struct record *record);
/* NULL: its stack was not found, or it is none of those records. */
const struct found_stack *look_ahead_found(const struct look_ahead *ahead,
					   const struct record *record);

#endif
