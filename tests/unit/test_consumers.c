/*
 * Tests the contract of consumers.h: the moments that the recorder reports to
 * its consumers and their order, and what the rows of the table do with a
 * record, a rotation and a renewal.
 */
#include "record/consumers.h"

#include "base/alloc.h"
#include "record/recorder.h"
#include "unwind/arch.h"
#include "unwind/unwind.h"

#include "lacking.h"
#include "unit_test.h"

enum { MOMENTS_MAX = 64, PID = 1 << 29, CALLS = 0, CLOCK = 1, PERIOD = 1024 };

/* The moments reported since forget_moments(). Adjacent batches are merged. */
static struct moment moments[MOMENTS_MAX];
static size_t moment_count;

static void note_moment(const struct moment *moment)
{
	bool is_repeated = moment_count && moment->kind == BATCH_ENDS &&
			   moments[moment_count - 1].kind == BATCH_ENDS;

	assert_true(moment_count < MOMENTS_MAX);
	if (!is_repeated)
		moments[moment_count++] = *moment;
}

static void forget_moments(void)
{
	moment_count = 0;
}

/* NOLINTBEGIN: the names that the linker wants */
struct error *__real_consumers_at(struct consumers *consumers, struct moment *moment);
struct error *__wrap_consumers_at(struct consumers *consumers, struct moment *moment);
struct error *__wrap_consumers_at(struct consumers *consumers, struct moment *moment)
{
	note_moment(moment);
	return __real_consumers_at(consumers, moment);
}

void __real_consumers_tell(struct consumers *consumers, struct moment moment);
void __wrap_consumers_tell(struct consumers *consumers, struct moment moment);
void __wrap_consumers_tell(struct consumers *consumers, struct moment moment)
{
	note_moment(&moment);
	__real_consumers_tell(consumers, moment);
}
/* NOLINTEND */

#define assert_moments(...)                                                                        \
	do {                                                                                       \
		const enum moment_kind expected[] = {__VA_ARGS__};                                 \
                                                                                                   \
		assert_int_equal(moment_count, ARRAY_SIZE(expected));                              \
		for (size_t i = 0; i < moment_count; i++)                                          \
			assert_int_equal(moments[i].kind, expected[i]);                            \
	} while (0)

/* ---- What the recorder reports ---- */

struct recording {
	struct record_config config;
	struct loop *loop;
	struct recorder *recorder;
	pid_t pid;
};

static void recording_deinit(struct recording *r)
{
	recorder_free(r->recorder);
	loop_free(r->loop);
}

/* Returns false if the recorder cannot be opened here. */
static bool open_recording(struct recording *r)
{
	static char name[] = "cpu-clock", *events[] = {name};
	CLEANUP(error_cleanup) struct error *err = NULL;

	r->pid = getpid();
	r->config.events.names = events;
	r->config.events.count = 1;
	r->config.events.frequency_hz = RECORD_FREQUENCY_HZ;
	r->config.target.pids = &r->pid;
	r->config.target.pid_count = 1;
	r->config.stacks.depth = RECORD_DEPTH;
	r->config.stacks.call_graph = CALL_GRAPH_FP;
	forget_moments();
	assert_null(loop_new(&r->loop));
	assert_null(recorder_new(&r->config, NULL, &r->recorder));
	err = recorder_open(r->recorder, r->loop, -1);
	return !err;
}

static bool start(struct recording *r)
{
	if (!open_recording(r))
		return false;
	assert_null(recorder_start(r->recorder));
	forget_moments();
	return true;
}

TEST(a_recording_is_told_from_its_session_to_its_end)
{
	struct recording r = {0};

	if (!open_recording(&r)) {
		recording_deinit(&r);
		RETURN_LACKING("no right to sample");
	}
	assert_moments(SESSION_BEGINS, RECORDING_OPENS);
	forget_moments();
	assert_null(recorder_start(r.recorder));
	assert_int_equal(moments[0].kind, TARGET_BEGINS);
	assert_false(moments[0].has_executed);
	assert_int_equal(moments[moment_count - 1].kind, SAMPLING_RESUMES);
	forget_moments();
	recorder_stop(r.recorder);
	assert_moments(SAMPLING_STOPS, BATCH_ENDS, RECORDS_END);
	assert_false(moments[2].was_paused);
	forget_moments();
	recording_deinit(&r);
	assert_moments(RECORDING_CLOSES);
}

