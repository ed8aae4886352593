/*
 * The recent past of a growing profile, as a profile of its own. Older samples
 * decay exponentially. Samples that have decayed are removed, so the size is
 * bounded by the samples of a few half-lives.
 */
#ifndef PROF_REPORT_RECENT_H
#define PROF_REPORT_RECENT_H

#include "base/cleanup.h"
#include "profile/profile.h"

/*
 * The factor between counts of the growing profile and of the recent one, so
 * that counts decay in small steps.
 */
#define RECENT_SCALE 1024

struct recent;

struct recent *recent_new(uint64_t half_life_ns);
void recent_free(struct recent *recent);
DEFINE_CLEANUP(recent, recent_free)

/*
 * Lets the recent samples decay by the time that has passed. Then adds what
 * `profile` has counted since the last call. Its frames must be symbolized,
 * because names that become known later are ignored.
 */
void recent_advance(struct recent *recent, const struct profile *profile, uint64_t passed_ns);
/* Ignores what `profile` has counted since the last call. Nothing decays. */
void recent_skip(struct recent *recent, const struct profile *profile);
/*
 * Prepares for a new profile that counts from zero in the next calls. The
 * recent samples stay.
 */
void recent_start_over(struct recent *recent);
/* Removes all samples. */
void recent_clear(struct recent *recent);

/* Returns the recent profile, borrowed until the next change. */
const struct profile *recent_profile(const struct recent *recent);

#endif
