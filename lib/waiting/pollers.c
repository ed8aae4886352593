#include "waiting/pollers.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hung_processes.h"
#include "base/sched_attributes.h"
#include "base/untrusted_read.h"
#include "waiting/thread_files.h"
#include "waiting/thread_text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TIMEOUT_NS (100 * NS_PER_MS)

enum {
	/*
	 * One more than the caller may request, because the caller borrows one.
	 */
	SLOTS = POLLERS_ROOM + 1,
	THREAD_STACK_BYTES = 64 << 10,
	POLLERS_STAT_BYTES = 512,
};

struct pollers_slot {
	struct thread_snapshot_request request;
	bool is_hung; /* its process must not be read */
	struct thread_snapshot *snapshot;
};

/* After it is abandoned, its own thread owns and frees it. */
struct poller {
	struct pollers *all; /* invalid after it is abandoned */
	pthread_t thread;
	_Atomic pid_t tid; /* 0 before it has started */
	struct untrusted_read read;
	struct thread_snapshot *snapshot; /* swapped with the slot's when finished */
	struct kept_threads kept;
	struct script_walker *walker; /* NULL if no scripts are read */
};

/*
 * A ring with three positions that only increase: the caller writes requests at
 * `asked` and reads snapshots at `taken`, and the poller works at `done`. After
 * abandoning a poller without a replacement, the caller does the poller's part.
 */
struct pollers {
	struct scripts *scripts; /* may be NULL */
	atomic_size_t asked, done;
	size_t taken;
	bool has_given; /* the caller still borrows the snapshot at `taken` */
	atomic_bool is_ending;
	atomic_bool sleeps; /* the poller sleeps or is about to: wake it */
	int work_fd;
	struct poller *poller; /* NULL after too many have hung */
	struct hung_processes hung;
	struct pollers_slot slots[SLOTS];
};

static struct pollers_slot *slot_at(struct pollers *all, size_t index)
{
	return &all->slots[index % SLOTS];
}

static void poller_free(struct poller *poller)
{
	kept_threads_clear(&poller->kept);
	script_walker_free(poller->walker);
	thread_snapshot_deinit(poller->snapshot);
	free(poller->snapshot);
	free(poller);
}

/* Returns the walker if the thread's process has an interpreter. */
static struct script_walker *begin_script(const struct poller *poller,
					  const struct thread_snapshot_request *request)
{
	return poller->walker && script_walker_begin(poller->walker, poller->all->scripts,
						     request->pid, request->tid)
		       ? poller->walker
		       : NULL;
}

/* Completes the frames of the interpreter. Returns false if the poller was
 * abandoned. */
static bool end_script(struct poller *poller, struct thread_snapshot *snapshot)
{
	if (!snapshot->tried_script)
		return true;
	if (!script_walker_end(poller->walker, poller->all->scripts, &poller->read,
			       &snapshot->script, &snapshot->has_script))
		return false;
	snapshot->end_ns = clock_now_ns();
	return true;
}

/* Returns false if the poller was abandoned. */
static bool poller_run(struct poller *poller, size_t index)
{
	struct pollers_slot *slot = slot_at(poller->all, index);
	struct thread_snapshot_request request = slot->request;
	struct thread_snapshot *finished = poller->snapshot;
	bool is_hung = slot->is_hung;
	struct script_walker *walker = is_hung ? NULL : begin_script(poller, &request);

	untrusted_read_begin(&poller->read, request.pid);
	if (is_hung)
		thread_snapshot_give_up(&request, finished);
	else
		thread_snapshot_take(&request, &poller->kept, walker, finished);
	if (!untrusted_read_end(&poller->read) || !end_script(poller, finished))
		return false;
	poller->snapshot = slot->snapshot;
	slot->snapshot = finished;
	atomic_store(&poller->all->done, index + 1);
	return true;
}

static void sleep_until_asked(struct pollers *all, size_t done)
{
	eventfd_t count;

	atomic_store(&all->sleeps, true);
	if (atomic_load(&all->asked) == done && !atomic_load(&all->is_ending))
		eventfd_read(all->work_fd, &count);
	atomic_store(&all->sleeps, false);
}

static void *pollers_run(void *arg)
{
	struct poller *poller = arg;
	struct pollers *all = poller->all;
	size_t done = atomic_load(&all->done);

	atomic_store(&poller->tid, (pid_t)syscall(SYS_gettid));
	sched_request_short_slices();
	while (!atomic_load(&all->is_ending)) {
		if (atomic_load(&all->asked) == done) {
			sleep_until_asked(all, done);
		} else if (poller_run(poller, done)) {
			done++;
		} else {
			poller_free(poller);
			return NULL;
		}
	}
	return NULL;
}

/* Returns NULL if the system lacks the resources. */
static struct poller *poller_start(struct pollers *all)
{
	struct poller *poller = xcalloc(1, sizeof(*poller));
	pthread_attr_t attr;
	int number;

