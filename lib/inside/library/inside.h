/*
 * libprof-inside.so: the library that prof preloads into a program
 * (LD_PRELOAD). It records sampled allocations and CPU time into memory that it
 * shares with prof (inside/layout.h). prof unwinds and symbolizes the stacks.
 *
 * The library must not change what the program does:
 *
 * - A hook calls the real function and nothing else of the C library, except
 *   for clock_gettime(2), which needs no system call.
 * - A sample needs no memory, no lock that it waits for, and no system call. So
 *   any signal handler may allocate, and any seccomp filter may be installed.
 * - errno is preserved.
 *
 * Work that needs more is done once per process or thread, when it starts
 * (process.c). After the program has installed a seccomp filter, the library
 * makes no system calls for new threads and children, so they have no CPU
 * timers. Without the shared memory, or while prof does not record, a hook
 * costs one load of a flag.
 *
 *     hooks.c    the functions that programs call: allocator, loader, threads,
 *                signals and confinement
 *     sample.c   selects the allocations to sample, keeps the sampled blocks,
 *                writes the records
 *     process.c  starts of the process, its children and its threads; CPU timers
 */
#ifndef PROF_INSIDE_LIBRARY_INSIDE_H
#define PROF_INSIDE_LIBRARY_INSIDE_H

#include "inside/layout.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define EXPORT __attribute__((visibility("default")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Hidden symbols need no access through the global offset table. */
#pragma GCC visibility push(hidden)

/*
 * Initial-exec TLS, because accesses then need no call. It uses 56 bytes of the
 * loader's static TLS surplus.
 */
struct thread_state {
	uint64_t left;		 /* until the next sample, in units of INSIDE_SCALE */
	uint64_t random;	 /* 0 before the thread's first allocation */
	uintptr_t low, end;	 /* bounds of its stack; 0 if unknown */
	uintptr_t agent_ring_sp; /* its stack pointer when it took the ring */
	int32_t timer;		 /* its CPU timer's id; negative if none */
	uint32_t tid;		 /* 0 if not known yet */
	uint32_t ring;		 /* 1 + the index of the ring that it has taken; 0 if none */
	uint32_t is_resolving;	 /* it is resolving the real functions */
};

extern _Thread_local struct thread_state thread_state __attribute__((tls_model("initial-exec")));

/* The shared structure, or zeros while nothing is recorded. */
extern struct inside_control *control;
extern uint64_t time_offset_ns;
extern bool has_no_tsc;	      /* a thread may not read the time-stamp counter */
extern unsigned char *shared; /* the whole file; NULL if none */

/* ---- sample.c ---- */

/*
 * The number of sampled blocks per window of addresses. Most blocks need only
 * this lookup. Adjacent blocks in memory have adjacent windows, so a cache line
 * covers 1 KiB of blocks. The hash also mixes higher bits, so that large
 * blocks, which start at pages, spread over the table.
 */
enum { WINDOWS = 1 << 15 };
extern uint8_t sampled_blocks[WINDOWS];
extern bool has_sampled; /* at least one block was sampled */

static inline size_t sample_window(const void *block)
{
	return ((uintptr_t)block >> 4 ^ (uintptr_t)block >> 16) % WINDOWS;
}

/*
 * Returns whether the block, or another one in the same window, was sampled. If
 * so, call sample_end() before it is freed.
 */
static inline bool sample_may_have(const void *block)
{
	return unlikely(__atomic_load_n(&has_sampled, __ATOMIC_RELAXED)) &&
	       unlikely(__atomic_load_n(&sampled_blocks[sample_window(block)], __ATOMIC_RELAXED));
}

/*
 * Returns whether an allocation must be sampled. This includes invalid sizes,
 * for which the allocation fails.
 */
static inline bool sample_is_due(size_t bytes)
{
	int64_t scale = (int64_t)__atomic_load_n(&control->alloc_scale, __ATOMIC_RELAXED), cost;

	return unlikely(scale) && unlikely(__builtin_mul_overflow((int64_t)bytes, scale, &cost) ||
					   __builtin_sub_overflow(thread_state.left, (uint64_t)cost,
								  &thread_state.left));
}

/* Uses the shared memory from now on. NULL stops recording in this process. */
void sample_use(unsigned char *file);
/*
 * Samples an allocation that was due, and returns the block. A NULL block is a
 * failed allocation. `flags` are those of struct inside_alloc.
 */
void *sample_begin(void *block, size_t bytes, unsigned flags);
/*
 * Call this before the block is freed. `mapping_bytes` is the size of the
 * unmapped part of a mapping, otherwise 0.
 */
void sample_end(void *block, size_t mapping_bytes);
/* Records a CPU sample. `context` is the ucontext_t of a signal handler. */
void sample_cpu(uint64_t period_ns, const void *context);
/*
 * Writes a record with three parts. The first starts with its struct
 * inside_header, which this function fills. Returns false if the record was
 * lost, and counts it. Safe in a signal handler that interrupts another
 * sample_write().
 */
bool sample_write(unsigned type, unsigned flags, const struct iovec parts[3]);

/* ---- process.c ---- */

/* Records that memory has become executable, which JIT compilers do. */
void process_note_code(const void *at, size_t bytes);
/*
 * Returns 0 in a child that was not created by the C library's fork(), and is
 * not recorded.
 */
uint32_t process_id(void);
/* Returns the calling thread's tid without a system call. */
uint32_t process_tid(void);
/*
 * Call this before the process installs a seccomp filter. From then on, the
 * library makes no system call that the program would not make without it.
 */
void process_expect_filter(void);
/* signal of the CPU timers; 0 if none */
extern int timer_signal;
/* the program's own action for that signal */
extern struct sigaction program_action;
/* The function that a new thread runs, and its argument. */
struct start {
	void *(*run)(void *argument);
	void *argument;
	size_t stack_bytes;
	struct start *next; /* list of those that have ended */
};
/*
 * Returns the argument of process_run_thread() for a thread with these
 * attributes of pthread_create(3), or NULL if memory is exhausted. The caller
 * sets run and argument.
 */
struct start *process_new_start(const pthread_attr_t *attributes);
void process_end_start(struct start *start);
/* The start routine of the thread. */
void *process_run_thread(void *start);

#pragma GCC visibility pop

#endif
