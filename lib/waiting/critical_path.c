#include "waiting/critical_path.h"

#include "base/alloc.h"
#include "base/idmap.h"

#include <stdlib.h>
#include <sys/param.h>

enum {
	/* Limit for all records together. */
	CRITICAL_RECORDS_MAX = 8 << 20,
	/* So many steps without time between them are a cycle of wakeups. */
	CRITICAL_IDLE_STEPS_MAX = 64,
	/* So many overlapping waits are searched for the one at a time. */
	CRITICAL_OVERLAP_MAX = 256,
};

#define CRITICAL_NO_THREAD UINT32_MAX

/* The thread was on a CPU. Ordered by time; end_ns is UINT64_MAX while it
 * lasts. The fields of the wakeup are of the wait before it. */
struct critical_stretch {
	uint64_t start_ns, end_ns;
	uint64_t woken_ns; /* 0 if unknown */
	uint32_t waker;	   /* index, or CRITICAL_NO_THREAD */
};

struct critical_sample {
	uint64_t time_ns;
	wait_place place;
};

struct critical_wait {
	uint64_t start_ns, end_ns;
	uint64_t latest_end_ns; /* of this wait and all before it; set after sorting */
	wait_place place;
};

struct critical_thread {
	pid_t pid, tid;
	critical_names names;
	uint64_t begin_ns, end_ns; /* end_ns: UINT64_MAX if it has not ended */
	uint32_t creator;	   /* index, or CRITICAL_NO_THREAD */
	struct critical_stretch *stretches;
	size_t stretch_count, stretch_room;
	struct critical_sample *samples; /* ordered by time */
	size_t sample_count, sample_room;
	struct critical_wait *waits; /* ordered by their starts after sorting */
	size_t wait_count, wait_room;
	/* The next five belong to the wait in progress. */
	uint64_t woken_ns;
	uint32_t waker;
	uint32_t waits_for;
	uint64_t lock, found_ns; /* of waits_for */
	uint64_t taken_ns;	 /* when the thread last took a lock after a wait for it */
};

struct critical_path {
	struct critical_thread *threads;
	uint32_t count, room;
	struct idmap by_tid; /* also of threads that have ended: they may still wake others */
	struct idmap takers; /* (address of a lock, pid) → the last thread that took it after a
				wait */
	uint64_t records;
};

struct critical_path *critical_path_new(void)
{
	return xcalloc(1, sizeof(struct critical_path));
}

static void critical_thread_deinit(struct critical_thread *thread)
{
	free(thread->stretches);
	free(thread->samples);
	free(thread->waits);
}

void critical_path_free(struct critical_path *path)
{
	if (!path)
		return;
	for (uint32_t i = 0; i < path->count; i++)
		critical_thread_deinit(&path->threads[i]);
	free(path->threads);
	idmap_deinit(&path->by_tid);
	idmap_deinit(&path->takers);
	free(path);
}

static uint32_t critical_index(const struct critical_path *path, pid_t tid)
{
	uint32_t index = tid > 0 ? idmap_get(&path->by_tid, (uint64_t)tid, 0) : IDMAP_NONE;

	return index == IDMAP_NONE ? CRITICAL_NO_THREAD : index;
}

/* Returns NULL for an unknown thread, and for all if there are too many
 * records. */
static struct critical_thread *critical_find(struct critical_path *path, pid_t tid)
{
	uint32_t index = critical_index(path, tid);

	if (index == CRITICAL_NO_THREAD || path->records >= CRITICAL_RECORDS_MAX ||
	    path->threads[index].end_ns != UINT64_MAX)
		return NULL;
	path->records++;
	return &path->threads[index];
}

/* ---- Records ---- */

