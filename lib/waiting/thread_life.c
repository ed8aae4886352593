#include "waiting/thread_life.h"

/*
 * A thread is idle if all it did before its current wait took less than this
 * share of its life.
 */
enum { IDLE_SHARE = 100 };

/*
 * Threads that live less than this may have their waits attributed to the
 * places of others.
 */
#define SHORT_LIFE_NS UINT64_C(1000000000)

/*
 * A preempted thread is assumed to be where it was last sampled, if that was
 * within this time.
 */
#define SAMPLED_LATELY_NS UINT64_C(100000000)

bool thread_life_is_off(const struct thread_life *life)
{
	return life->state == STATE_WAITS || life->state == STATE_UNSEEN;
}

static void thread_life_give(const struct thread_life *life, const struct life_counting *counting,
			     struct wait_part part)
{
	wait_sink_give(&counting->sink, life->pid, life->tid, part);
}

/* Adds an observed wait from start_ns until its wakeup at end_ns. */
static void finish_met(struct thread_life *life, struct life_counting *counting, uint64_t start_ns,
		       uint64_t end_ns, wait_place waker)
{
	struct met_wait wait = {
		.kind = life->kind,
		.place = life->place,
		.waker = waker,
		.start_ns = start_ns,
		.end_ns = end_ns,
	};

	wait_weights_add_met(&life->weights, &counting->sink, &wait,
			     end_ns - start_ns < life->interval_ns);
}

static bool has_ended_wait(const struct thread_life *life)
{
	return life->ended_end_ns;
}

static uint64_t not_given_out_since(const struct thread_life *life)
{
	return life->since_ns > life->given_out_ns ? life->since_ns : life->given_out_ns;
}

static void end_wait(struct thread_life *life, struct life_counting *counting, uint64_t now_ns)
{
	uint64_t start_ns = not_given_out_since(life);

	if (now_ns - life->since_ns < counting->least_ns) {
		counting->sums.left_out_ns += now_ns - start_ns;
	} else if (life->snapshot == THREAD_SNAPSHOT_MET) {
		finish_met(life, counting, start_ns, now_ns, life->waker);
	} else if (life->snapshot == THREAD_SNAPSHOT_ASKED &&
		   life->asked_since_ns == life->since_ns) {
		life->ended_start_ns = start_ns;
		life->ended_end_ns = now_ns;
		life->ended_wanted_ns = life->wanted_at_wait_ns;
		life->ended_waker = life->waker;
	} else {
		wait_weights_add_unmet(&life->weights, start_ns, now_ns);
	}
	if (life->snapshot == THREAD_SNAPSHOT_MET)
		life->snapshot = THREAD_SNAPSHOT_NONE;
}

/* Passes on the run delay up to now. */
static void give_wanted(struct thread_life *life, struct life_counting *counting, uint64_t now_ns)
{
	uint64_t start_ns = not_given_out_since(life);
	bool was_sampled = start_ns < life->sampled_ns + SAMPLED_LATELY_NS;

	thread_life_give(life, counting,
			 (struct wait_part){
				 .kind = WAIT_RUNNABLE,
				 .place = was_sampled ? life->sample_place : PLACE_UNKNOWN,
				 .was_running = true,
				 .start_ns = start_ns,
				 .end_ns = now_ns,
				 .weight_ns = now_ns - start_ns,
				 .count = start_ns == life->since_ns,
			 });
}

/* Ends a wait with a known wakeup time. The time since then is run delay. */
static void end_woken_wait(struct thread_life *life, struct life_counting *counting,
			   uint64_t now_ns)
{
	uint64_t start_ns = not_given_out_since(life);
	uint64_t woken_ns = life->woken_ns > start_ns ? life->woken_ns : start_ns;

	if (life->snapshot == THREAD_SNAPSHOT_MET && life->kind == WAIT_PROVED)
		life->weights.last_met_place = life->place;
	end_wait(life, counting, woken_ns);
	thread_life_give(life, counting,
			 (struct wait_part){
				 .kind = WAIT_RUNNABLE,
				 .place = life->weights.last_met_place,
				 .start_ns = woken_ns,
				 .end_ns = now_ns,
				 .weight_ns = now_ns - woken_ns,
			 });
	life->wanted_ns += now_ns - life->woken_ns;
}

/* Ends a state during a pause. The kernel's run delay includes pauses. */
static void end_uncounted_state(struct thread_life *life, uint64_t now_ns)
{
	if (life->state == STATE_WANTS_CPU)
		life->wanted_ns += now_ns - life->since_ns;
	else if (thread_life_is_off(life) && life->woken_ns && life->woken_ns <= now_ns)
		life->wanted_ns += now_ns - life->woken_ns;
	if (life->snapshot == THREAD_SNAPSHOT_MET)
		life->snapshot = THREAD_SNAPSHOT_NONE;
}

