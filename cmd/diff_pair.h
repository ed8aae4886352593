/*
 * One comparison of prof diff: the old and the new recordings of one program or benchmark, read and
 * compared.
 *
 *	err = diff_pair_read(&pair, options, &old, &new);
 *	if (!err)
 *		diff_pair_compare(&pair);
 *	diff_pair_deinit(&pair);
 */
#ifndef PROF_CMD_DIFF_PAIR_H
#define PROF_CMD_DIFF_PAIR_H

#include "cmd/diff_files.h"
#include "cmd/diff_options.h"
#include "cmd/diff_report.h"

struct diff_pair {
	const struct diff_command_options *options;
	const struct option_list *old, *new; /* names of files */
	struct diff_files files;
	struct comparison_options comparison;
	bool by_samples;
	const char *harness; /* that ran for a fixed time, if shares are compared; else NULL */
	/* After diff_pair_compare(): */
	struct profile *merged;
	struct diff diff;
	struct diff_report report;
};

/* All borrowed. The result must be deinitialized even after an error. */
MUST_CHECK struct error *diff_pair_read(struct diff_pair *pair,
					const struct diff_command_options *options,
					const struct option_list *old,
					const struct option_list *new);
void diff_pair_compare(struct diff_pair *pair);
void diff_pair_deinit(struct diff_pair *pair);

/* Shares do not tell whether the whole has changed. */
bool diff_pair_is_of_shares(const struct diff_pair *pair);
/* The error of asking shares whether the whole is slower. */
MUST_CHECK struct error *diff_pair_cannot_tell(const struct diff_pair *pair);
/* The error that no function has the name in a condition of --fail-if: it cannot be judged. */
MUST_CHECK struct error *diff_no_function(const struct fail_condition *condition);
/*
 * The error that a condition of --fail-if cannot be judged, and what to do. change: what it is
 * about; NULL: there are too few samples.
 */
MUST_CHECK struct error *diff_cannot_judge(const struct fail_condition *condition,
					   const struct change *change);
/* The exit status: one condition that is met is enough, whatever cannot be judged. verdicts: their
 * numbers, by enum limit_verdict. */
int diff_status(const size_t *verdicts);
/* The total of a function, whose parameters may be left out; NULL: there is no such function. */
const struct change *diff_pair_function(const struct diff_pair *pair, const char *name);

#endif
