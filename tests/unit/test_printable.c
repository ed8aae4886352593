#include "base/printable.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BAD "\xef\xbf\xbd"

static void assert_printable(const char *text, const char *expected)
{
	CLEANUP(free_ptr) char *copy = printable(text);

	assert_string_equal(copy, expected);
}

static void text_stays_as_it_is(void **state)
{
	(void)state;
	assert_printable("", "");
	assert_printable("std::vector<Größe>::at 漢字 🦀",
			 "std::vector<Größe>::at 漢字 🦀");
}

static void what_a_terminal_obeys_is_gone(void **state)
{
	(void)state;
	assert_printable("\033[31mred\a\n", BAD "[31mred" BAD BAD);
	assert_printable("\x7f\xc2\x9b"
			 "31m",
			 BAD BAD "31m");
	assert_printable("a\xe2\x80\xae"
			 "b\xe2\x81\xa6",
			 "a" BAD "b" BAD);
}

static void what_is_no_character_becomes_one(void **state)
{
	(void)state;
	assert_printable("\xff\xc0\x80 \xe2\x82", BAD BAD BAD " " BAD);
}

static void columns_are_those_of_a_terminal(void **state)
{
	(void)state;
	assert_int_equal(printable_columns("abc"), 3);
	assert_int_equal(printable_columns("é…"), 2);
	assert_int_equal(printable_columns("漢字🦀"), 6);
	assert_int_equal(printable_columns("e\xcc\x81"), 1); /* é of two characters */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_stays_as_it_is),
		cmocka_unit_test(what_a_terminal_obeys_is_gone),
		cmocka_unit_test(what_is_no_character_becomes_one),
		cmocka_unit_test(columns_are_those_of_a_terminal),
	};

	return cmocka_run_group_tests_name("printable", tests, NULL, NULL);
}
