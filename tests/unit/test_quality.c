#include "cmd/quality.h"

#include "cmd/figure.h"
#include "near.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static stack_id push(struct profile *profile, stack_id parent, uint32_t module, uint64_t offset)
{
	return profile_push(profile, parent, profile_frame(profile, module, offset, false));
}

static void name(struct profile *profile, uint32_t module, uint64_t offset)
{
	string_id text = strtab_add(profile_strings(profile), "named");
	struct profile_line line = {
		.function = profile_function(
			profile, &(struct profile_function){.name = text, .system_name = text})};

	profile_set_lines(profile, profile_frame(profile, module, offset, false), &line, 1);
}

static void assert_share(const struct quality *quality, const char *name, double expected)
{
	double share = -1;

	assert_true(quality_share(quality, name, &share));
	assert_near(share, expected, 1e-9);
}

static void samples_without_names_are_counted_once_and_once_a_module(void **state)
{
	(void)state;
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = profile_add_event(profile, &(struct profile_event){0});
	thread_id thread = profile_thread(profile, 1, 1, "app", "app");
	stack_id main = push(profile, STACK_EMPTY, 0, 0x10);
	stack_id bare = push(profile, main, 1, 0x20);
	stack_id twice = push(profile, push(profile, bare, 2, 0x30), 1, 0x40);
	stack_id note = profile_push(profile, STACK_EMPTY, profile_note(profile, "[truncated]"));
	struct session_counts counts = {
		.samples = 10, .lost = 10, .truncated = 3, .completed = 1200};
	struct quality quality;

	name(profile, 0, 0x10);
	for (int i = 0; i < 4; i++)
		profile_add(profile, thread, main, event, 1);
	profile_add(profile, thread, bare, event, 1);
	profile_add(profile, thread, twice, event, 1);
	profile_add(profile, thread, twice, event, 1);
	for (int i = 0; i < 3; i++)
		profile_add(profile, thread, note, event, 1);
	quality_init(&quality, profile, &counts);
	assert_int_equal(quality.unnamed, 3);
	assert_int_equal(quality.module_count, 2);
	assert_int_equal(quality.modules[0].module, 1);
	assert_int_equal(quality.modules[0].samples, 3);
	assert_int_equal(quality.modules[1].module, 2);
	assert_int_equal(quality.modules[1].samples, 2);

	CLEANUP(free_ptr) char *line = quality_line(&quality);
	assert_string_equal(line, "10 samples, 10 lost (50.0 %), 3 truncated (30.0 %), "
				  "1,200 completed from the live stack, "
				  "3 with unnamed frames (30.0 %)");
	assert_share(&quality, "lost", 0.5);
	assert_share(&quality, "truncated", 0.3);
	assert_share(&quality, "unknown", 0.3);
	assert_false(quality_share(&quality, "found", &(double){0}));
	quality_deinit(&quality);
}

static void an_empty_profile_has_nothing_to_complain_of(void **state)
{
	(void)state;
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	struct quality quality;

	quality_init(&quality, profile, &(struct session_counts){0});
	CLEANUP(free_ptr) char *line = quality_line(&quality);
	assert_string_equal(line, "0 samples, 0 lost, 0 truncated, 0 with unnamed frames");
	quality_deinit(&quality);
}

static void figures_are_as_people_read_them(void **state)
{
	(void)state;
	assert_string_equal(figure_count(0).text, "0");
	assert_string_equal(figure_count(999).text, "999");
	assert_string_equal(figure_count(1000).text, "1,000");
	assert_string_equal(figure_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
	assert_string_equal(figure_share(1, 3).text, "33.3 %");
	assert_string_equal(figure_share(0, 0).text, "0.0 %");
	assert_string_equal(figure_bytes(999).text, "999 B");
	assert_string_equal(figure_bytes(1234).text, "1.2 KB");
	assert_string_equal(figure_bytes(45678901).text, "46 MB");
	assert_string_equal(figure_time(4200).text, "4.2 us");
	assert_string_equal(figure_time(42000000).text, "42 ms");
	assert_string_equal(figure_time(4200000000).text, "4.20 s");
}

static void the_line_can_be_read_again(void **state)
{
	(void)state;
	static const char line[] = "1,234,567 samples, 0 lost, 3 truncated (0.2 %), 1 completed "
				   "from the live stack, 566 with unnamed frames (99.0 %)";
	uint64_t number;

	assert_true(quality_number(line, "samples", &number));
	assert_int_equal(number, 1234567);
	assert_true(quality_number(line, "lost", &number));
	assert_int_equal(number, 0);
	assert_true(quality_number(line, "with unnamed frames", &number));
	assert_int_equal(number, 566);
	assert_false(quality_number(line, "throttled", &number));
	assert_false(quality_number(line, "truncat", &number));
	assert_false(quality_number("99999999999999999999 lost", "lost", &number));
	assert_false(quality_number("", "lost", &number));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_without_names_are_counted_once_and_once_a_module),
		cmocka_unit_test(an_empty_profile_has_nothing_to_complain_of),
		cmocka_unit_test(figures_are_as_people_read_them),
		cmocka_unit_test(the_line_can_be_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
