/*
 * The report of prof diff, as text, JSON and Markdown: a verdict, and the functions and stacks that
 * have changed.
 */
#ifndef PROF_CMD_DIFF_REPORT_H
#define PROF_CMD_DIFF_REPORT_H

#include "base/json.h"
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
	bool is_per_iteration; /* weights are times of one iteration (cmd/diff_iterations.h) */
	bool is_guess;	       /* some file does not tell how many samples it has */
	const char *label;     /* rows are the values of this label; NULL: functions */
	const char *harness;   /* that ran for a fixed time, so shares are compared; NULL: none */
	uint64_t rows;	       /* limit of functions and of stacks */
};

void diff_print(const struct diff_report *report, const struct pager *pager);

/* More digits of a change would be noise. */
enum { DIFF_DIGITS = 6 };
/* The members of a change, into an open object. */
void diff_put_change(struct json *json, const struct change *change);

/* One object and a line end; prof-diff(1) describes the schema. */
void diff_print_json(const struct diff_report *report, FILE *out);

/* A summary for a pull request: the verdict, the functions that have changed most, the number of
 * recordings and what is uncertain. Names are escaped. */
void diff_print_markdown(const struct diff_report *report, FILE *out);

/* A weight for people: "1.25 s", "12.3 ns". */
struct humanized diff_humanize(enum value_kind kind, const char *unit, double weight);

/* "recordings", "shares" or "iterations": what JSON says of what is compared. */
const char *diff_compared(const struct diff_report *report);

double diff_change_of(const struct change *change);
/* A share in percent, as it is printed with "%.1f": -0.0 is 0. */
double diff_percent(double share);

/* More of it is slower: time, but not waiting, which the threads of a server do all their lives. */
bool diff_is_speed(enum value_kind kind);

/* "slower", "faster", "more", "less", "changed", "no significant change", "cannot be judged", "no
 * samples". */
const char *diff_verdict_word(const struct diff_report *report);
/* The verdict with its margin; to be freed. */
char *diff_verdict_line(const struct diff_report *report);
/* What the verdict depends on: lines without the last line end; to be freed. */
char *diff_uncertainty(const struct diff_report *report);
/* The part of it that follows "99 % confidence" where nothing is judged; how: to have several
 * recordings per side. To be freed. */
char *diff_unjudged_words(double noise, const char *how);
/* False for functions that have hardly changed. */
bool diff_row_is_shown(const struct diff *diff, const struct diff_row *row);

#endif
