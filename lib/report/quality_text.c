#include "report/quality_text.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "profile/memory_events.h"
#include "report/view.h"
#include "report/waiting.h"

#include <string.h>

static char *part(const char *what, uint64_t count, uint64_t whole)
{
	if (!count)
		return xasprintf(", 0 %s", what);
	return xasprintf(", %s %s (%s)", humanize_count(count).text, what,
			 humanize_share(count, whole).text);
}

/* What is worth a word only if it happened. */
static char *counted(uint64_t count, const char *what)
{
	return count ? xasprintf(", %s %s", humanize_count(count).text, what) : xstrdup("");
}

/* Each thread lacks the end of its last period, which is too little to be worth a word. */
enum { UNSAMPLED_SHARE = 100 };

static char *unsampled(const struct event_quality *event)
{
	uint64_t rest = quality_unsampled(event);

	return rest * UNSAMPLED_SHARE >= event->counted && rest
		       ? xasprintf(", %s not sampled", humanize_share(rest, event->counted).text)
		       : xstrdup("");
}

char *quality_memory_text(const struct profile_quality *quality)
{
	const struct event_quality *event = quality_of_event(quality,
							     memory_event_name(MEMORY_ALLOC_SPACE));
	CLEANUP(free_ptr) char *lost = NULL;
	CLEANUP(free_ptr) char *truncated = NULL;
	CLEANUP(free_ptr) char *unnamed = NULL;

	if (!event)
		return NULL;
	lost = part("lost", event->lost, event->samples + event->lost);
	truncated = part("truncated", event->truncated, event->samples);
	unnamed = part("without a symbol", event->unnamed, event->samples);
	return xasprintf("%s sampled allocations%s%s%s", humanize_count(event->samples).text, lost,
			 truncated, unnamed);
}

char *quality_text(const struct profile_quality *quality)
{
	uint64_t samples = quality->samples;
	CLEANUP(free_ptr) char *memory = samples ? NULL : quality_memory_text(quality);
	CLEANUP(free_ptr) char *lost = part("lost", quality->lost, samples + quality->lost);
	CLEANUP(free_ptr)
	char *changes = counted(quality->lost_changes, "records of processes lost");
	CLEANUP(free_ptr) char *truncated = part("truncated", quality->truncated, samples);
	CLEANUP(free_ptr)
	char *completed = counted(quality->completed, "completed from the live stack");
	CLEANUP(free_ptr) char *spliced = counted(quality->spliced, "completed by frame pointers");
	CLEANUP(free_ptr) char *unnamed = part("without a symbol", quality->unnamed, samples);
	CLEANUP(free_ptr)
	char *compat = quality->compat ? part("of 32-bit processes", quality->compat, samples)
				       : xstrdup("");
	CLEANUP(free_ptr)
	char *shortened = counted(quality->shortened, "without their middle");
	CLEANUP(free_ptr)
	char *idle = counted(quality->idle, "of idle CPUs left out");
	CLEANUP(free_ptr)
	char *throttled = quality->throttled ? xasprintf(", throttled %s times by the kernel",
							 humanize_count(quality->throttled).text)
					     : xstrdup("");

	CLEANUP(free_ptr)
	char *missing = quality->event_count == 1 ? unsampled(quality->events) : xstrdup("");

	if (memory)
		return STEAL(memory);
	return xasprintf("%s samples%s%s%s%s%s%s%s%s%s%s%s", humanize_count(samples).text, lost,
			 changes, truncated, completed, spliced, unnamed, compat, shortened,
			 throttled, idle, missing);
}

bool quality_is_of_waiting(const struct profile_quality *quality)
{
	return quality->waiting.threads && !quality->samples;
}

char *quality_headline(const struct profile_info *info)
{
	if (*info->headline)
		return xstrdup(info->headline);
	if (quality_is_of_waiting(&info->quality))
		return waiting_text(&info->quality.waiting);
	return info->quality.is_known ? quality_text(&info->quality) : xstrdup("");
}

char *quality_counted_text(const struct profile *profile, event_id event)
{
	const struct profile_event *counted = profile_get_event(profile, event);
	const char *name = profile_string(profile, counted->name);
	const struct event_quality *quality = quality_of_event(&profile_get_info(profile)->quality,
							       name);
	bool is_time = counted->kind == VALUE_CPU_TIME;
	struct humanized total;
	uint64_t whole;
	const char *what;

	if (!quality || !quality->counted)
		return NULL;
	total = profile_humanize_weight(profile, event, quality->counted);
	what = is_time ? "of CPU time" : name;
	/* Estimates of a total by samples are above it as often as below. */
	if (quality->sampled > quality->counted)
		return xasprintf("%s %s; %s samples add up to %s", total.text, what,
				 is_time ? "its" : "their",
				 profile_humanize_weight(profile, event, quality->sampled).text);
	/* As in the rows: [kernel] and [not sampled] may add up to more than what is missing. */
	whole = view_event_sum(profile, event).weight;
	return xasprintf("%s %s, %s of %s sampled", total.text, what,
			 humanize_share(quality->sampled,
					whole > quality->counted ? whole : quality->counted)
				 .text,
			 is_time ? "it" : "them");
}

char *quality_event_headline(const struct profile *profile, event_id event)
{
	const struct profile_info *info = profile_get_info(profile);
	const struct event_quality *quality;
	CLEANUP(free_ptr) char *truncated = NULL;
	CLEANUP(free_ptr) char *unnamed = NULL;
	CLEANUP(free_ptr) char *missing = NULL;
	const char *name;

	if (profile_event_count(profile) < 2)
		return quality_headline(info);
	name = profile_string(profile, profile_get_event(profile, event)->name);
	if (*info->headline)
		return xasprintf("%s: %s", name, info->headline);
	quality = quality_of_event(&info->quality, name);
	if (!quality)
		return xstrdup(name);
	truncated = part("truncated", quality->truncated, quality->samples);
	unnamed = part("without a symbol", quality->unnamed, quality->samples);
	missing = unsampled(quality);
	return xasprintf("%s: %s samples%s%s%s", name, humanize_count(quality->samples).text,
			 truncated, unnamed, missing);
}
