#include "profile/part.h"

#include "base/alloc.h"
#include "profile/transfer.h"

#include <stdlib.h>

struct part {
	struct profile *profile;
	uint64_t first, end;
	const bool *keeps; /* by sample number; NULL for all in the range */
	uint32_t *added;   /* ids of the copied samples, indexed by sample number - first */
};

static bool part_has(const struct part *part, uint32_t sample)
{
	return sample >= part->first && sample < part->end && (!part->keeps || part->keeps[sample]);
}

static void part_add_times(struct part *part, const struct profile *from)
{
	const struct profile_timed_samples timed = profile_timed_samples(from);
	const struct profile_intervals intervals = profile_intervals(from);

	profile_keep_timestamps(part->profile);
	for (uint64_t i = 0; i < timed.count; i++) {
		struct profile_timed_sample sample = timed.items[i];

		if (!part_has(part, sample.sample))
			continue;
		sample.sample = part->added[sample.sample - part->first];
		profile_add_timed_sample(part->profile, &sample);
	}
	for (uint64_t i = 0; i < intervals.count; i++) {
		struct profile_interval interval = intervals.items[i];

		if (!part_has(part, interval.sample))
			continue;
		interval.sample = part->added[interval.sample - part->first];
		profile_add_interval(part->profile, &interval);
	}
}

static struct profile *part_of(const struct profile *profile, uint64_t first, uint64_t end,
			       const bool *keeps)
{
	const struct profile_samples samples = profile_samples(profile);
	CLEANUP(free_ptr) uint32_t *added = xcalloc(end - first, sizeof(*added));
	struct part part = {profile_new(), first, end, keeps, added};
	struct idmap modules = {0};
	struct transfer transfer;

	transfer_init(&transfer, profile, part.profile, &modules);
	for (event_id i = 0; i < profile_event_count(profile); i++)
		transfer_event(&transfer, i);
	for (uint64_t i = first; i < end; i++)
		if (part_has(&part, (uint32_t)i))
			added[i - first] = transfer_add(&transfer, &samples.items[i],
							samples.items[i].samples,
							samples.items[i].weight);
	transfer_deinit(&transfer);
	idmap_deinit(&modules);
	if (profile_keeps_timestamps(profile))
		part_add_times(&part, profile);
	profile_set_info(part.profile, profile_get_info(profile));
	return part.profile;
}

struct profile *profile_part(const struct profile *profile, uint64_t first, uint64_t end)
{
	return part_of(profile, first, end, NULL);
}

struct profile *profile_flagged_part(const struct profile *profile, const bool *keeps)
{
	struct profile *part = part_of(profile, 0, profile_samples(profile).count, keeps);

	for (uint64_t i = 0; i < profile_marker_count(profile); i++) {
		struct profile_marker marker = *profile_get_marker(profile, i);

		marker.text = strtab_add(profile_strings(part),
					 profile_string(profile, marker.text));
		profile_add_marker(part, &marker);
	}
	return part;
}
