#include "cmd/record_plan.h"

#include "base/alloc.h"
#include "cmd/ui/message.h"

#include <inttypes.h>
#include <stdlib.h>

static char *rate_of(const struct profile_event *event)
{
	if (event->frequency_hz)
		return xasprintf(" at %" PRIu64 " Hz", event->frequency_hz);
	return event->period ? xasprintf(", one in %" PRIu64, event->period) : xstrdup("");
}

static char *target_of(const struct recording *recording)
{
	const struct record_config *config = &recording->config;

	if (config->command)
		return xasprintf("the command %s", recording->command[0]);
	if (config->choice && config->choice->cgroup_count == 1)
		return xasprintf("the processes of %s, %zu by now", config->choice->cgroups[0],
				 config->pid_count);
	if (config->choice && config->choice->cgroup_count)
		return xasprintf("the processes of %zu cgroups, %zu by now",
				 config->choice->cgroup_count, config->pid_count);
	if (config->choice)
		return xasprintf("the processes with the name, %zu by now", config->pid_count);
	if (config->pid_count)
		return xasprintf("%zu processes, from PID %d", config->pid_count, config->pids[0]);
	if (config->tid_count)
		return xasprintf("%zu threads, from TID %d", config->tid_count, config->tids[0]);
	return xstrdup(config->cpu_count ? "chosen CPUs" : "the whole machine");
}

void record_say_plan(const struct recording *recording, const struct outputs *outputs)
{
	const struct profile *profile = recorder_pipeline(recording->recorder)->profile;
	CLEANUP(free_ptr) char *target = target_of(recording);

	message("would record %s", target);
	for (event_id i = 0; i < profile_event_count(profile); i++) {
		const struct profile_event *event = profile_get_event(profile, i);
		CLEANUP(free_ptr) char *rate = rate_of(event);

		message("would sample %s%s", profile_string(profile, event->name), rate);
	}
	for (size_t i = 0; i < outputs->count; i++)
		message("would write %s (%s)", outputs->items[i].path,
			outputs->items[i].format->name);
}
