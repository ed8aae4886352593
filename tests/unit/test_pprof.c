#include "base/utf8.h"

#include "output.h"
#include "pprof_message.h"
#include "sample_profile.h"
#include "unit_test.h"

#include <errno.h>
#include <inttypes.h>
#include <zlib.h>

static struct output gunzip(const struct output *packed)
{
	struct output plain = {.len = 0};
	z_stream stream = {.next_in = (unsigned char *)packed->data,
			   .avail_in = (unsigned)packed->len};
	int status = inflateInit2(&stream, 15 + 16);

	while (status == Z_OK) {
		plain.data = xreallocarray(plain.data, plain.len + 65536, 1);
		stream.next_out = (unsigned char *)plain.data + plain.len;
		stream.avail_out = 65536;
		status = inflate(&stream, Z_NO_FLUSH);
		plain.len = stream.total_out;
	}
	assert_int_equal(status, Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	inflateEnd(&stream);
	return plain;
}

static const char *string_at(const struct message *message, int64_t index)
{
	assert_in_range(index, 0, message->n_string_table - 1);
	return message->string_table[index];
}

/* prof writes ids that are dense, ascending and start with 1. */
static const struct message_function *function_at(const struct message *message, uint64_t id)
{
	for (size_t i = 0; i < message->n_function; i++)
		if (message->function[i].id == id)
			return &message->function[i];
	fail_msg("no function %" PRIu64, id);
	return NULL;
}

static const struct message_location *location_at(const struct message *message, uint64_t id)
{
	assert_in_range(id, 1, message->n_location);
	assert_int_equal(message->location[id - 1].id, id);
	return &message->location[id - 1];
}

static const struct message_mapping *mapping_at(const struct message *message, uint64_t id)
{
	assert_in_range(id, 1, message->n_mapping);
	return &message->mapping[id - 1];
}

static void check_strings(const struct message *message)
{
	assert_string_equal(string_at(message, 0), "");
	for (size_t i = 0; i < message->n_string_table; i++) {
		struct bytes text = bytes_of(message->string_table[i],
					     strlen(message->string_table[i]));

		while (bytes_left(&text))
			assert_int_not_equal(utf8_next(&text), UTF8_BAD);
	}
}

static void check_types(const struct message *message)
{
	bool default_exists = false;

	assert_true(message->n_sample_type > 0);
	for (size_t i = 0; i < message->n_sample_type; i++) {
		int64_t type = message->sample_type[i].type;

		assert_true(*string_at(message, type) &&
			    *string_at(message, message->sample_type[i].unit));
		default_exists |= type == message->default_sample_type;
		for (size_t other = 0; other < i; other++)
			assert_int_not_equal(type, message->sample_type[other].type);
	}
	assert_true(default_exists);
	for (size_t i = 0; i < message->n_comment; i++)
		assert_true(*string_at(message, message->comment[i]));
}

static void check_mappings(const struct message *message)
{
	for (size_t i = 0; i < message->n_mapping; i++) {
		const struct message_mapping *mapping = &message->mapping[i];

		assert_int_equal(mapping->id, i + 1);
		assert_true(mapping->memory_start < mapping->memory_limit);
		assert_true(*string_at(message, mapping->filename));
		string_at(message, mapping->build_id);
	}
}

static void check_functions(const struct message *message)
{
	for (size_t i = 0; i < message->n_function; i++) {
		const struct message_function *function = &message->function[i];

		assert_int_not_equal(function->id, 0);
		assert_ptr_equal(function_at(message, function->id), function);
		string_at(message, function->name);
		string_at(message, function->system_name);
		string_at(message, function->filename);
	}
}

static void check_locations(const struct message *message)
{
	for (size_t i = 0; i < message->n_location; i++) {
		const struct message_location *location = &message->location[i];

		assert_int_equal(location->id, i + 1);
		assert_true(location->n_line > 0);
		for (size_t line = 0; line < location->n_line; line++)
			function_at(message, location->line[line].function_id);
		if (location->mapping_id) {
			const struct message_mapping *mapping = mapping_at(message,
									   location->mapping_id);

			assert_true(mapping->memory_start <= location->address);
			assert_true(location->address < mapping->memory_limit);
		} else {
			assert_int_equal(location->address, 0);
		}
	}
}

static void check_samples(const struct message *message)
{
	for (size_t i = 0; i < message->n_sample; i++) {
		const struct message_sample *sample = &message->sample[i];

		assert_int_equal(sample->n_value, message->n_sample_type);
		for (size_t frame = 0; frame < sample->n_location_id; frame++)
			location_at(message, sample->location_id[frame]);
		for (size_t label = 0; label < sample->n_label; label++) {
			assert_true(*string_at(message, sample->label[label].key));
			/* A label has a text, or a number with a unit. */
			assert_true(!*string_at(message, sample->label[label].str) ==
				    !!*string_at(message, sample->label[label].num_unit));
		}
	}
}

/* Checks what strict readers require and go tool pprof does not check. */
static struct message *read_strictly(const struct output *output)
{
	CLEANUP(output_deinit) struct output plain = gunzip(output);
	struct message *message = message_read(plain.data, plain.len);

