#include "record/waiting.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/pids.h"
#include "perf/threads.h"
#include "proc/process_links.h"
#include "record/switch_stacks.h"
#include "record/targets.h"
#include "record/waiting_refusal.h"
#include "record/waits.h"
#include "record/wakers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* Minimum polling interval. Each poll reads all rings. */
enum { LEAST_TICK_NS = 200000 };

struct waiting {
	struct waiting_options options;
	struct waits *waits;
	struct wakers *wakers;		     /* NULL if not recorded */
	struct switch_stacks *switch_stacks; /* NULL if snapshots are not refused, or after the
						limit was exceeded */
	struct loop_watch *wakeups, *leavings;
	bool has_begun, has_ended, is_paused;
	bool told_refusal;
};

/* ---- Opening ---- */

/* Waiting threads are polled as often as running threads are sampled. */
static uint64_t tick_ns(const struct record_config *config)
{
	uint64_t ns = NS_PER_SECOND / (config->events.frequency_hz ? config->events.frequency_hz
								   : RECORD_FREQUENCY_HZ);

	return ns < LEAST_TICK_NS ? LEAST_TICK_NS : ns;
}

/* Used for processes that refuse snapshots. */
static void open_switch_stacks(struct waiting *waiting)
{
	const struct waiting_options *options = &waiting->options;
	CLEANUP(free_ptr) char *text = NULL;

	waiting->switch_stacks = switch_stacks_open(options->config, options->pmus);
	if (!waiting->switch_stacks)
		return;
	text = waiting_refusal("/proc", switch_stacks_refused(waiting->switch_stacks), true);
	if (text)
		listener_problem(options->listener, "%s", text);
	waiting->told_refusal = true;
}

/* Registers the callbacks of the loop. */
static struct error *record_waiting_watch(struct waiting *waiting)
{
	const struct waiting_options *options = &waiting->options;
	struct error *err = NULL;

	if (waiting->wakers)
		err = loop_watch(options->loop, wakers_fd(waiting->wakers), options->step,
				 options->user, &waiting->wakeups);
	if (!err && waiting->switch_stacks)
		err = loop_watch(options->loop, switch_stacks_fd(waiting->switch_stacks),
				 options->step, options->user, &waiting->leavings);
	return err;
}

/* The critical path needs wakers. Without them, it follows only joins and locks
 * that name their holder. */
static void record_waiting_try_wakers(struct waiting *waiting)
{
	const struct waiting_options *options = &waiting->options;
	CLEANUP(error_cleanup)
	struct error *err = wakers_open(options->config, &waiting->wakers);

	if (err)
		listener_problem(options->listener,
				 "the critical path follows only joins and locks with a known "
				 "holder: %s",
				 error_text(err));
}

static struct error *record_waiting_open_all(struct waiting *waiting)
{
	const struct waiting_options *options = &waiting->options;
	const struct record_config *config = options->config;
	struct error *err = NULL;

	waiting->waits = waits_new(
		&(struct waits_options){
			.tick_ns = tick_ns(config),
			.least_ns = config->waiting.least_ns,
			.event = options->event,
			.scripts = options->scripts,
			.has_elapsed = config->waiting.records_elapsed,
			.finds_critical_path = config->waiting.finds_critical_path,
			.critical_thread = config->waiting.critical_thread,
			.wants_kernel_stacks = geteuid() == 0 && !config->events.exclude_kernel,
			.follows_forks = config->target.inherit,
			.ignores_idle = config->waiting.ignores_idle,
		},
		options->pipeline->session);
	if (!waiting->waits)
		return error_new("cannot start the thread that takes thread snapshots");
	open_switch_stacks(waiting);
	if (config->waiting.records_wakers)
		err = wakers_open(config, &waiting->wakers);
	else if (config->waiting.finds_critical_path)
		record_waiting_try_wakers(waiting);
	return err ? err : record_waiting_watch(waiting);
}

struct error *waiting_open(const struct waiting_options *options, struct waiting **ret)
{
	struct waiting *waiting;
	struct error *err;

