#include "waiting/elapsed_times.h"

#include "base/alloc.h"
#include "base/idmap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

enum {
	/* Threads that have ended wait for the place of their silences. Beyond
	 * this number the oldest gets none. */
	ENDED_MAX = 256,
	/* So do the silences of one thread. */
	SILENCES_MAX = 4096,
};

/* Silences of one place that start within this time are one part. A thread that
 * switches often has thousands of silences a second. */
#define SILENCES_JOINED_NS UINT64_C(2000000)

/* A part of a silence that no wait has claimed yet. */
struct silence {
	uint64_t start_ns, end_ns;
};

struct elapsed_thread {
	pid_t pid, tid;
	bool runs, has_ended;
	wait_place place;  /* of its last sample */
	uint64_t since_ns; /* its shares up to here were passed to the sink */
	/*
	 * By parallelism. While the thread runs: the program's times[] up to
	 * which its shares were passed to the sink. While it does not run: the
	 * time of which its shares were not.
	 */
	uint64_t *marks;
	unsigned mark_count;
	struct silence *silences; /* in order of time */
	uint32_t silence_count, silence_room;
	struct elapsed_part joined; /* silences that were not passed to the sink yet */
};

struct elapsed_times {
	struct elapsed_sink sink;
	struct elapsed_thread *threads;
	uint32_t count, room;
	uint32_t *free; /* slots that can be reused */
	uint32_t free_count, free_room;
	struct idmap by_tid;	   /* of the threads that have not ended */
	uint32_t ended[ENDED_MAX]; /* a ring of the ended threads that have silences */
	uint32_t ended_first, ended_count;

	bool is_paused;
	uint32_t alive;
	unsigned running;
	uint32_t last; /* the thread that ran last, or was added last if none has run */
	uint64_t now_ns;
	uint64_t silent_ns; /* start of the silence, if no thread runs */
	uint64_t *times;    /* times[n]: in which n threads ran */
	unsigned time_count, time_room;
};

struct elapsed_times *elapsed_times_new(struct elapsed_sink sink)
{
	struct elapsed_times *times = xcalloc(1, sizeof(*times));

	times->sink = sink;
	times->is_paused = true;
	return times;
}

static void elapsed_thread_deinit(struct elapsed_thread *thread)
{
	free(thread->marks);
	free(thread->silences);
}

void elapsed_times_free(struct elapsed_times *times)
{
	if (!times)
		return;
	for (uint32_t i = 0; i < times->count; i++)
		elapsed_thread_deinit(&times->threads[i]);
	free(times->threads);
	free(times->free);
	idmap_deinit(&times->by_tid);
	free(times->times);
	free(times);
}

static struct elapsed_thread *elapsed_find(const struct elapsed_times *times, pid_t tid)
{
	uint32_t index = idmap_get(&times->by_tid, (uint64_t)tid, 0);

	return index == IDMAP_NONE ? NULL : &times->threads[index];
}

/* ---- Output ---- */

static void elapsed_give(const struct elapsed_times *times, struct elapsed_part part)
{
	if (part.weight_ns)
		times->sink.add(times->sink.user, &part);
}

/* The thread must not run. Passes its shares to the sink: of the time in which n
 * threads ran, the n-th part. Less than a nanosecond stays for the next time, so
 * that nothing is rounded away. */
static void elapsed_give_shares(const struct elapsed_times *times, struct elapsed_thread *thread,
				wait_place place)
{
	for (unsigned i = 1; i < thread->mark_count; i++) {
		uint64_t weight_ns = thread->marks[i] / i;

		thread->marks[i] -= weight_ns * i;
		elapsed_give(times, (struct elapsed_part){
					    .pid = thread->pid,
					    .tid = thread->tid,
					    .place = place,
					    .parallelism = i,
					    .start_ns = thread->since_ns,
					    .end_ns = times->now_ns,
					    .weight_ns = weight_ns,
				    });
	}
	thread->since_ns = times->now_ns;
}

static void elapsed_give_joined(const struct elapsed_times *times, struct elapsed_thread *thread)
{
	elapsed_give(times, thread->joined);
	thread->joined.weight_ns = 0;
}

