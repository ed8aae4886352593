/* What prof record would record (--dry-run), and whether it can as strictly as asked. */
#ifndef PROF_CMD_RECORD_PLAN_H
#define PROF_CMD_RECORD_PLAN_H

#include "cmd/outputs.h"
#include "cmd/recording.h"
#include "cmd/sampling_options.h"

/* Fails if the rate is above the kernel's limit. */
MUST_CHECK struct error *record_check_rate(const struct sampling_options *options);
/* Prints events, target and outputs of a recording that is open. */
void record_say_plan(const struct recording *recording, const struct outputs *outputs);

#endif
