/*
 * The recent past of a growing profile, as a profile of its own: older samples decay exponentially.
 * Samples that have decayed are removed, so its size is bounded by what is sampled within a few
 * half-lives.
 */
#ifndef PROF_REPORT_RECENT_H
#define PROF_REPORT_RECENT_H

#include "base/cleanup.h"
#include "profile/profile.h"

/* One sample or unit of weight of the growing profile is this many in the recent one, so that
 * counts decay in small steps. */
#define RECENT_SCALE 1024

struct recent;

struct recent *recent_new(uint64_t half_life_ns);
void recent_free(struct recent *recent);
DEFINE_CLEANUP(recent, recent_free)

/*
 * Lets the recent samples decay by the time that has passed, then adds what `profile` has counted
 * since the last call. Its frames must be symbolized: later names are not seen.
 */
void recent_advance(struct recent *recent, const struct profile *profile, uint64_t passed_ns);
/* Ignores what `profile` has counted since the last call; nothing decays. */
void recent_skip(struct recent *recent, const struct profile *profile);
/* The next calls pass a new profile that has counted from zero. The recent samples stay. */
void recent_start_over(struct recent *recent);
/* Removes all samples. */
void recent_clear(struct recent *recent);

/* Borrowed until the next change. */
const struct profile *recent_profile(const struct recent *recent);

#endif
