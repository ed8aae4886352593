#include "perf/file_events.h"

#include "base/alloc.h"
#include "perf/event.h"

#include <linux/perf_event.h>
#include <stdlib.h>

/* More than any machine has counters: what a damaged file claims stops here. */
enum { EVENTS_MAX = 1 << 16 };

/* Those in front of the id in a sample, and behind it in other records. */
static const uint64_t id_place_types = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
				       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;

void file_events_deinit(struct file_events *events)
{
	for (uint32_t i = 0; i < events->count; i++)
		free(events->items[i].event.name);
	free(events->items);
	free(events->sampling);
	idmap_deinit(&events->by_id);
}

static bool take_attr(struct bytes from, struct perf_event_attr *ret)
{
	size_t len = bytes_left(&from);
	struct bytes size = bytes_at(from, offsetof(struct perf_event_attr, size));
	uint32_t told = bytes_u32(&size);

	*ret = (struct perf_event_attr){0};
	if (told && told < len)
		len = told;
	if (!bytes_ok(&size) || len < PERF_ATTR_SIZE_VER0)
		return false;
	memcpy(ret, from.at, len < sizeof(*ret) ? len : sizeof(*ret));
	return true;
}

static struct record_layout layout_of(const struct perf_event_attr *attr)
{
	return (struct record_layout){
		.sample_type = attr->sample_type,
		.regs_mask = attr->sample_regs_user,
		.read_format = attr->read_format,
		.branch_type = attr->branch_sample_type,
		.period = attr->freq ? 1 : attr->sample_period,
		.bare = !attr->sample_id_all,
	};
}

/* With one event there is nothing to tell apart; several must all tell at the same place. */
static bool has_same_id_place(const struct record_layout *a, const struct record_layout *b)
{
	if (a->sample_type & b->sample_type & PERF_SAMPLE_IDENTIFIER)
		return true;
	return (a->sample_type & id_place_types) == (b->sample_type & id_place_types);
}

static void take_ids(struct file_events *events, struct bytes ids, uint32_t index)
{
	while (bytes_left(&ids) >= sizeof(uint64_t))
		*idmap_put(&events->by_id, bytes_u64(&ids), 0) = index;
}

static bool takes_samples(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE || attr->config != PERF_COUNT_SW_DUMMY;
}

struct error *file_events_add(struct file_events *events, struct bytes attr_bytes, struct bytes ids)
{
	struct perf_event_attr attr;
	struct file_event added = {.number = FILE_EVENT_SILENT};

	if (!take_attr(attr_bytes, &attr))
		return error_new("an event of the recording is damaged");
	if (events->count == EVENTS_MAX)
		return error_new("the recording has more than %d events", EVENTS_MAX);
	added.layout = layout_of(&attr);
	if (events->count && !has_same_id_place(&events->items[0].layout, &added.layout))
		return error_new("the events of the recording cannot be told apart");
	added.event = (struct perfdata_event){
		.name = event_name_of(attr.type, attr.config),
		.counts_ns = event_counts_ns(attr.type, attr.config),
		.period = attr.freq ? 0 : attr.sample_period,
		.frequency_hz = attr.freq ? attr.sample_freq : 0,
	};
	if (takes_samples(&attr)) {
		added.number = events->sampling_count;
		GROW(events->sampling, events->sampling_count, events->sampling_room);
		events->sampling[events->sampling_count++] = events->count;
	}
	take_ids(events, ids, events->count);
	GROW(events->items, events->count, events->room);
	events->items[events->count++] = added;
	/* perf asks it of one event, and what it makes up is nobody's. */
	events->build_ids |= attr.build_id;
	for (uint32_t i = 0; i < events->count; i++)
		events->items[i].layout.build_ids = events->build_ids;
	return NULL;
}

void file_events_set_name(struct file_events *events, uint32_t index, const char *name)
{
	char **to = &events->items[index].event.name;

	free(*to);
	*to = xstrdup(name);
}

uint32_t file_events_find(const struct file_events *events, uint64_t id)
{
	return idmap_get(&events->by_id, id, 0);
}

const struct file_event *file_events_of(const struct file_events *events, struct bytes raw)
{
	const struct file_event *first = &events->items[0];
	struct bytes header = raw;
	bool is_sample = bytes_u32(&header) == PERF_RECORD_SAMPLE;
	uint32_t index;
	uint64_t id;

	if (events->count == 1 || !record_id(&first->layout, raw, &id))
		return first;
	index = file_events_find(events, id);
	if (index != IDMAP_NONE)
		return &events->items[index];
	/* What perf makes up has no id. */
	return is_sample && id ? NULL : first;
}
