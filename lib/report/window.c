#include "report/window.h"

#include "base/alloc.h"
#include "profile/merge.h"

#include <math.h>
#include <stdlib.h>

/* A cell that has faded to less than this part of a sample is forgotten: after four half-lives. */
enum { FAINTEST = WINDOW_SCALE / 16 };

/* What a cell of the growing profile had counted at the last look. */
struct seen {
	uint64_t samples, weight;
};

struct window {
	uint64_t half_life_ns;
	struct profile *held;
	struct seen *seen; /* by cell of the growing profile */
	uint64_t seen_count, seen_room;
};

struct window *window_new(uint64_t half_life_ns)
{
	struct window *window = xcalloc(1, sizeof(*window));

	window->half_life_ns = half_life_ns;
	window->held = profile_new();
	return window;
}

void window_free(struct window *window)
{
	if (!window)
		return;
	profile_free(window->held);
	free(window->seen);
	free(window);
}

static void add_faded(const struct profile *held, struct merge *merge, double factor)
{
	for (uint64_t i = 0; i < profile_cell_count(held); i++) {
		const struct profile_cell *cell = profile_get_cell(held, i);
		uint64_t samples = (uint64_t)((double)cell->samples * factor);

		if (samples >= FAINTEST)
			merge_add(merge, cell, samples, (uint64_t)((double)cell->weight * factor));
	}
}

static struct seen *seen_of(struct window *window, uint64_t cell)
{
	while (window->seen_count <= cell) {
		GROW(window->seen, window->seen_count, window->seen_room);
		window->seen[window->seen_count++] = (struct seen){0};
	}
	return &window->seen[cell];
}

static void add_new(struct window *window, const struct profile *profile, struct merge *merge)
{
	for (uint64_t i = 0; i < profile_cell_count(profile); i++) {
		const struct profile_cell *cell = profile_get_cell(profile, i);
		struct seen *seen = seen_of(window, i);

		if (cell->samples == seen->samples)
			continue;
		merge_add(merge, cell, (cell->samples - seen->samples) * WINDOW_SCALE,
			  (cell->weight - seen->weight) * WINDOW_SCALE);
		*seen = (struct seen){cell->samples, cell->weight};
	}
}

void window_advance(struct window *window, const struct profile *profile, uint64_t passed_ns)
{
	double factor = exp2(-(double)passed_ns / (double)window->half_life_ns);
	struct profile *next = profile_new();
	struct idmap modules = {0};
	struct merge old, new;

	merge_init(&old, window->held, next, &modules);
	merge_init(&new, profile, next, &modules);
	/* They keep their order, and are there before their first sample. */
	for (event_id i = 0; i < profile_event_count(profile); i++)
		merge_event(&new, i);
	add_faded(window->held, &old, factor);
	add_new(window, profile, &new);
	merge_deinit(&old);
	merge_deinit(&new);
	idmap_deinit(&modules);
	profile_free(window->held);
	window->held = next;
}

void window_start_over(struct window *window)
{
	window->seen_count = 0;
}

void window_clear(struct window *window)
{
	profile_free(window->held);
	window->held = profile_new();
}

const struct profile *window_profile(const struct window *window)
{
	return window->held;
}