void critical_path_begin(struct critical_path *path, pid_t pid, pid_t tid, pid_t creator,
			 uint64_t time_ns)
{
	uint32_t known = critical_index(path, tid);

	if (known != CRITICAL_NO_THREAD && path->threads[known].end_ns == UINT64_MAX)
		return;
	GROW(path->threads, path->count, path->room);
	path->threads[path->count] = (struct critical_thread){
		.pid = pid,
		.tid = tid,
		.names = CRITICAL_NAMES_NONE,
		.begin_ns = time_ns,
		.end_ns = UINT64_MAX,
		.creator = critical_index(path, creator),
		.waker = CRITICAL_NO_THREAD,
		.waits_for = CRITICAL_NO_THREAD,
	};
	*idmap_put(&path->by_tid, (uint64_t)tid, 0) = path->count++;
}

static struct critical_stretch *critical_last(const struct critical_thread *thread)
{
	return thread->stretch_count ? &thread->stretches[thread->stretch_count - 1] : NULL;
}

static bool critical_runs(const struct critical_thread *thread)
{
	const struct critical_stretch *last = critical_last(thread);

	return last && last->end_ns == UINT64_MAX;
}

/* Takers that wait for the lock again have not got it. */
static bool critical_has_taken(const struct critical_thread *taker,
			       const struct critical_thread *waiter)
{
	return taker != waiter && taker->taken_ns > waiter->found_ns &&
	       (taker->waits_for == CRITICAL_NO_THREAD || taker->lock != waiter->lock);
}

/* Returns the thread that the wait in progress was for, which is about to end;
 * its index or CRITICAL_NO_THREAD. */
static uint32_t critical_take_other(struct critical_path *path, struct critical_thread *thread,
				    uint64_t time_ns)
{
	uint32_t other = thread->waits_for, taker;

	if (other == CRITICAL_NO_THREAD || !thread->lock)
		return other;
	taker = idmap_get(&path->takers, thread->lock, (uint32_t)thread->pid);
	if (taker != IDMAP_NONE && critical_has_taken(&path->threads[taker], thread))
		other = taker;
	thread->taken_ns = time_ns;
	*idmap_put(&path->takers, thread->lock,
		   (uint32_t)thread->pid) = (uint32_t)(thread - path->threads);
	return other;
}

static void critical_start_running(struct critical_path *path, struct critical_thread *thread,
				   uint64_t time_ns)
{
	uint32_t other = critical_take_other(path, thread, time_ns);
	struct critical_stretch stretch = {
		.start_ns = time_ns,
		.end_ns = UINT64_MAX,
		.woken_ns = thread->woken_ns,
		.waker = thread->waker,
	};

	if (!stretch.woken_ns && other != CRITICAL_NO_THREAD) {
		const struct critical_stretch *last = critical_last(&path->threads[other]);

		/* It was woken when the other one last ran, or just now. */
		stretch.woken_ns = last ? MIN(time_ns, last->end_ns) : 0;
		stretch.waker = other;
	}
	GROW(thread->stretches, thread->stretch_count, thread->stretch_room);
	thread->stretches[thread->stretch_count++] = stretch;
	thread->woken_ns = 0;
	thread->waker = thread->waits_for = CRITICAL_NO_THREAD;
}

void critical_path_switch(struct critical_path *path, pid_t tid, uint64_t time_ns, bool is_out)
{
	struct critical_thread *thread = critical_find(path, tid);

	if (!thread || critical_runs(thread) != is_out) {
		/* A thread whose first record is a switch off its CPU has run. */
		if (!thread || !is_out || thread->stretch_count)
			return;
		critical_start_running(path, thread, thread->begin_ns);
	}
	if (is_out)
		critical_last(thread)->end_ns = time_ns;
	else
		critical_start_running(path, thread, time_ns);
}

void critical_path_end(struct critical_path *path, pid_t tid, uint64_t time_ns,
		       critical_names names)
{
	uint32_t index = critical_index(path, tid);
	struct critical_thread *thread;

	if (index == CRITICAL_NO_THREAD || path->threads[index].end_ns != UINT64_MAX)
		return;
	thread = &path->threads[index];
	if (critical_runs(thread))
		critical_last(thread)->end_ns = time_ns;
	thread->end_ns = time_ns;
	thread->names = names;
}

