#include "waiting/thread_life.h"

/* What an idle thread may have done before it began to wait is less than this share of its life. */
enum { IDLE_SHARE = 100 };

/* Of threads whose waits may be placed by those of others. */
#define SHORT_LIFE_NS UINT64_C(1000000000)

/* A thread that loses its CPU is taken to be where it was sampled before, if that was not longer
 * ago. */
#define SAMPLED_LATELY_NS UINT64_C(100000000)

bool thread_life_is_off(const struct thread_life *life)
{
	return life->state == STATE_WAITS || life->state == STATE_UNSEEN;
}

static void give(const struct thread_life *life, const struct life_counting *counting,
		 struct wait_part part)
{
	wait_sink_give(&counting->sink, life->pid, life->tid, part);
}

/* A wait was met that lasted from start_ns to end_ns, when it was woken. */
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
	} else if (life->look == LOOK_MET) {
		finish_met(life, counting, start_ns, now_ns, life->waker);
	} else if (life->look == LOOK_ASKED && life->asked_since_ns == life->since_ns) {
		life->ended_start_ns = start_ns;
		life->ended_end_ns = now_ns;
		life->ended_wanted_ns = life->wanted_at_wait_ns;
		life->ended_waker = life->waker;
	} else {
		wait_weights_add_unmet(&life->weights, start_ns, now_ns);
	}
	if (life->look == LOOK_MET)
		life->look = LOOK_NONE;
}

/* Gives out the time up to now in which the thread wanted a CPU. */
static void give_wanted(struct thread_life *life, struct life_counting *counting, uint64_t now_ns)
{
	uint64_t start_ns = not_given_out_since(life);
	bool was_sampled = start_ns < life->sampled_ns + SAMPLED_LATELY_NS;

	give(life, counting,
	     (struct wait_part){
		     .kind = WAIT_WANTED_CPU,
		     .place = was_sampled ? life->sample_place : PLACE_UNKNOWN,
		     .was_running = true,
		     .start_ns = start_ns,
		     .end_ns = now_ns,
		     .weight_ns = now_ns - start_ns,
		     .count = start_ns == life->since_ns,
	     });
}

/* Ends a wait, of which it is known when it was woken, and gives out that it then wanted a CPU. */
static void end_woken_wait(struct thread_life *life, struct life_counting *counting,
			   uint64_t now_ns)
{
	uint64_t start_ns = not_given_out_since(life);
	uint64_t woken_ns = life->woken_ns > start_ns ? life->woken_ns : start_ns;

	if (life->look == LOOK_MET && life->kind == WAIT_PROVED)
		life->weights.last_met_place = life->place;
	end_wait(life, counting, woken_ns);
	give(life, counting,
	     (struct wait_part){
		     .kind = WAIT_WANTED_CPU,
		     .place = life->weights.last_met_place,
		     .start_ns = woken_ns,
		     .end_ns = now_ns,
		     .weight_ns = now_ns - woken_ns,
	     });
	life->wanted_ns += now_ns - life->woken_ns;
}

/* Ends the state while time does not count. The run delay of the thread knows no pause. */
static void end_uncounted_state(struct thread_life *life, uint64_t now_ns)
{
	if (life->state == STATE_WANTS_CPU)
		life->wanted_ns += now_ns - life->since_ns;
	else if (thread_life_is_off(life) && life->woken_ns && life->woken_ns <= now_ns)
		life->wanted_ns += now_ns - life->woken_ns;
	if (life->look == LOOK_MET)
		life->look = LOOK_NONE;
}

static void end_state(struct thread_life *life, struct life_counting *counting, uint64_t now_ns)
{
	if (counting->is_paused) {
		end_uncounted_state(life, now_ns);
		return;
	}
	/* Records of two CPUs can be some nanoseconds out of order. */
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

/* False: it is not known where it began. */
static bool begin_sampled_wait(struct thread_life *life)
{
	if (life->leaves_at == PLACE_UNKNOWN || life->look == LOOK_ASKED)
		return false;
	life->look = LOOK_MET;
	life->kind = WAIT_SAMPLED;
	life->place = life->leaves_at;
	return true;
}

/* Returns whether a look is needed to know where the thread waits. */
static bool enter(struct thread_life *life, enum thread_state state, uint64_t now_ns)
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
	return enter(life, state, time_ns);
}

bool thread_life_change(struct thread_life *life, struct life_counting *counting,
			enum thread_state state, uint64_t now_ns)
{
	end_state(life, counting, now_ns);
	return enter(life, state, now_ns);
}

void thread_life_note_running(struct thread_life *life)
{
	if (life->state == STATE_UNSEEN)
		enter(life, STATE_RUNS, life->since_ns);
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
	life->look = LOOK_ASKED;
	life->asked_ns = now_ns;
	life->asked_since_ns = life->since_ns;
	life->interval_ns = interval_ns;
}

/* It is in the wait that was looked at. */
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

void thread_life_give_up_look(struct thread_life *life)
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

	life->look = LOOK_NONE;
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
		thread_life_give_up_look(life);
	} else if (is_met && !life->has_ended && waits_as_asked(life)) {
		life->look = LOOK_MET;
		/* It waits since we know it. */
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

/* The part of the present wait up to now. */
static void give_present_wait(struct thread_life *life, struct life_counting *counting,
			      uint64_t now_ns, bool is_end)
{
	uint64_t start_ns = not_given_out_since(life);
	bool is_met = life->look == LOOK_MET;

	if (!is_met && !is_end)
		return;
	if (now_ns - life->since_ns < counting->least_ns) {
		if (is_end)
			counting->sums.left_out_ns += now_ns - start_ns;
		return;
	}
	give(life, counting,
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
	if (life->look != LOOK_MET || now_ns <= not_given_out_since(life))
		return false;
	give_present_wait(life, counting, now_ns, false);
	life->look = LOOK_NONE;
	return true;
}

void thread_life_settle(struct thread_life *life, struct life_counting *counting, uint64_t now_ns,
			bool is_end)
{
	wait_weights_give_met(&life->weights, &counting->sink);
	if (is_end) {
		thread_life_give_up_look(life);
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

/* What no look has met counts as that of a wait that has ended. */
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
