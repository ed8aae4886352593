#include "report/merge.h"

#include "report/rows.h"
#include "sample_profile.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

static const struct merge_column columns[] = {{.name = "old", .kind = VALUE_CPU_TIME},
					      {.name = "new", .kind = VALUE_CPU_TIME}};

static struct profile *merged(const struct profile *old, const struct profile *new)
{
	return merge_profiles((const struct merge_input[]){{old, 0, 0, 1, 1, NULL, NULL},
							   {new, 0, 1, 1, 1, NULL, NULL}},
			      2, columns, 2);
}

/* Makes a profile with one module. */
static struct profile *profile_of(const char *path, const char *build_id)
{
	struct profile *profile = profile_new();

	add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	profile_describe_module(profile, 0,
				&(struct profile_module){.kind = PROFILE_MODULE_FILE,
							 .path = text_of(profile, path),
							 .build_id = text_of(profile, build_id),
							 .is_main = !strncmp(path, "/bin", 4)});
	return profile;
}

static void add_samples(struct profile *profile, stack_id stack, uint64_t weight)
{
	profile_add(profile, profile_thread_labels(profile, 1, 1, "app", "app"), stack, 0, weight);
}

/* Returns the self weight of a row, or 0 if it does not exist. */
static uint64_t self_of(const struct profile *profile, event_id event, const char *name)
{
	CLEANUP(view_deinit) struct view view;
	CLEANUP(rows_deinit) struct rows rows;

	view_init(&view, profile, event);
	rows_init(&rows, &view, ROW_FUNCTION);
	for (size_t i = 0; i < rows.count; i++)
		if (!strcmp(rows.items[i].name, name))
			return rows.items[i].self.weight;
	return 0;
}

TEST(a_function_is_the_same_in_two_builds_of_a_program)
{
	CLEANUP(profile_cleanup) struct profile *old = profile_of("/bin/app-1", "aa");
	CLEANUP(profile_cleanup) struct profile *new = profile_of("/bin/app-2", "bb");
	CLEANUP(profile_cleanup) struct profile *both = NULL;

	add_samples(old, STACK(old, "main", "parse.constprop.0"), 5);
	add_samples(new, STACK(new, "main", "parse"), 7);
	both = merged(old, new);
	assert_int_equal(self_of(both, 0, "parse"), 5);
	assert_int_equal(self_of(both, 1, "parse"), 7);
	assert_int_equal(profile_stacks(both).count, 1 + 2);
	assert_string_equal(profile_string(both, profile_get_module(both, 0)->path), "/bin/app-2");
}

TEST(programs_that_one_recording_has_both_of_stay_apart)
{
	CLEANUP(profile_cleanup) struct profile *old = profile_of("/bin/cat", "aa");
	CLEANUP(profile_cleanup) struct profile *new = profile_of("/bin/dog", "bb");
	CLEANUP(profile_cleanup) struct profile *both = NULL;

	profile_describe_module(new, 1,
				&(struct profile_module){.kind = PROFILE_MODULE_FILE,
							 .path = text_of(new, "/bin/cat")});
	add_samples(old, STACK(old, "main"), 5);
	add_samples(new, STACK(new, "main"), 7);
	both = merged(old, new);
	assert_int_equal(profile_stacks(both).count, 1 + 2);
}

TEST(inlined_or_called_it_is_the_same_stack)
{
	CLEANUP(profile_cleanup) struct profile *old = profile_of("/bin/app", "aa");
	CLEANUP(profile_cleanup) struct profile *new = profile_of("/bin/app", "bb");
	CLEANUP(profile_cleanup) struct profile *both = NULL;
	frame_id inlined = add_frame(new, (const char *const[]){"step", "main", NULL});

	add_samples(old, STACK(old, "main", "step"), 5);
	add_samples(new, profile_push(new, STACK_EMPTY, inlined), 7);
	both = merged(old, new);
	assert_int_equal(profile_stacks(both).count, 1 + 2);
	assert_int_equal(self_of(both, 0, "step"), 5);
	assert_int_equal(self_of(both, 1, "step"), 7);
}

TEST(addresses_are_compared_in_equal_files_alone)
{
	for (int is_equal = 0; is_equal < 2; is_equal++) {
		CLEANUP(profile_cleanup) struct profile *old = profile_of("/lib/x.so.1", "aa");
		CLEANUP(profile_cleanup)
		struct profile *new = profile_of("/lib/x.so.2", is_equal ? "aa" : "bb");
		CLEANUP(profile_cleanup) struct profile *both = NULL;

		add_samples(old, profile_push(old, STACK_EMPTY, profile_frame(old, 0, 16, false)),
			    5);
		add_samples(new, profile_push(new, STACK_EMPTY, profile_frame(new, 0, 16, false)),
			    7);
		add_samples(new, profile_push(new, STACK_EMPTY, profile_frame(new, 0, 32, false)),
			    1);
		both = merged(old, new);
		assert_int_equal(self_of(both, 0, "[x.so.2+0x10]"), is_equal ? 5 : 0);
		assert_int_equal(self_of(both, 1, "[x.so.2+0x10]"), is_equal ? 7 : 0);
		assert_int_equal(self_of(both, 1, "[x.so.2]"), is_equal ? 0 : 8);
	}
}

TEST(names_alone_decide_where_one_side_has_no_files)
{
	CLEANUP(profile_cleanup) struct profile *old = profile_of("", "");
	CLEANUP(profile_cleanup) struct profile *new = profile_of("/bin/app", "bb");
	CLEANUP(profile_cleanup) struct profile *both = NULL;

	profile_describe_module(old, 0, &(struct profile_module){.kind = PROFILE_MODULE_NONE});
	add_samples(old, STACK(old, "main"), 5);
	add_samples(new, STACK(new, "main"), 7);
	both = merged(old, new);
	assert_int_equal(profile_stacks(both).count, 1 + 1);
}

TEST(notes_stay_notes)
{
	CLEANUP(profile_cleanup) struct profile *old = profile_of("/bin/app", "aa");
	CLEANUP(profile_cleanup) struct profile *both = NULL;

	add_samples(old,
		    profile_push(old, STACK_EMPTY, profile_synthetic_frame(old, "[truncated]")), 5);
	both = merged(old, old);
	assert_int_equal(self_of(both, 1, "[truncated]"), 5);
	assert_int_equal(profile_get_frame(both, 0).module, PROFILE_SYNTHETIC);
}

/* Several inputs may be merged into one column, and several events into one. */
TEST(columns_are_sums_of_what_is_scaled)
{
	CLEANUP(profile_cleanup) struct profile *old = profile_of("/bin/app", "aa");
	CLEANUP(profile_cleanup) struct profile *both = NULL;
	event_id faults = add_event(old, "page-faults", VALUE_COUNT);

	add_samples(old, STACK(old, "main"), 5);
	profile_add(old, 0, STACK(old, "fault"), faults, 100);
	both = merge_profiles((const struct merge_input[]){{old, 0, 0, 1, 2, NULL, NULL},
							   {old, 0, 0, 1, 0.5, NULL, NULL},
							   {old, faults, 1, 1, 1, NULL, NULL}},
			      3, columns, 2);
	assert_int_equal(self_of(both, 0, "main"), 10 + 3);
	assert_int_equal(self_of(both, 0, "fault"), 0);
	assert_int_equal(self_of(both, 1, "fault"), 100);
}
