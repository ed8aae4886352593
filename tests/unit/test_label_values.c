#include "report/label_values.h"

#include "report/rows.h"
#include "sample_profile.h"
#include "unit_test.h"

/* Label set 0 has no labels, 1 has only a thread, 2 has a thread and labels. */
static struct profile *labelled_profile(void)
{
	struct profile *profile = profile_new();
	struct profile_thread nothing = {.pid = -1, .tid = -1};
	struct profile_thread shop = {.pid = 7, .tid = 8, .process = text_of(profile, "shop")};
	struct profile_label labels[] = {
		{.key = text_of(profile, "request"), .text = text_of(profile, "checkout")},
		{.key = text_of(profile, "request"), .text = text_of(profile, "abandon")},
		{.key = text_of(profile, "size"), .number = -5, .unit = text_of(profile, "KiB")},
		{.key = text_of(profile, "pid"), .number = 9},
		{.key = text_of(profile, "task"), .text = text_of(profile, "[idle]")},
	};

	profile_label_set(profile, &nothing, NULL, 0);
	profile_label_set(profile, &shop, NULL, 0);
	profile_label_set(profile, &shop, labels, ARRAY_SIZE(labels));
	return profile;
}

TEST(label_sets_are_filtered_by_key_and_value)
{
	static const struct {
		const char *condition;
		bool expected[3];
	} cases[] = {
		{"comm", {false, true, true}},
		{"comm=sh?p", {false, true, true}},
		{"comm=sh", {false, false, false}},
		{"thread", {false, false, false}},
		{"pid=7", {false, true, true}},
		{"pid=9", {false, false, true}},
		{"tid=[0-9]", {false, true, true}},
		{"request", {false, false, true}},
		{"request=", {false, false, false}},
		{"request=check*", {false, false, true}},
		{"request=abandon", {false, false, true}},
		{"request=checkout, abandon", {false, false, false}},
		{"size=-5", {false, false, true}},
		{"size=-5 KiB", {false, false, true}},
		{"size=KiB", {false, false, false}},
		{"task=[idle]", {false, false, true}},
	};
	CLEANUP(profile_cleanup) struct profile *profile = labelled_profile();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool label_sets[] = {true, true, true};

		assert_null(label_filter(profile, cases[i].condition, label_sets));
		for (size_t set = 0; set < ARRAY_SIZE(label_sets); set++)
			if (label_sets[set] != cases[i].expected[set])
				fail_msg("%s, label set %zu", cases[i].condition, set);
	}
}

TEST(a_filter_leaves_out_what_another_has_left_out)
{
	CLEANUP(profile_cleanup) struct profile *profile = labelled_profile();
	bool label_sets[] = {true, false, true};

	assert_null(label_filter(profile, "comm=shop", label_sets));
	assert_false(label_sets[0] || label_sets[1]);
	assert_true(label_sets[2]);
}

TEST(an_unknown_key_is_an_error_that_lists_those_there_are)
{
	CLEANUP(profile_cleanup) struct profile *profile = labelled_profile();
	CLEANUP(profile_cleanup) struct profile *empty = profile_new();
	CLEANUP(error_cleanup) struct error *err = label_check_key(profile, "Request");
	CLEANUP(error_cleanup) struct error *of_empty = label_check_key(empty, "request");

	assert_string_equal(error_text(err), "no sample has a label \"Request\"");
	assert_string_equal(error_hint_text(err),
			    "the labels are: comm, pid, request, size, task, tid");
	assert_string_equal(error_hint_text(of_empty), "no sample has any label");
	assert_null(label_check_key(empty, "comm"));
}

TEST(several_values_of_a_key_are_one_group)
{
	static const char *const expected[] = {"", "", "checkout, abandon"};
	CLEANUP(profile_cleanup) struct profile *profile = labelled_profile();
	CLEANUP(label_values_deinit) struct label_values values, sizes;

	assert_null(label_values_init(&values, profile, "request"));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		assert_string_equal(strtab_get(values.texts, values.of_set[i]), expected[i]);
	assert_null(label_values_init(&sizes, profile, "size"));
	assert_string_equal(strtab_get(sizes.texts, sizes.of_set[2]), "-5 KiB");
}

TEST(rows_of_a_label_add_up_to_all_samples)
{
	CLEANUP(profile_cleanup) struct profile *profile = labelled_profile();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	stack_id stack = STACK(profile, "main", "work");
	struct row_by by = {.key = ROW_LABEL, .label = "request"};
	CLEANUP(view_deinit) struct view view;
	CLEANUP(rows_deinit) struct rows rows;

	profile_add(profile, 0, stack, event, 1);
	profile_add(profile, 1, STACK_EMPTY, event, 2);
	profile_add(profile, 2, stack, event, 30);
	view_init(&view, profile, event);
	assert_null(rows_init_by(&rows, &view, &by));
	assert_int_equal(rows.count, 2);
	assert_string_equal(rows.items[0].name, "checkout, abandon");
	assert_int_equal(rows.items[0].self.weight, 30);
	assert_string_equal(rows.items[1].name, "");
	assert_int_equal(rows.items[1].total.weight, 3);
}
