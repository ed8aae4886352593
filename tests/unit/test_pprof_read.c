#include "base/alloc.h"
#include "base/gzip.h"
#include "format/pprof/head.h"
#include "format/pprof/limits.h"
#include "format/pprof/read.h"
#include "report/view.h"

#include "output.h"
#include "pprof_message.h"
#include "sample_profile.h"
#include "unit_test.h"
#include "waiting_profile.h"

#include <inttypes.h>

static struct error *read_bytes(const void *data, size_t len, struct profile *profile)
{
	/* fmemopen() does not accept an empty buffer. */
	CLEANUP(close_file)
	FILE *in = len ? fmemopen((void *)(uintptr_t)data, len, "r") : fopen("/dev/null", "r");

	return pprof_read(in, profile);
}

static struct profile *must_read(const void *data, size_t len)
{
	struct profile *profile = profile_new();
	CLEANUP(error_cleanup) struct error *err = read_bytes(data, len, profile);

	if (err)
		fail_msg("%s", error_text(err));
	return profile;
}

static struct output packed(const struct message *message)
{
	struct wire_message packed = message_packed(message);

	return (struct output){.data = (char *)packed.bytes, .len = packed.len};
}

static struct profile *must_read_message(const struct message *message)
{
	CLEANUP(output_deinit) struct output data = packed(message);

	return must_read(data.data, data.len);
}

static void assert_refused(const struct message *message, const char *why)
{
	CLEANUP(output_deinit) struct output data = packed(message);
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(error_cleanup) struct error *err = read_bytes(data.data, data.len, profile);

	if (!err || !strstr(error_text(err), why))
		fail_msg("\"%s\" instead of \"%s\"", err ? error_text(err) : "no error", why);
}

static void assert_folded(const struct profile *profile, enum format_weight weight,
			  const char *expected)
{
	CLEANUP(output_deinit)
	struct output folded = output_of(&format_folded, profile,
					 (struct format_options){.folded.weight = weight});

	assert_string_equal(folded.data, expected);
}

/*
 * A basic message, as other producers write it: no labels, no mapping of its
 * first function, strings in any order. Each test changes one thing.
 */
struct sample_message {
	struct message_type types[3];
	struct message_mapping mapping;
	struct message_function functions[3];
	struct message_line lines[3];
	struct message_location locations[2];
	uint64_t ids[2];
	int64_t values[3];
	struct message_sample sample;
	char *strings[64];
	struct message of;
};

enum {
	STR_EMPTY,
	STR_CPU,
	STR_NANOSECONDS,
	STR_MAIN,
	STR_WORK,
	STR_WORK_MANGLED,
	STR_FILE,
	STR_SAMPLES,
	STR_COUNT,
	STR_PROGRAM,
	STR_INNER,
	STR_BUILD_ID,
	STR_COUNT_OF
};

static void set_strings(struct sample_message *message)
{
	static const char *const strings[STR_COUNT_OF] = {
		"",	   "cpu",   "nanoseconds",	"main",	 "work",  "_Z4workv", "work.cc",
		"samples", "count", "/opt/bin/program", "inner", "c0ffee"};

	for (size_t i = 0; i < STR_COUNT_OF; i++)
		message->strings[i] = (char *)(uintptr_t)strings[i];
	message->of.n_string_table = STR_COUNT_OF;
	message->of.string_table = message->strings;
}

static void set_functions(struct sample_message *message)
{
	static const int64_t names[] = {STR_MAIN, STR_WORK, STR_INNER};

	for (size_t i = 0; i < 3; i++) {
		message->functions[i].id = 100 + i;
		message->functions[i].name = names[i];
	}
	message->functions[1].system_name = STR_WORK_MANGLED;
	message->functions[1].filename = STR_FILE;
	message->functions[1].start_line = 9;
	message->of.n_function = 3;
	message->of.function = message->functions;
}

/* Sets main, with `inner` inlined into `work` above it. */
static void set_locations(struct sample_message *message)
{
	message->lines[0] = (struct message_line){.function_id = 100, .line = 10};
	message->lines[1] = (struct message_line){.function_id = 102, .line = 12};
	message->lines[2] = (struct message_line){.function_id = 101, .line = 11};
	for (size_t i = 0; i < 2; i++) {
		message->locations[i].id = UINT64_MAX - i; /* ids are not dense */
		message->ids[1 - i] = UINT64_MAX - i;
	}
	message->locations[0].n_line = 1;
	message->locations[0].line = &message->lines[0];
	message->locations[1].n_line = 2;
	message->locations[1].line = &message->lines[1];
	message->locations[1].mapping_id = 7;
	message->locations[1].address = 0x401234;
	message->of.n_location = 2;
	message->of.location = message->locations;
}

static struct sample_message *sample_message(void)
{
	struct sample_message *message = xcalloc(1, sizeof(*message));

	set_strings(message);
	set_functions(message);
	set_locations(message);
	message->types[0].type = STR_CPU;
	message->types[0].unit = STR_NANOSECONDS;
	message->of.n_sample_type = 1;
	message->of.sample_type = message->types;
	message->mapping.id = 7;
	message->mapping.memory_start = 0x400000;
	message->mapping.memory_limit = 0x402000;
	message->mapping.file_offset = 0x3000;
	message->mapping.filename = STR_PROGRAM;
	message->mapping.build_id = STR_BUILD_ID;
	message->of.n_mapping = 1;
	message->of.mapping = &message->mapping;
	message->sample.n_location_id = 2;
	message->sample.location_id = message->ids;
	message->sample.n_value = 1;
	message->sample.value = message->values;
	message->values[0] = 500;
	message->of.n_sample = 1;
	message->of.sample = &message->sample;
	return message;
}

