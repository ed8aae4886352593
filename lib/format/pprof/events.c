#include "format/pprof/events.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void pprof_events_deinit(struct pprof_events *events)
{
	free(events->types);
	free(events->ids);
	free(events->sums);
}

/* Returns the type of counts with this name. */
static size_t find_counts(const struct pprof_events *events, const struct profile *profile,
			  const char *name)
{
	size_t i = 0;

	while (i < events->count &&
	       (events->are_negative[i] ||
		strcmp(profile_string(profile, events->types[i].name), name) ||
		strcmp(profile_string(profile, events->types[i].unit), "count")))
		i++;
	return i;
}

static size_t events_count_shown(const struct pprof_events *events)
{
	size_t count = 0;

	for (size_t i = 0; i < events->count; i++)
		count += !events->are_negative[i];
	return count;
}

static size_t find_samples(const struct pprof_events *events, const struct profile *profile)
{
	size_t found = find_counts(events, profile, "samples");

	if (found == events->count)
		found = find_counts(events, profile, "sample");
	return events_count_shown(events) > 1 ? found : events->count;
}

/* Returns the event to show if only one can be shown. */
static size_t main_type(const struct pprof_events *events)
{
	size_t last = 0;

	for (size_t i = 0; i < events->count; i++) {
		if (i == events->samples || events->are_negative[i])
			continue;
		if (events->types[i].name == events->default_type)
			return i;
		last = i;
	}
	return last;
}

static event_id events_add_event(const struct pprof_events *events, struct profile *profile,
				 size_t index, bool is_main)
{
	const struct pprof_type *type = &events->types[index];
	struct profile_event event = {
		.name = type->name,
		.unit = type->unit,
		.kind = value_kind_of(profile_string(profile, type->name),
				      profile_string(profile, type->unit)),
		.one_value = events->samples == events->count || !is_main,
	};

	/* A file has one period. It applies to events with the same unit. */
	if (type->unit == events->period_type.unit)
		event.period = events->period;
	return profile_add_event(profile, &event);
}

static struct error *check_types(struct pprof_events *events, struct profile *profile)
{
	if (!events->count)
		return error_new("it has no sample types");
	for (size_t i = 0; i < events->count; i++) {
		if (!events->types[i].name)
			return error_new("a sample type has no name");
		if (!events->types[i].unit)
			events->types[i].unit = strtab_add(profile_strings(profile), "count");
	}
	if (!events_count_shown(events))
		return error_hint(error_new("it has negative values, as the difference of two "
					    "profiles"),
				  "prof reads profiles, not their differences");
	return NULL;
}

/* Returns whether values of a type are those of an event. */
static bool is_event(const struct pprof_events *events, size_t type)
{
	return type != events->samples && !events->are_negative[type];
}

static bool has_equal_types(const struct pprof_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		for (size_t k = 0; k < i; k++)
			if (is_event(events, i) && is_event(events, k) &&
			    events->ids[i] == events->ids[k])
				return true;
	return false;
}

struct error *pprof_events_define(struct pprof_events *events, struct profile *profile)
{
	struct error *err = check_types(events, profile);
	size_t main;

	if (err)
		return err;
	events->samples = find_samples(events, profile);
	events->ids = xcalloc(events->count, sizeof(*events->ids));
	events->sums = xcalloc(events->count, sizeof(*events->sums));
	main = main_type(events);
	events->main = events_add_event(events, profile, main, true);
	for (size_t i = 0; i < events->count; i++)
		if (is_event(events, i))
			events->ids[i] = events_add_event(events, profile, i, i == main);
	return has_equal_types(events) ? error_new("it has two equal sample types") : NULL;
}

static struct error *events_check(struct pprof_events *events, const uint64_t *values, size_t count)
{
	if (count != events->count)
		return error_new("a sample has %zu values where the profile has %zu types", count,
				 events->count);
	for (size_t i = 0; i < count; i++) {
		if (events->are_negative[i])
			continue;
		if (values[i] > INT64_MAX - events->sums[i])
			return error_new("its values are negative, or their sum exceeds 2^63 - 1");
		events->sums[i] += values[i];
	}
	return NULL;
}

struct error *pprof_events_add(struct pprof_events *events, struct profile *profile,
			       label_set_id labels, stack_id stack, const uint64_t *values,
			       size_t count)
{
	struct error *err = events_check(events, values, count);

	for (size_t i = 0; !err && i < count; i++) {
		event_id event = events->ids[i];
		uint64_t samples = values[i];

		if (!is_event(events, i))
			continue;
		if (event == events->main && events->samples < count)
			samples = values[events->samples];
		if (samples || values[i])
			profile_add_samples(profile, labels, stack, event, samples, values[i]);
	}
	return err;
}