/* Counters stop before the last records are read. Later times in records are
 * not counted. */
TEST(a_pause_is_told_before_and_after_its_last_records)
{
	CLEANUP(recording_deinit) struct recording r = {0};

	if (!start(&r))
		RETURN_LACKING("no right to sample");
	recorder_pause(r.recorder);
	assert_moments(SAMPLING_IS_OFF, BATCH_ENDS, SAMPLING_PAUSES);
	assert_int_equal(moments[2].now_ns, recorder_window(r.recorder).end_ns);
	forget_moments();
	assert_null(recorder_resume(r.recorder));
	assert_int_equal(moments[0].kind, BATCH_ENDS);
	assert_int_equal(moments[moment_count - 1].kind, SAMPLING_RESUMES);
	forget_moments();
	recorder_stop(r.recorder);
	assert_true(moments[2].was_paused);
}

TEST(a_recording_that_starts_paused_pauses_instead_of_resuming)
{
	CLEANUP(recording_deinit) struct recording r = {.config.control.starts_paused = true};

	if (!open_recording(&r))
		RETURN_LACKING("no right to sample");
	forget_moments();
	assert_null(recorder_start(r.recorder));
	assert_moments(TARGET_BEGINS, SAMPLING_PAUSES);
}

TEST(a_rotation_settles_the_profile_and_begins_another)
{
	CLEANUP(recording_deinit) struct recording r = {0};
	CLEANUP(profile_cleanup) struct profile *finished = NULL;
	struct recorder_window window;

	if (!start(&r))
		RETURN_LACKING("no right to sample");
	finished = recorder_rotate(r.recorder, &window);
	assert_moments(SETTLES, PROFILE_BEGINS);
	assert_true(moments[0].profile_ends);
	assert_int_equal(moments[0].now_ns, window.end_ns);
	assert_ptr_equal(moments[1].finished, finished);
}

TEST(a_renewal_begins_another_session_whose_profile_has_no_former)
{
	CLEANUP(recording_deinit) struct recording r = {0};

	if (!start(&r))
		RETURN_LACKING("no right to sample");
	recorder_renew(r.recorder);
	assert_moments(SETTLES, SESSION_ENDS, SESSION_BEGINS, PROFILE_BEGINS);
	assert_true(moments[0].profile_ends);
	assert_null(moments[3].finished);
}

/* Called in a forked child, which has nothing more to report. */
TEST(a_snapshot_settles_and_does_no_more)
{
	CLEANUP(recording_deinit) struct recording r = {0};

	if (!start(&r))
		RETURN_LACKING("no right to sample");
	recorder_settle_end(r.recorder);
	assert_moments(SETTLES);
	assert_true(moments[0].profile_ends && !moments[0].in_place);
	forget_moments();
	recorder_settle(r.recorder);
	assert_moments(SETTLES);
	assert_false(moments[0].profile_ends);
	forget_moments();
	recorder_settle_time(r.recorder);
	assert_moments(SETTLES);
	assert_true(moments[0].in_place && !moments[0].profile_ends);
}

/* ---- What the rows do ---- */

struct fixture {
	struct record_config config;
	struct event events[2];
	struct sampling sampling;
	struct pipeline pipeline;
	struct consumers consumers;
};

static void open_pipeline(struct fixture *f)
{
	pipeline_open(&f->pipeline,
		      &(struct pipeline_options){.arch = arch_native(), .depth = RECORD_DEPTH});
	for (size_t i = 0; i < ARRAY_SIZE(f->events); i++)
		session_add_event(f->pipeline.session, &(struct profile_event){0});
	consumers_tell(&f->consumers, (struct moment){.kind = SESSION_BEGINS});
}

