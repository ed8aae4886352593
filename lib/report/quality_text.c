#include "report/quality_text.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "profile/memory_events.h"
#include "report/view.h"
#include "report/waiting.h"

#include <stdio.h>
#include <string.h>

static void quality_text_put_count(FILE *out, const struct quality_count *count, uint64_t value,
				   uint64_t samples)
{
	int before = (int)strcspn(count->text, "#");

	fprintf(out, ", %.*s%s%s", before, count->text, humanize_count(value).text,
		count->text + before + 1);
	if (value && count->flags & COUNT_SHARE)
		fprintf(out, " (%s)", humanize_share(value, samples).text);
	if (value && count->flags & COUNT_SHARE_BESIDE)
		fprintf(out, " (%s)", humanize_share(value, samples + value).text);
}

/*
 * Returns ", 0 lost, 3 truncated (0.1 %), …": counts that are not 0, and those
 * that matter even if they are 0. The caller frees it.
 */
static char *counts_text(const struct quality_count *count, const void *quality, uint64_t samples)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (; count->key; count++) {
		uint64_t value = quality_count_value(quality, count);

		if (count->text && (value || count->flags & COUNT_ALWAYS))
			quality_text_put_count(out, count, value, samples);
	}
	fclose(out);
	return text;
}

/*
 * Each thread lacks the end of its last period, which is too little to report.
 */
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
	CLEANUP(free_ptr) char *counts = NULL;

	if (!event)
		return NULL;
	counts = counts_text(event_quality_counts, event, event->samples);
	return xasprintf("%s sampled allocations%s%s", humanize_count(event->samples).text,
			 event->lost ? "" : ", 0 lost", counts);
}

char *quality_text(const struct profile_quality *quality)
{
	CLEANUP(free_ptr) char *memory = quality->samples ? NULL : quality_memory_text(quality);
	CLEANUP(free_ptr)
	char *counts = counts_text(profile_quality_counts, quality, quality->samples);
	CLEANUP(free_ptr)
	char *missing = quality->event_count == 1 ? unsampled(quality->events) : xstrdup("");

	if (memory)
		return STEAL(memory);
	return xasprintf("%s samples%s%s", humanize_count(quality->samples).text, counts, missing);
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
	/* An estimate from samples can exceed the true total. */
	if (quality->sampled > quality->counted)
		return xasprintf("%s %s; %s samples add up to %s", total.text, what,
				 is_time ? "its" : "their",
				 profile_humanize_weight(profile, event, quality->sampled).text);
	/*
	 * [kernel] and [not sampled] may add up to more than what is missing;
	 * the rows do the same.
	 */
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
	CLEANUP(free_ptr) char *counts = NULL;
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
	counts = counts_text(event_quality_counts, quality, quality->samples);
	missing = unsampled(quality);
	return xasprintf("%s: %s samples%s%s", name, humanize_count(quality->samples).text, counts,
			 missing);
}
