/*
 * libprof-inside.so: a library that prof has a program load (LD_PRELOAD), which records sampled
 * allocations and CPU time into memory shared with prof (inside/layout.h). prof unwinds and names
 * the stacks.
 *
 * It must not change what the program does. So: a hook calls the real function and nothing else of
 * the C library, except for clock_gettime(2), which needs no system call; samples need no memory,
 * no lock that is waited for, and no system call, so that any signal handler may allocate and any
 * filter of system calls may be in place; errno stays. What needs more is done once per process or
 * thread, in its first moments (process.c). Without the shared memory, or while nobody records, a
 * hook costs one load of a flag.
 *
 *     hooks.c    what programs call: functions of the allocator, of threads and of signals
 *     sample.c   which allocations are sampled, the sampled blocks, and the records
 *     process.c  beginnings of the process, its children and its threads; CPU timers
 */
#ifndef PROF_INSIDE_LIBRARY_INSIDE_H
#define PROF_INSIDE_LIBRARY_INSIDE_H

#include "inside/layout.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Initial-exec: reading it needs no call. 56 of the bytes that the loader has to spare for that. */
struct thread_state {
	int64_t left;	       /* bytes until the next sample */
	uint64_t random;       /* 0: the thread has not allocated yet */
	uintptr_t low, end;    /* of its stack; 0: unknown */
	uintptr_t busy;	       /* the stack pointer of the sample that is being recorded; 0: none */
	int32_t timer;	       /* its CPU timer's number; negative: none */
	uint32_t tid;	       /* 0: not asked for yet */
	uint32_t lane;	       /* 1 + the number of the lane that it has taken; 0: none */
	uint32_t is_resolving; /* it asks for the real functions */
};

extern _Thread_local struct thread_state thread_state INITIAL_EXEC;

/* The shared memory, or a page of zeros. */
extern struct inside_control *control;
extern unsigned char *shared; /* all of it; NULL: none */
extern bool has_sampled;      /* a block at least */

/* ---- sample.c ---- */

/* NULL: the process is not recorded (any more). */
void sample_use(unsigned char *file);
/* The slow half of sample_allocation(). */
void sample_drawn(void *block, size_t bytes, unsigned flags);
/* The slow half of sample_free(). size_bytes: of a part of a mapping; else 0. */
void sample_end(void *block, size_t size_bytes);
/* CPU time; context: the ucontext_t of a signal handler. */
void sample_cpu(uint64_t period_ns, const void *context);
/* Writes a record that consists of a struct and a text. */
void sample_write(struct inside_header *header, size_t struct_bytes, unsigned type, unsigned flags,
		  const char *text, size_t text_bytes);

/* A block was allocated. */
static inline void sample_allocation(void *block, size_t bytes)
{
	if (likely(!__atomic_load_n(&control->alloc_period, __ATOMIC_RELAXED)))
		return;
	thread_state.left -= (int64_t)bytes;
	if (unlikely(thread_state.left < 0))
		sample_drawn(block, bytes, 0);
}

/* A block is about to be given back. */
static inline void sample_free(void *block)
{
	if (unlikely(__atomic_load_n(&has_sampled, __ATOMIC_RELAXED)))
		sample_end(block, 0);
}

/* ---- process.c ---- */

/* 0 in a child that the C library's fork() has not made: it is not recorded. */
uint32_t process_id(void);
/* The signal of the CPU timers; 0: none. */
extern int timer_signal;
/* What the program has set for it. */
extern struct sigaction program_action;
/* What pthread_create() runs instead; started is a struct start of the heap. */
struct start {
	void *(*run)(void *argument);
	void *argument;
};
void *process_run_thread(void *started);

#endif
