/*
 * The options of prof report, including the options of perf report that scripts
 * use.
 */
#ifndef PROF_CMD_REPORT_REPORT_OPTIONS_H
#define PROF_CMD_REPORT_REPORT_OPTIONS_H

#include "cmd/input/input.h"
#include "cmd/options/names_option.h"
#include "cmd/options/selection.h"
#include "cmd/ui/pager.h"
#include "format/summary/options.h"
#include "report/rows.h"

struct report_order {
	struct row_by row;
	enum row_order order;
	bool has_order; /* chosen by the user */
};

struct report_options {
	struct input_options input;
	struct pager_options pager;
	const char *path;
	/* functions whose callers or callees are shown; or NULL */
	const char *callers, *callees;
	struct selection_options selection;
	struct names_option names;
	struct report_order by;
	double min_percent;
	bool has_min;
	uint64_t limit; /* number of rows; 0 for the default */
	bool leaks;	/* show what was in use at the end */
	bool branches;	/* show taken branches */
	bool json;
	bool summary;		/* print a summary instead */
	uint64_t summary_lines; /* its maximum; 0 for the default */
	bool shows_idle;
	bool no_tree, no_fold;
	bool shows_samples;
	struct option_list ignored; /* options that have no effect */
	struct option_list joined;  /* words that other members point into */
};

extern const struct option_entry report_option_table[];

/* Deinitialize *options even after an error. *help: the user asked for help. */
MUST_CHECK struct error *report_options_parse(struct report_options *options, int argc, char **argv,
					      enum option_group *help);
void report_options_deinit(struct report_options *options);

#endif
