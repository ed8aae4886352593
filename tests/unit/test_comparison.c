/*
 * The statistics of prof diff, tested on simulated recordings: programs with
 * functions of known cost, sampled at random, with small differences between
 * runs. The seeds are fixed. The bounds would hold for any of a thousand seeds,
 * because they are at least three standard deviations away.
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

enum { FUNCTIONS = 60, MOST_RUNS = 10, TRIALS = 600 };

#define CONFIDENCE 0.95
#define MS 1e6
#define RESTLESS 0.3

/* A program: the mean number of samples of each function in a run. */
struct program {
	double costs[FUNCTIONS];
};

struct experiment {
	struct program old, new;
	size_t old_runs, new_runs;
	double run_noise;      /* common noise of all functions in a run */
	double new_run_noise;  /* of the new side, if it is different */
	double function_noise; /* independent noise of each function */
	size_t restless;       /* this many functions vary by RESTLESS instead */
	/* share of the runs that take longer, and by how much at most */
	double disturbed_share, disturbance;
	struct comparison_options options;
};

struct outcome {
	/* trials with a notable change of the whole, or of any part */
	unsigned whole, parts;
	unsigned first;	      /* trials with a notable change of the first function */
	unsigned significant; /* trials with any significant change */
	/* trials where the true value is within the margin of the whole */
	unsigned covered;
	/* trials where it is within the margin of the first function */
	unsigned part_covered;
};

/* Returns a number between 0 and 1, both excluded. */
static double next_uniform(uint64_t *seed)
{
	return (next_random(seed, 1u << 30) + 0.5) / (1u << 30);
}

