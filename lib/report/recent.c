#include "report/recent.h"

#include "base/alloc.h"
#include "profile/transfer.h"

#include <math.h>
#include <stdlib.h>

/*
 * Aggregated samples that decay below this are removed: a single sample after
 * three half-lives.
 */
enum { FAINTEST = RECENT_SCALE / 8 };

/*
 * Samples that have decayed to 0 are removed together, when they are half as
 * many as the others plus this number.
 */
enum { FEW_SAMPLES = 64 };

/* The counts of a sample of the growing profile at the last call. */
struct seen {
	uint64_t samples, weight;
};

struct recent {
	uint64_t half_life_ns;
	struct profile *held;
	struct idmap modules; /* of held: see transfer_init() */
	struct seen *seen;    /* by sample of the growing profile */
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

/*
 * Copies the remaining samples, and only what they refer to, into a new
 * profile.
 */
static void tidy_up(struct recent *recent)
{
	const struct profile_samples samples = profile_samples(recent->held);
	struct profile *next = profile_new();
	struct idmap modules = {0};
	struct transfer transfer;

	transfer_init(&transfer, recent->held, next, &modules);
	for (event_id i = 0; i < profile_event_count(recent->held); i++)
		transfer_event(&transfer, i);
	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		if (sample->samples)
			transfer_add(&transfer, sample, sample->samples, sample->weight);
	}
	transfer_deinit(&transfer);
	profile_free(recent->held);
	idmap_deinit(&recent->modules);
	recent->held = next;
	recent->modules = modules;
}

static struct seen *seen_of(struct recent *recent, uint64_t sample)
{
	while (recent->seen_count <= sample) {
		GROW(recent->seen, recent->seen_count, recent->seen_room);
		recent->seen[recent->seen_count++] = (struct seen){0};
	}
	return &recent->seen[sample];
}

/*
 * Returns the number of new samples. A wait in progress counts when it starts,
 * but has new weight each time. It then counts again like a sample, and decays
 * from then on.
 */
static uint64_t new_samples(const struct profile_sample *sample, const struct seen *seen)
{
	if (sample->samples != seen->samples)
		return sample->samples - seen->samples;
	return sample->weight > seen->weight;
}

/* Reduced weights (profile_reduce_weight()) are not new weight. */
static uint64_t new_weight(const struct profile_sample *sample, const struct seen *seen)
{
	return sample->weight > seen->weight ? sample->weight - seen->weight : 0;
}

static void add_new(struct recent *recent, const struct profile *profile, struct transfer *transfer)
{
	const struct profile_samples samples = profile_samples(profile);

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		struct seen *seen = seen_of(recent, i);
		uint64_t count = new_samples(sample, seen);

		if (!count)
			continue;
		transfer_add(transfer, sample, count * RECENT_SCALE,
			     new_weight(sample, seen) * RECENT_SCALE);
		*seen = (struct seen){sample->samples, sample->weight};
	}
}

void recent_advance(struct recent *recent, const struct profile *profile, uint64_t passed_ns)
{
	double factor = exp2(-(double)passed_ns / (double)recent->half_life_ns);
	uint64_t left = profile_fade(recent->held, factor, FAINTEST);
	struct transfer transfer;

	if (profile_samples(recent->held).count > left + left / 2 + FEW_SAMPLES)
		tidy_up(recent);
	transfer_init(&transfer, profile, recent->held, &recent->modules);
	/* Adds all events in their order, including those without samples. */
	for (event_id i = 0; i < profile_event_count(profile); i++)
		transfer_event(&transfer, i);
	add_new(recent, profile, &transfer);
	transfer_deinit(&transfer);
}

void recent_skip(struct recent *recent, const struct profile *profile)
{
	const struct profile_samples samples = profile_samples(profile);

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		*seen_of(recent, i) = (struct seen){sample->samples, sample->weight};
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
