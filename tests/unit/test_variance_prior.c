#include "report/variance_prior.h"

#include "near.h"
#include "sample_profile.h"
#include "unit_test.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 5000 };

static double next_normal(uint64_t *seed)
{
	double u = (next_random(seed, 1u << 30) + 0.5) / (1u << 30);
	double v = (next_random(seed, 1u << 30) + 0.5) / (1u << 30);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Returns the variance of normal random numbers with this standard deviation. */
static struct measured_variance measure(double deviation, unsigned df, uint64_t *seed)
{
	double sum = 0;

	for (unsigned i = 0; i < df; i++)
		sum += pow(deviation * next_normal(seed), 2);
	return (struct measured_variance){sum / df, df};
}

TEST(few_variances_tell_nothing_of_others)
{
	const struct measured_variance variances[] = {{1, 4}, {2, 4}, {0, 0}};
	struct variance_prior prior = variance_prior_of(variances, 3);
	struct measured_variance own = variance_prior_moderate(&prior, variances[0]);

	assert_near(own.value, 1, 0);
	assert_near(own.df, 4, 0);
}

TEST(equal_benchmarks_share_one_variance)
{
	struct measured_variance variances[MOST], both;
	struct variance_prior prior;
	uint64_t seed = 0x9e3779b97f4a7c15;

	for (int i = 0; i < MOST; i++)
		variances[i] = measure(3, 4, &seed);
	prior = variance_prior_of(variances, MOST);
	assert_near(prior.typical.value, 9, 0.6);
	both = variance_prior_moderate(&prior, (struct measured_variance){1, 4});
	assert_near(both.value, 9, 0.8);
	assert_true(both.df > 60);
}

/* Variances are distributed with 8 degrees of freedom and measured with 4, so a
 * measured variance has a weight of one third. */
TEST(variances_that_differ_are_drawn_together_by_how_much_they_do)
{
	struct measured_variance variances[MOST], both;
	struct variance_prior prior;
	uint64_t seed = 0xbf58476d1ce4e5b9;

	for (int i = 0; i < MOST; i++) {
		double deviation = sqrt(1 / measure(1, 8, &seed).value);

		variances[i] = measure(deviation, 4, &seed);
	}
	prior = variance_prior_of(variances, MOST);
	assert_near(prior.typical.value, 1, 0.1);
	assert_near(prior.typical.df, 8, 2.5);
	both = variance_prior_moderate(&prior, (struct measured_variance){7, 4});
	assert_near(both.value, 3, 0.4);
	assert_near(both.df, 12, 2.5);
}

TEST(what_is_pooled_is_not_known_better_than_all_together)
{
	const struct measured_variance variances[] = {{1, 4}, {1, 4}, {1, 4}};
	struct variance_prior prior = variance_prior_of(variances, 3);

	assert_near(variance_prior_moderate(&prior, variances[0]).df, 12, 0);
}

TEST(an_unknown_variance_stays_unknown)
{
	const struct measured_variance variances[] = {{1, 4}, {1, 4}, {1, 4}, {0, 0}};
	struct variance_prior prior = variance_prior_of(variances, 4);

	assert_near(variance_prior_moderate(&prior, variances[3]).df, 0, 0);
}

/* Recordings without noise: the others determine its size. */
TEST(a_variance_of_zero_is_moderated)
{
	const struct measured_variance variances[] = {{1, 4}, {2, 4}, {3, 4}, {0, 4}};
	struct variance_prior prior = variance_prior_of(variances, 4);

	assert_true(variance_prior_moderate(&prior, variances[3]).value > 0.5);
}