/* Prints a sorted line per sample with all its data, independent of the
 * encoding of the message. */
static void tell_frame(FILE *out, const struct message *message, uint64_t id)
{
	const struct message_location *location = NULL;

	for (size_t i = 0; i < message->n_location; i++)
		if (message->location[i].id == id)
			location = &message->location[i];
	fprintf(out, " | %" PRIx64, location->address);
	for (size_t i = 0; i < message->n_mapping; i++) {
		const struct message_mapping *mapping = &message->mapping[i];

		if (mapping->id == location->mapping_id)
			fprintf(out, " in %s %s %" PRIx64 "-%" PRIx64 "@%" PRIx64 " %d%d%d%d",
				message->string_table[mapping->filename],
				message->string_table[mapping->build_id], mapping->memory_start,
				mapping->memory_limit, mapping->file_offset,
				!!mapping->has_functions, !!mapping->has_filenames,
				!!mapping->has_line_numbers, !!mapping->has_inline_frames);
	}
	for (size_t i = 0; i < location->n_line; i++)
		for (size_t f = 0; f < message->n_function; f++) {
			const struct message_function *function = &message->function[f];

			if (function->id == location->line[i].function_id)
				fprintf(out, " %s=%s(%s:%" PRId64 "):%" PRId64,
					message->string_table[function->name],
					message->string_table[function->system_name],
					message->string_table[function->filename],
					function->start_line, location->line[i].line);
		}
}

