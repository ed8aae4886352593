#include "record/consumers.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "unwind/arch.h"

#include <assert.h>
#include <stdlib.h>

/* Each member may be NULL. */
struct consumer {
	struct error *(*at)(struct consumers *all, struct moment *moment);
	void (*see)(struct consumers *all, const struct record *record);
	bool (*feed)(struct consumers *all, struct record *record);
	void (*feed_again)(struct consumers *all, const struct record *record);
};

static struct error *stat_at(struct consumers *all, struct moment *moment)
{
	switch (moment->kind) {
	case RECORDING_OPENS:
		stat_counting_open(&all->stat, all->options.config, all->options.sampling);
		break;
	case SAMPLING_RESUMES:
		stat_counting_enable(&all->stat);
		break;
	case SAMPLING_IS_OFF:
	case SAMPLING_STOPS:
		stat_counting_disable(&all->stat);
		break;
	case SETTLES:
		if (!moment->in_place)
			stat_counting_settle(&all->stat);
		break;
	case PROFILE_BEGINS:
		stat_counting_begin_profile(&all->stat);
		break;
	case RECORDING_CLOSES:
		stat_counting_close(&all->stat);
		break;
	default:
		break;
	}
	return NULL;
}

static void end_batch_of_unsampled(struct consumers *all)
{
	struct unsampled *unsampled = all->accounting.unsampled;

	if (unsampled_ends_switches(unsampled, clock_now_ns()) && !all->waiting)
		recording_source_end_switches(all->options.source);
	unsampled_read_threads(unsampled, clock_now_ns());
	if (unsampled_is_full(unsampled))
		accounting_settle(&all->accounting, all->options.pipeline, false);
}

static struct error *unsampled_at(struct consumers *all, struct moment *moment)
{
	const struct consumers_options *options = &all->options;

	switch (moment->kind) {
	case RECORDING_OPENS:
		accounting_open(&all->accounting, options->config, options->sampling,
				options->source);
		break;
	case PROCESS_JOINS:
		accounting_add_process(&all->accounting, moment->pid);
		break;
	case SAMPLING_RESUMES:
		unsampled_resume(all->accounting.unsampled, moment->now_ns);
		break;
	case BATCH_ENDS:
		end_batch_of_unsampled(all);
		break;
	case SAMPLING_PAUSES:
		unsampled_pause(all->accounting.unsampled, moment->now_ns);
		break;
	case RECORDS_END:
		accounting_end(&all->accounting, moment->was_paused);
		break;
	case SETTLES:
		accounting_settle(&all->accounting, options->pipeline, true);
		break;
	case PROFILE_BEGINS:
		unsampled_begin_profile(all->accounting.unsampled);
		break;
	case RECORDING_CLOSES:
		accounting_close(&all->accounting);
		break;
	default:
		break;
	}
	return NULL;
}

static void see_unsampled(struct consumers *all, const struct record *record)
{
	unsampled_feed(all->accounting.unsampled, all->options.pipeline->names, record);
}

/* The kernel removes only events that are opened on tasks. */
static void open_execs(struct consumers *all)
{
	const struct record_config *config = all->options.config;
	const struct sampler_facts *facts = recording_source_facts(all->options.source);

	all->lost_execs = (struct lost_execs){.command = config->target.command_words};
	all->watches_execs = !record_config_is_system(config) && !facts->is_tree &&
			     !facts->follows_rule;
}

static struct error *execs_at(struct consumers *all, struct moment *moment)
{
	if (moment->kind == RECORDING_OPENS)
		open_execs(all);
	else if (moment->kind == RECORDING_CLOSES)
		lost_execs_deinit(&all->lost_execs);
	return NULL;
}

static void see_execs(struct consumers *all, const struct record *record)
{
	if (all->watches_execs)
		lost_execs_feed(&all->lost_execs, record);
}

static struct error *open_waits(struct consumers *all)
{
	const struct consumers_options *options = &all->options;

	return waiting_open(
		&(struct waiting_options){
			.config = options->config,
			.listener = options->listener,
			.pmus = &options->sampling->pmus,
			.pipeline = options->pipeline,
			.scripts = options->sampling->scripts,
			.event = (unsigned)options->sampling->event_count,
			.loop = options->loop,
			.step = options->step,
			.user = options->user,
		},
		&all->waiting);
}

static struct error *waits_at(struct consumers *all, struct moment *moment)
{
	switch (moment->kind) {
	case RECORDING_OPENS:
		return open_waits(all);
	case TARGET_BEGINS:
		waiting_begin(all->waiting, moment->now_ns);
		break;
	case PROCESS_JOINS:
		waiting_add_process(all->waiting, moment->pid, moment->now_ns);
		break;
	case SAMPLING_RESUMES:
		return waiting_resume(all->waiting, moment->now_ns);
	case BATCH_ENDS:
		moment->next_ns = waiting_end_batch(all->waiting, moment->now_ns,
						    moment->complete_ns);
		break;
	case SAMPLING_PAUSES:
		waiting_pause(all->waiting, moment->now_ns);
		break;
	case SAMPLING_STOPS:
		waiting_end(all->waiting);
		break;
	case SETTLES:
		waiting_settle(all->waiting, moment->now_ns, moment->profile_ends);
		break;
	case PROFILE_BEGINS:
		waiting_begin_profile(all->waiting);
		break;
	case RECORDING_CLOSES:
		waiting_close(STEAL(all->waiting));
		break;
	default:
		break;
	}
	return NULL;
}

