/*
 * Judges the quality of a recording for prof record.
 */
#ifndef PROF_CMD_RECORD_RECORD_QUALITY_H
#define PROF_CMD_RECORD_RECORD_QUALITY_H

#include "cmd/options/fail_condition.h"
#include "cmd/record/recording.h"
#include "record/finalize.h"

/* Returns true if a condition of --fail-if holds. This is an error, so it is
 * printed with --quiet, too. */
bool record_is_poor(const struct fail_conditions *conditions, const struct quality *quality);

/* Returns what was not sampled and what would sample it, or NULL if only chance
 * is the reason. */
const char *record_unsampled_hint(const struct recording *recording,
				  const struct profile_quality *counts);

#endif