static char *tell_sample(const struct message *message, const struct message_sample *sample)
{
	char *line = NULL;
	size_t len;
	FILE *out = open_memstream(&line, &len);

	for (size_t i = 0; i < sample->n_value; i++)
		fprintf(out, "%s %" PRId64 " ", message->string_table[message->sample_type[i].type],
			sample->value[i]);
	for (size_t i = 0; i < sample->n_label; i++)
		if (sample->label[i].str)
			fprintf(out, "%s=%s ", message->string_table[sample->label[i].key],
				message->string_table[sample->label[i].str]);
		else
			fprintf(out, "%s=%" PRId64 "%s ",
				message->string_table[sample->label[i].key], sample->label[i].num,
				message->string_table[sample->label[i].num_unit]);
	for (size_t i = 0; i < sample->n_location_id; i++)
		tell_frame(out, message, sample->location_id[i]);
	fclose(out);
	return line;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void tell_header(FILE *out, const struct message *message)
{
	fprintf(out, "time %" PRId64 " for %" PRId64 ", period %" PRId64 ", default %s\n",
		message->time_nanos, message->duration_nanos, message->period,
		message->string_table[message->default_sample_type]);
	for (size_t i = 0; i < message->n_sample_type; i++)
		fprintf(out, "type %s %s\n", message->string_table[message->sample_type[i].type],
			message->string_table[message->sample_type[i].unit]);
	for (size_t i = 0; i < message->n_comment; i++)
		fprintf(out, "comment %s\n", message->string_table[message->comment[i]]);
	for (size_t i = 0; i < message->n_mapping; i++)
		fprintf(out, "mapping %s\n", message->string_table[message->mapping[i].filename]);
}

static struct output unpacked(const struct output *gzip)
{
	CLEANUP(close_file) FILE *in = fmemopen(gzip->data, gzip->len, "r");
	CLEANUP(close_file) FILE *plain = gzip_reader(in, UINT64_MAX);
	struct output output = {0};
	FILE *out = open_memstream(&output.data, &output.len);

	for (int c; (c = getc(plain)) != EOF;)
		putc(c, out);
	fclose(out);
	return output;
}

static struct output told(const struct output *gzip)
{
	CLEANUP(output_deinit) struct output plain = unpacked(gzip);
	CLEANUP(message_cleanup) struct message *message = message_read(plain.data, plain.len);
	CLEANUP(free_ptr) char **lines = xcalloc(message->n_sample, sizeof(*lines));
	struct output output = {0};
	FILE *out = open_memstream(&output.data, &output.len);

	tell_header(out, message);
	for (size_t i = 0; i < message->n_sample; i++)
		lines[i] = tell_sample(message, &message->sample[i]);
	qsort(lines, message->n_sample, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < message->n_sample; i++) {
		fprintf(out, "%s\n", lines[i]);
		free(lines[i]);
	}
	fclose(out);
	return output;
}

static void assert_same_outputs(const struct profile *left, const struct profile *right)
{
	static const struct format_options options[] = {
		{.folded.weight = WEIGHT_SAMPLES}, {.folded.weight = WEIGHT_PERIOD},
		{.folded.show_tid = true},	   {.folded.weight = WEIGHT_NS},
		{.folded.annotate = true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		CLEANUP(output_deinit)
		struct output expected = output_of(&format_folded, left, options[i]);
		CLEANUP(output_deinit)
		struct output folded = output_of(&format_folded, right, options[i]);

		assert_string_equal(folded.data, expected.data);
	}
}

static void assert_comes_back(const struct profile *profile)
{
	struct format_options options = {0};
	CLEANUP(output_deinit) struct output first = output_of(&format_pprof, profile, options);
	CLEANUP(profile_cleanup) struct profile *again = must_read(first.data, first.len);
	CLEANUP(output_deinit) struct output second = output_of(&format_pprof, again, options);
	CLEANUP(profile_cleanup) struct profile *third = must_read(second.data, second.len);
	CLEANUP(output_deinit) struct output last = output_of(&format_pprof, third, options);
	CLEANUP(output_deinit) struct output told_first = told(&first), told_second = told(&second);

	assert_string_equal(told_second.data, told_first.data);
	assert_int_equal(last.len, second.len);
	assert_memory_equal(last.data, second.data, last.len);
	assert_same_outputs(profile, again);
}

TEST(what_prof_has_written_comes_back)
{
	CLEANUP(profile_cleanup) struct profile *shop = shop_profile();

	assert_comes_back(shop);
	for (uint64_t seed = 1; seed < 20; seed++) {
		CLEANUP(profile_cleanup) struct profile *profile = random_profile(seed);

		assert_comes_back(profile);
	}
}

TEST(what_an_output_says_of_modules_and_the_recording_comes_back)
{
	CLEANUP(profile_cleanup) struct profile *shop = shop_profile();

	profile_set_source_user(shop, 1, 1234);
	profile_add_polls(shop, "async fn buy", 7);
	CLEANUP(output_deinit)
	struct output output = output_of(&format_pprof, shop, (struct format_options){0});
	CLEANUP(profile_cleanup) struct profile *again = must_read(output.data, output.len);
	const struct profile_info *info = profile_get_info(again);
	const struct profile_module *module = profile_get_module(again, 1);

	assert_int_equal(info->start_unix_ns, 1700000000000000000);
	assert_int_equal(info->duration_ns, 9000000);
	assert_string_equal(info->title, "shop");
	assert_string_equal(info->command, "prof record -- shop");
	assert_string_equal(info->host, "example");
	assert_string_equal(info->kernel, "6.18.0");
	assert_true(info->quality.is_known);
	assert_int_equal(info->quality.samples, 9);
	assert_string_equal(info->remarks, "");
	assert_int_equal(module->source_user, 1234);
	assert_int_equal(profile_polls_count(again), 1);
	assert_int_equal(profile_get_polls(again, 0)->polls, 7);
	assert_string_equal(profile_string(again, profile_get_polls(again, 0)->task),
			    "async fn buy");
	assert_true(module->is_main);
	assert_string_equal(profile_string(again, module->path), "/usr/bin/shop");
	assert_string_equal(profile_string(again, module->build_id), "00c0ffee");
	assert_int_equal(profile_get_module(again, 3)->kind, PROFILE_MODULE_KERNEL);
	assert_string_equal(profile_string(again, profile_get_event(again, 0)->name), "cpu");
	assert_int_equal(profile_get_event(again, 0)->kind, VALUE_CPU_TIME);
}

static bool read_head(const struct format_options *options, struct pprof_head *ret)
{
	CLEANUP(profile_cleanup) struct profile *shop = shop_profile();
	CLEANUP(output_deinit) struct output output = output_of(&format_pprof, shop, *options);
	CLEANUP(close_file) FILE *in = fmemopen(output.data, output.len, "r");

	return pprof_head_read(in, ret);
}

TEST(the_beginning_of_a_merged_file_has_its_segments)
{
	static uint64_t seconds[PPROF_SEGMENTS_MAX + 1];
	struct format_options options = {.pprof.segments = seconds};
	static const size_t counts[] = {0, 1, 3, PPROF_SEGMENTS_MAX};
	struct pprof_head head;

	for (size_t i = 0; i < ARRAY_SIZE(seconds); i++)
		seconds[i] = 1700000000 + 2 * i;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		options.pprof.segment_count = counts[i];
		assert_true(read_head(&options, &head));
		assert_int_equal(head.start_unix_ns, 1700000000000000000);
		assert_int_equal(head.duration_ns, 9000000);
		assert_int_equal(head.segment_count, counts[i]);
		for (size_t k = 0; k < counts[i]; k++)
			assert_int_equal(head.segments[k], seconds[k]);
		free(head.segments);
	}
	options.pprof.segment_count = PPROF_SEGMENTS_MAX + 1;
	assert_false(read_head(&options, &head));
	options.pprof.segment_count = 2;
	seconds[1] = seconds[0]; /* duplicates are refused */
	assert_false(read_head(&options, &head));
	assert_null(head.segments);
}

TEST(cpu_time_and_waiting_come_back_from_one_file)
{
	CLEANUP(profile_cleanup) struct profile *profile = waiting_profile(false);

	set_waiting_quality(profile);
	CLEANUP(output_deinit)
	struct output output = output_of(&format_pprof, profile, (struct format_options){0});
	CLEANUP(profile_cleanup) struct profile *again = must_read(output.data, output.len);
	const struct waiting_quality *waiting = &profile_get_info(again)->quality.waiting;

	assert_int_equal(profile_event_count(again), 2);
	assert_string_equal(profile_string(again, profile_get_event(again, 0)->name), "cpu");
	assert_int_equal(profile_get_event(again, 0)->kind, VALUE_CPU_TIME);
	assert_string_equal(profile_string(again, profile_get_event(again, 1)->name), "off-cpu");
	assert_int_equal(profile_get_event(again, 1)->kind, VALUE_OFF_CPU_TIME);
	assert_string_equal(profile_event_unit(again, 1), "nanoseconds");
	assert_int_equal(view_event_sum(again, 0).samples, 500);
	assert_int_equal(view_event_sum(again, 0).weight, 500 * MS);
	assert_int_equal(view_event_sum(again, 1).weight, 1500 * MS);
	assert_memory_equal(waiting, &profile_get_info(profile)->quality.waiting, sizeof(*waiting));
	assert_string_equal(profile_get_info(again)->remarks, "");
}

static struct profile *read_golden(const char *name)
{
	struct profile *profile = profile_new();
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", GOLDEN_DIR, name);
	CLEANUP(close_file) FILE *in = fopen(path, "r");
	CLEANUP(error_cleanup) struct error *err = pprof_read(in, profile);

	assert_null(err);
	return profile;
}

TEST(a_cpu_profile_of_go_is_read)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_golden("go_cpu.pb.gz");
	const struct profile_event *event = profile_get_event(profile, 0);

	assert_int_equal(profile_event_count(profile), 1);
	assert_string_equal(profile_string(profile, event->name), "cpu");
	assert_int_equal(event->period, 10000000);
	assert_folded(profile, WEIGHT_SAMPLES,
		      "shop;runtime.main;main.main;main.work;main.spin 10\n"
		      "shop;runtime.main;main.main;main.work;main.spin;runtime.asyncPreempt 1\n"
		      "shop;runtime.main;main.main;runtime/pprof.Do;main.main.func1;main.work;"
		      "main.spin 4\n"
		      "shop;runtime.main;main.main;runtime/pprof.Do;main.main.func1;main.work;"
		      "main.spin;runtime.asyncPreempt 3\n");
}

