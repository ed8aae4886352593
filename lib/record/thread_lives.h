/*
 * Lives of threads: which threads of each process live, as records say, and which have ended since
 * they were last forgotten.
 *
 * A process ends with the last of its threads, which need not be its first one. A file may claim
 * any number of threads; beyond a million that live at once, it is forgotten which ones do, and a
 * process ends with its first.
 */
#ifndef PROF_RECORD_THREAD_LIVES_H
#define PROF_RECORD_THREAD_LIVES_H

#include "base/idmap.h"

#include <stdbool.h>
#include <sys/types.h>

/* Zeroed: empty. */
struct thread_lives {
	/* (pid, 0) → which of its threads live; (pid, tid) → this one does, if it is not the first
	 */
	struct idmap processes;
	/* (pid, tid) of threads, and (pid, 0) of processes. */
	struct idmap ended;
	bool keeps_ended;
};

void thread_lives_deinit(struct thread_lives *lives);

void thread_lives_add(struct thread_lives *lives, pid_t pid, pid_t tid);
/* A process begins: with pid == tid and no other thread. */
void thread_lives_begin_process(struct thread_lives *lives, pid_t pid);
/* The numbers are used again: they are no longer of an ended thread or process. */
void thread_lives_reuse(struct thread_lives *lives, pid_t pid, pid_t tid);
/* Whether its process ends with it, if it ends next. */
bool thread_lives_ends_with(const struct thread_lives *lives, pid_t pid, pid_t tid);
/* The thread has ended. True if its process has ended with it. */
bool thread_lives_end(struct thread_lives *lives, pid_t pid, pid_t tid);

/* If keeps_ended is set: how many threads and processes have ended, and whether these did. */
unsigned thread_lives_ended_count(const struct thread_lives *lives);
bool thread_lives_process_ended(const struct thread_lives *lives, pid_t pid);
bool thread_lives_thread_ended(const struct thread_lives *lives, pid_t pid, pid_t tid);
void thread_lives_forget_ended(struct thread_lives *lives);

#endif
