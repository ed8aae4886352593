#include "report/rows.h"

#include "sample_profile.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

static void assert_row(const struct rows *rows, size_t index, const char *name, uint64_t self,
		       uint64_t total)
{
	assert_true(index < rows->count);
	assert_string_equal(rows->items[index].name, name);
	assert_int_equal(rows->items[index].self.weight, self);
	assert_int_equal(rows->items[index].total.weight, total);
}

TEST(the_hottest_functions_come_first)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	CLEANUP(view_deinit) struct view view;
	CLEANUP(rows_deinit) struct rows rows;

	profile_add(profile, thread, STACK(profile, "main", "warm"), event, 20);
	profile_add(profile, thread, STACK(profile, "main", "hot"), event, 30);
	profile_add(profile, thread, STACK(profile, "main", "between", "hot"), event, 20);
	profile_add(profile, thread, STACK(profile, "main", "also warm"), event, 20);
	view_init(&view, profile, event);
	rows_init(&rows, &view, ROW_FUNCTION);
	assert_int_equal(rows.all.weight, 90);
	assert_int_equal(rows.count, 5);
	assert_row(&rows, 0, "hot", 50, 50);
	assert_row(&rows, 1, "also warm", 20, 20);
	assert_row(&rows, 2, "warm", 20, 20);
	assert_row(&rows, 3, "main", 0, 90);
	assert_row(&rows, 4, "between", 0, 20);
}

TEST(recursion_counts_once_per_stack)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	frame_id f = add_frame(profile, (const char *const[]){"f", NULL});
	frame_id g = add_frame(profile, (const char *const[]){"g", "f", NULL}); /* g inlined */
	stack_id stack = STACK_EMPTY;
	CLEANUP(view_deinit) struct view view;
	CLEANUP(rows_deinit) struct rows rows;

	for (unsigned depth = 0; depth < 1000; depth++) {
		stack = profile_push(profile, stack, depth % 2 ? g : f);
		profile_add(profile, thread, stack, event, 1);
	}
	view_init(&view, profile, event);
	rows_init(&rows, &view, ROW_FUNCTION);
	assert_int_equal(rows.count, 2);
	assert_row(&rows, 0, "f", 500, 1000);
	assert_row(&rows, 1, "g", 500, 999);
}

TEST(functions_of_two_modules_are_two)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	struct profile_line line = {.function = add_function(profile, "f", "f", "", 0)};
	CLEANUP(view_deinit) struct view view;
	CLEANUP(rows_deinit) struct rows rows;

	for (uint32_t module = 0; module < 2; module++) {
		frame_id frame = profile_frame(profile, module, 0x10, false);

		profile_set_lines(profile, frame, &line, 1);
		profile_add(profile, thread, profile_push(profile, STACK_EMPTY, frame), event,
			    2 - module);
	}
	view_init(&view, profile, event);
	rows_init(&rows, &view, ROW_FUNCTION);
	assert_int_equal(rows.count, 2);
	assert_row(&rows, 0, "f", 2, 2);
	assert_row(&rows, 1, "f", 1, 1);
	assert_int_equal(rows.items[1].module, 1);
}

TEST(a_frame_without_a_name_is_known_by_its_address)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	frame_id at = profile_frame(profile, 0, 0x10, false);
	frame_id behind = profile_frame(profile, 0, 0x11, true);
	stack_id stack = profile_push(profile, STACK_EMPTY, behind);
	CLEANUP(view_deinit) struct view view;
	CLEANUP(rows_deinit) struct rows rows;

	profile_describe_module(profile, 0,
				&(struct profile_module){.path = text_of(profile, "/lib/x.so")});
	profile_add(profile, thread, profile_push(profile, stack, at), event, 1);
	view_init(&view, profile, event);
	rows_init(&rows, &view, ROW_FUNCTION);
	assert_int_equal(rows.count, 1);
	assert_row(&rows, 0, "[x.so+0x10]", 1, 1);
}

TEST(addresses_of_a_function_without_a_symbol_are_one_row)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	CLEANUP(view_deinit) struct view view;
	CLEANUP(rows_deinit) struct rows rows;

	profile_describe_module(profile, 0,
				&(struct profile_module){.path = text_of(profile, "/lib/x.so")});
	for (uint64_t offset = 0x10; offset < 0x20; offset++) {
		frame_id frame = profile_frame(profile, 0, offset, false);

		profile_set_into_function(profile, frame, offset % 8);
		profile_add(profile, thread, profile_push(profile, STACK_EMPTY, frame), event,
			    offset < 0x18 ? 3 : 1);
	}
	view_init(&view, profile, event);
	rows_init(&rows, &view, ROW_FUNCTION);
	assert_int_equal(rows.count, 2);
	assert_row(&rows, 0, "[x.so+0x10]", 24, 24);
	assert_row(&rows, 1, "[x.so+0x18]", 8, 8);
}

