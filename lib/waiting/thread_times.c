#include "waiting/thread_times.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "waiting/orphaned_waits.h"
#include "waiting/wait_weights.h"

#include <stdlib.h>
#include <string.h>

enum thread_state {
	STATE_FREE,
	STATE_UNSEEN, /* it was there before the records; none has come yet */
	STATE_RUNS,
	STATE_WAITS,
	STATE_WANTS_CPU,
};

/* What an idle thread may have done before it began to wait is less than this share of its life. */
enum { IDLE_SHARE = 100 };

/* Losses come one after the other. After one, the places of threads that wait are doubted, which
 * takes a while if there are thousands; so not more often than this. */
#define LOSS_PAUSE_NS UINT64_C(10000000)

/* Of threads whose waits may be placed by those of others. */
#define SHORT_LIFE_NS UINT64_C(1000000000)

/* Of a thread, that are remembered: as many as end until a look that met one is taken. */
enum { ENDED_WAITS = 4 };

/* A thread that loses its CPU is taken to be where it was sampled before, if that was not longer
 * ago. */
#define SAMPLED_LATELY_NS UINT64_C(100000000)

enum look_state {
	LOOK_NONE,  /* none, or it was to no avail */
	LOOK_ASKED, /* under way, at the wait since asked_since_ns */
	LOOK_MET,   /* the place is known */
};

struct thread {
	pid_t pid, tid;
	enum thread_state state;
	bool has_run, has_ended;
	bool is_counted;	/* in the sum of threads */
	bool is_due;		/* it is in the list of those to look at */
	uint64_t since_ns;	/* of the state */
	uint64_t begun_ns;	/* its life in the recording */
	uint64_t given_out_ns;	/* what was before is given out, or in the sums */
	uint64_t life_given_ns; /* likewise of its life */

	enum look_state look;
	uint64_t asked_ns, asked_since_ns, interval_ns;
	enum wait_kind kind; /* LOOK_MET: of the place */
	wait_place place;
	wait_place sample_place; /* of its last sample … */
	uint64_t sampled_ns;	 /* … and when that was */

	/* Waits that have ended, the last of which is before the next one to be written. */
	struct {
		uint64_t start_ns, end_ns;
	} ended[ENDED_WAITS];
	uint32_t ended_next;
	/* A wait that has ended while a look at it was under way; end_ns 0: none. */
	uint64_t ended_start_ns, ended_end_ns, ended_wanted_ns;
	wait_place ended_waker;
	struct wait_weights weights;

	wait_place leaves_at; /* of the next switch from its CPU; PLACE_UNKNOWN: not known */
	uint64_t woken_ns;    /* the present wait; 0: it is not known to be */
	wait_place waker;

	uint64_t wanted_ns;	    /* the part of its run delay that records tell … */
	uint64_t wanted_at_wait_ns; /* … before the present wait */
};

struct thread_times {
	uint64_t least_ns;
	struct wait_sink sink;

	struct thread *threads;
	uint32_t count, room;
	uint32_t *free;
	uint32_t free_count, free_room;
	struct idmap by_tid;
	uint32_t *due; /* threads to look at, oldest first, from due_first on */
	uint32_t due_first, due_count, due_room;
	uint32_t round_left; /* of these, to be given out or put back in this round */
	struct orphaned_waits orphans;
	struct thread_times_sums sums;
	bool is_paused;
	uint64_t lost_ns;    /* when records were lost last */
	uint64_t doubted_ns; /* when places were doubted last for that */
};

struct thread_times *thread_times_new(uint64_t least_ns, struct wait_sink sink)
{
	struct thread_times *times = xcalloc(1, sizeof(*times));

	times->least_ns = least_ns;
	times->sink = sink;
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

static struct thread *find(const struct thread_times *times, pid_t tid)
{
	uint32_t index = idmap_get(&times->by_tid, (uint64_t)tid, 0);

