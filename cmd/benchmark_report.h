/*
 * The report of prof diff on directories, as text, JSON and Markdown: a row per benchmark.
 */
#ifndef PROF_CMD_BENCHMARK_REPORT_H
#define PROF_CMD_BENCHMARK_REPORT_H

#include "cmd/benchmarks.h"
#include "cmd/diff_options.h"
#include "report/diff.h"

enum benchmark_verdict {
	BENCHMARK_SAME,
	BENCHMARK_SLOWER,
	BENCHMARK_FASTER,
	BENCHMARK_UNJUDGED,    /* a side has one recording */
	BENCHMARK_CHANGED,     /* functions have changed, the whole has not or is not compared */
	BENCHMARK_FEW_SAMPLES, /* too few to tell */
	BENCHMARK_FAILED,      /* its profiles cannot be compared */
	BENCHMARK_VERDICTS,
};

/* What a benchmark has of both sides. Strings are owned. */
struct benchmark_result {
	const struct benchmark *benchmark; /* with profiles on both sides */
	enum benchmark_verdict verdict;
	char *failure; /* why it failed; else NULL */
	char *event, *quantity, *unit;
	enum value_kind kind;
	const char *compared; /* "recordings", "shares" or "iterations" */
	bool of_shares;	      /* the whole is not compared */
	const char *harness;  /* that ran for a fixed time, if shares are compared; else NULL */
	double old_samples, new_samples; /* all recordings of a side */
	double old_weight, new_weight;	 /* means per recording */
	struct whole_estimate whole_estimate;
	struct change whole;
	char *function; /* the function whose self changed most, if that is notable; or NULL */
	struct change self;
	struct change *conditions;  /* by condition of --fail-if; no samples: it does not apply */
	enum limit_verdict *limits; /* by condition */
	bool cannot_be_judged;	    /* a condition asks what shares do not tell */
};

struct benchmark_report {
	const struct diff_command_options *options;
	const struct option_list *old, *new; /* directories */
	const struct benchmarks *benchmarks;
	struct benchmark_result *results; /* those that have changed significantly come first */
	size_t count;
};

void benchmark_report_print(const struct benchmark_report *report, const struct pager *pager);

/* One object and a line end; prof-diff(1) describes the schema. */
void benchmark_report_print_json(const struct benchmark_report *report, FILE *out);

void benchmark_report_print_markdown(const struct benchmark_report *report, FILE *out);

/* "2 slower, 9 no significant change"; to be freed. */
char *benchmark_verdicts(const struct benchmark_report *report);
/* As diff_uncertainty(); to be freed. */
char *benchmark_uncertainty(const struct benchmark_report *report);

/* "slower", "faster", "more", "less", "changed", "no significant change", "cannot be judged", "too
 * few samples", "failed". */
const char *benchmark_verdict_word(const struct benchmark_result *result);

#endif
