#include "report/idle.h"

#include "base/alloc.h"
#include "base/text.h"
#include "report/logical.h"

#include <string.h>

/* The reasons of a wait that the rules distinguish. */
enum idle_reason { UNEXPLAINED, OTHER, LOCK, EVENTS, SLEEP };

/* The program's functions and the schedulers in a stack. */
enum idle_place {
	NOTHING,
	ONE,
	TWO,
	MANY,	/* or one that a scheduler called */
	PARKED, /* a scheduler is the innermost of them */
};

struct idle_stack {
	enum idle_reason reason; /* of its last frame */
	enum idle_place place;
	bool at_condition; /* in a function of a condition variable or a semaphore */
	bool is_of_waker;  /* ends in a waker's frame */
};

struct idle {
	const struct display_labels *labels;
	const struct profile *profile;
	struct fates fates;
	struct idle_stack *stacks;
};

static bool idle_contains(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strstr(text, *words))
			return true;
	return false;
}

/* Whether it replaces a scheduler in a logical view: "[tokio runtime]". */
static bool is_row_of_runtime(const char *name)
{
	return *name == '[' && text_ends(name, " runtime]");
}

/* Returns UNEXPLAINED for a function and for the row of a runtime. */
static enum idle_reason reason_of(const struct label *leaf)
{
	static const char *const locks[] = {"[futex", "[do_futex", "[mutex",	 "[rwlock",
					    "[lock",  "[end of ",  "[flock",	 "[fcntl",
					    "[sem",   "[ipc",	   "[posix_lock"};
	static const char *const events[] = {
		"[poll",       "[select",   "[do_sys_poll",    "[do_sys_select",
		"[do_select",  "[ep_poll",  "[pause",	       "[sigwait",
		"[sigsuspend", "[io_uring", "[io_cqring_wait", "[do_sigtimedwait"};
	const char *name = leaf->name;

	if (leaf->is_address || *name != '[' || !strcmp(name, "[waiting]") ||
	    is_row_of_runtime(name))
		return UNEXPLAINED;
	if (strstr(name, " held by "))
		return OTHER;
	if (TEXT_BEGINS_ANY(name, locks) || strstr(name, "rwsem"))
		return LOCK;
	if (strstr(name, "epoll") || strstr(name, "accept") || TEXT_BEGINS_ANY(name, events))
		return EVENTS;
	return strstr(name, "nanosleep") ? SLEEP : OTHER;
}

static bool is_condition(const char *name)
{
	static const char *const words[] = {"cond_wait",      "cond_timedwait",
					    "cond_clockwait", "condition_variable",
					    "Condvar",	      NULL};
	static const char *const semaphores[] = {"sem_wait", "sem_timedwait", "sem_clockwait"};

	return idle_contains(name, words) || TEXT_BEGINS_ANY(name, semaphores);
}

/* Functions that wait for a lock with a condition variable; cut stacks. */
static bool is_lock(const char *name)
{
	static const char *const words[] = {"ObjectMonitor::Enter", "take_gil", "mutex", "Mutex",
					    NULL};

	return idle_contains(name, words) || !strcmp(name, "[truncated]");
}

static void idle_add_line(const struct idle *idle, struct idle_stack *stack, uint32_t label)
{
	const char *name = idle->labels->items[label].name;
	enum fate fate = idle->fates.items[label].fate;

	if (is_condition(name))
		stack->at_condition = true;
	else if (fate == FATE_SCHEDULER || is_row_of_runtime(name))
		*stack = (struct idle_stack){.place = PARKED};
	else if (is_lock(name))
		stack->place = MANY;
	else if (fate == FATE_PROGRAM)
		stack->place = stack->place >= TWO ? MANY : stack->place + 1;
}

/* The frames of a waker follow "[woken by NAME]". They do not count. */
static void idle_add_frame(const struct idle *idle, struct idle_stack *stack, frame_id frame)
{
	const struct display_labels *labels = idle->labels;
	uint32_t first = labels->first_line[frame], end = labels->first_line[frame + 1];
	const struct label *leaf = &labels->items[labels->lines[end - 1].label];

	stack->is_of_waker |= text_begins(leaf->name, "[woken by ");
	if (stack->is_of_waker)
		return;
	for (uint32_t i = first; i < end; i++)
		idle_add_line(idle, stack, labels->lines[i].label);
	stack->reason = reason_of(leaf);
}

/* A parent's id is lower than its children's. */
static void idle_find_stacks(struct idle *idle)
{
	const struct profile_stacks stacks = profile_stacks(idle->profile);

	idle->stacks = xcalloc(stacks.count, sizeof(*idle->stacks));
	for (stack_id i = 1; i < stacks.count; i++) {
		idle->stacks[i] = idle->stacks[stacks.items[i].parent];
		idle_add_frame(idle, &idle->stacks[i], stacks.items[i].frame);
	}
}

static bool is_idle_wait(const struct idle_stack *stack, const struct profile_thread *thread)
{
	if (stack->reason == EVENTS)
		return true;
	if (stack->place == PARKED)
		return stack->reason != OTHER;
	return stack->reason == LOCK &&
	       (stack->place == NOTHING ||
		(stack->at_condition && stack->place < MANY && thread->pid != thread->tid));
}

static bool is_idle_sample(const struct idle *idle, const struct profile_sample *sample)
{
	return profile_get_event(idle->profile, sample->event)->kind == VALUE_OFF_CPU_TIME &&
	       is_idle_wait(&idle->stacks[sample->stack],
			    profile_thread_of(idle->profile, sample->labels));
}

static void idle_deinit(struct idle *idle)
{
	fates_deinit(&idle->fates);
	free(idle->stacks);
}

bool *idle_samples(const struct display_labels *labels)
{
	const struct profile_samples samples = profile_samples(labels->profile);
	CLEANUP(idle_deinit) struct idle idle = {.labels = labels, .profile = labels->profile};
	bool *are_idle = xcalloc(samples.count, sizeof(*are_idle));

	fates_init(&idle.fates, labels);
	idle_find_stacks(&idle);
	for (uint64_t i = 0; i < samples.count; i++)
		are_idle[i] = is_idle_sample(&idle, &samples.items[i]);
	return are_idle;
}
