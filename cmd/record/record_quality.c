#include "cmd/record/record_quality.h"

#include "cmd/ui/message.h"

#include <string.h>

/* Returns what the condition is a share of. */
static const char *whole_of(const struct fail_condition *condition)
{
	if (!strcmp(condition->what, "unsampled"))
		return "what the kernel counted";
	return !strcmp(condition->what, "placeless") ? "the waiting time" : "the samples";
}

bool record_is_poor(const struct fail_conditions *conditions, const struct quality *quality)
{
	bool is_poor = false;

	for (size_t i = 0; i < conditions->count; i++) {
		const struct fail_condition *condition = &conditions->items[i];
		double share;

		if (!quality_share(quality, condition->what, &share) || share <= condition->limit)
			continue;
		is_poor = true;
		message("%s: %.1f %% of %s, which is more than %g %%", condition->what, share * 100,
			whole_of(condition), condition->limit * 100);
	}
	return is_poor;
}

static bool samples_clock(const struct recording *recording)
{
	const struct profile *profile = recorder_pipeline(recording->recorder)->profile;

	return profile_get_event(profile, 0)->kind == VALUE_CPU_TIME;
}

const char *record_unsampled_hint(const struct recording *recording,
				  const struct profile_quality *counts)
{
	const struct sampler_facts *facts = recorder_facts(recording->recorder);
	bool is_command = recording->is_of_command;

	if (recorder_lost_execs(recording->recorder)->count)
		return NULL; /* record_say_end() has printed the reason */
	if (counts->lost)
		return "mostly lost samples";
	if (counts->throttled)
		return "mostly while the kernel paused sampling: lower -F, or raise "
		       "kernel.perf_cpu_time_max_percent";
	if (facts->is_tree)
		return NULL; /* only chance */
	if (!facts->descriptors)
		return "mostly of processes that ended before their first sample, or that did not "
		       "load prof's library";
	if (!facts->kernel_excluded && !samples_clock(recording))
		return "mostly of processes with fewer events than the sampling period: raise -F, "
		       "or set a smaller period with -c";
	if (!facts->kernel_excluded)
		return is_command ? "mostly of processes that ended before their first sample: "
				    "raise -F, or sample whole CPUs, which sudo sysctl "
				    "kernel.perf_event_paranoid=0 allows"
				  : "mostly of children that ended before their first sample, and "
				    "what threads did after their last one: raise -F";
	return is_command ? "of processes that ended before their first sample, [kernel] is time "
			    "in the kernel"
			  : "mostly time in the kernel, as [kernel] is";
}
