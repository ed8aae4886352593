/*
 * Where in a function the samples are: by line of its source, and by address of its code.
 */
#ifndef PROF_REPORT_LISTING_H
#define PROF_REPORT_LISTING_H

#include "report/tally.h"

struct listing_line {
	string_id file; /* "" when unknown */
	uint32_t line;	/* 0 when unknown */
	struct tally sum;
};

struct listing_address {
	uint32_t module; /* first of its path, as labels have it */
	uint64_t vaddr;	 /* of the instruction; of a call one before its end */
	frame_id frame;	 /* there */
	struct tally sum;
};

struct listing {
	struct tally all;	    /* of the functions together */
	struct listing_line *lines; /* by file and line */
	uint32_t line_count, line_room;
	struct listing_address *addresses; /* by module and vaddr */
	uint32_t address_count, address_room;
};

/*
 * Of functions, by label: instances of one source, most often. Lines: wherever they are, inlined
 * too; a call is a part of its line's total. Addresses: of their own code, which holds what is
 * inlined into it.
 */
void listing_init(struct listing *listing, const struct view *view, const bool *chosen);
void listing_deinit(struct listing *listing);

#endif
