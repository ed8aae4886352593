#include "report/comparison.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "report/significance.h"

#include <math.h>
#include <stdlib.h>

enum {
	/* With fewer samples a part cannot be significant, so it is not tested. */
	TESTABLE_SAMPLES = 12,
	/* With more samples the normal distribution is exact enough. */
	EXACT_SAMPLES = 300,
};

enum { OLD, NEW, SIDES };

/* The part of the noise that hits any function, such as interrupts, as a share of the whole. */
#define CONTAMINATION 0.25

struct side {
	double count; /* of recordings */
	double samples, weight;
};

struct comparison {
	struct comparison_options options;
	struct measurement *wholes;
	size_t counts[SIDES];
	struct side sides[SIDES]; /* of the wholes */
	double variances[SIDES];  /* sums of theirs */
	double df;		  /* degrees of freedom between recordings; 0: cannot be measured */
	double usual_overdispersion; /* of all parts; squared */
	double quantiles[(size_t)STUDENT_NORMAL +
			 1]; /* by degrees of freedom; 0: not computed yet */
};

static struct side sum_up(const struct comparison *comparison, const struct measurement *part,
			  unsigned which)
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
	comparison->df = (double)(old_count + new_count) - SIDES;
	if (comparison->df < 1)
		comparison->usual_overdispersion = options->noise * options->noise;
	comparison->wholes = xcalloc(old_count + new_count, sizeof(*comparison->wholes));
	for (size_t i = 0; i < old_count + new_count; i++) {
		comparison->wholes[i] = wholes[i].sum;
		comparison->variances[i < old_count ? OLD : NEW] += wholes[i].variance;
	}
	for (unsigned i = 0; i < SIDES; i++)
		comparison->sides[i] = sum_up(comparison, comparison->wholes, i);
	return comparison;
}

void comparison_free(struct comparison *comparison)
{
	if (comparison)
		free(comparison->wholes);
	free(comparison);
}

static bool is_of_shares(const struct comparison *comparison)
{
	return comparison->options.kind == COMPARE_SHARES;
}

static double quantile(struct comparison *comparison, double df)
{
	double *known = &comparison->quantiles[(size_t)df];

	if (*known == 0)
		*known = student_quantile(comparison->options.confidence, df);
	return *known;
}

/* The mean of a side: weight per recording, or share of the whole weight. */
static double mean_of(const struct comparison *comparison, const struct side *part, unsigned which)
{
	if (is_of_shares(comparison))
		return part->weight / comparison->sides[which].weight;
	return part->weight / part->count;
}

/* The factor from a relative error (of the odds, or of the weight) to an error of the mean. */
static double stretch(const struct comparison *comparison, double mean)
{
	return is_of_shares(comparison) ? mean * (1 - mean) : mean;
}

/*
 * The relative variance from counting alone: of the odds, or of the weight, to which the unknown
 * rest after each thread's last sample adds.
 */
static double counting(const struct comparison *comparison, double samples, double of,
		       double variance)
{
	double rest = of - samples;

	samples = samples < 1 ? 1 : samples;
	rest = rest < 1 ? 1 : rest;
	if (is_of_shares(comparison))
		return 1 / samples + 1 / rest;
	return rest / of / samples + variance / of / of;
}

/* The sum of squared deviations of a side's recordings from their mean, relative to it. */
static double squared_deviations(const struct comparison *comparison,
				 const struct measurement *part, unsigned which)
{
	struct side side = sum_up(comparison, part, which);
	size_t first = which == OLD ? 0 : comparison->counts[OLD];
	double mean = mean_of(comparison, &side, which), scale = stretch(comparison, mean);
	double sum = 0;

	if (!(scale > 0))
		return 0;
	for (size_t i = first; i < first + comparison->counts[which]; i++) {
		double of = is_of_shares(comparison) ? comparison->wholes[i].weight : 1;
		double deviation = ((of > 0 ? part[i].weight / of : 0) - mean) / scale;

		sum += deviation * deviation;
	}
	return sum;
}

/* The variance of a part between recordings that counting does not explain. May be negative. */
static double own_overdispersion(const struct comparison *comparison,
				 const struct measurement *part)
{
	double sum = 0;

	for (unsigned i = 0; i < SIDES; i++) {
		struct side side = sum_up(comparison, part, i);
		double of = comparison->sides[i].samples / side.count;
		double variance = comparison->variances[i] / side.count;

		sum += squared_deviations(comparison, part, i) -
		       (side.count - 1) *
			       counting(comparison, side.samples / side.count, of, variance);
	}
	return sum / comparison->df;
}

static double samples_of(const struct comparison *comparison, const struct measurement *part)
{
	return sum_up(comparison, part, OLD).samples + sum_up(comparison, part, NEW).samples;
}

struct part_overdispersion {
	double value, samples;
};

