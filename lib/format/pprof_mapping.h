/*
 * Which mappings a pprof profile has, and in which of them each frame is: one for each executable
 * segment that holds frames, and one a module for frames outside of its segments (of the kernel,
 * which has none, all of them). The segments of the main program come first, used or not: readers
 * take the first mapping for the program.
 */
#ifndef PROF_FORMAT_PPROF_MAPPING_H
#define PROF_FORMAT_PPROF_MAPPING_H

#include "profile/profile.h"

/* Whole pages, as the kernel maps them. Addresses are the file's own: the profile keeps no others.
 */
struct pprof_mapping {
	uint32_t id; /* from 1; 0: not in the profile */
	uint32_t module;
	uint64_t start, limit, offset;
	bool is_used;
	/* True of at least one frame. */
	bool has_functions, has_filenames, has_line_numbers, has_inline_frames;
};

struct pprof_mappings {
	struct pprof_mapping *places; /* by module, its segments and then what is outside */
	uint32_t *first_place;	      /* by module */
	uint32_t *in_order;	      /* places, by id - 1 */
	uint32_t count;		      /* in the profile */
};

void pprof_mappings_init(struct pprof_mappings *mappings, const struct profile *profile);
void pprof_mappings_deinit(struct pprof_mappings *mappings);

/* NULL for what is in no file: PROFILE_NOTES, PROFILE_MODULE_NONE. */
const struct pprof_mapping *pprof_mapping_of(const struct pprof_mappings *mappings,
					     const struct profile *profile, frame_id frame);
/* Within the frame's mapping. Of a caller, the address of the call. */
uint64_t pprof_address(const struct profile *profile, frame_id frame);

#endif
