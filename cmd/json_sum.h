/*
 * Samples and weight in the JSON of reports: a member of that key, {"samples":…,"weight":…}.
 */
#ifndef PROF_CMD_JSON_SUM_H
#define PROF_CMD_JSON_SUM_H

#include "base/json.h"
#include "report/sum.h"

void json_put_sum(struct json *json, const char *key, struct sum sum);

#endif
