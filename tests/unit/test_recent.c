#include "report/recent.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

/* A growing profile: functions of one module, called from "main". */
static stack_id stack_of(struct profile *profile, const char *name)
{
	struct strtab *strings = profile_strings(profile);
	struct profile_module module = {.path = strtab_add(strings, "/bin/x")};
	string_id id = strtab_add(strings, name);
	frame_id frame;
	struct profile_line line = {
		.function = profile_function(profile, &(struct profile_function){id, id, 0, 0})};

	profile_describe_module(profile, 0, &module);
	frame = profile_frame(profile, 0, (uint64_t)atoi(name + 1) << 8 | (unsigned char)name[0],
			      false);
	if (!profile_get_frame(profile, frame).line_count)
		profile_set_lines(profile, frame, &line, 1);
	return profile_push(profile, STACK_EMPTY, frame);
}

static struct profile *new_profile(void)
{
	struct profile *profile = profile_new();
	struct profile_event event = {.name = strtab_add(profile_strings(profile), "cpu-clock")};

	profile_add_event(profile, &event);
	return profile;
}

static void count(struct profile *profile, pid_t pid, const char *name, uint64_t weight)
{
	profile_add(profile, profile_thread_labels(profile, pid, pid, "x", "x"),
		    stack_of(profile, name), 0, weight);
}

static uint64_t weight_of(const struct recent *recent, const char *name)
{
	const struct profile *held = recent_profile(recent);
	uint64_t weight = 0;

	for (uint64_t i = 0; i < profile_samples(held).count; i++) {
		const struct profile_sample *sample = &profile_samples(held).items[i];
		struct profile_frame frame =
			profile_get_frame(held, profile_stacks(held).items[sample->stack].frame);
		const struct profile_function *function =
			profile_get_function(held, frame.lines[0].function);

		if (!strcmp(profile_string(held, function->name), name))
			weight += sample->weight;
	}
	return weight;
}

TEST(samples_since_the_last_refresh_are_added)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	CLEANUP(recent_cleanup) struct recent *recent = recent_new(SECOND_NS);

	count(profile, 1, "a", 100);
	recent_advance(recent, profile, 0);
	count(profile, 1, "a", 10);
	count(profile, 1, "b", 1);
	recent_advance(recent, profile, 0);
	recent_advance(recent, profile, 0);
	assert_int_equal(weight_of(recent, "a"), 110 * RECENT_SCALE);
	assert_int_equal(weight_of(recent, "b"), 1 * RECENT_SCALE);
	assert_int_equal(profile_samples(recent_profile(recent)).items[0].samples,
			 2 * RECENT_SCALE);
}

TEST(a_wait_that_goes_on_counts_and_decays)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	CLEANUP(recent_cleanup) struct recent *recent = recent_new(SECOND_NS);
	label_set_id labels = profile_thread_labels(profile, 1, 1, "x", "x");
	stack_id stack = stack_of(profile, "a");

	profile_add_samples(profile, labels, stack, 0, 1, 100);
	recent_advance(recent, profile, SECOND_NS);
	for (int i = 0; i < 20; i++) {
		profile_add_samples(profile, labels, stack, 0, 0, 100);
		recent_advance(recent, profile, SECOND_NS);
		assert_in_range(weight_of(recent, "a"), 100 * RECENT_SCALE, 200 * RECENT_SCALE);
	}
	for (int i = 0; i < 20; i++)
		recent_advance(recent, profile, SECOND_NS);
	assert_int_equal(weight_of(recent, "a"), 0);
}

TEST(old_samples_weigh_half_after_each_half_life)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	CLEANUP(recent_cleanup) struct recent *recent = recent_new(5 * SECOND_NS);

	count(profile, 1, "a", 100);
	recent_advance(recent, profile, SECOND_NS);
	assert_int_equal(weight_of(recent, "a"), 100 * RECENT_SCALE);
	recent_advance(recent, profile, 5 * SECOND_NS);
	assert_int_equal(weight_of(recent, "a"), 50 * RECENT_SCALE);
	recent_advance(recent, profile, 10 * SECOND_NS);
	assert_in_range(weight_of(recent, "a"), 12 * RECENT_SCALE, 13 * RECENT_SCALE);
}

TEST(decayed_samples_are_freed_with_everything_they_refer_to)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	CLEANUP(recent_cleanup) struct recent *recent = recent_new(SECOND_NS);

	for (pid_t pid = 1; pid <= 1000; pid++) {
		CLEANUP(free_ptr) char *name = xasprintf("f%d", pid);

		count(profile, pid, name, 1);
		recent_advance(recent, profile, SECOND_NS);
	}
	assert_in_range(profile_samples(recent_profile(recent)).count, 1, 100);
	assert_in_range(profile_thread_count(recent_profile(recent)), 1, 100);
	assert_in_range(profile_frame_count(recent_profile(recent)), 1, 100);
	assert_in_range(strtab_count(profile_strings((struct profile *)recent_profile(recent))), 1,
			200);
}

TEST(another_profile_goes_on_where_the_last_one_ended)
{
	CLEANUP(profile_cleanup) struct profile *first = new_profile();
	CLEANUP(profile_cleanup) struct profile *second = new_profile();
	CLEANUP(recent_cleanup) struct recent *recent = recent_new(SECOND_NS);

	count(first, 1, "a", 100);
	recent_advance(recent, first, 0);
	recent_start_over(recent);
	count(second, 1, "b", 1);
	count(second, 1, "a", 7);
	recent_advance(recent, second, 0);
	assert_int_equal(weight_of(recent, "a"), 107 * RECENT_SCALE);
	/* The process, the function and the module are the same in both. */
	assert_int_equal(profile_samples(recent_profile(recent)).count, 2);
	assert_int_equal(profile_module_count(recent_profile(recent)), 1);
}

