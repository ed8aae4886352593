#include "report/comparison.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "report/significance.h"

#include <math.h>
#include <stdlib.h>

enum {
	/*
	 * A part with fewer samples cannot be significant, so it is not tested.
	 */
	TESTABLE_SAMPLES = 12,
	/* With more samples the normal distribution is accurate enough. */
	EXACT_SAMPLES = 300,
};

enum { OLD, NEW, SIDES };

/*
 * The part of the noise that affects any function, such as interrupts, as a
 * share of the whole.
 */
#define CONTAMINATION 0.25

struct side {
	double count; /* number of recordings */
	double samples, weight;
};

struct comparison {
	struct comparison_options options;
	struct measurement *wholes;
	size_t counts[SIDES];
	struct side sides[SIDES];    /* of the wholes */
	double variances[SIDES];     /* the sum of the variances of a side */
	bool is_judged;		     /* both sides have several recordings */
	double usual_overdispersion; /* of all parts; squared */
	double last_df, last_quantile;
};

static struct side comparison_sum_up(const struct comparison *comparison,
				     const struct measurement *part, unsigned which)
{
	size_t first = which == OLD ? 0 : comparison->counts[OLD];
	struct side side = {.count = (double)comparison->counts[which]};

	for (size_t i = first; i < first + comparison->counts[which]; i++) {
		side.samples += part[i].samples;
		side.weight += part[i].weight;
	}
	return side;
}

struct comparison *comparison_new(const struct comparison_options *options,
				  const struct whole *wholes, size_t old_count, size_t new_count)
{
	struct comparison *comparison = xcalloc(1, sizeof(*comparison));

	comparison->options = *options;
	comparison->counts[OLD] = old_count;
	comparison->counts[NEW] = new_count;
	comparison->is_judged = old_count > 1 && new_count > 1;
	if (!comparison->is_judged)
		comparison->usual_overdispersion = options->noise * options->noise;
	comparison->wholes = xcalloc(old_count + new_count, sizeof(*comparison->wholes));
	for (size_t i = 0; i < old_count + new_count; i++) {
		comparison->wholes[i] = wholes[i].sum;
		comparison->variances[i < old_count ? OLD : NEW] += wholes[i].variance;
	}
	for (unsigned i = 0; i < SIDES; i++)
		comparison->sides[i] = comparison_sum_up(comparison, comparison->wholes, i);
	return comparison;
}

void comparison_free(struct comparison *comparison)
{
	if (comparison)
		free(comparison->wholes);
	free(comparison);
}

static bool comparison_is_of_shares(const struct comparison *comparison)
{
	return comparison->options.kind == COMPARE_SHARES;
}

/* If no variances were measured, all degrees of freedom are equal. */
static double quantile(struct comparison *comparison, double df)
{
	if (df != comparison->last_df) {
		comparison->last_df = df;
		comparison->last_quantile = student_quantile(comparison->options.confidence, df);
	}
	return comparison->last_quantile;
}

/*
 * Returns the mean of a side: weight per recording, or share of the whole
 * weight.
 */
static double mean_of(const struct comparison *comparison, const struct side *part, unsigned which)
{
	if (comparison_is_of_shares(comparison))
		return part->weight / comparison->sides[which].weight;
	return part->weight / part->count;
}

/*
 * Returns the factor from a relative error (of the odds, or of the weight) to
 * an error of the mean.
 */
static double stretch(const struct comparison *comparison, double mean)
{
	return comparison_is_of_shares(comparison) ? mean * (1 - mean) : mean;
}

/*
 * Returns the relative variance of the odds, or of the weight, that counting
 * alone causes. The unknown rest after each thread's last sample adds to that
 * of the weight.
 */
static double counting(const struct comparison *comparison, double samples, double of,
		       double variance)
{
	double rest = of - samples;

	samples = samples < 1 ? 1 : samples;
	rest = rest < 1 ? 1 : rest;
	if (comparison_is_of_shares(comparison))
		return 1 / samples + 1 / rest;
	return rest / of / samples + variance / of / of;
}

