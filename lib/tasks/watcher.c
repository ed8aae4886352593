#include "tasks/watcher.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/quiet_thread.h"
#include "base/untrusted_read.h"
#include "tasks/program.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PERIOD_MS = 100,
	CPU_SHARE = 100,     /* polling uses at most 1/CPU_SHARE of a CPU */
	PROCESSES_MAX = 256, /* the maximum that is polled */
	PENDING_MAX = 4096,  /* processes that are not opened yet */
	SUMS_MAX = 65536,    /* between two calls of task_watcher_take() */
	SEARCH_ROUNDS = 10,  /* task lists are searched once in this many rounds */
	LAST_LOOK_MS = 500,  /* a pause waits at most this long for the last snapshot */
	END_MS = 1000,	     /* task_watcher_free() waits at most this long for a read that hangs */
	HUNG_MS = 5000,	     /* a read that takes longer is reported as hanging */
};

struct process {
	pid_t pid;
	int pidfd;
	struct task_program program;
	struct task_reader *reader;
	/*
	 * Time of the last snapshot; 0 before the first one and after a pause.
	 */
	uint64_t looked_ns;
	unsigned rounds;
	bool has_lists;
};

struct sum {
	struct task_wait_sum sum;
	struct task_place places[];
};

struct task_watcher {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* is_over, is_begun or has_paused */
	atomic_bool is_over, is_begun;
	struct untrusted_read read; /* guards the process that is being opened or polled */

	/* Protected by the lock: */
	bool has_paused; /* the last snapshot is done */
	pid_t *pending;
	size_t pending_count, pending_room;
	struct sum **sums;
	size_t sum_count, sum_room;
	struct idmap sum_ids; /* by hash */
	struct task_watcher_counts counts;
	char *problem;

	/* Used by the thread only: */
	struct task_programs *programs;
	struct process *processes;
	size_t process_count, process_room;
	struct process *current;
	uint64_t weight_ns;
	uint64_t random;
	bool is_abandoned; /* the thread owns the watcher and frees it */
};

/* ---- Sums ---- */

static uint64_t hash_wait(const struct process *process, const struct task_wait *wait)
{
	uint64_t hash = hash_mix((uintptr_t)process->program.layout,
				 (uint64_t)process->pid << 1 | wait->is_ready);

	for (size_t i = 0; i < wait->count; i++)
		hash = hash_mix(hash,
				(uint64_t)wait->places[i].node << 32 | wait->places[i].variant);
	return hash;
}

static struct sum *new_sum(struct task_watcher *watcher, const struct task_wait *wait)
{
	size_t bytes = wait->count * sizeof(*wait->places);
	struct sum *sum = xcalloc(1, sizeof(*sum) + bytes);

	memcpy(sum->places, wait->places, bytes);
	sum->sum = (struct task_wait_sum){
		.pid = watcher->current->pid,
		.layout = watcher->current->program.layout,
		.code = watcher->current->program.entry,
		.places = sum->places,
		.count = wait->count,
		.is_ready = wait->is_ready,
	};
	return sum;
}

static void add_to_sum(struct task_watcher *watcher, const struct task_wait *wait)
{
	uint32_t *id = idmap_put(&watcher->sum_ids, hash_wait(watcher->current, wait), 0);
	struct task_wait_sum *sum;

	if (*id == IDMAP_NONE) {
		if (watcher->sum_count == SUMS_MAX) {
			idmap_remove(&watcher->sum_ids, hash_wait(watcher->current, wait), 0);
			watcher->counts.lost++;
			return;
		}
		*id = (uint32_t)watcher->sum_count;
		GROW(watcher->sums, watcher->sum_count, watcher->sum_room);
		watcher->sums[watcher->sum_count++] = new_sum(watcher, wait);
	}
	sum = &watcher->sums[*id]->sum;
	sum->looks++;
	sum->wait_ns += (uint64_t)((double)watcher->weight_ns * wait->share);
}

/*
 * Takes the lock for each wait, so that task_watcher_take() never waits for a
 * long snapshot.
 */
