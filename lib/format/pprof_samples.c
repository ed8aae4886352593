#include "format/pprof_samples.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Field numbers of pprof.proto, as the tags of what has a length. */
enum { TAG_SAMPLE = 2 << 3 | 2, TAG_LOCATIONS = 1 << 3 | 2, TAG_VALUES = 2 << 3 | 2 };
enum { LONGEST_VARINT = 10 };

struct text {
	uint8_t *bytes;
	size_t len, room;
};

struct samples {
	struct pprof_stream *stream;
	const struct profile *profile;
	bool counts_samples;
	struct text *labels; /* by thread: packed when its first sample is written */
	struct text locations, message;
	int64_t *values; /* the samples of the first event, then the weight of each */
};

static void make_room(struct text *text, size_t more)
{
	if (text->room - text->len >= more)
		return;
	text->room = (text->room + more) * 2;
	text->bytes = xreallocarray(text->bytes, text->room, 1);
}

/* For which there is room. */
static void put_varint(struct text *text, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		text->bytes[text->len++] = (uint8_t)(number | 0x80);
	text->bytes[text->len++] = (uint8_t)number;
}

static void put_bytes(struct text *to, uint64_t tag, const struct text *from)
{
	make_room(to, from->len + (size_t)2 * LONGEST_VARINT);
	put_varint(to, tag);
	put_varint(to, from->len);
	memcpy(to->bytes + to->len, from->bytes, from->len);
	to->len += from->len;
}

struct labels {
	Pprof__Label items[4];
	Pprof__Label *order[4];
	size_t count;
};

static Pprof__Label *add_label(struct pprof_stream *stream, struct labels *labels, const char *key)
{
	Pprof__Label *label = &labels->items[labels->count];

	pprof__label__init(label);
	label->key = pprof_string(stream, key);
	labels->order[labels->count++] = label;
	return label;
}

static void add_text(struct samples *samples, struct labels *labels, const char *key,
		     string_id value)
{
	/* A label without a text would be the number 0. */
	if (value)
		add_label(samples->stream, labels, key)->str =
			pprof_string(samples->stream, profile_string(samples->profile, value));
}

static void add_id(struct samples *samples, struct labels *labels, const char *key, pid_t value)
{
	Pprof__Label *label;

	if (value < 0)
		return;
	label = add_label(samples->stream, labels, key);
	label->num = value;
	label->num_unit = pprof_string(samples->stream, "id");
}

/* As the fields of a sample that has nothing else: messages that follow each other are one. */
static const struct text *labels_of(struct samples *samples, thread_id id)
{
	const struct profile_thread *thread = profile_get_thread(samples->profile, id);
	struct text *text = &samples->labels[id];
	Pprof__Sample message = PPROF__SAMPLE__INIT;
	struct labels labels = {0};

	if (text->bytes)
		return text;
	add_text(samples, &labels, "comm", thread->process);
	add_text(samples, &labels, "thread", thread->name);
	add_id(samples, &labels, "pid", thread->pid);
	add_id(samples, &labels, "tid", thread->tid);
	message.n_label = labels.count;
	message.label = labels.order;
	make_room(text, pprof__sample__get_packed_size(&message) + 1);
	text->len = pprof__sample__pack(&message, text->bytes);
	return text;
}

/* Leaf first. */
static void pack_locations(struct samples *samples, stack_id id)
{
	struct profile_stack stack = profile_get_stack(samples->profile, id);

	samples->locations.len = 0;
	make_room(&samples->locations, (size_t)stack.depth * LONGEST_VARINT);
	for (; stack.depth; stack = profile_get_stack(samples->profile, stack.parent))
		put_varint(&samples->locations, (uint64_t)stack.frame + 1);
}

static void put_sample(struct samples *samples, const struct profile_cell *cell)
{
	size_t count = profile_event_count(samples->profile) + 1;
	struct text *message = &samples->message, values = {0};
	const struct text *labels = labels_of(samples, cell->thread);
	uint8_t head[2 * LONGEST_VARINT];
	struct text prefix = {.bytes = head};

	pack_locations(samples, cell->stack);
	message->len = 0;
	put_bytes(message, TAG_LOCATIONS, &samples->locations);
	make_room(&values, count * LONGEST_VARINT);
	for (size_t i = !samples->counts_samples; i < count; i++)
		put_varint(&values, (uint64_t)samples->values[i]);
	put_bytes(message, TAG_VALUES, &values);
	free(values.bytes);
	make_room(message, labels->len);
	memcpy(message->bytes + message->len, labels->bytes, labels->len);
	message->len += labels->len;
	put_varint(&prefix, TAG_SAMPLE);
	put_varint(&prefix, message->len);
	pprof_put_packed(samples->stream, prefix.bytes, prefix.len);
	pprof_put_packed(samples->stream, message->bytes, message->len);
}