/*
 * Returns the sum of squared deviations of a side's recordings from their mean,
 * relative to it.
 */
static double squared_deviations(const struct comparison *comparison,
				 const struct measurement *part, unsigned which)
{
	struct side side = comparison_sum_up(comparison, part, which);
	size_t first = which == OLD ? 0 : comparison->counts[OLD];
	double mean = mean_of(comparison, &side, which), scale = stretch(comparison, mean);
	double sum = 0;

	if (!(scale > 0))
		return 0;
	for (size_t i = first; i < first + comparison->counts[which]; i++) {
		double of = comparison_is_of_shares(comparison) ? comparison->wholes[i].weight : 1;
		double deviation = ((of > 0 ? part[i].weight / of : 0) - mean) / scale;

		sum += deviation * deviation;
	}
	return sum;
}

/*
 * Returns the variance of a part between recordings that counting does not
 * explain. It may be negative.
 */
static double own_overdispersion(const struct comparison *comparison,
				 const struct measurement *part)
{
	double df = (double)(comparison->counts[OLD] + comparison->counts[NEW]) - SIDES, sum = 0;

	for (unsigned i = 0; i < SIDES; i++) {
		struct side side = comparison_sum_up(comparison, part, i);
		double of = comparison->sides[i].samples / side.count;
		double variance = comparison->variances[i] / side.count;

		sum += squared_deviations(comparison, part, i) -
		       (side.count - 1) *
			       counting(comparison, side.samples / side.count, of, variance);
	}
	return sum / df;
}

static double comparison_samples_of(const struct comparison *comparison,
				    const struct measurement *part)
{
	return comparison_sum_up(comparison, part, OLD).samples +
	       comparison_sum_up(comparison, part, NEW).samples;
}

struct part_overdispersion {
	double value, samples;
};

static int comparison_by_value(const void *a, const void *b)
{
	const struct part_overdispersion *left = a, *right = b;

	return (left->value > right->value) - (left->value < right->value);
}

/*
 * The median by samples describes half of them. Interrupts and page faults vary
 * far more.
 */
void comparison_learn(struct comparison *comparison, const struct measurement *parts, size_t count)
{
	size_t columns = comparison->counts[OLD] + comparison->counts[NEW], known = 0;
	CLEANUP(free_ptr) struct part_overdispersion *values = xcalloc(count, sizeof(*values));
	double samples = 0, below = 0;

	if (!comparison->is_judged)
		return;
	for (size_t i = 0; i < count; i++) {
		struct part_overdispersion *part = &values[known];

		part->samples = comparison_samples_of(comparison, parts + i * columns);
		if (part->samples < TESTABLE_SAMPLES)
			continue;
		part->value = own_overdispersion(comparison, parts + i * columns);
		samples += part->samples;
		known++;
	}
	if (known)
		qsort(values, known, sizeof(*values), comparison_by_value);
	for (size_t i = 0; i < known && below < samples / 2; i++) {
		below += values[i].samples;
		comparison->usual_overdispersion = values[i].value > 0 ? values[i].value : 0;
	}
}

double comparison_overdispersion(const struct comparison *comparison)
{
	return sqrt(comparison->usual_overdispersion);
}

/*
 * Returns the variance that interrupts and similar events cause in any
 * function, in the unit of means. It is a guess.
 */
static double contamination(const struct comparison *comparison, unsigned which)
{
	double whole = comparison_is_of_shares(comparison)
			       ? 1
			       : mean_of(comparison, &comparison->sides[which], which);

	return comparison->is_judged ? 0
				     : pow(comparison->options.noise * CONTAMINATION * whole, 2);
}

/* The estimate for a part on one side. */
struct estimate {
	struct side side;
	double mean;	 /* see mean_of() */
	double one;	 /* the increase of the mean by one more sample */
	double exposure; /* samples per mean of 1 */
};

