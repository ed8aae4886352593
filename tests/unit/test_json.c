#include "base/json.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include "unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef void write_json(struct json *json);

static void assert_json(write_json *write, const char *expected)
{
	CLEANUP(free_ptr) char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct json json = json_to(out);

	write(&json);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, expected);
}

static void write_nested(struct json *json)
{
	json_begin_array(json);
	json_begin_object(json);
	json_end_object(json);
	json_begin_array(json);
	json_end_array(json);
	json_begin_object(json);
	json_put_text(json, "a", "b");
	json_put_number(json, "n", 1);
	json_key(json, "list");
	json_begin_array(json);
	json_null(json);
	json_bool(json, false);
	json_text(json, "");
	json_end_array(json);
	json_key(json, "raw");
	json_raw(json, "[1,2]", 5);
	json_put_bool(json, "last", true);
	json_end_object(json);
	json_end_array(json);
}

TEST(commas_are_only_between_values)
{
	assert_json(write_nested, "[{},[],{\"a\":\"b\",\"n\":1,\"list\":[null,false,\"\"],\"raw\":["
				  "1,2],\"last\":true}]");
}

static void write_numbers(struct json *json)
{
	json_begin_array(json);
	json_number(json, 0);
	json_number(json, UINT64_MAX);
	json_signed(json, 7);
	json_signed(json, -1);
	json_signed(json, INT64_MIN);
	json_end_array(json);
}

TEST(integers_are_written_to_the_last_digit)
{
	assert_json(write_numbers, "[0,18446744073709551615,7,-1,-9223372036854775808]");
}

static void write_decimals(struct json *json)
{
	json_begin_array(json);
	json_decimal(json, 1500, 3);
	json_decimal(json, 1000, 3);
	json_decimal(json, 0, 6);
	json_decimal(json, 7, 6);
	json_decimal(json, 120, 0);
	json_decimal(json, UINT64_MAX, 6);
	json_decimal(json, 1, 19);
	json_end_array(json);
}

TEST(decimals_are_exact_and_have_no_idle_zeros)
{
	assert_json(write_decimals,
		    "[1.5,1,0,0.000007,120,18446744073709.551615,0.0000000000000000001]");
}

static void write_reals(struct json *json)
{
	json_begin_array(json);
	json_real(json, -0.12345678, 4);
	json_real(json, 0, 6);
	json_real(json, 12, 6);
	json_real(json, 1e-12, 6);
	json_real(json, INFINITY, 6);
	json_end_array(json);
}

TEST(reals_are_rounded_and_what_is_no_number_is_null)
{
	assert_json(write_reals, "[-0.1235,0,12,1e-12,null]");
}

static void write_hostile_texts(struct json *json)
{
	json_begin_object(json);
	json_put_text(json, "\"\\\n\t\r\x01\x7f", "</script>");
	json_put_text(json, "bad", "a\xff\xc3z\xed\xa0\x80");
	json_put_text(json, "lines", "\xe2\x80\xa8\xe2\x80\xa9");
	json_put_text(json, "fine", "na\xc3\xafve \xf0\x9f\x94\xa5");
	json_end_object(json);
}

TEST(no_name_can_break_out_of_its_string)
{
	assert_json(write_hostile_texts,
		    "{\"\\\"\\\\\\n\\t\\u000d\\u0001\\u007f\":\"\\u003c/script>\","
		    "\"bad\":\"a\xef\xbf\xbd\xef\xbf\xbdz"
		    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\","
		    "\"lines\":\"\\u2028\\u2029\","
		    "\"fine\":\"na\xc3\xafve \xf0\x9f\x94\xa5\"}");
}

TEST(a_full_disk_is_an_error_of_the_stream)
{
	FILE *out = fopen("/dev/full", "w");
	struct json json = json_to(out);

	write_nested(&json);
	assert_int_equal(fflush(out), EOF);
	assert_true(ferror(out));
	fclose(out);
}
