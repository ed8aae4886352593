/*
 * Compares doubles except for rounding. cmocka's own assertion takes floats.
 */
#ifndef PROF_TESTS_NEAR_H
#define PROF_TESTS_NEAR_H

#include <math.h>

#define assert_near(actual, expected, within)                                                      \
	do {                                                                                       \
		double actual_ = (actual), expected_ = (expected);                                 \
		if (!(fabs(actual_ - expected_) <= (within)))                                      \
			fail_msg("%.12g is not %.12g", actual_, expected_);                        \
	} while (0)

#endif
