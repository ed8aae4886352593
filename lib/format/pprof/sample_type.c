#include "format/pprof/sample_type.h"

const char *pprof_type_name(const struct profile *profile, event_id id)
{
	const struct profile_event *event = profile_get_event(profile, id);
	bool is_cpu = event->kind == VALUE_CPU_TIME && id == 0 && !event->unit;

	return is_cpu ? "cpu" : profile_string(profile, event->name);
}

uint64_t pprof_type_period(const struct profile *profile, event_id id)
{
	const struct profile_samples all_samples = profile_samples(profile);
	const struct profile_event *event = profile_get_event(profile, id);
	uint64_t samples = 0, weight = 0;

	if (event->period)
		return event->period;
	if (value_is_time(event->kind) && event->frequency_hz)
		return UINT64_C(1000000000) / event->frequency_hz;
	for (uint64_t i = 0; i < all_samples.count; i++) {
		const struct profile_sample *sample = &all_samples.items[i];

		samples += sample->event == id ? sample->samples : 0;
		weight += sample->event == id ? sample->weight : 0;
	}
	return samples && weight > samples ? weight / samples : 1;
}

bool pprof_values_fit(const struct profile *profile)
{
	const struct profile_samples samples = profile_samples(profile);

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		if (sample->samples > INT64_MAX || sample->weight > INT64_MAX)
			return false;
	}
	return true;
}
