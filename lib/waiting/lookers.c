#include "waiting/lookers.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/foreign_read.h"
#include "base/hung_processes.h"
#include "base/sched_attributes.h"
#include "waiting/thread_files.h"
#include "waiting/thread_text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATIENCE_NS (100 * NS_PER_MS)

enum {
	/* The caller holds one more than it may ask for. */
	SLOTS = LOOKERS_ROOM + 1,
	THREAD_STACK_BYTES = 64 << 10,
	STAT_BYTES = 512,
};

struct slot {
	struct look_request request;
	bool is_hung; /* nothing is to be read of its process */
	struct look *look;
};

/* Once left behind, it belongs to its thread. */
struct looker {
	struct lookers *all; /* not valid once left behind */
	pthread_t thread;
	_Atomic pid_t tid; /* 0: it has not started yet */
	struct foreign_read read;
	struct look *look; /* exchanged for that of a slot when it is finished */
	struct kept_threads kept;
};

/*
 * The caller writes at `asked` and reads at `taken`, the looker works at `done`; each counts up
 * without end. Who gives up a looker does the rest of its work.
 */
struct lookers {
	atomic_size_t asked, done;
	size_t taken;
	bool has_given; /* the caller still borrows the one at `taken` */
	atomic_bool is_ending;
	atomic_bool sleeps; /* the looker, or it is about to: wake it */
	int work_fd;
	struct looker *looker; /* NULL: too many have hung */
	struct hung_processes hung;
	struct slot slots[SLOTS];
};

static struct slot *slot_at(struct lookers *all, size_t index)
{
	return &all->slots[index % SLOTS];
}

static void looker_free(struct looker *looker)
{
	kept_threads_clear(&looker->kept);
	look_deinit(looker->look);
	free(looker->look);
	free(looker);
}

/* False: the looker was left behind. */
static bool do_look(struct looker *looker, size_t index)
{
	struct slot *slot = slot_at(looker->all, index);
	struct look_request request = slot->request;
	struct look *finished = looker->look;
	bool is_hung = slot->is_hung;

	foreign_read_begin(&looker->read, request.pid);
	if (is_hung)
		look_give_up(&request, finished);
	else
		look_at(&request, &looker->kept, finished);
	if (!foreign_read_end(&looker->read))
		return false;
	looker->look = slot->look;
	slot->look = finished;
	atomic_store(&looker->all->done, index + 1);
	return true;
}

static void sleep_until_asked(struct lookers *all, size_t done)
{
	eventfd_t count;

	atomic_store(&all->sleeps, true);
	if (atomic_load(&all->asked) == done && !atomic_load(&all->is_ending))
		eventfd_read(all->work_fd, &count);
	atomic_store(&all->sleeps, false);
}

static void *run(void *arg)
{
	struct looker *looker = arg;
	struct lookers *all = looker->all;
	size_t done = atomic_load(&all->done);

	atomic_store(&looker->tid, (pid_t)syscall(SYS_gettid));
	sched_request_short_slices();
	while (!atomic_load(&all->is_ending)) {
		if (atomic_load(&all->asked) == done) {
			sleep_until_asked(all, done);
		} else if (do_look(looker, done)) {
			done++;
		} else {
			looker_free(looker);
			return NULL;
		}
	}
	return NULL;
}

/* NULL: the system lacks the resources. */
static struct looker *looker_start(struct lookers *all)
{
	struct looker *looker = xcalloc(1, sizeof(*looker));
	pthread_attr_t attr;
	int number;

	looker->all = all;
	looker->look = xcalloc(1, sizeof(*looker->look));
	number = pthread_attr_init(&attr);
	if (!number) {
		pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
		number = pthread_create(&looker->thread, &attr, run, looker);
		pthread_attr_destroy(&attr);
	}
	if (!number)
		return looker;
	looker_free(looker);
	return NULL;
}

struct lookers *lookers_new(void)
{
	struct lookers *all = xcalloc(1, sizeof(*all));

