#include "base/printable.h"

#include "base/cleanup.h"

#include "unit_test.h"

#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BAD "\xef\xbf\xbd"

static void assert_printable(const char *text, const char *expected)
{
	CLEANUP(free_ptr) char *copy = printable(text);

	assert_string_equal(copy, expected);
}

TEST(text_stays_as_it_is)
{
	assert_printable("", "");
	assert_printable("std::vector<Größe>::at 漢字 🦀",
			 "std::vector<Größe>::at 漢字 🦀");
}

TEST(control_characters_are_removed)
{
	assert_printable("\033[31mred\a\n", BAD "[31mred" BAD BAD);
	assert_printable("\x7f\xc2\x9b"
			 "31m",
			 BAD BAD "31m");
	assert_printable("a\xe2\x80\xae"
			 "b\xe2\x81\xa6",
			 "a" BAD "b" BAD);
}

TEST(invalid_bytes_are_replaced)
{
	assert_printable("\xff\xc0\x80 \xe2\x82", BAD BAD BAD " " BAD);
}

TEST(columns_are_those_of_a_terminal)
{
	assert_int_equal(printable_columns("abc"), 3);
	assert_int_equal(printable_columns("é…"), 2);
	assert_int_equal(printable_columns("漢字🦀"), 6);
	assert_int_equal(printable_columns("e\xcc\x81"), 1); /* é of two characters */
	assert_int_equal(printable_columns("नमस्ते"), 4);	     /* two marks */
	assert_int_equal(printable_columns("กำกี่"), 3);	     /* two marks */
	/* not in a block of wide characters */
	assert_int_equal(printable_columns("⌚✅"), 4);
	assert_int_equal(printable_columns("α§─│"), 4); /* wide only in East Asian fonts */
	assert_int_equal(printable_columns("a\xe2\x80\x8d"
					   "b"),
			 2); /* a zero-width joiner */
	assert_int_equal(printable_columns("\xff"), 1);
}

TEST(the_locale_of_the_program_does_not_matter)
{
	assert_string_equal(setlocale(LC_CTYPE, "C"), "C");
	assert_int_equal(printable_columns("漢字"), 4);
	assert_ptr_equal(uselocale(NULL), LC_GLOBAL_LOCALE);
	assert_int_equal(MB_CUR_MAX, 1);
}

TEST(controls_end_lines_reorder_them_or_are_obeyed)
{
	assert_true(printable_is_control(0x202e));
	assert_true(printable_is_control(0x2028));
	assert_true(printable_is_control(0x9b));
	assert_true(printable_is_control(0x7f));
	assert_true(printable_is_control(0xe0001));
	assert_false(printable_is_control('~'));
	assert_false(printable_is_control(0xa0));
	assert_false(printable_is_control(0x1f980));
}
