#include "base/nearest.h"

#include "unit_test.h"

#include <stdint.h>

static const char *const words[] = {"record", "report", "cpu-clock", "top", NULL};

TEST(a_misspelt_word_gets_the_nearest_candidate)
{
	assert_string_equal(nearest("recrod", words), "record");
	assert_string_equal(nearest("reprot", words), "report");
	assert_string_equal(nearest("cpuclock", words), "cpu-clock");
	assert_string_equal(nearest("tpo", words), "top");
	assert_string_equal(nearest("top", words), "top");
}

TEST(a_word_that_is_like_none_gets_no_candidate)
{
	static const char *const long_one[] = {
		"0123456789012345678901234567890123456789012345678901234567890123", NULL};

	assert_null(nearest("xyzzy", words));
	assert_null(nearest("", words));
	assert_null(nearest("a", (const char *const[]){NULL}));
	assert_null(nearest(long_one[0], long_one));
}
