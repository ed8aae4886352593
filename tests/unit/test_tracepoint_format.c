#include <stdint.h>

#include "base/alloc.h"
#include "perf/field_filter.h"
#include "perf/field_names.h"
#include "perf/field_reader.h"
#include "perfdata/tracing_data.h"

#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A format with one field of each kind, as kernels write it. */
static const char text[] = "name: block_rq_issue\n"
			   "ID: 2104\n"
			   "format:\n"
			   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
			   "\n"
			   "\tfield:long ret;\toffset:8;\tsize:8;\tsigned:1;\n"
			   "\tfield:unsigned int nr_sector;\toffset:16;\tsize:4;\tsigned:0;\n"
			   "\tfield:size_t count;\toffset:24;\tsize:8;\tsigned:0;\n"
			   "\tfield:s16 delta;\toffset:32;\tsize:2;\tsigned:1;\n"
			   "\tfield:char comm[16];\toffset:34;\tsize:16;\tsigned:0;\n"
			   "\tfield:__data_loc char[] cmd;\toffset:52;\tsize:4;\tsigned:0;\n"
			   "\tfield:__rel_loc char[] tail;\toffset:56;\tsize:4;\tsigned:0;\n"
			   "\tfield:__data_loc u8[] blob;\toffset:60;\tsize:4;\tsigned:0;\n"
			   "\tfield:unsigned long args[6];\toffset:64;\tsize:48;\tsigned:0;\n"
			   "\tfield:const char * buf;\toffset:112;\tsize:8;\tsigned:0;\n"
			   "\n"
			   "print fmt: \"%d\", REC->ret\n";

enum { DATA_BYTES = 136, STRINGS_AT = 120 };

static void put(unsigned char *data, size_t at, uint64_t value, size_t len)
{
	memcpy(data + at, &value, len);
}

/* Makes a sample of it: ret -5, 8 sectors, count 4096, delta -2, "worker",
 * "read", "xyz". */
static void fill(unsigned char data[DATA_BYTES])
{
	memset(data, 0, DATA_BYTES);
	put(data, 0, 2104, 2);
	put(data, 8, (uint64_t)-5, 8);
	put(data, 16, 8, 4);
	put(data, 24, 4096, 8);
	put(data, 32, (uint64_t)-2, 2);
	memcpy(data + 34, "worker", sizeof("worker"));
	put(data, 52, STRINGS_AT | 5U << 16, 4);
	put(data, 56, (STRINGS_AT + 5 - 60) | 3U << 16, 4);
	memcpy(data + STRINGS_AT, "read\0xyz", 8);
}

static struct tracepoint_format format_of(const char *from)
{
	struct tracepoint_format format;

	assert_true(tracepoint_format_parse(bytes_of(from, strlen(from)), &format));
	return format;
}

static void assert_number(const struct tracepoint_format *format, struct bytes data,
			  const char *name, int64_t expected)
{
	uint64_t value = 0;

	assert_true(tracepoint_field_number(tracepoint_format_find(format, name), data, &value));
	assert_int_equal((int64_t)value, expected);
}

static void assert_text(const struct tracepoint_format *format, struct bytes data, const char *name,
			const char *expected)
{
	struct bytes value;

	assert_true(tracepoint_field_text(tracepoint_format_find(format, name), data, &value));
	assert_true(bytes_are(value, expected));
}

TEST(fields_of_every_kind_are_decoded)
{
	CLEANUP(tracepoint_format_deinit) struct tracepoint_format format = format_of(text);
	unsigned char data[DATA_BYTES];
	struct bytes raw = bytes_of(data, sizeof(data));
	CLEANUP(free_ptr) char *names = tracepoint_format_names(&format);

	fill(data);
	assert_string_equal(format.name, "block_rq_issue");
	assert_int_equal(format.id, 2104);
	assert_string_equal(names,
			    "ret, nr_sector, count, delta, comm, cmd, tail, blob, args, buf");
	assert_number(&format, raw, "ret", -5);
	assert_number(&format, raw, "nr_sector", 8);
	assert_number(&format, raw, "delta", -2);
	assert_number(&format, raw, "common_type", 2104);
	assert_text(&format, raw, "comm", "worker");
	assert_text(&format, raw, "cmd", "read");
	assert_text(&format, raw, "tail", "xyz");
	assert_int_equal(tracepoint_format_find(&format, "args")->kind, FIELD_BYTES);
	assert_int_equal(tracepoint_format_find(&format, "blob")->kind, FIELD_BYTES);
	assert_true(tracepoint_format_find(&format, "buf")->is_pointer);
	assert_null(tracepoint_format_find(&format, "com"));
}

