/*
 * The statistics of prof diff, on recordings that are made up: programs of functions of known cost,
 * sampled by chance, each run of them a little different. The seeds are fixed; the bounds are what
 * would hold for any of a thousand seeds: three standard deviations, at least.
 */
#include "report/comparison.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "near.h"
#include "report/significance.h"
#include "sample_profile.h"
#include "unit_test.h"

#include <math.h>
#include <stdlib.h>

enum { FUNCTIONS = 60, MOST_RUNS = 6, TRIALS = 600 };

#define CONFIDENCE 0.95
#define MS 1e6

/* A program: how many samples each function gets in a run, in the mean. */
struct program {
	double costs[FUNCTIONS];
};

struct experiment {
	struct program old, new;
	size_t old_runs, new_runs;
	double run_noise;      /* all functions of a run together */
	double function_noise; /* each by itself */
	struct comparison_options options;
};

struct outcome {
	unsigned whole, parts; /* trials where it is significant; where any part is */
	unsigned first;	       /* where the first function is */
	unsigned covered;      /* where the truth is within the margin of the whole */
	unsigned part_covered; /* … of the first function */
};

static double next_normal(uint64_t *seed)
{
	double u = (next_random(seed, 1u << 30) + 0.5) / (1u << 30);
	double v = (next_random(seed, 1u << 30) + 0.5) / (1u << 30);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static double next_poisson(uint64_t *seed, double mean)
{
	double limit = exp(-mean), product = 1, count = -1;

	if (mean > 50)
		return fmax(0, round(mean + sqrt(mean) * next_normal(seed)));
	do {
		product *= (next_random(seed, 1u << 30) + 0.5) / (1u << 30);
		count++;
	} while (product > limit);
	return count;
}

/* A few hot functions and many cold ones, as programs are. */
static struct program program_of(double samples)
{
	struct program program;
	double sum = 0;

	for (int i = 0; i < FUNCTIONS; i++)
		sum += program.costs[i] = 1.0 / (i + 1);
	for (int i = 0; i < FUNCTIONS; i++)
		program.costs[i] *= samples / sum;
	return program;
}

static double total_of(const struct program *program)
{
	double sum = 0;

	for (int i = 0; i < FUNCTIONS; i++)
		sum += program->costs[i];
	return sum;
}

/* Of a run after the other; parts: by function, then by run. */
static void run(const struct experiment *experiment, size_t index, uint64_t *seed,
		struct whole *whole, struct measurement *parts)
{
	const struct program *program = index < experiment->old_runs ? &experiment->old
								     : &experiment->new;
	size_t runs = experiment->old_runs + experiment->new_runs;
	double speed = exp(experiment->run_noise * next_normal(seed));

	*whole = (struct whole){0};
	for (size_t i = 0; i < FUNCTIONS; i++) {
		double cost = program->costs[i] * speed *
			      exp(experiment->function_noise * next_normal(seed));
		double samples = next_poisson(seed, cost);

		parts[i * runs + index] = (struct measurement){samples, samples * MS};
		whole->sum.samples += samples;
		whole->sum.weight += samples * MS;
	}
	whole->variance = whole->sum.samples;
}

static struct change whole_of(const struct comparison *comparison)
{
	struct whole_estimate estimate = comparison_estimate_whole(comparison);

	return whole_estimate_change(&estimate, CONFIDENCE);
}

static void judge(const struct experiment *experiment, const struct whole *wholes,
		  const struct measurement *parts, struct outcome *outcome)
{
	CLEANUP(comparison_cleanup)
	struct comparison *comparison = comparison_new(&experiment->options, wholes,
						       experiment->old_runs, experiment->new_runs);
	struct change changes[FUNCTIONS], *all[FUNCTIONS], whole;
	double truth = total_of(&experiment->new) / total_of(&experiment->old);
	double part_truth = (experiment->new.costs[0] - experiment->old.costs[0]) /
			    total_of(&experiment->old);
	size_t runs = experiment->old_runs + experiment->new_runs;
	bool any = false;

	comparison_learn(comparison, parts, FUNCTIONS);
	for (int i = 0; i < FUNCTIONS; i++) {
		changes[i] = comparison_part(comparison, parts + i * runs);
		all[i] = &changes[i];
	}
	comparison_judge(comparison, all, FUNCTIONS);
	for (int i = 0; i < FUNCTIONS; i++)
		any = any || changes[i].is_significant;
	whole = whole_of(comparison);
	outcome->whole += whole.is_significant;
	outcome->parts += any;
	outcome->first += changes[0].is_significant;
	outcome->covered += fabs(whole.after - truth) <= whole.margin;
	outcome->part_covered += fabs(changes[0].after - changes[0].before - part_truth) <=
				 changes[0].margin;
}

static struct outcome repeat(const struct experiment *experiment)
{
	struct outcome outcome = {0};
	uint64_t seed = 20240229;

	for (int trial = 0; trial < TRIALS; trial++) {
		struct measurement parts[FUNCTIONS * MOST_RUNS];
		struct whole wholes[MOST_RUNS];
		size_t runs = experiment->old_runs + experiment->new_runs;

		for (size_t i = 0; i < runs; i++)
			run(experiment, i, &seed, &wholes[i], parts);
		judge(experiment, wholes, parts, &outcome);
	}
	return outcome;
}

/* Of so many trials, at most the nominal share is a false alarm; the exact rate where is_exact. */
static void assert_rate_of(const char *what, unsigned alarms, double rate, bool is_exact)
{
	double expected = TRIALS * rate, bound = 3.5 * sqrt(TRIALS * rate * (1 - rate));

	if (alarms > expected + bound || (is_exact && alarms < expected - bound))
		fail_msg("%s: %u of %d where %.0f were expected", what, alarms, (int)TRIALS,
			 expected);
}

#define assert_rate(alarms, rate, is_exact) assert_rate_of(#alarms, alarms, rate, is_exact)

static struct experiment equals(double samples, size_t runs)
{
	return (struct experiment){
		.old = program_of(samples),
		.new = program_of(samples),
		.old_runs = runs,
		.new_runs = runs,
		.options = {.kind = COMPARE_WEIGHTS, .confidence = CONFIDENCE},
	};
}

TEST(equal_programs_differ_as_often_as_the_confidence_says)
{
	struct experiment experiment = equals(5000, 1);
	struct outcome outcome = repeat(&experiment);

	assert_rate(outcome.whole, 1 - CONFIDENCE, true);
	assert_rate(outcome.parts, 1 - CONFIDENCE, false);
	assert_rate(outcome.covered, CONFIDENCE, true);
	assert_rate(outcome.part_covered, CONFIDENCE, true);
}

TEST(few_samples_give_no_false_alarms)
{
	struct experiment experiment = equals(200, 1);
	struct outcome outcome = repeat(&experiment);

	assert_rate(outcome.whole, 1 - CONFIDENCE, false);
	assert_rate(outcome.parts, 1 - CONFIDENCE, false);
}

TEST(known_noise_between_runs_is_not_significant)
{
	struct experiment experiment = equals(20000, 1);
	struct outcome outcome;

	experiment.options.noise = 0.03;
	experiment.run_noise = 0.03;
	outcome = repeat(&experiment);
	assert_rate(outcome.whole, 1 - CONFIDENCE, true);
	assert_rate(outcome.parts, 1 - CONFIDENCE, false);
	/* Were it not: */
	experiment.options.noise = 0;
	assert_true(repeat(&experiment).whole > TRIALS / 3);
}

TEST(several_recordings_per_side_give_the_noise)
{
	struct experiment experiment = equals(5000, 3);
	struct outcome outcome;

	experiment.run_noise = 0.05;
	experiment.function_noise = 0.05;
	outcome = repeat(&experiment);
	assert_rate(outcome.whole, 1 - CONFIDENCE, true);
	assert_rate(outcome.parts, 1 - CONFIDENCE, false);
	experiment.old_runs = 1;
	experiment.new_runs = 2;
	outcome = repeat(&experiment);
	assert_rate(outcome.whole, 1 - CONFIDENCE, true);
	assert_rate(outcome.parts, 1 - CONFIDENCE, false);
}

TEST(shares_are_compared_whatever_the_lengths)
{
	struct experiment experiment = equals(5000, 1);
	struct outcome outcome;

	experiment.options.kind = COMPARE_SHARES;
	experiment.new = program_of(500);
	outcome = repeat(&experiment);
	assert_int_equal(outcome.whole, 0);
	assert_rate(outcome.parts, 1 - CONFIDENCE, false);
	experiment.new = program_of(5000);
	experiment.run_noise = 0.3;
	experiment.old_runs = experiment.new_runs = 2;
	assert_rate(repeat(&experiment).parts, 1 - CONFIDENCE, false);
}

/* By a tenth of all, in one function, with 10,000 samples a side: three standard deviations of the
 * whole, and fifteen of the function. */
TEST(a_growth_by_a_tenth_is_found)
{
	struct experiment experiment = equals(10000, 1);
	struct outcome outcome;

	experiment.new.costs[0] += 1000;
	experiment.options.noise = 0.02;
	experiment.run_noise = experiment.function_noise = 0.01;
	outcome = repeat(&experiment);
	assert_true(outcome.whole > TRIALS * 8 / 10);
	assert_int_equal(outcome.first, TRIALS);
	experiment.old_runs = experiment.new_runs = 3;
	outcome = repeat(&experiment);
	assert_true(outcome.whole > TRIALS * 95 / 100);
	assert_true(outcome.first > TRIALS * 95 / 100);
}

TEST(shares_move_where_one_function_grows)
{
	struct experiment experiment = equals(10000, 1);

	experiment.options.kind = COMPARE_SHARES;
	experiment.new.costs[0] *= 1.5;
	assert_int_equal(repeat(&experiment).first, TRIALS);
}

static struct change change_of(enum comparison_kind kind, struct measurement old_whole,
			       struct measurement new_whole, struct measurement old,
			       struct measurement new)
{
	struct whole wholes[] = {{old_whole, old_whole.samples}, {new_whole, new_whole.samples}};
	struct measurement parts[] = {old, new};
	struct comparison_options options = {.kind = kind, .confidence = CONFIDENCE};
	CLEANUP(comparison_cleanup)
	struct comparison *comparison = comparison_new(&options, wholes, 1, 1);
	struct change change = comparison_part(comparison, parts);
	struct change *all[] = {&change};

	comparison_judge(comparison, all, 1);
	return change;
}

TEST(weights_are_shares_of_what_old_has)
{
	struct change change = change_of(
		COMPARE_WEIGHTS, (struct measurement){1000, 1000}, (struct measurement){1200, 1200},
		(struct measurement){100, 100}, (struct measurement){300, 300});

	assert_near(change.before, 0.1, 1e-9);
	assert_near(change.after, 0.3, 1e-9);
	assert_near(change.margin, 1.96 * sqrt(100 + 300) / 1000, 1e-4);
	assert_true(change.is_significant);
}

/* At half the rate, a sample stands for twice the time. */
TEST(rates_may_differ)
{
	struct change change = change_of(
		COMPARE_WEIGHTS, (struct measurement){1000, 2000}, (struct measurement){2000, 2000},
		(struct measurement){100, 200}, (struct measurement){200, 200});

	assert_near(change.after - change.before, 0, 1e-9);
	assert_near(change.p, 1, 1e-9);
	assert_near(change.margin, 1.96 * sqrt(100 * 4 + 200) / 2000, 1e-4);
}

TEST(shares_are_of_each_side)
{
	struct change change = change_of(
		COMPARE_SHARES, (struct measurement){1000, 1000}, (struct measurement){100, 100},
		(struct measurement){100, 100}, (struct measurement){10, 10});

	assert_near(change.before, 0.1, 1e-9);
	assert_near(change.after, 0.1, 1e-9);
	assert_false(change.is_significant);
	change = change_of(COMPARE_SHARES, (struct measurement){500, 500},
			   (struct measurement){500, 500}, (struct measurement){500, 500},
			   (struct measurement){450, 450});
	assert_near(change.after, 0.9, 1e-9);
	assert_true(change.is_significant);
}

TEST(a_part_that_is_nearly_all_is_judged_as_the_rest)
{
	struct measurement whole = {500, 500};
	struct change part = change_of(COMPARE_SHARES, whole, whole, (struct measurement){460, 460},
				       (struct measurement){478, 478});
	struct change rest = change_of(COMPARE_SHARES, whole, whole, (struct measurement){40, 40},
				       (struct measurement){22, 22});

	assert_near(part.p, rest.p, 1e-9);
}

/* Of one thread: its time is known to a sample, and the function's is binomial. */
TEST(time_of_few_threads_is_known_exactly)
{
	struct whole wholes[] = {{{1000, 1000}, 1}, {{1000, 1000}, 1}};
	struct measurement all[] = {{1000, 1000}, {1000, 1000}}, half[] = {{500, 500}, {500, 500}};
	struct comparison_options options = {.kind = COMPARE_WEIGHTS, .confidence = CONFIDENCE};
	CLEANUP(comparison_cleanup)
	struct comparison *comparison = comparison_new(&options, wholes, 1, 1);

	assert_near(whole_of(comparison).margin, 1.96 * sqrt(2) / 1000, 1e-5);
	assert_near(comparison_part(comparison, all).margin, 1.96 * sqrt(2 * (1 + 1)) / 1000, 1e-5);
	assert_near(comparison_part(comparison, half).margin, 1.96 * sqrt(2 * 250) / 1000, 1e-4);
}

TEST(a_new_function_has_a_margin)
{
	struct change change = change_of(COMPARE_WEIGHTS, (struct measurement){1000, 1000},
					 (struct measurement){1000, 1000},
					 (struct measurement){0, 0}, (struct measurement){30, 30});

	assert_true(change.is_significant);
	assert_near(change.margin, 1.96 * sqrt(31) / 1000, 1e-5);
	/* As if it had one sample before, of the odds. */
	change = change_of(COMPARE_SHARES, (struct measurement){1000, 2000},
			   (struct measurement){1000, 2000}, (struct measurement){0, 0},
			   (struct measurement){30, 60});
	assert_near(change.margin,
		    1.96 * sqrt(pow(0.001 * 0.999, 2) * (1 + 1 / 1000.0) +
				pow(0.03 * 0.97, 2) * (1 / 30.0 + 1 / 970.0)),
		    1e-5);
	change = change_of(COMPARE_WEIGHTS, (struct measurement){1000, 1000},
			   (struct measurement){1000, 1000}, (struct measurement){0, 0},
			   (struct measurement){5, 5});
	assert_false(change.is_significant);
}
