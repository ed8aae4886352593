#include "report/branches.h"

#include "profile/cpu_records.h"
#include "sample_profile.h"
#include "unit_test.h"

#include <stdlib.h>

static frame_id place(struct profile *profile, const char *function, uint64_t offset, uint32_t line)
{
	frame_id frame = profile_frame(profile, 0, offset, false);

	profile_set_lines(profile, frame,
			  &(struct profile_line){
				  .function = add_function(profile, function, function, "f.c", 1),
				  .line = line},
			  1);
	return frame;
}

/* Adds branches of one kind from one place to another, each with this many
 * cycles. */
static void add(struct profile *profile, frame_id from, frame_id to, const char *prediction,
		uint64_t count, uint64_t cycles)
{
	const struct profile_thread thread = {.pid = 1, .tid = 1};
	const struct profile_label label = {.key = text_of(profile, BRANCH_LABEL),
					    .text = text_of(profile, prediction)};
	label_set_id labels = profile_label_set(profile, &thread, &label, *prediction ? 1 : 0);
	stack_id stack = profile_push(profile, profile_push(profile, STACK_EMPTY, from), to);

	profile_add_samples(profile, labels, stack, cpu_record_event(profile, CPU_BRANCHES), count,
			    count);
	if (cycles)
		profile_add_samples(profile, labels, stack,
				    cpu_record_event(profile, CPU_BRANCH_CYCLES), count,
				    count * cycles);
}

/* Makes a profile with an event of samples and branches: loop jumps back from
 * two addresses of a line, and rarely exits. */
static struct profile *program(void)
{
	struct profile *profile = profile_new();
	event_id clock = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	frame_id back = place(profile, "loop", 16, 7), again = place(profile, "loop", 24, 7);
	frame_id top = place(profile, "loop", 0, 3), out = place(profile, "exit", 64, 1);

	profile_add(profile, profile_thread_labels(profile, 1, 1, "p", "p"),
		    profile_push(profile, STACK_EMPTY, back), clock, 1000);
	add(profile, back, out, BRANCH_MISPREDICTED, 5, 0);
	add(profile, back, top, BRANCH_PREDICTED, 30, 2);
	add(profile, again, top, BRANCH_MISPREDICTED, 10, 5);
	add(profile, again, top, "", 2, 0);
	return profile;
}

static struct view view_of_branches(const struct profile *profile)
{
	struct view view;
	event_id event;

	assert_true(cpu_record_find(profile, CPU_BRANCHES, &event));
	view_init(&view, profile, event);
	return view;
}

static void assert_counts(const struct branch_counts *counts, uint64_t taken, uint64_t mispredicted,
			  uint64_t predicted, uint64_t cycles)
{
	assert_int_equal(counts->taken, taken);
	assert_int_equal(counts->mispredicted, mispredicted);
	assert_int_equal(counts->predicted, predicted);
	assert_int_equal(counts->cycles, cycles);
}

TEST(addresses_of_a_line_are_one_place_and_the_most_taken_is_first)
{
	CLEANUP(profile_cleanup) struct profile *profile = program();
	CLEANUP(view_deinit) struct view view = view_of_branches(profile);
	CLEANUP(branch_rows_deinit) struct branch_rows rows;

	branch_rows_init(&rows, &view);
	assert_int_equal(rows.count, 2);
	assert_counts(&rows.items[0].counts, 42, 10, 30, 110);
	assert_int_equal(rows.items[0].from.line, 7);
	assert_int_equal(rows.items[0].to.line, 3);
	assert_string_equal(view.labels.items[rows.items[0].to.label].name, "loop");
	assert_counts(&rows.items[1].counts, 5, 5, 0, 0);
	assert_string_equal(view.labels.items[rows.items[1].to.label].name, "exit");
	assert_counts(&rows.all, 47, 15, 30, 110);
}

TEST(branches_left_out_count_without_a_place)
{
	CLEANUP(profile_cleanup) struct profile *profile = program();
	stack_id left_out = profile_push(profile, STACK_EMPTY,
					 profile_synthetic_frame(profile, "[branches left out]"));
	CLEANUP(view_deinit) struct view view;
	CLEANUP(branch_rows_deinit) struct branch_rows rows;

	profile_add(profile, 0, left_out, cpu_record_event(profile, CPU_BRANCHES), 1);
	view = view_of_branches(profile);
	branch_rows_init(&rows, &view);
	assert_int_equal(rows.count, 2);
	assert_int_equal(rows.all.taken, 48);
}

TEST(a_share_is_of_the_branches_whose_prediction_is_known)
{
	CLEANUP(profile_cleanup) struct profile *profile = program();
	struct branch_counts all = branch_counts_of(profile);
	double share;

	assert_true(branch_mispredicted(&all, &share));
	assert_float_equal(share, 15.0 / 45, 1e-9);
	assert_false(branch_mispredicted(&(struct branch_counts){.taken = 3}, &share));
}

TEST(a_profile_without_branches_has_none)
{
	CLEANUP(profile_cleanup) struct profile *profile = random_profile(1);

	assert_int_equal(branch_counts_of(profile).taken, 0);
}
