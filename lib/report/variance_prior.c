#include "report/variance_prior.h"

#include <math.h>

enum {
	FEWEST = 3, /* minimum number of variances */
	/*
	 * From here on the series of digamma and trigamma are accurate to 1e-8.
	 */
	ASYMPTOTIC = 6,
	BISECTIONS = 100,
};

/* Abramowitz & Stegun, 6.3.5 and 6.3.18. */
static double digamma(double x)
{
	double sum = 0, square;

	for (; x < ASYMPTOTIC; x++)
		sum -= 1 / x;
	square = 1 / (x * x);
	return sum + log(x) - 0.5 / x -
	       square * (1. / 12 - square * (1. / 120 - square * (1. / 252 - square / 240)));
}

/* 6.4.6 and 6.4.12. */
static double trigamma(double x)
{
	double sum = 0, square;

	for (; x < ASYMPTOTIC; x++)
		sum += 1 / (x * x);
	square = 1 / (x * x);
	return sum + 1 / x + square / 2 +
	       square / x * (1. / 6 - square * (1. / 30 - square * (1. / 42 - square / 30)));
}

/* trigamma decreases. */
static double inverse_trigamma(double y)
{
	double low = 1e-6, high = 1e6;

	for (int i = 0; i < BISECTIONS; i++) {
		double middle = sqrt(low * high);

		if (trigamma(middle) > y)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * Returns the logarithm of a variance without the bias that its degrees of
 * freedom cause.
 */
static double unbiased_log(struct measured_variance variance)
{
	return log(variance.value) - digamma(variance.df / 2) + log(variance.df / 2);
}

static struct measured_variance typical(double mean, double excess)
{
	double half;

	if (excess <= 0)
		return (struct measured_variance){exp(mean), INFINITY};
	half = inverse_trigamma(excess);
	return (struct measured_variance){exp(mean + digamma(half) - log(half)), 2 * half};
}

static int variance_prior_is_known(struct measured_variance variance)
{
	return variance.df > 0 && variance.value > 0;
}

struct variance_prior variance_prior_of(const struct measured_variance *variances, size_t count)
{
	struct variance_prior prior = {0};
	double known = 0, mean = 0, squares = 0, expected = 0;

	for (size_t i = 0; i < count; i++) {
		if (!variance_prior_is_known(variances[i]))
			continue;
		known++;
		mean += unbiased_log(variances[i]);
		expected += trigamma(variances[i].df / 2);
		prior.df += variances[i].df;
	}
	if (known < FEWEST)
		return (struct variance_prior){0};
	mean /= known;
	for (size_t i = 0; i < count; i++)
		if (variance_prior_is_known(variances[i]))
			squares += pow(unbiased_log(variances[i]) - mean, 2);
	prior.typical = typical(mean, squares / (known - 1) - expected / known);
	return prior;
}

struct measured_variance variance_prior_moderate(const struct variance_prior *prior,
						 struct measured_variance own)
{
	struct measured_variance both = {.df = fmin(own.df + prior->typical.df, prior->df)};

	if (!(prior->typical.df > 0) || !(own.df > 0))
		return own;
	if (isinf(prior->typical.df))
		both.value = prior->typical.value;
	else
		both.value = (own.df * own.value + prior->typical.df * prior->typical.value) /
			     (own.df + prior->typical.df);
	return both;
}