static void elapsed_give_silence(const struct elapsed_times *times, struct elapsed_thread *thread,
				 struct silence silence, wait_place place)
{
	struct elapsed_part *joined = &thread->joined;

	if (joined->place != place || silence.start_ns < joined->start_ns ||
	    silence.start_ns > joined->start_ns + SILENCES_JOINED_NS)
		elapsed_give_joined(times, thread);
	if (!joined->weight_ns)
		*joined = (struct elapsed_part){
			.pid = thread->pid,
			.tid = thread->tid,
			.place = place,
			.start_ns = silence.start_ns,
		};
	joined->end_ns = MAX(joined->end_ns, silence.end_ns);
	joined->weight_ns += silence.end_ns - silence.start_ns;
}

/* For silences whose wait has no known place. */
static void elapsed_give_silences(const struct elapsed_times *times, struct elapsed_thread *thread)
{
	for (uint32_t i = 0; i < thread->silence_count; i++)
		elapsed_give_silence(times, thread, thread->silences[i], PLACE_UNKNOWN);
	thread->silence_count = 0;
}

static void elapsed_add_silence(struct elapsed_thread *thread, struct silence silence)
{
	if (silence.start_ns >= silence.end_ns)
		return;
	GROW(thread->silences, thread->silence_count, thread->silence_room);
	thread->silences[thread->silence_count++] = silence;
}

/* ---- The clock ---- */

static void elapsed_advance(struct elapsed_times *times, uint64_t now_ns)
{
	if (now_ns <= times->now_ns)
		return;
	if (!times->is_paused && times->running) {
		while (times->time_count <= times->running) {
			GROW(times->times, times->time_count, times->time_room);
			times->times[times->time_count++] = 0;
		}
		times->times[times->running] += now_ns - times->now_ns;
	}
	times->now_ns = now_ns;
}

/* The silence up to now belongs to the thread's wait. */
static void elapsed_end_silence(struct elapsed_times *times, struct elapsed_thread *thread)
{
	uint64_t start_ns = times->silent_ns;

	times->silent_ns = times->now_ns;
	if (times->is_paused || times->running || start_ns >= times->now_ns)
		return;
	if (thread->silence_count == SILENCES_MAX)
		elapsed_give_silences(times, thread);
	elapsed_add_silence(thread, (struct silence){start_ns, times->now_ns});
}

/* Turns marks of a running thread into those of one that does not run, and
 * back. */
static void elapsed_turn_marks(const struct elapsed_times *times, struct elapsed_thread *thread)
{
	if (thread->mark_count < times->time_count) {
		thread->marks = xreallocarray(thread->marks, times->time_count,
					      sizeof(*thread->marks));
		while (thread->mark_count < times->time_count)
			thread->marks[thread->mark_count++] = 0;
	}
	for (unsigned i = 1; i < times->time_count; i++)
		thread->marks[i] = times->times[i] - thread->marks[i];
}

/* Passes the thread's shares up to now to the sink, whether it runs or not. */
static void elapsed_give_now(const struct elapsed_times *times, struct elapsed_thread *thread,
			     wait_place place)
{
	if (thread->runs)
		elapsed_turn_marks(times, thread);
	elapsed_give_shares(times, thread, place);
	if (thread->runs)
		elapsed_turn_marks(times, thread);
}

static void elapsed_set_running(struct elapsed_times *times, struct elapsed_thread *thread,
				bool runs, uint64_t now_ns)
{
	elapsed_advance(times, now_ns);
	if (thread->runs == runs)
		return;
	if (runs)
		elapsed_end_silence(times, thread);
	elapsed_turn_marks(times, thread);
	thread->runs = runs;
	times->running += runs ? 1 : -1U;
	times->last = (uint32_t)(thread - times->threads);
	times->silent_ns = times->now_ns;
}

/* ---- Records ---- */

static struct elapsed_thread *elapsed_add_thread(struct elapsed_times *times, pid_t pid, pid_t tid)
{
	struct elapsed_thread *thread;
	uint32_t index;

	if (times->free_count) {
		index = times->free[--times->free_count];
	} else {
		GROW(times->threads, times->count, times->room);
		index = times->count++;
	}
	*idmap_put(&times->by_tid, (uint64_t)tid, 0) = index;
	thread = &times->threads[index];
	*thread = (struct elapsed_thread){
		.pid = pid, .tid = tid, .place = PLACE_UNKNOWN, .since_ns = times->now_ns};
	if (!times->alive++) {
		times->last = index;
		times->silent_ns = times->now_ns;
	}
	return thread;
}

