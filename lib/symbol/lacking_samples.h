/*
 * Counts the samples of a profile that lack symbols. For each of several groups
 * of frames, it counts the samples whose stack contains a frame of the group.
 */
#ifndef PROF_SYMBOL_LACKING_SAMPLES_H
#define PROF_SYMBOL_LACKING_SAMPLES_H

#include "profile/profile.h"

#define LACKING_NOTHING UINT32_MAX

/*
 * Counts samples by group. group_of[frame] is below `groups`, or
 * LACKING_NOTHING, for the first `frames` frames of the profile; later frames
 * lack nothing. A sample counts once per group, even if its stack contains
 * several frames of it. Returns the number of all samples. Traverses the stacks
 * once per 64 groups.
 */
uint64_t lacking_samples(const struct profile *profile, const uint32_t *group_of, frame_id frames,
			 uint32_t groups, uint64_t *samples);

#endif