static void watcher_add_wait(void *user, const struct task_wait *wait)
{
	struct task_watcher *watcher = user;

	pthread_mutex_lock(&watcher->lock);
	add_to_sum(watcher, wait);
	pthread_mutex_unlock(&watcher->lock);
}

static void forget_sums(struct task_watcher *watcher)
{
	for (size_t i = 0; i < watcher->sum_count; i++)
		free(watcher->sums[i]);
	watcher->sum_count = 0;
	idmap_deinit(&watcher->sum_ids);
	watcher->sum_ids = (struct idmap){0};
}

void task_watcher_take(struct task_watcher *watcher,
		       void (*take)(void *user, const struct task_wait_sum *sum), void *user)
{
	pthread_mutex_lock(&watcher->lock);
	for (size_t i = 0; i < watcher->sum_count; i++)
		take(user, &watcher->sums[i]->sum);
	forget_sums(watcher);
	pthread_mutex_unlock(&watcher->lock);
}

struct task_watcher_counts task_watcher_counts(struct task_watcher *watcher)
{
	struct task_watcher_counts counts;

	pthread_mutex_lock(&watcher->lock);
	counts = watcher->counts;
	pthread_mutex_unlock(&watcher->lock);
	if (untrusted_read_has_lasted(&watcher->read, HUNG_MS * NS_PER_MS))
		counts.hung = atomic_load(&watcher->read.pid);
	return counts;
}

char *task_watcher_problem(struct task_watcher *watcher)
{
	char *problem;

	pthread_mutex_lock(&watcher->lock);
	problem = watcher->problem ? xstrdup(watcher->problem) : NULL;
	pthread_mutex_unlock(&watcher->lock);
	return problem;
}

/* ---- Processes ---- */

static void process_deinit(struct process *process)
{
	task_reader_free(process->reader);
	close_fd(&process->pidfd);
}

static void remove_process(struct task_watcher *watcher, size_t index)
{
	process_deinit(&watcher->processes[index]);
	watcher->processes[index] = watcher->processes[--watcher->process_count];
}

static bool watcher_has_ended(const struct process *process)
{
	struct pollfd end = {.fd = process->pidfd, .events = POLLIN};

	return poll(&end, 1, 0) != 0;
}

static void open_process(struct task_watcher *watcher, pid_t pid)
{
	struct process process = {.pid = pid};
	const char *problem;

	for (size_t i = watcher->process_count; i-- > 0;)
		if (watcher->processes[i].pid == pid)
			remove_process(watcher, i);
	process.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process.pidfd < 0 || watcher->process_count == PROCESSES_MAX) {
		close_fd(&process.pidfd);
		return;
	}
	process.program = task_programs_find(watcher->programs, pid);
	problem = task_programs_problem(watcher->programs);
	pthread_mutex_lock(&watcher->lock);
	if (problem) {
		free(watcher->problem);
		watcher->problem = xstrdup(problem);
	}
	watcher->counts.lacks_lists |= process.program.layout && !watcher->counts.processes;
	pthread_mutex_unlock(&watcher->lock);
	if (!process.program.layout) {
		close_fd(&process.pidfd);
		return;
	}
	process.reader = task_reader_new(pid, process.program.layout, process.program.bias);
	GROW(watcher->processes, watcher->process_count, watcher->process_room);
	watcher->processes[watcher->process_count++] = process;
}

static bool take_pending(struct task_watcher *watcher, pid_t *pid)
{
	bool has_one;

	pthread_mutex_lock(&watcher->lock);
	has_one = watcher->pending_count;
	if (has_one) {
		*pid = watcher->pending[0];
		watcher->pending_count--;
		memmove(watcher->pending, watcher->pending + 1,
			watcher->pending_count * sizeof(*watcher->pending));
	}
	pthread_mutex_unlock(&watcher->lock);
	return has_one;
}

