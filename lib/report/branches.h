/*
 * The taken branches of a profile (profile/cpu_records.h), each distinct (place, place) once.
 */
#ifndef PROF_REPORT_BRANCHES_H
#define PROF_REPORT_BRANCHES_H

#include "report/view.h"

/* A line in the innermost function at an address. */
struct branch_place {
	uint32_t label;
	uint32_t line; /* 0: unknown */
};

struct branch_counts {
	uint64_t taken;
	uint64_t mispredicted, predicted; /* of those; the CPU need not say */
	uint64_t cycles;		  /* sum of the times since the branches before */
};

struct branch_row {
	struct branch_place from, to;
	struct branch_counts counts;
};

struct branch_rows {
	struct branch_row *items; /* the most taken first */
	size_t count;
	struct branch_counts all;
};

/* view: of the event CPU_BRANCHES. */
void branch_rows_init(struct branch_rows *rows, const struct view *view);
void branch_rows_deinit(struct branch_rows *rows);

/* All of a profile; zeros: it has none. */
struct branch_counts branch_counts_of(const struct profile *profile);
/* "12 % mispredicted" as a share between 0 and 1. False: the CPU does not say. */
bool branch_mispredicted(const struct branch_counts *counts, double *ret);

#endif
