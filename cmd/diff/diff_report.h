/*
 * Prints the report of prof diff, as text, JSON and Markdown: a verdict, and
 * the functions and stacks that have changed.
 */
#ifndef PROF_CMD_DIFF_DIFF_REPORT_H
#define PROF_CMD_DIFF_DIFF_REPORT_H

#include "base/json.h"
#include "cmd/ui/options.h"
#include "cmd/ui/pager.h"
#include "report/diff.h"

struct diff_report {
	const struct diff *diff;
	const struct comparison_options *options;
	const struct option_list *old, *new; /* file names */
	const char *event;
	const char *quantity; /* the compared quantity: "CPU time", "samples" */
	enum value_kind kind; /* kind and unit of the quantity */
	const char *unit;
	bool is_per_iteration; /* weights are times of one iteration (cmd/diff/diff_iterations.h) */
	bool is_guess;	       /* a file does not contain its number of samples */
	/* rows are the values of this label; NULL if they are functions */
	const char *label;
	/* the harness that ran for a fixed time, so that shares are compared;
	 * or NULL */
	const char *harness;
	/* why the runs take longer or shorter (report/elapsed_change.h), or
	 * NULL */
	const char *elapsed;
	uint64_t rows; /* maximum number of functions and of stacks */
};

void diff_print(const struct diff_report *report, const struct pager *pager);

/* More digits of a change would be noise. */
enum { DIFF_DIGITS = 6 };
/* Adds the members of a change to an open object. */
void diff_put_change(struct json *json, const struct change *change);

/* Prints one object and a newline. prof-diff(1) describes the schema. */
void diff_print_json(const struct diff_report *report, FILE *out);

/*
 * Prints a summary for a pull request: the verdict, the functions that have
 * changed most, the number of recordings and the uncertainty. Names are
 * escaped.
 */
void diff_print_markdown(const struct diff_report *report, FILE *out);

/* Returns a weight for people: "1.25 s", "12.3 ns". */
struct humanized diff_humanize(enum value_kind kind, const char *unit, double weight);

/* Returns the value of "compared" in JSON: "recordings", "shares" or
 * "iterations". */
const char *diff_compared(const struct diff_report *report);

double diff_change_of(const struct change *change);
/* Returns a share in percent, for "%.1f". -0.0 becomes 0. */
double diff_percent(double share);

/* Returns true if a larger value means slower. That is the case for time,
 * except off-CPU time, which the threads of a server spend all their lives. */
bool diff_is_speed(enum value_kind kind);

/* Returns "slower", "faster", "more", "less", "changed", "no significant
 * change", "cannot be judged" or "no samples". */
const char *diff_verdict_word(const struct diff_report *report);
/* Returns the verdict with its margin. The caller frees it. */
char *diff_verdict_line(const struct diff_report *report);
/*
 * Returns "+12.3 points were not sampled …" if the weight that no sample covers
 * has changed, else NULL. The caller frees it.
 */
char *diff_unsampled_words(const struct diff_report *report);
/*
 * Returns the functions that have changed most, diff_unsampled_words() and the
 * change of elapsed time, in lines without a newline at the end. "" if there are none. The caller
 * frees them.
 */
char *diff_causes(const struct diff_report *report);
/* Returns lines about what the verdict depends on, without a newline at the
 * end. The caller frees them. */
char *diff_uncertainty(const struct diff_report *report);
/*
 * Returns the text after "99 % confidence" for a comparison that cannot be
 * judged. how: the way to compare several recordings per side. The caller frees
 * it.
 */
char *diff_unjudged_words(double noise, const char *how);
/* Returns the line about a harness that ran for a fixed time. The caller frees
 * it. */
char *diff_shares_words(const char *harness);
/* Returns false for functions that have hardly changed. */
bool diff_row_is_shown(const struct diff *diff, const struct diff_row *row);

#endif
