#include "cmd/record/record_plan.h"

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

/* Counts the processes that match a rule. */
static char *record_plan_matches(const struct record_config *config)
{
	return config->target.choice ? xasprintf(", %zu by now", config->target.pid_count)
				     : xstrdup("");
}

void record_say_plan(const struct recording *recording, const struct outputs *outputs)
{
	const struct profile *profile = recorder_pipeline(recording->recorder)->profile;
	CLEANUP(free_ptr) char *matches = record_plan_matches(&recording->config);

	message("would record %s%s", recording->title, matches);
	for (event_id i = 0; i < profile_event_count(profile); i++) {
		const struct profile_event *event = profile_get_event(profile, i);
		CLEANUP(free_ptr) char *rate = rate_of(event);

		message("would sample %s%s", profile_string(profile, event->name), rate);
	}
	for (size_t i = 0; i < outputs->count; i++)
		message("would write %s (%s)", outputs->items[i].path,
			outputs->items[i].format->name);
}
