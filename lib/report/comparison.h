/*
 * The statistics of prof diff: how far apart two sides are, each of one or several recordings, and
 * how far apart chance alone would put them.
 *
 * Sampling takes place at equal distances, so the weight of a whole recording is exact up to one
 * sample per thread. The count of a part (a function, a stack) is binomial. Two runs of one program
 * differ by more than that, because caches, addresses, clocks and neighbours differ, and because
 * interrupts hit any function. The relative variance of a part between recordings is
 *
 *	(1 - share) / samples + overdispersion² + (contamination / share)²
 *
 * With one recording per side, overdispersion cannot be measured: it is the `noise` of the options,
 * and contamination is a quarter of it. With several recordings per side, a part's overdispersion
 * is the larger one of its own and of the median of all parts, contamination is 0, and Student's
 * distribution accounts for the small number of recordings.
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
	double noise;	   /* standard deviation between runs of one program, as a share: 0.02 */
};

/* before, after and margin are shares of OLD's whole (COMPARE_WEIGHTS) or of each side's whole
 * (COMPARE_SHARES). */
struct change {
	double before, after;
	double samples;	     /* of both sides */
	double margin;	     /* half the confidence interval of after - before */
	double p;	     /* the chance of such a change if nothing has changed */
	bool is_significant; /* p is small enough; for parts: corrected for all that are tested */
};

struct comparison;

/* wholes: one per recording of OLD, then one per recording of NEW; at least one per side. */
struct comparison *comparison_new(const struct comparison_options *options,
				  const struct whole *wholes, size_t old_count, size_t new_count);
void comparison_free(struct comparison *comparison);
DEFINE_CLEANUP(comparison, comparison_free)

/*
 * Measures the usual overdispersion, if there are several recordings per side. parts: `count` parts
 * that do not overlap, each with one measurement per whole. Call it before asking for changes.
 */
void comparison_learn(struct comparison *comparison, const struct measurement *parts, size_t count);

/* What is known of the change of the whole, without a judgement. */
struct whole_estimate {
	double ratio; /* of the new mean to the old one */
	double samples;
	bool is_of_shares; /* so there is no change of the whole */
	double noise;	   /* as of the options: assumed if no variance is measured */
	/* By side: */
	double recordings[2];
	double sampling[2]; /* relative variance of the mean that sampling alone causes */
	/* Relative variance between recordings of a side. The caller may moderate it by those of
	 * other comparisons (variance_prior.h). */
	struct measured_variance measured;
};

struct whole_estimate comparison_estimate_whole(const struct comparison *comparison);
/* The change of the whole. With COMPARE_SHARES it is none. */
struct change whole_estimate_change(const struct whole_estimate *estimate, double confidence);
struct change comparison_part(struct comparison *comparison, const struct measurement *part);

/* The overdispersion that is assumed for all parts: the noise, or what was measured. */
double comparison_overdispersion(const struct comparison *comparison);

/* Decides which changes are significant: if nothing has changed, the chance that any of them is
 * called significant is 1 - confidence. Their p is corrected accordingly (Holm). */
void comparison_judge(const struct comparison *comparison, struct change **changes, size_t count);

#endif
