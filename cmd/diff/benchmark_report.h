/*
 * Prints the report of prof diff on directories, as text, JSON and Markdown,
 * with a row per benchmark.
 */
#ifndef PROF_CMD_DIFF_BENCHMARK_REPORT_H
#define PROF_CMD_DIFF_BENCHMARK_REPORT_H

#include "cmd/diff/benchmarks.h"
#include "cmd/diff/diff_options.h"
#include "report/diff.h"

enum benchmark_verdict {
	BENCHMARK_SAME,
	BENCHMARK_SLOWER,
	BENCHMARK_FASTER,
	BENCHMARK_UNJUDGED, /* a side has only one recording */
	/* functions have changed; the whole has not, or is not compared */
	BENCHMARK_CHANGED,
	BENCHMARK_FEW_SAMPLES, /* too few samples for a verdict */
	BENCHMARK_FAILED,      /* its profiles cannot be compared */
	BENCHMARK_VERDICTS,
};

/* The comparison of one benchmark. Strings are owned. */
struct benchmark_result {
	const struct benchmark *benchmark; /* has profiles on both sides */
	enum benchmark_verdict verdict;
	char *failure; /* why it failed, or NULL */
	char *event, *quantity, *unit;
	enum value_kind kind;
	const char *compared; /* "recordings", "shares" or "iterations" */
	bool of_shares;	      /* the whole is not compared */
	/* the harness that ran for a fixed time, if shares are compared; or
	 * NULL */
	const char *harness;
	double old_samples, new_samples; /* sums over the recordings of a side */
	double old_weight, new_weight;	 /* means per recording */
	struct whole_estimate whole_estimate;
	struct change whole;
	/* the function whose self changed most, or NULL if no change is notable */
	char *function;
	struct change self;
	/* by condition of --fail-if; without samples if it does not apply */
	struct change *conditions;
	enum limit_verdict *limits; /* by condition */
	bool cannot_be_judged;	    /* a condition needs more than shares */
};

struct benchmark_report {
	const struct diff_command_options *options;
	const struct option_list *old, *new; /* directories */
	const struct benchmarks *benchmarks;
	struct benchmark_result *results; /* significant changes first */
	size_t count;
};

void benchmark_report_print(const struct benchmark_report *report, const struct pager *pager);

/* Prints one object and a newline. prof-diff(1) describes the schema. */
void benchmark_report_print_json(const struct benchmark_report *report, FILE *out);

void benchmark_report_print_markdown(const struct benchmark_report *report, FILE *out);

/* Returns "2 slower, 9 no significant change". The caller frees it. */
char *benchmark_verdicts(const struct benchmark_report *report);
/* Like diff_uncertainty(). The caller frees it. */
char *benchmark_uncertainty(const struct benchmark_report *report);

/* Returns "slower", "faster", "more", "less", "changed", "no significant
 * change", "cannot be judged", "too few samples" or "failed". */
const char *benchmark_verdict_word(const struct benchmark_result *result);

#endif
