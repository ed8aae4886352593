/*
 * What programs call. Each hook finds the next definition of its name (RTLD_NEXT) when it is first
 * needed: that of the allocator that the program would have used.
 *
 * C++'s operators are hooked for allocators that define them themselves; those of libstdc++ and
 * libc++ call malloc(), which is counted then. A program that defines one of these functions itself
 * never gets here, nor does one that has its allocator linked in. jemalloc's mallocx() and its kin
 * are not hooked: programs test whether they are defined, and would believe jemalloc to be there.
 */
#include "inside.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- The real functions ---- */

/* dlsym() may allocate before the allocator is known. What it gets from here is never given back.
 */
static struct {
	_Alignas(16) unsigned char bytes[16384];
	size_t used;
} early;

static void *early_allocate(size_t bytes)
{
	size_t rounded = (bytes + 15) / 16 * 16;
	size_t at = __atomic_fetch_add(&early.used, rounded, __ATOMIC_RELAXED);

	return at + rounded <= sizeof(early.bytes) ? early.bytes + at : NULL;
}

static bool is_early(const void *block)
{
	return (uintptr_t)block - (uintptr_t)early.bytes < sizeof(early.bytes);
}

static void resolve(void);

/* The real function of a hook; NULL while this thread is in resolve(). */
#define REAL(name) (likely(real_##name != NULL) ? real_##name : (resolve(), real_##name))