static bool feed_waits(struct consumers *all, struct record *record)
{
	waiting_feed(all->waiting, record);
	return false;
}

static void feed_waits_again(struct consumers *all, const struct record *record)
{
	waiting_feed_again(all->waiting, record);
}

static struct error *open_tasks(struct consumers *all)
{
	const struct consumers_options *options = &all->options;

	return awaits_open(
		&(struct awaits_options){
			.config = options->config,
			.listener = options->listener,
			.event = (unsigned)options->sampling->event_count +
				 options->config->waiting.is_recorded +
				 options->config->waiting.records_elapsed +
				 options->config->waiting.finds_critical_path,
		},
		&all->awaits);
}

static struct error *tasks_at(struct consumers *all, struct moment *moment)
{
	switch (moment->kind) {
	case SESSION_BEGINS:
		awaits_forget_modules(all->awaits);
		break;
	case RECORDING_OPENS:
		return open_tasks(all);
	case TARGET_BEGINS:
		awaits_add_target(all->awaits, moment->has_executed);
		break;
	case PROCESS_JOINS:
		awaits_add_process(all->awaits, moment->pid);
		break;
	case SAMPLING_RESUMES:
		awaits_resume(all->awaits);
		break;
	case BATCH_ENDS:
	case SETTLES:
		awaits_settle(all->awaits, all->options.pipeline->session);
		break;
	case SAMPLING_PAUSES:
	case SAMPLING_STOPS:
		awaits_pause(all->awaits);
		break;
	case RECORDS_END:
		awaits_tell(all->awaits);
		break;
	case RECORDING_CLOSES:
		awaits_close(STEAL(all->awaits));
		break;
	default:
		break;
	}
	return NULL;
}

static bool feed_tasks(struct consumers *all, struct record *record)
{
	awaits_feed(all->awaits, record);
	return false;
}

static struct latencies *new_calls(const struct consumers_options *options)
{
	return latencies_new(&(struct latencies_options){
		.session = options->pipeline->session,
		.events = options->sampling->events,
		.event_count = options->sampling->event_count,
		.least_ns = options->config->events.least_call_ns,
		.sp_bit = arch_native()->perf_sp,
	});
}

static struct error *calls_at(struct consumers *all, struct moment *moment)
{
	switch (moment->kind) {
	case SESSION_BEGINS:
		all->latencies = new_calls(&all->options);
		break;
	case RECORDS_END:
		latencies_tell(all->latencies, all->options.listener);
		break;
	case PROFILE_BEGINS:
		latencies_begin_profile(all->latencies);
		break;
	case SESSION_ENDS:
	case RECORDING_CLOSES:
		latencies_free(STEAL(all->latencies));
		break;
	default:
		break;
	}
	return NULL;
}

static bool feed_calls(struct consumers *all, struct record *record)
{
	return latencies_feed(all->latencies, record);
}

static struct error *memory_at(struct consumers *all, struct moment *moment)
{
	const struct consumers_options *options = &all->options;

	switch (moment->kind) {
	case SESSION_BEGINS:
		if (options->config->memory.alloc_period)
			all->memory = memory_new(options->pipeline->session,
						 options->config->memory.alloc_period);
		break;
	case SETTLES:
		if (!moment->in_place)
			memory_settle(all->memory, moment->now_ns);
		break;
	case PROFILE_BEGINS:
		if (moment->finished)
			memory_begin_profile(all->memory, moment->finished);
		break;
	case SESSION_ENDS:
	case RECORDING_CLOSES:
		memory_free(STEAL(all->memory));
		break;
	default:
		break;
	}
	return NULL;
}

static bool feed_memory(struct consumers *all, struct record *record)
{
	memory_feed(all->memory, record);
	return false;
}

/* The order matters for feed(): no later consumer gets a sample that measures
 * calls. */
static const struct consumer consumers_table[] = {
	{.at = stat_at},
	{.at = unsampled_at, .see = see_unsampled},
	{.at = execs_at, .see = see_execs},
	{.at = waits_at, .feed = feed_waits, .feed_again = feed_waits_again},
	{.at = tasks_at, .feed = feed_tasks},
	{.at = calls_at, .feed = feed_calls},
	{.at = memory_at, .feed = feed_memory},
};

struct error *consumers_at(struct consumers *consumers, struct moment *moment)
{
	struct error *err = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(consumers_table) && !err; i++)
		err = consumers_table[i].at(consumers, moment);
	return err;
}

void consumers_tell(struct consumers *consumers, struct moment moment)
{
	struct error *err = consumers_at(consumers, &moment);

	assert(!err);
	error_free(err);
}

void consumers_see(struct consumers *consumers, const struct record *record)
{
	for (size_t i = 0; i < ARRAY_SIZE(consumers_table); i++)
		if (consumers_table[i].see)
			consumers_table[i].see(consumers, record);
}

bool consumers_feed(struct consumers *consumers, struct record *record)
{
	for (size_t i = 0; i < ARRAY_SIZE(consumers_table); i++)
		if (consumers_table[i].feed && consumers_table[i].feed(consumers, record))
			return true;
	return false;
}

void consumers_feed_again(struct consumers *consumers, const struct record *record)
{
	for (size_t i = 0; i < ARRAY_SIZE(consumers_table); i++)
		if (consumers_table[i].feed_again)
			consumers_table[i].feed_again(consumers, record);
}
