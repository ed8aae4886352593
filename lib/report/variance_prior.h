/*
 * Estimates the noise of a benchmark from many benchmarks. With three
 * recordings per side, its own variance is known only within a factor of three
 * or more, but other benchmarks share the noise of the same machine.
 *
 * The variances of benchmarks are modelled as draws from a scaled inverse
 * chi-squared distribution. Its scale and degrees of freedom follow from the
 * mean and the variance of their logarithms. The more they differ from each
 * other, the less the others count. Source: Smyth, Stat. Appl. Genet. Mol.
 * Biol. 3 (2004), sections 3 and 6.2.
 */
#ifndef PROF_REPORT_VARIANCE_PRIOR_H
#define PROF_REPORT_VARIANCE_PRIOR_H

#include <stddef.h>

/* A variance and its degrees of freedom. 0 means it is unknown. */
struct measured_variance {
	double value, df;
};

struct variance_prior {
	struct measured_variance typical; /* df is infinite if all have the same variance */
	double df;			  /* of all measured variances together */
};

/*
 * Ignores unknown variances. With fewer than three known ones the prior is
 * unknown.
 */
struct variance_prior variance_prior_of(const struct measured_variance *variances, size_t count);

/*
 * Combines a benchmark's own variance with the prior: the mean, weighted by
 * degrees of freedom.
 */
struct measured_variance variance_prior_moderate(const struct variance_prior *prior,
						 struct measured_variance own);

#endif
