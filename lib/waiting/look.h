/*
 * A look at a thread that does not run: what it waits for and what stands on its stack, read from
 * outside.
 *
 * /proc/TID/syscall tells the system call with its arguments, the stack pointer and the pc of a
 * thread that has no CPU and does not want one; its stack is read with process_vm_readv(2). Neither
 * stops the thread. What was read is true of one moment only if the thread did not run meanwhile:
 * the caller knows that from its records of context switches.
 *
 * A thread without user space (of the kernel, or a worker of io_uring) has a reason alone: sp, pc
 * and stack_len are 0. One look takes 10 µs, or 4 µs at a thread whose files are kept open, and 2
 * to 6 µs more for the holder of a lock; the first at a thread takes 14 µs or more, as the kernel
 * makes the files of /proc then.
 *
 * The caller needs PTRACE_MODE_ATTACH_REALCREDS (ptrace(2)), but does not attach. All names and
 * numbers that are read belong to the other process, which may change them at any time: each is
 * read once, bounded and checked. Reading its memory may hang for ever if the process wants that
 * (base/foreign_read.h): lookers.h looks on threads that can be left behind.
 * Source: proc(5), "/proc/pid/syscall", "/proc/pid/wchan", "/proc/pid/stack"; Linux,
 * proc_pid_syscall().
 */
#ifndef PROF_WAITING_LOOK_H
#define PROF_WAITING_LOOK_H

#include "waiting/lock_holder.h"
#include "waiting/thread_files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	LOOK_REASON_BYTES = 64,
	LOOK_KERNEL_BYTES = 2048,
	/* What is copied of a stack if the caller does not ask for more, and at most. */
	LOOK_STACK_BYTES = 16 << 10,
	LOOK_STACK_BYTES_MAX = 8 << 20,
};

enum look_result {
	LOOK_WAITS,   /* everything below was read */
	LOOK_RUNS,    /* it has a CPU or wants one */
	LOOK_REFUSED, /* it waits; the reason was read at most: the kernel refuses more */
	LOOK_ENDED,   /* there is no such thread any more */
	LOOK_HANGS,   /* reading its memory did not return in time (lookers.h) */
};

/* What to look at. */
struct look_request {
	pid_t pid, tid;
	uint64_t since_ns;    /* when it left the CPU: with tid, which time of waiting this is of */
	uint32_t stack_bytes; /* to copy; 0: LOOK_STACK_BYTES */
	bool wants_kernel_stack; /* root alone gets it */
};

struct look {
	struct look_request request;
	enum look_result result;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC: nothing was read before or after */
	uint64_t run_delay_ns;	   /* how long it has wanted a CPU in its life; 0: unknown */
	/* The leaf frame: "[futex]", "[read socket]"; see reason.h. "": unknown. */
	char reason[LOOK_REASON_BYTES];
	uint64_t sp, pc;      /* of user space */
	unsigned char *stack; /* from sp on */
	size_t stack_len, stack_room;
	/* Functions of the kernel, leaf first, a line each, without offsets; "": unknown. */
	char kernel_stack[LOOK_KERNEL_BYTES];
	/* Of a futex: its address, and the thread that holds the lock there. */
	uint64_t futex;
	struct lock_holder holder;
};

/* Zeroed: empty. */
void look_deinit(struct look *look);
/* Frees the copy of the stack if it has more than the usual size. */
void look_shrink(struct look *look);

/*
 * Fills *look, whose buffers are used again. kept: the files of threads that are looked at often,
 * zeroed at first; kept_threads_clear() closes them.
 */
void look_at(const struct look_request *request, struct kept_threads *kept, struct look *look);

/* Fills *look as one that did not return in time. */
void look_give_up(const struct look_request *request, struct look *look);

#endif
