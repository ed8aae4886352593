/*
 * The recent past of a profile that goes on growing, as a profile of its own: what has been counted
 * lately, and what was counted before with the less weight the longer it is past. What has faded
 * away is forgotten, so its size is bounded by what is sampled within a few half-lives.
 */
#ifndef PROF_REPORT_WINDOW_H
#define PROF_REPORT_WINDOW_H

#include "base/cleanup.h"
#include "profile/profile.h"

/* Counts fade by fractions: a sample or a unit of weight of the growing profile is so much of the
 * window's. */
#define WINDOW_SCALE 1024

struct window;

struct window *window_new(uint64_t half_life_ns);
void window_free(struct window *window);
DEFINE_CLEANUP(window, window_free)

/*
 * What the window holds fades by so much time; then what `profile` has counted since the last call
 * is added. Its frames are to be named by now: a name that comes later is not seen.
 */
void window_advance(struct window *window, const struct profile *profile, uint64_t passed_ns);
/* The next profile is another one, which has counted from nothing on. What the window holds stays.
 */
void window_start_over(struct window *window);
/* Forgets what it holds. */
void window_clear(struct window *window);

/* Borrowed until the next change. */
const struct profile *window_profile(const struct window *window);

#endif
