#include "segments/time_expression.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include "unit_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* 2026-11-24 14:30:15 UTC, a Tuesday; 15:30:15 in Berlin. */
#define NOW_S INT64_C(1795530615)
#define TODAY_S (NOW_S - (14 * 3600 + 30 * 60 + 15))
#define DAY_S 86400

static void set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static void check(const char *text, int64_t from_s, int64_t to_s)
{
	struct time_range range;
	CLEANUP(error_cleanup)
	struct error *err = time_expression_parse(text, (uint64_t)NOW_S * NS_PER_SECOND + 7,
						  &range);

	assert_null(err);
	assert_int_equal(range.from_ns / NS_PER_SECOND, from_s);
	assert_int_equal(range.to_ns == UINT64_MAX ? -1 : (int64_t)(range.to_ns / NS_PER_SECOND),
			 to_s);
}

TEST(a_time_of_day_is_the_last_one)
{
	set_zone("UTC");
	check("14:05", TODAY_S + 14 * 3600 + 300, TODAY_S + 14 * 3600 + 360);
	check("14:30:15", NOW_S, NOW_S + 1);
	check("14:31", TODAY_S - DAY_S + 14 * 3600 + 31 * 60,
	      TODAY_S - DAY_S + 14 * 3600 + 32 * 60);
	check("0:00", TODAY_S, TODAY_S + 60);
}

TEST(days_have_names_and_dates)
{
	set_zone("UTC");
	check("today", TODAY_S, TODAY_S + DAY_S);
	check("yesterday", TODAY_S - DAY_S, TODAY_S);
	check("now", NOW_S, -1);
	check("2026-11-23", TODAY_S - DAY_S, TODAY_S);
	check("2026-11-23 14:05", TODAY_S - DAY_S + 14 * 3600 + 300,
	      TODAY_S - DAY_S + 14 * 3600 + 360);
	check("2026-11-23T14:05:01", TODAY_S - DAY_S + 14 * 3600 + 301,
	      TODAY_S - DAY_S + 14 * 3600 + 302);
}

TEST(an_age_reaches_from_then_on)
{
	set_zone("UTC");
	check("-90s", NOW_S - 90, -1);
	check("-10m", NOW_S - 600, -1);
	check("-1h", NOW_S - 3600, -1);
	check("-2d", NOW_S - 2 * DAY_S, -1);
}

TEST(times_are_local_unless_z_says_utc)
{
	set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	check("15:05", TODAY_S + 14 * 3600 + 300, TODAY_S + 14 * 3600 + 360);
	check("14:05Z", TODAY_S + 14 * 3600 + 300, TODAY_S + 14 * 3600 + 360);
	check("today", TODAY_S - 3600, TODAY_S - 3600 + DAY_S);
	check("2026-11-24T14:05:00Z", TODAY_S + 14 * 3600 + 300, TODAY_S + 14 * 3600 + 301);
	/* The day on which daylight saving time ends has 25 hours. */
	check("2026-10-25", TODAY_S - 30 * DAY_S - 2 * 3600, TODAY_S - 29 * DAY_S - 3600);
}

TEST(other_words_are_refused)
{
	static const char *const words[] = {"",
					    "noon",
					    "25:00",
					    "14",
					    "14:5x",
					    "-1",
					    "-h",
					    "-1w",
					    "--1h",
					    "2026-13-01",
					    "2026-02-30",
					    "1:2:3:4",
					    "2026-11-24 noon",
					    "nowZ",
					    "2026-11-24x"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct time_range range;
		CLEANUP(error_cleanup)
		struct error *err = time_expression_parse(words[i], (uint64_t)NOW_S * NS_PER_SECOND,
							  &range);

		assert_non_null(err);
	}
}

static struct error *between(const char *since, const char *until, struct time_range *range)
{
	return time_expression_between(since, until, (uint64_t)NOW_S * NS_PER_SECOND, range);
}

static void check_between(const char *since, const char *until, int64_t from_s, int64_t to_s)
{
	struct time_range range;
	CLEANUP(error_cleanup) struct error *err = between(since, until, &range);

	assert_null(err);
	assert_int_equal(range.from_ns / NS_PER_SECOND, from_s);
	assert_int_equal(range.to_ns == UINT64_MAX ? -1 : (int64_t)(range.to_ns / NS_PER_SECOND),
			 to_s);
}

TEST(a_range_may_cross_midnight_and_the_present)
{
	set_zone("UTC");
	check_between("14:05", "14:07", TODAY_S + 14 * 3600 + 300, TODAY_S + 14 * 3600 + 420);
	check_between("23:50", "00:10", TODAY_S - 600, TODAY_S + 600);
	check_between("14:05", "23:00", TODAY_S + 14 * 3600 + 300, TODAY_S + 23 * 3600);
	check_between("yesterday", "today", TODAY_S - DAY_S, TODAY_S);
	check_between("yesterday", NULL, TODAY_S - DAY_S, -1);
	check_between(NULL, "14:00", 0, TODAY_S + 14 * 3600);
	check_between("-2h", "-1h", NOW_S - 7200, NOW_S - 3600);
}

TEST(a_range_that_holds_nothing_is_refused)
{
	static const char *const ranges[][2] = {{"today", "yesterday"},
						{"-1h", "-2h"},
						{"now", "now"},
						{"2026-11-24", "2026-11-24"}};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		struct time_range range;
		CLEANUP(error_cleanup)
		struct error *err = between(ranges[i][0], ranges[i][1], &range);

		assert_non_null(err);
	}
}

TEST(ranges_have_two_dots)
{
	static const struct {
		const char *text;
		int64_t from_s, to_s;
	} cases[] = {
		{"14:05..14:07", TODAY_S + 14 * 3600 + 300, TODAY_S + 14 * 3600 + 420},
		{"yesterday", TODAY_S - DAY_S, TODAY_S},
		{"14:05..", TODAY_S + 14 * 3600 + 300, -1},
		{"..14:05", 0, TODAY_S + 14 * 3600 + 300},
		{"-1h", NOW_S - 3600, -1},
		{"..", 0, -1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct time_range range;
		CLEANUP(error_cleanup)
		struct error *err = time_expression_range(cases[i].text,
							  (uint64_t)NOW_S * NS_PER_SECOND, &range);

		assert_null(err);
		assert_int_equal(range.from_ns / NS_PER_SECOND, cases[i].from_s);
		assert_int_equal(range.to_ns == UINT64_MAX ? -1
							   : (int64_t)(range.to_ns / NS_PER_SECOND),
				 cases[i].to_s);
	}
}
