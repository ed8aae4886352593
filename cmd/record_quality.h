/*
 * What prof record says of the quality of a recording.
 */
#ifndef PROF_CMD_RECORD_QUALITY_H
#define PROF_CMD_RECORD_QUALITY_H

#include "cmd/fail_condition.h"
#include "cmd/recording.h"
#include "record/finalize.h"

/* Whether a condition of --fail-if is met. Such a condition is an error: it is printed with
 * --quiet, too. */
bool record_is_poor(const struct fail_conditions *conditions, const struct quality *quality);

/* What was not sampled, and what would sample it; NULL: it is chance. */
const char *record_unsampled_hint(const struct recording *recording,
				  const struct profile_quality *counts);

#endif