TEST(skipped_samples_are_never_shown)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	CLEANUP(recent_cleanup) struct recent *recent = recent_new(SECOND_NS);

	count(profile, 1, "a", 1);
	recent_advance(recent, profile, 0);
	count(profile, 1, "a", 50);
	count(profile, 1, "b", 50);
	recent_skip(recent, profile);
	count(profile, 1, "a", 2);
	recent_advance(recent, profile, 0);
	assert_int_equal(weight_of(recent, "a"), 3 * RECENT_SCALE);
	assert_int_equal(weight_of(recent, "b"), 0);
}

TEST(a_cleared_recent_shows_what_comes_from_now_on)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	CLEANUP(recent_cleanup) struct recent *recent = recent_new(SECOND_NS);

	count(profile, 1, "a", 100);
	recent_advance(recent, profile, 0);
	recent_clear(recent);
	assert_int_equal(profile_samples(recent_profile(recent)).count, 0);
	count(profile, 1, "a", 5);
	recent_advance(recent, profile, 0);
	assert_int_equal(weight_of(recent, "a"), 5 * RECENT_SCALE);
}

TEST(notes_and_frames_without_names_stay_what_they_are)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	CLEANUP(recent_cleanup) struct recent *recent = recent_new(SECOND_NS);
	stack_id stack = profile_push(profile, STACK_EMPTY,
				      profile_synthetic_frame(profile, "[truncated]"));
	const struct profile *held;
	struct profile_frame leaf, root;

	stack = profile_push(profile, stack, profile_frame(profile, 3, 0x123, true));
	profile_add(profile, profile_thread_labels(profile, 1, 1, "x", "x"), stack, 0, 1);
	recent_advance(recent, profile, 0);
	recent_advance(recent, profile, 0);
	held = recent_profile(recent);
	stack = profile_samples(held).items[0].stack;
	leaf = profile_get_frame(held, profile_stacks(held).items[stack].frame);
	stack = profile_stacks(held).items[stack].parent;
	root = profile_get_frame(held, profile_stacks(held).items[stack].frame);
	assert_int_equal(leaf.offset, 0x123);
	assert_true(leaf.is_return_address && !leaf.line_count);
	assert_int_equal(root.module, PROFILE_SYNTHETIC);
	assert_string_equal(
		profile_string(held, profile_get_function(held, root.lines[0].function)->name),
		"[truncated]");
}

TEST(run_time_code_of_two_processes_is_told_apart)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	CLEANUP(recent_cleanup) struct recent *recent = recent_new(SECOND_NS);
	struct profile_module jit = {
		.kind = PROFILE_MODULE_JIT,
		.path = strtab_add(profile_strings(profile), "[jit]"),
	};

	for (uint32_t module = 0; module < 2; module++) {
		frame_id frame = profile_frame(profile, module, 0x1000, false);

		jit.pid = (pid_t)module + 1;
		profile_describe_module(profile, module, &jit);
		profile_add(profile, profile_thread_labels(profile, jit.pid, jit.pid, "x", "x"),
			    profile_push(profile, STACK_EMPTY, frame), 0, 1);
	}
	recent_advance(recent, profile, 0);
	recent_advance(recent, profile, 0);
	assert_int_equal(profile_module_count(recent_profile(recent)), 2);
	assert_int_equal(profile_frame_count(recent_profile(recent)), 2);
}

TEST(named_frames_of_one_place_are_told_apart)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	CLEANUP(recent_cleanup) struct recent *recent = recent_new(SECOND_NS);
	static const char *const names[] = {"first", "second"};

	for (int i = 0; i < 2; i++) {
		string_id name = strtab_add(profile_strings(profile), names[i]);
		struct profile_line line = {
			.function = profile_function(profile,
						     &(struct profile_function){name, name, 0, 0})};
		frame_id frame = profile_named_frame(profile, 0, 0, &line, 1);

		profile_add(profile, profile_thread_labels(profile, 1, 1, "x", "x"),
			    profile_push(profile, STACK_EMPTY, frame), 0, 3);
	}
	recent_advance(recent, profile, 0);
	assert_int_equal(weight_of(recent, "first"), 3 * RECENT_SCALE);
	assert_int_equal(weight_of(recent, "second"), 3 * RECENT_SCALE);
}

TEST(label_sets_of_one_thread_are_told_apart)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	CLEANUP(recent_cleanup) struct recent *recent = recent_new(SECOND_NS);
	struct profile_thread thread = {.pid = 1, .tid = 1};
	struct profile_label label = {.key = strtab_add(profile_strings(profile), "size"),
				      .unit = strtab_add(profile_strings(profile), "bytes")};
	stack_id stack = stack_of(profile, "a");

	for (label.number = -1; label.number < 2; label.number++)
		profile_add(profile, profile_label_set(profile, &thread, &label, 1), stack, 0, 1);
	profile_add(profile, profile_label_set(profile, &thread, NULL, 0), stack, 0, 1);
	recent_advance(recent, profile, 0);

	const struct profile *held = recent_profile(recent);
	const struct profile_label_set *set = profile_get_label_set(held, 0);

	assert_int_equal(profile_label_set_count(held), 4);
	assert_int_equal(set->labels[0].number, -1);
	assert_string_equal(profile_string(held, set->labels[0].unit), "bytes");
}