static struct estimate estimate_of(const struct comparison *comparison,
				   const struct measurement *part, unsigned which)
{
	const struct side *whole = &comparison->sides[which];
	struct estimate estimate = {.side = comparison_sum_up(comparison, part, which)};
	double sample_weight = whole->weight / whole->samples;

	if (estimate.side.samples > 0 && estimate.side.weight > 0)
		sample_weight = estimate.side.weight / estimate.side.samples;
	estimate.mean = mean_of(comparison, &estimate.side, which);
	if (comparison_is_of_shares(comparison)) {
		estimate.one = sample_weight / whole->weight;
		estimate.exposure = whole->samples;
	} else {
		estimate.one = sample_weight / estimate.side.count;
		estimate.exposure = estimate.side.count / sample_weight;
	}
	return estimate;
}

/*
 * Applies the exact test for small counts. For a part that is nearly the whole,
 * the rest is counted.
 */
static double counts_tail(const struct comparison *comparison, const struct estimate *estimates)
{
	double share = estimates[NEW].exposure /
		       (estimates[OLD].exposure + estimates[NEW].exposure);
	double old = estimates[OLD].side.samples, new = estimates[NEW].side.samples;
	double old_rest = comparison->sides[OLD].samples - old;
	double new_rest = comparison->sides[NEW].samples - new;

	if (comparison_is_of_shares(comparison) && old_rest + new_rest < old + new) {
		old = old_rest;
		new = new_rest;
	}
	return old + new <= EXACT_SAMPLES ? two_counts_tail(old, new, share) : 0;
}

/*
 * Returns the variance of a part's mean on one side. A part without samples
 * varies as one sample would.
 */
static double variance_of(const struct comparison *comparison, const struct measurement *part,
			  const struct estimate *estimate, unsigned which)
{
	double count = estimate->side.count;
	double scale = stretch(comparison, fmax(estimate->mean, estimate->one));
	double expected = counting(comparison, estimate->side.samples,
				   comparison->sides[which].samples, comparison->variances[which]) +
			  comparison->usual_overdispersion / count;
	double measured = comparison->is_judged ? squared_deviations(comparison, part, which) /
							  (count - 1) / count
						: 0;

	return scale * scale * fmax(measured, expected) + contamination(comparison, which) / count;
}

/*
 * Returns the degrees of freedom of Student's distribution: those of Welch if
 * the variances were measured.
 */
static double degrees_of_freedom(const struct comparison *comparison, const double *variances)
{
	const double dfs[SIDES] = {comparison->sides[OLD].count - 1,
				   comparison->sides[NEW].count - 1};

	return comparison->is_judged ? welch_df(variances, dfs) : STUDENT_NORMAL;
}

struct change comparison_part(struct comparison *comparison, const struct measurement *part)
{
	const struct estimate estimates[SIDES] = {estimate_of(comparison, part, OLD),
						  estimate_of(comparison, part, NEW)};
	const double variances[SIDES] = {variance_of(comparison, part, &estimates[OLD], OLD),
					 variance_of(comparison, part, &estimates[NEW], NEW)};
	double unit = comparison_is_of_shares(comparison)
			      ? 1
			      : mean_of(comparison, &comparison->sides[OLD], OLD);
	double df = degrees_of_freedom(comparison, variances);
	double error = sqrt(variances[OLD] + variances[NEW]);
	double difference = estimates[NEW].mean - estimates[OLD].mean;

	return (struct change){
		.before = estimates[OLD].mean / unit,
		.after = estimates[NEW].mean / unit,
		.samples = estimates[OLD].side.samples + estimates[NEW].side.samples,
		.margin = quantile(comparison, df) * error / unit,
		.p = error > 0 ? fmax(student_tail(difference / error, df),
				      counts_tail(comparison, estimates))
			       : 1,
		.is_guess = !comparison->is_judged,
	};
}