	check_strings(message);
	check_types(message);
	check_mappings(message);
	check_functions(message);
	check_locations(message);
	check_samples(message);
	return message;
}

static struct message *written(const struct profile *profile)
{
	CLEANUP(output_deinit)
	struct output output = output_of(&format_pprof, profile, (struct format_options){0});

	assert_memory_equal(output.data + 4, "\0\0\0\0", 4); /* gzip's time */
	return read_strictly(&output);
}

static void print_samples(const struct message *message, FILE *out)
{
	for (size_t i = 0; i < message->n_sample; i++) {
		const struct message_sample *sample = &message->sample[i];

		fprintf(out, "sample");
		for (size_t v = 0; v < sample->n_value; v++)
			fprintf(out, " %" PRId64, sample->value[v]);
		fprintf(out, ":");
		for (size_t l = 0; l < sample->n_location_id; l++)
			fprintf(out, " %" PRIu64, sample->location_id[l]);
		for (size_t l = 0; l < sample->n_label; l++) {
			const struct message_label *label = &sample->label[l];

			fprintf(out, ", %s ", string_at(message, label->key));
			if (label->str)
				fprintf(out, "%s", string_at(message, label->str));
			else
				fprintf(out, "%" PRId64 " %s", label->num,
					string_at(message, label->num_unit));
		}
		fprintf(out, "\n");
	}
}

static void print_locations(const struct message *message, FILE *out)
{
	for (size_t i = 0; i < message->n_location; i++) {
		const struct message_location *location = &message->location[i];

		fprintf(out, "location %" PRIu64 ": mapping %" PRIu64 " address 0x%" PRIx64 "\n",
			location->id, location->mapping_id, location->address);
		for (size_t l = 0; l < location->n_line; l++) {
			const struct message_line *line = &location->line[l];
			const struct message_function *function = function_at(message,
									      line->function_id);

			fprintf(out, "\t%s (%s) %s:%" PRId64 " from %" PRId64 "\n",
				string_at(message, function->name),
				string_at(message, function->system_name),
				string_at(message, function->filename), line->line,
				function->start_line);
		}
	}
}

static void print_mappings(const struct message *message, FILE *out)
{
	for (size_t i = 0; i < message->n_mapping; i++) {
		const struct message_mapping *mapping = &message->mapping[i];

		fprintf(out, "mapping %" PRIu64 ": 0x%" PRIx64 "-0x%" PRIx64 " at 0x%" PRIx64 " %s",
			mapping->id, mapping->memory_start, mapping->memory_limit,
			mapping->file_offset, string_at(message, mapping->filename));
		fprintf(out, " build-id '%s'%s%s%s%s\n", string_at(message, mapping->build_id),
			mapping->has_functions ? " functions" : "",
			mapping->has_filenames ? " filenames" : "",
			mapping->has_line_numbers ? " lines" : "",
			mapping->has_inline_frames ? " inline" : "");
	}
}

static void print_type(const struct message *message, const char *title,
		       const struct message_type *type, FILE *out)
{
	fprintf(out, "%s %s/%s\n", title, string_at(message, type->type),
		string_at(message, type->unit));
}

/* Prints the whole message for people. */
static void print_all(const struct message *message, FILE *out)
{
	for (size_t i = 0; i < message->n_sample_type; i++)
		print_type(message, "type", &message->sample_type[i], out);
	fprintf(out, "default %s\n", string_at(message, message->default_sample_type));
	if (message->period_type.type)
		print_type(message, "period type", &message->period_type, out);
	fprintf(out, "period %" PRId64 "\n", message->period);
	fprintf(out, "time %" PRId64 " duration %" PRId64 "\n", message->time_nanos,
		message->duration_nanos);
	for (size_t i = 0; i < message->n_comment; i++)
		fprintf(out, "comment %s\n", string_at(message, message->comment[i]));
	print_mappings(message, out);
	print_locations(message, out);
	print_samples(message, out);
}

TEST(the_golden_profile_is_written_unchanged)
{
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();
	CLEANUP(message_cleanup) struct message *message = written(profile);
	CLEANUP(output_deinit) struct output text = {0};
	FILE *out = open_memstream(&text.data, &text.len);

	print_all(message, out);
	fclose(out);
	assert_golden("shop.pprof.txt", text.data);
}

TEST(values_are_those_of_the_profile)
{
	CLEANUP(profile_cleanup) struct profile *profile = random_profile(3);
	CLEANUP(message_cleanup) struct message *message = written(profile);
	int64_t expected[3] = {0}, sums[3] = {0};

	for (uint64_t i = 0; i < profile_samples(profile).count; i++) {
		const struct profile_sample *sample = &profile_samples(profile).items[i];

		expected[0] += sample->event ? 0 : (int64_t)sample->samples;
		expected[1 + sample->event] += (int64_t)sample->weight;
	}
	for (size_t i = 0; i < message->n_sample; i++)
		for (size_t value = 0; value < 3; value++)
			sums[value] += message->sample[i].value[value];
	assert_memory_equal(sums, expected, sizeof(sums));
}

static void assert_type(const struct message *message, size_t index, const char *type,
			const char *unit)
{
	assert_string_equal(string_at(message, message->sample_type[index].type), type);
	assert_string_equal(string_at(message, message->sample_type[index].unit), unit);
}

TEST(several_events_are_one_value_each_in_one_sample_of_a_stack)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id clock = add_event(profile, "task-clock", VALUE_CPU_TIME);
	event_id second_clock = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	event_id faults = add_event(profile, "page-faults", VALUE_COUNT);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	stack_id f = STACK(profile, "f"), g = STACK(profile, "g");

