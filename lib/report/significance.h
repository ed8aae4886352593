/*
 * Statistical tests for comparisons of recordings: pure functions.
 *
 * Sources: Abramowitz & Stegun, Handbook of Mathematical Functions, 26.5.8 and 26.7.1 (Student's
 * t); Welch, Biometrika 34 (1947) (unequal variances); Przyborowski & Wilenski, Biometrika 31
 * (1940) (two Poisson counts); Holm, Scand. J. Statist. 6 (1979) (many tests at once).
 */
#ifndef PROF_REPORT_SIGNIFICANCE_H
#define PROF_REPORT_SIGNIFICANCE_H

#include <stddef.h>

/*
 * From this number of degrees of freedom on, Student's distribution is
 * approximated by the normal distribution.
 */
#define STUDENT_NORMAL 1000.0

/*
 * Returns the probability that |t| is at least this large. df is at least 1,
 * and need not be an integer.
 */
double student_tail(double t, double df);
/* Returns the value that |t| stays below with this probability. */
double student_quantile(double confidence, double df);

/*
 * Returns the degrees of freedom of the sum of two variances, each estimated
 * with its own. They are between the smaller number and the sum of both.
 * Returns STUDENT_NORMAL if the variances are 0.
 */
double welch_df(const double variances[2], const double dfs[2]);

/*
 * Returns the probability that counts are at least as far apart as `a` and `b`,
 * if each event counts for b with probability share_of_b. It is exact and
 * two-sided: twice the smaller tail.
 */
double two_counts_tail(double a, double b, double share_of_b);

/*
 * Applies Holm's correction in place: each p becomes the level at which its
 * test passes if all `count` tests are made.
 */
void holm_adjust(double *p, size_t count);

#endif
