#include "base/signal_guard.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/pids.h"
#include "base/thread_state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum {
	SIGNAL_GUARD_TICK_MS = 100,
	/*
	 * The number of ticks after which standing still ends prof, by the
	 * number of signals so far. Ticks are counted instead of time, because
	 * time also passes while prof is stopped.
	 */
	FIRST_TICKS = 5000 / SIGNAL_GUARD_TICK_MS,
	SECOND_TICKS = 1000 / SIGNAL_GUARD_TICK_MS,
	/* This many signals end prof at once. */
	DEADLY_SIGNALS = 3,
};

/* Signals that are closer together count as one. */
#define TOGETHER_NS (100 * NS_PER_MS)
/*
 * The main thread is not responding if it has not taken a signal for this long.
 */
#define UNTAKEN_NS NS_PER_SECOND

struct signal_guard {
	pthread_t thread;
	sigset_t signals;
	int signal_fd, stop_fd, pipe[2];
	atomic_uint taken; /* signals that ask prof to end, taken by the main thread */
	atomic_int phase;  /* enum signal_phase */
	_Atomic pid_t pass_on_to;

	/* The following members are used only by the guard's thread. */
	unsigned count; /* signals that ask prof to end */
	struct received_signal last;
	uint64_t last_ns;
	unsigned still_ticks;
	uint64_t cpu_ns; /* of the relevant threads, at the last tick */
};

/*
 * Returns the CPU time of a thread. The number of its clock follows Linux's
 * posix-timers_types.h.
 */
static uint64_t signal_guard_cpu_ns_of(pid_t tid)
{
	const clockid_t per_thread = 4, scheduler = 2;

	return clock_read_ns((clockid_t)(~(unsigned)tid << 3) | per_thread | scheduler);
}

static char state_of(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	return thread_state(path);
}

struct signal_guard_activity {
	uint64_t cpu_ns;
	bool runs; /* a thread is running or runnable, or waits for a disk if that counts */
};

/* Samples the threads that are relevant in the current phase. */
static struct signal_guard_activity signal_guard_look(const struct signal_guard *guard)
{
	const char *busy_states = guard->count == 1 ? "RD" : "R";
	bool main_only = atomic_load(&guard->phase) != SIGNAL_PHASE_WORKING;
	CLEANUP(close_dir) DIR *tasks = opendir("/proc/self/task");
	struct signal_guard_activity activity = {0};

	for (pid_t tid; (tid = pids_next(tasks));) {
		if (main_only ? tid != getpid() : tid == gettid())
			continue;
		activity.cpu_ns += signal_guard_cpu_ns_of(tid);
		activity.runs |= strchr(busy_states, state_of(tid)) != NULL;
	}
	return activity;
}

void signal_guard_raise(int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
	_exit(128 + number);
}

static void die(const struct signal_guard *guard)
{
	int number = guard->last.number;
	pid_t child = atomic_load(&guard->pass_on_to);
	struct sigaction action;

	if (child && !guard->last.by_terminal)
		kill(child, number);
	/* A script's background job ignores SIGINT. */
	if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
		signal(number, SIG_DFL);
	signal_guard_raise(number);
}

static bool may_stand_still(const struct signal_guard *guard)
{
	return guard->count == 1 &&
	       (guard->last.by_terminal || atomic_load(&guard->phase) == SIGNAL_PHASE_WAITING);
}

static void signal_guard_tick(struct signal_guard *guard)
{
	unsigned limit = guard->count == 1 ? FIRST_TICKS : SECOND_TICKS;
	struct signal_guard_activity now = signal_guard_look(guard);

	if (may_stand_still(guard) || now.runs || now.cpu_ns != guard->cpu_ns)
		guard->still_ticks = 0;
	else if (++guard->still_ticks >= limit)
		die(guard);
	guard->cpu_ns = now.cpu_ns;
}

