/*
 * Where the weight of a view goes by the user's own functions (own_code.h).
 * Each sample counts for the innermost of them in its stack, so that code of
 * libraries, runtimes and the kernel counts for the function that called it.
 */
#ifndef PROF_REPORT_OWN_SUMS_H
#define PROF_REPORT_OWN_SUMS_H

#include "report/view.h"

struct own_function {
	uint32_t label;
	uint32_t line; /* the line with the most weight; 0 if unknown */
	struct sum sum;
};

/* The user's own functions of a stack, from the root. The first path is empty. */
struct own_path {
	uint32_t parent; /* precedes it in the array */
	uint32_t label;	 /* of the innermost function */
	struct sum sum;	 /* of the stacks with exactly these functions */
};

struct own_sums {
	struct own_function *functions; /* the heaviest first */
	uint32_t count;
	struct own_path *paths;
	uint32_t path_count;
	/*
	 * Indexes of the paths with weight, the heaviest first, without the
	 * empty one.
	 */
	uint32_t *hottest;
	uint32_t hottest_count;
	struct sum all;
	/*
	 * Whether no function of the view is the user's own. Then all functions
	 * that are code count as such.
	 */
	bool is_of_all_code;
};

void own_sums_init(struct own_sums *sums, const struct view *view);
void own_sums_deinit(struct own_sums *sums);

#endif
