/*
 * Reads the files of /proc/PID/task/TID, and keeps those of threads that are read often open.
 *
 * The files are opened relative to the thread's directory, so all of them are of one thread: those
 * of an ended thread give an error, also when its id is used again. Reading a file that is open
 * takes a quarter of the time that opening, reading and closing it takes (0.6 and 2.5 µs).
 */
#ifndef PROF_WAITING_THREAD_FILES_H
#define PROF_WAITING_THREAD_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum thread_file {
	THREAD_SYSCALL,
	THREAD_WCHAN,
	THREAD_SCHEDSTAT,
	THREAD_STACK,
	THREAD_COMM,
	THREAD_STAT,
	THREAD_FILES,
};

struct thread_files {
	pid_t pid, tid; /* 0: nothing is open */
	int dir;
	int files[THREAD_FILES]; /* -1: not opened yet */
	int has_our_ids;	 /* see thread_files_has_our_ids(); -1: not known yet */
};

/* 0 or a negated errno: -ENOENT if the process has no such thread. */
int thread_files_open(struct thread_files *thread, pid_t pid, pid_t tid);
void thread_files_close(struct thread_files *thread);

/*
 * Reads the start of a file and ends it with a NUL. Returns its length or a negated errno, such as
 * -EPERM, -ESRCH; then the text is "".
 */
ssize_t thread_files_read(struct thread_files *thread, enum thread_file file, char *into,
			  size_t len);

/*
 * Whether the thread is in prof's PID namespace: thread ids in its memory are those of /proc then.
 */
bool thread_files_has_our_ids(struct thread_files *thread);

/* Threads whose files stay open, at most THREADS_KEPT with four descriptors each. */
enum { THREADS_KEPT = 64 };

/* Zeroed: empty. */
struct kept_threads {
	struct kept_thread {
		pid_t pid, tid; /* read last by this id modulo THREADS_KEPT */
		struct thread_files files;
	} items[THREADS_KEPT];
};

void kept_threads_clear(struct kept_threads *kept);

/*
 * The files of a thread, from those that are kept if it is one of them. It becomes one when it is
 * asked for again before another thread takes its place, so a pass over thousands of threads keeps
 * none of them. *ret is *own or kept; thread_files_leave() closes what is not kept.
 */
int kept_threads_enter(struct kept_threads *kept, pid_t pid, pid_t tid, struct thread_files *own,
		       struct thread_files **ret);
void kept_threads_leave(struct thread_files *own, struct thread_files *thread);
/* The thread has ended: another may have its id by now. False if its files were not kept. */
bool kept_threads_forget(struct kept_threads *kept, pid_t tid);

#endif
