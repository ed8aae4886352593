#include "record/waits.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "record/elapsed.h"
#include "record/wait_stacks.h"
#include "waiting/pollers.h"
#include "waiting/reason.h"
#include "waiting/thread_times.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	/* If nothing happened for some time, the next poll follows after this
	 * fraction of that time. */
	QUIET_SHARE = 4,
	/* The maximum time between two polls. */
	PAUSE_MS_MAX = 100,
	/* Snapshots may take this share of a CPU. */
	LOOKS_SHARE = 10,
	/* A burst allowance, so that thousands of threads get a snapshot
	 * without delay. */
	LOOKS_BURST_MS = 300,
	/*
	 * The assumed cost of a snapshot, of the frames of an interpreter, and of
	 * copying a stack. Not measured, because snapshots take longer on a busy
	 * machine without costing more.
	 */
	THREAD_SNAPSHOT_COST_NS = 10000,
	SCRIPT_COST_NS = 15000,
	COPIED_PER_NS = 2,
	/* Limit for the measured time of unwinding a snapshot. Walks that take
	 * longer read files for the first time. */
	WALK_MS_MAX = 2,
	/* Limit for the total size of large stack copies in progress. */
	ASKED_BYTES_MAX = 32 << 20,
};

/* A thread that has not run. Its whole life is one wait. */
struct idle {
	struct wait_part part;
	label_set_id labels;
	stack_id stack;
};

struct waits {
	struct waits_options options;
	struct session *session;
	struct pollers *pollers;
	struct thread_times *times;
	struct elapsed *elapsed; /* NULL if not recorded */
	struct waiting_quality quality;

	/* Ring of the threads with a pending request, in order. */
	uint32_t asked[POLLERS_ROOM];
	unsigned asked_first, asked_count;
	size_t asked_bytes; /* total size of their large stack copies */
	const struct thread_snapshot
		*snapshot;	  /* taken, but records up to its end are not complete yet */
	struct idmap frameless;	  /* stacks without the functions of their script */
	struct idmap stack_bytes; /* (tid, 0) → size of the copy for a large stack */

	bool is_paused;
	uint64_t round_ns, next_round_ns;
	uint64_t whole_round_ns; /* last poll that no limit has cut short */
	uint64_t active_ns;	 /* last time at which something happened */
	int64_t budget_ns;	 /* remaining time for snapshots */
	pid_t refused;		 /* see waits_take_refused() */

	struct idle *idle; /* used while the end is settled */
	size_t idle_count, idle_room;
	uint64_t ignored_ns; /* omitted time of idle threads */
};

static void record_waits_add_part(void *user, const struct wait_part *part);

struct waits *waits_new(const struct waits_options *options, struct session *session)
{
	struct pollers *pollers = pollers_new(options->scripts);
	struct waits *waits;

	if (!pollers)
		return NULL;
	waits = xcalloc(1, sizeof(*waits));
	waits->options = *options;
	waits->session = session;
	waits->pollers = pollers;
	waits->times = thread_times_new(options->least_ns,
					(struct wait_sink){record_waits_add_part, waits});
	if (options->has_elapsed)
		waits->elapsed = elapsed_new(session, options->finds_critical_path,
					     options->critical_thread);
	waits->round_ns = waits->whole_round_ns = clock_now_ns();
	waits_pause(waits, waits->round_ns);
	waits->budget_ns = LOOKS_BURST_MS * (int64_t)NS_PER_MS;
	return waits;
}

void waits_free(struct waits *waits)
{
	if (!waits)
		return;
	pollers_free(waits->pollers);
	thread_times_free(waits->times);
	elapsed_free(waits->elapsed);
	idmap_deinit(&waits->frameless);
	idmap_deinit(&waits->stack_bytes);
	free(waits->idle);
	free(waits);
}

void waits_pause(struct waits *waits, uint64_t now_ns)
{
	waits->is_paused = true;
	thread_times_pause(waits->times, now_ns);
	elapsed_pause(waits->elapsed, now_ns);
}