	*ret = NULL;
	if (!options->config->waiting.is_recorded)
		return NULL;
	waiting = xcalloc(1, sizeof(*waiting));
	waiting->options = *options;
	err = record_waiting_open_all(waiting);
	if (err)
		waiting_close(waiting);
	else
		*ret = waiting;
	return err;
}

static void end_switch_stacks(struct waiting *waiting)
{
	loop_unwatch(waiting->options.loop, STEAL(waiting->leavings));
	switch_stacks_free(STEAL(waiting->switch_stacks));
}

void waiting_close(struct waiting *waiting)
{
	if (!waiting)
		return;
	loop_unwatch(waiting->options.loop, waiting->wakeups);
	end_switch_stacks(waiting);
	wakers_free(waiting->wakers);
	waits_free(waiting->waits);
	free(waiting);
}

/* ---- Start and end ---- */

static bool is_kernel_thread(pid_t pid)
{
	CLEANUP(free_ptr) char *links = process_links("/proc", pid);
	CLEANUP(free_ptr) char *link = xasprintf("%s/exe", links);
	char path[1];

	return readlink(link, path, sizeof(path)) < 0 && errno == ENOENT;
}

static void record_waiting_add_process(struct waiting *waiting, pid_t pid, uint64_t start_ns)
{
	CLEANUP(thread_list_deinit) struct thread_list threads = {0};

	/* The process may have exited already. */
	error_free(thread_list_add_process(&threads, pid));
	for (size_t i = 0; i < threads.count; i++)
		waits_add_thread(waiting->waits, pid, threads.items[i], start_ns);
}

static void record_waiting_add_all_processes(struct waiting *waiting, uint64_t start_ns)
{
	CLEANUP(close_dir) DIR *proc = opendir("/proc");

	for (pid_t pid; (pid = pids_next(proc));)
		if (!is_kernel_thread(pid))
			record_waiting_add_process(waiting, pid, start_ns);
}

/* A command does not exist before its exec, unless the recording starts
 * late. */
static void record_waiting_add_target(struct waiting *waiting, uint64_t start_ns)
{
	const struct record_config *config = waiting->options.config;

	if (config->target.command && !config->target.commands_later &&
	    (config->control.delay_ns || config->control.starts_paused))
		record_waiting_add_process(waiting, config->target.command, start_ns);
	for (size_t i = 0; i < config->target.pid_count; i++)
		if (i < config->target.pid_count - config->target.found_count ||
		    !is_kernel_thread(config->target.pids[i]))
			record_waiting_add_process(
				waiting, process_of_thread(config->target.pids[i]), start_ns);
	for (size_t i = 0; i < config->target.tid_count; i++)
		waits_add_thread(waiting->waits, process_of_thread(config->target.tids[i]),
				 config->target.tids[i], start_ns);
	if (record_config_is_system(config))
		record_waiting_add_all_processes(waiting, start_ns);
}

/* Feeds records of other rings, which are merged with the main records by
 * time. */
static void feed_others(struct waiting *waiting, uint64_t until_ns)
{
	const struct pipeline *pipeline = waiting->options.pipeline;

	if (waiting->wakers)
		wakers_feed(waiting->wakers, until_ns, pipeline, waiting->waits);
	if (waiting->switch_stacks)
		switch_stacks_feed(waiting->switch_stacks, until_ns, pipeline->session,
				   waiting->waits);
}

void waiting_begin(struct waiting *waiting, uint64_t start_ns)
{
	if (!waiting)
		return;
	waiting->has_begun = true;
	record_waiting_add_target(waiting, start_ns);
}

void waiting_add_process(struct waiting *waiting, pid_t pid, uint64_t start_ns)
{
	if (waiting && !is_kernel_thread(pid))
		record_waiting_add_process(waiting, pid, start_ns);
}

struct error *waiting_resume(struct waiting *waiting, uint64_t now_ns)
{
	struct error *err = NULL;

	if (!waiting)
		return NULL;
	waiting->is_paused = false;
	waits_resume(waiting->waits, now_ns);
	if (waiting->wakers)
		err = wakers_enable(waiting->wakers);
	if (!err && waiting->switch_stacks)
		err = switch_stacks_enable(waiting->switch_stacks);
	return err;
}