void critical_path_exec(struct critical_path *path, pid_t pid, pid_t tid, uint64_t time_ns,
			critical_names names)
{
	critical_path_end(path, tid, time_ns, names);
	critical_path_begin(path, pid, tid, tid, time_ns);
	critical_path_switch(path, tid, time_ns, false);
}

void critical_path_woken(struct critical_path *path, pid_t tid, uint64_t time_ns, pid_t waker)
{
	struct critical_thread *thread = critical_find(path, tid);

	if (!thread || critical_runs(thread))
		return;
	thread->woken_ns = time_ns;
	thread->waker = critical_index(path, waker);
}

void critical_path_waits_for(struct critical_path *path, pid_t tid, uint64_t time_ns, pid_t other,
			     uint64_t lock)
{
	struct critical_thread *thread = critical_find(path, tid);
	const struct critical_stretch *last = thread ? critical_last(thread) : NULL;

	/* Unless it has run since. */
	if (!thread || critical_runs(thread) || (last && last->end_ns > time_ns))
		return;
	thread->waits_for = critical_index(path, other);
	thread->lock = lock;
	thread->found_ns = time_ns;
}

void critical_path_sampled(struct critical_path *path, pid_t tid, uint64_t time_ns,
			   wait_place place)
{
	struct critical_thread *thread = critical_find(path, tid);

	if (!thread)
		return;
	GROW(thread->samples, thread->sample_count, thread->sample_room);
	thread->samples[thread->sample_count++] = (struct critical_sample){time_ns, place};
}

/* Where a thread waited may be known only after its end, or its exec. */
static struct critical_thread *critical_find_at(struct critical_path *path, pid_t tid,
						uint64_t time_ns)
{
	uint32_t index = critical_index(path, tid);

	if (index == CRITICAL_NO_THREAD || path->records >= CRITICAL_RECORDS_MAX)
		return NULL;
	while (time_ns < path->threads[index].begin_ns &&
	       path->threads[index].creator != CRITICAL_NO_THREAD &&
	       path->threads[path->threads[index].creator].tid == tid)
		index = path->threads[index].creator;
	path->records++;
	return &path->threads[index];
}

void critical_path_waited(struct critical_path *path, pid_t tid, uint64_t start_ns, uint64_t end_ns,
			  wait_place place)
{
	struct critical_thread *thread = critical_find_at(path, tid, start_ns);

	if (!thread)
		return;
	GROW(thread->waits, thread->wait_count, thread->wait_room);
	thread->waits[thread->wait_count++] =
		(struct critical_wait){.start_ns = start_ns, .end_ns = end_ns, .place = place};
}

/* ---- The walk ---- */

struct critical_walk {
	struct critical_path *path;
	struct critical_sink sink;
	uint32_t thread;
	uint64_t now_ns; /* the path from here on was passed to the sink */
};

static void critical_give(struct critical_walk *walk, uint64_t start_ns, wait_place place,
			  bool has_run)
{
	const struct critical_thread *thread = &walk->path->threads[walk->thread];
	struct critical_part part = {
		.pid = thread->pid,
		.tid = thread->tid,
		.names = thread->names,
		.place = place,
		.has_run = has_run,
		.start_ns = start_ns,
		.end_ns = walk->now_ns,
	};

	if (start_ns >= walk->now_ns)
		return;
	walk->sink.add(walk->sink.user, &part);
	walk->now_ns = start_ns;
}

/* Returns how many of the items, which are ordered by time, are from before this
 * time. Each starts with its time. */
static size_t critical_before(const void *items, size_t count, size_t size, uint64_t time_ns)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;

		if (*(const uint64_t *)((const char *)items + middle * size) < time_ns)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}
#define CRITICAL_BEFORE(items, count, time_ns)                                                     \
	critical_before(items, count, sizeof(*(items)), time_ns)

