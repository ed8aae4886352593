/* Prints what prof record would record (--dry-run). */
#ifndef PROF_CMD_RECORD_RECORD_PLAN_H
#define PROF_CMD_RECORD_RECORD_PLAN_H

#include "cmd/outputs.h"
#include "cmd/record/recording.h"

/* Prints events, target and outputs of a recording that is open. */
void record_say_plan(const struct recording *recording, const struct outputs *outputs);

#endif
