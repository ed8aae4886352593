#include "record/thread_lives.h"

/* 32 MB. */
enum { LIVE_THREADS_MAX = 1 << 20 };

/* The state of a process: a bit that is set if its first thread has ended, and
 * the number of its other live threads. */
enum { FIRST_ENDED = 1, ONE_OTHER = 2 };

void thread_lives_deinit(struct thread_lives *lives)
{
	idmap_deinit(&lives->processes);
	idmap_deinit(&lives->ended);
}

static void thread_lives_bound(struct thread_lives *lives)
{
	if (lives->processes.count > LIVE_THREADS_MAX)
		idmap_deinit(&lives->processes);
}

static uint32_t *thread_lives_threads_of(struct thread_lives *lives, pid_t pid)
{
	uint32_t *threads = idmap_put(&lives->processes, (uint64_t)pid, 0);

	if (*threads == IDMAP_NONE)
		*threads = 0;
	return threads;
}

void thread_lives_add(struct thread_lives *lives, pid_t pid, pid_t tid)
{
	uint32_t *known;

	if (tid == pid)
		return;
	thread_lives_bound(lives);
	known = idmap_put(&lives->processes, (uint64_t)pid, (uint32_t)tid);
	if (*known != IDMAP_NONE)
		return;
	*known = 1;
	*thread_lives_threads_of(lives, pid) += ONE_OTHER;
}

void thread_lives_begin_process(struct thread_lives *lives, pid_t pid)
{
	idmap_remove(&lives->processes, (uint64_t)pid, 0);
}

void thread_lives_reuse(struct thread_lives *lives, pid_t pid, pid_t tid)
{
	idmap_remove(&lives->ended, (uint64_t)pid, (uint32_t)tid);
	if (pid == tid)
		idmap_remove(&lives->ended, (uint64_t)pid, 0);
}

static void thread_lives_note_end(struct thread_lives *lives, pid_t pid, pid_t tid)
{
	if (lives->keeps_ended)
		*idmap_put(&lives->ended, (uint64_t)pid, (uint32_t)tid) = 0;
}

static void thread_lives_remove_thread(struct thread_lives *lives, pid_t pid, pid_t tid)
{
	if (idmap_get(&lives->processes, (uint64_t)pid, (uint32_t)tid) == IDMAP_NONE)
		return;
	idmap_remove(&lives->processes, (uint64_t)pid, (uint32_t)tid);
	*thread_lives_threads_of(lives, pid) -= ONE_OTHER;
}

bool thread_lives_ends_with(const struct thread_lives *lives, pid_t pid, pid_t tid)
{
	uint32_t threads = idmap_get(&lives->processes, (uint64_t)pid, 0);

	if (threads == IDMAP_NONE)
		threads = 0;
	if (tid == pid)
		threads |= FIRST_ENDED;
	else if (idmap_get(&lives->processes, (uint64_t)pid, (uint32_t)tid) != IDMAP_NONE)
		threads -= ONE_OTHER;
	return threads == FIRST_ENDED;
}

bool thread_lives_end(struct thread_lives *lives, pid_t pid, pid_t tid)
{
	thread_lives_bound(lives);
	thread_lives_note_end(lives, pid, tid);
	/* Threads end in any order, also with exit_group(2). */
	if (tid == pid)
		*thread_lives_threads_of(lives, pid) |= FIRST_ENDED;
	else
		thread_lives_remove_thread(lives, pid, tid);
	if (*thread_lives_threads_of(lives, pid) != FIRST_ENDED)
		return false;
	thread_lives_note_end(lives, pid, 0);
	idmap_remove(&lives->processes, (uint64_t)pid, 0);
	return true;
}

unsigned thread_lives_ended_count(const struct thread_lives *lives)
{
	return lives->ended.count;
}

bool thread_lives_process_ended(const struct thread_lives *lives, pid_t pid)
{
	return thread_lives_thread_ended(lives, pid, 0);
}

bool thread_lives_thread_ended(const struct thread_lives *lives, pid_t pid, pid_t tid)
{
	return idmap_get(&lives->ended, (uint64_t)pid, (uint32_t)tid) != IDMAP_NONE;
}

void thread_lives_forget_ended(struct thread_lives *lives)
{
	idmap_deinit(&lives->ended);
}
