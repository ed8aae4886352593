/*
 * One comparison of prof diff: reads and compares the old and the new
 * recordings of one program or benchmark.
 *
 *	err = diff_pair_read(&pair, options, &old, &new);
 *	if (!err)
 *		diff_pair_compare(&pair);
 *	diff_pair_deinit(&pair);
 */
#ifndef PROF_CMD_DIFF_DIFF_PAIR_H
#define PROF_CMD_DIFF_DIFF_PAIR_H

#include "cmd/diff/diff_files.h"
#include "cmd/diff/diff_options.h"
#include "cmd/diff/diff_report.h"

struct diff_pair {
	const struct diff_command_options *options;
	const struct option_list *old, *new; /* file names */
	struct diff_files files;
	struct comparison_options comparison;
	bool by_samples;
	/* the harness that ran for a fixed time, if shares are compared; or
	 * NULL */
	const char *harness;
	/* The members below are set by diff_pair_compare(). */
	struct profile *merged;
	char *elapsed; /* see diff_report */
	struct diff diff;
	struct diff_report report;
};

/* Borrows all arguments. Deinitialize *pair even after an error. */
MUST_CHECK struct error *diff_pair_read(struct diff_pair *pair,
					const struct diff_command_options *options,
					const struct option_list *old,
					const struct option_list *new);
void diff_pair_compare(struct diff_pair *pair);
void diff_pair_deinit(struct diff_pair *pair);

/* Returns true if shares are compared, which do not show whether the whole has
 * changed. */
bool diff_pair_is_of_shares(const struct diff_pair *pair);
/* Returns the error for a question about the whole when shares are compared. */
MUST_CHECK struct error *diff_pair_cannot_tell(const struct diff_pair *pair);
/* Returns the error that a condition of --fail-if cannot be judged because no
 * function has its name. */
MUST_CHECK struct error *diff_no_function(const struct fail_condition *condition);
/*
 * Returns the error that a condition of --fail-if cannot be judged, with a
 * hint. change: the change that it is about; NULL if there are too few samples.
 */
MUST_CHECK struct error *diff_cannot_judge(const struct fail_condition *condition,
					   const struct change *change);
/* Returns the exit status. One condition that holds decides, even if others
 * cannot be judged. verdicts: their numbers, by enum limit_verdict. */
int diff_status(const size_t *verdicts);
/* Returns the total of a function, or NULL if there is no such function. The
 * name may omit the parameters. */
const struct change *diff_pair_function(const struct diff_pair *pair, const char *name);

#endif