	return index == IDMAP_NONE ? NULL : &times->threads[index];
}

static bool is_off(const struct thread *thread)
{
	return thread->state == STATE_WAITS || thread->state == STATE_UNSEEN;
}

static void give(struct thread_times *times, const struct thread *thread, struct wait_part part)
{
	wait_sink_give(&times->sink, thread->pid, thread->tid, part);
}

/* ---- Waits ---- */

/* A wait was met that lasted from start_ns to end_ns, when it was woken. */
static void finish_met(struct thread_times *times, struct thread *thread, uint64_t start_ns,
		       uint64_t end_ns, wait_place waker)
{
	struct met_wait wait = {
		.kind = thread->kind,
		.place = thread->place,
		.waker = waker,
		.start_ns = start_ns,
		.end_ns = end_ns,
	};

	wait_weights_add_met(&thread->weights, &times->sink, &wait,
			     end_ns - start_ns < thread->interval_ns);
}

static bool has_ended_wait(const struct thread *thread)
{
	return thread->ended_end_ns;
}

/* The look was at a wait that has ended meanwhile. */
static void close_ended_wait(struct thread_times *times, struct thread *thread, bool is_met)
{
	if (is_met)
		finish_met(times, thread, thread->ended_start_ns, thread->ended_end_ns,
			   thread->ended_waker);
	else
		wait_weights_add_unmet(&thread->weights, thread->ended_start_ns,
				       thread->ended_end_ns);
	thread->ended_end_ns = 0;
}

static uint64_t not_given_out_since(const struct thread *thread)
{
	return thread->since_ns > thread->given_out_ns ? thread->since_ns : thread->given_out_ns;
}

static void end_wait(struct thread_times *times, struct thread *thread, uint64_t now_ns)
{
	uint64_t start_ns = not_given_out_since(thread);

	if (now_ns - thread->since_ns < times->least_ns) {
		times->sums.left_out_ns += now_ns - start_ns;
	} else if (thread->look == LOOK_MET) {
		finish_met(times, thread, start_ns, now_ns, thread->waker);
	} else if (thread->look == LOOK_ASKED && thread->asked_since_ns == thread->since_ns) {
		thread->ended_start_ns = start_ns;
		thread->ended_end_ns = now_ns;
		thread->ended_wanted_ns = thread->wanted_at_wait_ns;
		thread->ended_waker = thread->waker;
	} else {
		wait_weights_add_unmet(&thread->weights, start_ns, now_ns);
	}
	if (thread->look == LOOK_MET)
		thread->look = LOOK_NONE;
}

/* Gives out the time up to now in which the thread wanted a CPU. */
static void give_wanted(struct thread_times *times, struct thread *thread, uint64_t now_ns)
{
	uint64_t start_ns = not_given_out_since(thread);
	bool was_sampled = start_ns < thread->sampled_ns + SAMPLED_LATELY_NS;

	give(times, thread,
	     (struct wait_part){
		     .kind = WAIT_WANTED_CPU,
		     .place = was_sampled ? thread->sample_place : PLACE_UNKNOWN,
		     .was_running = true,
		     .start_ns = start_ns,
		     .end_ns = now_ns,
		     .weight_ns = now_ns - start_ns,
		     .count = start_ns == thread->since_ns,
	     });
}

/* Ends a wait, of which it is known when it was woken, and gives out that it then wanted a CPU. */
static void end_woken_wait(struct thread_times *times, struct thread *thread, uint64_t now_ns)
{
	uint64_t start_ns = not_given_out_since(thread);
	uint64_t woken_ns = thread->woken_ns > start_ns ? thread->woken_ns : start_ns;

	if (thread->look == LOOK_MET && thread->kind == WAIT_PROVED)
		thread->weights.last_met_place = thread->place;
	end_wait(times, thread, woken_ns);
	give(times, thread,
	     (struct wait_part){
		     .kind = WAIT_WANTED_CPU,
		     .place = thread->weights.last_met_place,
		     .start_ns = woken_ns,
		     .end_ns = now_ns,
		     .weight_ns = now_ns - woken_ns,
	     });
	thread->wanted_ns += now_ns - thread->woken_ns;
}

/* Ends the state while time does not count. The run delay of the thread knows no pause. */
static void end_uncounted_state(struct thread *thread, uint64_t now_ns)
{
	if (thread->state == STATE_WANTS_CPU)
		thread->wanted_ns += now_ns - thread->since_ns;
	else if (is_off(thread) && thread->woken_ns && thread->woken_ns <= now_ns)
		thread->wanted_ns += now_ns - thread->woken_ns;
	if (thread->look == LOOK_MET)
		thread->look = LOOK_NONE;
}

/* Ends the state that the thread is in. */
static void end_state(struct thread_times *times, struct thread *thread, uint64_t now_ns)
{
	if (times->is_paused) {
		end_uncounted_state(thread, now_ns);
		return;
	}
	/* Records of two CPUs can be some nanoseconds out of order. */
	if (now_ns < not_given_out_since(thread))
		return;
	if (thread->state == STATE_RUNS) {
		times->sums.running_ns += now_ns - not_given_out_since(thread);
	} else if (thread->state == STATE_WANTS_CPU) {
		give_wanted(times, thread, now_ns);
		thread->wanted_ns += now_ns - thread->since_ns;
	} else if (thread->woken_ns && thread->woken_ns <= now_ns) {
		end_woken_wait(times, thread, now_ns);
	} else {
		end_wait(times, thread, now_ns);
	}
}

static void make_due(struct thread_times *times, struct thread *thread)
{
	if (thread->is_due || times->is_paused)
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

/* False: it is not known where it began. */
static bool begin_sampled_wait(struct thread *thread)
{
	if (thread->leaves_at == PLACE_UNKNOWN || thread->look == LOOK_ASKED)
		return false;
	thread->look = LOOK_MET;
	thread->kind = WAIT_SAMPLED;
	thread->place = thread->leaves_at;
	return true;
}

static void enter(struct thread_times *times, struct thread *thread, enum thread_state state,
		  uint64_t now_ns)
{
	if (is_off(thread)) {
		thread->ended[thread->ended_next].start_ns = thread->since_ns;
		thread->ended[thread->ended_next].end_ns = now_ns;
		thread->ended_next = (thread->ended_next + 1) % ENDED_WAITS;
	}
	thread->state = state;
	thread->since_ns = now_ns;
	if (state == STATE_RUNS) {
		thread->has_run = true;
		thread->leaves_at = PLACE_UNKNOWN;
	} else if (state != STATE_WANTS_CPU) {
		thread->woken_ns = 0;
		thread->waker = PLACE_UNKNOWN;
		thread->wanted_at_wait_ns = thread->wanted_ns;
		if (!begin_sampled_wait(thread))
			make_due(times, thread);
	}
}

/* ---- Records ---- */

static struct thread *add_thread(struct thread_times *times, pid_t tid)
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
	struct thread *thread = find(times, tid);

	if (!thread)
		return;
	/* A thread that is switched out for the first time has run since we know it. A record that
	 * repeats what is known comes twice, or the one between was lost. */
	if (is_out && thread->state == STATE_UNSEEN)
		enter(times, thread, STATE_RUNS, thread->since_ns);
	if (is_out == (thread->state != STATE_RUNS))
		return;
	end_state(times, thread, time_ns);
	enter(times, thread,
	      !is_out	     ? STATE_RUNS
	      : is_preempted ? STATE_WANTS_CPU
			     : STATE_WAITS,
	      time_ns);
}

static void free_thread(struct thread_times *times, struct thread *thread)
{
	/* It stays in the list of those to look at; the list skips it. */
	thread->state = STATE_FREE;
	if (thread->is_due)
		return;
	GROW(times->free, times->free_count, times->free_room);
	times->free[times->free_count++] = (uint32_t)(thread - times->threads);
}

/* One of many threads that do the same, and each of which is hardly ever looked at. */
static bool has_lived_shortly(const struct thread *thread)
{
	return thread->tid != thread->pid && thread->since_ns - thread->begun_ns < SHORT_LIFE_NS;
}

/* The thread has ended, and no look can change anything any more. */
static void give_rest(struct thread_times *times, struct thread *thread)
{
	struct wait_weights *weights = &thread->weights;

	wait_weights_give_met(weights, &times->sink);
	if (has_lived_shortly(thread) && weights->last_met_place != PLACE_UNKNOWN) {
		orphaned_waits_give(&times->orphans, &times->sink, thread->pid,
				    weights->last_met_place);
	} else if (has_lived_shortly(thread) && weights->unmet.count) {
		orphaned_waits_add(&times->orphans, thread->pid, &weights->unmet);
		return;
	}
	wait_weights_give_unmet(weights, &times->sink);
}

static void end_life(struct thread_times *times, struct thread *thread, uint64_t now_ns)
{
	end_state(times, thread, now_ns);
	if (now_ns > thread->life_given_ns && !times->is_paused)
		times->sums.lives_ns += now_ns - thread->life_given_ns;
	idmap_remove(&times->by_tid, (uint64_t)thread->tid, 0);
	thread->has_ended = true;
	if (thread->look == LOOK_ASKED) /* until thread_times_looked() */
		return;
	give_rest(times, thread);
	free_thread(times, thread);
}

/* A thread that is created has an id that is free: the end of the one that had it was lost. One
 * that was listed before the record of its creation came is not another. */
static bool is_another(const struct thread *thread, pid_t pid, enum thread_begin begin)
{
	return begin == THREAD_IS_FORKED && (thread->pid != pid || thread->state != STATE_UNSEEN);
}

/* One that lives only while time does not count is not counted either. */
static void count_thread(struct thread_times *times, struct thread *thread)
{
	if (thread->is_counted || times->is_paused)
		return;
	thread->is_counted = true;
	times->sums.threads++;
}

void thread_times_begin(struct thread_times *times, pid_t pid, pid_t tid, uint64_t time_ns,
			enum thread_begin begin)
{
	struct thread *thread = find(times, tid);