/* The types are objects and bytes, both of all allocations and of those in use. */
TEST(a_heap_profile_of_go_shows_the_bytes_in_use)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_golden("go_heap.pb.gz");

	assert_int_equal(profile_event_count(profile), 4);
	assert_string_equal(profile_string(profile, profile_get_event(profile, 0)->name),
			    "inuse_space");
	assert_folded(profile, WEIGHT_SAMPLES, "shop;runtime.main;main.main;main.keep 67911012\n");
}

TEST(types_and_units_of_other_makes_are_written_again)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_golden("go_heap.pb.gz");
	CLEANUP(output_deinit)
	struct output output = output_of(&format_pprof, profile, (struct format_options){0});
	CLEANUP(output_deinit) struct output text = told(&output);

	assert_non_null(strstr(text.data, "default inuse_space\n"
					  "type alloc_objects count\n"
					  "type alloc_space bytes\n"
					  "type inuse_objects count\n"
					  "type inuse_space bytes\n"
					  "mapping /tmp/rd/shop\n"));
	assert_non_null(strstr(text.data, "alloc_objects 65536 alloc_space 524292 inuse_objects 0 "
					  "inuse_space 0 bytes=8  | 49e9ce in /tmp/rd/shop"));
	assert_null(strstr(text.data, "comm="));
	assert_null(strstr(text.data, "pid="));
}

TEST(a_plain_message_of_another_make_is_read)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	CLEANUP(profile_cleanup) struct profile *profile = must_read_message(&message->of);
	CLEANUP(output_deinit)
	struct output output = output_of(&format_pprof, profile, (struct format_options){0});
	CLEANUP(output_deinit) struct output text = told(&output);

	assert_folded(profile, WEIGHT_SAMPLES, "program;main;work;inner 500\n");
	assert_string_equal(text.data,
			    "time 0 for 0, period 1, default cpu\n"
			    "type cpu nanoseconds\n"
			    "mapping /opt/bin/program\n"
			    "cpu 500  | 401234 in /opt/bin/program c0ffee "
			    "400000-402000@3000 1111 inner=inner(:0):12 work=_Z4workv(work.cc:9):11"
			    " | 0 main=main(:0):10\n");
}

/* Fields may come in any order and in parts, and lists of numbers may be
 * unpacked. */
TEST(the_order_of_fields_does_not_matter)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	CLEANUP(output_deinit) struct output whole = {0};
	FILE *out = open_memstream(&whole.data, &whole.len);
	size_t strings = message->of.n_string_table;
	static const uint8_t unpacked_sample[] = {
		0x12,
		0x1a, /* a sample */
		0x10,
		5, /* its value, then its locations */
		0x08,
		0xfe,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		1,
		0x08,
		0xff,
		/* an unknown field, then
		 * 	version */
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		1,
		0x78,
		1,
	};

	fwrite(unpacked_sample, 1, sizeof(unpacked_sample), out);
	message->of.n_sample = message->of.n_string_table = 0;
	for (unsigned part = 0; part < 2; part++) {
		CLEANUP(output_deinit) struct output data = packed(&message->of);

		fwrite(data.data, 1, data.len, out);
		message->of = (struct message){0};
		message->of.n_string_table = strings;
		message->of.string_table = message->strings;
	}
	fclose(out);

	CLEANUP(profile_cleanup) struct profile *profile = must_read(whole.data, whole.len);

	assert_folded(profile, WEIGHT_SAMPLES, "program;main;work;inner 5\n");
}

