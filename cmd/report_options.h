/*
 * The options of prof report, including those of perf report that scripts use.
 */
#ifndef PROF_CMD_REPORT_OPTIONS_H
#define PROF_CMD_REPORT_OPTIONS_H

#include "cmd/input.h"
#include "cmd/names_option.h"
#include "cmd/selection.h"
#include "cmd/ui/pager.h"
#include "report/rows.h"

struct report_order {
	struct row_by row;
	enum row_order order;
	bool has_order; /* the user has chosen it */
};

struct report_options {
	struct input_options input;
	struct pager_options pager;
	const char *path;
	const char *callers, *callees; /* the functions whose are shown; NULL: none */
	struct selection_options selection;
	struct names_option names;
	struct report_order by;
	double min_percent;
	bool has_min;
	uint64_t limit; /* of rows; 0: default */
	bool leaks;	/* show what is in use at the end */
	bool branches;	/* show taken branches */
	bool json;
	bool no_tree, no_fold;
	bool shows_samples;
	struct option_list ignored; /* options that have no effect */
	struct option_list joined;  /* words that other members point into */
};

extern const struct option_entry report_option_table[];

/* The result must be deinitialized even after an error. *help: the user asked for help. */
MUST_CHECK struct error *report_options_parse(struct report_options *options, int argc, char **argv,
					      bool *help);
void report_options_help(void);
void report_options_deinit(struct report_options *options);

#endif