void waiting_pause(struct waiting *waiting, uint64_t now_ns)
{
	if (!waiting)
		return;
	waiting->is_paused = true;
	if (waiting->wakers)
		wakers_disable(waiting->wakers);
	if (waiting->switch_stacks)
		switch_stacks_pause(waiting->switch_stacks);
	feed_others(waiting, UINT64_MAX);
	waits_pause(waiting->waits, now_ns);
}

void waiting_end(struct waiting *waiting)
{
	if (!waiting)
		return;
	waiting->has_ended = true;
	loop_unwatch(waiting->options.loop, STEAL(waiting->wakeups));
	loop_unwatch(waiting->options.loop, STEAL(waiting->leavings));
	if (waiting->wakers)
		wakers_disable(waiting->wakers);
	if (waiting->switch_stacks)
		switch_stacks_disable(waiting->switch_stacks);
}

/* ---- Records ---- */

void waiting_feed(struct waiting *waiting, const struct record *record)
{
	if (!waiting || !waiting->has_begun)
		return;
	if (record->type == RECORD_SWITCH)
		feed_others(waiting, record->time_ns);
	waits_feed(waiting->waits, record);
}

void waiting_feed_again(struct waiting *waiting, const struct record *record)
{
	if (waiting && waiting->has_begun)
		waits_feed_again(waiting->waits, record);
}

static void limit_switch_stacks(struct waiting *waiting, uint64_t now_ns)
{
	if (!waiting->switch_stacks || waiting->has_ended ||
	    !switch_stacks_are_too_many(waiting->switch_stacks, now_ns))
		return;
	end_switch_stacks(waiting);
	listener_problem(waiting->options.listener,
			 "off-CPU stacks are off from here on: more than %d context switches/s "
			 "per CPU",
			 SWITCH_STACKS_PER_SECOND);
}

/* Reports only the first process, because the reason is the same for most. */
static void tell_refusal(struct waiting *waiting)
{
	pid_t pid = waits_take_refused(waiting->waits);
	CLEANUP(free_ptr)
	char *text = pid && !waiting->told_refusal ? waiting_refusal("/proc", pid, false) : NULL;

	if (!text)
		return;
	waiting->told_refusal = true;
	listener_problem(waiting->options.listener, "%s", text);
}

static void tell_lost_wakeups(const struct waiting *waiting)
{
	uint64_t lost = waiting->wakers ? wakers_lost(waiting->wakers) : 0;

	if (lost)
		listener_notice(waiting->options.listener,
				"%" PRIu64
				" wakeups on this machine were lost: some waits have no waker",
				lost);
}

uint64_t waiting_end_batch(struct waiting *waiting, uint64_t now_ns, uint64_t complete_ns)
{
	uint64_t next_ns;

	if (!waiting || !waiting->has_begun)
		return 0;
	feed_others(waiting, waiting->has_ended || waiting->is_paused ? UINT64_MAX : complete_ns);
	limit_switch_stacks(waiting, now_ns);
	next_ns = waits_tick(waiting->waits, clock_now_ns(), complete_ns);
	tell_refusal(waiting);
	if (waiting->has_ended)
		tell_lost_wakeups(waiting);
	return next_ns;
}

/* ---- Results ---- */

void waiting_settle(struct waiting *waiting, uint64_t now_ns, bool is_end)
{
	CLEANUP(free_ptr) char *problem = NULL;

	if (!waiting)
		return;
	waits_settle(waiting->waits, now_ns, is_end);
	problem = waits_critical_path_problem(waiting->waits);
	if (problem)
		listener_problem(waiting->options.listener, "%s", problem);
}

void waiting_begin_profile(struct waiting *waiting)
{
	if (waiting)
		waits_begin_profile(waiting->waits, waiting->options.pipeline->session);
}

struct waiting_quality waiting_quality(const struct waiting *waiting)
{
	return waiting ? waits_quality(waiting->waits) : (struct waiting_quality){0};
}
