/*
 * Sums of a function's samples per source line and per instruction address.
 */
#ifndef PROF_REPORT_FUNCTION_SUMS_H
#define PROF_REPORT_FUNCTION_SUMS_H

#include "report/tally.h"

struct line_sum {
	string_id file; /* "" if unknown */
	uint32_t line;	/* 0 if unknown */
	struct tally sum;
};

struct address_sum {
	uint32_t module; /* see struct label */
	uint64_t vaddr;	 /* of the instruction; for a call, one before its end */
	frame_id frame;	 /* a frame at this address */
	struct tally sum;
};

struct function_sums {
	struct tally all;	/* all chosen functions together */
	struct line_sum *lines; /* by file and line */
	uint32_t line_count, line_room;
	struct address_sum *addresses; /* by module and vaddr */
	uint32_t address_count, address_room;
};

/*
 * Computes the sums of the functions in `chosen` (by label), which usually are
 * instantiations of one source. Lines include those where a function is
 * inlined. A line's total includes the calls in it. Addresses are those of the
 * functions' own code, including code inlined into it.
 */
void function_sums_init(struct function_sums *sums, const struct view *view, const bool *chosen);
void function_sums_deinit(struct function_sums *sums);

#endif
