/*
 * Names the frames of a profile on a thread of its own, so that prof goes on answering signals and
 * telling how far it is. Between start and finish the profile and the spaces belong to that thread.
 */
#ifndef PROF_CMD_NAMING_H
#define PROF_CMD_NAMING_H

#include "symbol/symbolizer.h"

struct naming;

/* options: without cancel and done, which are set here. */
struct naming *naming_start(struct profile *profile, struct spaces *spaces,
			    const struct symbolize_options *options);
/* Readable when all is named. Owned by naming. */
int naming_fd(const struct naming *naming);
/* Modules and units finished so far. */
unsigned naming_progress(const struct naming *naming);
/* What has no name yet keeps its address; the end then comes soon. */
void naming_cancel(struct naming *naming);
/* Waits for the end, frees naming and gives the outcome. */
void naming_finish(struct naming *naming, struct symbolize_outcome *ret);

#endif
