#include "format/pprof/samples.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/counting_sort.h"
#include "profile/memory_events.h"

#include <stdlib.h>
#include <string.h>

struct samples {
	struct pprof_stream *stream;
	const struct profile *profile;
	bool counts_samples;
	struct wire_message *labels;	   /* by label set: encoded on first use */
	struct wire_message list, message; /* scratch */
	int64_t *values;		   /* number of samples (of `counted`), then the weights */
	size_t *indexes;		   /* by event: index of its weight in `values` */
	uint64_t *times;		   /* of timed samples, ordered by sample, then by time */
	/* Sample i's times are from first_time[i] to first_time[i + 1]. */
	uint32_t *first_time;
	/* Index of the sample that the first value counts, if has_counted. */
	uint32_t counted;
	bool has_counted; /* there is such a sample */
};

static void samples_add_text(struct samples *samples, struct wire_message *labels, const char *key,
			     string_id value)
{
	struct wire_message *label = &samples->list;

	if (!value) /* a label without a string would be the number 0 */
		return;
	label->len = 0;
	wire_put_number(label, PPROF_LABEL_KEY, pprof_string(samples->stream, key));
	wire_put_number(label, PPROF_LABEL_STR,
			pprof_string(samples->stream, profile_string(samples->profile, value)));
	wire_put_message(labels, PPROF_SAMPLE_LABEL, label);
}

static void samples_add_id(struct samples *samples, struct wire_message *labels, const char *key,
			   pid_t value)
{
	struct wire_message *label = &samples->list;

	if (value < 0)
		return;
	label->len = 0;
	wire_put_number(label, PPROF_LABEL_KEY, pprof_string(samples->stream, key));
	wire_put_number(label, PPROF_LABEL_NUM, (uint64_t)value);
	wire_put_number(label, PPROF_LABEL_NUM_UNIT, pprof_string(samples->stream, "id"));
	wire_put_message(labels, PPROF_SAMPLE_LABEL, label);
}

static void samples_add_label(struct samples *samples, struct wire_message *labels,
			      const struct profile_label *label)
{
	struct pprof_stream *stream = samples->stream;
	const struct profile *profile = samples->profile;
	struct wire_message *message = &samples->list;

	message->len = 0;
	wire_put_number(message, PPROF_LABEL_KEY,
			pprof_string(stream, profile_string(profile, label->key)));
	wire_put_number(message, PPROF_LABEL_STR,
			pprof_string(stream, profile_string(profile, label->text)));
	wire_put_number(message, PPROF_LABEL_NUM, (uint64_t)label->number);
	wire_put_number(message, PPROF_LABEL_NUM_UNIT,
			pprof_string(stream, profile_string(profile, label->unit)));
	wire_put_message(labels, PPROF_SAMPLE_LABEL, message);
}

static const struct wire_message *samples_labels_of(struct samples *samples, label_set_id id)
{
	const struct profile_label_set *set = profile_get_label_set(samples->profile, id);
	const struct profile_thread *thread = profile_get_thread(samples->profile, set->thread);
	struct wire_message *labels = &samples->labels[id];

	if (labels->bytes)
		return labels;
	samples_add_text(samples, labels, COMM_LABEL, thread->process);
	samples_add_text(samples, labels, THREAD_LABEL, thread->name);
	samples_add_id(samples, labels, PID_LABEL, thread->pid);
	samples_add_id(samples, labels, TID_LABEL, thread->tid);
	for (uint32_t i = 0; i < set->count; i++)
		samples_add_label(samples, labels, &set->labels[i]);
	return labels;
}

/* Appends the locations of a stack, leaf first. */
static void samples_add_locations(struct samples *samples, stack_id id)
{
	const struct profile_stacks stacks = profile_stacks(samples->profile);
	struct wire_message *list = &samples->list;
	struct profile_stack stack = stacks.items[id];

	list->len = 0;
	for (; stack.depth; stack = stacks.items[stack.parent])
		wire_put_varint(list, (uint64_t)stack.frame + 1);
	wire_put_message(&samples->message, PPROF_SAMPLE_LOCATION, list);
}