#define HOOK(type, name, ...)                                                                      \
	static type (*real_##name)(__VA_ARGS__);                                                   \
	EXPORT type name(__VA_ARGS__);                                                             \
	EXPORT type name(__VA_ARGS__)

static inline void *counted(void *block, size_t bytes)
{
	sample_allocation(block, bytes);
	return block;
}

/* ---- malloc() and its kin ---- */

HOOK(void *, malloc, size_t bytes)
{
	void *(*real)(size_t) = REAL(malloc);

	return likely(real) ? counted(real(bytes), bytes) : early_allocate(bytes);
}

HOOK(void *, calloc, size_t count, size_t bytes)
{
	void *(*real)(size_t, size_t) = REAL(calloc);

	/* The early memory is zeros. */
	return likely(real) ? counted(real(count, bytes), count * bytes)
			    : early_allocate(count * bytes);
}

HOOK(void, free, void *block)
{
	void (*real)(void *) = REAL(free);

	if (unlikely(!block || is_early(block) || !real))
		return;
	sample_free(block);
	real(block);
}

/* The former block ends first: its address may be another block's before the real function returns.
 * If that fails, a sampled block counts as given back though it is still there. */
HOOK(void *, realloc, void *block, size_t bytes)
{
	void *(*real)(void *, size_t) = REAL(realloc);
	void *fresh;

	if (unlikely(is_early(block) || !real)) {
		size_t known =
			block ? (size_t)(early.bytes + sizeof(early.bytes) - (unsigned char *)block)
			      : 0;

		fresh = malloc(bytes);
		if (fresh && block)
			memcpy(fresh, block, known < bytes ? known : bytes);
		return fresh;
	}
	if (block)
		sample_free(block);
	return counted(real(block, bytes), bytes);
}

EXPORT void *reallocarray(void *block, size_t count, size_t bytes)
{
	size_t all;

	if (__builtin_mul_overflow(count, bytes, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(block, all);
}

HOOK(void *, memalign, size_t alignment, size_t bytes)
{
	return counted(REAL(memalign)(alignment, bytes), bytes);
}

HOOK(void *, aligned_alloc, size_t alignment, size_t bytes)
{
	return counted(REAL(aligned_alloc)(alignment, bytes), bytes);
}

HOOK(void *, valloc, size_t bytes)
{
	return counted(REAL(valloc)(bytes), bytes);
}

HOOK(void *, pvalloc, size_t bytes)
{
	return counted(REAL(pvalloc)(bytes), bytes);
}

HOOK(int, posix_memalign, void **block, size_t alignment, size_t bytes)
{
	int failure = REAL(posix_memalign)(block, alignment, bytes);

	if (!failure)
		sample_allocation(*block, bytes);
	return failure;
}

/* ---- C++'s operators ---- */

/* Whether malloc() has counted already: the operators are those of a C++ library. 1: no, 2: yes. */
static int operators;

static int find_operators(void *real)
{
	const char *name;
	Dl_info info;

	if (!dladdr(real, &info))
		return operators = 2;
	name = strrchr(info.dli_fname, '/');
	name = name ? name + 1 : info.dli_fname;
	return operators = strncmp(name, "libstdc++", 9) && strncmp(name, "libc++", 6) ? 1 : 2;
}

static inline bool operators_count(void *real)
{
	return (likely(operators) ? operators : find_operators(real)) == 1;
}

/* Of the object whose address this is; NULL if it is this library. */
static void *open_object(const void *address, int flags)
{
	Dl_info info, own;

	if (!dladdr(address, &info) || !dladdr(&operators, &own) || info.dli_fbase == own.dli_fbase)
		return NULL;
	return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | flags);
}

/*
 * Where a plugin alone has loaded the C++ library (dlopen(3) with RTLD_LOCAL), the operators that
 * the plugin would have found. Their object stays loaded, and has the other operators, too.
 */
static void *find_of_caller(const char *name, const void *caller)
{
	static void *known;
	void *object = __atomic_load_n(&known, __ATOMIC_RELAXED);
	void *found = object ? dlsym(object, name) : NULL;

	if (found || !(object = open_object(caller, 0)))
		return found;
	found = dlsym(object, name);
	dlclose(object);
	object = found ? open_object(found, RTLD_NODELETE) : NULL;
	if (object)
		__atomic_store_n(&known, object, __ATOMIC_RELAXED);
	return object ? found : NULL;
}

static void *find_operator(void **real, const char *name, const void *caller)
{
	int saved_errno = errno;
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		found = find_of_caller(name, caller);
	__atomic_store_n(real, found, __ATOMIC_RELAXED);
	errno = saved_errno;
	return found;
}

#define FIND_OPERATOR(name)                                                                        \
	(likely(real_##name != NULL) ||                                                            \
	 find_operator((void **)&real_##name, #name, __builtin_return_address(0)))

/* The bytes of an operator new are its first argument, the block of an operator delete likewise.
 * instead: what happens where no operator is to be found. */
#define OPERATOR_NEW(name, instead, parameters, ...)                                               \
	HOOK(void *, name, size_t bytes UNPACK parameters)                                         \
	{                                                                                          \
		void *block;                                                                       \
                                                                                                   \
		if (!FIND_OPERATOR(name))                                                          \
			return instead;                                                            \
		block = real_##name(bytes __VA_ARGS__);                                            \
		return operators_count(*(void **)&real_##name) ? counted(block, bytes) : block;    \
	}

#define OPERATOR_DELETE(name, parameters, ...)                                                     \
	HOOK(void, name, void *block UNPACK parameters)                                            \
	{                                                                                          \
		if (!FIND_OPERATOR(name)) {                                                        \
			free(block);                                                               \
			return;                                                                    \
		}                                                                                  \
		if (operators_count(*(void **)&real_##name))                                       \
			sample_free(block);                                                        \
		real_##name(block __VA_ARGS__);                                                    \
	}

#define UNPACK(...) __VA_ARGS__
#define COMMA ,
/* The names of the Itanium C++ ABI: m is size_t, the other letters are below. */
#define NOTHROW (, const void *nothrow)
#define ALIGNED (, size_t alignment)
#define ALIGNED_NOTHROW (, size_t alignment, const void *nothrow)
#define SIZED (, size_t bytes)
#define SIZED_ALIGNED (, size_t bytes, size_t alignment)

OPERATOR_NEW(_Znwm, malloc(bytes), (), )
OPERATOR_NEW(_Znam, malloc(bytes), (), )
OPERATOR_NEW(_ZnwmRKSt9nothrow_t, malloc(bytes), NOTHROW, COMMA nothrow)
OPERATOR_NEW(_ZnamRKSt9nothrow_t, malloc(bytes), NOTHROW, COMMA nothrow)
OPERATOR_NEW(_ZnwmSt11align_val_t, memalign(alignment, bytes), ALIGNED, COMMA alignment)
OPERATOR_NEW(_ZnamSt11align_val_t, memalign(alignment, bytes), ALIGNED, COMMA alignment)
OPERATOR_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, memalign(alignment, bytes), ALIGNED_NOTHROW,
	     COMMA alignment COMMA nothrow)
OPERATOR_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, memalign(alignment, bytes), ALIGNED_NOTHROW,
	     COMMA alignment COMMA nothrow)

OPERATOR_DELETE(_ZdlPv, (), )
OPERATOR_DELETE(_ZdaPv, (), )
OPERATOR_DELETE(_ZdlPvRKSt9nothrow_t, NOTHROW, COMMA nothrow)
OPERATOR_DELETE(_ZdaPvRKSt9nothrow_t, NOTHROW, COMMA nothrow)
OPERATOR_DELETE(_ZdlPvm, SIZED, COMMA bytes)
OPERATOR_DELETE(_ZdaPvm, SIZED, COMMA bytes)
OPERATOR_DELETE(_ZdlPvSt11align_val_t, ALIGNED, COMMA alignment)
OPERATOR_DELETE(_ZdaPvSt11align_val_t, ALIGNED, COMMA alignment)
OPERATOR_DELETE(_ZdlPvmSt11align_val_t, SIZED_ALIGNED, COMMA bytes COMMA alignment)
OPERATOR_DELETE(_ZdaPvmSt11align_val_t, SIZED_ALIGNED, COMMA bytes COMMA alignment)
OPERATOR_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, ALIGNED_NOTHROW, COMMA alignment COMMA nothrow)
OPERATOR_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, ALIGNED_NOTHROW, COMMA alignment COMMA nothrow)

/* ---- Mappings, as an option ---- */

HOOK(void *, mmap, void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	void *(*real)(void *, size_t, int, int, int, off_t) = REAL(mmap);
	void *mapped;

	if (unlikely(!real))
		return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
	mapped = real(at, bytes, protection, flags, fd, offset);

	if (unlikely(__atomic_load_n(&control->alloc_maps, __ATOMIC_RELAXED)) &&
	    __atomic_load_n(&control->alloc_period, __ATOMIC_RELAXED) && mapped != MAP_FAILED &&
	    flags & MAP_ANONYMOUS && protection & PROT_WRITE) {
		thread_state.left -= (int64_t)bytes;
		if (thread_state.left < 0)
			sample_drawn(mapped, bytes, INSIDE_ALLOC_MAPPING);
	}
	return mapped;
}

EXPORT void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return mmap(at, bytes, protection, flags, fd, offset);
}

HOOK(int, munmap, void *at, size_t bytes)
{
	int (*real)(void *, size_t) = REAL(munmap);

	if (unlikely(shared && (uintptr_t)at < (uintptr_t)shared + INSIDE_FILE_BYTES &&
		     (uintptr_t)at + bytes > (uintptr_t)shared))
		return 0; /* the hooks read it */
	if (unlikely(__atomic_load_n(&control->alloc_maps, __ATOMIC_RELAXED)) &&
	    __atomic_load_n(&has_sampled, __ATOMIC_RELAXED))
		sample_end(at, bytes);
	return real ? real(at, bytes) : (int)syscall(SYS_munmap, at, bytes);
}

/* ---- Threads ---- */

HOOK(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes,
     void *(*run)(void *argument), void *argument)
{
	struct start *start = shared ? malloc(sizeof(*start)) : NULL;
	int failure;

	if (!start)
		return REAL(pthread_create)(thread, attributes, run, argument);
	*start = (struct start){.run = run, .argument = argument};
	failure = REAL(pthread_create)(thread, attributes, process_run_thread, start);
	if (failure)
		free(start);
	return failure;
}

/* ---- The signal of the timers ---- */

/*
 * Programs may set all signals to their defaults, install handlers for all, block all, or wait for
 * all. The timers' signal stays unblocked and with its handler, which passes on what no timer has
 * sent (process.c).
 */
static bool is_of_timers(int number)
{
	return unlikely(timer_signal) && number == timer_signal;
}

HOOK(int, sigaction, int number, const struct sigaction *action, struct sigaction *former)
{
	struct sigaction before = program_action;

	if (!is_of_timers(number))
		return REAL(sigaction)(number, action, former);
	if (action)
		program_action = *action;
	if (former)
		*former = before;
	return 0;
}

HOOK(sighandler_t, signal, int number, sighandler_t handler)
{
	sighandler_t former = program_action.sa_handler;

	if (!is_of_timers(number))
		return REAL(signal)(number, handler);
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

HOOK(int, pthread_sigmask, int how, const sigset_t *set, sigset_t *former)
{
	sigset_t copy;

	return REAL(pthread_sigmask)(how, without_timers(set, &copy), former);
}

HOOK(int, sigprocmask, int how, const sigset_t *set, sigset_t *former)
{
	sigset_t copy;

	return REAL(sigprocmask)(how, without_timers(set, &copy), former);
}

HOOK(int, sigwait, const sigset_t *set, int *number)
{
	sigset_t copy;

	return REAL(sigwait)(without_timers(set, &copy), number);
}

HOOK(int, sigwaitinfo, const sigset_t *set, siginfo_t *info)
{
	sigset_t copy;

	return REAL(sigwaitinfo)(without_timers(set, &copy), info);
}

HOOK(int, sigtimedwait, const sigset_t *set, siginfo_t *info, const struct timespec *limit)
{
	sigset_t copy;

	return REAL(sigtimedwait)(without_timers(set, &copy), info, limit);
}

HOOK(int, signalfd, int fd, const sigset_t *set, int flags)
{
	sigset_t copy;

	return REAL(signalfd)(fd, without_timers(set, &copy), flags);
}

/* ---- Finding the real functions ---- */

#define FOUND(name)                                                                                \
	{                                                                                          \
		(void **)&real_##name, #name                                                       \
	}

/* All at once, when the first of them is called. The allocator is last: while it is unknown,
 * dlsym() gets early memory and cannot enter an allocator that calls the others. Threads may do it
 * at once.
 */
static void resolve(void)
{
	static const struct {
		void **real;
		const char *name;
	} all[] = {FOUND(mmap),	    FOUND(munmap),	    FOUND(sigaction),
		   FOUND(signal),   FOUND(pthread_sigmask), FOUND(sigprocmask),
		   FOUND(sigwait),  FOUND(sigwaitinfo),	    FOUND(sigtimedwait),
		   FOUND(signalfd), FOUND(pthread_create),  FOUND(valloc),
		   FOUND(pvalloc),  FOUND(memalign),	    FOUND(aligned_alloc),
		   FOUND(free),	    FOUND(posix_memalign),  FOUND(realloc),
		   FOUND(calloc),   FOUND(malloc)};
	int saved_errno = errno;

	if (thread_state.is_resolving)
		return;
	thread_state.is_resolving = 1;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		__atomic_store_n(all[i].real, dlsym(RTLD_NEXT, all[i].name), __ATOMIC_RELAXED);
	thread_state.is_resolving = 0;
	errno = saved_errno;
}
