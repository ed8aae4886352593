#include "cmd/top/live_view.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/humanize.h"
#include "base/trusted_user.h"

/* With this half-life the view shows about the last ten seconds. */
#define HALF_LIFE_NS UINT64_C(5000000000)

/*
 * Limits of a profile and of the number of modules, together about 30 MB. The
 * limit grows with the number of CPUs, because a large machine could otherwise
 * exceed it between two refreshes and would then start a new profile each time.
 */
enum { PROFILE_BYTES = 14 << 20, PROFILE_BYTES_OF_CPU = 1 << 20, MODULES_MAX = 5000 };

static void live_view_read_records(void *user)
{
	struct live *live = user;

	if (live->reads_on)
		recorder_drain(live->recording.recorder);
}

static const struct pipeline *live_view_pipeline_of(const struct live *live)
{
	return recorder_pipeline(live->recording.recorder);
}

static void open_symbolizer(struct live *live)
{
	live->symbolizer = symbolizer_new(live_view_pipeline_of(live)->profile,
					  live_view_pipeline_of(live)->spaces,
					  &(struct symbolize_options){
						  .proc = "/proc",
						  .threads = 1,
						  .symbols = live->symbols,
						  .again = true,
						  .between = live_view_read_records,
						  .user = live,
						  .caller = sudo_caller(),
					  });
}

void live_open(struct live *live)
{
	live->recent = recent_new(HALF_LIFE_NS);
	live->refreshed_ns = recorder_window(live->recording.recorder).start_ns;
	open_symbolizer(live);
}

void live_close(struct live *live)
{
	symbolizer_free(live->symbolizer);
	recent_free(live->recent);
	recording_deinit(&live->recording);
}

static bool has_many_modules(const struct live *live)
{
	return address_spaces_module_count(live_view_pipeline_of(live)->spaces) > MODULES_MAX;
}

static bool has_large_profile(const struct live *live)
{
	size_t cpus = recorder_facts(live->recording.recorder)->cpus;

	return profile_memory_bytes(live_view_pipeline_of(live)->profile) >
	       PROFILE_BYTES + cpus * PROFILE_BYTES_OF_CPU;
}

/* Returns the counts since the start. */
static struct session_counts live_counts(const struct live *live)
{
	struct session_counts counts = *session_counts(live_view_pipeline_of(live)->session);

	session_counts_add(&counts, &live->before);
	return counts;
}

static struct waiting_quality live_waiting(const struct live *live)
{
	struct waiting_quality sums = recorder_waiting(live->recording.recorder);

	waiting_quality_add(&sums, &live->waited_before);
	return sums;
}

/* Returns the event that shows CPU time: a clock, or else the first event. */
static event_id live_clock(const struct profile *profile)
{
	for (event_id i = 0; i < profile_event_count(profile); i++)
		if (profile_get_event(profile, i)->kind == VALUE_CPU_TIME)
			return i;
	return 0;
}

static struct live_use live_use_of(const struct profile *profile)
{
	const struct profile_samples samples = profile_samples(profile);
	struct live_use use = {0};
	event_id clock = live_clock(profile);

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		if (sample->event != clock)
			continue;
		use.samples += sample->samples;
		use.weight += sample->weight;
		use.sampled += sample->samples ? sample->weight : 0;
	}
	return use;
}