TEST(nothing_is_read_outside_the_data)
{
	CLEANUP(tracepoint_format_deinit) struct tracepoint_format format = format_of(text);

	for (size_t len = 0; len <= DATA_BYTES; len++) {
		/* In an allocation of its own, so that sanitizers detect its
		 * end. */
		CLEANUP(free_ptr) unsigned char *data = xmalloc(len + 1);
		unsigned char whole[DATA_BYTES];

		fill(whole);
		put(whole, 52, UINT32_MAX, 4); /* a string of 64 KB at 64 KB */
		memcpy(data, whole, len);
		for (size_t i = 0; i < format.count; i++) {
			struct bytes value;
			uint64_t number;

			if (tracepoint_field_number(&format.fields[i], bytes_of(data, len),
						    &number))
				assert_true(format.fields[i].offset + format.fields[i].bytes <=
					    len);
			if (tracepoint_field_text(&format.fields[i], bytes_of(data, len), &value))
				assert_true(value.end <= data + len);
		}
	}
}

TEST(damaged_lines_cost_their_field_alone)
{
	static const char damaged[] = "ID: 7\n"
				      "\tfield:int;\n"
				      "\tfield: ;\toffset:0;\tsize:4;\tsigned:0;\n"
				      "\tfield:int odd;\toffset:0;\tsize:3;\tsigned:0;\n"
				      "\tfield:int a;\toffset:99999999999;\tsize:4;\tsigned:0;\n"
				      "\tfield:int good;\toffset:8;\tsize:4;\tsigned:1;";
	CLEANUP(tracepoint_format_deinit) struct tracepoint_format format = format_of(damaged);
	struct tracepoint_format none;

	assert_non_null(tracepoint_format_find(&format, "good"));
	assert_int_equal(tracepoint_format_find(&format, "odd")->kind, FIELD_BYTES);
	assert_false(tracepoint_format_parse(bytes_of("name: x\n", 8), &none));
}

TEST(the_kernels_language_of_filters_is_taken)
{
	static const char *const filters[] = {
		"ret == 1",
		"ret<0&&count>=0x10",
		"!(ret == -1 || (count & 1)) && comm ~ \"work*\"",
		"comm != 'a b' || cmd == \"&&\"",
		"CPU == 1 && COMM == \"x\"",
		"cpu & CPUS{0-3}",
		"common_pid != 0",
		"buf.ustring ~ \"/etc/*\" && ret == 0",
		"  ret == 1  ",
	};
	CLEANUP(tracepoint_format_deinit) struct tracepoint_format format = format_of(text);

	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		CLEANUP(free_ptr) char *translation = NULL;
		struct error *err = field_filter_translate(filters[i], "block:block_rq_issue",
							   &format, &translation);

		if (err)
			fail_msg("%s: %s", filters[i], error_text(err));
		assert_string_equal(translation, filters[i]);
	}
}

