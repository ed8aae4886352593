#include "perf/call_argument.h"

#include "perf/record.h"

#include "unit_test.h"

#include <stdint.h>

static struct record_regs regs_of(const uint64_t *values, size_t count, uint64_t mask)
{
	return (struct record_regs){.mask = mask, .values = bytes_of(values, count * 8)};
}

TEST(arguments_are_counts_or_bytes)
{
	struct call_argument argument;

	assert_true(call_argument_parse("arg1", &argument));
	assert_int_equal(argument.kind, VALUE_COUNT);
	assert_true(call_argument_parse("bytes:arg6", &argument));
	assert_int_equal(argument.kind, VALUE_BYTES);
}

TEST(other_words_are_refused)
{
	static const char *const words[] = {"",		"arg",	  "arg0",      "arg7",	"arg12",
					    "argument", "bytes:", "bytes:arg", "arg1 ", "count"};
	struct call_argument argument;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_false(call_argument_parse(words[i], &argument));
}

TEST(the_register_of_the_argument_weighs)
{
	const uint64_t values[] = {11, 22, 33};
	struct call_argument argument;
	uint64_t lower;

	assert_true(call_argument_parse("arg5", &argument));
	lower = argument.register_bit >> 1;
	assert_int_equal(call_argument_value(argument, &(struct record_regs){0}), 0);
	for (size_t before = 0; before < 2; before++) {
		struct record_regs regs = regs_of(values, 3,
						  argument.register_bit | (before ? lower : 0));

		assert_int_equal(call_argument_value(argument, &regs), values[before]);
	}
}

TEST(weights_are_bounded)
{
	const uint64_t negative[] = {(uint64_t)-5}, huge[] = {UINT64_C(1) << 60};
	struct call_argument argument;
	struct record_regs regs;

	assert_true(call_argument_parse("bytes:arg1", &argument));
	regs = regs_of(negative, 1, argument.register_bit);
	assert_int_equal(call_argument_value(argument, &regs), 0);
	regs = regs_of(huge, 1, argument.register_bit);
	assert_int_equal(call_argument_value(argument, &regs), CALL_ARGUMENT_MAX);
	/* A record that ends before its registers. */
	regs = regs_of(huge, 0, argument.register_bit);
	assert_int_equal(call_argument_value(argument, &regs), 0);
}
