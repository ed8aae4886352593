#include "report/recent.h"

#include "base/alloc.h"
#include "profile/merge.h"

#include <math.h>
#include <stdlib.h>

/* A cell that has faded to less than this part of a sample is forgotten: after four half-lives. */
enum { FAINTEST = RECENT_SCALE / 16 };

/* What a cell of the growing profile had counted at the last look. */
struct seen {
	uint64_t samples, weight;
};

struct recent {
	uint64_t half_life_ns;
	struct profile *held;
	struct seen *seen; /* by cell of the growing profile */
	uint64_t seen_count, seen_room;
};

struct recent *recent_new(uint64_t half_life_ns)
{
	struct recent *recent = xcalloc(1, sizeof(*recent));

	recent->half_life_ns = half_life_ns;
	recent->held = profile_new();
	return recent;
}

void recent_free(struct recent *recent)
{
	if (!recent)
		return;
	profile_free(recent->held);
	free(recent->seen);
	free(recent);
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

static struct seen *seen_of(struct recent *recent, uint64_t cell)
{
	while (recent->seen_count <= cell) {
		GROW(recent->seen, recent->seen_count, recent->seen_room);
		recent->seen[recent->seen_count++] = (struct seen){0};
	}
	return &recent->seen[cell];
}

static void add_new(struct recent *recent, const struct profile *profile, struct merge *merge)
{
	for (uint64_t i = 0; i < profile_cell_count(profile); i++) {
		const struct profile_cell *cell = profile_get_cell(profile, i);
		struct seen *seen = seen_of(recent, i);

		if (cell->samples == seen->samples)
			continue;
		merge_add(merge, cell, (cell->samples - seen->samples) * RECENT_SCALE,
			  (cell->weight - seen->weight) * RECENT_SCALE);
		*seen = (struct seen){cell->samples, cell->weight};
	}
}

void recent_advance(struct recent *recent, const struct profile *profile, uint64_t passed_ns)
{
	double factor = exp2(-(double)passed_ns / (double)recent->half_life_ns);
	struct profile *next = profile_new();
	struct idmap modules = {0};
	struct merge old, new;

	merge_init(&old, recent->held, next, &modules);
	merge_init(&new, profile, next, &modules);
	/* They keep their order, and are there before their first sample. */
	for (event_id i = 0; i < profile_event_count(profile); i++)
		merge_event(&new, i);
	add_faded(recent->held, &old, factor);
	add_new(recent, profile, &new);
	merge_deinit(&old);
	merge_deinit(&new);
	idmap_deinit(&modules);
	profile_free(recent->held);
	recent->held = next;
}

void recent_skip(struct recent *recent, const struct profile *profile)
{
	for (uint64_t i = 0; i < profile_cell_count(profile); i++) {
		const struct profile_cell *cell = profile_get_cell(profile, i);

		*seen_of(recent, i) = (struct seen){cell->samples, cell->weight};
	}
}

void recent_start_over(struct recent *recent)
{
	recent->seen_count = 0;
}

void recent_clear(struct recent *recent)
{
	profile_free(recent->held);
	recent->held = profile_new();
}

const struct profile *recent_profile(const struct recent *recent)
{
	return recent->held;
}