void waits_resume(struct waits *waits, uint64_t now_ns)
{
	waits->is_paused = false;
	/* Ignores the time since the last poll, because nothing was polled in
	 * the pause. */
	waits->round_ns = waits->whole_round_ns = waits->active_ns = now_ns;
	waits->next_round_ns = now_ns;
	thread_times_resume(waits->times, now_ns);
	elapsed_resume(waits->elapsed, now_ns);
}

/* ---- Results ---- */

static stack_id record_waits_stack_of(struct waits *waits, const struct wait_part *part)
{
	stack_id stack = part->place;

	if (part->kind == WAIT_RUNNABLE)
		return wait_stack_wanting_cpu(waits->session,
					      stack == PLACE_UNKNOWN ? STACK_EMPTY : stack,
					      stack != PLACE_UNKNOWN && !part->was_running);
	if (stack == PLACE_UNKNOWN)
		stack = wait_stack_of_reason(waits->session, "");
	return part->is_woken ? wait_stack_woken(waits->session, stack, part->waker) : stack;
}

static void record_waits_count(struct waits *waits, const struct wait_part *part)
{
	struct waiting_quality *quality = &waits->quality;
	uint64_t *sums[] = {
		[WAIT_PROVED] = &quality->proved_ns,   [WAIT_SAMPLED] = &quality->sampled_ns,
		[WAIT_SPREAD] = &quality->spread_ns,   [WAIT_PLACELESS] = &quality->placeless_ns,
		[WAIT_RUNNABLE] = &quality->wanted_ns,
	};

	*sums[part->kind] += part->weight_ns;
	if (part->kind == WAIT_RUNNABLE)
		return;
	quality->waiting_ns += part->weight_ns;
	if (idmap_get(&waits->frameless, part->place, 0) != IDMAP_NONE)
		quality->frameless_ns += part->weight_ns;
}

static void record_waits_put_sample(struct waits *waits, const struct wait_part *part,
				    label_set_id labels, stack_id stack)
{
	struct profile *profile = session_profile(waits->session);
	struct profile_interval interval = {
		.start_ns = part->start_ns,
		.end_ns = part->end_ns,
		.weight = part->weight_ns,
	};

	record_waits_count(waits, part);
	interval.sample = profile_add_samples(profile, labels, stack,
					      session_events(waits->session)[waits->options.event],
					      part->count, part->weight_ns);
	profile_add_interval(profile, &interval);
}

static label_set_id record_waits_labels_of(struct waits *waits, const struct wait_part *part)
{
	struct profile *profile = session_profile(waits->session);
	const struct profile_thread *first;
	const char *name;

	if (part->tid >= 0)
		return session_labels(waits->session, part->pid, part->tid);
	first = profile_thread_of(profile, session_labels(waits->session, part->pid, part->pid));
	name = profile_string(profile, first->process);
	return profile_thread_labels(profile, part->pid, -1, name, name);
}

static void record_waits_add_part(void *user, const struct wait_part *part)
{
	struct waits *waits = user;
	stack_id stack = record_waits_stack_of(waits, part);
	label_set_id labels;

	elapsed_feed_wait(waits->elapsed, part, stack);
	if (waits->options.ignores_idle && part->is_idle) {
		waits->ignored_ns += part->weight_ns;
		return;
	}
	labels = record_waits_labels_of(waits, part);
	if (!part->has_not_run) {
		record_waits_put_sample(waits, part, labels, stack);
		return;
	}
	GROW(waits->idle, waits->idle_count, waits->idle_room);
	waits->idle[waits->idle_count++] =
		(struct idle){.part = *part, .labels = labels, .stack = stack};
}

static int by_process_and_place(const void *a, const void *b)
{
	const struct wait_part *left = &((const struct idle *)a)->part;
	const struct wait_part *right = &((const struct idle *)b)->part;

	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	if (left->place != right->place)
		return left->place < right->place ? -1 : 1;
	return (left->tid > right->tid) - (left->tid < right->tid);
}

/* Uses one pseudo thread for several threads that waited at the same place:
 * "worker × 498 threads". */