enum { STEPS = 9, ALL_WAYS = 1 << STEPS };

/* Each stack of this many steps is a sample whose value is its number plus one.
 * Each bit of the number selects one of the two locations, from the root on. */
static struct profile *read_ways(const uint32_t *order)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	static struct message_sample samples[ALL_WAYS];
	static uint64_t ids[ALL_WAYS][STEPS];
	static int64_t values[ALL_WAYS];

	for (uint32_t i = 0; i < ALL_WAYS; i++) {
		for (uint32_t step = 0; step < STEPS; step++)
			ids[i][step] = message->ids[order[i] >> step & 1];
		values[i] = order[i] + 1;
		samples[i] = (struct message_sample){0};
		samples[i].n_location_id = STEPS;
		samples[i].location_id = ids[i];
		samples[i].n_value = 1;
		samples[i].value = &values[i];
	}
	message->of.n_sample = ALL_WAYS;
	message->of.sample = samples;
	return must_read_message(&message->of);
}

TEST(samples_may_stand_in_any_order)
{
	uint32_t sorted[ALL_WAYS], scattered[ALL_WAYS];

	for (uint32_t i = 0; i < ALL_WAYS; i++) {
		sorted[i] = i;
		/* an odd factor gives each number once */
		scattered[i] = i * 205 % ALL_WAYS;
	}

	CLEANUP(profile_cleanup) struct profile *profile = read_ways(scattered);
	CLEANUP(profile_cleanup) struct profile *expected = read_ways(sorted);
	CLEANUP(output_deinit)
	struct output folded = output_of(&format_folded, expected,
					 (struct format_options){.folded.weight = WEIGHT_SAMPLES});

	assert_int_equal(profile_stacks(profile).count, 2 * ALL_WAYS - 1);
	assert_int_equal(profile_samples(profile).count, ALL_WAYS);
	assert_folded(profile, WEIGHT_SAMPLES, folded.data);
}

TEST(a_function_without_a_name_leaves_the_address)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	CLEANUP(profile_cleanup) struct profile *mangled = NULL, *profile = NULL;

	message->functions[1].name = STR_EMPTY; /* except the linkage name */
	mangled = must_read_message(&message->of);
	assert_folded(mangled, WEIGHT_SAMPLES, "program;main;_Z4workv;inner 500\n");
	message->functions[1].system_name = STR_EMPTY;
	message->lines[1].function_id = 0;
	profile = must_read_message(&message->of);
	assert_folded(profile, WEIGHT_SAMPLES, "program;main;[program+0x401234] 500\n");
}

TEST(the_name_of_an_unknown_function_is_an_address_in_it)
{
	static const struct {
		const char *name;
		uint64_t function_address;
		bool is_known;
	} cases[] = {
		{"[program+0x401234]", 0x401234, false},
		{"[program+0x401200]", 0x401200, false},
		{"[program+0x0]", 0, false},
		{"[program+0x401235]", 0x401234, true},
		{"[program+0x401200", 0x401234, true},
		{"[program+0x401200]]", 0x401234, true},
		{"[program+0x-1]", 0x401234, true},
		{"[program+401200]", 0x401234, true},
		{"program+0x401200]", 0x401234, true},
		{"[program+0xfffffffffffffffff]", 0x401234, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(free_ptr) struct sample_message *message = sample_message();
		CLEANUP(profile_cleanup) struct profile *profile = NULL;

		message->strings[STR_WORK] = (char *)(uintptr_t)cases[i].name;
		message->functions[1].name = message->functions[1].system_name = STR_WORK;
		message->locations[1].n_line = 1;
		message->lines[1].function_id = message->functions[1].id;
		message->lines[1].line = 0;
		profile = must_read_message(&message->of);
		assert_int_equal(profile_get_frame(profile, 1).line_count, cases[i].is_known);
		assert_int_equal(profile_frame_function_address(profile, 1),
				 cases[i].function_address);
	}
}

TEST(without_mappings_there_is_no_process)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	CLEANUP(profile_cleanup) struct profile *profile = NULL, *empty = NULL;

	message->of.n_mapping = 0;
	message->locations[1].n_line = 0;
	profile = must_read_message(&message->of);
	assert_folded(profile, WEIGHT_SAMPLES, "main;[unknown+0x401234] 500\n");
	message->sample.n_location_id = 0;
	empty = must_read_message(&message->of);
	assert_folded(empty, WEIGHT_SAMPLES, "[unnamed] 500\n");
}

TEST(an_address_outside_of_its_mapping_stays_what_it_is)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct profile_frame frame;

	message->locations[1].address = 0x3010; /* like an offset in the file */
	message->locations[1].n_line = 0;
	profile = must_read_message(&message->of);
	frame = profile_get_frame(profile, 1);
	assert_int_equal(profile_frame_address(profile, 1), 0x3010);
	assert_string_equal(
		profile_string(profile, profile_get_module(profile, frame.module)->path),
		"/opt/bin/program");
}

