/*
 * Is it more than chance? The distributions that comparisons of recordings need; no data, no state.
 *
 * Sources: Abramowitz & Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4 (Student's
 * t); Przyborowski & Wilenski, Biometrika 31 (1940) (two Poisson counts); Holm, Scand. J. Statist.
 * 6 (1979) (many tests at once).
 */
#ifndef PROF_REPORT_SIGNIFICANCE_H
#define PROF_REPORT_SIGNIFICANCE_H

#include <stddef.h>

/* Degrees of freedom that make Student's distribution the normal one. */
#define STUDENT_NORMAL 1000.0

/* The chance that |t| is at least so large. df is at least 1, and rounded down. */
double student_tail(double t, double df);
/* What |t| stays below with this probability. */
double student_quantile(double confidence, double df);

/*
 * The chance of counts so far apart or farther, one from `a` and one from `b`, where one event in
 * all falls to b with probability share_of_b. Exact, two-sided: twice the smaller tail.
 */
double two_counts_tail(double a, double b, double share_of_b);

/*
 * In place: each p becomes the level at which its test is still passed when all of them are looked
 * at, so that the chance of even one false alarm is kept.
 */
void holm_adjust(double *p, size_t count);

#endif
