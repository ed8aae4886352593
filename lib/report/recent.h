/*
 * The recent past of a profile that goes on growing, as a profile of its own: what has been counted
 * lately, and what was counted before with the less weight the longer it is past. What has faded
 * away is forgotten, so its size is bounded by what is sampled within a few half-lives.
 */
#ifndef PROF_REPORT_RECENT_H
#define PROF_REPORT_RECENT_H

#include "base/cleanup.h"
#include "profile/profile.h"

/* Counts fade by fractions: a sample or a unit of weight of the growing profile is so much of the
 * recent one's. */
#define RECENT_SCALE 1024

struct recent;

struct recent *recent_new(uint64_t half_life_ns);
void recent_free(struct recent *recent);
DEFINE_CLEANUP(recent, recent_free)

/*
 * What is held fades by so much time; then what `profile` has counted since the last call
 * is added. Its frames are to be named by now: a name that comes later is not seen.
 */
void recent_advance(struct recent *recent, const struct profile *profile, uint64_t passed_ns);
/* What `profile` has counted since the last call is passed over, and nothing fades. */
void recent_skip(struct recent *recent, const struct profile *profile);
/* The next profile is another one, which has counted from nothing on. What is held stays. */
void recent_start_over(struct recent *recent);
/* Forgets what it holds. */
void recent_clear(struct recent *recent);

/* Borrowed until the next change. */
const struct profile *recent_profile(const struct recent *recent);

#endif
