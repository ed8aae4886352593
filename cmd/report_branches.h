/*
 * prof report --branches: taken branches, from where to where, how often, how many of them were
 * mispredicted, and the cycles since the branch before.
 */
#ifndef PROF_CMD_REPORT_BRANCHES_H
#define PROF_CMD_REPORT_BRANCHES_H

#include "base/json.h"
#include "cmd/ui/table.h"
#include "report/branches.h"

/* Fails if the profile has no branches; the hint says how to record them. */
MUST_CHECK struct error *report_branches_check(const struct profile *profile, const char *path);

/* Which rows are shown. */
struct branches_shown {
	uint64_t limit, least_taken;
};

void report_branches_text(const struct branch_rows *rows, struct branches_shown shown,
			  const struct table_writer *writer);
/* The members "taken", …, "branches". view: that of the rows. */
void report_branches_json(const struct branch_rows *rows, struct branches_shown shown,
			  const struct view *view, struct json *json);

#endif