TEST(a_wrong_filter_is_pointed_at)
{
	static const struct {
		const char *filter, *reason;
		size_t at;
	} wrong[] = {
		{"rett == 1", "no field rett", 0},
		{"ret == 1 && com == 'x'", "no field com", 12},
		{"ret = 1", "operator is missing", 4},
		{"ret ~ 1", "is a number", 4},
		{"comm < 'x'", "is a string", 5},
		{"comm == x", "quoted", 8},
		{"comm == 'x", "second quote", 8},
		{"ret == x", "with a number", 7},
		{"ret == 1x", "not a number", 7},
		{"ret == 99999999999999999999", "not a number", 7},
		{"(ret == 1", "not closed", 0},
		{"ret == 1 count == 2", "&& or ||", 9},
		{"ret == 1 &&", "field is missing", 11},
		{"args == 1", "array", 5},
		{"", "field is missing", 0},
	};
	CLEANUP(tracepoint_format_deinit) struct tracepoint_format format = format_of(text);
	char nested[200], *none = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		char *translation = NULL;
		CLEANUP(error_cleanup)
		struct error *err = field_filter_translate(wrong[i].filter, "a:b", &format,
							   &translation);
		CLEANUP(free_ptr)
		char *shown = xasprintf("%s\n%*s^\n", wrong[i].filter, (int)wrong[i].at, "");

		assert_non_null(err);
		assert_non_null(strstr(error_text(err), wrong[i].reason));
		assert_ptr_equal(strstr(error_hint_text(err), shown), error_hint_text(err));
	}
	memset(nested, '(', sizeof(nested) - 1);
	nested[sizeof(nested) - 1] = '\0';
	error_free(field_filter_translate(nested, "a:b", &format, &none));
	assert_null(none);
}

/* Fields of four bytes, with this print format. */
#define NAMED(print)                                                                               \
	"name: x\nID: 7\nformat:\n"                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned int state;\toffset:4;\tsize:4;\tsigned:0;\n"                             \
	"\tfield:int vec;\toffset:8;\tsize:4;\tsigned:1;\n"                                        \
	"\nprint fmt: " print "\n"

static void assert_name(const char *format_text, const char *field, uint64_t value,
			const char *expected)
{
	CLEANUP(tracepoint_format_deinit) struct tracepoint_format format = format_of(format_text);
	struct field_names names = field_names_of(&format, tracepoint_format_find(&format, field));
	char name[64];
	size_t len = field_names_write(&names, value, name, sizeof(name) - 1);

	name[len] = '\0';
	assert_string_equal(name, expected);
}

/* As kernels write them. MASK stands for TASK_REPORT_MAX - 1. */
#define MASK "((((0x0 | 0x1 | 0x2 | 0x4 | 0x8) + 1) << 1) - 1)"
static const char switched[] = NAMED(
	"\"vec=%*d state=%s%s\", 2, REC->vec, (REC->state & " MASK ") ? "
	"__print_flags(REC->state & " MASK ", \"|\", { 0x00000001, \"S\" }, { 0x00000002, \"D\" }, "
	"{ 0x00000010, \"I\" }, {-1, ((void *)0) } ) : \"R\", REC->state & (" MASK
	" + 1) ? \"+\" : \"\"");
static const char symbolic[] = NAMED(
	"\"%d%% vec=%u [action=%s] %s\", REC->state, REC->vec, __print_symbolic(REC->vec, { -1, "
	"\"NONE\" }, {0,\"HI\"},{( unsigned long)(1UL << 2), \"NET_TX\"}), \"vec\"");

TEST(values_have_the_names_that_are_printed)
{
	assert_name(switched, "state", 0, "R");
	assert_name(switched, "state", 2, "D");
	assert_name(switched, "state", 3, "S|D");
	assert_name(switched, "state", 0x20, "R+");
	assert_name(switched, "state", 0x14, "I|0x4");
	assert_name(switched, "vec", 0, "");

	assert_name(symbolic, "vec", 0, "HI");
	assert_name(symbolic, "vec", UINT64_MAX, "NONE");
	assert_name(symbolic, "vec", 4, "NET_TX");
	assert_name(symbolic, "vec", 3, "0x3");
	assert_name(symbolic, "state", 3, "");
}

TEST(a_condition_names_the_field_that_it_is_printed_as)
{
	static const char called[] = NAMED("\"vec=%s\", REC->vec ? \"yes\" : \"no\"");
	static const char part[] = NAMED("\"last%s\", REC->vec > 3 ? \"s\" : \"\"");

	assert_name(called, "vec", 1, "yes");
	assert_name(called, "vec", 0, "no");
	assert_name(part, "vec", 4, "");
}