	profile_add(profile, thread, f, faults, 3);
	profile_add(profile, thread, g, second_clock, 20);
	profile_add(profile, thread, f, clock, 10);
	profile_add(profile, thread, f, clock, 11);
	CLEANUP(message_cleanup) struct message *message = written(profile);

	assert_int_equal(message->n_sample_type, 4);
	assert_type(message, 0, "samples", "count");
	assert_type(message, 1, "cpu", "nanoseconds");
	assert_type(message, 2, "cpu-clock", "nanoseconds");
	assert_type(message, 3, "page-faults", "count");
	assert_int_equal(message->n_sample, 2);
	assert_memory_equal(message->sample[0].value, ((int64_t[]){2, 21, 0, 3}), 4 * 8);
	assert_memory_equal(message->sample[1].value, ((int64_t[]){0, 0, 20, 0}), 4 * 8);
}

/* The samples of a stack are out of order if they are from several CPUs. Some
 * precede the start of the profile. */
TEST(times_of_samples_are_kept_to_a_millisecond_and_in_order)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(profile_cleanup) struct profile *read = profile_new();
	event_id clock = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	stack_id stacks[] = {STACK(profile, "f"), STACK(profile, "g")};
	static const uint64_t times_us[] = {9000, 17999, 4999, 2000, 8000};
	static const uint64_t read_ms[] = {0, 0, 3, 4, 12};

	profile_keep_timestamps(profile);
	profile_set_info(profile,
			 &(struct profile_info){.start_unix_ns = 7000000000, .start_ns = 5000000});
	for (size_t i = 0; i < ARRAY_SIZE(times_us); i++)
		profile_add_timed_sample(
			profile,
			&(struct profile_timed_sample){
				.time_ns = times_us[i] * 1000,
				.sample = profile_add(profile, thread, stacks[i % 2], clock, 1)});
	CLEANUP(output_deinit)
	struct output output = output_of(&format_pprof, profile,
					 (struct format_options){.pprof.times = true});
	FILE *in = fmemopen(output.data, output.len, "r");

	assert_null(format_pprof.read(in, read));
	fclose(in);
	assert_int_equal(profile_timed_samples(read).count, ARRAY_SIZE(read_ms));
	for (size_t i = 0; i < ARRAY_SIZE(read_ms); i++)
		assert_int_equal(profile_timed_samples(read).items[i].time_ns,
				 UINT64_C(7000000000) + read_ms[i] * 1000000);
}