static int by_value(const void *a, const void *b)
{
	const struct part_overdispersion *left = a, *right = b;

	return (left->value > right->value) - (left->value < right->value);
}

/* The median by samples: what happens to half of them. Interrupts and page faults overdispersion
 * far. */
void comparison_learn(struct comparison *comparison, const struct measurement *parts, size_t count)
{
	size_t columns = comparison->counts[OLD] + comparison->counts[NEW], known = 0;
	CLEANUP(free_ptr) struct part_overdispersion *values = xcalloc(count, sizeof(*values));
	double samples = 0, below = 0;

	if (comparison->df < 1)
		return;
	for (size_t i = 0; i < count; i++) {
		struct part_overdispersion *part = &values[known];

		part->samples = samples_of(comparison, parts + i * columns);
		if (part->samples < TESTABLE_SAMPLES)
			continue;
		part->value = own_overdispersion(comparison, parts + i * columns);
		samples += part->samples;
		known++;
	}
	if (known)
		qsort(values, known, sizeof(*values), by_value);
	for (size_t i = 0; i < known && below < samples / 2; i++) {
		below += values[i].samples;
		comparison->usual_overdispersion = values[i].value > 0 ? values[i].value : 0;
	}
}

double comparison_overdispersion(const struct comparison *comparison)
{
	return sqrt(comparison->usual_overdispersion);
}

/* Squared. */
static double overdispersion_of(const struct comparison *comparison, const struct measurement *part)
{
	double own = comparison->df < 1 ? 0 : own_overdispersion(comparison, part);

	return own > comparison->usual_overdispersion ? own : comparison->usual_overdispersion;
}

/* The variance from contamination, in the unit of means. */
static double contamination(const struct comparison *comparison, unsigned which)
{
	double whole = is_of_shares(comparison)
			       ? 1
			       : mean_of(comparison, &comparison->sides[which], which);

	return comparison->df < 1 ? pow(comparison->options.noise * CONTAMINATION * whole, 2) : 0;
}

/* The variance of counting is known, that between recordings is estimated from few of them:
 * Satterthwaite's approximation. */
static double degrees_of_freedom(const struct comparison *comparison, double counted,
				 double overdispersion)
{
	double df;

	if (comparison->df < 1 || !(counted + overdispersion > 0))
		return STUDENT_NORMAL;
	/* A small measured overdispersion may be small by chance. */
	if (overdispersion < counted)
		overdispersion = counted;
	df = comparison->df * pow((counted + overdispersion) / overdispersion, 2);
	return df < STUDENT_NORMAL ? df : STUDENT_NORMAL;
}

/* What is known of a part on one side. */
struct estimate {
	struct side side;
	double mean;	 /* as of mean_of() */
	double one;	 /* what one more sample adds to the mean */
	double exposure; /* samples per mean of 1 */
};

static struct estimate estimate_of(const struct comparison *comparison,
				   const struct measurement *part, unsigned which)
{
	const struct side *whole = &comparison->sides[which];
	struct estimate estimate = {.side = sum_up(comparison, part, which)};
	double sample_weight = whole->weight / whole->samples;

	if (estimate.side.samples > 0 && estimate.side.weight > 0)
		sample_weight = estimate.side.weight / estimate.side.samples;
	estimate.mean = mean_of(comparison, &estimate.side, which);
	if (is_of_shares(comparison)) {
		estimate.one = sample_weight / whole->weight;
		estimate.exposure = whole->samples;
	} else {
		estimate.one = sample_weight / estimate.side.count;
		estimate.exposure = estimate.side.count / sample_weight;
	}
	return estimate;
}

/* The exact test for small counts. For a part that is nearly the whole, the rest is counted. */
static double counts_tail(const struct comparison *comparison, const struct estimate *estimates)
{
	double share = estimates[NEW].exposure /
		       (estimates[OLD].exposure + estimates[NEW].exposure);
	double old = estimates[OLD].side.samples, new = estimates[NEW].side.samples;
	double old_rest = comparison->sides[OLD].samples - old;
	double new_rest = comparison->sides[NEW].samples - new;

	if (is_of_shares(comparison) && old_rest + new_rest < old + new) {
		old = old_rest;
		new = new_rest;
	}
	return old + new <= EXACT_SAMPLES ? two_counts_tail(old, new, share) : 0;
}

