#include "perf/call_argument.h"

#include "perf/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct record_regs regs_of(const uint64_t *values, size_t count, uint64_t mask)
{
	return (struct record_regs){.mask = mask, .values = bytes_of(values, count * 8)};
}

static void arguments_are_counts_or_bytes(void **state)
{
	struct call_argument argument;

	(void)state;
	assert_true(call_argument_parse("arg1", &argument));
	assert_int_equal(argument.kind, VALUE_COUNT);
	assert_true(call_argument_parse("bytes:arg6", &argument));
	assert_int_equal(argument.kind, VALUE_BYTES);
}

static void other_words_are_refused(void **state)
{
	static const char *const words[] = {"",		"arg",	  "arg0",      "arg7",	"arg12",
					    "argument", "bytes:", "bytes:arg", "arg1 ", "count"};
	struct call_argument argument;

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_false(call_argument_parse(words[i], &argument));
}

static void the_register_of_the_argument_weighs(void **state)
{
	const uint64_t values[] = {11, 22, 33};
	struct call_argument argument;
	uint64_t lower;

	(void)state;
	assert_true(call_argument_parse("arg5", &argument));
	lower = argument.register_bit >> 1;
	assert_int_equal(call_argument_value(argument, &(struct record_regs){0}), 0);
	for (size_t before = 0; before < 2; before++) {
		struct record_regs regs = regs_of(values, 3,
						  argument.register_bit | (before ? lower : 0));

		assert_int_equal(call_argument_value(argument, &regs), values[before]);
	}
}

static void weights_are_bounded(void **state)
{
	const uint64_t negative[] = {(uint64_t)-5}, huge[] = {UINT64_C(1) << 60};
	struct call_argument argument;
	struct record_regs regs;

	(void)state;
	assert_true(call_argument_parse("bytes:arg1", &argument));
	regs = regs_of(negative, 1, argument.register_bit);
	assert_int_equal(call_argument_value(argument, &regs), 0);
	regs = regs_of(huge, 1, argument.register_bit);
	assert_int_equal(call_argument_value(argument, &regs), CALL_ARGUMENT_MAX);
	/* A record that ends before its registers. */
	regs = regs_of(huge, 0, argument.register_bit);
	assert_int_equal(call_argument_value(argument, &regs), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_counts_or_bytes),
		cmocka_unit_test(other_words_are_refused),
		cmocka_unit_test(the_register_of_the_argument_weighs),
		cmocka_unit_test(weights_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
