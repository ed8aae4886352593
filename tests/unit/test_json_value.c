#include "base/json_value.h"

#include "base/cleanup.h"

#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

static struct json_value parsed(const char *text)
{
	struct json_value value = {0};

	assert_true(json_parse(text, strlen(text), &value));
	return value;
}

static void assert_string(const char *json, const char *expected)
{
	struct json_value value = parsed(json);
	CLEANUP(free_ptr) char *text = json_string(&value);

	assert_string_equal(text, expected);
}

TEST(test_members_and_items_are_found_in_their_order)
{
	struct json_value root = parsed(" {\"a\": [1, \"two\" ,{\"x\":null}], \"b\\u0062\":true} "),
			  list = {0}, item = {0}, other = {0};
	uint64_t number = 0;

	assert_true(json_find(&root, "a", &list));
	assert_true(json_next(&list, &item));
	assert_true(json_integer(&item, &number));
	assert_int_equal(number, 1);
	assert_true(json_next(&list, &item));
	assert_true(json_is(&item, "two"));
	assert_true(json_next(&list, &item));
	assert_true(json_find(&item, "x", &other));
	assert_int_equal(json_kind(&other), JSON_NULL);
	assert_false(json_next(&list, &item));
	assert_true(json_find(&root, "bb", &other));
	assert_int_equal(json_kind(&other), JSON_BOOL);
	assert_false(json_find(&root, "c", &other));
}

TEST(test_empty_containers_have_nothing)
{
	struct json_value object = parsed("{ }"), list = parsed("[]"), item = {0};

	assert_false(json_next(&object, &item));
	assert_false(json_next(&list, &item));
	assert_false(json_find(&list, "a", &item));
}

TEST(test_escapes_are_decoded)
{
	assert_string("\"a\\n\\\"\\\\\\/\"", "a\n\"\\/");
	assert_string("\"\\u00e4\\u20ac\\ud83d\\ude00\"", "\u00e4\u20ac\U0001f600");
	assert_string("\"\\ud83d!\"", "\ufffd!");
	assert_string("\"\\udc00\\ud83d\\u0041\"", "\ufffd\ufffdA");
}

TEST(test_what_follows_the_first_value_is_not_read)
{
	struct json_value value = parsed("{\"version\":1}\n\nthread 'main' panicked");

	assert_int_equal(value.end - value.at, strlen("{\"version\":1}"));
}

TEST(test_invalid_texts_are_refused)
{
	static const char *const texts[] = {
		"",	   "{",		"[1,",	"[1 2]",    "{\"a\" 1}", "{1:2}",   "\"a",
		"\"\\x\"", "nul",	"-",	"1.",	    "1e",	 "[1,]",    "{\"a\":1,}",
		"\"\n\"",  "\"\\u12\"", "troo", "{\"a\":}", "]",	 "\"\\u12",
	};
	struct json_value value;
	char deep[2 * JSON_DEPTH_MAX + 4];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(json_parse(texts[i], strlen(texts[i]), &value));
	memset(deep, '[', JSON_DEPTH_MAX + 1);
	memset(deep + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
	assert_false(json_parse(deep, 2 * JSON_DEPTH_MAX + 2, &value));
	assert_true(json_parse(deep + 1, 2 * JSON_DEPTH_MAX, &value));
}

TEST(test_only_integers_that_fit_are_integers)
{
	struct json_value most = parsed("18446744073709551615"),
			  more = parsed("18446744073709551616"), minus = parsed("-1"),
			  real = parsed("1.5"), text = parsed("\"1\"");
	uint64_t number = 0;

	assert_true(json_integer(&most, &number));
	assert_true(number == UINT64_MAX);
	assert_false(json_integer(&more, &number));
	assert_false(json_integer(&minus, &number));
	assert_false(json_integer(&real, &number));
	assert_false(json_integer(&text, &number));
}
