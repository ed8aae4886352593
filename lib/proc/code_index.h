/*
 * Functions that were compiled at run time, by address and time: (pc, time) → the function that was
 * there. They are added in the order in which they were reported; a later one replaces what it
 * overlaps from its time on.
 *
 * Memory and time are bounded by a budget that several indexes share: one gets half of what is
 * left, but a minimum in any case, so that no process's code keeps others' from being known.
 *
 * The time is what reading the owners' files takes. It is counted in steps of a few nanoseconds:
 * the links that a search follows, and what the owners count for the rest.
 */
#ifndef PROF_PROC_CODE_INDEX_H
#define PROF_PROC_CODE_INDEX_H

#include "base/idmap.h"
#include "base/time_share.h"

#include <stdbool.h>

/* What all share. Zero-initialized. */
struct code_budget {
	uint64_t used; /* functions, their pages, and what else their owners count */
	struct time_share reading;
};

struct code_range {
	uint64_t start, end;
	uint64_t from_ns;
	uint64_t offset; /* the caller's, of start */
	uint64_t mark;	 /* the caller's */
};

struct code_link;

struct code_index {
	struct code_budget *budget; /* set by the caller; outlives it */
	struct code_range *ranges;  /* in the order of reports */
	uint32_t count;

	uint32_t room;
	struct code_link *links;
	uint32_t link_count, link_room;
	struct idmap pages; /* links */
	uint64_t used;	    /* of the budget */
	struct time_share reading;
};

#define CODE_NONE UINT32_MAX

void code_index_deinit(struct code_index *index);
/* Counts more of the caller's memory, of 56 bytes each. False: there is no room for it. */
bool code_index_take(struct code_index *index, uint64_t count);
/* Left out if there is no room for it. */
void code_index_add(struct code_index *index, const struct code_range *range);
/* The time that all files may take of a second: while they grow, and at the end. */
#define CODE_READING_MAX_NS (100 * NS_PER_MS)
#define CODE_LAST_READING_MAX_NS NS_PER_SECOND

/* Whether the owner may read on in this second; it goes on later with the rest. */
bool code_index_may_read(struct code_index *index, uint64_t now_ns, uint64_t max_ns);
void code_index_spend(struct code_index *index, uint64_t steps);
/*
 * The number of the last function at pc that was there at that time. If there was none yet, that of
 * the first one that came later: some compilers report code when it runs already. CODE_NONE: none.
 * A search reads the last 512 functions of a page. Adds to *steps unless it is NULL.
 */
uint32_t code_index_find(const struct code_index *index, uint64_t pc, uint64_t time_ns,
			 uint64_t *steps);
/*
 * Whether one of the functions that these addresses overlap has this mark; of many in a page it
 * reads the last ones. Adds to *steps.
 */
bool code_index_overlaps(const struct code_index *index, uint64_t start, uint64_t end,
			 uint64_t mark, uint64_t *steps);

#endif