void elapsed_times_begin(struct elapsed_times *times, pid_t pid, pid_t tid, uint64_t time_ns,
			 bool runs)
{
	struct elapsed_thread *thread = elapsed_find(times, tid);

	elapsed_advance(times, time_ns);
	if (thread && thread->pid != pid) {
		elapsed_times_end(times, tid, time_ns);
		thread = NULL;
	}
	if (!thread)
		thread = elapsed_add_thread(times, pid, tid);
	if (runs)
		elapsed_set_running(times, thread, true, time_ns);
}

void elapsed_times_switch(struct elapsed_times *times, pid_t tid, uint64_t time_ns, bool is_out)
{
	struct elapsed_thread *thread = elapsed_find(times, tid);

	if (thread)
		elapsed_set_running(times, thread, !is_out, time_ns);
}

static void elapsed_free_thread(struct elapsed_times *times, struct elapsed_thread *thread)
{
	elapsed_give_joined(times, thread);
	elapsed_thread_deinit(thread);
	*thread = (struct elapsed_thread){.has_ended = true};
	GROW(times->free, times->free_count, times->free_room);
	times->free[times->free_count++] = (uint32_t)(thread - times->threads);
}

static void elapsed_free_oldest(struct elapsed_times *times)
{
	struct elapsed_thread *thread = &times->threads[times->ended[times->ended_first]];

	times->ended_first = (times->ended_first + 1) % ENDED_MAX;
	times->ended_count--;
	elapsed_give_silences(times, thread);
	elapsed_free_thread(times, thread);
}

/* The thread that a silence in progress belongs to must be alive. */
static uint32_t elapsed_other_thread(const struct elapsed_times *times,
				     const struct elapsed_thread *thread)
{
	uint32_t index = idmap_get(&times->by_tid, (uint64_t)thread->pid, 0);

	if (index == IDMAP_NONE && times->alive)
		for (index = 0; times->threads[index].has_ended; index++)
			;
	return index;
}

void elapsed_times_end(struct elapsed_times *times, pid_t tid, uint64_t time_ns)
{
	struct elapsed_thread *thread = elapsed_find(times, tid);

	if (!thread)
		return;
	/* A thread runs when it ends, even if no record shows it. */
	elapsed_set_running(times, thread, true, time_ns);
	elapsed_set_running(times, thread, false, time_ns);
	elapsed_give_shares(times, thread, thread->place);
	elapsed_give_joined(times, thread);
	thread->has_ended = true;
	idmap_remove(&times->by_tid, (uint64_t)tid, 0);
	times->alive--;
	if (times->last == (uint32_t)(thread - times->threads))
		times->last = elapsed_other_thread(times, thread);
	if (!thread->silence_count) {
		elapsed_free_thread(times, thread);
		return;
	}
	if (times->ended_count == ENDED_MAX)
		elapsed_free_oldest(times);
	times->ended[(times->ended_first + times->ended_count++) % ENDED_MAX] =
		(uint32_t)(thread - times->threads);
}

void elapsed_times_sampled(struct elapsed_times *times, pid_t tid, uint64_t time_ns,
			   wait_place place)
{
	struct elapsed_thread *thread = elapsed_find(times, tid);

	if (!thread)
		return;
	/* Its last switch may have happened before it was added. */
	elapsed_set_running(times, thread, true, time_ns);
	thread->place = place;
	elapsed_give_now(times, thread, place);
}

void elapsed_times_exec(struct elapsed_times *times, pid_t pid, pid_t tid, uint64_t time_ns)
{
	struct elapsed_thread *thread;

	for (uint32_t i = 0; i < times->count; i++)
		if (times->threads[i].pid == pid && times->threads[i].tid != tid &&
		    !times->threads[i].has_ended)
			elapsed_times_end(times, times->threads[i].tid, time_ns);
	elapsed_times_begin(times, pid, tid, time_ns, true);
	thread = elapsed_find(times, tid);
	elapsed_give_now(times, thread, thread->place);
	thread->place = PLACE_UNKNOWN;
}

