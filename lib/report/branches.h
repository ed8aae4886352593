/*
 * Sums the taken branches of a profile (profile/cpu_records.h), with one row
 * for each distinct pair of source and target.
 */
#ifndef PROF_REPORT_BRANCHES_H
#define PROF_REPORT_BRANCHES_H

#include "report/view.h"

/* A line in the innermost function at an address. */
struct branch_place {
	uint32_t label;
	uint32_t line; /* 0 if unknown */
};

struct branch_counts {
	uint64_t taken;
	uint64_t mispredicted, predicted; /* parts of `taken`; the CPU may not report them */
	uint64_t cycles;		  /* sum of the times since the previous branch */
};

struct branch_row {
	struct branch_place from, to;
	struct branch_counts counts;
};

struct branch_rows {
	struct branch_row *items; /* the most frequently taken first */
	size_t count;
	struct branch_counts all;
};

/* view: of the event CPU_BRANCHES. */
void branch_rows_init(struct branch_rows *rows, const struct view *view);
void branch_rows_deinit(struct branch_rows *rows);

/* Returns the sums of a profile, which are zero if it has no branches. */
struct branch_counts branch_counts_of(const struct profile *profile);
/*
 * Stores the share of mispredicted branches, 0 to 1. Returns false if the CPU
 * does not report it.
 */
bool branch_mispredicted(const struct branch_counts *counts, double *ret);

#endif
