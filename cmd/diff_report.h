/*
 * The report of prof diff, as text and as JSON: a verdict, and the functions and stacks that have
 * changed.
 */
#ifndef PROF_CMD_DIFF_REPORT_H
#define PROF_CMD_DIFF_REPORT_H

#include "cmd/ui/options.h"
#include "cmd/ui/pager.h"
#include "report/diff.h"

struct diff_report {
	const struct diff *diff;
	const struct comparison_options *options;
	const struct option_list *old, *new; /* names of files */
	const char *event;
	const char *quantity; /* what is compared: "CPU time", "samples" … */
	enum value_kind kind; /* … of this kind and unit */
	const char *unit;
	bool is_guess;	   /* some file does not tell how many samples it has */
	const char *label; /* rows are the values of this label; NULL: functions */
	uint64_t rows;	   /* limit of functions and of stacks */
};

void diff_print(const struct diff_report *report, const struct pager *pager);

/* One object and a line end; prof-diff(1) describes the schema. */
void diff_print_json(const struct diff_report *report, FILE *out);

/* "slower", "faster", "more", "less", "changed", "no significant change", "no samples". */
const char *diff_verdict_word(const struct diff_report *report);
/* The verdict with its margin; to be freed. */
char *diff_verdict_line(const struct diff_report *report);

#endif
