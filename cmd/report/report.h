/*
 * Prints a report: the rows and trees of prof report.
 */
#ifndef PROF_CMD_REPORT_REPORT_H
#define PROF_CMD_REPORT_REPORT_H

#include "cmd/report/report_branches.h"
#include "cmd/report/report_leaks.h"
#include "cmd/report/report_options.h"
#include "cmd/ui/table.h"
#include "report/blocked_tasks.h"
#include "report/event_rows.h"
#include "report/ipc.h"
#include "report/latency_sums.h"
#include "report/logical.h"
#include "report/pruned_tree.h"

struct report {
	const struct report_options *options;
	const char *path;
	const struct input *input;
	const struct profile *profile;
	struct glue_share folded; /* zeroed unless the view is logical by default */
	struct view view;
	uint64_t min_weight;	  /* of a row of the table */
	uint64_t min_tree_weight; /* of a node of the call tree */
	double min_tree_percent;  /* the same in percent */
	struct row_by by;	  /* functions if callers or callees are shown */
	struct rows rows;
	struct pruned_tree calls; /* unless callers or callees are shown */
	bool opens_hot_path;	  /* and omits more of the other calls */
	struct pruned_tree callers, callees;
	/* Tasks: */
	bool has_polls;	  /* in the whole profile, which is shown */
	bool has_waiting; /* `blocked` is valid */
	struct blocked_tasks blocked;
	struct leaks leaks;	     /* with --leaks */
	struct branch_rows branches; /* with --branches, which shows nothing else */
	struct ipc ipc;		     /* if the event is cycles or instructions */
	struct event_rows elapsed;   /* if the event is CPU time */
	struct latency_sums latency; /* of the calls that --calls measures */
	bool *chosen; /* by label: the functions whose callers or callees are shown */
};

/* The minimum share of a call that is not on the hot path, without --min. */
enum { REPORT_BRANCH_PERCENT = 5 };

/* Returns how many samples show a poll of the task. */
uint64_t report_polls(const struct report *report, const char *task);

/* Returns which rows of --branches to show. */
struct branches_shown report_branches_shown(const struct report *report);

/* Prints the table of the hottest rows, and a tree of calls. */
void report_table(const struct report *report, const struct table_writer *writer);
void report_tree(const struct report *report, const struct table_writer *writer,
		 const struct pruned_tree *pruned, const char *heading);

/* Prints the tasks that block their executor, one per line. */
void report_blocked_tasks(const struct report *report, const struct table_writer *writer);

/* Prints how long measured calls took, if the event consists of calls. */
void report_latency(const struct report *report, const struct table_writer *writer);

/* prof-report(1) describes the schema. */
void report_json(const struct report *report, FILE *out);

#endif