/* Returns false if the signal counts as one with the previous one. */
static bool signal_guard_count(struct signal_guard *guard, const struct received_signal *signal)
{
	uint64_t now_ns = clock_now_ns(), passed_ns = now_ns - guard->last_ns;

	if (guard->count && passed_ns < TOGETHER_NS)
		return false;
	guard->last = *signal;
	guard->last_ns = now_ns;
	guard->count++;
	if (guard->count >= DEADLY_SIGNALS ||
	    (guard->count > 1 && passed_ns >= UNTAKEN_NS && !atomic_load(&guard->taken)))
		die(guard);
	guard->still_ticks = 0;
	return true;
}

static bool asks_to_end(const struct received_signal *signal)
{
	return signal->number != SIGUSR2;
}

static void signal_guard_receive(struct signal_guard *guard)
{
	struct signalfd_siginfo info;
	struct received_signal signal;

	if (read(guard->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	signal = (struct received_signal){.number = (int)info.ssi_signo,
					  .by_terminal = info.ssi_code == SI_KERNEL};
	if (asks_to_end(&signal) && !signal_guard_count(guard, &signal))
		return;
	/* The pipe can hold thousands of signals before it is full. */
	if (write(guard->pipe[1], &signal, sizeof(signal)) < 0)
		return;
}

static void *signal_guard_run(void *arg)
{
	struct signal_guard *guard = arg;
	struct pollfd fds[] = {{.fd = guard->signal_fd, .events = POLLIN},
			       {.fd = guard->stop_fd, .events = POLLIN}};

	while (!fds[1].revents) {
		int ready = poll(fds, ARRAY_SIZE(fds), guard->count ? SIGNAL_GUARD_TICK_MS : -1);

		if (ready == 0)
			signal_guard_tick(guard);
		else if (ready > 0 && fds[0].revents)
			signal_guard_receive(guard);
	}
	return NULL;
}

static void guard_free(struct signal_guard *guard)
{
	close_fd(&guard->signal_fd);
	close_fd(&guard->stop_fd);
	close_fd(&guard->pipe[0]);
	close_fd(&guard->pipe[1]);
	free(guard);
}

static int signal_guard_open_all(struct signal_guard *guard)
{
	guard->signal_fd = signalfd(-1, &guard->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	guard->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (guard->signal_fd < 0 || guard->stop_fd < 0 ||
	    pipe2(guard->pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return errno;
	return 0;
}

struct error *signal_guard_start(const sigset_t *signals, struct signal_guard **ret)
{
	struct signal_guard *guard = xcalloc(1, sizeof(*guard));
	int number;

	*guard = (struct signal_guard){
		.signals = *signals, .signal_fd = -1, .stop_fd = -1, .pipe = {-1, -1}};
	number = signal_guard_open_all(guard);
	if (!number)
		number = pthread_create(&guard->thread, NULL, signal_guard_run, guard);
	if (number) {
		guard_free(guard);
		return error_errno(number, "receive signals");
	}
	*ret = guard;
	return NULL;
}

void signal_guard_stop(struct signal_guard *guard)
{
	if (!guard)
		return;
	eventfd_write(guard->stop_fd, 1);
	pthread_join(guard->thread, NULL);
	guard_free(guard);
}

int signal_guard_fd(const struct signal_guard *guard)
{
	return guard->pipe[0];
}

bool signal_guard_next(struct signal_guard *guard, struct received_signal *ret)
{
	if (read(guard->pipe[0], ret, sizeof(*ret)) != sizeof(*ret))
		return false;
	if (asks_to_end(ret))
		atomic_fetch_add(&guard->taken, 1);
	return true;
}

void signal_guard_begin(struct signal_guard *guard, enum signal_phase phase)
{
	atomic_store(&guard->phase, phase);
}

void signal_guard_pass_on_to(struct signal_guard *guard, pid_t child)
{
	atomic_store(&guard->pass_on_to, child);
}
