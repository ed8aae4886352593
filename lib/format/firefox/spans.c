#include "format/firefox/spans.h"

#include "base/alloc.h"
#include "base/value.h"
#include "report/parallelism.h"

#include <stdlib.h>

enum { SPANS_MAX = 100000 };

static int firefox_spans_by_thread(const void *a, const void *b)
{
	const struct firefox_span *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static void firefox_spans_join(struct firefox_spans *spans)
{
	uint32_t joined = 0;

	for (uint32_t i = 0; i < spans->count; i++) {
		struct firefox_span *last = joined ? &spans->items[joined - 1] : NULL;
		const struct firefox_span span = spans->items[i];

		if (!last || last->thread != span.thread || span.start_ns > last->end_ns)
			spans->items[joined++] = span;
		else if (span.end_ns > last->end_ns)
			last->end_ns = span.end_ns;
	}
	spans->count = joined;
}

static void firefox_spans_drop_below(struct firefox_spans *spans, uint64_t least_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < spans->count; i++)
		if (spans->items[i].end_ns - spans->items[i].start_ns >= least_ns)
			spans->items[kept++] = spans->items[i];
	spans->count = kept;
}

static void firefox_spans_finish(struct firefox_spans *spans, const struct profile *profile)
{
	const uint32_t threads = profile_thread_count(profile);

	if (spans->count)
		qsort(spans->items, spans->count, sizeof(*spans->items), firefox_spans_by_thread);
	firefox_spans_join(spans);
	for (uint64_t least_ns = 1; spans->count > SPANS_MAX; least_ns *= 2)
		firefox_spans_drop_below(spans, least_ns);
	spans->first = xcalloc(threads + 1, sizeof(*spans->first));
	for (uint32_t i = 0; i < spans->count; i++)
		spans->first[spans->items[i].thread + 1]++;
	for (uint32_t i = 0; i < threads; i++)
		spans->first[i + 1] += spans->first[i];
}

static void firefox_spans_init(struct firefox_spans *spans, const struct profile *profile,
			       const char *name, bool only_silent)
{
	const struct profile_intervals intervals = profile_intervals(profile);
	const struct profile_samples samples = profile_samples(profile);
	uint64_t threads;
	event_id event;

	*spans = (struct firefox_spans){0};
	for (uint64_t i = 0; parallelism_find_event(profile, name, &event) && i < intervals.count;
	     i++) {
		const struct profile_interval *interval = &intervals.items[i];
		const struct profile_sample *sample = &samples.items[interval->sample];

		if (sample->event != event || interval->end_ns <= interval->start_ns ||
		    (only_silent &&
		     (!parallelism_of(profile, sample->labels, &threads) || threads)))
			continue;
		GROW(spans->items, spans->count, spans->room);
		spans->items[spans->count++] = (struct firefox_span){
			.thread = profile_get_label_set(profile, sample->labels)->thread,
			.start_ns = interval->start_ns,
			.end_ns = interval->end_ns,
		};
	}
	firefox_spans_finish(spans, profile);
}

void firefox_spans_init_critical(struct firefox_spans *spans, const struct profile *profile)
{
	firefox_spans_init(spans, profile, VALUE_CRITICAL_PATH_EVENT, false);
}

void firefox_spans_init_silent(struct firefox_spans *spans, const struct profile *profile)
{
	firefox_spans_init(spans, profile, VALUE_ELAPSED_EVENT, true);
}

void firefox_spans_deinit(struct firefox_spans *spans)
{
	free(spans->items);
	free(spans->first);
	*spans = (struct firefox_spans){0};
}
