/*
 * The branches that a CPU has recorded before a sample (Intel's LBR, AMD's BRS and LBR, Arm's
 * BRBE): the entries of record_sample.branches, and what a user asks to be recorded.
 *
 * Source: struct perf_branch_entry and enum perf_branch_sample_type of perf_event_open(2);
 * perf-record(1), --branch-filter.
 */
#ifndef PROF_PERF_BRANCH_H
#define PROF_PERF_BRANCH_H

#include "base/bytes.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct branch {
	uint64_t from, to; /* addresses of the branch and of the instruction after it */
	/* Neither: the CPU does not say. */
	bool is_mispredicted, is_predicted;
	bool is_in_transaction, is_abort;
	unsigned cycles; /* since the branch before it; 0: unknown */
	unsigned type;	 /* branch_type_name() */
};

/* An entry in a sample. */
enum { BRANCH_BYTES = 24 };

/* Takes the next entry; the newest is the first one. False at the end. */
bool branch_next(struct bytes *branches, struct branch *ret);

/* The kind of branch, as perf calls it: "COND", "CALL", "RET"; NULL: unknown. */
const char *branch_type_name(unsigned type);

/* PERF_SAMPLE_BRANCH_* of a list of perf's words: "any,u", "any_call", "ind_call,save_type". With
 * none of them that chooses branches, all are. */
MUST_CHECK struct error *branch_filter_parse(const char *list, uint64_t *ret);

/* Every branch; the calls of user space that have not returned. */
extern const uint64_t branch_filter_any, branch_filter_call_stack;

#endif
