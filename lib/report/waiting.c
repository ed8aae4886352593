#include "report/waiting.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/humanize.h"

#include <stdio.h>
#include <string.h>

/*
 * The leaf of time in which a thread was runnable. The first must equal the
 * name in waiting/reason.h; earlier versions wrote the second.
 */
static const char waiting_runnable[] = "[runnable]";
static const char waiting_runnable_before[] = "[wanted a CPU]";

/* The share is reported only if it is below this one. */
#define LEAST_SEEN 0.99

static bool is_in_ns(const struct profile *profile, event_id event, enum value_kind kind)
{
	return profile_get_event(profile, event)->kind == kind &&
	       value_scaled(kind, profile_event_unit(profile, event), 1) == 1;
}

bool waiting_event(const struct profile *profile, event_id *ret)
{
	for (event_id i = 0; i < profile_event_count(profile); i++) {
		string_id name = profile_get_event(profile, i)->name;

		if (!strcmp(profile_string(profile, name), VALUE_OFF_CPU_EVENT) &&
		    is_in_ns(profile, i, VALUE_OFF_CPU_TIME)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

bool waiting_adds_to(const struct profile *profile, event_id event, event_id *waiting)
{
	return event < profile_event_count(profile) && is_in_ns(profile, event, VALUE_CPU_TIME) &&
	       waiting_event(profile, waiting);
}

bool waiting_is_runnable(const char *name)
{
	return !strcmp(name, waiting_runnable) || !strcmp(name, waiting_runnable_before);
}

static bool waiting_is_runnable_stack(const struct profile *profile, stack_id stack)
{
	struct profile_frame frame = profile_get_frame(profile,
						       profile_stacks(profile).items[stack].frame);

	return frame.module == PROFILE_SYNTHETIC &&
	       waiting_is_runnable(profile_string(profile, (string_id)frame.offset));
}

static bool find_cpu_event(const struct profile *profile, event_id *ret)
{
	for (*ret = 0; *ret < profile_event_count(profile); ++*ret)
		if (is_in_ns(profile, *ret, VALUE_CPU_TIME))
			return true;
	return false;
}

static bool sum_samples(const struct profile *profile, struct waiting_quality *ret)
{
	const struct profile_samples samples = profile_samples(profile);
	event_id cpu, waiting;

	*ret = (struct waiting_quality){0};
	if (!waiting_event(profile, &waiting) || !find_cpu_event(profile, &cpu))
		return false;
	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		if (sample->event == cpu)
			ret->running_ns += sample->weight;
		else if (sample->event == waiting &&
			 waiting_is_runnable_stack(profile, sample->stack))
			ret->wanted_ns += sample->weight;
		else if (sample->event == waiting)
			ret->waiting_ns += sample->weight;
	}
	ret->thread_ns = ret->running_ns + ret->wanted_ns + ret->waiting_ns;
	return true;
}

bool waiting_sums(const struct profile *profile, struct waiting_quality *ret)
{
	const struct waiting_quality *recorded = &profile_get_info(profile)->quality.waiting;

	if (!recorded->threads)
		return sum_samples(profile, ret);
	*ret = *recorded;
	return true;
}

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_SECOND;
}

char *waiting_text(const struct waiting_quality *sums)
{
	/*
	 * The parts have as many digits as the whole, so that they visibly add
	 * up.
	 */
	int digits = sums->thread_ns >= 1000 * NS_PER_SECOND ? 0
		     : sums->thread_ns >= 10 * NS_PER_SECOND ? 1
		     : sums->thread_ns >= NS_PER_SECOND	     ? 2
							     : 3;

	return xasprintf("%.*f thread-seconds: %.*f on CPU, %.*f runnable, %.*f waiting", digits,
			 seconds(sums->thread_ns), digits, seconds(sums->running_ns), digits,
			 seconds(sums->wanted_ns), digits, seconds(sums->waiting_ns));
}

/* Adds ", 3.0 % was …", or nothing for 0. */
static void put_part(FILE *out, uint64_t part_ns, const struct waiting_quality *sums,
		     const char *what)
{
	if (part_ns)
		fprintf(out, ", %s %s", humanize_share(part_ns, sums->waiting_ns).text, what);
}

char *waiting_places_text(const struct waiting_quality *sums)
{
	char *text = NULL;
	size_t len;
	FILE *out;

	if (!sums->threads || (double)sums->proved_ns >= LEAST_SEEN * (double)sums->waiting_ns +
								 (double)sums->frameless_ns)
		return NULL;
	out = open_memstream(&text, &len);
	fprintf(out, "%s of the waiting time has a stack read during the wait",
		humanize_share(sums->proved_ns, sums->waiting_ns).text);
	put_part(out, sums->spread_ns, sums, "is attributed to other waits of the same threads");
	put_part(out, sums->sampled_ns, sums, "has a stack from the context switch");
	put_part(out, sums->placeless_ns, sums, "has no stack");
	put_part(out, sums->frameless_ns, sums, "lacks its Python frames");
	fclose(out);
	return text;
}

char *waiting_left_out_text(const struct waiting_quality *sums)
{
	if (!sums->left_out_ns)
		return NULL;
	return xasprintf("%s of waiting were omitted: short waits or idle threads",
			 humanize_time(sums->left_out_ns).text);
}
