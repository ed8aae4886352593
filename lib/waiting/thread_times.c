#include "waiting/thread_times.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "waiting/orphaned_waits.h"
#include "waiting/thread_life.h"

#include <stdlib.h>
#include <string.h>

/*
 * Losses come in bursts, and dropping the places of thousands of waiting
 * threads is slow. So places are dropped for losses at most once in this time.
 */
#define LOSS_PAUSE_NS UINT64_C(10000000)

struct thread_times_thread {
	struct thread_life life;
	bool is_free;	 /* its slot can be reused */
	bool is_counted; /* included in sums.threads */
	bool is_due;	 /* in the list `due` */
};

struct thread_times {
	struct life_counting counting;

	struct thread_times_thread *threads;
	uint32_t count, room;
	uint32_t *free;
	uint32_t free_count, free_room;
	struct idmap by_tid;
	uint32_t *due; /* Threads that need a snapshot, oldest first, starting at due_first. */
	uint32_t due_first, due_count, due_room;
	uint32_t round_left; /* entries of `due` that belong to the current round */
	struct orphaned_waits orphans;
	uint64_t lost_ns;    /* time of the last loss of records */
	uint64_t doubted_ns; /* when places were last dropped because of a loss */
};

struct thread_times *thread_times_new(uint64_t least_ns, struct wait_sink sink)
{
	struct thread_times *times = xcalloc(1, sizeof(*times));

	times->counting.least_ns = least_ns;
	times->counting.sink = sink;
	return times;
}

void thread_times_free(struct thread_times *times)
{
	if (!times)
		return;
	free(times->threads);
	free(times->free);
	free(times->due);
	idmap_deinit(&times->by_tid);
	orphaned_waits_deinit(&times->orphans);
	free(times);
}

static struct thread_times_thread *thread_times_find(const struct thread_times *times, pid_t tid)
{
	uint32_t index = idmap_get(&times->by_tid, (uint64_t)tid, 0);

	return index == IDMAP_NONE ? NULL : &times->threads[index];
}

static void make_due(struct thread_times *times, struct thread_times_thread *thread)
{
	if (thread->is_due || times->counting.is_paused)
		return;
	thread->is_due = true;
	if (times->due_count == times->due_room && times->due_first > times->due_count / 2) {
		times->due_count -= times->due_first;
		memmove(times->due, times->due + times->due_first,
			times->due_count * sizeof(*times->due));
		times->due_first = 0;
	}
	GROW(times->due, times->due_count, times->due_room);
	times->due[times->due_count++] = (uint32_t)(thread - times->threads);
}

/* ---- Records ---- */

static struct thread_times_thread *thread_times_add_thread(struct thread_times *times, pid_t tid)
{
	uint32_t index;

	if (times->free_count) {
		index = times->free[--times->free_count];
	} else {
		GROW(times->threads, times->count, times->room);
		index = times->count++;
	}
	*idmap_put(&times->by_tid, (uint64_t)tid, 0) = index;
	return &times->threads[index];
}

void thread_times_switch(struct thread_times *times, pid_t tid, uint64_t time_ns, bool is_out,
			 bool is_preempted)
{
	struct thread_times_thread *thread = thread_times_find(times, tid);

	if (!thread)
		return;
	/*
	 * A thread whose first record is a switch off its CPU has run since it
	 * was added. A record that repeats the known state is a duplicate, or
	 * the record between the two was lost.
	 */
	if (is_out)
		thread_life_note_running(&thread->life);
	if (is_out == (thread->life.state != STATE_RUNS))
		return;
	if (thread_life_change(&thread->life, &times->counting,
			       !is_out	      ? STATE_RUNS
			       : is_preempted ? STATE_WANTS_CPU
					      : STATE_WAITS,
			       time_ns))
		make_due(times, thread);
}

static void free_thread(struct thread_times *times, struct thread_times_thread *thread)
{
	/*
	 * A thread in the list `due` stays there; take_due() skips and frees
	 * it.
	 */
	thread->is_free = true;
	if (thread->is_due)
		return;
	GROW(times->free, times->free_count, times->free_room);
	times->free[times->free_count++] = (uint32_t)(thread - times->threads);
}

/* Call this when the thread has ended and no snapshot of it is in progress. */
static void give_rest(struct thread_times *times, struct thread_life *life)
{
	const struct wait_sink *sink = &times->counting.sink;
	struct wait_weights *weights = &life->weights;
	const bool was_short = thread_life_was_short(life);

	wait_weights_give_met(weights, sink);
	if (was_short && weights->last_met_place != PLACE_UNKNOWN) {
		orphaned_waits_give(&times->orphans, sink, life->pid, weights->last_met_place);
	} else if (was_short && weights->unmet.count) {
		orphaned_waits_add(&times->orphans, life->pid, &weights->unmet);
		return;
	}
	wait_weights_give_unmet(weights, sink);
}

