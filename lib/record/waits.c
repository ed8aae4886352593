#include "record/waits.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "record/wait_stacks.h"
#include "waiting/lookers.h"
#include "waiting/reason.h"
#include "waiting/thread_times.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	/* After a time in which nothing happened, the next round comes after this share of it … */
	QUIET_SHARE = 4,
	/* … or earlier. */
	PAUSE_MS_MAX = 100,
	/* Looks may take this share of a CPU, … */
	LOOKS_SHARE = 10,
	/* … but thousands of threads are looked at once without delay. */
	LOOKS_BURST_MS = 300,
	/* What a look costs, and how much is copied in a nanosecond. Not measured: on a busy
	 * machine looks take long, but cost no more. */
	LOOK_COST_NS = 10000,
	COPIED_PER_NS = 2,
	/* The walk up its stack is measured. One that takes longer reads files for the first time.
	 */
	WALK_MS_MAX = 2,
	/* Large stacks are copied as long as those under way have less than this. */
	ASKED_BYTES_MAX = 32 << 20,
};

/* A thread that has not run: the whole of its life is one wait. */
struct idle {
	struct wait_part part;
	label_set_id labels;
};

struct waits {
	struct waits_options options;
	struct session *session;
	struct lookers *lookers;
	struct thread_times *times;
	struct waiting_quality quality;

	/* The threads that were asked for, in order; a ring. */
	uint32_t asked[LOOKERS_ROOM];
	unsigned asked_first, asked_count;
	size_t asked_bytes;	  /* of large stacks */
	const struct look *look;  /* taken, but records up to its end have not all come */
	struct idmap stack_bytes; /* (tid, 0) → what to copy of a stack that is not small */

	bool is_paused;
	uint64_t round_ns, next_round_ns;
	uint64_t whole_round_ns; /* the last round that no bound has cut off */
	uint64_t active_ns;	 /* when something happened last */
	int64_t budget_ns;	 /* for looks */
	pid_t refused;		 /* see waits_take_refused() */

	struct idle *idle; /* while the end is settled */
	size_t idle_count, idle_room;
	uint64_t ignored_ns; /* the time of idle threads that is left out */
};

static void add_part(void *user, const struct wait_part *part);

struct waits *waits_new(const struct waits_options *options, struct session *session)
{
	struct lookers *lookers = lookers_new();
	struct waits *waits;

	if (!lookers)
		return NULL;
	waits = xcalloc(1, sizeof(*waits));
	waits->options = *options;
	waits->session = session;
	waits->lookers = lookers;
	waits->times = thread_times_new(options->least_ns, (struct wait_sink){add_part, waits});
	waits->round_ns = waits->whole_round_ns = clock_now_ns();
	waits_pause(waits, waits->round_ns);
	waits->budget_ns = LOOKS_BURST_MS * (int64_t)NS_PER_MS;
	return waits;
}

void waits_free(struct waits *waits)
{
	if (!waits)
		return;
	lookers_free(waits->lookers);
	thread_times_free(waits->times);
	idmap_deinit(&waits->stack_bytes);
	free(waits->idle);
	free(waits);
}

void waits_pause(struct waits *waits, uint64_t now_ns)
{
	waits->is_paused = true;
	thread_times_pause(waits->times, now_ns);
}

void waits_resume(struct waits *waits, uint64_t now_ns)
{
	waits->is_paused = false;
	/* The time since the last round is not one in which nothing was met. */
	waits->round_ns = waits->whole_round_ns = waits->active_ns = now_ns;
	waits->next_round_ns = now_ns;
	thread_times_resume(waits->times, now_ns);
}

/* ---- Results ---- */

static stack_id stack_of(struct waits *waits, const struct wait_part *part)
{
	stack_id stack = part->place;

	if (part->kind == WAIT_WANTED_CPU)
		return wait_stack_wanting_cpu(waits->session,
					      stack == PLACE_UNKNOWN ? STACK_EMPTY : stack,
					      stack != PLACE_UNKNOWN && !part->was_running);
	if (stack == PLACE_UNKNOWN)
		stack = wait_stack_of_reason(waits->session, "");
	return part->is_woken ? wait_stack_woken(waits->session, stack, part->waker) : stack;
}

