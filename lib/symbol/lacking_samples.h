/*
 * How many samples of a profile lack something: for each of several groups of frames, the samples
 * whose stack has a frame of the group.
 */
#ifndef PROF_SYMBOL_LACKING_SAMPLES_H
#define PROF_SYMBOL_LACKING_SAMPLES_H

#include "profile/profile.h"

#define LACKING_NOTHING UINT32_MAX

/*
 * group_of[frame], below `groups` or LACKING_NOTHING, for the first `frames` frames of the profile;
 * later ones lack nothing. A sample counts once per group, however many frames of it are in its
 * stack. samples: by group. Returns the number of all samples. Goes over the stacks once for each
 * 64 groups.
 */
uint64_t lacking_samples(const struct profile *profile, const uint32_t *group_of, frame_id frames,
			 uint32_t groups, uint64_t *samples);

#endif
