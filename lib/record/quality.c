#include "record/quality.h"

#include "base/alloc.h"
#include "profile/cpu_records.h"
#include "profile/memory_events.h"

#include <stdlib.h>
#include <string.h>

static bool is_unnamed(const struct profile_frame *frame)
{
	return frame->line_count == 0 && frame->module != PROFILE_SYNTHETIC;
}

/*
 * Whether the samples of an event are excluded from the counts of all samples.
 * Off-CPU samples have a quality of their own, and their number depends on the
 * polling rate. All events of an allocation have the same stack. Records that a
 * CPU adds to a sample are not further samples, and neither are the intervals of
 * elapsed time.
 */
static bool is_apart(const struct profile *profile, event_id id)
{
	const struct profile_event *event = profile_get_event(profile, id);
	const char *name = profile_string(profile, event->name);
	enum memory_event which;

	if (memory_event_of(profile, id, &which))
		return which != MEMORY_ALLOC_SPACE;
	return event->kind == VALUE_OFF_CPU_TIME || cpu_record_is(profile, id) ||
	       !strcmp(name, VALUE_AWAIT_EVENT) || !strcmp(name, VALUE_ELAPSED_EVENT) ||
	       !strcmp(name, VALUE_CRITICAL_PATH_EVENT);
}

/* Returns the number of samples by stack. The caller frees the array. */
static uint64_t *samples_of_stacks(const struct profile *profile)
{
	const struct profile_samples all_samples = profile_samples(profile);
	uint64_t *samples = xcalloc(profile_stacks(profile).count, sizeof(*samples));
	uint32_t events = profile_event_count(profile);
	CLEANUP(free_ptr) bool *are_apart = xcalloc(events, sizeof(*are_apart));

	for (event_id i = 0; i < events; i++)
		are_apart[i] = is_apart(profile, i);
	for (uint64_t i = 0; i < all_samples.count; i++) {
		const struct profile_sample *sample = &all_samples.items[i];

		if (!are_apart[sample->event])
			samples[sample->stack] += sample->samples;
	}
	return samples;
}

static int by_samples(const void *a, const void *b)
{
	const struct unnamed_module *left = a, *right = b;

	if (left->samples != right->samples)
		return left->samples < right->samples ? 1 : -1;
	return (left->module > right->module) - (left->module < right->module);
}

static void record_quality_add_module(struct quality *quality, uint32_t module, uint64_t samples)
{
	size_t i = 0;

	while (i < quality->module_count && quality->modules[i].module != module)
		i++;
	if (i == quality->module_count) {
		quality->modules = xreallocarray(quality->modules, ++quality->module_count,
						 sizeof(*quality->modules));
		quality->modules[i] = (struct unnamed_module){.module = module};
	}
	quality->modules[i].samples += samples;
}

/* Properties of a stack. */
enum { IS_TRUNCATED = 1, IS_UNNAMED = 2 };

static bool is_truncation(const struct profile *profile, const struct profile_frame *frame)
{
	const struct profile_function *function;

	if (frame->module != PROFILE_SYNTHETIC || !frame->line_count)
		return false;
	function = profile_get_function(profile, frame->lines[0].function);
	return !strcmp(profile_string(profile, function->name), "[truncated]");
}

/* Returns the properties by stack. The caller frees the array. */
static uint8_t *properties_of_stacks(const struct profile *profile)
{
	const struct profile_stacks stacks = profile_stacks(profile);
	uint8_t *properties = xcalloc(stacks.count, sizeof(*properties));

	for (stack_id id = 1; id < stacks.count; id++) {
		struct profile_stack stack = stacks.items[id];
		struct profile_frame frame = profile_get_frame(profile, stack.frame);

		properties[id] = properties[stack.parent] & ~IS_UNNAMED;
		if (stack.parent == STACK_EMPTY && is_truncation(profile, &frame))
			properties[id] |= IS_TRUNCATED;
		if (is_unnamed(&frame))
			properties[id] |= IS_UNNAMED;
	}
	return properties;
}

/* Whether unsampled_settle() has added the sample. */
static bool record_quality_is_addition(const struct profile_sample *sample)
{
	return !sample->samples;
}

static bool add_counted(struct event_quality *events, uint32_t count,
			const struct unsampled *unsampled)
{
	bool is_known = false;

	for (event_id i = 0; unsampled && i < count; i++)
		is_known |= unsampled_counted(unsampled, i, &events[i].counted);
	for (event_id i = 0; i < count; i++)
		if (!events[i].counted)
			events[i].sampled = 0;
	return is_known;
}

