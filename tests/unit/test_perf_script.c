#include "format/perf_script/fields.h"

#include "output.h"
#include "sample_profile.h"
#include "unit_test.h"
#include "waiting_profile.h"

static void assert_script(const struct profile *profile, const char *expected)
{
	CLEANUP(output_deinit)
	struct output output = output_of(&format_perf_script, profile, (struct format_options){0});

	assert_string_equal(output.data, expected);
}

TEST(the_golden_profile_is_written_unchanged)
{
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();
	CLEANUP(output_deinit)
	struct output output = output_of(&format_perf_script, profile, (struct format_options){0});

	assert_golden("shop.perf.txt", output.data);
}

TEST(a_sample_has_its_time_and_cpu_where_they_are_known)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cycles:u", VALUE_COUNT);
	label_set_id thread = profile_thread_labels(profile, 7, 8, "a b", "worker");
	uint32_t sample;

	profile_keep_timestamps(profile);
	profile_add(profile, thread, STACK(profile, "main", "f"), event, 100);
	sample = profile_add(profile, thread, profile_samples(profile).items[0].stack, event, 300);
	profile_add_timed_sample(profile,
				 &(struct profile_timed_sample){12000000345678, sample, 3});
	profile_add_timed_sample(profile, &(struct profile_timed_sample){1999999, sample, 12});
	assert_script(profile, "a_b 7/8 [003] 12000.000345:        200 cycles:u: \n"
			       "\t              11 f ([unknown])\n"
			       "\t               1 main ([unknown])\n\n"
			       "a_b 7/8 [012]     0.001999:        200 cycles:u: \n"
			       "\t              11 f ([unknown])\n"
			       "\t               1 main ([unknown])\n\n");
}

TEST(there_are_as_many_blocks_as_samples)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	label_set_id thread = profile_thread_labels(profile, -1, -1, "", "");

	profile_add_samples(profile, thread, STACK(profile, "f"),
			    add_event(profile, "e", VALUE_COUNT), 2, 10);
	assert_script(profile,
		      "[unnamed] 0/0 :          5 e: \n\t               1 f ([unknown])\n\n"
		      "[unnamed] 0/0 :          5 e: \n\t               1 f ([unknown])\n\n");
}

TEST(names_cannot_break_a_line)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	label_set_id thread = profile_thread_labels(profile, 1, 1, "a\nb c", "");
	event_id event = add_event(profile, "an event\n", VALUE_COUNT);

	profile_describe_module(
		profile, 0, &(struct profile_module){.path = text_of(profile, "/x y\n(deleted)")});
	profile_add(profile, thread, STACK(profile, "f\n\n 1/1 [000]\xff"), event, 1);
	profile_add(profile, thread, STACK(profile, ""), event, 1);
	assert_script(profile, "a\xef\xbf\xbd"
			       "b_c 1/1 :          1 an_event\xef\xbf\xbd: \n"
			       "\t               1 f\xef\xbf\xbd\xef\xbf\xbd 1/1 [000]\xef\xbf\xbd "
			       "(/x_y\xef\xbf\xbd(deleted))\n\n"
			       "a\xef\xbf\xbd"
			       "b_c 1/1 :          1 an_event\xef\xbf\xbd: \n"
			       "\t              11 [unnamed] (/x_y\xef\xbf\xbd(deleted))\n\n");
}

TEST(a_few_stacks_of_many_million_samples_are_refused)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	label_set_id thread = profile_thread_labels(profile, 1, 1, "a", "a");
	event_id event = add_event(profile, "e", VALUE_COUNT);
	CLEANUP(close_file) FILE *out = fopen("/dev/null", "w");
	struct error *err;

	profile_add_samples(profile, thread, STACK(profile, "f"), event, 15000000, 10);
	profile_add_samples(profile, thread, STACK(profile, "g"), event, 15000000, 10);
	err = format_perf_script.write(profile, &(struct format_options){0}, out);
	assert_non_null(err);
	assert_non_null(strstr(error_text(err), "at most"));
	error_free(err);
	assert_int_equal(ftello(out), 0);
}

TEST(samples_of_other_events_do_not_count_towards_the_limit)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	label_set_id thread = profile_thread_labels(profile, 1, 1, "a", "a");
	event_id large = add_event(profile, "large", VALUE_COUNT);
	event_id small = add_event(profile, "small", VALUE_COUNT);

	profile_add_samples(profile, thread, STACK(profile, "f"), large, UINT64_MAX - 1, 10);
	profile_add(profile, thread, STACK(profile, "f"), small, 7);
	CLEANUP(output_deinit)
	struct output output =
		output_of(&format_perf_script, profile,
			  (struct format_options){.event = small, .event_only = true});

	assert_string_equal(output.data,
			    "a 1/1 :          7 small: \n\t              11 f ([unknown])\n\n");
}

