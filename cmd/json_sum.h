/*
 * Writes samples and weights in JSON reports.
 */
#ifndef PROF_CMD_JSON_SUM_H
#define PROF_CMD_JSON_SUM_H

#include "base/json.h"
#include "report/sum.h"

/* Adds a member {"samples": …, "weight": …}, without samples if their number is
 * not known (profile_counts_samples()). */
void json_put_sum(struct json *json, const char *key, struct sum sum, bool counts_samples);

#endif
