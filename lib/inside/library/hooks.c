/*
 * What programs call. Each hook finds the next definition of its name (RTLD_NEXT) when it is first
 * called: that of the allocator that the program would have used.
 *
 * C++'s operators are hooked for allocators that define them themselves; those of libstdc++ and
 * libc++ call malloc(), which is counted then. The mallocx() family is jemalloc's. A program that
 * defines one of these functions itself never gets here, nor does one that has its allocator
 * linked in.
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

/* ---- The real functions ---- */

/* dlsym() may allocate before the allocator is known. What it gets from here is never given back.
 */
static struct {
	_Alignas(16) unsigned char bytes[16384];
	size_t used;
} early;

static void *early_allocate(size_t bytes)
{
	unsigned char *block = early.bytes + early.used;

	if (bytes > sizeof(early.bytes) - early.used)
		return NULL;
	early.used += (bytes + 15) / 16 * 16;
	return block;
}

static bool is_early(const void *block)
{
	return (uintptr_t)block - (uintptr_t)early.bytes < sizeof(early.bytes);
}

static bool is_resolving;

static void resolve(void **real, const char *name)
{
	if (is_resolving)
		return;
	is_resolving = true;
	__atomic_store_n(real, dlsym(RTLD_NEXT, name), __ATOMIC_RELAXED);
	is_resolving = false;
}

/* The real function of a hook; NULL while dlsym() looks for another one. */
#define REAL(name)                                                                                 \
	(likely(real_##name != NULL) ? real_##name                                                 \
				     : (resolve((void **)&real_##name, #name), real_##name))

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
		size_t known = block ? (size_t)(early.bytes + early.used - (unsigned char *)block)
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

/* ---- jemalloc's functions ---- */

HOOK(void *, mallocx, size_t bytes, int flags)
{
	return counted(REAL(mallocx)(bytes, flags), bytes);
}

HOOK(void *, rallocx, void *block, size_t bytes, int flags)
{
	void *(*real)(void *, size_t, int) = REAL(rallocx);

	sample_free(block);
	return counted(real(block, bytes, flags), bytes);
}

HOOK(void, dallocx, void *block, int flags)
{
	sample_free(block);
	REAL(dallocx)(block, flags);
}

HOOK(void, sdallocx, void *block, size_t bytes, int flags)
{
	sample_free(block);
	REAL(sdallocx)(block, bytes, flags);
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

/* The bytes of an operator new are its first argument, the block of an operator delete likewise. */
#define OPERATOR_NEW(name, parameters, ...)                                                        \
	HOOK(void *, name, size_t bytes UNPACK parameters)                                         \
	{                                                                                          \
		void *(*real)(size_t UNPACK parameters) = REAL(name);                              \
		void *block = real(bytes __VA_ARGS__);                                             \
                                                                                                   \
		return operators_count(*(void **)&real) ? counted(block, bytes) : block;           \
	}

#define OPERATOR_DELETE(name, parameters, ...)                                                     \
	HOOK(void, name, void *block UNPACK parameters)                                            \
	{                                                                                          \
		void (*real)(void *UNPACK parameters) = REAL(name);                                \
                                                                                                   \
		if (operators_count(*(void **)&real))                                              \
			sample_free(block);                                                        \
		real(block __VA_ARGS__);                                                           \
	}

#define UNPACK(...) __VA_ARGS__
#define COMMA ,
/* The names of the Itanium C++ ABI: m is size_t, the other letters are below. */
#define NOTHROW (, const void *nothrow)
#define ALIGNED (, size_t alignment)
#define ALIGNED_NOTHROW (, size_t alignment, const void *nothrow)
#define SIZED (, size_t bytes)
#define SIZED_ALIGNED (, size_t bytes, size_t alignment)

OPERATOR_NEW(_Znwm, (), )
OPERATOR_NEW(_Znam, (), )
OPERATOR_NEW(_ZnwmRKSt9nothrow_t, NOTHROW, COMMA nothrow)
OPERATOR_NEW(_ZnamRKSt9nothrow_t, NOTHROW, COMMA nothrow)
OPERATOR_NEW(_ZnwmSt11align_val_t, ALIGNED, COMMA alignment)
OPERATOR_NEW(_ZnamSt11align_val_t, ALIGNED, COMMA alignment)
OPERATOR_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, ALIGNED_NOTHROW, COMMA alignment COMMA nothrow)
OPERATOR_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, ALIGNED_NOTHROW, COMMA alignment COMMA nothrow)

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
	void *mapped = REAL(mmap)(at, bytes, protection, flags, fd, offset);

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
	if (unlikely(__atomic_load_n(&control->alloc_maps, __ATOMIC_RELAXED)) &&
	    __atomic_load_n(&has_sampled, __ATOMIC_RELAXED))
		sample_end(at, bytes);
	return REAL(munmap)(at, bytes);
}

/* ---- Threads, and the signal of their timers ---- */

HOOK(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes,
     void *(*run)(void *argument), void *argument)
{
	struct start *start = malloc(sizeof(*start));
	int failure;

	if (!start)
		return EAGAIN;
	*start = (struct start){.run = run, .argument = argument};
	failure = REAL(pthread_create)(thread, attributes, process_run_thread, start);
	if (failure)
		free(start);
	return failure;
}

/* Programs that set all signals back to their defaults would die of ours. */
HOOK(int, sigaction, int number, const struct sigaction *action, struct sigaction *former)
{
	if (likely(!timer_signal || number != timer_signal))
		return REAL(sigaction)(number, action, former);
	if (former)
		*former = (struct sigaction){.sa_handler = SIG_DFL};
	return 0;
}

HOOK(sighandler_t, signal, int number, sighandler_t handler)
{
	return likely(!timer_signal || number != timer_signal) ? REAL(signal)(number, handler)
							       : SIG_DFL;
}