static void open_pending(struct task_watcher *watcher)
{
	pid_t pid;

	while (!atomic_load(&watcher->is_over) && take_pending(watcher, &pid)) {
		untrusted_read_begin(&watcher->read, pid);
		open_process(watcher, pid);
		watcher->is_abandoned |= !untrusted_read_end(&watcher->read);
	}
}

/* ---- Snapshots ---- */

static void watcher_add_process(struct task_watcher *watcher)
{
	pthread_mutex_lock(&watcher->lock);
	watcher->counts.processes++;
	watcher->counts.lacks_lists = false;
	pthread_mutex_unlock(&watcher->lock);
}

static void watcher_add_counts(struct task_watcher *watcher, const struct process *process)
{
	struct task_counts counts = task_reader_counts(process->reader);
	struct task_counts *sum = &watcher->counts.tasks;

	sum->tasks += counts.tasks;
	sum->read += counts.read;
	sum->running += counts.running;
	sum->changed += counts.changed;
	sum->unknown += counts.unknown;
	sum->cut_lists += counts.cut_lists;
	watcher->counts.rounds++;
}

static void read_tasks(struct task_watcher *watcher, struct process *process)
{
	uint64_t now_ns, period_ns = PERIOD_MS * NS_PER_MS;
	bool had_lists = process->has_lists;

	if (!process->has_lists || process->rounds % SEARCH_ROUNDS == 0)
		process->has_lists |= task_reader_find_lists(process->reader) > 0;
	process->rounds++;
	if (!process->has_lists)
		return;
	if (!had_lists)
		watcher_add_process(watcher); /* its first read may take long */
	now_ns = clock_now_ns();
	watcher->current = process;
	watcher->weight_ns = process->looked_ns ? now_ns - process->looked_ns : period_ns;
	process->looked_ns = now_ns;
	task_reader_read(process->reader, watcher_add_wait, watcher);
	pthread_mutex_lock(&watcher->lock);
	watcher_add_counts(watcher, process);
	pthread_mutex_unlock(&watcher->lock);
}

static void watcher_look(struct task_watcher *watcher, struct process *process)
{
	untrusted_read_begin(&watcher->read, process->pid);
	read_tasks(watcher, process);
	watcher->is_abandoned |= !untrusted_read_end(&watcher->read);
}

static void look_at_all(struct task_watcher *watcher)
{
	for (size_t i = watcher->process_count; i-- > 0;) {
		if (atomic_load(&watcher->is_over))
			return;
		if (watcher_has_ended(&watcher->processes[i]))
			remove_process(watcher, i);
		else
			watcher_look(watcher, &watcher->processes[i]);
	}
}

/* Takes the last snapshot of the processes that were polled before. */
static void begin_pause(struct task_watcher *watcher)
{
	for (size_t i = 0; i < watcher->process_count && !atomic_load(&watcher->is_over); i++) {
		struct process *process = &watcher->processes[i];

		if (process->looked_ns && !watcher_has_ended(process))
			watcher_look(watcher, process);
		process->looked_ns = 0;
	}
	pthread_mutex_lock(&watcher->lock);
	watcher->has_paused = true;
	pthread_cond_broadcast(&watcher->changed);
	pthread_mutex_unlock(&watcher->lock);
}

/*
 * Returns a random time between 0.5 and 1.5 times the period. The period grows
 * if a round is too expensive.
 */
static uint64_t next_pause_ns(struct task_watcher *watcher, uint64_t cpu_ns)
{
	uint64_t period_ns = PERIOD_MS * NS_PER_MS;

	if (cpu_ns * CPU_SHARE > period_ns)
		period_ns = cpu_ns * CPU_SHARE;
	watcher->random = hash_mix(watcher->random + 1, clock_now_ns());
	return period_ns / 2 + watcher->random % period_ns;
}

/* Returns early if the recording pauses or ends. */
static void sleep_ns(struct task_watcher *watcher, uint64_t ns)
{
	const struct timespec end = clock_wait_end(ns);
	bool was_begun = atomic_load(&watcher->is_begun);

	pthread_mutex_lock(&watcher->lock);
	while (!atomic_load(&watcher->is_over) && atomic_load(&watcher->is_begun) == was_begun &&
	       !pthread_cond_timedwait(&watcher->changed, &watcher->lock, &end))
		;
	pthread_mutex_unlock(&watcher->lock);
}

