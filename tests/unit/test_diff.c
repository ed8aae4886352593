#include "report/diff.h"

#include "base/alloc.h"
#include "near.h"
#include "profile/unsampled.h"
#include "sample_profile.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

enum { OLD, NEW, RUNS = 5 };

/* Makes a profile as merge_profiles() does, with a column per recording. */
static struct profile *two_sides(void)
{
	struct profile *profile = profile_new();

	for (int i = 0; i < 2 * RUNS; i++)
		add_event(profile, (const char[]){(char)('a' + i), '\0'}, VALUE_CPU_TIME);
	return profile;
}

static void add_to(struct profile *profile, event_id column, stack_id stack, uint64_t samples)
{
	profile_add_samples(profile, profile_thread_labels(profile, 1, 1, "p", "p"), stack, column,
			    samples, samples * 1000000);
}

/* Adds the sample to each recording of a side. */
static void add(struct profile *profile, unsigned side, stack_id stack, uint64_t samples)
{
	for (event_id i = 0; i < RUNS; i++)
		add_to(profile, side * RUNS + i, stack, samples);
}

static void compare(struct diff *diff, const struct profile *profile, enum comparison_kind kind)
{
	static const double nothing_known[2 * RUNS];

	diff_init(diff, profile,
		  &(struct diff_options){
			  .comparison = {.kind = kind, .confidence = 0.99, .noise = 0.01},
			  .old_count = profile_event_count(profile) / 2,
			  .samples_per_weight = nothing_known,
			  .threads = nothing_known,
		  });
}

static const struct diff_row *row_of(const struct diff *diff, const char *name)
{
	for (uint32_t i = 0; i < diff->count; i++)
		if (!strcmp(diff->labels.items[diff->rows[i].label].name, name))
			return &diff->rows[i];
	fail_msg("there is no row %s", name);
	return NULL;
}

TEST(a_function_that_costs_more_is_found)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_sides();
	CLEANUP(diff_deinit) struct diff diff;
	frame_id main = add_frame(profile, (const char *const[]){"main", NULL});
	frame_id parse = add_frame(profile, (const char *const[]){"parse", NULL});
	stack_id root = profile_push(profile, STACK_EMPTY, main);
	stack_id leaf = profile_push(profile, root, parse);

	add(profile, OLD, root, 2000);
	add(profile, OLD, leaf, 2000);
	add(profile, NEW, root, 2000);
	add(profile, NEW, leaf, 3000);
	compare(&diff, profile, COMPARE_WEIGHTS);
	assert_int_equal(diff.verdict, DIFF_SLOWER);
	assert_near(diff.whole.after, 1.25, 1e-9);
	assert_near(diff.old_weight, 4e9, 1);
	assert_string_equal(diff.labels.items[diff.rows[0].label].name, "parse");
	assert_near(diff.rows[0].self.before, 0.5, 1e-9);
	assert_near(diff.rows[0].self.after, 0.75, 1e-9);
	assert_true(diff.rows[0].self.is_significant);
	assert_near(row_of(&diff, "main")->total.after, 1.25, 1e-9);
	assert_near(row_of(&diff, "main")->self.after, 0.5, 1e-9);
	assert_false(row_of(&diff, "main")->self.is_significant);
}

TEST(shares_speak_of_no_whole)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_sides();
	CLEANUP(diff_deinit) struct diff diff;
	stack_id stacks[] = {STACK(profile, "a"), STACK(profile, "b")};

	add(profile, OLD, stacks[0], 500);
	add(profile, OLD, stacks[1], 500);
	add(profile, NEW, stacks[0], 1000);
	add(profile, NEW, stacks[1], 3000);
	compare(&diff, profile, COMPARE_SHARES);
	assert_int_equal(diff.verdict, DIFF_CHANGED);
	assert_near(row_of(&diff, "b")->self.after, 0.75, 1e-9);
	assert_false(diff.whole.is_significant);
}

TEST(equals_are_the_same)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_sides();
	CLEANUP(diff_deinit) struct diff diff;

	for (event_id column = 0; column < 2 * RUNS; column++)
		add_to(profile, column, STACK(profile, "a"), 1000 + 50 * (column % RUNS));
	compare(&diff, profile, COMPARE_WEIGHTS);
	assert_int_equal(diff.verdict, DIFF_SAME);
	assert_true(diff.whole.margin > 0.1); /* 3.36 of 0.032 */
}

TEST(one_recording_on_a_side_has_no_verdict)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(diff_deinit) struct diff diff;

	for (event_id column = OLD; column <= NEW; column++) {
		add_event(profile, column == OLD ? "old" : "new", VALUE_CPU_TIME);
		add_to(profile, column, STACK(profile, "a"), 1000 + 5000 * column);
	}
	compare(&diff, profile, COMPARE_WEIGHTS);
	assert_int_equal(diff.verdict, DIFF_UNJUDGED);
	assert_true(diff.whole.is_guess && row_of(&diff, "a")->self.is_guess);
	assert_true(row_of(&diff, "a")->self.is_notable);
	assert_false(diff.whole.is_significant || row_of(&diff, "a")->self.is_significant);
}

/*
 * Each of many functions costs more than chance would explain for one function,
 * but not for one among many. Their caller has certainly changed, but only
 * because of them.
 */
