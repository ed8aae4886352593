/*
 * libprof-inside.so: a library that prof has a program load (LD_PRELOAD), which records sampled
 * allocations and CPU time into memory shared with prof (inside/layout.h). prof unwinds and names
 * the stacks.
 *
 * It must not change what the program does. So: a hook calls the real function and nothing else of
 * the C library, except for clock_gettime(2), which needs no system call; samples need no memory,
 * no lock that is waited for, and no system call, so that any signal handler may allocate and any
 * filter of system calls may be in place; errno stays. What needs more is done once per process or
 * thread, in its first moments (process.c). Under a filter that the program has installed itself,
 * threads and children start without system calls of this library, and so without CPU timers.
 * Without the shared memory, or while nobody records, a hook costs one load of a flag.
 *
 *     hooks.c    what programs call: functions of the allocator, of threads, of signals and of
 *                confinement
 *     sample.c   which allocations are sampled, the sampled blocks, and the records
 *     process.c  beginnings of the process, its children and its threads; CPU timers
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

/* So that no access goes through the global offset table. */
#pragma GCC visibility push(hidden)

/* Initial-exec: reading it needs no call. 56 of the bytes that the loader has to spare for that. */
struct thread_state {
	uint64_t left;	       /* until the next sample, in units of INSIDE_SCALE */
	uint64_t random;       /* 0: the thread has not allocated yet */
	uintptr_t low, end;    /* of its stack; 0: unknown */
	uintptr_t lane_sp;     /* where its stack was when it took the lane */
	int32_t timer;	       /* its CPU timer's number; negative: none */
	uint32_t tid;	       /* 0: not asked for yet */
	uint32_t lane;	       /* 1 + the number of the lane that it has taken; 0: none */
	uint32_t is_resolving; /* it asks for the real functions */
};

extern _Thread_local struct thread_state thread_state __attribute__((tls_model("initial-exec")));

extern struct inside_control *control; /* the shared one, or zeros: nobody records */
extern uint64_t time_offset_ns;
extern bool has_no_tsc;	      /* a thread may not read the time-stamp counter */
extern unsigned char *shared; /* all of the file; NULL: none */

/* ---- sample.c ---- */

/*
 * How many sampled blocks each window of addresses holds: most blocks are looked up here alone.
 * Neighbours in memory are neighbours here, 1 KiB of blocks in one line of the cache. Addresses
 * that are far apart are mixed, so that large blocks, which begin at pages, spread.
 */
enum { WINDOWS = 1 << 15 };
extern uint8_t sampled_blocks[WINDOWS];
extern bool has_sampled; /* a block at least */

static inline size_t sample_window(const void *block)
{
	return ((uintptr_t)block >> 4 ^ (uintptr_t)block >> 16) % WINDOWS;
}

/* Whether the block has been sampled, or one in the same window. It then ends by sample_end(). */
static inline bool sample_may_have(const void *block)
{
	return unlikely(__atomic_load_n(&has_sampled, __ATOMIC_RELAXED)) &&
	       unlikely(__atomic_load_n(&sampled_blocks[sample_window(block)], __ATOMIC_RELAXED));
}

/* Whether an allocation is to be sampled. Sizes that make no sense are, too: they fail. */
static inline bool sample_is_due(size_t bytes)
{
	int64_t scale = (int64_t)__atomic_load_n(&control->alloc_scale, __ATOMIC_RELAXED), cost;

	return unlikely(scale) && unlikely(__builtin_mul_overflow((int64_t)bytes, scale, &cost) ||
					   __builtin_sub_overflow(thread_state.left, (uint64_t)cost,
								  &thread_state.left));
}

/* NULL: the process is not recorded (any more). */
void sample_use(unsigned char *file);
/* Samples what was due; NULL: it failed. Returns the block. flags: of struct inside_alloc. */
void *sample_begin(void *block, size_t bytes, unsigned flags);
/* The block is about to be given back. mapping_bytes: of a part of a mapping; else 0. */
void sample_end(void *block, size_t mapping_bytes);
/* CPU time; context: the ucontext_t of a signal handler. */
void sample_cpu(uint64_t period_ns, const void *context);
/*
 * Writes a record of three parts; the first begins with its struct inside_header, which this fills.
 * False: it is lost, and counted. A signal handler may write one in the middle of another.
 */
bool sample_write(unsigned type, unsigned flags, const struct iovec parts[3]);

/* ---- process.c ---- */

/* 0 in a child that the C library's fork() has not made: it is not recorded. */
uint32_t process_id(void);
/* The calling thread's ID, without a system call. */
uint32_t process_tid(void);
/* The process is about to install a filter of system calls: from now on, this library makes none
 * that the program would not make without it. */
void process_expect_filter(void);
/* The signal of the CPU timers; 0: none. */
extern int timer_signal;
/* What the program has set for it. */
extern struct sigaction program_action;
/* How a thread begins. */
struct start {
	void *(*run)(void *argument);
	void *argument;
	size_t stack_bytes;
	struct start *next; /* of those that have ended */
};
/* NULL: there is no memory. attributes: of pthread_create(3), which is to run … */
struct start *process_new_start(const pthread_attr_t *attributes);
void process_end_start(struct start *start);
/* … this, with the start. */
void *process_run_thread(void *start);

#pragma GCC visibility pop

#endif