/* ---- Silences ---- */

/* Returns the index of the first silence that lasts beyond this time. Most waits
 * claim the last silences. */
static uint32_t elapsed_silence_after(const struct elapsed_thread *thread, uint64_t time_ns)
{
	uint32_t first = thread->silence_count;

	while (first && thread->silences[first - 1].end_ns > time_ns)
		first--;
	return first;
}

/* Replaces silences by what is left of them before and after the claim. */
static void elapsed_cut_silences(struct elapsed_thread *thread, uint32_t first, uint32_t end,
				 struct silence claim)
{
	const struct silence before = {thread->silences[first].start_ns, claim.start_ns};
	const struct silence after = {claim.end_ns, thread->silences[end - 1].end_ns};
	const uint32_t left = thread->silence_count - end;
	uint32_t at = first;

	/* There may be one more than before. */
	GROW(thread->silences, thread->silence_count, thread->silence_room);
	memmove(thread->silences + end + 1, thread->silences + end,
		left * sizeof(*thread->silences));
	if (before.start_ns < before.end_ns)
		thread->silences[at++] = before;
	if (after.start_ns < after.end_ns)
		thread->silences[at++] = after;
	memmove(thread->silences + at, thread->silences + end + 1,
		left * sizeof(*thread->silences));
	thread->silence_count = at + left;
}

/* Passes the parts of the thread's silences in this time to the sink, and keeps
 * the rest. */
static void elapsed_claim(const struct elapsed_times *times, struct elapsed_thread *thread,
			  struct silence claim, wait_place place)
{
	const uint32_t first = elapsed_silence_after(thread, claim.start_ns);
	uint32_t i;

	for (i = first; i < thread->silence_count && thread->silences[i].start_ns < claim.end_ns;
	     i++)
		elapsed_give_silence(times, thread,
				     (struct silence){
					     MAX(thread->silences[i].start_ns, claim.start_ns),
					     MIN(thread->silences[i].end_ns, claim.end_ns),
				     },
				     place);
	if (i > first)
		elapsed_cut_silences(thread, first, i, claim);
}

void elapsed_times_waited(struct elapsed_times *times, pid_t pid, pid_t tid, uint64_t start_ns,
			  uint64_t end_ns, wait_place place)
{
	struct elapsed_thread *thread = tid >= 0 ? elapsed_find(times, tid) : NULL;
	const struct silence claim = {start_ns, end_ns};

	if (thread && thread->pid == pid) {
		if (thread->silence_count)
			elapsed_claim(times, thread, claim, place);
		return;
	}
	for (uint32_t i = 0; i < times->ended_count; i++) {
		thread = &times->threads[times->ended[(times->ended_first + i) % ENDED_MAX]];
		if (thread->pid != pid || (tid >= 0 && thread->tid != tid))
			continue;
		elapsed_claim(times, thread, claim, place);
		elapsed_give_joined(times, thread);
	}
}

/* ---- Pauses and results ---- */

void elapsed_times_pause(struct elapsed_times *times, uint64_t now_ns)
{
	elapsed_advance(times, now_ns);
	if (times->alive)
		elapsed_end_silence(times, &times->threads[times->last]);
	times->is_paused = true;
}

void elapsed_times_resume(struct elapsed_times *times, uint64_t now_ns)
{
	elapsed_advance(times, now_ns);
	times->is_paused = false;
	times->silent_ns = now_ns;
}

void elapsed_times_begin_settling(struct elapsed_times *times, uint64_t now_ns)
{
	elapsed_advance(times, now_ns);
	if (times->alive)
		elapsed_end_silence(times, &times->threads[times->last]);
}

void elapsed_times_settle(struct elapsed_times *times, bool is_end)
{
	for (uint32_t i = 0; i < times->count; i++) {
		struct elapsed_thread *thread = &times->threads[i];

		if (is_end && !thread->has_ended) {
			elapsed_give_silences(times, thread);
			elapsed_give_now(times, thread, thread->place);
		}
		elapsed_give_joined(times, thread);
		thread->place = PLACE_UNKNOWN;
	}
	while (is_end && times->ended_count)
		elapsed_free_oldest(times);
}
