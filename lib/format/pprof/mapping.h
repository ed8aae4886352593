/*
 * Chooses the mappings of a pprof profile and the mapping of each frame: one
 * for each executable segment with frames, and one per module for frames
 * outside its segments (all frames of the kernel, which has no segments). The
 * segments of the main program come first, even without frames, because readers
 * expect the main program in the first mapping.
 */
#ifndef PROF_FORMAT_PPROF_MAPPING_H
#define PROF_FORMAT_PPROF_MAPPING_H

#include "profile/profile.h"

/*
 * Whole pages, like the kernel maps them. Addresses are those in the ELF file,
 * because the profile has no others.
 */
struct pprof_mapping {
	uint32_t id; /* starts at 1; 0 means not in the profile */
	uint32_t module;
	uint64_t start, limit, offset;
	bool is_used;
	/* True if at least one frame has it. */
	bool has_functions, has_filenames, has_line_numbers, has_inline_frames;
};

struct pprof_mappings {
	struct pprof_mapping *places; /* by module: its segments, then the rest */
	uint32_t *first_place;	      /* by module */
	uint32_t *in_order;	      /* indices of places, by id - 1 */
	uint32_t count;		      /* number of mappings written */
};

void pprof_mappings_init(struct pprof_mappings *mappings, const struct profile *profile);
void pprof_mappings_deinit(struct pprof_mappings *mappings);

/*
 * Returns NULL for frames that belong to no file: PROFILE_NOTES,
 * PROFILE_MODULE_NONE.
 */
const struct pprof_mapping *pprof_mapping_of(const struct pprof_mappings *mappings,
					     const struct profile *profile, frame_id frame);
/*
 * Returns the frame's address in its mapping. For a caller's frame it is that
 * of the call.
 */
uint64_t pprof_address(const struct profile *profile, frame_id frame);

#endif
