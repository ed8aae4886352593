#include "report/latency_sums.h"

#include "base/text.h"

#include <string.h>

static bool find_class(const struct view *view, label_set_id id, unsigned *ret)
{
	const struct profile_label_set *set = profile_get_label_set(view->profile, id);

	for (uint32_t i = 0; i < set->count; i++) {
		const struct profile_label *label = &set->labels[i];

		if (!strcmp(profile_string(view->profile, label->key), LATENCY_LABEL))
			return latency_class_find(profile_string(view->profile, label->text), ret);
	}
	return false;
}

static bool is_of_calls(const struct view *view)
{
	const struct profile_event *event = profile_get_event(view->profile, view->event);

	return text_begins(profile_string(view->profile, event->name), LATENCY_EVENT) ||
	       event->kind == VALUE_WALL_TIME;
}

struct latency_sums latency_sums_of(const struct view *view)
{
	struct latency_sums sums = {.first = LATENCY_CLASSES};
	struct profile_samples samples = profile_samples(view->profile);
	unsigned class_number;

	for (uint64_t i = 0; is_of_calls(view) && i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		if (!view_has(view, sample) || !find_class(view, sample->labels, &class_number))
			continue;
		sums.calls[class_number] += sample->samples;
		sums.count += sample->samples;
		if (class_number < sums.first)
			sums.first = class_number;
		if (class_number > sums.last)
			sums.last = class_number;
	}
	return sums;
}

unsigned latency_sums_quantile(const struct latency_sums *sums, double share)
{
	uint64_t rank = (uint64_t)(share * (double)(sums->count - 1)), calls = 0;
	unsigned class_number = sums->first;

	for (; class_number < sums->last; class_number++) {
		calls += sums->calls[class_number];
		if (calls > rank)
			break;
	}
	return class_number;
}
