/*
 * A report: the rows and trees that prof report shows, and the ways to print them.
 */
#ifndef PROF_CMD_REPORT_H
#define PROF_CMD_REPORT_H

#include "cmd/report_branches.h"
#include "cmd/report_leaks.h"
#include "cmd/report_options.h"
#include "cmd/ui/table.h"
#include "report/blocked_tasks.h"
#include "report/ipc.h"
#include "report/latency_sums.h"
#include "report/pruned_tree.h"

struct report {
	const struct report_options *options;
	const char *path;
	const struct input *input;
	const struct profile *profile;
	struct view view;
	uint64_t min_weight;	  /* of a row of the table … */
	uint64_t min_tree_weight; /* … and of a call, … */
	double min_tree_percent;  /* … also in percent */
	struct row_by by;	  /* functions if callers or callees are shown */
	struct rows rows;
	struct pruned_tree calls; /* unless callers or callees are shown */
	struct pruned_tree callers, callees;
	/* Of tasks: */
	bool has_polls;	  /* of the whole profile, which is what is shown */
	bool has_waiting; /* and so the next: */
	struct blocked_tasks blocked;
	struct leaks leaks;	     /* of --leaks */
	struct branch_rows branches; /* of --branches, and there is nothing else then */
	struct ipc ipc;		     /* of cycles or instructions */
	struct latency_sums latency; /* of measured calls */
	bool *chosen; /* the functions whose callers or callees are shown, by label */
};

/* How often samples show that a task was polled; 0: never. */
uint64_t report_polls(const struct report *report, const char *task);

/* Which rows of --branches to show. */
struct branches_shown report_branches_shown(const struct report *report);

/* The table of the hottest rows, and a tree of calls. */
void report_table(const struct report *report, const struct table_writer *writer);
void report_tree(const struct report *report, const struct table_writer *writer,
		 const struct pruned_tree *pruned, const char *heading);

/* Which tasks block their executor, a line each. */
void report_blocked_tasks(const struct report *report, const struct table_writer *writer);

/* How long measured calls took, if the event is of calls. */
void report_latency(const struct report *report, const struct table_writer *writer);

/* prof-report(1) describes the schema. */
void report_json(const struct report *report, FILE *out);

#endif
