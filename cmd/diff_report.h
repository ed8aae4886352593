/*
 * What `prof diff` says: a verdict, the functions and stacks that have changed; as text for people,
 * as JSON for programs.
 */
#ifndef PROF_CMD_DIFF_REPORT_H
#define PROF_CMD_DIFF_REPORT_H

#include "cmd/options.h"
#include "cmd/screen.h"
#include "report/diff.h"

struct diff_report {
	const struct diff *diff;
	const struct comparison_options *options;
	const struct option_list *old, *new; /* names of files */
	const char *event;
	const char *quantity; /* what its weights are: "CPU time" */
	bool counts_ns;	      /* they are nanoseconds */
	bool is_guess;	      /* some file does not tell how many samples it has */
	uint64_t rows;	      /* so many functions and stacks at most */
};

void diff_print(const struct diff_report *report, const struct screen *screen);

/* One object and a line end; the manual describes it. */
void diff_print_json(const struct diff_report *report, FILE *out);

/* "slower", "faster", "more", "less", "changed", "no significant change", "no samples". */
const char *diff_verdict_word(const struct diff_report *report);
/* The verdict with its margin, for people; to be freed. */
char *diff_verdict_line(const struct diff_report *report);

#endif
