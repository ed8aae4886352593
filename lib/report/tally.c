#include "report/tally.h"

#include "base/alloc.h"

#include <stdlib.h>

struct tally_counter {
	const struct view *view;
	const uint32_t *row_of_line;
	struct tally *tallies;
	/*
	 * The number of occurrences of each row in the current stack of the
	 * walk.
	 */
	uint32_t *on_path;
};

/*
 * Adds to a row's total only if the row is not in the stack already, because
 * recursion counts once.
 */
static void tally_enter(void *user, stack_id stack)
{
	struct tally_counter *counter = user;
	const uint32_t *first_line = counter->view->labels.first_line;
	frame_id frame = counter->view->stacks[stack].frame;

	for (uint32_t i = first_line[frame]; i < first_line[frame + 1]; i++) {
		uint32_t row = counter->row_of_line[i];

		if (row != TALLY_NO_ROW && !counter->on_path[row]++)
			sum_add(&counter->tallies[row].total, counter->view->stacks[stack].total);
	}
}

static void tally_leave(void *user, stack_id stack)
{
	struct tally_counter *counter = user;
	const uint32_t *first_line = counter->view->labels.first_line;
	frame_id frame = counter->view->stacks[stack].frame;

	for (uint32_t i = first_line[frame]; i < first_line[frame + 1]; i++)
		if (counter->row_of_line[i] != TALLY_NO_ROW)
			counter->on_path[counter->row_of_line[i]]--;
}

/*
 * The row of self is that of the innermost line of a stack's leaf, or of the
 * function that blocks or allocates.
 */
static void tally_add_selves(struct tally_counter *counter)
{
	const struct view *view = counter->view;
	const struct profile_samples samples = profile_samples(view->profile);

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		uint32_t row;

		if (!view_has(view, sample))
			continue;
		row = counter->row_of_line[view_self_line(view, sample->stack)];
		if (row != TALLY_NO_ROW)
			sum_add(&counter->tallies[row].self,
				(struct sum){sample->samples, sample->weight});
	}
}

struct tally *tally_rows(const struct view *view, const uint32_t *row_of_line, uint32_t rows)
{
	CLEANUP(free_ptr) uint32_t *on_path = xcalloc(rows, sizeof(*on_path));
	struct tally_counter counter = {.view = view,
					.row_of_line = row_of_line,
					.tallies = xcalloc(rows, sizeof(*counter.tallies)),
					.on_path = on_path};

	view_walk(view, tally_enter, tally_leave, &counter);
	tally_add_selves(&counter);
	return counter.tallies;
}
