/*
 * Who holds a lock that a thread waits for in futex(2), as far as the C library writes that down.
 *
 * glibc's pthread_mutex_t has the owner's tid at byte 8 of the mutex, whose lock word is the futex.
 * A robust or priority-inheriting mutex, and one of musl that is recursive or checks errors, has it
 * in the lock word. pthread_rwlock_t of glibc has the writer's tid behind its futexes; readers are
 * only counted. The lock of a FILE points to the owner's struct pthread. pthread_join(3) waits for
 * the word that holds the tid of the thread that is to end. Other locks (Rust's, Go's, normal
 * mutexes of musl, semaphores, condition variables) do not say.
 *
 * The memory is the other process's and may hold anything. A tid is taken only if the words around
 * it are those of such a lock and it is that of another thread of the same process. In a PID
 * namespace that is not prof's, tids in memory are others, and no holder is found.
 * Source: glibc, sysdeps/nptl/bits/struct_mutex.h and struct_rwlock.h, sysdeps/x86/nptl/bits, and
 * nptl/descr.h; musl, src/internal/pthread_impl.h; futex(2).
 */
#ifndef PROF_WAITING_LOCK_HOLDER_H
#define PROF_WAITING_LOCK_HOLDER_H

#include "waiting/thread_files.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum lock_kind {
	LOCK_UNKNOWN, /* and so is who holds it */
	LOCK_MUTEX,   /* or the lock of a FILE */
	LOCK_RWLOCK,  /* the writer */
	LOCK_JOIN,    /* not a lock: the thread whose end is awaited */
};

enum { HOLDER_NAME_BYTES = 16, HOLDER_STACK_BYTES = 4 << 10 };

struct lock_holder {
	enum lock_kind kind;
	pid_t tid;
	char name[HOLDER_NAME_BYTES]; /* of the thread (comm); "": unknown */
	/* Where it waited itself when it was looked at, and the top of its stack. 0: it ran. */
	uint64_t sp, pc;
	uint64_t begin_ns, end_ns; /* of that: it is true if the holder did not run meanwhile */
	size_t stack_len;
	unsigned char stack[HOLDER_STACK_BYTES];
};

/*
 * args: of the system call futex. pid: the process; tid: the thread that waits. kept: see
 * thread_files.h.
 */
void lock_holder_find(pid_t pid, pid_t tid, const uint64_t args[6], struct kept_threads *kept,
		      struct lock_holder *ret);

#endif
