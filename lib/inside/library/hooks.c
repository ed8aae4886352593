/*
 * The functions that programs call. Each hook calls the next definition of its
 * name (RTLD_NEXT), that of the allocator that the program would have used.
 * Calls that are not sampled jump there, without a frame or work afterwards.
 *
 * C++ operators are hooked for allocators that define them. Those of C++
 * libraries call malloc(), which is then sampled. The hooks are not called if a
 * program defines one of these functions itself or has its allocator linked in.
 * jemalloc's mallocx() and related functions are not hooked, because programs
 * take their presence as a sign of jemalloc.
 */
#include "inside.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

/* ---- The real functions ---- */

/*
 * One per hook, in a section of their own where hooks_resolve() finds all of
 * them.
 */
struct hook {
	void **real;
	const char *name;
	void *found;
};

/* Aligned as in an array, with no padding in between. */
#define HOOK_SECTION __attribute__((used, section("hooks"), aligned(sizeof(void *))))

extern struct hook __start_hooks[] __attribute__((visibility("hidden")));
extern struct hook __stop_hooks[] __attribute__((visibility("hidden")));

/*
 * Resolves all hooks at once. Until then dlsym() gets no memory, which it
 * tolerates, and cannot enter an allocator that calls the others. Several
 * threads may do this at the same time.
 */
static void hooks_resolve(void)
{
	int saved_errno = errno;

	if (thread_state.is_resolving)
		return;
	thread_state.is_resolving = 1;
	for (struct hook *hook = __start_hooks; hook < __stop_hooks; hook++)
		hook->found = dlsym(RTLD_NEXT, hook->name);
	for (struct hook *hook = __start_hooks; hook < __stop_hooks; hook++)
		if (hook->found)
			__atomic_store_n(hook->real, hook->found, __ATOMIC_RELAXED);
	thread_state.is_resolving = 0;
	errno = saved_errno;
}

/*
 * real_NAME is the real function. Initially it is one that finds the real
 * function, so that hooks need no check. A function that cannot be found
 * returns 0.
 */