	for (size_t i = 0; i < SLOTS; i++)
		all->slots[i].look = xcalloc(1, sizeof(struct look));
	all->work_fd = eventfd(0, EFD_CLOEXEC);
	if (all->work_fd >= 0)
		all->looker = looker_start(all);
	if (all->looker)
		return all;
	lookers_free(all);
	return NULL;
}

/* On a busy machine it may have waited for a CPU; then it does not hang. */
static bool is_asleep(const struct looker *looker)
{
	struct thread_files thread = {0};
	char text[STAT_BYTES];

	if (thread_files_open(&thread, getpid(), atomic_load(&looker->tid)))
		return false;
	thread_files_read(&thread, THREAD_STAT, text, sizeof(text));
	thread_files_close(&thread);
	return thread_text_state(text) != 'R';
}

/* pid: of the process that it looks at. */
static bool leave_behind(struct looker *looker, pid_t *pid)
{
	pthread_t thread = looker->thread;

	if (!foreign_read_has_lasted(&looker->read, PATIENCE_NS) || !is_asleep(looker) ||
	    !foreign_read_abandon(&looker->read, PATIENCE_NS, pid))
		return false;
	/* From here on the looker may be freed at any time. */
	pthread_detach(thread);
	return true;
}

/* What the looker would have done. */
static void give_up(struct lookers *all)
{
	size_t done = atomic_load(&all->done);
	struct slot *slot = slot_at(all, done);

	look_give_up(&slot->request, slot->look);
	atomic_store(&all->done, done + 1);
}

static void replace_if_hung(struct lookers *all)
{
	pid_t pid;

	if (!all->looker || !leave_behind(all->looker, &pid))
		return;
	all->looker = NULL;
	give_up(all);
	if (hung_processes_add(&all->hung, pid))
		all->looker = looker_start(all);
}

static void finish_without_looker(struct lookers *all)
{
	while (!all->looker && atomic_load(&all->done) != atomic_load(&all->asked))
		give_up(all);
}

bool lookers_ask(struct lookers *all, const struct look_request *request)
{
	size_t asked = atomic_load(&all->asked);
	struct slot *slot = slot_at(all, asked);

	if (asked - all->taken == LOOKERS_ROOM + (size_t)all->has_given)
		return false;
	slot->request = *request;
	slot->is_hung = hung_processes_have(&all->hung, request->pid);
	atomic_store(&all->asked, asked + 1);
	if (atomic_exchange(&all->sleeps, false))
		eventfd_write(all->work_fd, 1);
	finish_without_looker(all);
	return true;
}

static bool has_finished(struct lookers *all)
{
	return atomic_load(&all->done) != all->taken;
}

/* The caller has read the one it got last. */
static void release(struct lookers *all)
{
	if (!all->has_given)
		return;
	look_shrink(slot_at(all, all->taken)->look);
	all->taken++;
	all->has_given = false;
}

const struct look *lookers_take(struct lookers *all)
{
	release(all);
	if (!has_finished(all)) {
		replace_if_hung(all);
		finish_without_looker(all);
	}
	all->has_given = has_finished(all);
	return all->has_given ? slot_at(all, all->taken)->look : NULL;
}

static void looker_end(struct looker *looker)
{
	pid_t pid;

	while (pthread_tryjoin_np(looker->thread, NULL)) {
		if (leave_behind(looker, &pid))
			return;
		usleep(500);
	}
	looker_free(looker);
}

void lookers_free(struct lookers *all)
{
	if (!all)
		return;
	atomic_store(&all->is_ending, true);
	if (all->work_fd >= 0)
		eventfd_write(all->work_fd, 1);
	if (all->looker)
		looker_end(all->looker);
	for (size_t i = 0; i < SLOTS; i++) {
		look_deinit(all->slots[i].look);
		free(all->slots[i].look);
	}
	close_fd(&all->work_fd);
	free(all);
}
