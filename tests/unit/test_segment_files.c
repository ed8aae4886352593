#include "cmd/segment_files.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define NOW_NS UINT64_C(1795530300000000000)
#define MINUTE_NS (60 * NS_PER_SECOND)

enum { COUNT = 10 };

/* A minute each of 100 bytes; the last one begins now. */
static size_t expired(struct retention retention, uint64_t now_ns)
{
	struct segment_file items[COUNT] = {0};
	struct segment_files files = {.items = items, .count = COUNT};

	for (size_t i = 0; i < COUNT; i++)
		items[i] = (struct segment_file){
			.last_unix_ns = NOW_NS - (COUNT - 1 - i) * MINUTE_NS, .bytes = 100};
	return segment_files_expired(&files, &retention, now_ns);
}

static void all_are_kept_without_a_limit(void **state)
{
	(void)state;
	assert_int_equal(expired((struct retention){0}, NOW_NS), 0);
}

static void those_that_are_too_old_are_removed(void **state)
{
	(void)state;
	assert_int_equal(expired((struct retention){.keep_ns = 5 * MINUTE_NS}, NOW_NS), 4);
	assert_int_equal(expired((struct retention){.keep_ns = 5 * MINUTE_NS}, NOW_NS - 1), 4);
	assert_int_equal(expired((struct retention){.keep_ns = 5 * MINUTE_NS}, NOW_NS + 1), 5);
	assert_int_equal(expired((struct retention){.keep_ns = 60 * MINUTE_NS}, NOW_NS), 0);
}

static void the_oldest_above_the_size_are_removed(void **state)
{
	(void)state;
	assert_int_equal(expired((struct retention){.max_bytes = 1000}, NOW_NS), 0);
	assert_int_equal(expired((struct retention){.max_bytes = 999}, NOW_NS), 1);
	assert_int_equal(expired((struct retention){.max_bytes = 250}, NOW_NS), 8);
}

static void the_newest_one_stays(void **state)
{
	(void)state;
	assert_int_equal(expired((struct retention){.max_bytes = 1}, NOW_NS), COUNT - 1);
	assert_int_equal(
		expired((struct retention){.keep_ns = MINUTE_NS}, NOW_NS + 1000 * MINUTE_NS),
		COUNT - 1);
}

static void those_of_the_future_are_not_old(void **state)
{
	(void)state;
	assert_int_equal(
		expired((struct retention){.keep_ns = MINUTE_NS}, NOW_NS - 1000 * MINUTE_NS), 0);
}

static void a_missing_directory_is_an_error(void **state)
{
	struct segment_files files;
	CLEANUP(error_cleanup) struct error *err = segment_files_read("/nonexistent", &files);

	(void)state;
	assert_non_null(err);
	segment_files_deinit(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_kept_without_a_limit),
		cmocka_unit_test(those_that_are_too_old_are_removed),
		cmocka_unit_test(the_oldest_above_the_size_are_removed),
		cmocka_unit_test(the_newest_one_stays),
		cmocka_unit_test(those_of_the_future_are_not_old),
		cmocka_unit_test(a_missing_directory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
