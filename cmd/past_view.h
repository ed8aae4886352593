/*
 * A time of a continuous recording (segment_range.h) as a profile, and the times before and after
 * it: what prof top --at shows.
 */
#ifndef PROF_CMD_PAST_VIEW_H
#define PROF_CMD_PAST_VIEW_H

#include "cmd/time_expression.h"
#include "profile/profile.h"

struct past {
	const char *directory; /* borrowed */
	struct time_range range;
	struct profile *profile;
	struct profile *former; /* views may borrow it until they are updated */
};

/*
 * text: a time, of which the minute is shown that it is in; a day; or a range, such as
 * 14:05..14:10. Fails if nothing was recorded then.
 */
MUST_CHECK struct error *past_open(struct past *past, const char *directory, const char *text);
/* A zeroed one has nothing to free. */
void past_close(struct past *past);

/*
 * Goes to the time of the same length after (direction 1) or before (-1); if nothing was recorded
 * then, on to where something was. Fails if there is nothing more, and stays then.
 */
MUST_CHECK struct error *past_step(struct past *past, int direction);

/* "2026-11-24 14:05:00 to 14:06:00", local. To be freed. */
char *past_words(const struct past *past);

#endif
