#include "report/iteration_time.h"

#include "near.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

static bool read_text(const char *text, struct iteration_time *ret)
{
	return iteration_time_read(text, strlen(text), ret);
}

TEST(the_estimate_is_the_slope)
{
	struct iteration_time time;

	assert_true(read_text("{\"mean\":{\"point_estimate\":250.0,\"standard_error\":1.0},"
			      "\"slope\":{\"confidence_interval\":{},\"point_estimate\":200.5,"
			      "\"standard_error\":2.005}}",
			      &time));
	assert_near(time.ns, 200.5, 1e-9);
	assert_near(time.error, 0.01, 1e-9);
}

/* Criterion writes null or omits the slope. */
TEST(without_a_slope_it_is_the_mean)
{
	struct iteration_time time;

	assert_true(read_text("{\"mean\":{\"point_estimate\":2.5e2,\"standard_error\":0},"
			      "\"slope\":null}",
			      &time));
	assert_near(time.ns, 250, 1e-9);
	assert_near(time.error, 0, 0);
	assert_true(read_text("{\"mean\":{\"point_estimate\":3,\"standard_error\":0}}", &time));
	assert_near(time.ns, 3, 0);
}

TEST(anything_else_is_refused)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{}",
		"{\"mean\":{\"point_estimate\":1}}",
		"{\"mean\":{\"point_estimate\":0,\"standard_error\":1}}",
		"{\"mean\":{\"point_estimate\":-1,\"standard_error\":1}}",
		"{\"mean\":{\"point_estimate\":1e999,\"standard_error\":1}}",
		"{\"mean\":{\"point_estimate\":\"1\",\"standard_error\":1}}",
		"{\"mean\":{\"point_estimate\":1,\"standard_error\":1}",
	};
	struct iteration_time time;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(read_text(texts[i], &time));
}
