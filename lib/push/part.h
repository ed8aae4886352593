/*
 * A part of a profile, for servers that do not take all of it at once: some of its samples, and of
 * the rest of it what they refer to. Parts add up to the profile.
 */
#ifndef PROF_PUSH_PART_H
#define PROF_PUSH_PART_H

#include "profile/profile.h"

/* The samples from first to end - 1, with their times. Each part has all events, in the same order,
 * and the info of the profile. */
struct profile *push_part(const struct profile *profile, uint64_t first, uint64_t end);

#endif