static void put_idle_threads(struct waits *waits, const struct idle *first, size_t count)
{
	struct profile *profile = session_profile(waits->session);
	const struct profile_thread *thread = profile_thread_of(profile, first->labels);
	CLEANUP(free_ptr) char *process = xstrdup(profile_string(profile, thread->process));
	CLEANUP(free_ptr)
	char *name = xasprintf("%s × %zu threads", profile_string(profile, thread->name), count);
	label_set_id labels = profile_thread_labels(profile, first->part.pid, -1, process, name);

	for (size_t i = 0; i < count; i++)
		record_waits_put_sample(waits, &first[i].part, labels, first[i].stack);
}

static void put_idle(struct waits *waits)
{
	size_t first = 0;

	if (waits->idle_count)
		qsort(waits->idle, waits->idle_count, sizeof(*waits->idle), by_process_and_place);
	while (first < waits->idle_count) {
		const struct wait_part *part = &waits->idle[first].part;
		size_t end = first + 1;

		while (end < waits->idle_count && waits->idle[end].part.pid == part->pid &&
		       waits->idle[end].part.place == part->place)
			end++;
		if (end - first == 1)
			record_waits_put_sample(waits, part, waits->idle[first].labels,
						waits->idle[first].stack);
		else
			put_idle_threads(waits, &waits->idle[first], end - first);
		first = end;
	}
	waits->idle_count = 0;
}

void waits_settle(struct waits *waits, uint64_t now_ns, bool is_end)
{
	const struct thread_times_sums *sums = thread_times_sums(waits->times);
	struct waiting_quality *quality = &waits->quality;

	elapsed_begin_settling(waits->elapsed, now_ns);
	thread_times_settle(waits->times, now_ns, is_end);
	elapsed_settle(waits->elapsed, now_ns, is_end);
	put_idle(waits);
	quality->threads = sums->threads;
	quality->thread_ns = sums->lives_ns;
	quality->running_ns = sums->running_ns;
	quality->left_out_ns = sums->left_out_ns + waits->ignored_ns;
}

void waits_begin_profile(struct waits *waits, struct session *session)
{
	waits->session = session;
	waits->quality = (struct waiting_quality){0};
	waits->ignored_ns = 0;
	idmap_deinit(&waits->frameless);
	thread_times_forget_places(waits->times);
	elapsed_begin_profile(waits->elapsed, session);
}

char *waits_critical_path_problem(const struct waits *waits)
{
	return elapsed_path_problem(waits->elapsed);
}

struct waiting_quality waits_quality(const struct waits *waits)
{
	return waits->quality;
}

/* ---- Records ---- */

/* Ignores prof's own threads. */
static void begin_thread(struct waits *waits, pid_t pid, pid_t tid, pid_t creator, uint64_t time_ns,
			 enum thread_begin begin)
{
	if (pid == getpid())
		return;
	thread_times_begin(waits->times, pid, tid, time_ns, begin);
	elapsed_begin_thread(waits->elapsed, pid, tid, creator, time_ns);
}

void waits_add_thread(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns)
{
	begin_thread(waits, pid, tid, 0, time_ns, THREAD_IS_THERE);
}

void waits_feed(struct waits *waits, const struct record *record)
{
	struct thread_times *times = waits->times;

	/* The waits that this record ends claim silences that it ends. */
	elapsed_feed(waits->elapsed, record);
	switch (record->type) {
	case RECORD_SWITCH:
		waits->active_ns = record->time_ns;
		thread_times_switch(times, record->tid, record->time_ns, record->switched.is_out,
				    record->switched.is_preempted);
		break;
	case RECORD_FORK:
		if (!record->fork.existing && waits->options.follows_forks)
			begin_thread(waits, record->pid, record->tid, record->fork.parent_tid,
				     record->time_ns, THREAD_IS_FORKED);
		break;
	case RECORD_EXIT:
		thread_times_end(times, record->tid, record->time_ns);
		idmap_remove(&waits->stack_bytes, (uint64_t)record->tid, 0);
		break;
	case RECORD_COMM:
		if (record->comm.exec)
			thread_times_exec(times, record->pid, record->tid, record->time_ns);
		break;
	case RECORD_LOST:
		if (record->lost.what != LOST_SWITCHES)
			break;
		waits->quality.lost += record->lost.count;
		thread_times_lost(times, record->time_ns);
		break;
	default:
		break;
	}
}

