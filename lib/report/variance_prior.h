/*
 * What many benchmarks tell of the noise of one: with three recordings per side its own variance is
 * known within a factor of three or more, but others that run on the same machine have the noise of
 * that machine, too.
 *
 * The variances of benchmarks are taken as draws from a scaled inverse chi-squared distribution,
 * whose scale and degrees of freedom follow from the mean and the variance of their logarithms: the
 * more they differ from each other, the less the others count. Source: Smyth, Stat. Appl. Genet.
 * Mol. Biol. 3 (2004), sections 3 and 6.2.
 */
#ifndef PROF_REPORT_VARIANCE_PRIOR_H
#define PROF_REPORT_VARIANCE_PRIOR_H

#include <stddef.h>

/* A variance and the degrees of freedom that it is known with; 0: it is not known. */
struct measured_variance {
	double value, df;
};

struct variance_prior {
	struct measured_variance typical; /* df is infinite if all have the same variance */
	double df;			  /* of all measured variances together */
};

/* Unknown variances are left out. With fewer than three others the prior is unknown. */
struct variance_prior variance_prior_of(const struct measured_variance *variances, size_t count);

/* The estimate from the own variance and the prior: their mean, by degrees of freedom. */
struct measured_variance variance_prior_moderate(const struct variance_prior *prior,
						 struct measured_variance own);

#endif
