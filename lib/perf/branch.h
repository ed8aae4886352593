/*
 * Decodes the branch stack of a sample (Intel LBR, AMD BRS and LBR, Arm BRBE)
 * and parses branch filters.
 *
 * Source: struct perf_branch_entry and enum perf_branch_sample_type of
 * perf_event_open(2); perf-record(1), --branch-filter.
 */
#ifndef PROF_PERF_BRANCH_H
#define PROF_PERF_BRANCH_H

#include "base/bytes.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct branch {
	/* Addresses of the branch instruction and of its target. */
	uint64_t from, to;
	/* Both false: the CPU does not report it. */
	bool is_mispredicted, is_predicted;
	bool is_in_transaction, is_abort;
	unsigned cycles; /* cycles since the previous branch, 0 if unknown */
	unsigned type;	 /* see branch_type_name() */
};

/* Size of one entry in record_sample.branches. */
enum { BRANCH_BYTES = 24 };

/* Takes the next entry; the newest branch comes first. Returns false at the
 * end. */
bool branch_next(struct bytes *branches, struct branch *ret);

/* Returns perf's name of the branch type ("COND", "CALL", "RET"), or NULL if
 * the type is unknown. */
const char *branch_type_name(unsigned type);

/* Parses a comma-separated list of perf's branch filters ("any,u", "any_call",
 * "ind_call,save_type") into PERF_SAMPLE_BRANCH_*. A list without a branch type
 * selects all branches. */
MUST_CHECK struct error *branch_filter_parse(const char *list, uint64_t *ret);

/* All branches; the call stack of user space. */
extern const uint64_t branch_filter_any, branch_filter_call_stack;

#endif
