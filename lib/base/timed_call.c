#include "base/timed_call.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread_state.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * A call that has slept this long is abandoned. A busy spinning disk responds
 * sooner.
 */
#define TIMEOUT_NS NS_PER_SECOND

/* How often the thread is polled during that time. */
enum { LOOKS = 20 };

/* Each abandoned call costs a waiting thread, and the caller a second. */
enum { LEFT_BEHIND_MAX = 8 };

/* Opening a file and reading its ELF header need a few KiB. */
enum { STACK_BYTES = 256 << 10 };

enum timed_call_state {
	HELPER_IDLE,
	HELPER_CALLED,
	HELPER_DONE,
	HELPER_ENDING,
	HELPER_LEFT_BEHIND,
};

/* Shared with the thread. The last user frees it. */
struct helper {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	enum timed_call_state state;
	struct timed_call *call;
	uint64_t place; /* of the call, which may have been freed */
	pid_t process, tid;
	unsigned holders;
};

struct timed_caller {
	uint64_t look_ns;
	pthread_mutex_t mutex;
	struct helper *helper; /* NULL if it has not been started */
	struct helper *left_behind[LEFT_BEHIND_MAX];
	unsigned left_behind_count;
};

struct timed_caller *timed_caller_new(void)
{
	struct timed_caller *caller = xcalloc(1, sizeof(*caller));

	pthread_mutex_init(&caller->mutex, NULL);
	timed_caller_set_timeout(caller, TIMEOUT_NS);
	return caller;
}

void timed_caller_set_timeout(struct timed_caller *caller, uint64_t ns)
{
	caller->look_ns = ns / LOOKS;
}

static struct helper *helper_new(void)
{
	struct helper *helper = xcalloc(1, sizeof(*helper));
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&helper->mutex, NULL);
	pthread_cond_init(&helper->changed, &attr);
	pthread_condattr_destroy(&attr);
	helper->process = getpid();
	helper->holders = 1;
	return helper;
}

/* The caller holds the mutex, which is released. */
static void let_go(struct helper *helper)
{
	bool is_last = --helper->holders == 0;

	pthread_mutex_unlock(&helper->mutex);
	if (!is_last)
		return;
	pthread_cond_destroy(&helper->changed);
	pthread_mutex_destroy(&helper->mutex);
	free(helper);
}

static void set_state(struct helper *helper, enum timed_call_state state)
{
	helper->state = state;
	pthread_cond_signal(&helper->changed);
}

static void make_call(struct helper *helper)
{
	struct timed_call *call = helper->call;

	pthread_mutex_unlock(&helper->mutex);
	call->run(call);
	pthread_mutex_lock(&helper->mutex);
	if (helper->state != HELPER_LEFT_BEHIND) {
		set_state(helper, HELPER_DONE);
		return;
	}
	pthread_mutex_unlock(&helper->mutex);
	call->discard(call);
	pthread_mutex_lock(&helper->mutex);
}

static void *timed_call_serve(void *user)
{
	struct helper *helper = user;

	pthread_mutex_lock(&helper->mutex);
	helper->tid = (pid_t)syscall(SYS_gettid);
	while (helper->state != HELPER_ENDING && helper->state != HELPER_LEFT_BEHIND) {
		if (helper->state == HELPER_CALLED)
			make_call(helper);
		else
			pthread_cond_wait(&helper->changed, &helper->mutex);
	}
	let_go(helper);
	return NULL;
}

static bool timed_call_start(struct helper *helper)
{
	pthread_attr_t attr;
	pthread_t thread;
	bool started;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	helper->holders++;
	started = pthread_create(&thread, &attr, timed_call_serve, helper) == 0;
	if (!started)
		helper->holders--;
	pthread_attr_destroy(&attr);
	return started;
}

/* The caller holds the mutex. */
static void wait_while_it_runs(struct helper *helper, uint64_t look_ns)
{
	unsigned looks = 0;

	while (helper->state == HELPER_CALLED && looks < LOOKS) {
		const struct timespec until = clock_wait_end(look_ns);

		if (pthread_cond_timedwait(&helper->changed, &helper->mutex, &until) != 0 &&
		    helper->state == HELPER_CALLED)
			looks += thread_is_asleep(helper->tid);
	}
}

/* Forgets abandoned calls that have ended since. */
static void forget_ended(struct timed_caller *caller)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < caller->left_behind_count; i++) {
		struct helper *helper = caller->left_behind[i];

		pthread_mutex_lock(&helper->mutex);
		if (helper->holders == 1) {
			let_go(helper);
			continue;
		}
		pthread_mutex_unlock(&helper->mutex);
		caller->left_behind[kept++] = helper;
	}
	caller->left_behind_count = kept;
}

static bool is_refused(struct timed_caller *caller, uint64_t place)
{
	forget_ended(caller);
	for (unsigned i = 0; i < caller->left_behind_count; i++)
		if (caller->left_behind[i]->place == place)
			return true;
	return caller->left_behind_count == LEFT_BEHIND_MAX;
}

static bool ready(struct timed_caller *caller)
{
	/*
	 * After fork(2) the thread does not exist, and its resources cannot be
	 * freed.
	 */
	if (caller->helper && caller->helper->process == getpid())
		return true;
	caller->helper = helper_new();
	if (timed_call_start(caller->helper))
		return true;
	pthread_mutex_lock(&caller->helper->mutex);
	let_go(STEAL(caller->helper));
	return false;
}

/* Returns false if the call was abandoned. */
static bool run_on(struct helper *helper, struct timed_call *call, uint64_t look_ns)
{
	bool is_done;

	pthread_mutex_lock(&helper->mutex);
	helper->call = call;
	helper->place = call->place;
	set_state(helper, HELPER_CALLED);
	wait_while_it_runs(helper, look_ns);
	is_done = helper->state == HELPER_DONE;
	helper->state = is_done ? HELPER_IDLE : HELPER_LEFT_BEHIND;
	pthread_mutex_unlock(&helper->mutex);
	return is_done;
}

/* The caller holds the mutex. */
static bool run_locked(struct timed_caller *caller, struct timed_call *call)
{
	if (caller->left_behind_count && is_refused(caller, call->place)) {
		call->discard(call);
		return false;
	}
	if (!ready(caller)) {
		call->run(call);
		return true;
	}
	if (run_on(caller->helper, call, caller->look_ns))
		return true;
	caller->left_behind[caller->left_behind_count++] = STEAL(caller->helper);
	return false;
}

bool timed_caller_run(struct timed_caller *caller, struct timed_call *call)
{
	bool is_done;

	pthread_mutex_lock(&caller->mutex);
	is_done = run_locked(caller, call);
	pthread_mutex_unlock(&caller->mutex);
	return is_done;
}

void timed_caller_free(struct timed_caller *caller)
{
	if (!caller)
		return;
	for (unsigned i = 0; i < caller->left_behind_count; i++) {
		pthread_mutex_lock(&caller->left_behind[i]->mutex);
		let_go(caller->left_behind[i]);
	}
	if (caller->helper) {
		pthread_mutex_lock(&caller->helper->mutex);
		set_state(caller->helper, HELPER_ENDING);
		let_go(caller->helper);
	}
	pthread_mutex_destroy(&caller->mutex);
	free(caller);
}
