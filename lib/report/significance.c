#include "report/significance.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { BISECTIONS = 100 };

/* The probability that |t| is smaller, for an integer number of degrees of freedom. */
static double student_centre(double t, unsigned df)
{
	double angle = atan(t / sqrt(df)), cosine = cos(angle);
	bool odd = df % 2;
	double term = odd ? cosine : 1, sum = 0;

	for (unsigned i = odd ? 3 : 2; i <= df; i += 2) {
		sum += term;
		term *= cosine * cosine * (i - 1) / i;
	}
	return odd ? (angle + sin(angle) * sum) * M_2_PI : sin(angle) * sum;
}

double student_tail(double t, double df)
{
	double tail;

	t = fabs(t);
	if (df >= STUDENT_NORMAL || isinf(t))
		return erfc(t * M_SQRT1_2);
	tail = 1 - student_centre(t, df < 1 ? 1 : (unsigned)df);
	return tail > 0 ? tail : 0;
}

double student_quantile(double confidence, double df)
{
	double low = 0, high = 1;

	while (student_tail(high, df) > 1 - confidence && high < 1e9)
		high *= 2;
	for (int i = 0; i < BISECTIONS; i++) {
		double middle = (low + high) / 2;

		if (student_tail(middle, df) > 1 - confidence)
			low = middle;
		else
			high = middle;
	}
	return high;
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
