/*
 * Where in a function the samples are: sums per source line and per instruction address.
 */
#ifndef PROF_REPORT_FUNCTION_SUMS_H
#define PROF_REPORT_FUNCTION_SUMS_H

#include "report/tally.h"

struct line_sum {
	string_id file; /* "": unknown */
	uint32_t line;	/* 0: unknown */
	struct tally sum;
};

struct address_sum {
	uint32_t module; /* as in struct label */
	uint64_t vaddr;	 /* of the instruction; of a call: one before its end */
	frame_id frame;	 /* a frame at this address */
	struct tally sum;
};

struct function_sums {
	struct tally all;	/* of all chosen functions together */
	struct line_sum *lines; /* by file and line */
	uint32_t line_count, line_room;
	struct address_sum *addresses; /* by module and vaddr */
	uint32_t address_count, address_room;
};

/*
 * The sums of the functions that are chosen (by label): usually instances of one source. The lines
 * include those where a function is inlined; a line's total includes the calls that it makes. The
 * addresses are those of the functions' own code, including what is inlined into it.
 */
void function_sums_init(struct function_sums *sums, const struct view *view, const bool *chosen);
void function_sums_deinit(struct function_sums *sums);

#endif