static void end_state(struct thread_life *life, struct life_counting *counting, uint64_t now_ns)
{
	if (counting->is_paused) {
		end_uncounted_state(life, now_ns);
		return;
	}
	/* Records of two CPUs can be a few nanoseconds out of order. */
	if (now_ns < not_given_out_since(life))
		return;
	if (life->state == STATE_RUNS) {
		counting->sums.running_ns += now_ns - not_given_out_since(life);
	} else if (life->state == STATE_WANTS_CPU) {
		give_wanted(life, counting, now_ns);
		life->wanted_ns += now_ns - life->since_ns;
	} else if (life->woken_ns && life->woken_ns <= now_ns) {
		end_woken_wait(life, counting, now_ns);
	} else {
		end_wait(life, counting, now_ns);
	}
}

/* Returns false if it is unknown where the wait started. */
static bool begin_sampled_wait(struct thread_life *life)
{
	if (life->leaves_at == PLACE_UNKNOWN || life->snapshot == THREAD_SNAPSHOT_ASKED)
		return false;
	life->snapshot = THREAD_SNAPSHOT_MET;
	life->kind = WAIT_SAMPLED;
	life->place = life->leaves_at;
	return true;
}

/* Returns whether a snapshot is needed to find out where the thread waits. */
static bool thread_life_enter(struct thread_life *life, enum thread_state state, uint64_t now_ns)
{
	if (thread_life_is_off(life)) {
		life->ended[life->ended_next].start_ns = life->since_ns;
		life->ended[life->ended_next].end_ns = now_ns;
		life->ended_next = (life->ended_next + 1) % ENDED_WAITS;
	}
	life->state = state;
	life->since_ns = now_ns;
	if (state == STATE_RUNS) {
		life->has_run = true;
		life->leaves_at = PLACE_UNKNOWN;
	} else if (state != STATE_WANTS_CPU) {
		life->woken_ns = 0;
		life->waker = PLACE_UNKNOWN;
		life->wanted_at_wait_ns = life->wanted_ns;
		return !begin_sampled_wait(life);
	}
	return false;
}

bool thread_life_begin(struct thread_life *life, pid_t pid, pid_t tid, uint64_t time_ns,
		       enum thread_state state, bool is_new)
{
	*life = (struct thread_life){
		.pid = pid,
		.tid = tid,
		.place = PLACE_UNKNOWN,
		.sample_place = PLACE_UNKNOWN,
		.leaves_at = PLACE_UNKNOWN,
		.begun_ns = time_ns,
		.given_out_ns = time_ns,
		.life_given_ns = time_ns,
	};
	wait_weights_init(&life->weights, pid, tid, is_new);
	return thread_life_enter(life, state, time_ns);
}

bool thread_life_change(struct thread_life *life, struct life_counting *counting,
			enum thread_state state, uint64_t now_ns)
{
	end_state(life, counting, now_ns);
	return thread_life_enter(life, state, now_ns);
}

void thread_life_note_running(struct thread_life *life)
{
	if (life->state == STATE_UNSEEN)
		thread_life_enter(life, STATE_RUNS, life->since_ns);
}

void thread_life_end(struct thread_life *life, struct life_counting *counting, uint64_t now_ns)
{
	end_state(life, counting, now_ns);
	if (now_ns > life->life_given_ns && !counting->is_paused)
		counting->sums.lives_ns += now_ns - life->life_given_ns;
	life->has_ended = true;
}

bool thread_life_waited(const struct thread_life *life, uint64_t begin_ns, uint64_t end_ns)
{
	for (unsigned i = 0; i < ENDED_WAITS; i++)
		if (life->ended[i].start_ns <= begin_ns && end_ns <= life->ended[i].end_ns)
			return true;
	return thread_life_is_off(life) && life->since_ns <= begin_ns;
}

void thread_life_ask(struct thread_life *life, uint64_t now_ns, uint64_t interval_ns)
{
	life->snapshot = THREAD_SNAPSHOT_ASKED;
	life->asked_ns = now_ns;
	life->asked_since_ns = life->since_ns;
	life->interval_ns = interval_ns;
}

/*
 * Returns whether the thread is still in the wait that the snapshot was taken
 * of.
 */
static bool waits_as_asked(const struct thread_life *life)
{
	return thread_life_is_off(life) && life->since_ns == life->asked_since_ns;
}

bool thread_life_has_waited(const struct thread_life *life, uint64_t end_ns)
{
	if (has_ended_wait(life))
		return life->ended_end_ns >= end_ns;
	return !life->has_ended && waits_as_asked(life);
}

void thread_life_give_up_thread_snapshot(struct thread_life *life)
{
	if (!has_ended_wait(life))
		return;
	wait_weights_add_unmet(&life->weights, life->ended_start_ns, life->ended_end_ns);
	life->ended_end_ns = 0;
}