	poller->all = all;
	if (all->scripts)
		poller->walker = script_walker_new();
	poller->snapshot = xcalloc(1, sizeof(*poller->snapshot));
	number = pthread_attr_init(&attr);
	if (!number) {
		pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
		number = pthread_create(&poller->thread, &attr, pollers_run, poller);
		pthread_attr_destroy(&attr);
	}
	if (!number)
		return poller;
	poller_free(poller);
	return NULL;
}

struct pollers *pollers_new(struct scripts *scripts)
{
	struct pollers *all = xcalloc(1, sizeof(*all));

	all->scripts = scripts;
	for (size_t i = 0; i < SLOTS; i++)
		all->slots[i].snapshot = xcalloc(1, sizeof(struct thread_snapshot));
	all->work_fd = eventfd(0, EFD_CLOEXEC);
	if (all->work_fd >= 0)
		all->poller = poller_start(all);
	if (all->poller)
		return all;
	pollers_free(all);
	return NULL;
}

/*
 * A poller that is only runnable, because the machine is busy, does not hang.
 */
static bool pollers_is_asleep(const struct poller *poller)
{
	struct thread_files thread = {0};
	char text[POLLERS_STAT_BYTES];

	if (thread_files_open(&thread, getpid(), atomic_load(&poller->tid)))
		return false;
	thread_files_read(&thread, THREAD_STAT, text, sizeof(text));
	thread_files_close(&thread);
	return thread_text_state(text) != 'R';
}

/*
 * Abandons a poller that hangs. Sets *pid to the process that it was reading.
 */
static bool pollers_leave_behind(struct poller *poller, pid_t *pid)
{
	pthread_t thread = poller->thread;

	if (!untrusted_read_has_lasted(&poller->read, TIMEOUT_NS) || !pollers_is_asleep(poller) ||
	    !untrusted_read_abandon(&poller->read, TIMEOUT_NS, pid))
		return false;
	/* From here on the poller may be freed at any time. */
	pthread_detach(thread);
	return true;
}

/* Finishes the pending request instead of the poller. */
static void give_up(struct pollers *all)
{
	size_t done = atomic_load(&all->done);
	struct pollers_slot *slot = slot_at(all, done);

	thread_snapshot_give_up(&slot->request, slot->snapshot);
	atomic_store(&all->done, done + 1);
}

static void pollers_replace_if_hung(struct pollers *all)
{
	pid_t pid;

	if (!all->poller || !pollers_leave_behind(all->poller, &pid))
		return;
	all->poller = NULL;
	give_up(all);
	if (hung_processes_add(&all->hung, pid))
		all->poller = poller_start(all);
}

static void finish_without_poller(struct pollers *all)
{
	while (!all->poller && atomic_load(&all->done) != atomic_load(&all->asked))
		give_up(all);
}

bool pollers_ask(struct pollers *all, const struct thread_snapshot_request *request)
{
	size_t asked = atomic_load(&all->asked);
	struct pollers_slot *slot = slot_at(all, asked);

	if (asked - all->taken == POLLERS_ROOM + (size_t)all->has_given)
		return false;
	slot->request = *request;
	slot->is_hung = hung_processes_have(&all->hung, request->pid);
	atomic_store(&all->asked, asked + 1);
	if (atomic_exchange(&all->sleeps, false))
		eventfd_write(all->work_fd, 1);
	finish_without_poller(all);
	return true;
}

static bool has_finished(struct pollers *all)
{
	return atomic_load(&all->done) != all->taken;
}

/* Ends the caller's borrow of the last snapshot. */
static void pollers_release(struct pollers *all)
{
	if (!all->has_given)
		return;
	thread_snapshot_shrink(slot_at(all, all->taken)->snapshot);
	all->taken++;
	all->has_given = false;
}

const struct thread_snapshot *pollers_take(struct pollers *all)
{
	pollers_release(all);
	if (!has_finished(all)) {
		pollers_replace_if_hung(all);
		finish_without_poller(all);
	}
	all->has_given = has_finished(all);
	return all->has_given ? slot_at(all, all->taken)->snapshot : NULL;
}

static void poller_end(struct poller *poller)
{
	pid_t pid;

	while (pthread_tryjoin_np(poller->thread, NULL)) {
		if (pollers_leave_behind(poller, &pid))
			return;
		usleep(500);
	}
	poller_free(poller);
}

void pollers_free(struct pollers *all)
{
	if (!all)
		return;
	atomic_store(&all->is_ending, true);
	if (all->work_fd >= 0)
		eventfd_write(all->work_fd, 1);
	if (all->poller)
		poller_end(all->poller);
	for (size_t i = 0; i < SLOTS; i++) {
		thread_snapshot_deinit(all->slots[i].snapshot);
		free(all->slots[i].snapshot);
	}
	close_fd(&all->work_fd);
	free(all);
}