void waits_feed_again(struct waits *waits, const struct record *record)
{
	if (record->type == RECORD_SAMPLE)
		thread_times_sampled(waits->times, record->tid, record->time_ns,
				     session_last_stack(waits->session));
	elapsed_feed_again(waits->elapsed, record);
}

void waits_feed_leaving(struct waits *waits, pid_t tid, uint64_t time_ns, stack_id stack,
			bool lacks_script)
{
	stack_id place = wait_stack_of_sample(waits->session, stack);

	if (lacks_script)
		*idmap_put(&waits->frameless, place, 0) = 1;
	thread_times_sampled(waits->times, tid, time_ns, stack);
	thread_times_leaves(waits->times, tid, place);
}

bool waits_know(const struct waits *waits, pid_t tid)
{
	return thread_times_knows(waits->times, tid);
}

void waits_feed_wakeup(struct waits *waits, pid_t woken, uint64_t time_ns, stack_id waker,
		       pid_t waker_tid)
{
	elapsed_feed_wakeup(waits->elapsed, woken, time_ns, waker_tid);
	thread_times_woken(waits->times, woken, time_ns, waker);
}

/* ---- Snapshots ---- */

static void record_waits_take_place(struct waits *waits, uint32_t thread,
				    const struct thread_snapshot *snapshot)
{
	const struct lock_holder *holder = &snapshot->holder;
	bool knows_holder = holder->pc && thread_times_waited(waits->times, holder->tid,
							      holder->begin_ns, holder->end_ns);
	struct wait_stack stack = wait_stack_of(waits->session, waits->options.scripts, snapshot,
						knows_holder);

	if (holder->kind != LOCK_UNKNOWN)
		elapsed_feed_holder(waits->elapsed, snapshot->request.tid, snapshot->begin_ns,
				    holder->tid, holder->kind == LOCK_JOIN ? 0 : holder->address);
	if (stack.lacks_script)
		*idmap_put(&waits->frameless, stack.stack, 0) = 1;
	if (!stack.lacks_bytes && !stack.needs_script) {
		thread_times_looked(waits->times, thread, LOOKED_PLACE, stack.stack,
				    snapshot->run_delay_ns);
		return;
	}
	if (stack.lacks_bytes)
		*idmap_put(&waits->stack_bytes, (uint64_t)snapshot->request.tid,
			   0) = stack.lacks_bytes;
	thread_times_looked(waits->times, thread, LOOKED_NOTHING, PLACE_UNKNOWN, 0);
}

static void take_thread_snapshot(struct waits *waits, const struct thread_snapshot *snapshot)
{
	uint32_t thread = waits->asked[waits->asked_first];
	bool has_waited = thread_times_has_waited(waits->times, thread, snapshot->end_ns);
	enum thread_snapshot_outcome outcome = snapshot->result == THREAD_SNAPSHOT_RUNS
						       ? LOOKED_RUNS
						       : LOOKED_NOTHING;
	bool is_refused = snapshot->result == THREAD_SNAPSHOT_REFUSED ||
			  snapshot->result == THREAD_SNAPSHOT_HANGS;

	waits->asked_first = (waits->asked_first + 1) % POLLERS_ROOM;
	waits->asked_count--;
	waits->asked_bytes -= snapshot->request.stack_bytes;
	if (snapshot->result == THREAD_SNAPSHOT_REFUSED)
		waits->refused = snapshot->request.pid;
	if (has_waited && snapshot->result == THREAD_SNAPSHOT_WAITS)
		record_waits_take_place(waits, thread, snapshot);
	else if (has_waited && is_refused)
		thread_times_looked(waits->times, thread, LOOKED_PLACELESS,
				    wait_stack_of_reason(waits->session, snapshot->reason), 0);
	else
		thread_times_looked(waits->times, thread, outcome, PLACE_UNKNOWN, 0);
}

