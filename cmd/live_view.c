#include "cmd/live_view.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "base/trusted_user.h"

/* The view shows about the last ten seconds. */
#define HALF_LIFE_NS UINT64_C(5000000000)

/*
 * Of a profile, and modules: with them some 30 MB. A machine of many CPUs adds so much between two
 * looks that with a fixed bound each would begin anew.
 */
enum { PROFILE_BYTES = 14 << 20, PROFILE_BYTES_OF_CPU = 1 << 20, MODULES_MAX = 5000 };

static void read_records(void *user)
{
	struct live *live = user;

	if (live->reads_on)
		recorder_drain(live->recording.recorder);
}

static const struct pipeline *pipeline_of(const struct live *live)
{
	return recorder_pipeline(live->recording.recorder);
}

static void open_symbolizer(struct live *live)
{
	live->symbolizer = symbolizer_new(pipeline_of(live)->profile, pipeline_of(live)->spaces,
					  &(struct symbolize_options){
						  .proc = "/proc",
						  .threads = 1,
						  .symbols = live->symbols,
						  .again = true,
						  .between = read_records,
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
	return address_spaces_module_count(pipeline_of(live)->spaces) > MODULES_MAX;
}

static bool has_large_profile(const struct live *live)
{
	size_t cpus = recorder_facts(live->recording.recorder)->cpus;

	return profile_memory_bytes(pipeline_of(live)->profile) >
	       PROFILE_BYTES + cpus * PROFILE_BYTES_OF_CPU;
}

static struct waiting_quality live_waiting(const struct live *live)
{
	struct waiting_quality sums = recorder_waiting(live->recording.recorder);
	const struct waiting_quality *before = &live->waited_before;

	sums.thread_ns += before->thread_ns;
	sums.running_ns += before->running_ns;
	sums.wanted_ns += before->wanted_ns;
	sums.waiting_ns += before->waiting_ns;
	sums.lost += before->lost;
	return sums;
}

/* Begins a new profile; address spaces, files and symbols stay. */
static void rotate(struct live *live)
{
	struct recorder_window window;

	live->before = live_counts(live);
	live->waited_before = live_waiting(live);
	profile_free(recorder_rotate(live->recording.recorder, &window));
	symbolizer_set_profile(live->symbolizer, pipeline_of(live)->profile);
	recent_start_over(live->recent);
}

/* Begins a new profile and new address spaces. */
static void renew(struct live *live)
{
	live->before = live_counts(live);
	live->waited_before = live_waiting(live);
	symbolizer_free(live->symbolizer);
	recorder_renew(live->recording.recorder);
	open_symbolizer(live);
	recent_start_over(live->recent);
}

static void symbolize_new_frames(struct live *live, bool reads_on)
{
	struct symbolize_outcome outcome;

	live->reads_on = reads_on;
	session_finish(pipeline_of(live)->session);
	symbolizer_run(live->symbolizer, &outcome);
	symbolize_outcome_deinit(&outcome);
}

void live_refresh(struct live *live)
{
	uint64_t now_ns;

	recorder_drain(live->recording.recorder);
	recorder_settle_time(live->recording.recorder);
	now_ns = recorder_window(live->recording.recorder).end_ns;
	symbolize_new_frames(live, true);
	/* The few frames of the records that were read in between. */
	symbolize_new_frames(live, false);
	recent_advance(live->recent, pipeline_of(live)->profile, now_ns - live->refreshed_ns);
	live->refreshed_ns = now_ns;
	if (has_many_modules(live))
		renew(live);
	else if (has_large_profile(live))
		rotate(live);
}

void live_skip(struct live *live)
{
	recent_skip(live->recent, pipeline_of(live)->profile);
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

struct session_counts live_counts(const struct live *live)
{
	struct session_counts counts = *session_counts(pipeline_of(live)->session);

	counts.samples += live->before.samples;
	counts.lost += live->before.lost;
	counts.throttled += live->before.throttled;
	counts.stacks.truncated += live->before.stacks.truncated;
	return counts;
}

char *live_summary(const struct live *live)
{
	const struct session_counts counts = live_counts(live);

	return xasprintf("%s samples, %s lost", humanize_count(counts.samples).text,
			 humanize_count(counts.lost + live_waiting(live).lost).text);
}

char *live_times(const struct live *live)
{
	const struct waiting_quality sums = live_waiting(live);

	if (!live->recording.config.records_waiting)
		return NULL;
	return xasprintf("%s CPU, %s wanted a CPU, %s waiting", humanize_time(sums.running_ns).text,
			 humanize_time(sums.wanted_ns).text, humanize_time(sums.waiting_ns).text);
}