TEST(a_wait_is_a_block_at_its_end)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	label_set_id thread = profile_thread_labels(profile, 7, 8, "p", "worker");
	stack_id f = STACK(profile, "f");

	add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	add_event(profile, "off-cpu", VALUE_OFF_CPU_TIME);
	profile_keep_timestamps(profile);
	add_run(profile, thread, f, 0, 1);
	add_wait(profile, thread, reason_at(profile, f, "[futex]"), 1, 3, 2);
	add_run(profile, thread, f, 4, 5);
	CLEANUP(output_deinit)
	struct output output = output_of(&format_perf_script, profile, (struct format_options){0});
	CLEANUP(output_deinit)
	struct output waits = output_of(&format_perf_script, profile,
					(struct format_options){.event = 1, .event_only = true});

	const char *first = strstr(output.data, "1.001000:");
	const char *wait = strstr(output.data, "1.003000:    2000000 off-cpu: ");
	const char *last = strstr(output.data, "1.005000:");

	assert_non_null(first);
	assert_non_null(wait);
	assert_non_null(last);
	assert_true(first < wait && wait < last);
	assert_null(strstr(waits.data, "cpu-clock"));
	assert_non_null(strstr(waits.data, "[futex]"));
}

static void assert_fields(const char *list, uint32_t expected)
{
	uint32_t fields = SCRIPT_DEFAULT_FIELDS;
	CLEANUP(error_cleanup) struct error *err = script_fields_parse(list, &fields);

	if (err)
		fail_msg("%s: %s", list, error_text(err));
	assert_int_equal(fields, expected);
}

TEST(fields_replace_or_change_those_of_perf)
{
	assert_fields("comm,tid,trace", SCRIPT_COMM | SCRIPT_TID | SCRIPT_OTHERS);
	assert_fields("ip,sym,dso,srcline", SCRIPT_IP | SCRIPT_SYM | SCRIPT_DSO | SCRIPT_SRCLINE);
	assert_fields("+pid", SCRIPT_DEFAULT_FIELDS | SCRIPT_PID);
	assert_fields("+pid,-time", (SCRIPT_DEFAULT_FIELDS | SCRIPT_PID) & ~(uint32_t)SCRIPT_TIME);
	assert_fields("time,symoff", SCRIPT_TIME | SCRIPT_OTHERS);
}

TEST(fields_that_make_no_sense_are_refused)
{
	static const struct {
		const char *list, *why;
	} lists[] = {
		{"comm,syms", "unknown field \"syms\""},
		{"", "unknown field"},
		{"sym", "add ip"},
		{"-ip", "add ip"},
		{"comm,+pid", "cannot be combined"},
		{"+pid,comm", "cannot be combined"},
		{"trace,addr", "no field"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		uint32_t fields = SCRIPT_DEFAULT_FIELDS;
		CLEANUP(error_cleanup)
		struct error *err = script_fields_parse(lists[i].list, &fields);

		if (!err || !strstr(error_text(err), lists[i].why))
			fail_msg("%s: %s", lists[i].list, err ? error_text(err) : "no error");
	}
}

TEST(chosen_fields_are_printed_as_perf_prints_them)
{
	static const struct {
		uint32_t fields;
		const char *text;
	} cases[] = {
		{SCRIPT_DEFAULT_FIELDS, "worker 1     8 [003] 12000.000345:        200 cycles: \n"
					"\t              11 f ([unknown])\n"
					"\t               1 main ([unknown])\n\n"},
		{SCRIPT_COMM | SCRIPT_PID | SCRIPT_TID | SCRIPT_EVENT,
		 "worker 1     7/8     cycles: \n"},
		{SCRIPT_TID | SCRIPT_TIME | SCRIPT_IP,
		 "     8 12000.000345: \n\t              11\n\t               1\n\n"},
	};
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cycles", VALUE_COUNT);
	label_set_id thread = profile_thread_labels(profile, 7, 8, "process", "worker 1");
	uint32_t sample;

	profile_keep_timestamps(profile);
	sample = profile_add(profile, thread, STACK(profile, "main", "f"), event, 200);
	profile_add_timed_sample(profile,
				 &(struct profile_timed_sample){12000000345678, sample, 3});
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(output_deinit)
		struct output output =
			output_of(&format_perf_script, profile,
				  (struct format_options){.script.fields = cases[i].fields});

		assert_string_equal(output.data, cases[i].text);
	}
}

TEST(inlined_functions_and_source_lines_are_printed_on_request)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	struct profile_line lines[2];
	uint32_t fields = SCRIPT_TID | SCRIPT_EVENT | SCRIPT_IP | SCRIPT_SYM | SCRIPT_DSO;

	for (unsigned i = 0; i < 2; i++)
		lines[i] = (struct profile_line){
			.function = profile_function(
				profile,
				&(struct profile_function){
					.name = text_of(profile, i ? "g" : "f"),
					.system_name = text_of(profile, i ? "g" : "f"),
					.file = text_of(profile, "/src/a.c")}),
			.line = i + 1};
	profile_describe_module(profile, 0,
				&(struct profile_module){.path = text_of(profile, "/x")});
	profile_add(
		profile, profile_thread_labels(profile, 1, 2, "p", "t"),
		profile_push(profile, STACK_EMPTY, profile_named_frame(profile, 0, 16, lines, 2)),
		add_event(profile, "e", VALUE_COUNT), 1);
	CLEANUP(output_deinit)
	struct output with =
		output_of(&format_perf_script, profile,
			  (struct format_options){.script.fields = fields | SCRIPT_SRCLINE});
	CLEANUP(output_deinit)
	struct output without = output_of(
		&format_perf_script, profile,
		(struct format_options){.script.fields = fields, .script.no_inlines = true});

	assert_string_equal(with.data, "     2 e: \n\t              10 f (inlined)\n  a.c:1\n"
				       "\t              10 g (/x)\n  a.c:2\n\n");
	assert_string_equal(without.data, "     2 e: \n\t              10 g (/x)\n\n");
}