static void end_life(struct thread_times *times, struct thread_times_thread *thread,
		     uint64_t now_ns)
{
	struct thread_life *life = &thread->life;

	thread_life_end(life, &times->counting, now_ns);
	idmap_remove(&times->by_tid, (uint64_t)life->tid, 0);
	if (life->snapshot == THREAD_SNAPSHOT_ASKED) /* thread_times_looked() frees it */
		return;
	give_rest(times, life);
	free_thread(times, thread);
}

/*
 * A created thread has a free tid. If the tid is known, the end of its previous
 * thread was lost. If the thread was found in /proc before its creation record
 * arrived, it is the same thread.
 */
static bool is_another(const struct thread_life *life, pid_t pid, enum thread_begin begin)
{
	return begin == THREAD_IS_FORKED && (life->pid != pid || life->state != STATE_UNSEEN);
}

/* A thread that lives only during a pause is not counted. */
static void count_thread(struct thread_times *times, struct thread_times_thread *thread)
{
	if (thread->is_counted || times->counting.is_paused)
		return;
	thread->is_counted = true;
	times->counting.sums.threads++;
}

static enum thread_state state_at_begin(enum thread_begin begin)
{
	return begin == THREAD_IS_THERE ? STATE_UNSEEN
	       : begin == THREAD_RUNS	? STATE_RUNS
					: STATE_WANTS_CPU;
}

void thread_times_begin(struct thread_times *times, pid_t pid, pid_t tid, uint64_t time_ns,
			enum thread_begin begin)
{
	struct thread_times_thread *thread = thread_times_find(times, tid);

	if (thread && !is_another(&thread->life, pid, begin))
		return;
	if (thread)
		end_life(times, thread, time_ns);
	if (pid == tid)
		orphaned_waits_give(&times->orphans, &times->counting.sink, pid, PLACE_UNKNOWN);
	thread = thread_times_add_thread(times, tid);
	*thread = (struct thread_times_thread){0};
	count_thread(times, thread);
	if (thread_life_begin(&thread->life, pid, tid, time_ns, state_at_begin(begin),
			      begin == THREAD_IS_FORKED))
		make_due(times, thread);
}

void thread_times_end(struct thread_times *times, pid_t tid, uint64_t time_ns)
{
	struct thread_times_thread *thread = thread_times_find(times, tid);

	if (thread)
		end_life(times, thread, time_ns);
}

static bool is_alive(const struct thread_times_thread *thread)
{
	return !thread->is_free && !thread->life.has_ended;
}

/* The places of the old program are invalid in the new one. */
static void leave_program(struct thread_times *times, struct thread_life *life)
{
	thread_life_give_up_thread_snapshot(life);
	give_rest(times, life);
	thread_life_forget_places(life);
}

void thread_times_exec(struct thread_times *times, pid_t pid, pid_t tid, uint64_t time_ns)
{
	for (uint32_t i = 0; i < times->count; i++) {
		struct thread_times_thread *thread = &times->threads[i];

		if (!is_alive(thread) || thread->life.pid != pid)
			continue;
		if (thread->life.tid == tid)
			leave_program(times, &thread->life);
		else
			end_life(times, thread, time_ns);
	}
	orphaned_waits_give(&times->orphans, &times->counting.sink, pid, PLACE_UNKNOWN);
	thread_times_begin(times, pid, tid, time_ns, THREAD_RUNS);
}

void thread_times_leaves(struct thread_times *times, pid_t tid, wait_place place)
{
	struct thread_times_thread *thread = thread_times_find(times, tid);

	if (thread)
		thread->life.leaves_at = place;
}

bool thread_times_knows(const struct thread_times *times, pid_t tid)
{
	return thread_times_find(times, tid);
}

void thread_times_woken(struct thread_times *times, pid_t tid, uint64_t time_ns, wait_place place)
{
	struct thread_times_thread *thread = thread_times_find(times, tid);
	struct thread_life *life = thread ? &thread->life : NULL;

	if (!life || !thread_life_is_off(life) || time_ns < life->since_ns)
		return;
	life->woken_ns = time_ns;
	life->waker = place;
}

void thread_times_sampled(struct thread_times *times, pid_t tid, uint64_t time_ns, wait_place place)
{
	struct thread_times_thread *thread = thread_times_find(times, tid);

	if (!thread)
		return;
	thread->life.sample_place = place;
	thread->life.sampled_ns = time_ns;
}

/* ---- Thread snapshots ---- */

static struct thread_times_thread *take_due(struct thread_times *times)
{
	struct thread_times_thread *thread = &times->threads[times->due[times->due_first++]];

	times->round_left--;
	thread->is_due = false;
	if (times->due_first == times->due_count)
		times->due_first = times->due_count = 0;
	if (thread->is_free)
		free_thread(times, thread);
	return thread;
}

