/*
 * Takes a snapshot of a thread that is off-CPU: what it waits for and its
 * stack, read from outside.
 *
 * /proc/TID/syscall contains the system call with its arguments, the stack
 * pointer and the pc of a thread that is neither running nor runnable. The
 * stack is read with process_vm_readv(2). Neither read stops the thread. A
 * snapshot is consistent only if the thread did not run between begin_ns and
 * end_ns. The caller checks that with its context-switch records.
 *
 * Kernel threads and io_uring workers have no user space. Their snapshots have
 * only a reason; sp, pc and stack_len are 0.
 *
 * The caller needs PTRACE_MODE_ATTACH_REALCREDS (ptrace(2)), but does not
 * attach. The target controls all names and numbers that are read, and may
 * change them at any time. Each is read once, bounded and checked. A hostile
 * target can make a read of its memory hang forever (base/untrusted_read.h), so
 * pollers.h takes snapshots on a thread that can be abandoned. Source: proc(5),
 * "/proc/pid/syscall", "/proc/pid/wchan", "/proc/pid/stack"; Linux,
 * proc_pid_syscall().
 */
#ifndef PROF_WAITING_THREAD_SNAPSHOT_H
#define PROF_WAITING_THREAD_SNAPSHOT_H

#include "runtime/script_walker.h"
#include "waiting/lock_holder.h"
#include "waiting/thread_files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	THREAD_SNAPSHOT_REASON_BYTES = 64,
	THREAD_SNAPSHOT_KERNEL_BYTES = 2048,
	THREAD_SNAPSHOT_SCRIPT_FRAMES = 64,
	/* The default and the maximum size of a stack copy. */
	THREAD_SNAPSHOT_STACK_BYTES = 16 << 10,
	THREAD_SNAPSHOT_STACK_BYTES_MAX = 8 << 20,
};

enum thread_snapshot_result {
	THREAD_SNAPSHOT_WAITS, /* off-CPU; the snapshot has all members */
	THREAD_SNAPSHOT_RUNS,  /* running or runnable */
	/*
	 * Off-CPU, but the kernel lets prof read at most the reason.
	 */
	THREAD_SNAPSHOT_REFUSED,
	THREAD_SNAPSHOT_ENDED, /* the thread no longer exists */
	THREAD_SNAPSHOT_HANGS, /* reading its memory timed out (pollers.h) */
};

/* Which thread to read, and how much. */
struct thread_snapshot_request {
	pid_t pid, tid;
	/*
	 * When the thread left the CPU. With the tid, this identifies the wait.
	 */
	uint64_t since_ns;
	uint32_t stack_bytes;	 /* bytes to copy; 0 means THREAD_SNAPSHOT_STACK_BYTES */
	bool wants_kernel_stack; /* only root can read it */
};

struct thread_snapshot {
	struct thread_snapshot_request request;
	enum thread_snapshot_result result;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; all reads happened in between */
	/* How long the thread has been runnable so far; 0 if unknown. */
	uint64_t run_delay_ns;
	/*
	 * The text of the leaf frame: "[futex]", "[read socket]"; see reason.h.
	 * "" if unknown.
	 */
	char reason[THREAD_SNAPSHOT_REASON_BYTES];
	uint64_t sp, pc;      /* in user space */
	unsigned char *stack; /* memory from sp on */
	size_t stack_len, stack_room;
	/*
	 * Kernel functions, leaf first, one per line, without offsets. "" if
	 * unknown.
	 */
	char kernel_stack[THREAD_SNAPSHOT_KERNEL_BYTES];
	/* For a futex wait: its address, and the thread that holds the lock. For
	 * the GIL the address is 0 and the reason is "[GIL]". */
	uint64_t futex;
	struct lock_holder holder;
	/* The frames of the thread's interpreter, if has_script is set.
	 * tried_script: the process was known to have one. */
	bool tried_script, has_script;
	struct script_stack script;
};

/* Empty when zeroed. */
void thread_snapshot_deinit(struct thread_snapshot *snapshot);
/* Frees the copies of the stack that are larger than the default sizes. */
void thread_snapshot_shrink(struct thread_snapshot *snapshot);

/*
 * Fills *snapshot and reuses its buffers. `kept` caches the open files of
 * frequently read threads. Zero it at first, and close it with
 * kept_threads_clear(). `walker` reads the frames of the thread's interpreter
 * between the caller's script_walker_begin() and script_walker_end(), after which
 * the caller updates end_ns; NULL if there is none.
 */
void thread_snapshot_take(const struct thread_snapshot_request *request, struct kept_threads *kept,
			  struct script_walker *walker, struct thread_snapshot *snapshot);

/* Fills *snapshot as one that timed out. */
void thread_snapshot_give_up(const struct thread_snapshot_request *request,
			     struct thread_snapshot *snapshot);

#endif
