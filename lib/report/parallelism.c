#include "report/parallelism.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "base/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARES_SHOWN = 7, SHARES_MAX = 4096 };

struct parallelism_share {
	uint64_t threads, weight_ns;
};

bool parallelism_find_event(const struct profile *profile, const char *name, event_id *ret)
{
	for (event_id i = 0; i < profile_event_count(profile); i++) {
		const struct profile_event *event = profile_get_event(profile, i);

		if (strcmp(profile_string(profile, event->name), name) != 0)
			continue;
		*ret = i;
		return true;
	}
	return false;
}

bool parallelism_event(const struct profile *profile, event_id *ret)
{
	return parallelism_find_event(profile, VALUE_ELAPSED_EVENT, ret);
}

bool parallelism_goes_with(const struct profile *profile, event_id shown, event_id *ret)
{
	return shown < profile_event_count(profile) &&
	       profile_get_event(profile, shown)->kind == VALUE_CPU_TIME &&
	       parallelism_event(profile, ret);
}

bool parallelism_of(const struct profile *profile, label_set_id id, uint64_t *ret)
{
	const struct profile_label_set *set = profile_get_label_set(profile, id);

	for (uint32_t i = 0; i < set->count; i++) {
		const struct profile_label *label = &set->labels[i];

		if (strcmp(profile_string(profile, label->key), PARALLELISM_LABEL) != 0)
			continue;
		*ret = (uint64_t)label->number;
		return !label->text && *ret < SHARES_MAX;
	}
	return false;
}

static int parallelism_by_weight(const void *a, const void *b)
{
	const struct parallelism_share *left = a, *right = b;

	if (left->weight_ns != right->weight_ns)
		return left->weight_ns < right->weight_ns ? 1 : -1;
	return (left->threads > right->threads) - (left->threads < right->threads);
}

static int by_threads(const void *a, const void *b)
{
	const struct parallelism_share *left = a, *right = b;

	return (left->threads > right->threads) - (left->threads < right->threads);
}

/* Returns the total. shares: SHARES_MAX elements, by threads. */
static uint64_t parallelism_add_up(const struct profile *profile, event_id event,
				   struct parallelism_share *shares)
{
	const struct profile_samples samples = profile_samples(profile);
	uint64_t total = 0, threads;

	for (uint64_t i = 0; i < SHARES_MAX; i++)
		shares[i].threads = i;
	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		if (sample->event != event)
			continue;
		total += sample->weight;
		if (parallelism_of(profile, sample->labels, &threads))
			shares[threads].weight_ns += sample->weight;
	}
	return total;
}

char *parallelism_text(const struct profile *profile)
{
	CLEANUP(free_ptr) struct parallelism_share *shares = NULL;
	uint64_t total;
	event_id event;
	size_t count = 0, len;
	char *text = NULL;
	FILE *out;

	if (!parallelism_event(profile, &event))
		return NULL;
	shares = xcalloc(SHARES_MAX, sizeof(*shares));
	total = parallelism_add_up(profile, event, shares);
	qsort(shares, SHARES_MAX, sizeof(*shares), parallelism_by_weight);
	while (count < SHARES_SHOWN && shares[count].weight_ns)
		count++;
	if (!count)
		return NULL;
	qsort(shares, count, sizeof(*shares), by_threads);
	out = open_memstream(&text, &len);
	for (size_t i = 0; i < count; i++) {
		CLEANUP(free_ptr) char *of = xasprintf(" of %s", humanize_time(total).text);

		fprintf(out, "%s%" PRIu64 " thread%s%s %s%s", i ? ", " : "", shares[i].threads,
			shares[i].threads == 1 ? "" : "s", i ? "" : " ran",
			humanize_share(shares[i].weight_ns, total).text, i ? "" : of);
	}
	fclose(out);
	return text;
}
