/*
 * Tracks which threads of each process are alive, according to the records, and
 * which have ended since the last thread_lives_forget_ended().
 *
 * A process ends with the last of its threads, which need not be its first one.
 * A file can claim any number of threads. Beyond a million live threads the set
 * is dropped, and a process ends with its first thread.
 */
#ifndef PROF_RECORD_THREAD_LIVES_H
#define PROF_RECORD_THREAD_LIVES_H

#include "base/idmap.h"

#include <stdbool.h>
#include <sys/types.h>

/* A zeroed struct is empty. */
struct thread_lives {
	/* (pid, 0) → state of the process; (pid, tid) → present if a thread
	 * other than the first is alive */
	struct idmap processes;
	/* (pid, tid) of ended threads, and (pid, 0) of ended processes. */
	struct idmap ended;
	bool keeps_ended;
};

void thread_lives_deinit(struct thread_lives *lives);

void thread_lives_add(struct thread_lives *lives, pid_t pid, pid_t tid);
/* Adds a process that has one thread, with tid == pid. */
void thread_lives_begin_process(struct thread_lives *lives, pid_t pid);
/* Must be called when ids are reused: they no longer belong to an ended thread
 * or process. */
void thread_lives_reuse(struct thread_lives *lives, pid_t pid, pid_t tid);
/* Whether the process ends if this thread ends next. */
bool thread_lives_ends_with(const struct thread_lives *lives, pid_t pid, pid_t tid);
/* Must be called when a thread has ended. Returns true if the process has ended
 * with it. */
bool thread_lives_end(struct thread_lives *lives, pid_t pid, pid_t tid);

/* The functions below need keeps_ended. They return how many threads and
 * processes have ended, and whether a given one has. */
unsigned thread_lives_ended_count(const struct thread_lives *lives);
bool thread_lives_process_ended(const struct thread_lives *lives, pid_t pid);
bool thread_lives_thread_ended(const struct thread_lives *lives, pid_t pid, pid_t tid);
void thread_lives_forget_ended(struct thread_lives *lives);

#endif