/*
 * The place of each stack where the callees of a stack follow it directly. A parent's id is below
 * its children's, whose order stays.
 */
static uint32_t *rank_stacks(const struct profile *profile)
{
	uint32_t count = profile_stack_count(profile);
	uint32_t *rank = xcalloc(count, sizeof(*rank));
	CLEANUP(free_ptr) uint32_t *size = xcalloc(count, sizeof(*size)); /* with all callees */
	CLEANUP(free_ptr) uint32_t *next = xcalloc(count, sizeof(*next)); /* rank of a callee */

	for (stack_id i = count; i-- > 1;)
		size[profile_get_stack(profile, i).parent] += ++size[i];
	next[STACK_EMPTY] = 1;
	for (stack_id i = 1; i < count; i++) {
		stack_id parent = profile_get_stack(profile, i).parent;

		rank[i] = next[parent];
		next[parent] += size[i];
		next[i] = rank[i] + 1;
	}
	return rank;
}

static int compare_cells(const void *a, const void *b, void *profile)
{
	const struct profile_cell *left = profile_get_cell(profile, *(const uint32_t *)a);
	const struct profile_cell *right = profile_get_cell(profile, *(const uint32_t *)b);

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	return (left->event > right->event) - (left->event < right->event);
}

/* By the rank of their stacks, then so that the events of one thread are next to each other. */
static uint32_t *sort_cells(const struct profile *profile)
{
	uint32_t count = (uint32_t)profile_cell_count(profile);
	uint32_t stacks = profile_stack_count(profile);
	uint32_t *order = xcalloc(count, sizeof(*order));
	CLEANUP(free_ptr) uint32_t *rank = rank_stacks(profile);
	/* By rank, shifted by one: where its cells go on; when all are placed, where they begin. */
	CLEANUP(free_ptr) uint32_t *first = xcalloc((size_t)stacks + 2, sizeof(*first));
	uint32_t *end = first + 1;

	for (uint32_t i = 0; i < count; i++)
		end[rank[profile_get_cell(profile, i)->stack] + 1]++;
	for (uint32_t i = 1; i <= stacks; i++)
		end[i] += end[i - 1];
	for (uint32_t i = 0; i < count; i++)
		order[end[rank[profile_get_cell(profile, i)->stack]]++] = i;
	for (uint32_t i = 0; i < stacks; i++)
		if (first[i + 1] - first[i] > 1)
			qsort_r(order + first[i], first[i + 1] - first[i], sizeof(*order),
				compare_cells, (void *)(uintptr_t)profile);
	return order;
}

static void samples_deinit(struct samples *samples)
{
	for (thread_id i = 0; i < profile_thread_count(samples->profile); i++)
		free(samples->labels[i].bytes);
	free(samples->labels);
	free(samples->locations.bytes);
	free(samples->message.bytes);
	free(samples->values);
}

void pprof_put_samples(struct pprof_stream *stream, const struct profile *profile,
		       bool counts_samples)
{
	CLEANUP(free_ptr) uint32_t *order = sort_cells(profile);
	size_t types = profile_event_count(profile) + 1;
	uint64_t count = profile_cell_count(profile);
	CLEANUP(samples_deinit)
	struct samples samples = {
		.stream = stream,
		.profile = profile,
		.counts_samples = counts_samples,
		.labels = xcalloc(profile_thread_count(profile), sizeof(*samples.labels)),
		.values = xcalloc(types, sizeof(*samples.values)),
	};

	for (uint64_t i = 0; i < count; i++) {
		const struct profile_cell *cell = profile_get_cell(profile, order[i]);
		const struct profile_cell *next = i + 1 < count
							  ? profile_get_cell(profile, order[i + 1])
							  : NULL;

		if (cell->event == 0)
			samples.values[0] = (int64_t)cell->samples;
		samples.values[1 + cell->event] = (int64_t)cell->weight;
		if (next && next->stack == cell->stack && next->thread == cell->thread)
			continue;
		put_sample(&samples, cell);
		memset(samples.values, 0, types * sizeof(*samples.values));
	}
}