bool thread_times_next_due(struct thread_times *times, uint64_t now_ns, uint64_t interval_ns,
			   struct wait_due *ret)
{
	while (times->round_left) {
		struct thread_times_thread *thread = take_due(times);
		struct thread_life *life = &thread->life;

		if (!is_alive(thread) || !thread_life_is_off(life) ||
		    life->snapshot != THREAD_SNAPSHOT_NONE)
			continue;
		/*
		 * Waiting for the full least_ns would miss waits that are only
		 * slightly longer.
		 */
		if (now_ns - life->since_ns < times->counting.least_ns / 2) {
			make_due(times, thread);
			continue;
		}
		thread_life_ask(life, now_ns, interval_ns);
		*ret = (struct wait_due){(uint32_t)(thread - times->threads), life->pid, life->tid,
					 life->since_ns};
		return true;
	}
	return false;
}

bool thread_times_has_waited(const struct thread_times *times, uint32_t index, uint64_t end_ns)
{
	const struct thread_life *life = &times->threads[index].life;

	return times->lost_ns < life->asked_ns && thread_life_has_waited(life, end_ns);
}

bool thread_times_waited(const struct thread_times *times, pid_t tid, uint64_t begin_ns,
			 uint64_t end_ns)
{
	const struct thread_times_thread *thread = thread_times_find(times, tid);

	return thread && times->lost_ns < begin_ns &&
	       thread_life_waited(&thread->life, begin_ns, end_ns);
}

void thread_times_looked(struct thread_times *times, uint32_t index,
			 enum thread_snapshot_outcome outcome, wait_place place,
			 uint64_t run_delay_ns)
{
	struct thread_times_thread *thread = &times->threads[index];
	struct thread_life *life = &thread->life;
	const bool is_met = outcome == LOOKED_PLACE || outcome == LOOKED_PLACELESS;

	/* Unless the snapshot was of a wait that has ended since. */
	if (outcome == LOOKED_RUNS && !life->ended_end_ns)
		thread_life_note_running(life);
	thread_life_looked(life, &times->counting, is_met,
			   outcome == LOOKED_PLACE ? WAIT_PROVED : WAIT_PLACELESS, place,
			   run_delay_ns);
	if (life->has_ended) {
		give_rest(times, life);
		free_thread(times, thread);
	} else if (thread_life_is_off(life) && life->snapshot == THREAD_SNAPSHOT_NONE) {
		make_due(times, thread);
	}
}

/* ---- Results ---- */

void thread_times_settle(struct thread_times *times, uint64_t now_ns, bool is_end)
{
	for (uint32_t i = 0; i < times->count; i++)
		if (!times->threads[i].is_free)
			thread_life_settle(&times->threads[i].life, &times->counting, now_ns,
					   is_end);
	if (is_end)
		orphaned_waits_give_all(&times->orphans, &times->counting.sink);
}

void thread_times_pause(struct thread_times *times, uint64_t now_ns)
{
	if (times->counting.is_paused)
		return;
	for (uint32_t i = 0; i < times->count; i++)
		if (!times->threads[i].is_free)
			thread_life_pause(&times->threads[i].life, &times->counting, now_ns);
	times->counting.is_paused = true;
}

static void begin_counting(struct thread_times *times, struct thread_times_thread *thread,
			   uint64_t now_ns)
{
	thread_life_resume(&thread->life, now_ns);
	count_thread(times, thread);
	if (thread_life_is_off(&thread->life) && thread->life.snapshot == THREAD_SNAPSHOT_NONE)
		make_due(times, thread);
}

void thread_times_resume(struct thread_times *times, uint64_t now_ns)
{
	if (!times->counting.is_paused)
		return;
	times->counting.is_paused = false;
	for (uint32_t i = 0; i < times->count; i++)
		if (is_alive(&times->threads[i]))
			begin_counting(times, &times->threads[i], now_ns);
}

void thread_times_lost(struct thread_times *times, uint64_t now_ns)
{
	times->lost_ns = now_ns;
}

/* After a loss, a thread with a snapshot may have run since. */
static void doubt_places(struct thread_times *times, uint64_t now_ns)
{
	times->doubted_ns = now_ns;
	for (uint32_t i = 0; i < times->count; i++) {
		struct thread_times_thread *thread = &times->threads[i];

		if (is_alive(thread) &&
		    thread_life_doubt_place(&thread->life, &times->counting, now_ns))
			make_due(times, thread);
	}
}

void thread_times_begin_round(struct thread_times *times, uint64_t now_ns)
{
	if (times->lost_ns > times->doubted_ns && now_ns >= times->doubted_ns + LOSS_PAUSE_NS)
		doubt_places(times, now_ns);
	times->round_left = times->due_count - times->due_first;
}

void thread_times_forget_places(struct thread_times *times)
{
	times->counting.sums = (struct thread_times_sums){0};
	for (uint32_t i = 0; i < times->count; i++) {
		struct thread_times_thread *thread = &times->threads[i];

		thread_life_forget_places(&thread->life);
		if (!is_alive(thread))
			continue;
		thread->is_counted = false;
		count_thread(times, thread);
		if (thread->life.snapshot == THREAD_SNAPSHOT_MET) {
			thread->life.snapshot = THREAD_SNAPSHOT_NONE;
			make_due(times, thread);
		}
	}
}

const struct thread_times_sums *thread_times_sums(const struct thread_times *times)
{
	return &times->counting.sums;
}