TEST(only_the_chosen_event_is_summed)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id clock = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	event_id faults = add_event(profile, "page-faults", VALUE_COUNT);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	CLEANUP(view_deinit) struct view view;
	CLEANUP(rows_deinit) struct rows rows;

	profile_add(profile, thread, STACK(profile, "f"), clock, 5);
	profile_add(profile, thread, STACK(profile, "g"), faults, 7);
	view_init(&view, profile, faults);
	rows_init(&rows, &view, ROW_FUNCTION);
	assert_int_equal(rows.all.weight, 7);
	assert_int_equal(rows.count, 1);
	assert_row(&rows, 0, "g", 7, 7);
}

TEST(an_empty_profile_has_no_functions)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(rows_deinit) struct rows rows;

	view_init(&view, profile, 0);
	rows_init(&rows, &view, ROW_FUNCTION);
	assert_int_equal(rows.count, 0);
	assert_int_equal(rows.all.weight, 0);
}

/* Returns true if the frame has the row's name: that of a line, or of the
 * frame's address. */
static bool frame_has(const struct profile *profile, frame_id id, const char *name, unsigned *first)
{
	struct profile_frame frame = profile_get_frame(profile, id);
	CLEANUP(free_ptr) char *address = profile_frame_address_name(profile, id);

	*first = 0;
	if (!frame.line_count)
		return !strcmp(address, name);
	for (; *first < frame.line_count; (*first)++)
		if (!strcmp(profile_string(profile, profile_get_function(
							    profile, frame.lines[*first].function)
							    ->name),
			    name))
			return true;
	return false;
}

TEST(sums_are_those_of_looking_through_every_stack)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		CLEANUP(profile_cleanup) struct profile *profile = random_profile(seed);
		CLEANUP(view_deinit) struct view view;
		CLEANUP(rows_deinit) struct rows rows;

		view_init(&view, profile, 0);
		rows_init(&rows, &view, ROW_FUNCTION);
		for (size_t row = 0; row < rows.count; row++) {
			uint64_t self = 0, total = 0;

			for (uint64_t i = 0; i < profile_samples(profile).count; i++) {
				const struct profile_sample *sample =
					&profile_samples(profile).items[i];
				struct profile_stack at =
					profile_stacks(profile).items[sample->stack];
				bool is_in = false;
				unsigned line;

				if (sample->event)
					continue;
				if (frame_has(profile, at.frame, rows.items[row].name, &line) &&
				    !line)
					self += sample->weight;
				for (; at.depth && !is_in;
				     at = profile_stacks(profile).items[at.parent])
					is_in = frame_has(profile, at.frame, rows.items[row].name,
							  &line);
				total += is_in ? sample->weight : 0;
			}
			assert_int_equal(rows.items[row].self.weight, self);
			assert_int_equal(rows.items[row].total.weight, total);
		}
		assert_true(rows.count >= 8);
	}
}

TEST(a_row_is_found_among_those_of_another_event)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id one = add_event(profile, "cycles", VALUE_COUNT);
	event_id other = add_event(profile, "page-faults", VALUE_COUNT);
	label_set_id first = profile_thread_labels(profile, 1, 1, "p", "p");
	label_set_id second = profile_thread_labels(profile, 1, 2, "p", "p");
	stack_id stack = STACK(profile, "main");
	CLEANUP(view_deinit) struct view view;
	CLEANUP(view_deinit) struct view beside;
	enum row_key keys[] = {ROW_FUNCTION, ROW_PROCESS, ROW_THREAD};

	profile_add(profile, first, stack, one, 10);
	profile_add(profile, second, stack, one, 20);
	profile_add(profile, second, stack, other, 3);
	view_init(&view, profile, one);
	view_init(&beside, profile, other);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		CLEANUP(rows_deinit) struct rows rows;
		CLEANUP(rows_deinit) struct rows others;
		const struct row *found;

		rows_init(&rows, &view, keys[i]);
		rows_init(&others, &beside, keys[i]);
		rows_sort(&others, ROWS_BY_NAME);
		found = rows_find(&others, &rows.items[0]);
		assert_non_null(found);
		assert_int_equal(found->self.weight, 3);
		/* The first thread has no samples of the other event. */
		assert_true(keys[i] != ROW_THREAD || !rows_find(&others, &rows.items[1]));
	}
}