TEST(a_function_with_more_self_weight_precedes_its_callers)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_sides();
	CLEANUP(diff_deinit) struct diff diff;
	const char *const parts[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
				     "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		stack_id stack = STACK(profile, "run", parts[i]);

		add(profile, OLD, stack, 40);
		add(profile, NEW, stack, 58);
	}
	compare(&diff, profile, COMPARE_WEIGHTS);
	assert_int_equal(diff.count, ARRAY_SIZE(parts) + 1);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		assert_string_equal(diff.labels.items[diff.rows[i].label].name, parts[i]);
	assert_ptr_equal(row_of(&diff, "run"), &diff.rows[ARRAY_SIZE(parts)]);
	assert_true(row_of(&diff, "run")->total.is_significant);
	assert_false(row_of(&diff, "a")->self.is_significant);
}

TEST(recursion_counts_once)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_sides();
	CLEANUP(diff_deinit) struct diff diff;

	add(profile, OLD, STACK(profile, "a", "b", "a", "a"), 100);
	add(profile, NEW, STACK(profile, "a", "b"), 100);
	compare(&diff, profile, COMPARE_WEIGHTS);
	assert_near(row_of(&diff, "a")->total.before, 1, 1e-9);
	assert_near(row_of(&diff, "a")->total.after, 1, 1e-9);
	assert_near(row_of(&diff, "b")->total.before, 1, 1e-9);
}

TEST(a_comparison_with_an_empty_profile_has_no_verdict)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_sides();
	CLEANUP(diff_deinit) struct diff diff;

	add(profile, OLD, STACK(profile, "a"), 100);
	compare(&diff, profile, COMPARE_WEIGHTS);
	assert_int_equal(diff.verdict, DIFF_NOTHING);
	assert_int_equal(diff.count, 0);
}

/* By stack: the same function is called from two places. */
TEST(a_change_is_found_where_it_is_called)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_sides();
	CLEANUP(diff_deinit) struct diff diff;
	stack_id stacks[] = {STACK(profile, "one", "copy"), STACK(profile, "two", "copy")};

	add(profile, OLD, stacks[0], 1000);
	add(profile, OLD, stacks[1], 1000);
	add(profile, NEW, stacks[0], 1500);
	add(profile, NEW, stacks[1], 500);
	compare(&diff, profile, COMPARE_WEIGHTS);
	assert_int_equal(diff.verdict, DIFF_CHANGED);
	assert_false(row_of(&diff, "copy")->self.is_significant);
	assert_int_equal(diff.stack_count, 5);
	for (uint32_t i = 1; i < diff.stack_count; i++) {
		const char *name = diff.labels.items[diff.stacks[i].label].name;

		assert_true(diff.stacks[i].change.is_significant);
		if (!strcmp(name, "one"))
			assert_near(diff.stacks[i].change.after, 0.75, 1e-9);
	}
}

TEST(what_is_not_counted_is_estimated)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_sides();
	CLEANUP(diff_deinit) struct diff diff;
	double per_weight[2 * RUNS];

	for (size_t i = 0; i < ARRAY_SIZE(per_weight); i++)
		per_weight[i] = 1e-7;
	add(profile, OLD, STACK(profile, "a"), 1000);
	add(profile, NEW, STACK(profile, "a"), 1000);
	diff_init(&diff, profile,
		  &(struct diff_options){
			  .comparison = {.kind = COMPARE_WEIGHTS, .confidence = 0.99},
			  .old_count = RUNS,
			  .samples_per_weight = per_weight,
			  .threads = (const double[2 * RUNS]){0},
		  });
	assert_near(diff.wholes[OLD].samples, 100, 1e-6);
	assert_near(diff.wholes[OLD].weight, 1e9, 1e-6);
}

TEST(sums_are_those_of_all_rows)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		CLEANUP(profile_cleanup) struct profile *profile = random_profile(seed);
		CLEANUP(diff_deinit) struct diff diff;
		double before = 0, after = 0;

		compare(&diff, profile, COMPARE_WEIGHTS);
		for (uint32_t i = 0; i < diff.count; i++) {
			before += diff.rows[i].self.before;
			after += diff.rows[i].self.after;
			assert_true(diff.rows[i].total.before <= 1 + 1e-9);
		}
		assert_near(before, 1, 1e-9);
		assert_near(after, diff.whole.after, 1e-9);
	}
}

TEST(unsampled_weight_is_part_of_the_whole_but_of_no_function)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_sides();
	CLEANUP(diff_deinit) struct diff diff;
	frame_id note = profile_synthetic_frame(profile, UNSAMPLED_KERNEL_FRAME);
	stack_id unsampled = profile_push(profile, STACK_EMPTY, note);

	add(profile, OLD, STACK(profile, "work"), 1000);
	add(profile, NEW, STACK(profile, "work"), 1000);
	for (event_id i = 0; i < 2 * RUNS; i++)
		profile_add_samples(profile, profile_thread_labels(profile, 1, 1, "p", "p"),
				    unsampled, i, 0, (i < RUNS ? 250 : 500) * 1000000ul);
	compare(&diff, profile, COMPARE_WEIGHTS);
	assert_int_equal(diff.verdict, DIFF_SLOWER);
	assert_near(diff.whole.after, 1.2, 1e-9);
	assert_near(diff.unsampled.before, 0.2, 1e-9);
	assert_near(diff.unsampled.after, 0.4, 1e-9);
	assert_int_equal(diff.count, 1);
	assert_string_equal(diff.labels.items[diff.rows[0].label].name, "work");
}