/* The thread ran. The time before a sample belongs to its place. */
static void critical_walk_running(struct critical_walk *walk, uint64_t start_ns)
{
	const struct critical_thread *thread = &walk->path->threads[walk->thread];
	size_t next = CRITICAL_BEFORE(thread->samples, thread->sample_count, walk->now_ns);
	wait_place place = next < thread->sample_count ? thread->samples[next].place
			   : next		       ? thread->samples[next - 1].place
						       : PLACE_UNKNOWN;

	for (; next && thread->samples[next - 1].time_ns > start_ns; next--) {
		critical_give(walk, thread->samples[next - 1].time_ns, place, true);
		place = thread->samples[next - 1].place;
	}
	critical_give(walk, start_ns, place, true);
}

/*
 * Passes the time before now_ns for which one wait holds to the sink. A short
 * wait that stands for others overlaps with them; the one that starts last
 * holds.
 */
static void critical_walk_wait(struct critical_walk *walk, uint64_t start_ns)
{
	const struct critical_thread *thread = &walk->path->threads[walk->thread];
	size_t before = CRITICAL_BEFORE(thread->waits, thread->wait_count, walk->now_ns);
	uint64_t until_ns = start_ns; /* where a wait ends that starts later */

	for (size_t i = 0; i < CRITICAL_OVERLAP_MAX && before > i; i++) {
		const struct critical_wait *wait = &thread->waits[before - 1 - i];

		if (wait->latest_end_ns <= until_ns)
			break;
		if (wait->end_ns >= walk->now_ns) {
			critical_give(walk, MAX(until_ns, wait->start_ns), wait->place, false);
			return;
		}
		until_ns = MAX(until_ns, wait->end_ns);
	}
	critical_give(walk, until_ns, PLACE_UNKNOWN, false);
}

static void critical_walk_waiting(struct critical_walk *walk, uint64_t start_ns)
{
	while (walk->now_ns > start_ns)
		critical_walk_wait(walk, start_ns);
}

static bool critical_ran_at(const struct critical_thread *thread, uint64_t time_ns)
{
	size_t before = CRITICAL_BEFORE(thread->stretches, thread->stretch_count, time_ns);

	return before && thread->stretches[before - 1].end_ns >= time_ns;
}

/* The thread waited from `from_ns` on, until the stretch. Goes on with its
 * waker, if that is known and ran then. */
static void critical_leave(struct critical_walk *walk, const struct critical_stretch *stretch,
			   uint64_t from_ns, bool follows)
{
	const struct critical_path *path = walk->path;
	const struct critical_thread *waker = stretch->waker == CRITICAL_NO_THREAD
						      ? NULL
						      : &path->threads[stretch->waker];
	/* The end of a thread is recorded just before the kernel wakes the
	 * thread that joins it. */
	uint64_t woken_ns = waker ? MIN(stretch->woken_ns, waker->end_ns) : 0;

	if (!follows || !waker || woken_ns < from_ns || woken_ns > walk->now_ns ||
	    stretch->waker == walk->thread || !critical_ran_at(waker, woken_ns)) {
		critical_walk_waiting(walk, from_ns);
		return;
	}
	critical_walk_waiting(walk, woken_ns);
	walk->thread = stretch->waker;
}

/* Walks over one stretch or wait of the current thread. Returns false at the
 * start of the path. */