TEST(wherever_a_file_was_loaded_an_address_without_a_name_is_its_offset)
{
	static const uint64_t loaded[] = {0x555555554000, 0x7ff000000000};

	for (size_t i = 0; i < ARRAY_SIZE(loaded); i++) {
		CLEANUP(free_ptr) struct sample_message *message = sample_message();
		CLEANUP(profile_cleanup) struct profile *profile = NULL;

		message->mapping.memory_start = loaded[i] + 0x1000;
		message->mapping.memory_limit = loaded[i] + 0x2000;
		message->mapping.file_offset = 0x3000;
		message->locations[1].address = loaded[i] + 0x1234;
		message->locations[1].n_line = 0;
		profile = must_read_message(&message->of);
		assert_folded(profile, WEIGHT_SAMPLES, "program;main;[program+0x3234] 500\n");
	}
}

TEST(the_default_type_is_the_first_event_and_samples_count_for_it)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	CLEANUP(profile_cleanup) struct profile *profile = NULL, *last = NULL;

	message->types[1] = message->types[0];
	message->types[0].type = STR_SAMPLES;
	message->types[0].unit = STR_COUNT;
	message->types[2].type = STR_MAIN;
	message->types[2].unit = STR_COUNT;
	message->values[0] = 3;
	message->values[1] = 500;
	message->values[2] = 70;
	message->of.n_sample_type = message->sample.n_value = 3;
	message->of.default_sample_type = STR_CPU;
	profile = must_read_message(&message->of);
	assert_int_equal(profile_event_count(profile), 2);
	assert_folded(profile, WEIGHT_SAMPLES, "program;main;work;inner 3\n");
	assert_folded(profile, WEIGHT_NS, "program;main;work;inner 500\n");
	message->of.default_sample_type = 0;
	last = must_read_message(&message->of);
	assert_folded(last, WEIGHT_PERIOD, "program;main;work;inner 70\n");
}

TEST(samples_count_wherever_they_stand)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	message->types[1].type = STR_SAMPLES; /* counts, because there is no unit */
	message->values[1] = 3;
	message->of.n_sample_type = message->sample.n_value = 2;
	profile = must_read_message(&message->of);
	assert_int_equal(profile_event_count(profile), 1);
	assert_folded(profile, WEIGHT_SAMPLES, "program;main;work;inner 3\n");
	assert_folded(profile, WEIGHT_NS, "program;main;work;inner 500\n");
}

TEST(comments_of_other_makes_are_kept)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	int64_t comments[] = {STR_MAIN, STR_EMPTY, STR_FILE};

	message->of.n_comment = ARRAY_SIZE(comments);
	message->of.comment = comments;
	profile = must_read_message(&message->of);
	assert_string_equal(profile_get_info(profile)->remarks, "main\nwork.cc\n");
	assert_false(profile_get_info(profile)->quality.is_known);

	CLEANUP(output_deinit)
	struct output output = output_of(&format_pprof, profile, (struct format_options){0});
	CLEANUP(output_deinit) struct output text = told(&output);

	assert_non_null(strstr(text.data, "comment main\ncomment work.cc\n"));
}

/* If the text is "", the value is the number. */
struct label_case {
	const char *key, *text;
	int64_t number;
	const char *unit;
};

static void add_labels(struct sample_message *message, struct message_label *labels,
		       const struct label_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char **strings = &message->strings[STR_COUNT_OF + 3 * i];

		strings[0] = (char *)(uintptr_t)cases[i].key;
		strings[1] = (char *)(uintptr_t)cases[i].text;
		strings[2] = (char *)(uintptr_t)cases[i].unit;
		labels[i] = (struct message_label){
			.key = (int64_t)(STR_COUNT_OF + 3 * i),
			.str = *cases[i].text ? (int64_t)(STR_COUNT_OF + 3 * i + 1) : 0,
			.num = cases[i].number,
			.num_unit = *cases[i].unit ? (int64_t)(STR_COUNT_OF + 3 * i + 2) : 0,
		};
	}
	message->of.n_string_table = STR_COUNT_OF + 3 * count;
	message->sample.n_label = count;
	message->sample.label = labels;
}

TEST(labels_come_back_sorted_by_their_keys)
{
	static const struct label_case cases[] = {
		{"state", "running", 0, ""},
		{"bytes", "", 65536, "bytes"},
		{"request", "checkout", 0, ""},
		{"delta", "", -7, ""},
		{"request", "abandon", 0, ""},
		{"pid", "", 12, "id"},
		{"pid", "", 13, "id"},
		{"tid", "", INT64_C(1) << 40, "id"},
		{"comm", "", 5, ""},
		{"comm", "shop", 0, ""},
		{"age", "", 3, "milliseconds"},
		{"empty", "", 0, "seconds"},
	};
	struct message_label labels[ARRAY_SIZE(cases)];
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(output_deinit) struct output gzip = {0};
	CLEANUP(output_deinit) struct output text = {0};

	add_labels(message, labels, cases, ARRAY_SIZE(cases));
	profile = must_read_message(&message->of);
	assert_comes_back(profile);
	gzip = output_of(&format_pprof, profile, (struct format_options){0});
	text = told(&gzip);
	assert_non_null(strstr(text.data,
			       " comm=shop pid=12id age=3milliseconds bytes=65536bytes comm=5 "
			       "delta=-7 empty=0seconds pid=13id request=checkout "
			       "request=abandon state=running tid=1099511627776id  | "));
	assert_int_equal(profile_thread_of(profile, 0)->pid, 12);
	assert_int_equal(profile_thread_of(profile, 0)->tid, -1);
}