void thread_life_looked(struct thread_life *life, struct life_counting *counting, bool is_met,
			enum wait_kind kind, wait_place place, uint64_t run_delay_ns)
{
	const bool had_ended = has_ended_wait(life);

	life->snapshot = THREAD_SNAPSHOT_NONE;
	if (is_met) {
		wait_weights_note_run_delay(&life->weights, &counting->sink, run_delay_ns,
					    had_ended ? life->ended_wanted_ns
						      : life->wanted_at_wait_ns);
		life->kind = kind;
		life->place = place;
	}
	if (had_ended && is_met) {
		finish_met(life, counting, life->ended_start_ns, life->ended_end_ns,
			   life->ended_waker);
		life->ended_end_ns = 0;
	} else if (had_ended) {
		thread_life_give_up_thread_snapshot(life);
	} else if (is_met && !life->has_ended && waits_as_asked(life)) {
		life->snapshot = THREAD_SNAPSHOT_MET;
		/* A thread without records has waited since it was added. */
		life->state = STATE_WAITS;
	}
}

bool thread_life_was_short(const struct thread_life *life)
{
	return life->tid != life->pid && life->since_ns - life->begun_ns < SHORT_LIFE_NS;
}

void thread_life_forget_places(struct thread_life *life)
{
	life->sample_place = life->leaves_at = PLACE_UNKNOWN;
	life->waker = PLACE_UNKNOWN;
	wait_weights_forget_places(&life->weights);
}

static bool is_idle(const struct thread_life *life, uint64_t now_ns)
{
	return (life->since_ns - life->begun_ns) < (now_ns - life->begun_ns) / IDLE_SHARE;
}

/* Passes on the part of the current wait up to now. */
static void give_present_wait(struct thread_life *life, struct life_counting *counting,
			      uint64_t now_ns, bool is_end)
{
	uint64_t start_ns = not_given_out_since(life);
	bool is_met = life->snapshot == THREAD_SNAPSHOT_MET;

	if (!is_met && !is_end)
		return;
	if (now_ns - life->since_ns < counting->least_ns) {
		if (is_end)
			counting->sums.left_out_ns += now_ns - start_ns;
		return;
	}
	thread_life_give(life, counting,
			 (struct wait_part){
				 .kind = is_met ? life->kind : WAIT_PLACELESS,
				 .place = is_met ? life->place : PLACE_UNKNOWN,
				 .start_ns = start_ns,
				 .end_ns = now_ns,
				 .weight_ns = now_ns - start_ns,
				 .count = 1,
				 .has_not_run = !life->has_run,
				 .is_idle = is_idle(life, now_ns),
			 });
	life->given_out_ns = now_ns;
}

bool thread_life_doubt_place(struct thread_life *life, struct life_counting *counting,
			     uint64_t now_ns)
{
	if (life->snapshot != THREAD_SNAPSHOT_MET || now_ns <= not_given_out_since(life))
		return false;
	give_present_wait(life, counting, now_ns, false);
	life->snapshot = THREAD_SNAPSHOT_NONE;
	return true;
}

void thread_life_settle(struct thread_life *life, struct life_counting *counting, uint64_t now_ns,
			bool is_end)
{
	wait_weights_give_met(&life->weights, &counting->sink);
	if (is_end) {
		thread_life_give_up_thread_snapshot(life);
		wait_weights_give_unmet(&life->weights, &counting->sink);
	}
	if (life->has_ended || counting->is_paused)
		return;
	if (now_ns > life->life_given_ns) {
		counting->sums.lives_ns += now_ns - life->life_given_ns;
		life->life_given_ns = now_ns;
	}
	if (now_ns <= not_given_out_since(life))
		return;
	if (thread_life_is_off(life)) {
		give_present_wait(life, counting, now_ns, is_end);
		return;
	}
	if (life->state == STATE_RUNS)
		counting->sums.running_ns += now_ns - not_given_out_since(life);
	else
		give_wanted(life, counting, now_ns);
	life->given_out_ns = now_ns;
}

/*
 * Counts the current wait up to now as an ended one if no snapshot observed it.
 */
void thread_life_pause(struct thread_life *life, struct life_counting *counting, uint64_t now_ns)
{
	uint64_t start_ns;

	thread_life_settle(life, counting, now_ns, false);
	start_ns = not_given_out_since(life);
	if (life->has_ended || !thread_life_is_off(life) || now_ns <= start_ns)
		return;
	if (now_ns - life->since_ns < counting->least_ns)
		counting->sums.left_out_ns += now_ns - start_ns;
	else
		wait_weights_add_unmet(&life->weights, start_ns, now_ns);
}

void thread_life_resume(struct thread_life *life, uint64_t now_ns)
{
	life->given_out_ns = life->life_given_ns = now_ns;
	life->weights.knows_run_delay = false;
}
