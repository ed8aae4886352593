#include "record/stat_counting.h"

#include "perf/target_counters.h"

void stat_counting_open(struct stat_counting *counting, const struct record_config *config,
			const struct sampling *sampling)
{
	struct target target = sampling_target(config);

	if (!config->output.counts_stat)
		return;
	counting->starts_at_exec = config->target.command && !record_config_starts_late(config);
	counting->counters = target_counters_open(&target, &sampling->pmus, stat_counter_names,
						  STAT_COUNTERS, counting->starts_at_exec);
}

void stat_counting_close(struct stat_counting *counting)
{
	target_counters_free(counting->counters);
	*counting = (struct stat_counting){0};
}

void stat_counting_enable(struct stat_counting *counting)
{
	if (counting->counters && !counting->starts_at_exec)
		target_counters_enable(counting->counters);
}

void stat_counting_disable(struct stat_counting *counting)
{
	/* The exec has taken place. */
	counting->starts_at_exec = false;
	if (counting->counters)
		target_counters_disable(counting->counters);
}

void stat_counting_settle(struct stat_counting *counting)
{
	uint64_t value;

	for (size_t i = 0; counting->counters && i < STAT_COUNTERS; i++) {
		counting->now.is_known[i] = target_counters_read(counting->counters, i, &value);
		counting->now.values[i] = value - counting->before.values[i];
	}
}

void stat_counting_begin_profile(struct stat_counting *counting)
{
	for (size_t i = 0; i < STAT_COUNTERS; i++)
		counting->before.values[i] += counting->now.values[i];
}
