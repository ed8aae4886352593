/*
 * Implements prof report --branches: taken branches with source, target, count,
 * mispredictions, and the cycles since the branch before.
 */
#ifndef PROF_CMD_REPORT_REPORT_BRANCHES_H
#define PROF_CMD_REPORT_REPORT_BRANCHES_H

#include "base/json.h"
#include "cmd/ui/table.h"
#include "report/branches.h"

/* Fails if the profile has no branches. The hint is the command that records
 * them. */
MUST_CHECK struct error *report_branches_check(const struct profile *profile, const char *path);

/* Which rows to show. */
struct branches_shown {
	uint64_t limit, least_taken;
};

void report_branches_text(const struct branch_rows *rows, struct branches_shown shown,
			  const struct table_writer *writer);
/* Adds the members from "taken" to "branches". view: the view of the rows. */
void report_branches_json(const struct branch_rows *rows, struct branches_shown shown,
			  const struct view *view, struct json *json);

#endif