static void record_quality_add_events(struct quality *quality, const struct profile *profile,
				      const struct unsampled *unsampled)
{
	const struct profile_samples samples = profile_samples(profile);
	uint32_t count = profile_event_count(profile);
	CLEANUP(free_ptr) uint8_t *properties = NULL;

	bool is_counted;

	properties = properties_of_stacks(profile);
	quality->events = xcalloc(count, sizeof(*quality->events));
	for (event_id i = 0; i < count; i++)
		quality->events[i].event = profile_string(profile,
							  profile_get_event(profile, i)->name);
	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		struct event_quality *event = &quality->events[sample->event];

		event->samples += sample->samples;
		if (!record_quality_is_addition(sample))
			event->sampled += sample->weight;
		if (properties[sample->stack] & IS_TRUNCATED)
			event->truncated += sample->samples;
		if (properties[sample->stack] & IS_UNNAMED)
			event->unnamed += sample->samples;
	}
	is_counted = add_counted(quality->events, count, unsampled);
	quality->counts.events = quality->events;
	quality->counts.event_count = count > 1 || is_counted ? count : 0;
}

static void add_lost_allocations(struct quality *quality, const struct profile *profile,
				 uint64_t lost)
{
	enum memory_event which;

	for (event_id i = 0; i < profile_event_count(profile); i++)
		if (memory_event_of(profile, i, &which) &&
		    (which == MEMORY_ALLOC_OBJECTS || which == MEMORY_ALLOC_SPACE))
			quality->events[i].lost = lost;
}

/* Returns the quality of sampled allocations, or NULL if memory was not
 * recorded. */
static const struct event_quality *allocations(const struct profile_quality *counts)
{
	return quality_of_event(counts, memory_event_name(MEMORY_ALLOC_SPACE));
}

void quality_init(struct quality *quality, const struct profile *profile,
		  const struct session_counts *counts, const struct unsampled *unsampled)
{
	const struct profile_stacks stacks = profile_stacks(profile);
	CLEANUP(free_ptr) uint64_t *samples = samples_of_stacks(profile);

	*quality = (struct quality){.counts = counts->quality};
	quality->counts.is_known = true;
	record_quality_add_events(quality, profile, unsampled);
	add_lost_allocations(quality, profile, counts->lost_allocations);
	for (stack_id id = 1; id < stacks.count; id++) {
		struct profile_frame frame = profile_get_frame(profile, stacks.items[id].frame);

		if (!is_unnamed(&frame))
			continue;
		quality->counts.unnamed += samples[id];
		record_quality_add_module(quality, frame.module, samples[id]);
	}
	if (allocations(&quality->counts))
		quality->counts.unnamed -= allocations(&quality->counts)->unnamed;
	if (quality->module_count)
		qsort(quality->modules, quality->module_count, sizeof(*quality->modules),
		      by_samples);
}

void quality_deinit(struct quality *quality)
{
	free(quality->events);
	free(quality->modules);
}

/* Returns the share of the event for which it is highest. */
static double unsampled_share(const struct profile_quality *counts)
{
	double share = 0;

	for (size_t i = 0; i < counts->event_count; i++) {
		const struct event_quality *event = &counts->events[i];

		double unsampled = (double)quality_unsampled(event);

		if (unsampled > share * (double)event->counted)
			share = unsampled / (double)event->counted;
	}
	return share;
}

bool quality_share(const struct quality *quality, const char *name, double *ret)
{
	const struct profile_quality *counts = &quality->counts;
	const struct event_quality none = {0};
	const struct event_quality *memory = allocations(counts) ? allocations(counts) : &none;
	const struct {
		const char *name;
		uint64_t part, whole;
	} shares[] = {{"lost", counts->lost, counts->samples + counts->lost},
		      {"lost", memory->lost, memory->samples + memory->lost},
		      {"truncated", counts->truncated, counts->samples},
		      {"truncated", memory->truncated, memory->samples},
		      {"unknown", counts->unnamed, counts->samples},
		      {"unknown", memory->unnamed, memory->samples},
		      {"placeless", counts->waiting.placeless_ns, counts->waiting.waiting_ns}};
	bool is_known = false;

	*ret = 0;
	if (!strcmp(name, "unsampled")) {
		*ret = unsampled_share(counts);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		double share = shares[i].whole ? (double)shares[i].part / (double)shares[i].whole
					       : 0;

		if (strcmp(shares[i].name, name) != 0)
			continue;
		is_known = true;
		*ret = share > *ret ? share : *ret;
	}
	return is_known;
}
