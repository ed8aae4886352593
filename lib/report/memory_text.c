#include "report/memory_text.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "report/view.h"

#include <inttypes.h>

/* Periods are powers of two, like in the option. */
static char *period_text(uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;

	for (; unit + 1 < ARRAY_SIZE(units) && bytes && bytes % 1024 == 0; unit++)
		bytes /= 1024;
	return xasprintf("%" PRIu64 " %s", bytes, units[unit]);
}

/*
 * Returns how the event was sampled, or "" if it is unknown. The quality of a
 * recording contains the numbers.
 */
static char *sampling_text(const struct profile *profile, event_id event)
{
	const struct profile_event *sampled = profile_get_event(profile, event);
	bool is_counted = !sampled->one_value && !profile_get_info(profile)->quality.is_known;
	CLEANUP(free_ptr) char *per = sampled->period ? period_text(sampled->period) : NULL;

	if (!per)
		return xstrdup("");
	if (!is_counted)
		return xasprintf(", one sample per %s", per);
	return xasprintf(", %s samples, one per %s",
			 humanize_count(view_event_sum(profile, event).samples).text, per);
}

/*
 * Returns the sum of both events, or NULL if one is missing. space:
 * MEMORY_ALLOC_SPACE or MEMORY_INUSE_SPACE.
 */
static char *sum_text(const struct profile *profile, enum memory_event space, event_id *bytes)
{
	event_id objects;

	if (!memory_event_find(profile, space, bytes) ||
	    !memory_event_find(profile, space - 1, &objects))
		return NULL;
	return xasprintf(
		"%s in %s objects",
		profile_humanize_weight(profile, *bytes, view_event_sum(profile, *bytes).weight)
			.text,
		humanize_count(view_event_sum(profile, objects).weight).text);
}

char *memory_allocated_text(const struct profile *profile)
{
	event_id event;
	CLEANUP(free_ptr) char *sum = sum_text(profile, MEMORY_ALLOC_SPACE, &event);
	CLEANUP(free_ptr) char *sampling = sum ? sampling_text(profile, event) : NULL;

	return sum ? xasprintf("%s%s", sum, sampling) : NULL;
}

char *memory_inuse_text(const struct profile *profile)
{
	event_id inuse, allocated;
	CLEANUP(free_ptr) char *sum = sum_text(profile, MEMORY_INUSE_SPACE, &inuse);
	CLEANUP(free_ptr) char *sampling = NULL;
	uint64_t bytes;

	if (!sum)
		return NULL;
	bytes = view_event_sum(profile, inuse).weight;
	if (!bytes)
		return xstrdup("nothing at the end");
	if (memory_event_find(profile, MEMORY_ALLOC_SPACE, &allocated))
		return xasprintf(
			"%s at the end, %s of what was allocated", sum,
			humanize_share(bytes, view_event_sum(profile, allocated).weight).text);
	sampling = sampling_text(profile, inuse);
	return xasprintf("%s at the end%s", sum, sampling);
}
