/*
 * Reads files of /proc/PID/task/TID, and keeps the files of frequently read
 * threads open, because opening them costs more than reading them.
 *
 * All files are opened relative to the thread's directory and so belong to one
 * thread. After that thread has ended, reads fail even if its tid is reused.
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
	pid_t pid, tid; /* 0 if nothing is open */
	int dir;
	int files[THREAD_FILES]; /* -1 if not opened yet */
	int has_our_ids;	 /* Caches thread_files_has_our_ids(). -1 if not known yet. */
};

/*
 * Returns 0 or a negated errno, which is -ENOENT if the process has no such
 * thread.
 */
int thread_files_open(struct thread_files *thread, pid_t pid, pid_t tid);
void thread_files_close(struct thread_files *thread);

/*
 * Reads the start of a file and terminates it with NUL. Returns its length or a
 * negated errno such as -EPERM or -ESRCH. After an error the text is "".
 */
ssize_t thread_files_read(struct thread_files *thread, enum thread_file file, char *into,
			  size_t len);

/*
 * Returns whether the thread is in prof's PID namespace. Only then are thread
 * ids in its memory the same as in /proc.
 */
bool thread_files_has_our_ids(struct thread_files *thread);

/*
 * The maximum number of threads whose files stay open, each with up to four
 * descriptors.
 */
enum { THREADS_KEPT = 64 };

/* Empty when zeroed. */
struct kept_threads {
	struct kept_thread {
		/*
		 * The last thread read in this slot, which is tid modulo
		 * THREADS_KEPT.
		 */
		pid_t pid, tid;
		struct thread_files files;
	} items[THREADS_KEPT];
};

void kept_threads_clear(struct kept_threads *kept);

/*
 * Sets *ret to the files of a thread: kept ones, or *own after opening them.
 * Returns 0 or a negated errno. A thread is kept once it is requested twice
 * without another thread of its slot in between, so a pass over thousands of
 * threads keeps none of them. kept_threads_leave() closes files that are not
 * kept.
 */
int kept_threads_enter(struct kept_threads *kept, pid_t pid, pid_t tid, struct thread_files *own,
		       struct thread_files **ret);
void kept_threads_leave(struct thread_files *own, struct thread_files *thread);
/*
 * Forgets the files of a thread that has ended, because another thread may
 * already have its tid. Returns false if they were not kept.
 */
bool kept_threads_forget(struct kept_threads *kept, pid_t tid);

#endif