static void count(struct waiting_quality *quality, const struct wait_part *part)
{
	uint64_t *sums[] = {
		[WAIT_PROVED] = &quality->proved_ns,	 [WAIT_SAMPLED] = &quality->sampled_ns,
		[WAIT_SPREAD] = &quality->spread_ns,	 [WAIT_PLACELESS] = &quality->placeless_ns,
		[WAIT_WANTED_CPU] = &quality->wanted_ns,
	};

	*sums[part->kind] += part->weight_ns;
	if (part->kind != WAIT_WANTED_CPU)
		quality->waiting_ns += part->weight_ns;
}

static void put_sample(struct waits *waits, const struct wait_part *part, label_set_id labels)
{
	struct profile *profile = session_profile(waits->session);
	struct profile_interval interval = {
		.start_ns = part->start_ns,
		.end_ns = part->end_ns,
		.weight = part->weight_ns,
	};

	count(&waits->quality, part);
	interval.sample = profile_add_samples(profile, labels, stack_of(waits, part),
					      session_events(waits->session)[waits->options.event],
					      part->count, part->weight_ns);
	profile_add_interval(profile, &interval);
}

static label_set_id labels_of(struct waits *waits, const struct wait_part *part)
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

static void add_part(void *user, const struct wait_part *part)
{
	struct waits *waits = user;
	label_set_id labels;

	if (waits->options.ignores_idle && part->is_idle) {
		waits->ignored_ns += part->weight_ns;
		return;
	}
	labels = labels_of(waits, part);
	if (!part->has_not_run) {
		put_sample(waits, part, labels);
		return;
	}
	GROW(waits->idle, waits->idle_count, waits->idle_room);
	waits->idle[waits->idle_count++] = (struct idle){.part = *part, .labels = labels};
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

/* One pseudo thread for several that have waited at the same place: "worker × 498 threads". */
static void put_idle_threads(struct waits *waits, const struct idle *first, size_t count)
{
	struct profile *profile = session_profile(waits->session);
	const struct profile_thread *thread = profile_thread_of(profile, first->labels);
	CLEANUP(free_ptr) char *process = xstrdup(profile_string(profile, thread->process));
	CLEANUP(free_ptr)
	char *name = xasprintf("%s × %zu threads", profile_string(profile, thread->name), count);
	label_set_id labels = profile_thread_labels(profile, first->part.pid, -1, process, name);

	for (size_t i = 0; i < count; i++)
		put_sample(waits, &first[i].part, labels);
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
			put_sample(waits, part, waits->idle[first].labels);
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

	thread_times_settle(waits->times, now_ns, is_end);
	put_idle(waits);
	profile_sort_intervals(session_profile(waits->session));
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
	thread_times_forget_places(waits->times);
}

struct waiting_quality waits_quality(const struct waits *waits)
{
	return waits->quality;
}

/* ---- Records ---- */

/* Not a thread of prof's own. */
static void begin_thread(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns,
			 enum thread_begin begin)
{
	if (pid != getpid())
		thread_times_begin(waits->times, pid, tid, time_ns, begin);
}

void waits_add_thread(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns)
{
	begin_thread(waits, pid, tid, time_ns, THREAD_IS_THERE);
}

void waits_feed(struct waits *waits, const struct record *record)
{
	struct thread_times *times = waits->times;

	switch (record->type) {
	case RECORD_SWITCH:
		waits->active_ns = record->time_ns;
		thread_times_switch(times, record->tid, record->time_ns, record->switched.is_out,
				    record->switched.is_preempted);
		break;
	case RECORD_FORK:
		if (!record->fork.existing && waits->options.follows_forks)
			begin_thread(waits, record->pid, record->tid, record->time_ns,
				     THREAD_IS_FORKED);
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
}

void waits_feed_leaving(struct waits *waits, pid_t tid, uint64_t time_ns, stack_id stack)
{
	thread_times_sampled(waits->times, tid, time_ns, stack);
	thread_times_leaves(waits->times, tid, wait_stack_of_sample(waits->session, stack));
}

bool waits_know(const struct waits *waits, pid_t tid)
{
	return thread_times_knows(waits->times, tid);
}

void waits_feed_wakeup(struct waits *waits, pid_t woken, uint64_t time_ns, stack_id waker)
{
	thread_times_woken(waits->times, woken, time_ns, waker);
}

/* ---- Looks ---- */

static void take_place(struct waits *waits, uint32_t thread, const struct look *look)
{
	const struct lock_holder *holder = &look->holder;
	bool knows_holder = holder->pc && thread_times_waited(waits->times, holder->tid,
							      holder->begin_ns, holder->end_ns);
	struct wait_stack stack = wait_stack_of(waits->session, look, knows_holder);
	uint32_t *bytes;

	if (!stack.lacks_bytes) {
		thread_times_looked(waits->times, thread, LOOKED_PLACE, stack.stack,
				    look->run_delay_ns);
		return;
	}
	bytes = idmap_put(&waits->stack_bytes, (uint64_t)look->request.tid, 0);
	*bytes = stack.lacks_bytes;
	thread_times_looked(waits->times, thread, LOOKED_NOTHING, PLACE_UNKNOWN, 0);
}

static void take_look(struct waits *waits, const struct look *look)
{
	uint32_t thread = waits->asked[waits->asked_first];
	bool has_waited = thread_times_has_waited(waits->times, thread, look->end_ns);
	enum look_outcome outcome = look->result == LOOK_RUNS ? LOOKED_RUNS : LOOKED_NOTHING;
	bool is_refused = look->result == LOOK_REFUSED || look->result == LOOK_HANGS;

	waits->asked_first = (waits->asked_first + 1) % LOOKERS_ROOM;
	waits->asked_count--;
	waits->asked_bytes -= look->request.stack_bytes;
	if (look->result == LOOK_REFUSED)
		waits->refused = look->request.pid;
	if (has_waited && look->result == LOOK_WAITS)
		take_place(waits, thread, look);
	else if (has_waited && is_refused)
		thread_times_looked(waits->times, thread, LOOKED_PLACELESS,
				    wait_stack_of_reason(waits->session, look->reason), 0);
	else
		thread_times_looked(waits->times, thread, outcome, PLACE_UNKNOWN, 0);
}

static void spend_budget(struct waits *waits, const struct look *look, uint64_t walk_ns)
{
	if (walk_ns > WALK_MS_MAX * NS_PER_MS)
		walk_ns = WALK_MS_MAX * NS_PER_MS;
	waits->budget_ns -= LOOK_COST_NS + (int64_t)look->stack_len / COPIED_PER_NS +
			    (int64_t)walk_ns;
}

static void take_looks(struct waits *waits, uint64_t complete_ns)
{
	while (waits->look || (waits->look = lookers_take(waits->lookers))) {
		uint64_t cpu_ns = clock_thread_cpu_ns();

		if (waits->look->end_ns > complete_ns)
			return;
		take_look(waits, waits->look);
		spend_budget(waits, waits->look, clock_thread_cpu_ns() - cpu_ns);
		waits->look = NULL;
	}
}

static void ask(struct waits *waits, const struct wait_due *due)
{
	uint32_t bytes = idmap_get(&waits->stack_bytes, (uint64_t)due->tid, 0);
	struct look_request request = {
		.pid = due->pid,
		.tid = due->tid,
		.since_ns = due->since_ns,
		.stack_bytes = bytes == IDMAP_NONE ? 0 : bytes,
		.wants_kernel_stack = waits->options.wants_kernel_stacks,
	};

	waits->asked[(waits->asked_first + waits->asked_count++) % LOOKERS_ROOM] = due->thread;
	waits->asked_bytes += request.stack_bytes;
	lookers_ask(waits->lookers, &request);
}

static bool may_ask(const struct waits *waits)
{
	return waits->asked_count < LOOKERS_ROOM && waits->asked_bytes < ASKED_BYTES_MAX &&
	       waits->budget_ns > 0;
}

static void grow_budget(struct waits *waits, uint64_t now_ns)
{
	int64_t most_ns = LOOKS_BURST_MS * (int64_t)NS_PER_MS;

	waits->budget_ns += (int64_t)(now_ns - waits->round_ns) / LOOKS_SHARE;
	if (waits->budget_ns > most_ns)
		waits->budget_ns = most_ns;
}

/* Asks for looks at all threads that wait and were not looked at, as far as the bounds allow. */
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
		ask(waits, &due);
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
	if (!waits->look)
		return waits->next_round_ns;
	/* Then the records up to the end of this look will be complete. */
	ready_ns = waits->look->end_ns + (now_ns - complete_ns);
	return ready_ns < waits->next_round_ns ? ready_ns : waits->next_round_ns;
}

pid_t waits_take_refused(struct waits *waits)
{
	pid_t refused = waits->refused;

	waits->refused = 0;
	return refused;
}