TEST(a_name_is_made_valid)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	CLEANUP(free_ptr) char *name = xcalloc(1, (1 << 16) + 1);
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	memset(name, 'x', 1 << 16);
	name[1000] = '\xff';
	message->strings[STR_INNER] = name;
	message->strings[STR_WORK] = (char *)(uintptr_t) "a;b\xc3";
	profile = must_read_message(&message->of);
	assert_string_equal(profile_string(profile, profile_get_function(profile, 2)->name),
			    "a;b\xef\xbf\xbd");
	assert_int_equal(strlen(profile_string(profile, profile_get_function(profile, 1)->name)),
			 (1 << 16) + 2);
}

TEST(a_difference_without_a_type_that_is_not_negative_is_refused)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();

	message->values[0] = -1;
	assert_refused(&message->of, "negative values");
}

TEST(what_is_not_there_is_an_error)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	int64_t comment = STR_COUNT_OF;

	message->ids[0] = 1;
	assert_refused(&message->of, "location 1, which does not exist");
	message->ids[0] = UINT64_MAX;
	message->lines[1].function_id = 3;
	assert_refused(&message->of, "function 3, which does not exist");
	message->lines[1].function_id = 100;
	message->functions[0].filename = STR_COUNT_OF;
	assert_refused(&message->of, "a string that does not exist");
	message->functions[0].filename = -1;
	assert_refused(&message->of, "a string that does not exist");
	message->functions[0].filename = 0;
	message->of.comment = &comment;
	message->of.n_comment = 1;
	assert_refused(&message->of, "a string that does not exist");
	message->of.n_comment = 0;
	message->of.default_sample_type = STR_COUNT_OF;
	assert_refused(&message->of, "a string that does not exist");
}

TEST(what_is_there_twice_is_an_error)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();

	message->of.n_sample_type = message->sample.n_value = 2;
	message->types[1] = message->types[0];
	assert_refused(&message->of, "two equal sample types");
	message->of.n_sample_type = message->sample.n_value = 1;
	message->functions[1].id = 100;
	assert_refused(&message->of, "two functions have the id 100");
	message->functions[1].id = 101;
	message->locations[1].id = UINT64_MAX;
	assert_refused(&message->of, "two locations have the id");
}

TEST(values_without_a_type_are_an_error)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();

	message->sample.n_value = 2;
	assert_refused(&message->of, "2 values where the profile has 1 types");
	message->types[0].type = 0;
	assert_refused(&message->of, "a sample type has no name");
	message->of.n_sample_type = 0;
	assert_refused(&message->of, "no sample types");
}

TEST(a_cut_off_profile_is_an_error)
{
	CLEANUP(profile_cleanup) struct profile *shop = shop_profile();
	CLEANUP(output_deinit)
	struct output gzip = output_of(&format_pprof, shop, (struct format_options){0});
	CLEANUP(output_deinit) struct output plain = unpacked(&gzip);

	for (size_t len = 0; len < gzip.len; len++) {
		CLEANUP(profile_cleanup) struct profile *profile = profile_new();
		CLEANUP(error_cleanup) struct error *err = read_bytes(gzip.data, len, profile);

		assert_non_null(err);
	}
	/* Strings are at the end of the message, and the last ones are in
	 * labels of samples. */
	for (size_t len = 0; len < plain.len; len++) {
		CLEANUP(profile_cleanup) struct profile *profile = profile_new();
		CLEANUP(error_cleanup) struct error *err = read_bytes(plain.data, len, profile);

		assert_non_null(err);
	}
}

TEST(a_list_of_locations_that_ends_within_a_number_is_an_error)
{
	static const char sample[] = "\x12\x03\x0a\x01\x81";
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	CLEANUP(output_deinit) struct output data = packed(&message->of);
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(error_cleanup) struct error *err = NULL;

	data.data = xreallocarray(data.data, data.len + sizeof(sample), 1);
	memcpy(data.data + data.len, sample, sizeof(sample));
	err = read_bytes(data.data, data.len + sizeof(sample) - 1, profile);
	assert_non_null(strstr(error_text(err), "it is damaged"));
}

TEST(counts_beyond_63_bits_are_not_written)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	struct format_options options = {0};
	CLEANUP(error_cleanup) struct error *err = NULL;
	CLEANUP(close_file) FILE *out = fopen("/dev/null", "w");

	profile_add_samples(profile, profile_thread_labels(profile, 1, 1, "p", ""), STACK_EMPTY,
			    add_event(profile, "samples", VALUE_COUNT), UINT64_C(1) << 63, 1);
	err = format_pprof.write(profile, &options, out);
	assert_non_null(err);
}

static uint32_t deepest(const struct profile *profile)
{
	const struct profile_stacks stacks = profile_stacks(profile);
	uint32_t depth = 0;

	for (uint32_t i = 0; i < stacks.count; i++)
		if (stacks.items[i].depth > depth)
			depth = stacks.items[i].depth;
	return depth;
}