TEST(an_event_that_is_no_clock_keeps_its_name)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cycles:u", VALUE_COUNT);

	profile_add(profile, profile_thread_labels(profile, 1, 1, "p", "p"), STACK(profile, "f"),
		    event, 1000);
	profile_add(profile, profile_thread_labels(profile, 1, 1, "p", "p"), STACK(profile, "g"),
		    event, 2000);
	CLEANUP(message_cleanup) struct message *message = written(profile);

	assert_int_equal(message->n_sample_type, 2);
	assert_type(message, 1, "cycles:u", "count");
	assert_string_equal(string_at(message, message->default_sample_type), "cycles:u");
	assert_string_equal(string_at(message, message->period_type.type), "cycles:u");
	assert_int_equal(message->period, 1500); /* with a frequency, the mean */
}

TEST(the_period_is_the_one_asked_for)
{
	static const struct {
		struct profile_event event;
		int64_t period;
	} cases[] = {
		{{.kind = VALUE_CPU_TIME, .period = 5000}, 5000},
		{{.kind = VALUE_CPU_TIME, .frequency_hz = 100}, 10000000},
		{{.period = 7}, 7},
		{{.frequency_hz = 100}, 1}, /* nothing was counted */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = profile_new();
		struct profile_event event = cases[i].event;

		event.name = text_of(profile, "e");
		profile_add_event(profile, &event);
		CLEANUP(message_cleanup) struct message *message = written(profile);
		assert_int_equal(message->period, cases[i].period);
	}
}

TEST(an_empty_profile_is_a_valid_one)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(message_cleanup) struct message *nothing = written(profile);

	assert_int_equal(nothing->n_sample_type, 1);
	add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	CLEANUP(message_cleanup) struct message *empty = written(profile);
	assert_int_equal(empty->n_sample_type, 2);
	assert_int_equal(empty->n_sample, 0);
	assert_string_equal(string_at(empty, empty->default_sample_type), "cpu");
}

