/*
 * Indexes functions that were compiled at run time by address and time: (pc,
 * time) → function. Functions are added in the order in which they were
 * reported. A later one replaces what it overlaps, from its time on.
 *
 * Several indexes share a budget that bounds memory and time. An index gets
 * half of what is left, and always a minimum, so that the code of one process
 * cannot starve that of others.
 *
 * The time is what it takes to read the files with the functions. It is counted
 * in steps of a few nanoseconds: one for each link that a search follows, and
 * those that the caller adds with code_index_spend().
 */
#ifndef PROF_PROC_CODE_INDEX_H
#define PROF_PROC_CODE_INDEX_H

#include "base/idmap.h"
#include "base/time_share.h"

#include <stdbool.h>

/* The budget that all indexes share. Zero-initialized. */
struct code_budget {
	uint64_t used; /* functions, their pages, and what callers add */
	struct time_share reading;
};

struct code_range {
	uint64_t start, end;
	uint64_t from_ns;
	uint64_t offset; /* set by the caller, for `start` */
	uint64_t mark;	 /* set by the caller */
};

struct code_link;

struct code_index {
	struct code_budget *budget; /* set by the caller, and outlives the index */
	struct code_range *ranges;  /* in the order of reports */
	uint32_t count;

	uint32_t room;
	struct code_link *links;
	uint32_t link_count, link_room;
	struct idmap pages; /* page → its first link */
	uint64_t used;	    /* part of the budget */
	struct time_share reading;
};

#define CODE_NONE UINT32_MAX

void code_index_deinit(struct code_index *index);
/*
 * Charges memory of the caller to the budget, in units of 56 bytes. Returns
 * false if there is no room.
 */
bool code_index_take(struct code_index *index, uint64_t count);
/* Adds a function, or omits it if there is no room. */
void code_index_add(struct code_index *index, const struct code_range *range);
/*
 * The time that reading all files may take per second: while they grow, and at
 * the end.
 */
#define CODE_READING_MAX_NS (100 * NS_PER_MS)
#define CODE_LAST_READING_MAX_NS NS_PER_SECOND

/*
 * Returns whether the caller may read on in this second. Otherwise it continues
 * later.
 */
bool code_index_may_read(struct code_index *index, uint64_t now_ns, uint64_t max_ns);
void code_index_spend(struct code_index *index, uint64_t steps);
/*
 * Returns the index of the function that was at pc at that time. If there was
 * none yet, returns the first later one, because some compilers report code
 * after it already runs. Returns CODE_NONE if there is none. A search reads
 * only the last 512 functions of a page. Adds its cost to *steps, unless that
 * is NULL.
 */
uint32_t code_index_find(const struct code_index *index, uint64_t pc, uint64_t time_ns,
			 uint64_t *steps);
/*
 * Returns whether a function that overlaps these addresses has this mark. Reads
 * only the last functions of a page with many. Adds its cost to *steps.
 */
bool code_index_overlaps(const struct code_index *index, uint64_t start, uint64_t end,
			 uint64_t mark, uint64_t *steps);

#endif