static double next_normal(uint64_t *seed)
{
	double u = next_uniform(seed), v = next_uniform(seed);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static double next_poisson(uint64_t *seed, double mean)
{
	double limit = exp(-mean), product = 1, count = -1;

	if (mean > 50)
		return fmax(0, round(mean + sqrt(mean) * next_normal(seed)));
	do {
		product *= next_uniform(seed);
		count++;
	} while (product > limit);
	return count;
}

/* Makes a program with a few hot functions and many cold ones, which is
 * typical. */
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

/* Simulates one run. parts: by function, then by run. */
static void run(const struct experiment *experiment, size_t index, uint64_t *seed,
		struct whole *whole, struct measurement *parts)
{
	const struct program *program = index < experiment->old_runs ? &experiment->old
								     : &experiment->new;
	size_t runs = experiment->old_runs + experiment->new_runs;
	bool is_new = index >= experiment->old_runs && experiment->new_run_noise > 0;
	double noise = is_new ? experiment->new_run_noise : experiment->run_noise;
	double speed = exp(noise * next_normal(seed));

	if (next_uniform(seed) < experiment->disturbed_share)
		speed *= 1 + experiment->disturbance * next_uniform(seed);

	*whole = (struct whole){0};
	for (size_t i = 0; i < FUNCTIONS; i++) {
		double own = i < experiment->restless ? RESTLESS : experiment->function_noise;
		double cost = program->costs[i] * speed * exp(own * next_normal(seed));
		double samples = next_poisson(seed, cost);

		parts[i * runs + index] = (struct measurement){samples, samples * MS};
		whole->sum.samples += samples;
		whole->sum.weight += samples * MS;
	}
	whole->variance = whole->sum.samples;
}

static struct change whole_of(const struct comparison *comparison, double confidence)
{
	struct whole_estimate estimate = comparison_estimate_whole(comparison);

	return whole_estimate_change(&estimate, confidence);
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
	bool any = false, is_significant = false;

	comparison_learn(comparison, parts, FUNCTIONS);
	for (int i = 0; i < FUNCTIONS; i++) {
		changes[i] = comparison_part(comparison, parts + i * runs);
		all[i] = &changes[i];
	}
	comparison_judge(comparison, all, FUNCTIONS);
	whole = whole_of(comparison, experiment->options.confidence);
	for (int i = 0; i < FUNCTIONS; i++) {
		any = any || changes[i].is_notable;
		is_significant = is_significant || changes[i].is_significant;
	}
	outcome->whole += whole.is_notable;
	outcome->parts += any;
	outcome->first += changes[0].is_notable;
	outcome->significant += is_significant || whole.is_significant;
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

/* At most the nominal share of the trials may be false alarms. If is_exact, the
 * rate must be exact. */
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

TEST(a_guess_is_right_where_the_noise_is_as_assumed)
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
	/* Without the noise option, there would be many false alarms. */
	experiment.options.noise = 0;
	assert_true(repeat(&experiment).whole > TRIALS / 3);
}

/* Simulates a busy machine: most runs vary by 3 percent, and one in ten takes
 * up to 1.5 times as long. */
static struct experiment on_a_busy_machine(size_t runs)
{
	struct experiment experiment = equals(5000, runs);

	experiment.run_noise = experiment.function_noise = 0.03;
	experiment.disturbed_share = 0.1;
	experiment.disturbance = 0.5;
	experiment.options.confidence = 0.99;
	return experiment;
}

TEST(one_recording_on_a_side_is_never_a_verdict)
{
	struct experiment experiment = on_a_busy_machine(1);
	struct outcome outcome = repeat(&experiment);

	/* The guess is wrong in many comparisons. */
	assert_true(outcome.whole > TRIALS / 10);
	assert_int_equal(outcome.significant, 0);
	experiment.new_runs = 5;
	assert_int_equal(repeat(&experiment).significant, 0);
	experiment.new = program_of(50000);
	assert_int_equal(repeat(&experiment).significant, 0);
}

TEST(false_alarms_are_as_rare_as_the_confidence_says)
{
	for (size_t runs = 2; runs <= 5; runs++) {
		struct experiment experiment = on_a_busy_machine(runs);
		struct outcome outcome = repeat(&experiment);

		assert_rate(outcome.whole, runs == 2 ? 0.02 : 0.01, false);
		assert_rate(outcome.parts, runs == 2 ? 0.02 : 0.01, false);
		experiment.options.kind = COMPARE_SHARES;
		outcome = repeat(&experiment);
		assert_int_equal(outcome.whole, 0);
		assert_rate(outcome.parts, runs == 2 ? 0.02 : 0.01, false);
	}
}

/* If one side varies five times as much as the other, a common variance would
 * be wrong. */
TEST(sides_may_vary_differently)
{
	for (size_t runs = 2; runs <= 5; runs++) {
		struct experiment experiment = equals(5000, runs);
		struct outcome outcome;

		experiment.run_noise = 0.01;
		experiment.new_run_noise = 0.05;
		experiment.options.confidence = 0.99;
		outcome = repeat(&experiment);
		assert_rate(outcome.whole, 0.02, false);
		assert_rate(outcome.parts, 0.02, false);
	}
}

/* Functions that vary far more than most, such as those with page faults. */
TEST(a_function_is_judged_by_its_own_variance)
{
	for (size_t runs = 2; runs <= 5; runs++) {
		struct experiment experiment = equals(5000, runs);

		experiment.restless = 10;
		experiment.options.confidence = 0.99;
		assert_rate(repeat(&experiment).parts, 0.01, false);
	}
}

/*
 * The slowdown that is found at 3 percent of noise: with five recordings per
 * side, 10 percent in four of five comparisons; with three, 20 percent; with
 * two, 50 percent in a quarter of them.
 */
TEST(the_power_is_as_the_manual_states)
{
	static const struct {
		size_t runs;
		double factor, least, most;
	} cases[] = {{5, 1.1, 0.75, 0.95}, {3, 1.2, 0.6, 0.85}, {2, 1.5, 0.15, 0.4}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct experiment experiment = equals(5000, cases[i].runs);
		struct outcome outcome;

		experiment.new = program_of(5000 * cases[i].factor);
		experiment.run_noise = 0.03;
		experiment.options.confidence = 0.99;
		outcome = repeat(&experiment);
		assert_in_range(outcome.whole, TRIALS * cases[i].least, TRIALS * cases[i].most);
	}
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

/* The whole grows by a tenth in one function, with 10,000 samples per side:
 * three standard deviations of the whole, and fifteen of the function. */
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
	experiment.old_runs = experiment.new_runs = 5;
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

static struct change change_by(double difference, double margin, bool is_guess)
{
	bool is_notable = fabs(difference) > margin;

	return (struct change){.before = 1,
			       .after = 1 + difference,
			       .margin = margin,
			       .is_guess = is_guess,
			       .is_notable = is_notable,
			       .is_significant = is_notable && !is_guess};
}

TEST(a_limit_is_judged_only_as_far_as_the_interval_allows)
{
	static const struct {
		double difference, margin;
		enum limit_verdict verdict;
	} cases[] = {
		{0.20, 0.04, LIMIT_EXCEEDED}, {0.20, 0.15, LIMIT_EXCEEDED},
		{0.04, 0.01, LIMIT_KEPT},     {0.00, 0.05, LIMIT_KEPT},
		{0.02, 0.04, LIMIT_KEPT},     {0.00, 0.31, LIMIT_UNKNOWN},
		{0.20, 0.31, LIMIT_UNKNOWN},  {-0.02, 0.31, LIMIT_UNKNOWN},
		{-0.50, 0.20, LIMIT_KEPT},    {-0.20, 0.31, LIMIT_UNKNOWN},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct change change = change_by(cases[i].difference, cases[i].margin, false);

		assert_int_equal(change_judge(&change, 0.05), cases[i].verdict);
		change = change_by(cases[i].difference, cases[i].margin, true);
		assert_int_equal(change_judge(&change, 0.05), LIMIT_UNKNOWN);
	}
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
	assert_true(change.is_notable);
}

/* At half the rate, a sample represents twice the time. */
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
	assert_false(change.is_notable);
	change = change_of(COMPARE_SHARES, (struct measurement){500, 500},
			   (struct measurement){500, 500}, (struct measurement){500, 500},
			   (struct measurement){450, 450});
	assert_near(change.after, 0.9, 1e-9);
	assert_true(change.is_notable);
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

/* The time of one thread is known to within a sample, so the function's time
 * has a binomial distribution. */
TEST(time_of_few_threads_is_known_exactly)
{
	struct whole wholes[] = {{{1000, 1000}, 1}, {{1000, 1000}, 1}};
	struct measurement all[] = {{1000, 1000}, {1000, 1000}}, half[] = {{500, 500}, {500, 500}};
	struct comparison_options options = {.kind = COMPARE_WEIGHTS, .confidence = CONFIDENCE};
	CLEANUP(comparison_cleanup)
	struct comparison *comparison = comparison_new(&options, wholes, 1, 1);

	assert_near(whole_of(comparison, CONFIDENCE).margin, 1.96 * sqrt(2) / 1000, 1e-5);
	assert_near(comparison_part(comparison, all).margin, 1.96 * sqrt(2 * (1 + 1)) / 1000, 1e-5);
	assert_near(comparison_part(comparison, half).margin, 1.96 * sqrt(2 * 250) / 1000, 1e-4);
}

TEST(a_new_function_has_a_margin)
{
	struct change change = change_of(COMPARE_WEIGHTS, (struct measurement){1000, 1000},
					 (struct measurement){1000, 1000},
					 (struct measurement){0, 0}, (struct measurement){30, 30});

	assert_true(change.is_notable);
	assert_near(change.margin, 1.96 * sqrt(31) / 1000, 1e-5);
	/* The odds are computed as if there were one sample more. */
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
	assert_false(change.is_notable);
}
