/*
 * Shows a time of a continuous recording (segments/range.h) as a profile, and
 * steps to the times before and after it, for prof top --at.
 */
#ifndef PROF_CMD_TOP_PAST_VIEW_H
#define PROF_CMD_TOP_PAST_VIEW_H

#include "profile/profile.h"
#include "segments/time_expression.h"

struct past {
	const char *directory; /* borrowed */
	struct time_range range;
	struct profile *profile;
	struct profile *former; /* views may borrow it until they are updated */
};

/*
 * text is a time, which shows its whole minute; a day; or a range such as
 * 14:05..14:10. Fails if nothing was recorded then.
 */
MUST_CHECK struct error *past_open(struct past *past, const char *directory, const char *text);
/* A zeroed one has nothing to free. */
void past_close(struct past *past);

/*
 * Goes to the following (direction 1) or preceding (-1) time of the same
 * length. If nothing was recorded then, goes on to the nearest time that was
 * recorded. Fails and stays if there is none.
 */
MUST_CHECK struct error *past_step(struct past *past, int direction);

/* Returns "2026-11-24 14:05:00 to 14:06:00", in local time. The caller frees
 * it. */
char *past_words(const struct past *past);

#endif
