#include "cmd/record/rotation_options.h"

#include "base/clock.h"

#include "unit_test.h"

#include <stdint.h>

static struct rotation_choice segments(const char *argument)
{
	struct rotation_choice choice = {0};

	assert_null(rotation_take_segments(&choice, argument));
	return choice;
}

static void check(const char *argument, enum rotation_how how, uint64_t amount)
{
	struct rotation_choice choice = segments(argument);

	assert_int_equal(choice.how, how);
	assert_int_equal(choice.amount, amount);
}

TEST(perf_s_spellings_are_taken)
{
	check(NULL, ROTATION_ON_SIGNAL, 0);
	check("signal", ROTATION_ON_SIGNAL, 0);
	check("30s", ROTATION_BY_TIME, 30 * NS_PER_SECOND);
	check("1m", ROTATION_BY_TIME, 60 * NS_PER_SECOND);
	check("1h", ROTATION_BY_TIME, 3600 * NS_PER_SECOND);
	check("1d", ROTATION_BY_TIME, 86400 * NS_PER_SECOND);
	check("512B", ROTATION_BY_SIZE, 512);
	check("100K", ROTATION_BY_SIZE, 100 << 10);
	check("1M", ROTATION_BY_SIZE, 1 << 20);
	check("2G", ROTATION_BY_SIZE, UINT64_C(2) << 30);
}

static void refused(const char *argument)
{
	struct rotation_choice choice;
	CLEANUP(error_cleanup) struct error *err = rotation_take_segments(&choice, argument);

	assert_non_null(err);
}

TEST(other_words_are_refused)
{
	refused("");
	refused("often");
	refused("-5s");
	refused("0s");
	refused("0.5s");
	refused("s");
	refused("1x");
	refused("B");
}

static void settle(struct rotation_options *options, bool is_possible)
{
	CLEANUP(error_cleanup) struct error *err = rotation_options_settle(options);

	assert_int_equal(!err, is_possible);
}

TEST(the_flight_recorder_keeps_half_a_minute_unless_told_otherwise)
{
	struct rotation_options usual = {.overwrites = true}, chosen = {.keep_ns = NS_PER_SECOND};

	settle(&usual, true);
	assert_int_equal(usual.keep_ns, 30 * NS_PER_SECOND);
	settle(&chosen, true);
	assert_int_equal(chosen.keep_ns, NS_PER_SECOND);
}

TEST(perf_s_overwrite_with_switch_output_writes_on_a_signal)
{
	struct rotation_options by_signal = {.overwrites = true,
					     .segments = {.how = ROTATION_ON_SIGNAL}};
	struct rotation_options by_time = {.overwrites = true,
					   .segments = {ROTATION_BY_TIME, NS_PER_SECOND}};

	settle(&by_signal, true);
	settle(&by_time, false);
}

TEST(an_event_ends_segments_or_fires_the_flight_recorder)
{
	struct rotation_options segment = {.segment_event = "e"}, lonely = {.trigger_event = "e"};
	struct rotation_options flight = {.segment_event = "e", .overwrites = true};

	settle(&segment, true);
	assert_int_equal(segment.segments.how, ROTATION_ON_SIGNAL);
	settle(&flight, true);
	assert_string_equal(flight.trigger_event, "e");
	settle(&lonely, false);
}

TEST(what_has_no_segments_has_no_number_of_them)
{
	struct rotation_options options = {.max_segments = 3};

	settle(&options, false);
}