TEST(hostile_strings_come_out_as_utf8_and_keep_all_else)
{
	static const struct {
		const char *name, *written;
	} cases[] = {
		{"a;b\nc", "a;b\nc"},
		{"\xff", "\xef\xbf\xbd"},
		{"a\xc3", "a\xef\xbf\xbd"},
		{"\xe2\x82z", "\xef\xbf\xbdz"},				  /* truncated */
		{"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},		  /* overlong */
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* surrogate */
		{"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xf0\x9f\xa6\x80\xe2\x82\xac", "\xf0\x9f\xa6\x80\xe2\x82\xac"}, /* crab, euro */
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = profile_new();

		profile_add(profile,
			    profile_thread_labels(profile, 1, 1, cases[i].name, cases[i].name),
			    STACK(profile, cases[i].name),
			    add_event(profile, "cpu-clock", VALUE_CPU_TIME), 1);
		CLEANUP(message_cleanup) struct message *message = written(profile);
		assert_string_equal(string_at(message, message->function[0].name),
				    cases[i].written);
		assert_int_equal(message->sample[0].n_label, *cases[i].name ? 4 : 2);
	}
}

TEST(the_main_program_is_the_first_mapping_even_unused)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	static const struct profile_segment segment = {0x1000, 0x1000, 0x1000};
	struct profile_module library = {
		.path = text_of(profile, "/lib/x.so"), .segments = &segment, .segment_count = 1};
	struct profile_module program = library;

	program.path = text_of(profile, "/bin/x");
	program.is_main = true;
	profile_describe_module(profile, 0, &library);
	profile_describe_module(profile, 1, &library);
	profile_describe_module(profile, 2, &program);
	profile_frame(profile, 1, 0x1000, false);
	CLEANUP(message_cleanup) struct message *message = written(profile);
	assert_int_equal(message->n_mapping, 2);
	assert_string_equal(string_at(message, message->mapping[0].filename), "/bin/x");
	assert_string_equal(string_at(message, message->mapping[1].filename), "/lib/x.so");
}

TEST(addresses_of_a_function_without_a_symbol_have_one_function)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	static const struct profile_segment segment = {0x1000, 0x1000, 0x1000};

	profile_describe_module(profile, 0,
				&(struct profile_module){.path = text_of(profile, "/lib/x.so"),
							 .segments = &segment,
							 .segment_count = 1});
	profile_set_into_function(profile, profile_frame(profile, 0, 0x1010, false), 0x10);
	profile_set_into_function(profile, profile_frame(profile, 0, 0x1028, false), 0x28);
	profile_frame(profile, 0, 0x1038, false);
	CLEANUP(message_cleanup) struct message *message = written(profile);
	assert_int_equal(message->n_function, 2);
}

TEST(every_address_lies_in_its_mapping)
{
	static const uint64_t offsets[] = {0,	   1,	     0xfff,	0x1000, 0x1fff,	  0x2000,
					   0x2001, 1l << 47, INT64_MAX, -2l,	-0x1001l, -1l};
	static const struct profile_segment segments[] = {
		{0x1000, 0x5000, 0x1000},
		{0x2000, UINT64_MAX - 0x10, 0x1000}, /* of a damaged file */
	};
	uint64_t last = 0;
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();

	profile_describe_module(profile, 0,
				&(struct profile_module){.path = text_of(profile, "/bin/x"),
							 .segments = segments,
							 .segment_count = 2,
							 .is_main = true});
	profile_describe_module(profile, 1,
				&(struct profile_module){.kind = PROFILE_MODULE_KERNEL,
							 .path = text_of(profile, "[kernel]")});
	/* The last module has no description. */
	for (uint32_t i = 0; i < ARRAY_SIZE(offsets) * 6; i++)
		profile_frame(profile, i / 2 % 3, offsets[i / 6], i % 2);
	CLEANUP(message_cleanup) struct message *message = written(profile);
	assert_int_equal(message->n_location, ARRAY_SIZE(offsets) * 6);
	for (size_t i = 0; i < message->n_location; i++)
		if (message->location[i].address > last)
			last = message->location[i].address;
	assert_true(last == UINT64_MAX - 1);
}
