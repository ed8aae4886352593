#include "format/pprof_events.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void pprof_events_deinit(struct pprof_events *events)
{
	free(events->types);
	free(events->ids);
}

static bool counts_samples(const struct profile *profile, const struct pprof_type *type)
{
	const char *name = profile_string(profile, type->name);

	return (!strcmp(name, "samples") || !strcmp(name, "sample")) &&
	       !strcmp(profile_string(profile, type->unit), "count");
}

static size_t main_type(const struct pprof_events *events)
{
	string_id name = events->default_type;

	for (size_t i = events->first_event; name && i < events->count; i++)
		if (events->types[i].name == name)
			return i;
	/* By default the samples themselves: those are counted for the first event. */
	if (name && events->first_event && name == events->types[0].name)
		return events->first_event;
	return events->count - 1;
}

static event_id add_event(const struct pprof_events *events, struct profile *profile, size_t index)
{
	const struct pprof_type *type = &events->types[index];
	struct profile_event event = {
		.name = type->name,
		.unit = type->unit,
		.counts_ns = !strcmp(profile_string(profile, type->unit), "nanoseconds"),
		.one_value = !events->first_event,
	};

	/* A period of another unit says nothing about this event. */
	if (type->unit == events->period_type.unit)
		event.period = events->period;
	return profile_add_event(profile, &event);
}

struct error *pprof_events_define(struct pprof_events *events, struct profile *profile)
{
	if (!events->count)
		return error_new("it does not say what was sampled");
	events->first_event = events->count > 1 && counts_samples(profile, &events->types[0]);
	events->ids = xcalloc(events->count, sizeof(*events->ids));
	add_event(events, profile, main_type(events));
	for (size_t i = events->first_event; i < events->count; i++)
		events->ids[i] = add_event(events, profile, i);
	if (profile_event_count(profile) < events->count - events->first_event)
		return error_new("two of its sample types are the same");
	return NULL;
}

static struct error *check(const struct pprof_events *events, const uint64_t *values, size_t count)
{
	if (count != events->count)
		return error_new("a sample has %zu values where the profile has %zu types", count,
				 events->count);
	for (size_t i = 0; i < count; i++)
		if (values[i] > INT64_MAX)
			return error_hint(error_new("it has negative values, as the difference of "
						    "two profiles"),
					  "prof reads profiles, not their differences");
	return NULL;
}

struct error *pprof_events_add(const struct pprof_events *events, struct profile *profile,
			       thread_id thread, stack_id stack, const uint64_t *values,
			       size_t count)
{
	struct error *err = check(events, values, count);

	for (size_t i = events->first_event; !err && i < count; i++) {
		event_id event = events->ids[i];
		uint64_t samples = values[i];

		if (events->first_event)
			samples = event == 0 ? values[0] : 0;
		if (samples || values[i])
			profile_add_samples(profile, thread, stack, event, samples, values[i]);
	}
	return err;
}