#define REAL(type, name, parameters, arguments)                                                    \
	FIND(type, name, #name, parameters, arguments)                                             \
	EXPORT type name parameters;                                                               \
	EXPORT type name parameters

#define FIND(type, name, symbol, parameters, arguments)                                            \
	static type first_##name parameters;                                                       \
	static type(*real_##name) parameters = first_##name;                                       \
	static struct hook hook_##name HOOK_SECTION = {(void **)&real_##name, symbol, NULL};       \
	static type first_##name parameters                                                        \
	{                                                                                          \
		hooks_resolve();                                                                   \
		return real_##name == first_##name ? (type)0 : real_##name arguments;              \
	}

/* ---- malloc() and related functions ---- */

#define ALLOCATES(name, bytes, parameters, arguments)                                              \
	REAL(void *, name, parameters, arguments)                                                  \
	{                                                                                          \
		if (likely(!sample_is_due(bytes)))                                                 \
			return real_##name arguments;                                              \
		return sample_begin(real_##name arguments, bytes, 0);                              \
	}

ALLOCATES(malloc, bytes, (size_t bytes), (bytes))
ALLOCATES(calloc, count *bytes, (size_t count, size_t bytes), (count, bytes))
ALLOCATES(memalign, bytes, (size_t alignment, size_t bytes), (alignment, bytes))
ALLOCATES(aligned_alloc, bytes, (size_t alignment, size_t bytes), (alignment, bytes))
ALLOCATES(valloc, bytes, (size_t bytes), (bytes))
ALLOCATES(pvalloc, bytes, (size_t bytes), (bytes))

REAL(int, posix_memalign, (void **block, size_t alignment, size_t bytes), (block, alignment, bytes))
{
	bool is_due = sample_is_due(bytes);
	int failure = real_posix_memalign(block, alignment, bytes);

	if (unlikely(is_due))
		sample_begin(failure ? NULL : *block, bytes, 0);
	return failure;
}

static void *realloc_sampled(void *block, size_t bytes, bool is_due);

REAL(void *, realloc, (void *block, size_t bytes), (block, bytes))
{
	bool may_end = sample_may_have(block), is_due = sample_is_due(bytes);

	if (likely(!may_end && !is_due))
		return real_realloc(block, bytes);
	return realloc_sampled(block, bytes, is_due);
}

/*
 * Ends the old block first, because its address may be reused before the real
 * function returns. If realloc() fails, a sampled block counts as freed
 * although it still exists.
 */
static __attribute__((noinline)) void *realloc_sampled(void *block, size_t bytes, bool is_due)
{
	sample_end(block, 0);
	block = real_realloc(block, bytes);
	return is_due ? sample_begin(block, bytes, 0) : block;
}

EXPORT void *reallocarray(void *block, size_t count, size_t bytes)
{
	size_t all;

	if (!__builtin_mul_overflow(count, bytes, &all))
		return realloc(block, all);
	errno = ENOMEM;
	return NULL;
}

static void first_free(void *block);
static void (*real_free)(void *block) = first_free;
static struct hook hook_free HOOK_SECTION = {(void **)&real_free, "free", NULL};

static void first_free(void *block)
{
	hooks_resolve();
	if (real_free != first_free)
		real_free(block);
}

EXPORT void free(void *block)
{
	if (sample_may_have(block))
		sample_end(block, 0);
	real_free(block);
}

/* ---- C++ operators ---- */

/*
 * If only a plugin has loaded the C++ library (dlopen(3) with RTLD_LOCAL), it
 * can only be found through the plugin. The library then stays loaded.
 */
static void *find_of_caller(const char *name, const void *caller)
{
	Dl_info info;
	void *object = dladdr(caller, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
					     : NULL;
	void *found = object ? dlsym(object, name) : NULL;

	if (found && dladdr(found, &info))
		dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (object)
		dlclose(object);
	return found;
}

/*
 * *counts is set if the operator is the allocator's own, so that malloc() does
 * not see the block.
 */
static bool find_operator(void **real, const char *name, bool *counts, const void *caller)
{
	int saved_errno = errno;
	void *found = dlsym(RTLD_NEXT, name);
	Dl_info own, of_malloc;

	if (!found)
		found = find_of_caller(name, caller);
	if (real_malloc == first_malloc)
		hooks_resolve();
	*counts = dladdr(found, &own) && dladdr(*(void **)&real_malloc, &of_malloc) &&
		  own.dli_fbase == of_malloc.dli_fbase;
	if (found)
		__atomic_store_n(real, found, __ATOMIC_RELEASE);
	errno = saved_errno;
	return found;
}

/*
 * No operator has more than three arguments. If one has fewer, the contents of
 * the other registers are passed on. The first argument is the size for
 * operator new, and the block for operator delete.
 */
typedef void *operator_function(uintptr_t first, uintptr_t second, uintptr_t third);

static __attribute__((noinline)) void *delete_sampled(operator_function *real, uintptr_t first,
						      uintptr_t second, uintptr_t third)
{
	sample_end((void *)first, 0);
	return real(first, second, third);
}

/* `instead` is what to do if there is no real operator. */
#define OPERATOR(name, instead)                                                                    \
	static operator_function first_##name, *real_##name = first_##name;                        \
	static bool counts_##name;                                                                 \
	static void *first_##name(uintptr_t first, uintptr_t second, uintptr_t third)              \
	{                                                                                          \
		if (!find_operator((void **)&real_##name, #name, &counts_##name,                   \
				   __builtin_return_address(0)))                                   \
			return instead;                                                            \
		return real_##name(first, second, third);                                          \
	}                                                                                          \
	EXPORT operator_function name;                                                             \
	EXPORT void *name(uintptr_t first, uintptr_t second, uintptr_t third)

#define NEW(name)                                                                                  \
	OPERATOR(name, malloc(first))                                                              \
	{                                                                                          \
		if (likely(!counts_##name || !sample_is_due(first)))                               \
			return real_##name(first, second, third);                                  \
		return sample_begin(real_##name(first, second, third), first, 0);                  \
	}

#define DELETE(name)                                                                               \
	OPERATOR(name, (free((void *)first), NULL))                                                \
	{                                                                                          \
		if (likely(!counts_##name || !sample_may_have((void *)first)))                     \
			return real_##name(first, second, third);                                  \
		return delete_sampled(real_##name, first, second, third);                          \
	}

/* The names of the Itanium C++ ABI. m is size_t. */
NEW(_Znwm)
NEW(_Znam)
NEW(_ZnwmRKSt9nothrow_t)
NEW(_ZnamRKSt9nothrow_t)
NEW(_ZnwmSt11align_val_t)
NEW(_ZnamSt11align_val_t)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm)
DELETE(_ZdaPvm)
DELETE(_ZdlPvRKSt9nothrow_t)
DELETE(_ZdaPvRKSt9nothrow_t)
DELETE(_ZdlPvSt11align_val_t)
DELETE(_ZdaPvSt11align_val_t)
DELETE(_ZdlPvmSt11align_val_t)
DELETE(_ZdaPvmSt11align_val_t)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t)

/* ---- Mappings: executable ones, and optionally all ---- */

REAL(void *, mmap, (void *at, size_t bytes, int protection, int flags, int fd, off_t offset),
     (at, bytes, protection, flags, fd, offset))
{
	void *mapped = real_mmap(at, bytes, protection, flags, fd, offset);

	if (unlikely(__atomic_load_n(&control->alloc_maps, __ATOMIC_RELAXED)) &&
	    mapped != MAP_FAILED && flags & MAP_ANONYMOUS && protection & PROT_WRITE &&
	    sample_is_due(bytes))
		sample_begin(mapped, bytes, INSIDE_ALLOC_MAPPING);
	if (unlikely(protection & PROT_EXEC) && mapped != MAP_FAILED)
		process_note_code(mapped, bytes);
	return mapped;
}

extern __typeof__(mmap) mmap64 EXPORT __attribute__((alias("mmap")));

REAL(int, munmap, (void *at, size_t bytes), (at, bytes))
{
	if (unlikely(shared && (uintptr_t)at < (uintptr_t)shared + INSIDE_FILE_BYTES &&
		     (uintptr_t)at + bytes > (uintptr_t)shared))
		return 0; /* the hooks use this memory */
	if (unlikely(__atomic_load_n(&control->alloc_maps, __ATOMIC_RELAXED)) && has_sampled)
		sample_end(at, bytes);
	return real_munmap(at, bytes);
}

REAL(int, mprotect, (void *at, size_t bytes, int protection), (at, bytes, protection))
{
	int failure = real_mprotect(at, bytes, protection);

	if (unlikely(protection & PROT_EXEC) && !failure)
		process_note_code(at, bytes);
	return failure;
}

/* ---- Libraries that bypass the hooks ---- */

/*
 * With RTLD_DEEPBIND, or in another namespace, a library finds the C library's
 * functions before these hooks. dlopen(3) uses the RUNPATH and the namespace of
 * its caller, so these hooks must not become the caller. They jump to the real
 * function and cannot see whether it succeeds.
 */
static void note_load(bool is_unhooked, const char *file, int flags)
{
	if (unlikely(is_unhooked) && shared && file && *file && !(flags & RTLD_NOLOAD))
		__atomic_fetch_add(&control->unhooked_loads, 1, __ATOMIC_RELAXED);
}

REAL(void *, dlopen, (const char *file, int flags), (file, flags))
{
	note_load(flags & RTLD_DEEPBIND, file, flags);
	return real_dlopen(file, flags);
}

REAL(void *, dlmopen, (Lmid_t namespace, const char *file, int flags), (namespace, file, flags))
{
	note_load(namespace != LM_ID_BASE || flags & RTLD_DEEPBIND, file, flags);
	return real_dlmopen(namespace, file, flags);
}

/* ---- Threads ---- */

REAL(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
     (thread, attributes, run, argument))
{
	struct start *start = shared ? process_new_start(attributes) : NULL;
	int failure;

	if (!start)
		return real_pthread_create(thread, attributes, run, argument);
	start->run = run;
	start->argument = argument;
	failure = real_pthread_create(thread, attributes, process_run_thread, start);
	if (failure)
		process_end_start(start);
	return failure;
}

/* ---- Confinement ---- */

/*
 * Handles what a thread is about to forbid: system calls, the time-stamp
 * counter, or both (seccomp(2), PR_SET_TSC of prctl(2)). Libraries also call
 * these functions to confine themselves.
 */
static void confine(bool forbids_tsc, bool forbids_calls)
{
	if (forbids_tsc)
		__atomic_store_n(&has_no_tsc, true, __ATOMIC_RELAXED);
	if (forbids_calls)
		process_expect_filter();
}

static void confine_by_prctl(long option, unsigned long value)
{
	if (option == PR_SET_SECCOMP)
		confine(value == SECCOMP_MODE_STRICT, true);
	else if (option == PR_SET_TSC)
		confine(value == PR_TSC_SIGSEGV, false);
}

typedef unsigned long word;

REAL(int, prctl, (int option, word a, word b, word c, word d), (option, a, b, c, d))
{
	if (unlikely(option == PR_SET_SECCOMP || option == PR_SET_TSC))
		confine_by_prctl(option, a);
	return real_prctl(option, a, b, c, d);
}

/*
 * The declaration of syscall() has an ellipsis. The real function must return
 * to the caller itself, because a child may have another stack.
 */
FIND(long, any_call, "syscall", (long number, word a, word b, word c, word d, word e, word f),
     (number, a, b, c, d, e, f))
EXPORT long any_call(long number, word a, word b, word c, word d, word e,
		     word f) __asm__("syscall");
EXPORT long any_call(long number, word a, word b, word c, word d, word e, word f)
{
	if (unlikely(number == SYS_prctl))
		confine_by_prctl((int)a, b);
	else if (unlikely(number == SYS_seccomp))
		confine(a == SECCOMP_SET_MODE_STRICT, a <= SECCOMP_SET_MODE_FILTER);
	return real_any_call(number, a, b, c, d, e, f);
}

/* ---- The timer signal ---- */

/*
 * Programs may reset all signals, install handlers for all, block all, or wait
 * for all. The timer signal stays unblocked and keeps its handler, which
 * forwards signals that no timer has sent (process.c).
 */
static bool is_of_timers(int number)
{
	return unlikely(timer_signal) && number == timer_signal;
}

/*
 * A handler on an alternate stack must not be interrupted, because that stack
 * may have room for only one frame.
 */
static const struct sigaction *blocking_timers(const struct sigaction *action,
					       struct sigaction *copy)
{
	if (likely(!timer_signal) || !action || !(action->sa_flags & SA_ONSTACK))
		return action;
	*copy = *action;
	sigaddset(&copy->sa_mask, timer_signal);
	return copy;
}

REAL(int, sigaction, (int number, const struct sigaction *action, struct sigaction *former),
     (number, action, former))
{
	struct sigaction before = program_action, copy;
	int failure;

	if (!is_of_timers(number)) {
		failure = real_sigaction(number, blocking_timers(action, &copy), former);
		if (unlikely(timer_signal) && !failure && former)
			sigdelset(&former->sa_mask, timer_signal);
		return failure;
	}
	if (action)
		program_action = *action;
	if (former)
		*former = before;
	return 0;
}

REAL(sighandler_t, signal, (int number, sighandler_t handler), (number, handler))
{
	sighandler_t former = program_action.sa_handler;

	if (!is_of_timers(number))
		return real_signal(number, handler);
	program_action = (struct sigaction){.sa_handler = handler};
	return former;
}

static const sigset_t *without_timers(const sigset_t *set, sigset_t *copy)
{
	if (likely(!timer_signal) || !set)
		return set;
	*copy = *set;
	sigdelset(copy, timer_signal);
	return copy;
}

/* Functions that take a signal set, from which the timer signal is removed. */
#define TAKES_SET(name, parameters, arguments)                                                     \
	REAL(int, name, parameters, arguments)                                                     \
	{                                                                                          \
		sigset_t copy;                                                                     \
                                                                                                   \
		set = without_timers(set, &copy);                                                  \
		return real_##name arguments;                                                      \
	}

TAKES_SET(pthread_sigmask, (int how, const sigset_t *set, sigset_t *former), (how, set, former))
TAKES_SET(sigprocmask, (int how, const sigset_t *set, sigset_t *former), (how, set, former))
TAKES_SET(sigwait, (const sigset_t *set, int *number), (set, number))
TAKES_SET(sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))
TAKES_SET(sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *limit),
	  (set, info, limit))
TAKES_SET(signalfd, (int fd, const sigset_t *set, int flags), (fd, set, flags))
