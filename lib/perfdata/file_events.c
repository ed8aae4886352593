#include "perfdata/file_events.h"

#include "base/alloc.h"
#include "perf/attr.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* More than the counters and tracepoints of any machine. Bounds damaged
 * files. */
enum { EVENTS_MAX = 1 << 14 };

/* Number of preceding events to search for another kind of an event. perf
 * writes the kinds of a group together. */
enum { KINDS_SEARCH_MAX = 64 };

void file_events_deinit(struct file_events *events)
{
	for (uint32_t i = 0; i < events->sampling_count; i++) {
		free(events->sampling[i].event.name);
		field_reader_free(events->sampling[i].reader);
	}
	free(events->sampling);
	idmap_deinit(&events->tracepoints);
	layouts_deinit(&events->layouts);
}

static bool take_attr(struct bytes from, struct perf_event_attr *ret)
{
	size_t len = bytes_left(&from);
	struct bytes size = bytes_at(from, offsetof(struct perf_event_attr, size));
	uint32_t stated = bytes_u32(&size);

	*ret = (struct perf_event_attr){0};
	if (stated && stated < len)
		len = stated;
	if (!bytes_ok(&size) || len < PERF_ATTR_SIZE_VER0)
		return false;
	memcpy(ret, from.at, len < sizeof(*ret) ? len : sizeof(*ret));
	return true;
}

static void file_events_take_ids(struct file_events *events, struct bytes ids, uint32_t index)
{
	while (bytes_left(&ids) >= sizeof(uint64_t))
		layouts_add_id(&events->layouts, bytes_u64(&ids), index);
}

static bool takes_samples(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE || attr->config != PERF_COUNT_SW_DUMMY;
}

static bool names_pmu(const struct perf_event_attr *attr)
{
	return (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE) &&
	       attr->config > UINT32_MAX;
}

/* Returns whether these are the same event on two kinds of CPU: the same event
 * of two PMUs, whose type is in the upper half of the config. perf requests the
 * side band only from the first one. */
static bool are_kinds(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return names_pmu(a) && names_pmu(b) && a->type == b->type && a->config != b->config &&
	       (uint32_t)a->config == (uint32_t)b->config && a->sample_type == b->sample_type &&
	       a->freq == b->freq && a->sample_period == b->sample_period &&
	       a->exclude_user == b->exclude_user && a->exclude_kernel == b->exclude_kernel;
}

/* Returns the index of the event of which this is another kind, or the next
 * free index. */
static uint32_t file_events_find_kind(const struct file_events *events,
				      const struct perf_event_attr *attr)
{
	for (uint32_t back = 1; back <= KINDS_SEARCH_MAX && back <= events->sampling_count; back++)
		if (are_kinds(&events->sampling[events->sampling_count - back].attr, attr))
			return events->sampling_count - back;
	return events->sampling_count;
}

static void file_events_add_sampling(struct file_events *events, const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_TRACEPOINT)
		*idmap_put(&events->tracepoints, attr->config, 0) = events->sampling_count;
	GROW(events->sampling, events->sampling_count, events->sampling_room);
	events->sampling[events->sampling_count++] = (struct sampling_event){
		.event = {.name = event_name_of(attr->type, attr->config),
			  .kind = event_value_kind(attr->type, attr->config),
			  .period = attr->freq ? 0 : attr->sample_period,
			  .frequency_hz = attr->freq ? attr->sample_freq : 0,
			  .regs_mask = attr->sample_regs_user,
			  .counts_occurrences = event_counts_occurrences(
				  attr->type, attr->config, attr->freq ? 0 : attr->sample_period),
			  .is_monotonic = attr->use_clockid && attr->clockid == CLOCK_MONOTONIC},
		.attr = *attr,
	};
}

struct error *file_events_add(struct file_events *events, struct bytes attr_bytes, struct bytes ids)
{
	struct layouts *layouts = &events->layouts;
	struct perf_event_attr attr;
	struct record_layout layout;

	if (!take_attr(attr_bytes, &attr))
		return error_new("an event of the recording is damaged");
	if (layouts->count == EVENTS_MAX)
		return error_new("the recording has more than %d events", EVENTS_MAX);
	layout = attr_layout(&attr);
	layout.event = takes_samples(&attr) ? file_events_find_kind(events, &attr)
					    : FILE_EVENT_SILENT;
	if (!layouts_add(layouts, &layout))
		return error_new("the recording's events have their ids at different places");
	if (layout.event < events->sampling_count)
		events->sampling[layout.event].has_kinds = true;
	else if (layout.event != FILE_EVENT_SILENT)
		file_events_add_sampling(events, &attr);
	file_events_take_ids(events, ids, layouts->count - 1);
	/* perf requests build-ids from one event, and its synthesized records
	 * belong to no event. */
	events->build_ids |= attr.build_id;
	events->switches |= attr.context_switch;
	for (uint32_t i = 0; i < layouts->count; i++)
		layouts->items[i].build_ids = events->build_ids;
	return NULL;
}

/* Returns "cycles:u" for "cpu_core/cycles/u" and "cpu_core/cycles:u/". */
static char *without_pmu(const char *name)
{
	const char *start = strchr(name, '/'), *end = start ? strchr(start + 1, '/') : NULL;

	if (!end)
		return xstrdup(name);
	return xasprintf("%.*s%s%s", (int)(end - start - 1), start + 1, end[1] ? ":" : "", end + 1);
}

void file_events_set_name(struct file_events *events, uint32_t index, const char *name)
{
	unsigned number = events->layouts.items[index].event;
	struct sampling_event *sampling;

	if (number == FILE_EVENT_SILENT)
		return;
	sampling = &events->sampling[number];
	free(sampling->event.name);
	sampling->event.name = sampling->has_kinds ? without_pmu(name) : xstrdup(name);
}

void file_events_add_format(struct file_events *events, const char *subsystem, struct bytes text)
{
	CLEANUP(tracepoint_format_deinit) struct tracepoint_format format = {0};
	CLEANUP(free_ptr) char *name = NULL;
	struct sampling_event *sampling;
	uint32_t index;

	if (!tracepoint_format_parse(text, &format) || !format.name)
		return;
	index = idmap_get(&events->tracepoints, format.id, 0);
	if (index == IDMAP_NONE || events->sampling[index].reader)
		return;
	sampling = &events->sampling[index];
	name = xasprintf("%s:%s", subsystem, format.name);
	free(sampling->event.name);
	sampling->event.name = xstrdup(name);
	sampling->reader = field_reader_new();
	field_reader_add(sampling->reader, name, &format);
}

uint32_t file_events_find(const struct file_events *events, uint64_t id)
{
	return idmap_get(&events->layouts.by_id, id, 0);
}