static void samples_add_values(struct samples *samples)
{
	size_t count = profile_event_count(samples->profile) + 1;
	struct wire_message *list = &samples->list;

	list->len = 0;
	for (size_t i = !samples->counts_samples; i < count; i++)
		wire_put_varint(list, (uint64_t)samples->values[i]);
	wire_put_message(&samples->message, PPROF_SAMPLE_VALUE, list);
}

static uint32_t sample_of_time(const void *profile, uint32_t timed)
{
	return profile_timed_samples(profile).items[timed].sample;
}

static int samples_compare_times(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* Converts times to milliseconds since the start. */
static void sort_times(struct samples *samples)
{
	const struct profile *profile = samples->profile;
	const struct profile_timed_samples timed = profile_timed_samples(profile);
	uint32_t count = (uint32_t)profile_samples(profile).count;
	uint64_t start_ns = profile_get_info(profile)->start_ns;
	CLEANUP(free_ptr)
	uint32_t *order = counting_sort((uint32_t)timed.count, count, sample_of_time, profile,
					&samples->first_time);

	samples->times = xcalloc(timed.count, sizeof(*samples->times));
	for (uint64_t i = 0; i < timed.count; i++) {
		uint64_t time_ns = timed.items[order[i]].time_ns;

		samples->times[i] = time_ns > start_ns ? (time_ns - start_ns) / NS_PER_MS : 0;
	}
	/* The order of records from several CPUs differs by microseconds. */
	for (uint32_t i = 0; i < count; i++)
		if (samples->first_time[i + 1] - samples->first_time[i] > 1)
			qsort(samples->times + samples->first_time[i],
			      samples->first_time[i + 1] - samples->first_time[i],
			      sizeof(*samples->times), samples_compare_times);
}

static void samples_add_times(struct samples *samples)
{
	struct wire_message *list = &samples->list;
	uint32_t i = samples->first_time[samples->counted];
	uint64_t former = 0;

	list->len = 0;
	for (; i < samples->first_time[samples->counted + 1]; i++) {
		wire_put_varint(list, samples->times[i] - former);
		former = samples->times[i];
	}
	if (list->len)
		wire_put_message(&samples->message, PPROF_SAMPLE_TIMES, list);
}

static void samples_put_sample(struct samples *samples, const struct profile_sample *sample)
{
	const struct wire_message *labels = samples_labels_of(samples, sample->labels);

	samples_add_locations(samples, sample->stack);
	samples_add_values(samples);
	wire_append(&samples->message, labels->bytes, labels->len);
	if (samples->times && samples->has_counted)
		samples_add_times(samples);
	pprof_put_message(samples->stream, PPROF_PROFILE_SAMPLE, &samples->message);
}

/*
 * Returns the position of each stack in a preorder walk of the call tree. A
 * parent's id is lower than its children's, and children keep their order.
 */
static uint32_t *rank_stacks(const struct profile *profile)
{
	const struct profile_stacks stacks = profile_stacks(profile);
	uint32_t count = stacks.count;
	uint32_t *rank = xcalloc(count, sizeof(*rank));
	CLEANUP(free_ptr) uint32_t *size = xcalloc(count, sizeof(*size)); /* of the subtree */
	CLEANUP(free_ptr)
	uint32_t *next = xcalloc(count, sizeof(*next)); /* the rank of the next child */

	for (stack_id i = count; i-- > 1;)
		size[stacks.items[i].parent] += ++size[i];
	next[STACK_EMPTY] = 1;
	for (stack_id i = 1; i < count; i++) {
		stack_id parent = stacks.items[i].parent;

		rank[i] = next[parent];
		next[parent] += size[i];
		next[i] = rank[i] + 1;
	}
	return rank;
}

static int compare_samples(const void *a, const void *b, void *profile)
{
	const struct profile_sample *left = &profile_samples(profile).items[*(const uint32_t *)a];
	const struct profile_sample *right = &profile_samples(profile).items[*(const uint32_t *)b];

	if (left->labels != right->labels)
		return left->labels < right->labels ? -1 : 1;
	return (left->event > right->event) - (left->event < right->event);
}

struct ranking {
	const struct profile *profile;
	const uint32_t *rank; /* by stack */
};

static uint32_t rank_of_sample(const void *context, uint32_t sample)
{
	const struct ranking *ranking = context;

	return ranking->rank[profile_samples(ranking->profile).items[sample].stack];
}

/* Sorts samples by the rank of their stacks, then by label set and event. */
static uint32_t *samples_sort(const struct profile *profile)
{
	uint32_t stacks = profile_stacks(profile).count;
	CLEANUP(free_ptr) uint32_t *rank = rank_stacks(profile);
	struct ranking ranking = {profile, rank};
	CLEANUP(free_ptr) uint32_t *first = NULL;
	uint32_t *order = counting_sort((uint32_t)profile_samples(profile).count, stacks,
					rank_of_sample, &ranking, &first);

	for (uint32_t i = 0; i < stacks; i++)
		if (first[i + 1] - first[i] > 1)
			qsort_r(order + first[i], first[i + 1] - first[i], sizeof(*order),
				compare_samples, (void *)(uintptr_t)profile);
	return order;
}

size_t *pprof_value_indexes(const struct profile *profile)
{
	size_t *indexes = xcalloc(profile_event_count(profile), sizeof(*indexes));
	size_t places[MEMORY_EVENTS] = {0}, count = 0;
	enum memory_event which;
	event_id id;

	for (event_id i = 0; i < profile_event_count(profile); i++) {
		indexes[i] = i;
		if (memory_event_of(profile, i, &which))
			places[count++] = i;
	}
	count = 0;
	for (which = 0; which < MEMORY_EVENTS; which++)
		if (memory_event_find(profile, which, &id))
			indexes[id] = places[count++];
	return indexes;
}

static void samples_deinit(struct samples *samples)
{
	for (label_set_id i = 0; i < profile_label_set_count(samples->profile); i++)
		free(samples->labels[i].bytes);
	free(samples->labels);
	free(samples->list.bytes);
	free(samples->message.bytes);
	free(samples->values);
	free(samples->indexes);
	free(samples->times);
	free(samples->first_time);
}

void pprof_put_samples(struct pprof_stream *stream, const struct profile *profile, event_id counted,
		       bool counts_samples, bool times)
{
	const struct profile_samples all_samples = profile_samples(profile);
	CLEANUP(free_ptr) uint32_t *order = samples_sort(profile);
	size_t types = profile_event_count(profile) + 1;
	uint64_t count = all_samples.count;
	CLEANUP(samples_deinit)
	struct samples samples = {
		.stream = stream,
		.profile = profile,
		.counts_samples = counts_samples,
		.labels = xcalloc(profile_label_set_count(profile), sizeof(*samples.labels)),
		.values = xcalloc(types, sizeof(*samples.values)),
		.indexes = pprof_value_indexes(profile),
	};

	if (times && counts_samples && profile_timed_samples(profile).count)
		sort_times(&samples);
	for (uint64_t i = 0; i < count; i++) {
		const struct profile_sample *sample = &all_samples.items[order[i]];
		const struct profile_sample *next = i + 1 < count ? &all_samples.items[order[i + 1]]
								  : NULL;

		if (sample->event == counted) {
			samples.values[0] = (int64_t)sample->samples;
			samples.counted = order[i];
			samples.has_counted = true;
		}
		samples.values[1 + samples.indexes[sample->event]] = (int64_t)sample->weight;
		if (next && next->stack == sample->stack && next->labels == sample->labels)
			continue;
		samples_put_sample(&samples, sample);
		memset(samples.values, 0, types * sizeof(*samples.values));
		samples.has_counted = false;
	}
}
