/*
 * Extracts a part of a profile: some of its samples, and everything that they
 * refer to. A part has all events, in the same order, and the info of the
 * profile.
 */
#ifndef PROF_PROFILE_PART_H
#define PROF_PROFILE_PART_H

#include "profile/profile.h"

/* Returns the samples from first to end - 1, with their times. Such parts add up
 * to the profile. */
struct profile *profile_part(const struct profile *profile, uint64_t first, uint64_t end);
/* Returns the samples with a flag, and all markers. */
struct profile *profile_flagged_part(const struct profile *profile, const bool *keeps);

#endif