static void set_up_consumers(struct fixture *f)
{
	forget_moments();
	f->sampling.events = f->events;
	f->sampling.event_count = ARRAY_SIZE(f->events);
	f->consumers.options = (struct consumers_options){
		.config = &f->config, .sampling = &f->sampling, .pipeline = &f->pipeline};
	f->consumers.accounting.unsampled =
		unsampled_new(&(struct unsampled_options){.event_count = ARRAY_SIZE(f->events)});
	open_pipeline(f);
}

static void fixture_deinit(struct fixture *f)
{
	consumers_tell(&f->consumers, (struct moment){.kind = RECORDING_CLOSES});
	pipeline_close(&f->pipeline);
}

static struct record sample_of(unsigned event)
{
	return (struct record){
		.type = RECORD_SAMPLE, .pid = PID, .tid = PID, .sample.event = event};
}

static struct record allocation(void)
{
	return (struct record){
		.type = RECORD_ALLOC,
		.pid = PID,
		.tid = PID,
		.allocation = {.address = 0x100000, .size_bytes = 4096, .period_bytes = PERIOD},
	};
}

/* All consumers except the unsampled-time accounting are missing. */
TEST(consumers_that_are_missing_leave_records_to_the_session)
{
	CLEANUP(fixture_deinit) struct fixture f = {0};
	struct record sample = sample_of(CALLS), block = allocation();

	set_up_consumers(&f);
	assert_null(f.consumers.memory);
	assert_null(f.consumers.latencies);
	consumers_see(&f.consumers, &sample);
	assert_false(consumers_feed(&f.consumers, &sample));
	assert_false(consumers_feed(&f.consumers, &block));
	consumers_feed_again(&f.consumers, &sample);
}

/* In the table, memory follows the calls and gets what they do not take. */
TEST(a_sample_that_measures_calls_is_for_nobody_else)
{
	CLEANUP(fixture_deinit)
	struct fixture f = {.events[CALLS].measures_calls = true,
			    .config.memory.alloc_period = PERIOD};
	struct record call = sample_of(CALLS), clock = sample_of(CLOCK), block = allocation();

	set_up_consumers(&f);
	assert_true(consumers_feed(&f.consumers, &call));
	assert_false(consumers_feed(&f.consumers, &clock));
	assert_false(consumers_feed(&f.consumers, &block));
	assert_int_equal(memory_counts(f.consumers.memory).samples, 1);
}

TEST(blocks_live_on_in_a_rotation_and_not_in_a_renewal)
{
	CLEANUP(fixture_deinit) struct fixture f = {.config.memory.alloc_period = PERIOD};
	CLEANUP(profile_cleanup) struct profile *finished = NULL;
	struct record block = allocation();
	uint64_t live_bytes;

	set_up_consumers(&f);
	consumers_feed(&f.consumers, &block);
	live_bytes = memory_counts(f.consumers.memory).live_bytes;
	assert_true(live_bytes > 0);
	finished = pipeline_rotate(&f.pipeline);
	consumers_tell(&f.consumers, (struct moment){.kind = PROFILE_BEGINS, .finished = finished});
	assert_int_equal(memory_counts(f.consumers.memory).live_bytes, live_bytes);
	assert_int_equal(memory_counts(f.consumers.memory).samples, 0);
	consumers_tell(&f.consumers, (struct moment){.kind = SESSION_ENDS});
	assert_null(f.consumers.memory);
	pipeline_close(&f.pipeline);
	open_pipeline(&f);
	consumers_tell(&f.consumers, (struct moment){.kind = PROFILE_BEGINS});
	assert_int_equal(memory_counts(f.consumers.memory).live_bytes, 0);
}

/* The counts until then are subtracted from values that are read later. */
TEST(a_rotation_begins_the_counters_at_zero)
{
	CLEANUP(fixture_deinit) struct fixture f = {.consumers.stat.now.values[0] = 7};

	set_up_consumers(&f);
	consumers_tell(&f.consumers, (struct moment){.kind = PROFILE_BEGINS});
	assert_int_equal(f.consumers.stat.before.values[0], 7);
}
