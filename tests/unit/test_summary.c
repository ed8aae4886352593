#include "format/summary/markdown.h"
#include "output.h"
#include "report/own_sums.h"
#include "sample_profile.h"
#include "unit_test.h"

#include <string.h>

static struct output summary_of(const struct profile *profile, struct summary_options options)
{
	return output_of(&format_summary, profile, (struct format_options){.summary = options});
}

static uint64_t lines_of(const struct output *output)
{
	uint64_t lines = 0;

	for (const char *at = output->data; (at = strchr(at, '\n')); at++)
		lines++;
	return lines;
}

TEST(the_golden_profile_is_summarized_unchanged)
{
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();
	CLEANUP(output_deinit)
	struct output output = summary_of(profile,
					  (struct summary_options){.path = "my prof.pb.gz"});

	assert_golden("shop.md", output.data);
}

TEST(the_text_has_at_most_so_many_lines)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");

	for (int i = 0; i < 100; i++) {
		char name[] = {'f', (char)('0' + i / 10), (char)('0' + i % 10), '\0'};

		profile_add_samples(profile, thread, STACK(profile, name), event, 1, 1000);
	}
	for (uint64_t lines = SUMMARY_LEAST_LINES; lines <= 120; lines += 10) {
		CLEANUP(output_deinit)
		struct output output = summary_of(profile,
						  (struct summary_options){.lines = lines});

		assert_true(lines_of(&output) <= lines);
		if (lines == SUMMARY_LEAST_LINES)
			assert_holds(&output, " more lines)\n");
		if (lines >= 60)
			assert_holds(&output, "## Look deeper");
	}
}

TEST(a_sample_counts_for_the_innermost_function_of_the_program)
{
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();
	CLEANUP(own_sums_deinit) struct own_sums own;
	struct view view;
	uint64_t weight = 0;

	view_init(&view, profile, 0);
	own_sums_init(&own, &view);
	assert_false(own.is_of_all_code);
	assert_int_equal(own.all.weight, view.stacks[STACK_EMPTY].total.weight);
	for (uint32_t i = 0; i < own.path_count; i++)
		weight += own.paths[i].sum.weight;
	assert_int_equal(weight, own.all.weight);
	for (uint32_t i = 0; i < own.count; i++) {
		assert_true(strncmp(view.labels.items[own.functions[i].label].name, "core::", 6) !=
			    0);
		assert_true(!i || own.functions[i].sum.weight <= own.functions[i - 1].sum.weight);
	}
	view_deinit(&view);
}

TEST(without_a_function_of_the_program_all_code_counts)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	frame_id note = profile_synthetic_frame(profile, "[not sampled]");
	frame_id code = profile_frame(profile, 0, 1, false);
	struct profile_line line = {
		.function = add_function(profile, "fill", "fill", "/usr/src/fill.c", 3), .line = 7};

	profile_set_lines(profile, code, &line, 1);
	profile_add_samples(profile, thread, profile_push(profile, STACK_EMPTY, note), event, 0,
			    500);
	profile_add_samples(profile, thread, profile_push(profile, STACK_EMPTY, code), event, 1,
			    500);
	CLEANUP(output_deinit)
	struct output output = summary_of(profile, (struct summary_options){0});
	assert_holds(&output, "No function is known to be the program's own.");
	assert_holds(&output, "| 50.0 % | 0.5 us | `fill` | `/usr/src/fill.c:7` |");
	assert_holds(&output, "- 50.0 % was counted but not sampled");
	assert_holds(&output, "- not recorded: prof record --alloc");
}

TEST(untrusted_text_cannot_become_markup)
{
	static const struct {
		const char *text, *plain, *code;
	} cases[] = {
		{"std::vector<int>", "std::vector\\<int\\>", "`std::vector<int>`"},
		{"a`b|c", "a\\`b\\|c", "`a'b\\|c`"},
		{"[x](y)*_#&", "\\[x\\](y)\\*\\_\\#\\&", "`[x](y)*_#&`"},
		{"one\ntwo", "one\xef\xbf\xbdtwo", "`one\xef\xbf\xbdtwo`"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(free_ptr) char *plain = markdown_text(cases[i].text);
		CLEANUP(free_ptr) char *code = markdown_code(cases[i].text);

		assert_string_equal(plain, cases[i].plain);
		assert_string_equal(code, cases[i].code);
	}
}