/* The chance of the difference if both sides are equal. */
static double tail_of(const struct comparison *comparison, const struct estimate *estimates,
		      double overdispersion)
{
	double exposure = estimates[OLD].exposure + estimates[NEW].exposure;
	double samples = estimates[OLD].side.samples + estimates[NEW].side.samples;
	double mean = is_of_shares(comparison) ? (estimates[OLD].mean * estimates[OLD].exposure +
						  estimates[NEW].mean * estimates[NEW].exposure) /
							 exposure
					       : samples / exposure;
	double counted = 0, dispersion = 0, exact, tail;
	double scale = stretch(comparison, mean);

	for (unsigned i = 0; i < SIDES; i++) {
		counted += scale * scale *
			   counting(comparison, samples * estimates[i].exposure / exposure,
				    comparison->sides[i].samples, comparison->variances[i]);
		dispersion += (scale * scale * overdispersion + contamination(comparison, i)) /
			      estimates[i].side.count;
	}
	if (!(counted + dispersion > 0))
		return 1;
	tail = student_tail((estimates[NEW].mean - estimates[OLD].mean) /
				    sqrt(counted + dispersion),
			    degrees_of_freedom(comparison, counted, dispersion));
	exact = counts_tail(comparison, estimates);
	return exact > tail ? exact : tail;
}

static double margin_of(struct comparison *comparison, const struct estimate *estimates,
			double overdispersion)
{
	double counted = 0, dispersion = 0;

	for (unsigned i = 0; i < SIDES; i++) {
		double mean = estimates[i].mean > estimates[i].one ? estimates[i].mean
								   : estimates[i].one;
		double variance = pow(stretch(comparison, mean), 2);

		counted += variance * counting(comparison, estimates[i].side.samples,
					       comparison->sides[i].samples,
					       comparison->variances[i]);
		dispersion += (variance * overdispersion + contamination(comparison, i)) /
			      estimates[i].side.count;
	}
	return quantile(comparison, degrees_of_freedom(comparison, counted, dispersion)) *
	       sqrt(counted + dispersion);
}

struct change comparison_part(struct comparison *comparison, const struct measurement *part)
{
	const struct estimate estimates[SIDES] = {estimate_of(comparison, part, OLD),
						  estimate_of(comparison, part, NEW)};
	double overdispersion = overdispersion_of(comparison, part);
	double unit = is_of_shares(comparison) ? 1
					       : mean_of(comparison, &comparison->sides[OLD], OLD);

	return (struct change){
		.before = estimates[OLD].mean / unit,
		.after = estimates[NEW].mean / unit,
		.samples = estimates[OLD].side.samples + estimates[NEW].side.samples,
		.margin = margin_of(comparison, estimates, overdispersion) / unit,
		.p = tail_of(comparison, estimates, overdispersion),
	};
}

/* Of recordings, relative to the mean of their side. */
static struct measured_variance variance_of_recordings(const struct comparison *comparison)
{
	double deviations = 0;

	if (comparison->df < 1)
		return (struct measured_variance){0};
	for (unsigned i = 0; i < SIDES; i++)
		deviations += squared_deviations(comparison, comparison->wholes, i);
	return (struct measured_variance){deviations / comparison->df, comparison->df};
}

struct whole_estimate comparison_estimate_whole(const struct comparison *comparison)
{
	const struct side *sides = comparison->sides;
	struct whole_estimate estimate = {
		.ratio = is_of_shares(comparison) ? 1
						  : mean_of(comparison, &sides[NEW], NEW) /
							    mean_of(comparison, &sides[OLD], OLD),
		.samples = sides[OLD].samples + sides[NEW].samples,
		.is_of_shares = is_of_shares(comparison),
		.noise = comparison->options.noise,
		.measured = variance_of_recordings(comparison),
	};

	for (unsigned i = 0; i < SIDES; i++) {
		estimate.recordings[i] = sides[i].count;
		/* Equal recordings differ by up to one sample, per thread if there is only one. */
		estimate.sampling[i] = (comparison->df < 1 ? comparison->variances[i]
							   : sides[i].count) /
				       sides[i].samples / sides[i].samples;
	}
	return estimate;
}

/* The relative variance of a side's mean. */
static double whole_variance(const struct whole_estimate *estimate, unsigned which)
{
	double measured = estimate->measured.value / estimate->recordings[which];

	if (!(estimate->measured.df > 0))
		return estimate->sampling[which] + estimate->noise * estimate->noise;
	return fmax(measured, estimate->sampling[which]);
}

struct change whole_estimate_change(const struct whole_estimate *estimate, double confidence)
{
	double error = estimate->ratio *
		       sqrt(whole_variance(estimate, OLD) + whole_variance(estimate, NEW));
	double measured = estimate->measured.df;
	double df = measured > 0 ? fmin(measured, STUDENT_NORMAL) : STUDENT_NORMAL;
	struct change change = {
		.before = 1,
		.after = estimate->ratio,
		.samples = estimate->samples,
		.p = 1,
	};

	if (estimate->is_of_shares)
		return change;
	change.margin = error * student_quantile(confidence, df);
	change.p = student_tail((estimate->ratio - 1) / error, df);
	change.is_significant = change.p < 1 - confidence;
	return change;
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
		changes[tested[i]]->is_significant = p[i] < 1 - comparison->options.confidence;
	}
}
