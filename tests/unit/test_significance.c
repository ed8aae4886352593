#include "report/significance.h"

#include "base/alloc.h"
#include "near.h"
#include "unit_test.h"

#include <math.h>
#include <stdlib.h>

/* Critical values from tables of Student's distribution. */
TEST(student_is_as_in_the_tables)
{
	static const struct {
		double confidence, df, t;
	} table[] = {{0.95, 1, 12.7062},
		     {0.95, 2, 4.3027},
		     {0.95, 3, 3.1824},
		     {0.95, 4, 2.7764},
		     {0.95, 10, 2.2281},
		     {0.95, 30, 2.0423},
		     {0.99, 1, 63.6567},
		     {0.99, 5, 4.0321},
		     {0.99, 120, 2.6174},
		     {0.999, 7, 5.4079},
		     {0.95, 1.5, 6.0167},
		     {0.99, 2.5, 7.1637},
		     {0.95, STUDENT_NORMAL, 1.9600}};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		assert_near(student_quantile(table[i].confidence, table[i].df), table[i].t, 1e-3);
		assert_near(student_tail(-table[i].t, table[i].df), 1 - table[i].confidence, 1e-4);
	}
	assert_near(student_tail(0, 3), 1, 1e-12);
	assert_near(student_tail(INFINITY, 3), 0, 1e-12);
}

TEST(welch_counts_the_side_that_varies)
{
	assert_near(welch_df((const double[]){1, 1}, (const double[]){4, 4}), 8, 1e-9);
	assert_near(welch_df((const double[]){1, 0}, (const double[]){4, 9}), 4, 1e-9);
	assert_near(welch_df((const double[]){0, 0}, (const double[]){4, 4}), STUDENT_NORMAL, 0);
}

TEST(two_counts_are_a_coin_that_is_tossed)
{
	assert_near(two_counts_tail(0, 10, 0.5), 2.0 / 1024, 1e-12);
	assert_near(two_counts_tail(10, 0, 0.5), 2.0 / 1024, 1e-12);
	assert_near(two_counts_tail(2, 8, 0.5), 2 * 56.0 / 1024, 1e-12);
	assert_near(two_counts_tail(5, 5, 0.5), 1, 1e-12);
	assert_near(two_counts_tail(3, 0, 0.25), 2 * 27.0 / 64, 1e-12);
	assert_near(two_counts_tail(0, 3, 0.25), 2.0 / 64, 1e-12);
	assert_near(two_counts_tail(0, 0, 0.3), 1, 1e-12);
}

TEST(many_tests_make_each_of_them_stricter)
{
	double p[] = {0.04, 0.001, 0.02, 0.5};

	holm_adjust(p, ARRAY_SIZE(p));
	assert_near(p[1], 0.004, 1e-12);
	assert_near(p[2], 0.06, 1e-12);
	assert_near(p[0], 0.08, 1e-12);
	assert_near(p[3], 0.5, 1e-12);
	holm_adjust(NULL, 0);
}