	if (thread && !is_another(thread, pid, begin))
		return;
	if (thread)
		end_life(times, thread, time_ns);
	if (pid == tid)
		orphaned_waits_give(&times->orphans, &times->sink, pid, PLACE_UNKNOWN);
	thread = add_thread(times, tid);
	*thread = (struct thread){
		.pid = pid,
		.tid = tid,
		.place = PLACE_UNKNOWN,
		.sample_place = PLACE_UNKNOWN,
		.leaves_at = PLACE_UNKNOWN,
		.begun_ns = time_ns,
		.given_out_ns = time_ns,
		.life_given_ns = time_ns,
	};
	wait_weights_init(&thread->weights, pid, tid, begin == THREAD_IS_FORKED);
	count_thread(times, thread);
	enter(times, thread,
	      begin == THREAD_IS_THERE ? STATE_UNSEEN
	      : begin == THREAD_RUNS   ? STATE_RUNS
				       : STATE_WANTS_CPU,
	      time_ns);
}

void thread_times_end(struct thread_times *times, pid_t tid, uint64_t time_ns)
{
	struct thread *thread = find(times, tid);

	if (thread)
		end_life(times, thread, time_ns);
}

static bool is_alive(const struct thread *thread)
{
	return thread->state != STATE_FREE && !thread->has_ended;
}

static void forget_places(struct thread *thread)
{
	thread->sample_place = thread->leaves_at = PLACE_UNKNOWN;
	thread->waker = PLACE_UNKNOWN;
	wait_weights_forget_places(&thread->weights);
}

/* What it waited for belongs to the program before, and tells nothing of the next one. */
static void leave_program(struct thread_times *times, struct thread *thread)
{
	if (has_ended_wait(thread))
		close_ended_wait(times, thread, false);
	give_rest(times, thread);
	forget_places(thread);
}

void thread_times_exec(struct thread_times *times, pid_t pid, pid_t tid, uint64_t time_ns)
{
	for (uint32_t i = 0; i < times->count; i++) {
		struct thread *thread = &times->threads[i];

		if (!is_alive(thread) || thread->pid != pid)
			continue;
		if (thread->tid == tid)
			leave_program(times, thread);
		else
			end_life(times, thread, time_ns);
	}
	orphaned_waits_give(&times->orphans, &times->sink, pid, PLACE_UNKNOWN);
	thread_times_begin(times, pid, tid, time_ns, THREAD_RUNS);
}

void thread_times_leaves(struct thread_times *times, pid_t tid, wait_place place)
{
	struct thread *thread = find(times, tid);

	if (thread)
		thread->leaves_at = place;
}

bool thread_times_knows(const struct thread_times *times, pid_t tid)
{
	return find(times, tid);
}

void thread_times_woken(struct thread_times *times, pid_t tid, uint64_t time_ns, wait_place place)
{
	struct thread *thread = find(times, tid);

	if (!thread || !is_off(thread) || time_ns < thread->since_ns)
		return;
	thread->woken_ns = time_ns;
	thread->waker = place;
}

void thread_times_sampled(struct thread_times *times, pid_t tid, uint64_t time_ns, wait_place place)
{
	struct thread *thread = find(times, tid);

	if (!thread)
		return;
	thread->sample_place = place;
	thread->sampled_ns = time_ns;
}

/* ---- Looks ---- */

static struct thread *take_due(struct thread_times *times)
{
	struct thread *thread = &times->threads[times->due[times->due_first++]];

