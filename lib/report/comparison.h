/*
 * The statistics of prof diff: how far apart two sides are, each of one or several recordings, and
 * how far apart chance alone would put them.
 *
 * What is assumed: recordings are independent runs, made in turn (old, new, old, new), so that
 * what else the machine does affects both sides alike. Runs of a side vary around a mean; nothing
 * is assumed about how much, and the sides may vary differently. The intervals are those of Welch:
 * the variance of each side is measured between its recordings, and Student's distribution
 * accounts for their small number. With two recordings per side these intervals are wide.
 *
 * A side of one recording does not show how much runs vary, so nothing can be judged: no change is
 * significant, and the interval is a guess, which takes `noise` of the options as the standard
 * deviation between runs, and a quarter of it, of the whole, as what interrupts add to any part.
 *
 * The measured variance of so few recordings may be small by chance. It counts at least as much as
 * sampling alone causes: a whole is exact up to one sample, with one recording per side up to one
 * per thread, and the count of a part (a function, a stack) is binomial. A part also varies at
 *least as the median of all parts does:
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
	COMPARE_WEIGHTS, /* per recording: for two runs of the same work */
	COMPARE_SHARES,	 /* of the whole recording: for a service that keeps running */
};

/* What one recording holds of a part. */
struct measurement {
	double samples, weight;
};

/* What it holds in total. */
struct whole {
	struct measurement sum;
	/* The variance of its weight, in squared samples: each thread has an unknown rest after its
	 * last sample, so it is their number, or that of the samples where unknown, and the square
	 * of the weight's standard error. */
	double variance;
};

struct comparison_options {
	enum comparison_kind kind;
	double confidence; /* 0.99: one false alarm in a hundred comparisons of equal programs */
	double noise; /* assumed standard deviation between runs, as a share: 0.02; for guesses */
};

/* before, after and margin are shares of OLD's whole (COMPARE_WEIGHTS) or of each side's whole
 * (COMPARE_SHARES). */
struct change {
	double before, after;
	double samples;	     /* of both sides */
	double margin;	     /* half the confidence interval of after - before */
	double p;	     /* the chance of such a change if nothing has changed */
	bool is_guess;	     /* margin and p are guesses: a side has one recording */
	bool is_notable;     /* p is small enough; for parts: corrected for all that are tested */
	bool is_significant; /* so, and no guess */
};

enum limit_verdict {
	LIMIT_KEPT,
	LIMIT_EXCEEDED, /* the change is significant and larger than the limit */
	LIMIT_UNKNOWN,	/* the recordings do not tell */
};

/*
 * Whether a change exceeds a limit. An increase that may exceed it, as far as the interval shows,
 * is unknown if it is a guess, if the interval is wider than the limit, or if the increase itself
 * is larger than the limit, but not significant.
 */
enum limit_verdict change_judge(const struct change *change, double limit);

struct comparison;

/* wholes: one per recording of OLD, then one per recording of NEW; at least one per side. */
struct comparison *comparison_new(const struct comparison_options *options,
				  const struct whole *wholes, size_t old_count, size_t new_count);
void comparison_free(struct comparison *comparison);
DEFINE_CLEANUP(comparison, comparison_free)

/*
 * Measures the usual overdispersion, if both sides have several recordings. parts: `count` parts
 * that do not overlap, each with one measurement per whole. Call it before asking for changes.
 */
void comparison_learn(struct comparison *comparison, const struct measurement *parts, size_t count);

/* What is known of the change of the whole, without a judgement. */
struct whole_estimate {
	double ratio; /* of the new mean to the old one */
	double samples;
	bool is_of_shares; /* so there is no change of the whole */
	double noise;	   /* as of the options */
	/* By side: */
	double recordings[2];
	double sampling[2]; /* relative variance of the mean that sampling alone causes */
	/* Relative variance between the recordings; unknown if either side has one recording. The
	 * caller may moderate it by those of other comparisons (variance_prior.h). */
	struct measured_variance measured[2];
};

struct whole_estimate comparison_estimate_whole(const struct comparison *comparison);
/* The change of the whole. With COMPARE_SHARES it is none. */
struct change whole_estimate_change(const struct whole_estimate *estimate, double confidence);
struct change comparison_part(struct comparison *comparison, const struct measurement *part);

/* The overdispersion that is assumed for all parts: the noise, or what was measured. */
double comparison_overdispersion(const struct comparison *comparison);

/* Decides which changes are notable and significant: if nothing has changed, the chance that any of
 * them is called significant is 1 - confidence. Their p is corrected accordingly (Holm). */
void comparison_judge(const struct comparison *comparison, struct change **changes, size_t count);

#endif
