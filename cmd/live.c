#include "cmd/live.h"

/* A picture of ten seconds or so: a busy second an hour ago is nobody's business any more. */
#define HALF_LIFE_NS UINT64_C(5000000000)

/* Some 100 MB with all that belongs to them. */
enum { MOST_ENTRIES = 500000, MOST_MODULES = 5000 };

static void go_on_reading(void *user)
{
	struct live *live = user;

	if (live->reads_on)
		recording_drain(&live->recording);
}

static void open_symbolizer(struct live *live)
{
	live->symbolizer = symbolizer_new(live->recording.profile, live->recording.spaces,
					  &(struct symbolize_options){
						  .debug_dir = live->debug_dir,
						  .proc = "/proc",
						  .threads = 1,
						  .inlines = !live->no_inline,
						  .again = true,
						  .between = go_on_reading,
						  .user = live,
					  });
}

void live_open(struct live *live)
{
	live->recent = recent_new(HALF_LIFE_NS);
	live->refreshed_ns = live->recording.start_ns;
	open_symbolizer(live);
}

void live_close(struct live *live)
{
	symbolizer_free(live->symbolizer);
	recent_free(live->recent);
	recording_close(&live->recording);
}

static bool is_large(const struct live *live)
{
	const struct profile *profile = live->recording.profile;

	return profile_cell_count(profile) + profile_stack_count(profile) +
			       profile_frame_count(profile) >
		       MOST_ENTRIES ||
	       spaces_module_count(live->recording.spaces) > MOST_MODULES;
}

static void renew(struct live *live)
{
	live->before = live_counts(live);
	symbolizer_free(live->symbolizer);
	recording_renew(&live->recording);
	open_symbolizer(live);
	recent_start_over(live->recent);
}

static void name_new_frames(struct live *live, bool reads_on)
{
	struct symbolize_outcome outcome;

	live->reads_on = reads_on;
	session_finish(live->recording.session);
	symbolizer_run(live->symbolizer, &outcome);
	symbolize_outcome_deinit(&outcome);
}

void live_refresh(struct live *live)
{
	uint64_t now_ns = live->recording.end_ns;

	name_new_frames(live, true);
	/* Those that came meanwhile are few. */
	name_new_frames(live, false);
	recent_advance(live->recent, live->recording.profile, now_ns - live->refreshed_ns);
	live->refreshed_ns = now_ns;
	if (is_large(live))
		renew(live);
}

void live_skip(struct live *live)
{
	recent_skip(live->recent, live->recording.profile);
	live->refreshed_ns = live->recording.end_ns;
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
	struct session_counts counts = *session_counts(live->recording.session);

	counts.samples += live->before.samples;
	counts.lost += live->before.lost;
	counts.throttled += live->before.throttled;
	counts.truncated += live->before.truncated;
	return counts;
}