TEST(what_is_not_understood_stays_a_number)
{
	static const char *const formats[] = {
		NAMED("\"vec=%s\", __print_symbolic(REC->vec, { HI_SOFTIRQ, \"HI\" })"),
		NAMED("\"vec=%s\", __print_symbolic(REC->vec >> 13, { 0, \"none\" })"),
		NAMED("\"vec=%s\", REC->state == 1 ? __print_symbolic(REC->vec, { 0, \"a\" }) : "
		      "\"\""),
		NAMED("\"vec=%s\", __print_symbolic(REC->vec, { 0, \"a\" }"),
		NAMED("\"vec=%s\", __print_symbolic(REC->vec, { 0, \"a"),
		NAMED("\"vec=%s\", __print_flags(REC->vec, { 0, \"a\" })"),
		NAMED("\"vec=%s\", __print_hex(REC->vec, 4)"),
		NAMED("\"vec=%s\", REC->vectors ? \"a\" : \"b\""),
		NAMED("\"vec=%s\", REC->vec ? \"a\" : 1"),
		NAMED("\"vec=%d\", __print_symbolic(99999999999999999999, { 0, \"a\" })"),
		NAMED("\"vec=%d\", REC->vec"),
		NAMED("\"vec=%d\""),
		NAMED("\"vec"),
		NAMED(""),
	};
	CLEANUP(free_ptr) char *nested = xmalloc(8000 + 1);
	CLEANUP(free_ptr) char *format = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		assert_name(formats[i], "vec", 0, "");
	memset(nested, '(', 8000);
	nested[8000] = '\0';
	format = xasprintf("ID: 7\n\tfield:int vec;\toffset:8;\tsize:4;\tsigned:1;\n"
			   "print fmt: \"vec=%%s\", %sREC->vec",
			   nested);
	assert_name(format, "vec", 0, "");
}

TEST(filters_take_the_names_of_values)
{
	static const struct {
		const char *filter, *translation;
	} filters[] = {
		{"state == D", "state == 2"},
		{"state==R||!(state & 'S') && vec > 1", "state==0||!(state & 1) && vec > 1"},
		{"state != \"I\"", "state != 16"},
	};
	CLEANUP(tracepoint_format_deinit) struct tracepoint_format format = format_of(switched);
	char *none = NULL;
	struct error *err;

	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		CLEANUP(free_ptr) char *translation = NULL;

		assert_null(
			field_filter_translate(filters[i].filter, "a:b", &format, &translation));
		assert_string_equal(translation, filters[i].translation);
	}
	err = field_filter_translate("vec == 1 && state == Q", "a:b", &format, &none);
	assert_string_equal(error_text(err), "the filter of a:b: state has no value Q");
	assert_string_equal(error_hint_text(err), "vec == 1 && state == Q\n"
						  "                     ^\n"
						  "values of state: numbers, S, D, I");
	error_free(err);
}

static struct field_reader *reader_of(const char *from)
{
	struct field_reader *reader = field_reader_new();
	struct tracepoint_format format = format_of(from);

	field_reader_add(reader, "block:block_rq_issue", &format);
	return reader;
}

static uint64_t weight_of(const char *field, size_t at, uint64_t value, enum value_kind *kind)
{
	CLEANUP(field_reader_cleanup) struct field_reader *reader = reader_of(text);
	unsigned char data[DATA_BYTES];
	struct record_sample sample = {.period = 1, .raw_data = bytes_of(data, sizeof(data))};

	fill(data);
	put(data, at, value, 4);
	assert_null(field_reader_set_weight(reader, field));
	*kind = field_reader_kind(reader);
	field_reader_read(reader, &sample);
	return sample.period;
}

TEST(a_field_becomes_the_weight_within_bounds)
{
	CLEANUP(field_reader_cleanup) struct field_reader *reader = reader_of(text);
	enum value_kind kind;
	struct error *err;

	assert_int_equal(weight_of("count", 24, 4096, &kind), 4096);
	assert_int_equal(kind, VALUE_BYTES);
	assert_int_equal(weight_of("nr_sector", 16, 8, &kind), 8 * 512);
	assert_int_equal(kind, VALUE_BYTES);
	assert_int_equal(weight_of("nr_sector", 16, UINT32_MAX, &kind), FIELD_WEIGHT_MAX);
	assert_int_equal(weight_of("ret", 8, (uint32_t)-5, &kind), 0);
	assert_int_equal(kind, VALUE_COUNT);
	assert_int_equal(weight_of("count", 28, UINT32_MAX, &kind), FIELD_WEIGHT_MAX);

	err = field_reader_set_weight(reader, "comm");
	assert_non_null(strstr(error_text(err), "is not a number"));
	error_free(err);
	err = field_reader_set_weight(reader, "buf");
	assert_non_null(strstr(error_text(err), "is not a number"));
	error_free(err);
	err = field_reader_set_weight(reader, "bytes");
	assert_non_null(strstr(error_text(err), "has no field bytes"));
	error_free(err);
}

