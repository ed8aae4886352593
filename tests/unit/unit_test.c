#include "unit_test.h"

#include "base/alloc.h"

#include <assert.h>

static struct CMUnitTest tests[128];
static size_t count;

void unit_test_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
		   CMFixtureFunction tear_down)
{
	assert(count < ARRAY_SIZE(tests));
	tests[count++] = (struct CMUnitTest){name, test, set_up, tear_down, NULL};
}

int unit_tests_run(void)
{
	return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
}