/* The weights of a clock can be scaled down after a sample. */
static uint64_t live_growth(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

static void live_measure_use(struct live *live, uint64_t now_ns)
{
	const struct live_use before = live->use;

	live->use = live_use_of(live_view_pipeline_of(live)->profile);
	live->recent_use = (struct live_use){
		.samples = live_growth(before.samples, live->use.samples),
		.weight = live_growth(before.weight, live->use.weight),
		.sampled = live_growth(before.sampled, live->use.sampled),
	};
	live->recent_ns = now_ns - live->refreshed_ns;
}

/* Starts a new profile. Address spaces, files and symbols are kept. */
static void live_view_rotate(struct live *live)
{
	struct recorder_window window;

	live->before = live_counts(live);
	live->waited_before = live_waiting(live);
	profile_free(recorder_rotate(live->recording.recorder, &window));
	symbolizer_set_profile(live->symbolizer, live_view_pipeline_of(live)->profile);
	live->use = (struct live_use){0};
	recent_start_over(live->recent);
}

/* Starts a new profile and new address spaces. */
static void live_view_renew(struct live *live)
{
	live->before = live_counts(live);
	live->waited_before = live_waiting(live);
	symbolizer_free(live->symbolizer);
	recorder_renew(live->recording.recorder);
	open_symbolizer(live);
	live->use = (struct live_use){0};
	recent_start_over(live->recent);
}

static void symbolize_new_frames(struct live *live, bool reads_on)
{
	struct symbolize_outcome outcome;

	live->reads_on = reads_on;
	session_finish(live_view_pipeline_of(live)->session);
	symbolizer_run(live->symbolizer, &outcome);
	symbolize_outcome_deinit(&outcome);
}

void live_refresh(struct live *live)
{
	uint64_t now_ns;

	recorder_drain(live->recording.recorder);
	recorder_settle_time(live->recording.recorder);
	now_ns = recorder_window(live->recording.recorder).end_ns;
	live_measure_use(live, now_ns);
	symbolize_new_frames(live, true);
	/* Symbolizes the few frames of records that were read in between. */
	symbolize_new_frames(live, false);
	recent_advance(live->recent, live_view_pipeline_of(live)->profile,
		       now_ns - live->refreshed_ns);
	live->refreshed_ns = now_ns;
	if (has_many_modules(live))
		live_view_renew(live);
	else if (has_large_profile(live))
		live_view_rotate(live);
}

void live_skip(struct live *live)
{
	live->use = live_use_of(live_view_pipeline_of(live)->profile);
	recent_skip(live->recent, live_view_pipeline_of(live)->profile);
	live->refreshed_ns = recorder_window(live->recording.recorder).end_ns;
}

void live_forget(struct live *live)
{
	recent_clear(live->recent);
	live_skip(live);
}

const struct profile *live_profile(const struct live *live)
{
	return recent_profile(live->recent);
}

char *live_summary(const struct live *live)
{
	const struct profile_quality counts = live_counts(live).quality;

	return xasprintf("%s samples, %s lost", humanize_count(counts.samples).text,
			 humanize_count(counts.lost + live_waiting(live).lost).text);
}

char *live_load(const struct live *live)
{
	const struct profile *profile = live_view_pipeline_of(live)->profile;
	const struct profile_event *clock = profile_get_event(profile, live_clock(profile));
	const struct live_use *use = &live->recent_use;
	unsigned cpus = recorder_facts(live->recording.recorder)->cpus;
	double seconds = (double)live->recent_ns / NS_PER_SECOND;
	uint64_t sampled = use->sampled < use->weight ? use->sampled : use->weight;

	if (!live->recent_ns)
		return NULL;
	if (clock->kind != VALUE_CPU_TIME)
		return clock->frequency_hz
			       ? xasprintf("about %.1f of %u CPUs busy",
					   (double)use->samples / (double)clock->frequency_hz /
						   seconds,
					   cpus)
			       : NULL;
	if (!use->weight)
		return xasprintf("0 of %u CPUs busy", cpus);
	return xasprintf("%.2f of %u CPUs busy, %s sampled",
			 (double)use->weight / NS_PER_SECOND / seconds, cpus,
			 humanize_share(sampled, use->weight).text);
}

char *live_times(const struct live *live)
{
	const struct waiting_quality sums = live_waiting(live);

	if (!live->recording.config.waiting.is_recorded)
		return NULL;
	return xasprintf("%s on CPU, %s runnable, %s waiting", humanize_time(sums.running_ns).text,
			 humanize_time(sums.wanted_ns).text, humanize_time(sums.waiting_ns).text);
}