TEST(fields_become_labels)
{
	CLEANUP(field_reader_cleanup) struct field_reader *reader = reader_of(text);
	unsigned char data[DATA_BYTES];
	struct record_sample sample = {.period = 1, .raw_data = bytes_of(data, sizeof(data))};
	struct error *err;

	fill(data);
	assert_false(field_reader_is_needed(reader));
	assert_null(field_reader_add_labels(reader, "comm+ret"));
	field_reader_label_event(reader);
	field_reader_read(reader, &sample);
	assert_int_equal(sample.period, 1);
	assert_int_equal(sample.field_count, 3);
	assert_string_equal(sample.fields[0].name, "event");
	assert_true(bytes_are(sample.fields[0].text, "block:block_rq_issue"));
	assert_true(bytes_are(sample.fields[1].text, "worker"));
	assert_string_equal(sample.fields[2].name, "ret");
	assert_int_equal(sample.fields[2].number, -5);

	/* The id of another tracepoint. */
	put(data, 0, 7, 2);
	sample = (struct record_sample){.period = 1, .raw_data = bytes_of(data, sizeof(data))};
	field_reader_read(reader, &sample);
	assert_int_equal(sample.field_count, 0);

	err = field_reader_add_labels(reader, "args");
	assert_non_null(strstr(error_text(err), "array"));
	error_free(err);
	err = field_reader_add_labels(reader, "comm+");
	assert_non_null(err);
	error_free(err);
}

TEST(labels_are_the_names_of_values)
{
	CLEANUP(field_reader_cleanup) struct field_reader *reader = reader_of(switched);
	unsigned char data[DATA_BYTES] = {7};
	struct record_sample sample = {.period = 1, .raw_data = bytes_of(data, sizeof(data))};

	assert_null(field_reader_add_labels(reader, "vec+state"));
	for (int round = 0; round < 2; round++) {
		put(data, 4, 3, 4);
		field_reader_read(reader, &sample);
		assert_false(sample.fields[0].is_text);
		assert_true(sample.fields[1].is_text);
		assert_true(bytes_are(sample.fields[1].text, "S|D"));
		put(data, 4, 0, 4);
		field_reader_read(reader, &sample);
		assert_true(bytes_are(sample.fields[1].text, "R"));
	}
}

TEST(formats_in_a_file_are_those_that_were_written)
{
	static const struct {
		const char *subsystem, *text;
	} given[] = {{"block", "ID: 1\n"}, {"block", "ID: 22\n"}, {"sched", ""}};
	struct tracing_format formats[ARRAY_SIZE(given)], read;
	CLEANUP(free_ptr) char *section = NULL;
	struct tracing_data data;
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		formats[i] = (struct tracing_format){
			given[i].subsystem, bytes_of(given[i].text, strlen(given[i].text))};
	section = tracing_data_encode("page", "event", formats, ARRAY_SIZE(given), &len);
	assert_true(tracing_data_open(bytes_of(section, len), &data));
	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		assert_true(tracing_data_next(&data, &read));
		assert_string_equal(read.subsystem, given[i].subsystem);
		assert_true(bytes_are(read.text, given[i].text));
	}
	assert_false(tracing_data_next(&data, &read));
	for (size_t cut = 0; cut < len; cut++) {
		CLEANUP(free_ptr) char *part = xmalloc(cut + 1);

		memcpy(part, section, cut);
		if (!tracing_data_open(bytes_of(part, cut), &data))
			continue;
		while (tracing_data_next(&data, &read))
			continue;
	}
}