static void destroy(struct task_watcher *watcher)
{
	task_programs_free(watcher->programs);
	forget_sums(watcher);
	free(watcher->sums);
	free(watcher->pending);
	free(watcher->problem);
	pthread_cond_destroy(&watcher->changed);
	pthread_mutex_destroy(&watcher->lock);
	free(watcher);
}

static void *watcher_run(void *user)
{
	struct task_watcher *watcher = user;

	pthread_setname_np(pthread_self(), "prof-tasks");
	watcher->programs = task_programs_new(&watcher->is_over);
	while (!atomic_load(&watcher->is_over)) {
		uint64_t cpu_ns;

		open_pending(watcher);
		cpu_ns = clock_thread_cpu_ns();
		if (atomic_load(&watcher->is_begun))
			look_at_all(watcher);
		else
			begin_pause(watcher);
		sleep_ns(watcher, next_pause_ns(watcher, clock_thread_cpu_ns() - cpu_ns));
	}
	while (watcher->process_count)
		remove_process(watcher, watcher->process_count - 1);
	free(watcher->processes);
	if (watcher->is_abandoned)
		destroy(watcher);
	return NULL;
}

/* ---- The caller's side ---- */

struct task_watcher *task_watcher_new(void)
{
	struct task_watcher *watcher = xcalloc(1, sizeof(*watcher));
	pthread_condattr_t attributes;

	pthread_mutex_init(&watcher->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&watcher->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (!quiet_thread_start(&watcher->thread, watcher_run, watcher)) {
		pthread_cond_destroy(&watcher->changed);
		pthread_mutex_destroy(&watcher->lock);
		free(watcher);
		return NULL;
	}
	return watcher;
}

static void set_and_wake(struct task_watcher *watcher, atomic_bool *which, bool value)
{
	pthread_mutex_lock(&watcher->lock);
	atomic_store(which, value);
	pthread_cond_broadcast(&watcher->changed);
	pthread_mutex_unlock(&watcher->lock);
}

void task_watcher_free(struct task_watcher *watcher)
{
	pthread_t thread;
	uint64_t end_ns;
	pid_t pid;

	if (!watcher)
		return;
	set_and_wake(watcher, &watcher->is_over, true);
	thread = watcher->thread;
	end_ns = clock_now_ns() + END_MS * NS_PER_MS;
	while (pthread_tryjoin_np(thread, NULL)) {
		/* From here on the thread may free the watcher at any time. */
		if (clock_now_ns() > end_ns && untrusted_read_abandon(&watcher->read, 0, &pid)) {
			pthread_detach(thread);
			return;
		}
		usleep(500);
	}
	destroy(watcher);
}

void task_watcher_add(struct task_watcher *watcher, pid_t pid)
{
	pthread_mutex_lock(&watcher->lock);
	if (watcher->pending_count < PENDING_MAX) {
		GROW(watcher->pending, watcher->pending_count, watcher->pending_room);
		watcher->pending[watcher->pending_count++] = pid;
	}
	pthread_mutex_unlock(&watcher->lock);
}

void task_watcher_begin(struct task_watcher *watcher)
{
	set_and_wake(watcher, &watcher->is_begun, true);
}

void task_watcher_pause(struct task_watcher *watcher)
{
	const struct timespec end = clock_wait_end(LAST_LOOK_MS * NS_PER_MS);

	pthread_mutex_lock(&watcher->lock);
	if (atomic_exchange(&watcher->is_begun, false)) {
		watcher->has_paused = false;
		pthread_cond_broadcast(&watcher->changed);
		while (!watcher->has_paused &&
		       !pthread_cond_timedwait(&watcher->changed, &watcher->lock, &end))
			;
	}
	pthread_mutex_unlock(&watcher->lock);
}
