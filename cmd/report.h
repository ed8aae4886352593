/*
 * prof report: what is asked for, what was found, and the ways to tell it.
 */
#ifndef PROF_CMD_REPORT_H
#define PROF_CMD_REPORT_H

#include "cmd/input.h"
#include "cmd/pen.h"
#include "report/outline.h"
#include "report/top.h"

struct report_order {
	enum top_key key;
	enum top_order order;
};

struct report_options {
	struct input_options input;
	struct screen_options screen;
	const char *path;
	const char *callers, *callees; /* of which functions; NULL: not asked */
	struct selection_options selection;
	struct report_order by;
	double min_percent;
	bool has_min;
	uint64_t limit; /* of rows; 0: not said */
	bool json;
	bool no_tree, no_fold;
	bool shows_samples;
	struct option_list passed_over;
};

struct report {
	const struct report_options *options;
	const char *path;
	const struct input *input;
	const struct profile *profile;
	struct view view;
	uint64_t min_weight;	  /* of a row of the table … */
	uint64_t min_tree_weight; /* … and of a call */
	struct top top;
	struct outline calls;		 /* unless callers or callees are asked for */
	struct outline callers, callees; /* where they are */
	bool *chosen;			 /* the functions whose they are, by label */
};

/* The least share of a call that is told, in percent. */
double report_tree_percent(const struct report_options *options);

/* The table of the hottest, and a tree of calls. */
void report_table(const struct report *report, const struct pen *pen);
void report_tree(const struct report *report, const struct pen *pen, const struct outline *outline,
		 const char *heading);

/* The schema is in prof-report(1). */
void report_json(const struct report *report, FILE *out);

#endif
