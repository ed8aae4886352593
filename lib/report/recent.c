#include "report/recent.h"

#include "base/alloc.h"
#include "profile/transfer.h"

#include <math.h>
#include <stdlib.h>

/* A cell that has faded to less than this part of a sample is forgotten: after three half-lives. */
enum { FAINTEST = RECENT_SCALE / 8 };

/* Cells without samples are in nobody's way until there are half as many as others. */
enum { FEW_CELLS = 64 };

/* What a cell of the growing profile had counted at the last look. */
struct seen {
	uint64_t samples, weight;
};

struct recent {
	uint64_t half_life_ns;
	struct profile *held;
	struct idmap modules; /* of held: see transfer_init() */
	struct seen *seen;    /* by cell of the growing profile */
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
	idmap_deinit(&recent->modules);
	free(recent->seen);
	free(recent);
}

/* What has faded away leaves with all that only it refers to. */
static void tidy_up(struct recent *recent)
{
	struct profile *next = profile_new();
	struct idmap modules = {0};
	struct transfer transfer;

	transfer_init(&transfer, recent->held, next, &modules);
	for (event_id i = 0; i < profile_event_count(recent->held); i++)
		transfer_event(&transfer, i);
	for (uint64_t i = 0; i < profile_cell_count(recent->held); i++) {
		const struct profile_cell *cell = profile_get_cell(recent->held, i);

		if (cell->samples)
			transfer_add(&transfer, cell, cell->samples, cell->weight);
	}
	transfer_deinit(&transfer);
	profile_free(recent->held);
	idmap_deinit(&recent->modules);
	recent->held = next;
	recent->modules = modules;
}

static struct seen *seen_of(struct recent *recent, uint64_t cell)
{
	while (recent->seen_count <= cell) {
		GROW(recent->seen, recent->seen_count, recent->seen_room);
		recent->seen[recent->seen_count++] = (struct seen){0};
	}
	return &recent->seen[cell];
}

static void add_new(struct recent *recent, const struct profile *profile, struct transfer *transfer)
{
	for (uint64_t i = 0; i < profile_cell_count(profile); i++) {
		const struct profile_cell *cell = profile_get_cell(profile, i);
		struct seen *seen = seen_of(recent, i);

		if (cell->samples == seen->samples)
			continue;
		transfer_add(transfer, cell, (cell->samples - seen->samples) * RECENT_SCALE,
			     (cell->weight - seen->weight) * RECENT_SCALE);
		*seen = (struct seen){cell->samples, cell->weight};
	}
}

void recent_advance(struct recent *recent, const struct profile *profile, uint64_t passed_ns)
{
	double factor = exp2(-(double)passed_ns / (double)recent->half_life_ns);
	uint64_t left = profile_fade(recent->held, factor, FAINTEST);
	struct transfer transfer;

	if (profile_cell_count(recent->held) > left + left / 2 + FEW_CELLS)
		tidy_up(recent);
	transfer_init(&transfer, profile, recent->held, &recent->modules);
	/* They keep their order, and are there before their first sample. */
	for (event_id i = 0; i < profile_event_count(profile); i++)
		transfer_event(&transfer, i);
	add_new(recent, profile, &transfer);
	transfer_deinit(&transfer);
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
	idmap_deinit(&recent->modules);
	recent->held = profile_new();
	recent->modules = (struct idmap){0};
}

const struct profile *recent_profile(const struct recent *recent)
{
	return recent->held;
}
