/*
 * The statistics of `prof diff`: how far apart two sides are, each of one or several recordings,
 *and how far apart chance alone would put them.
 *
 * What the whole costs is known but for a sample of each thread: samples are taken at equal
 * distances. Which function one falls into is chance, so a part's count is binomial. What is more,
 * two runs of one program differ by more than that, since caches, addresses, clocks and neighbours
 * do; interrupts come to anybody. A part's variance between recordings is, relative to it,
 *
 *	(1 - share) / samples + spread² + (stray / share)²
 *
 * One recording a side cannot tell the spread: `noise` is taken for it, and a quarter of it for
 *what strays into any function. Several tell: the spread of a part is then the larger one of its
 *own and of what is usual among all parts, nothing strays, and Student's distribution stands for
 *what so few recordings know of their spread.
 */
#ifndef PROF_REPORT_COMPARISON_H
#define PROF_REPORT_COMPARISON_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

enum comparison_kind {
	COMPARE_WEIGHTS, /* a recording: two runs of the same work */
	COMPARE_SHARES,	 /* of all weights of the recording: two times of what goes on running */
};

/* What one recording has of something. */
struct measurement {
	double samples, weight;
};

/* What it has in all. */
struct whole {
	struct measurement sum;
	double threads; /* that have samples; not above these: where unknown, as many */
};

struct comparison_options {
	enum comparison_kind kind;
	double confidence; /* 0.99: one false alarm in a hundred comparisons of equals */
	double noise;	   /* standard deviation between runs, as a share: 0.02 */
};

/* before, after and margin are shares: of what OLD has in all (COMPARE_WEIGHTS), or of what each
 * side has (COMPARE_SHARES). */
struct change {
	double before, after;
	double samples;	     /* of both sides */
	double margin;	     /* after - before may be off by so much */
	double p;	     /* the chance of so large a change where nothing has changed */
	bool is_significant; /* p is small enough; for a part: with all others looked at as well */
};

struct comparison;

/* wholes: those of the recordings of OLD, then of NEW; at least one a side. Borrowed. */
struct comparison *comparison_new(const struct comparison_options *options,
				  const struct whole *wholes, size_t old_count, size_t new_count);
void comparison_free(struct comparison *comparison);
DEFINE_CLEANUP(comparison, comparison_free)

/*
 * Parts that do not overlap, each of as many measurements as there are wholes, one part behind the
 * other: where there are several recordings a side, they tell what spread is usual. Comes before
 * any change is asked for.
 */
void comparison_learn(struct comparison *comparison, const struct measurement *parts, size_t count);

/* Of the whole. Shares: there is none. */
struct change comparison_whole(struct comparison *comparison);
struct change comparison_part(struct comparison *comparison, const struct measurement *part);

/* The spread that is taken for all parts: the noise, or what was learnt. */
double comparison_spread(const struct comparison *comparison);

/* Decides which of the changes are significant: the chance that there is even one among them where
 * nothing has changed is 1 - confidence. Their p becomes that of the whole family. */
void comparison_judge(const struct comparison *comparison, struct change **changes, size_t count);

#endif
