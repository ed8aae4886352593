#include "cmd/record/checkpoint.h"

#include "base/clock.h"
#include "cmd/record/record_options.h"

#include "unit_test.h"

#include <stdint.h>

static struct checkpoint_interval option(char *word)
{
	struct record_options options;
	struct checkpoint_interval interval;
	char *argv[] = {(char[]){"record"}, word, NULL};
	int rest;
	enum option_group help;

	record_options_init(&options);
	assert_null(options_parse(record_option_table, word ? 2 : 1, argv, &options, &rest, &help));
	interval = options.checkpoint;
	record_options_deinit(&options);
	return interval;
}

TEST(by_default_a_checkpoint_costs_at_most_a_thousandth)
{
	assert_int_equal(checkpoint_wait_ns(option(NULL), 10 * NS_PER_MS), 10 * NS_PER_SECOND);
	assert_int_equal(checkpoint_wait_ns(option(NULL), 20 * NS_PER_MS), 20 * NS_PER_SECOND);
	assert_int_equal(checkpoint_wait_ns(option((char[]){"--checkpoint"}), NS_PER_SECOND),
			 1000 * NS_PER_SECOND);
}

TEST(an_interval_of_the_user_is_taken_as_it_is)
{
	assert_int_equal(checkpoint_wait_ns(option((char[]){"--checkpoint=2"}), NS_PER_SECOND),
			 2 * NS_PER_SECOND);
	assert_int_equal(option((char[]){"--checkpoint=off"}).ns, 0);
}
