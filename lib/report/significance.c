#include "report/significance.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
	NEWTON_STEPS = 100,
	FRACTIONS = 200, /* far more than the continued fraction needs */
};

#define PRECISION 1e-12

/*
 * Returns the next partial quotient of a continued fraction, which must not be
 * 0 (Lentz's method).
 */
static double quotient(double factor, double previous, bool inverts)
{
	double value = 1 + (inverts ? factor / previous : factor * previous);

	return fabs(value) < DBL_MIN ? DBL_MIN : value;
}

/* The continued fraction of the incomplete beta function. Converges for x < (a + 1) / (a + b + 2).
 */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 / quotient(-(a + b) * x / (a + 1), 1, false), fraction = d, step = 0;

	for (int m = 1; m <= FRACTIONS && fabs(step - 1) > DBL_EPSILON; m++) {
		double at = a + 2 * m;
		double even = m * (b - m) * x / ((at - 1) * at);
		double odd = -(a + m) * (a + b + m) * x / (at * (at + 1));

		d = 1 / quotient(even, d, false);
		c = quotient(even, c, true);
		fraction *= d * c;
		d = 1 / quotient(odd, d, false);
		c = quotient(odd, c, true);
		step = d * c;
		fraction *= step;
	}
	return fraction;
}

/* The regularized incomplete beta function; y is 1 - x. */
static double incomplete_beta(double x, double y, double a, double b)
{
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));

	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(y, b, a) / b;
}

double student_tail(double t, double df)
{
	double square = t * t;

	if (!(square > 0))
		return 1;
	if (df >= STUDENT_NORMAL || isinf(square))
		return erfc(fabs(t) * M_SQRT1_2);
	df = fmax(df, 1);
	return incomplete_beta(df / (df + square), square / (df + square), df / 2, 0.5);
}

static double student_density(double t, double df)
{
	if (df >= STUDENT_NORMAL)
		return exp(-t * t / 2) / sqrt(2 * M_PI);
	df = fmax(df, 1);
	return exp(lgamma((df + 1) / 2) - lgamma(df / 2) - (df + 1) / 2 * log1p(t * t / df)) /
	       sqrt(df * M_PI);
}

/*
 * Uses Newton's method. The tail is convex, so each step stays below the
 * quantile.
 */
double student_quantile(double confidence, double df)
{
	const double tail = 1 - confidence;
	double t = 0, step = 1;

	for (int i = 0; i < NEWTON_STEPS && step > t * PRECISION; i++) {
		step = (student_tail(t, df) - tail) / (2 * student_density(t, df));
		t += fmax(step, 0);
	}
	return t;
}

double welch_df(const double variances[2], const double dfs[2])
{
	double sum = variances[0] + variances[1];
	double squares = variances[0] * variances[0] / dfs[0] +
			 variances[1] * variances[1] / dfs[1];

	return squares > 0 ? fmin(sum * sum / squares, STUDENT_NORMAL) : STUDENT_NORMAL;
}

static double binomial(double successes, double count, double chance)
{
	return exp(lgamma(count + 1) - lgamma(successes + 1) - lgamma(count - successes + 1) +
		   successes * log(chance) + (count - successes) * log1p(-chance));
}

/* Sums the tail from b away from the expected count, until terms no longer matter. */
double two_counts_tail(double a, double b, double share_of_b)
{
	double count = a + b, odds = share_of_b / (1 - share_of_b);
	double term = binomial(b, count, share_of_b), tail = term;

	if (b >= count * share_of_b)
		for (double i = b; i < count && term > tail * DBL_EPSILON; i++)
			tail += term *= (count - i) / (i + 1) * odds;
	else
		for (double i = b; i > 0 && term > tail * DBL_EPSILON; i--)
			tail += term *= i / (count - i + 1) / odds;
	return tail < 0.5 ? 2 * tail : 1;
}

struct ranked {
	double p;
	size_t index;
};

static int by_p(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;

	return (left->p > right->p) - (left->p < right->p);
}

void holm_adjust(double *p, size_t count)
{
	CLEANUP(free_ptr) struct ranked *order = xcalloc(count, sizeof(*order));
	double highest = 0;

	for (size_t i = 0; i < count; i++)
		order[i] = (struct ranked){p[i], i};
	if (count)
		qsort(order, count, sizeof(*order), by_p);
	for (size_t i = 0; i < count; i++) {
		double adjusted = order[i].p * (double)(count - i);

		if (adjusted > highest)
			highest = adjusted;
		p[order[i].index] = highest < 1 ? highest : 1;
	}
}
