#include "report/tally.h"

#include "base/alloc.h"

#include <stdlib.h>

struct counter {
	const struct view *view;
	const uint32_t *row_of_line;
	struct tally *tallies;
	uint32_t *on_path; /* by row: how often it is in the stack where the walk is */
};

/* A row's total grows only where it is not in the stack already: recursion counts once. */
static void enter(void *user, stack_id stack)
{
	struct counter *counter = user;
	const uint32_t *first_line = counter->view->labels.first_line;
	frame_id frame = counter->view->stacks[stack].frame;

	for (uint32_t i = first_line[frame]; i < first_line[frame + 1]; i++) {
		uint32_t row = counter->row_of_line[i];

		if (row != TALLY_NO_ROW && !counter->on_path[row]++)
			sum_add(&counter->tallies[row].total, counter->view->stacks[stack].total);
	}
}

static void leave(void *user, stack_id stack)
{
	struct counter *counter = user;
	const uint32_t *first_line = counter->view->labels.first_line;
	frame_id frame = counter->view->stacks[stack].frame;

	for (uint32_t i = first_line[frame]; i < first_line[frame + 1]; i++)
		if (counter->row_of_line[i] != TALLY_NO_ROW)
			counter->on_path[counter->row_of_line[i]]--;
}

/* The innermost line of a stack's leaf. */
static void add_selves(struct counter *counter)
{
	const struct view *view = counter->view;

	for (uint64_t i = 0; i < profile_cell_count(view->profile); i++) {
		const struct profile_cell *cell = profile_get_cell(view->profile, i);
		frame_id leaf = view->stacks[cell->stack].frame;
		uint32_t row;

		if (cell->stack == STACK_EMPTY || !view_has(view, cell))
			continue;
		row = counter->row_of_line[view->labels.first_line[leaf + 1] - 1];
		if (row != TALLY_NO_ROW)
			sum_add(&counter->tallies[row].self,
				(struct sum){cell->samples, cell->weight});
	}
}

struct tally *tally_rows(const struct view *view, const uint32_t *row_of_line, uint32_t rows)
{
	CLEANUP(free_ptr) uint32_t *on_path = xcalloc(rows, sizeof(*on_path));
	struct counter counter = {.view = view,
				  .row_of_line = row_of_line,
				  .tallies = xcalloc(rows, sizeof(*counter.tallies)),
				  .on_path = on_path};

	view_walk(view, enter, leave, &counter);
	add_selves(&counter);
	return counter.tallies;
}