static bool critical_step(struct critical_walk *walk, bool follows)
{
	const struct critical_thread *thread = &walk->path->threads[walk->thread];
	size_t before = CRITICAL_BEFORE(thread->stretches, thread->stretch_count, walk->now_ns);
	const struct critical_stretch *stretch = before ? &thread->stretches[before - 1] : NULL;

	if (stretch && stretch->end_ns >= walk->now_ns) {
		uint64_t from_ns = before > 1 ? thread->stretches[before - 2].end_ns
					      : thread->begin_ns;

		critical_walk_running(walk, stretch->start_ns);
		critical_leave(walk, stretch, from_ns, follows);
		return true;
	}
	if (stretch) {
		critical_walk_waiting(walk, stretch->end_ns);
		return true;
	}
	critical_walk_waiting(walk, thread->begin_ns);
	if (thread->creator == CRITICAL_NO_THREAD)
		return false;
	walk->thread = thread->creator;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct critical_wait *left = a, *right = b;

	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static void critical_sort_waits(struct critical_thread *thread)
{
	uint64_t latest_end_ns = 0;

	if (thread->wait_count)
		qsort(thread->waits, thread->wait_count, sizeof(*thread->waits), by_start);
	for (size_t i = 0; i < thread->wait_count; i++) {
		latest_end_ns = MAX(latest_end_ns, thread->waits[i].end_ns);
		thread->waits[i].latest_end_ns = latest_end_ns;
	}
}

static bool critical_may_end_with(const struct critical_path *path,
				  const struct critical_sink *sink,
				  const struct critical_thread *thread)
{
	const struct critical_part last = {
		.pid = thread->pid,
		.tid = thread->tid,
		.names = thread->names,
		.place = PLACE_UNKNOWN,
	};

	return sink->is_end ? sink->is_end(sink->user, &last) : thread->tid == path->threads[0].tid;
}

static uint32_t critical_end_thread(const struct critical_path *path,
				    const struct critical_sink *sink)
{
	uint32_t end = CRITICAL_NO_THREAD;

	for (uint32_t i = 0; i < path->count; i++)
		if ((end == CRITICAL_NO_THREAD ||
		     path->threads[i].end_ns >= path->threads[end].end_ns) &&
		    critical_may_end_with(path, sink, &path->threads[i]))
			end = i;
	return end;
}

enum critical_result critical_path_take(struct critical_path *path, uint64_t end_ns,
					struct critical_sink sink)
{
	struct critical_walk walk = {.path = path, .sink = sink};
	unsigned idle_steps = 0;

	if (path->records >= CRITICAL_RECORDS_MAX)
		return CRITICAL_TOO_MANY;
	walk.thread = critical_end_thread(path, &sink);
	if (walk.thread == CRITICAL_NO_THREAD)
		return sink.is_end ? CRITICAL_NO_END : CRITICAL_TAKEN;
	for (uint32_t i = 0; i < path->count; i++)
		critical_sort_waits(&path->threads[i]);
	walk.now_ns = MIN(end_ns, path->threads[walk.thread].end_ns);
	for (uint64_t before_ns = walk.now_ns;
	     critical_step(&walk, idle_steps < CRITICAL_IDLE_STEPS_MAX); before_ns = walk.now_ns)
		idle_steps = walk.now_ns < before_ns ? 0 : idle_steps + 1;
	return CRITICAL_TAKEN;
}

static uint32_t critical_moved(const uint32_t *moved, uint32_t index)
{
	return index == CRITICAL_NO_THREAD ? index : moved[index];
}

static void critical_forget_ended(struct critical_path *path)
{
	CLEANUP(free_ptr) uint32_t *moved = xcalloc(path->count + 1, sizeof(*moved));
	uint32_t kept = 0;

	idmap_deinit(&path->by_tid);
	idmap_deinit(&path->takers);
	for (uint32_t i = 0; i < path->count; i++) {
		moved[i] = CRITICAL_NO_THREAD;
		if (path->threads[i].end_ns != UINT64_MAX) {
			critical_thread_deinit(&path->threads[i]);
			continue;
		}
		moved[i] = kept;
		*idmap_put(&path->by_tid, (uint64_t)path->threads[i].tid, 0) = kept;
		path->threads[kept++] = path->threads[i];
	}
	path->count = kept;
	for (uint32_t i = 0; i < kept; i++) {
		struct critical_thread *thread = &path->threads[i];

		thread->creator = critical_moved(moved, thread->creator);
		thread->waker = critical_moved(moved, thread->waker);
		thread->waits_for = critical_moved(moved, thread->waits_for);
	}
}

void critical_path_forget(struct critical_path *path, uint64_t now_ns)
{
	critical_forget_ended(path);
	for (uint32_t i = 0; i < path->count; i++) {
		struct critical_thread *thread = &path->threads[i];
		bool runs = critical_runs(thread);

		thread->stretch_count = thread->sample_count = thread->wait_count = 0;
		thread->begin_ns = MAX(thread->begin_ns, now_ns);
		if (runs)
			critical_start_running(path, thread, now_ns);
	}
	path->records = 0;
}