static void spend_budget(struct waits *waits, const struct thread_snapshot *snapshot,
			 uint64_t walk_ns)
{
	if (walk_ns > WALK_MS_MAX * NS_PER_MS)
		walk_ns = WALK_MS_MAX * NS_PER_MS;
	waits->budget_ns -= THREAD_SNAPSHOT_COST_NS +
			    (snapshot->tried_script ? SCRIPT_COST_NS : 0) +
			    (int64_t)snapshot->stack_len / COPIED_PER_NS + (int64_t)walk_ns;
}

static void take_looks(struct waits *waits, uint64_t complete_ns)
{
	while (waits->snapshot || (waits->snapshot = pollers_take(waits->pollers))) {
		uint64_t cpu_ns = clock_thread_cpu_ns();

		if (waits->snapshot->end_ns > complete_ns)
			return;
		take_thread_snapshot(waits, waits->snapshot);
		spend_budget(waits, waits->snapshot, clock_thread_cpu_ns() - cpu_ns);
		waits->snapshot = NULL;
	}
}

static void record_waits_ask(struct waits *waits, const struct wait_due *due)
{
	uint32_t bytes = idmap_get(&waits->stack_bytes, (uint64_t)due->tid, 0);
	struct thread_snapshot_request request = {
		.pid = due->pid,
		.tid = due->tid,
		.since_ns = due->since_ns,
		.stack_bytes = bytes == IDMAP_NONE ? 0 : bytes,
		.wants_kernel_stack = waits->options.wants_kernel_stacks,
	};

	waits->asked[(waits->asked_first + waits->asked_count++) % POLLERS_ROOM] = due->thread;
	waits->asked_bytes += request.stack_bytes;
	pollers_ask(waits->pollers, &request);
}

static bool may_ask(const struct waits *waits)
{
	return waits->asked_count < POLLERS_ROOM && waits->asked_bytes < ASKED_BYTES_MAX &&
	       waits->budget_ns > 0;
}

static void grow_budget(struct waits *waits, uint64_t now_ns)
{
	int64_t most_ns = LOOKS_BURST_MS * (int64_t)NS_PER_MS;

	waits->budget_ns += (int64_t)(now_ns - waits->round_ns) / LOOKS_SHARE;
	if (waits->budget_ns > most_ns)
		waits->budget_ns = most_ns;
}

/* Requests snapshots of all waiting threads that have none yet, within the
 * limits. */
static void ask_for_looks(struct waits *waits, uint64_t now_ns)
{
	uint64_t interval_ns = now_ns - waits->whole_round_ns;
	struct wait_due due;

	thread_times_begin_round(waits->times, now_ns);
	while (may_ask(waits)) {
		if (!thread_times_next_due(waits->times, now_ns, interval_ns, &due)) {
			waits->whole_round_ns = now_ns;
			return;
		}
		waits->active_ns = now_ns;
		record_waits_ask(waits, &due);
	}
}

static void begin_round(struct waits *waits, uint64_t now_ns)
{
	uint64_t pause_ns;

	grow_budget(waits, now_ns);
	ask_for_looks(waits, now_ns);
	pause_ns = (now_ns - waits->active_ns) / QUIET_SHARE;
	if (pause_ns > PAUSE_MS_MAX * NS_PER_MS)
		pause_ns = PAUSE_MS_MAX * NS_PER_MS;
	if (pause_ns < waits->options.tick_ns)
		pause_ns = waits->options.tick_ns;
	waits->round_ns = now_ns;
	waits->next_round_ns = now_ns + pause_ns;
}

uint64_t waits_tick(struct waits *waits, uint64_t now_ns, uint64_t complete_ns)
{
	uint64_t ready_ns;

	take_looks(waits, complete_ns);
	if (waits->is_paused)
		return 0;
	if (now_ns >= waits->next_round_ns)
		begin_round(waits, now_ns);
	if (!waits->snapshot)
		return waits->next_round_ns;
	/* At this time the records up to the end of the snapshot will be
	 * complete. */
	ready_ns = waits->snapshot->end_ns + (now_ns - complete_ns);
	return ready_ns < waits->next_round_ns ? ready_ns : waits->next_round_ns;
}

pid_t waits_take_refused(struct waits *waits)
{
	pid_t refused = waits->refused;

	waits->refused = 0;
	return refused;
}