struct whole_estimate comparison_estimate_whole(const struct comparison *comparison)
{
	const struct side *sides = comparison->sides;
	bool is_judged = comparison->is_judged;
	struct whole_estimate estimate = {
		.ratio = comparison_is_of_shares(comparison)
				 ? 1
				 : mean_of(comparison, &sides[NEW], NEW) /
					   mean_of(comparison, &sides[OLD], OLD),
		.samples = sides[OLD].samples + sides[NEW].samples,
		.is_of_shares = comparison_is_of_shares(comparison),
		.noise = comparison->options.noise,
	};

	for (unsigned i = 0; i < SIDES; i++) {
		double df = sides[i].count - 1;

		estimate.recordings[i] = sides[i].count;
		/*
		 * Recordings of the same work differ by up to one sample; a
		 * single recording by one sample per thread.
		 */
		estimate.sampling[i] = (is_judged ? sides[i].count : comparison->variances[i]) /
				       sides[i].samples / sides[i].samples;
		if (is_judged)
			estimate.measured[i] = (struct measured_variance){
				squared_deviations(comparison, comparison->wholes, i) / df, df};
	}
	return estimate;
}

/* Returns the relative variance of a side's mean. */
static double whole_variance(const struct whole_estimate *estimate, unsigned which)
{
	double measured = estimate->measured[which].value / estimate->recordings[which];

	if (!(estimate->measured[which].df > 0))
		return estimate->sampling[which] + estimate->noise * estimate->noise;
	return fmax(measured, estimate->sampling[which]);
}

struct change whole_estimate_change(const struct whole_estimate *estimate, double confidence)
{
	const double variances[SIDES] = {whole_variance(estimate, OLD),
					 whole_variance(estimate, NEW)};
	const double dfs[SIDES] = {estimate->measured[OLD].df, estimate->measured[NEW].df};
	bool is_judged = dfs[OLD] > 0 && dfs[NEW] > 0;
	double error = estimate->ratio * sqrt(variances[OLD] + variances[NEW]);
	double df = is_judged ? welch_df(variances, dfs) : STUDENT_NORMAL;
	struct change change = {
		.before = 1,
		.after = estimate->ratio,
		.samples = estimate->samples,
		.p = 1,
		.is_guess = !is_judged,
	};

	if (estimate->is_of_shares)
		return change;
	change.margin = error * student_quantile(confidence, df);
	change.p = student_tail((estimate->ratio - 1) / error, df);
	change.is_notable = change.p < 1 - confidence;
	change.is_significant = change.is_notable && is_judged;
	return change;
}

enum limit_verdict change_judge(const struct change *change, double limit)
{
	double difference = change->after - change->before;

	if (change->is_significant && difference > limit)
		return LIMIT_EXCEEDED;
	if (change->is_guess)
		return LIMIT_UNKNOWN;
	if (difference + change->margin <= limit)
		return LIMIT_KEPT;
	return change->margin > limit || difference > limit ? LIMIT_UNKNOWN : LIMIT_KEPT;
}

void comparison_judge(const struct comparison *comparison, struct change **changes, size_t count)
{
	CLEANUP(free_ptr) double *p = xcalloc(count, sizeof(*p));
	CLEANUP(free_ptr) size_t *tested = xcalloc(count, sizeof(*tested));
	size_t testable = 0;

	for (size_t i = 0; i < count; i++) {
		if (changes[i]->samples < TESTABLE_SAMPLES) {
			changes[i]->p = 1;
			continue;
		}
		tested[testable] = i;
		p[testable++] = changes[i]->p;
	}
	holm_adjust(p, testable);
	for (size_t i = 0; i < testable; i++) {
		changes[tested[i]]->p = p[i];
		changes[tested[i]]->is_notable = p[i] < 1 - comparison->options.confidence;
		changes[tested[i]]->is_significant = changes[tested[i]]->is_notable &&
						     comparison->is_judged;
	}
}
