#include "report/comparison.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "report/significance.h"

#include <math.h>
#include <stdlib.h>

enum {
	/* Fewer could not be significant beside many others, and so are not among the others. */
	TESTABLE_SAMPLES = 12,
	/* More are normally distributed. */
	EXACT_SAMPLES = 300,
};

enum { OLD, NEW, SIDES };

/* Of the noise: what strays into a function that has nothing to do with it, as a share of all. */
#define STRAY 0.25

struct side {
	double count; /* of recordings */
	double samples, weight;
};

struct comparison {
	struct comparison_options options;
	struct measurement *wholes;
	size_t counts[SIDES];
	struct side sides[SIDES]; /* of the wholes */
	double threads[SIDES];	  /* sums of theirs */
	double df;		  /* of what the recordings tell of their spread; 0: nothing */
	double usual_spread;	  /* squared: of all parts */
	double quantiles[(size_t)STUDENT_NORMAL +
			 1]; /* by degrees of freedom; 0: not asked for so far */
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
		comparison->usual_spread = options->noise * options->noise;
	comparison->wholes = xcalloc(old_count + new_count, sizeof(*comparison->wholes));
	for (size_t i = 0; i < old_count + new_count; i++) {
		comparison->wholes[i] = wholes[i].sum;
		comparison->threads[i < old_count ? OLD : NEW] += wholes[i].threads;
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

/* The mean of a side: a recording's weight, or the share of all weights. */
static double mean_of(const struct comparison *comparison, const struct side *part, unsigned which)
{
	if (is_of_shares(comparison))
		return part->weight / comparison->sides[which].weight;
	return part->weight / part->count;
}

/* What a relative error of the odds, or of the weight, makes of the mean. */
static double stretch(const struct comparison *comparison, double mean)
{
	return is_of_shares(comparison) ? mean * (1 - mean) : mean;
}

/*
 * The relative variance that counting alone brings: of the odds, or of the weight, where what the
 * threads' last samples leave open comes to it.
 */
static double counting(const struct comparison *comparison, double samples, double of,
		       double threads)
{
	double rest = of - samples;

	samples = samples < 1 ? 1 : samples;
	rest = rest < 1 ? 1 : rest;
	if (is_of_shares(comparison))
		return 1 / samples + 1 / rest;
	return rest / of / samples + threads / of / of;
}

/* Squared deviations of the recordings from the mean of their side, relative to it. */
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

/* A part's variance between recordings that counting does not explain. May be negative. */
static double own_excess(const struct comparison *comparison, const struct measurement *part)
{
	double sum = 0;

	for (unsigned i = 0; i < SIDES; i++) {
		struct side side = sum_up(comparison, part, i);
		double of = comparison->sides[i].samples / side.count;
		double threads = comparison->threads[i] / side.count;

		sum += squared_deviations(comparison, part, i) -
		       (side.count - 1) *
			       counting(comparison, side.samples / side.count, of, threads);
	}
	return sum / comparison->df;
}

static double samples_of(const struct comparison *comparison, const struct measurement *part)
{
	return sum_up(comparison, part, OLD).samples + sum_up(comparison, part, NEW).samples;
}

struct excess {
	double value, samples;
};

static int by_value(const void *a, const void *b)
{
	const struct excess *left = a, *right = b;

	return (left->value > right->value) - (left->value < right->value);
}

/* The median by samples: what happens to half of them. Interrupts and page faults spread far. */
void comparison_learn(struct comparison *comparison, const struct measurement *parts, size_t count)
{
	size_t columns = comparison->counts[OLD] + comparison->counts[NEW], known = 0;
	CLEANUP(free_ptr) struct excess *excesses = xcalloc(count, sizeof(*excesses));
	double samples = 0, below = 0;

	if (comparison->df < 1)
		return;
	for (size_t i = 0; i < count; i++) {
		struct excess *excess = &excesses[known];

		excess->samples = samples_of(comparison, parts + i * columns);
		if (excess->samples < TESTABLE_SAMPLES)
			continue;
		excess->value = own_excess(comparison, parts + i * columns);
		samples += excess->samples;
		known++;
	}
	if (known)
		qsort(excesses, known, sizeof(*excesses), by_value);
	for (size_t i = 0; i < known && below < samples / 2; i++) {
		below += excesses[i].samples;
		comparison->usual_spread = excesses[i].value > 0 ? excesses[i].value : 0;
	}
}

double comparison_spread(const struct comparison *comparison)
{
	return sqrt(comparison->usual_spread);
}

/* Squared. */
static double spread_of(const struct comparison *comparison, const struct measurement *part)
{
	double own = comparison->df < 1 ? 0 : own_excess(comparison, part);

	return own > comparison->usual_spread ? own : comparison->usual_spread;
}

/* The variance of what strays into a part, in the unit of means. */
static double stray(const struct comparison *comparison, unsigned which)
{
	double whole = is_of_shares(comparison)
			       ? 1
			       : mean_of(comparison, &comparison->sides[which], which);

	return comparison->df < 1 ? pow(comparison->options.noise * STRAY * whole, 2) : 0;
}

/* Counting is known exactly, the spread by so few recordings: between them by Satterthwaite. */
static double degrees_of_freedom(const struct comparison *comparison, double counted, double spread)
{
	double df;

	if (comparison->df < 1 || !(counted + spread > 0))
		return STUDENT_NORMAL;
	/* A spread that seems small may be so by luck alone. */
	if (spread < counted)
		spread = counted;
	df = comparison->df * pow((counted + spread) / spread, 2);
	return df < STUDENT_NORMAL ? df : STUDENT_NORMAL;
}

/* What a side has of a part. */
struct stake {
	struct side side;
	double mean;	 /* as of mean_of() */
	double one;	 /* the mean that one sample more would make */
	double exposure; /* how many samples the side has to show for a mean of 1 */
};

static struct stake stake_of(const struct comparison *comparison, const struct measurement *part,
			     unsigned which)
{
	const struct side *whole = &comparison->sides[which];
	struct stake stake = {.side = sum_up(comparison, part, which)};
	double sample_weight = whole->weight / whole->samples;

	if (stake.side.samples > 0 && stake.side.weight > 0)
		sample_weight = stake.side.weight / stake.side.samples;
	stake.mean = mean_of(comparison, &stake.side, which);
	if (is_of_shares(comparison)) {
		stake.one = sample_weight / whole->weight;
		stake.exposure = whole->samples;
	} else {
		stake.one = sample_weight / stake.side.count;
		stake.exposure = stake.side.count / sample_weight;
	}
	return stake;
}

/* Exact, where the counts are small; of a part that is nearly all, the rest is what is counted. */
static double counts_tail(const struct comparison *comparison, const struct stake *stakes)
{
	double share = stakes[NEW].exposure / (stakes[OLD].exposure + stakes[NEW].exposure);
	double old = stakes[OLD].side.samples, new = stakes[NEW].side.samples;
	double old_rest = comparison->sides[OLD].samples - old;
	double new_rest = comparison->sides[NEW].samples - new;

	if (is_of_shares(comparison) && old_rest + new_rest < old + new) {
		old = old_rest;
		new = new_rest;
	}
	return old + new <= EXACT_SAMPLES ? two_counts_tail(old, new, share) : 0;
}

/* The chance of the difference, if both sides had what they have in the mean. */
static double tail_of(const struct comparison *comparison, const struct stake *stakes,
		      double spread)
{
	double exposure = stakes[OLD].exposure + stakes[NEW].exposure;
	double samples = stakes[OLD].side.samples + stakes[NEW].side.samples;
	double mean = is_of_shares(comparison) ? (stakes[OLD].mean * stakes[OLD].exposure +
						  stakes[NEW].mean * stakes[NEW].exposure) /
							 exposure
					       : samples / exposure;
	double counted = 0, spreads = 0, exact, tail;
	double scale = stretch(comparison, mean);

	for (unsigned i = 0; i < SIDES; i++) {
		counted += scale * scale *
			   counting(comparison, samples * stakes[i].exposure / exposure,
				    comparison->sides[i].samples, comparison->threads[i]);
		spreads += (scale * scale * spread + stray(comparison, i)) / stakes[i].side.count;
	}
	if (!(counted + spreads > 0))
		return 1;
	tail = student_tail((stakes[NEW].mean - stakes[OLD].mean) / sqrt(counted + spreads),
			    degrees_of_freedom(comparison, counted, spreads));
	exact = counts_tail(comparison, stakes);
	return exact > tail ? exact : tail;
}

static double margin_of(struct comparison *comparison, const struct stake *stakes, double spread)
{
	double counted = 0, spreads = 0;

	for (unsigned i = 0; i < SIDES; i++) {
		double mean = stakes[i].mean > stakes[i].one ? stakes[i].mean : stakes[i].one;
		double variance = pow(stretch(comparison, mean), 2);

		counted += variance * counting(comparison, stakes[i].side.samples,
					       comparison->sides[i].samples,
					       comparison->threads[i]);
		spreads += (variance * spread + stray(comparison, i)) / stakes[i].side.count;
	}
	return quantile(comparison, degrees_of_freedom(comparison, counted, spreads)) *
	       sqrt(counted + spreads);
}

struct change comparison_part(struct comparison *comparison, const struct measurement *part)
{
	const struct stake stakes[SIDES] = {stake_of(comparison, part, OLD),
					    stake_of(comparison, part, NEW)};
	double spread = spread_of(comparison, part);
	double unit = is_of_shares(comparison) ? 1
					       : mean_of(comparison, &comparison->sides[OLD], OLD);

	return (struct change){
		.before = stakes[OLD].mean / unit,
		.after = stakes[NEW].mean / unit,
		.samples = stakes[OLD].side.samples + stakes[NEW].side.samples,
		.margin = margin_of(comparison, stakes, spread) / unit,
		.p = tail_of(comparison, stakes, spread),
	};
}

/* The relative variance of a side's mean. */
static double whole_variance(const struct comparison *comparison, unsigned which)
{
	const struct side *side = &comparison->sides[which];
	double noise = comparison->options.noise, deviations = 0, least;

	if (comparison->df < 1)
		return comparison->threads[which] / side->samples / side->samples + noise * noise;
	for (unsigned i = 0; i < SIDES; i++)
		deviations += squared_deviations(comparison, comparison->wholes, i);
	deviations /= comparison->df * side->count;
	/* Equal recordings are equal up to a sample. */
	least = side->count / side->samples / side->samples;
	return deviations > least ? deviations : least;
}

struct change comparison_whole(struct comparison *comparison)
{
	const struct side *sides = comparison->sides;
	double ratio = mean_of(comparison, &sides[NEW], NEW) /
		       mean_of(comparison, &sides[OLD], OLD);
	double error = ratio *
		       sqrt(whole_variance(comparison, OLD) + whole_variance(comparison, NEW));
	double df = comparison->df < 1 ? STUDENT_NORMAL : comparison->df;
	struct change change = {
		.before = 1,
		.after = ratio,
		.samples = sides[OLD].samples + sides[NEW].samples,
		.margin = error * quantile(comparison, df),
		.p = student_tail((ratio - 1) / error, df),
	};

	if (is_of_shares(comparison))
		return (struct change){.before = 1, .after = 1, .samples = change.samples, .p = 1};
	change.is_significant = change.p < 1 - comparison->options.confidence;
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