TEST(a_stack_of_millions_of_frames_is_cut_at_its_root)
{
	enum { FRAMES = 3000000 };
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	CLEANUP(free_ptr) uint64_t *ids = xcalloc(FRAMES, sizeof(*ids));
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(output_deinit) struct output folded = {0};

	message->locations[0].id = 1;
	message->locations[1].id = 2;
	for (size_t i = 0; i < FRAMES; i++)
		ids[i] = i ? 1 : 2;
	message->sample.location_id = ids;
	message->sample.n_location_id = FRAMES;
	profile = must_read_message(&message->of);
	assert_int_equal(deepest(profile), PPROF_DEPTH_MAX + 1);
	folded = output_of(&format_folded, profile, (struct format_options){0});
	assert_non_null(strstr(folded.data, ";[truncated];main;main;"));
	assert_non_null(strstr(folded.data, ";main;work;inner 500\n"));
	assert_non_null(strstr(profile_get_info(profile)->remarks, "callers of 1 stacks"));
}

/* The message is as large as one that unpacks to a thousand times its size. */
static void assert_too_large(const void *message, size_t len)
{
	CLEANUP(output_deinit) struct output packed = {0};
	FILE *out = open_memstream(&packed.data, &packed.len);
	FILE *gzip = gzip_writer(out);
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(error_cleanup) struct error *err = NULL;

	fwrite(message, 1, len, gzip);
	fclose(gzip);
	fclose(out);
	err = read_bytes(packed.data, packed.len, profile);
	if (!err || !strstr(error_text(err), "too much for a file of its size"))
		fail_msg("%s", err ? error_text(err) : "no error");
	assert_true(profile_memory_bytes(profile) < 110 << 20);
}

TEST(many_strings_in_a_small_file_are_an_error)
{
	enum { STRINGS = 27 << 20 };
	CLEANUP(free_ptr) char *strings = xmalloc(2 * STRINGS);

	for (size_t i = 0; i < STRINGS; i++)
		memcpy(strings + 2 * i, "\x32", 2); /* an empty one */
	assert_too_large(strings, 2 * STRINGS);
}

/* Stacks with different callers have no frame in common. */
TEST(many_deep_stacks_in_a_small_file_are_an_error)
{
	enum { SAMPLES = 100, FRAMES = PPROF_DEPTH_MAX };
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	CLEANUP(free_ptr) unsigned char *frames = xmalloc(FRAMES);
	struct wire_message all;

	message->locations[0].id = 1;
	message->locations[1].id = 2;
	message->of.n_sample = 0;
	all = message_packed(&message->of);
	memset(frames, 1, FRAMES);
	for (unsigned i = 0; i < SAMPLES; i++) {
		struct wire_message sample = {0};

		for (unsigned bit = 0; bit < 8; bit++)
			frames[FRAMES - 1 - bit] = 1 + (i >> bit & 1);
		wire_put_bytes(&sample, 1, frames, FRAMES);
		wire_put_number(&sample, 2, 1);
		message_put(&all, 2, sample);
	}
	assert_too_large(all.bytes, all.len);
	free(all.bytes);
}

TEST(more_sample_types_labels_or_lines_than_anybody_has_are_an_error)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	CLEANUP(free_ptr)
	struct message_type *types = xcalloc(PPROF_TYPES_MAX + 1, sizeof(*types));
	CLEANUP(free_ptr)
	struct message_line *lines = xcalloc(PPROF_LINES_MAX + 1, sizeof(*lines));
	CLEANUP(free_ptr)
	struct message_label *labels = xcalloc(PPROF_LABELS_MAX + 1, sizeof(*labels));

	message->of.sample_type = types;
	message->of.n_sample_type = PPROF_TYPES_MAX + 1;
	assert_refused(&message->of, "sample types");
	message->of.sample_type = message->types;
	message->of.n_sample_type = 1;

	for (size_t i = 0; i <= PPROF_LINES_MAX; i++)
		lines[i] = message->lines[0];
	message->locations[0].line = lines;
	message->locations[0].n_line = PPROF_LINES_MAX + 1;
	assert_refused(&message->of, "4096 lines");
	message->locations[0].n_line = 1;

	for (size_t i = 0; i <= PPROF_LABELS_MAX; i++)
		labels[i] = (struct message_label){.key = STR_SAMPLES, .num = (int64_t)i};
	message->sample.label = labels;
	message->sample.n_label = PPROF_LABELS_MAX + 1;
	assert_refused(&message->of, "damaged");
}

TEST(a_profile_is_recognized_by_its_first_bytes)
{
	CLEANUP(free_ptr) struct sample_message *message = sample_message();
	CLEANUP(output_deinit) struct output plain = packed(&message->of);
	static const unsigned char gzip[] = {0x1f, 0x8b, 8, 0};

	assert_ptr_equal(format_by_content(gzip, sizeof(gzip)), &format_pprof);
	assert_ptr_equal(format_by_content((unsigned char *)plain.data, 64), &format_pprof);
	/* Go writes the time first. Here, the field after it is truncated. */
	assert_ptr_equal(
		format_by_content((const unsigned char *)"\x48\x87\xa6\x05\x0a\x04\x08", 7),
		&format_pprof);
	assert_null(format_by_content((const unsigned char *)"PERFILE2h\0\0\0\0\0\0\0", 16));
	assert_null(format_by_content((const unsigned char *)"\x7f"
							     "ELF\2\1\1",
				      7));
	assert_null(format_by_content((const unsigned char *)"", 0));
}