	times->round_left--;
	thread->is_due = false;
	if (times->due_first == times->due_count)
		times->due_first = times->due_count = 0;
	if (thread->state == STATE_FREE)
		free_thread(times, thread);
	return thread;
}

bool thread_times_next_due(struct thread_times *times, uint64_t now_ns, uint64_t interval_ns,
			   struct wait_due *ret)
{
	while (times->round_left) {
		struct thread *thread = take_due(times);

		if (!is_alive(thread) || !is_off(thread) || thread->look != LOOK_NONE)
			continue;
		/* Not only then: a wait that is hardly longer would be over. */
		if (now_ns - thread->since_ns < times->least_ns / 2) {
			make_due(times, thread);
			continue;
		}
		thread->look = LOOK_ASKED;
		thread->asked_ns = now_ns;
		thread->asked_since_ns = thread->since_ns;
		thread->interval_ns = interval_ns;
		*ret = (struct wait_due){(uint32_t)(thread - times->threads), thread->pid,
					 thread->tid, thread->since_ns};
		return true;
	}
	return false;
}

bool thread_times_has_waited(const struct thread_times *times, uint32_t index, uint64_t end_ns)
{
	const struct thread *thread = &times->threads[index];

	if (times->lost_ns >= thread->asked_ns)
		return false;
	if (has_ended_wait(thread))
		return thread->ended_end_ns >= end_ns;
	return is_alive(thread) && is_off(thread) && thread->since_ns == thread->asked_since_ns;
}

bool thread_times_waited(const struct thread_times *times, pid_t tid, uint64_t begin_ns,
			 uint64_t end_ns)
{
	const struct thread *thread = find(times, tid);

	if (!thread || times->lost_ns >= begin_ns)
		return false;
	for (unsigned i = 0; i < ENDED_WAITS; i++)
		if (thread->ended[i].start_ns <= begin_ns && end_ns <= thread->ended[i].end_ns)
			return true;
	return is_off(thread) && thread->since_ns <= begin_ns;
}

static void note_running(struct thread_times *times, struct thread *thread)
{
	/* No record has come of it: it has run all the time. */
	if (thread->state == STATE_UNSEEN)
		enter(times, thread, STATE_RUNS, thread->since_ns);
}

void thread_times_looked(struct thread_times *times, uint32_t index, enum look_outcome outcome,
			 wait_place place, uint64_t run_delay_ns)
{
	struct thread *thread = &times->threads[index];
	bool is_met = outcome == LOOKED_PLACE || outcome == LOOKED_PLACELESS;
	bool had_ended = has_ended_wait(thread);

	thread->look = LOOK_NONE;
	if (is_met) {
		wait_weights_note_run_delay(&thread->weights, &times->sink, run_delay_ns,
					    had_ended ? thread->ended_wanted_ns
						      : thread->wanted_at_wait_ns);
		thread->kind = outcome == LOOKED_PLACE ? WAIT_PROVED : WAIT_PLACELESS;
		thread->place = place;
	}
	if (had_ended)
		close_ended_wait(times, thread, is_met);
	else if (outcome == LOOKED_RUNS)
		note_running(times, thread);
	if (thread->has_ended) {
		give_rest(times, thread);
		free_thread(times, thread);
		return;
	}
	if (is_met && !had_ended && is_off(thread) && thread->since_ns == thread->asked_since_ns) {
		thread->look = LOOK_MET;
		/* It waits since we know it. */
		thread->state = STATE_WAITS;
	} else if (is_off(thread)) {
		make_due(times, thread);
	}
}

/* ---- Results ---- */

static bool is_idle(const struct thread *thread, uint64_t now_ns)
{
	return (thread->since_ns - thread->begun_ns) < (now_ns - thread->begun_ns) / IDLE_SHARE;
}

/* The part of the present wait up to now. */
static void give_present_wait(struct thread_times *times, struct thread *thread, uint64_t now_ns,
			      bool is_end)
{
	uint64_t start_ns = not_given_out_since(thread);
	bool is_met = thread->look == LOOK_MET;

	if (!is_met && !is_end)
		return;
	if (now_ns - thread->since_ns < times->least_ns) {
		if (is_end)
			times->sums.left_out_ns += now_ns - start_ns;
		return;
	}
	give(times, thread,
	     (struct wait_part){
		     .kind = is_met ? thread->kind : WAIT_PLACELESS,
		     .place = is_met ? thread->place : PLACE_UNKNOWN,
		     .start_ns = start_ns,
		     .end_ns = now_ns,
		     .weight_ns = now_ns - start_ns,
		     .count = 1,
		     .has_not_run = !thread->has_run,
		     .is_idle = is_idle(thread, now_ns),
	     });
	thread->given_out_ns = now_ns;
}

static void settle(struct thread_times *times, struct thread *thread, uint64_t now_ns, bool is_end)
{
	wait_weights_give_met(&thread->weights, &times->sink);
	if (is_end && has_ended_wait(thread))
		close_ended_wait(times, thread, false);
	if (is_end)
		wait_weights_give_unmet(&thread->weights, &times->sink);
	if (thread->has_ended || times->is_paused)
		return;
	if (now_ns > thread->life_given_ns) {
		times->sums.lives_ns += now_ns - thread->life_given_ns;
		thread->life_given_ns = now_ns;
	}
	if (now_ns <= not_given_out_since(thread))
		return;
	if (is_off(thread)) {
		give_present_wait(times, thread, now_ns, is_end);
		return;
	}
	if (thread->state == STATE_RUNS)
		times->sums.running_ns += now_ns - not_given_out_since(thread);
	else
		give_wanted(times, thread, now_ns);
	thread->given_out_ns = now_ns;
}

void thread_times_settle(struct thread_times *times, uint64_t now_ns, bool is_end)
{
	for (uint32_t i = 0; i < times->count; i++)
		if (times->threads[i].state != STATE_FREE)
			settle(times, &times->threads[i], now_ns, is_end);
	if (is_end)
		orphaned_waits_give_all(&times->orphans, &times->sink);
}

/* What no look has met counts as that of a wait that has ended. */
static void end_counting(struct thread_times *times, struct thread *thread, uint64_t now_ns)
{
	uint64_t start_ns;

	settle(times, thread, now_ns, false);
	start_ns = not_given_out_since(thread);
	if (thread->has_ended || !is_off(thread) || now_ns <= start_ns)
		return;
	if (now_ns - thread->since_ns < times->least_ns)
		times->sums.left_out_ns += now_ns - start_ns;
	else
		wait_weights_add_unmet(&thread->weights, start_ns, now_ns);
}

void thread_times_pause(struct thread_times *times, uint64_t now_ns)
{
	if (times->is_paused)
		return;
	for (uint32_t i = 0; i < times->count; i++)
		if (times->threads[i].state != STATE_FREE)
			end_counting(times, &times->threads[i], now_ns);
	times->is_paused = true;
}

static void begin_counting(struct thread_times *times, struct thread *thread, uint64_t now_ns)
{
	thread->given_out_ns = thread->life_given_ns = now_ns;
	thread->weights.knows_run_delay = false;
	count_thread(times, thread);
	if (is_off(thread) && thread->look == LOOK_NONE)
		make_due(times, thread);
}

void thread_times_resume(struct thread_times *times, uint64_t now_ns)
{
	if (!times->is_paused)
		return;
	times->is_paused = false;
	for (uint32_t i = 0; i < times->count; i++)
		if (is_alive(&times->threads[i]))
			begin_counting(times, &times->threads[i], now_ns);
}

void thread_times_lost(struct thread_times *times, uint64_t now_ns)
{
	times->lost_ns = now_ns;
}

/* After a loss, a thread that was looked at before may have run. */
static void doubt_places(struct thread_times *times, uint64_t now_ns)
{
	times->doubted_ns = now_ns;
	for (uint32_t i = 0; i < times->count; i++) {
		struct thread *thread = &times->threads[i];

		if (!is_alive(thread) || thread->look != LOOK_MET ||
		    now_ns <= not_given_out_since(thread))
			continue;
		give_present_wait(times, thread, now_ns, false);
		thread->look = LOOK_NONE;
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
	times->sums = (struct thread_times_sums){0};
	for (uint32_t i = 0; i < times->count; i++) {
		struct thread *thread = &times->threads[i];

		forget_places(thread);
		if (!is_alive(thread))
			continue;
		thread->is_counted = false;
		count_thread(times, thread);
		if (thread->look == LOOK_MET) {
			thread->look = LOOK_NONE;
			make_due(times, thread);
		}
	}
}

const struct thread_times_sums *thread_times_sums(const struct thread_times *times)
{
	return &times->sums;
}
