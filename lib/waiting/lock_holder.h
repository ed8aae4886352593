/*
 * Finds the thread that holds the lock for which another thread waits in
 * futex(2).
 *
 * Only these locks of the C library record their owner:
 *
 * - glibc's pthread_mutex_t stores the owner's tid at byte 8. Its lock word is
 *   the futex.
 * - Robust and priority-inheriting mutexes, and musl's recursive and
 *   error-checking mutexes, store it in the lock word.
 * - glibc's pthread_rwlock_t stores the writer's tid after its futexes. It only
 *   counts readers.
 * - The lock of a FILE points to the owner's struct pthread.
 * - pthread_join(3) waits on the word that contains the tid of the joined
 *   thread.
 *
 * No holder is found for other locks: those of Rust and Go, musl's normal
 * mutexes, semaphores and condition variables.
 *
 * The memory belongs to the target and may contain anything. A tid is accepted
 * only if the surrounding words look like such a lock and it belongs to another
 * thread of the same process. If the target is in another PID namespace than
 * prof, the tids in its memory differ from those in /proc, and no holder is
 * found. Source: glibc, sysdeps/nptl/bits/struct_mutex.h and struct_rwlock.h,
 * sysdeps/x86/nptl/bits, and nptl/descr.h; musl, src/internal/pthread_impl.h;
 * futex(2).
 */
#ifndef PROF_WAITING_LOCK_HOLDER_H
#define PROF_WAITING_LOCK_HOLDER_H

#include "runtime/runtime.h"
#include "waiting/thread_files.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum lock_kind {
	LOCK_UNKNOWN, /* neither the lock nor its holder is known */
	LOCK_MUTEX,   /* a mutex or the lock of a FILE */
	LOCK_RWLOCK,  /* held by a writer */
	LOCK_JOIN,    /* not a lock: the holder is the thread that is joined */
	LOCK_GIL,     /* the lock of an interpreter (runtime/runtime.h) */
};

enum { HOLDER_NAME_BYTES = 16, HOLDER_STACK_BYTES = 4 << 10 };

struct lock_holder {
	enum lock_kind kind;
	uint64_t address; /* of the futex, or of the GIL */
	pid_t tid;
	char name[HOLDER_NAME_BYTES]; /* the holder's comm, or "" if it is unknown */
	/*
	 * The holder's own registers and the top of its stack if it was
	 * off-CPU. They are 0 if it ran.
	 */
	uint64_t sp, pc;
	/*
	 * The time of that read. The stack is valid only if the holder did not
	 * run between these times.
	 */
	uint64_t begin_ns, end_ns;
	size_t stack_len;
	unsigned char stack[HOLDER_STACK_BYTES];
};

/*
 * Finds the holder of the futex that thread `tid` of process `pid` waits for.
 * `args` are the arguments of its futex(2) call. For `kept` see thread_files.h.
 */
void lock_holder_find(pid_t pid, pid_t tid, const uint64_t args[6], struct kept_threads *kept,
		      struct lock_holder *ret);

/*
 * Describes a holder of the GIL that is already known. Does not read its stack.
 * It stays unknown under the same conditions.
 */
void lock_holder_of_gil(pid_t pid, pid_t tid, const struct runtime_holder *holder,
			struct kept_threads *kept, struct lock_holder *ret);

#endif
