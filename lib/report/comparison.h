/*
 * The statistics of prof diff: the difference of two sides, each with one or
 * more recordings, and the difference that chance alone can cause.
 *
 * Assumptions: recordings are independent runs, made alternately (old, new,
 * old, new), so that other load affects both sides alike. Runs of a side vary
 * around a mean by an unknown amount, which may differ between the sides. The
 * intervals are those of Welch: the variance of each side is measured between
 * its recordings, and Student's distribution accounts for their small number.
 * With two recordings per side these intervals are wide.
 *
 * A side with one recording does not show how much runs vary. Then no change is
 * significant, and the interval is a guess: it uses `noise` of the options as
 * the standard deviation between runs, and a quarter of it, relative to the
 * whole, as the effect of interrupts on any part.
 *
 * The measured variance of a few recordings may be small by chance. It counts
 * at least as much as sampling alone causes. A whole is exact up to one sample,
 * with one recording per side up to one sample per thread. The count of a part
 * (a function, a stack) is binomial. A part also varies at least as much as the
 * median of all parts:
 *
 *	(1 - share) / samples + overdispersion²
 */
#ifndef PROF_REPORT_COMPARISON_H
#define PROF_REPORT_COMPARISON_H

#include "base/cleanup.h"
#include "report/variance_prior.h"

#include <stdbool.h>
#include <stddef.h>

enum comparison_kind {
	COMPARE_WEIGHTS, /* weight per recording: for two runs of the same work */
	COMPARE_SHARES,	 /* share of the whole recording: for a service that keeps running */
};

/* One part in one recording. */
struct measurement {
	double samples, weight;
};

/* The total of one recording. */
struct whole {
	struct measurement sum;
	/*
	 * The variance of the weight, in squared samples. Each thread has an
	 * unknown rest after its last sample, so the variance is the number of
	 * threads, or of samples if that is unknown, plus the square of the
	 * weight's standard error.
	 */
	double variance;
};

struct comparison_options {
	enum comparison_kind kind;
	/* 0.99: one false alarm in a hundred comparisons of equal programs. */
	double confidence;
	/*
	 * Assumed standard deviation between runs, as a share (0.02); used for
	 * guesses.
	 */
	double noise;
};

/*
 * before, after and margin are shares of OLD's whole (COMPARE_WEIGHTS) or of
 * each side's whole (COMPARE_SHARES).
 */
struct change {
	double before, after;
	double samples;	     /* of both sides together */
	double margin;	     /* half the confidence interval of after - before */
	double p;	     /* the probability of such a change if nothing has changed */
	bool is_guess;	     /* margin and p are guesses, because a side has only one recording */
	bool is_notable;     /* p is small enough; for parts, corrected for the number of tests */
	bool is_significant; /* notable and not a guess */
};

enum limit_verdict {
	LIMIT_KEPT,
	LIMIT_EXCEEDED, /* the change is significant and larger than the limit */
	LIMIT_UNKNOWN,	/* the recordings do not allow a decision */
};

/*
 * Decides whether a change exceeds a limit. An increase that may exceed it
 * according to its interval is unknown in these cases: it is a guess, the
 * interval is wider than the limit, or the increase is larger than the limit
 * but not significant.
 */
enum limit_verdict change_judge(const struct change *change, double limit);

struct comparison;

/*
 * wholes: one per recording of OLD, then one per recording of NEW; at least one
 * per side.
 */
struct comparison *comparison_new(const struct comparison_options *options,
				  const struct whole *wholes, size_t old_count, size_t new_count);
void comparison_free(struct comparison *comparison);
DEFINE_CLEANUP(comparison, comparison_free)

/*
 * Measures the typical overdispersion if both sides have several recordings.
 * parts: `count` parts that do not overlap, each with one measurement per
 * whole. Call it before computing changes.
 */
void comparison_learn(struct comparison *comparison, const struct measurement *parts, size_t count);

/* The estimated change of the whole, without a decision about significance. */
struct whole_estimate {
	double ratio; /* of the new mean to the old one */
	double samples;
	bool is_of_shares; /* shares are compared, so the whole does not change */
	double noise;	   /* the value in the options */
	/* Arrays by side: */
	double recordings[2];
	double sampling[2]; /* relative variance of the mean that sampling alone causes */
	/*
	 * Relative variance between the recordings, unknown if either side has
	 * only one. The caller may moderate it with the variances of other
	 * comparisons (variance_prior.h).
	 */
	struct measured_variance measured[2];
};

struct whole_estimate comparison_estimate_whole(const struct comparison *comparison);
/* Returns the change of the whole. With COMPARE_SHARES there is none. */
struct change whole_estimate_change(const struct whole_estimate *estimate, double confidence);
struct change comparison_part(struct comparison *comparison, const struct measurement *part);

/*
 * Returns the overdispersion that is assumed for all parts: the noise, or the
 * measured value.
 */
double comparison_overdispersion(const struct comparison *comparison);

/*
 * Decides which changes are notable and significant. If nothing has changed,
 * all of them are found not significant with a probability of at least
 * `confidence`. Their p is corrected accordingly (Holm).
 */
void comparison_judge(const struct comparison *comparison, struct change **changes, size_t count);

#endif
