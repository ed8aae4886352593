#include "waiting/lock_holder.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "proc/memory.h"
#include "waiting/reason.h"
#include "waiting/thread_files.h"

#include <linux/futex.h>
#include <string.h>

/* The arguments of the thread's futex(2) call. */
struct wait {
	pid_t tid;
	uint64_t address;
	uint32_t command; /* without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME */
	bool is_private;
	uint32_t value; /* value of the word when the thread went to sleep */
};

/*
 * The number of 32-bit words to read before the futex, and from the futex on.
 * The first MUTEX_WORDS of the latter cover a mutex.
 */
enum { BEFORE = 14, MUTEX_WORDS = 5, AFTER = 13 };

struct words {
	uint32_t all[BEFORE + AFTER];
	bool has_before, has_mutex, has_after;
};

struct lock_holder_found {
	enum lock_kind kind;
	uint32_t tid;
};

typedef struct lock_holder_found find_holder(const struct wait *wait, const struct words *words);

/* `index` is relative to the futex. */
static uint32_t lock_holder_word(const struct words *words, int index)
{
	return words->all[BEFORE + index];
}

static uint64_t two_words(const struct words *words, int index)
{
	return lock_holder_word(words, index) | (uint64_t)lock_holder_word(words, index + 1) << 32;
}

static void lock_holder_read_words(const struct wait *wait, struct words *ret)
{
	struct memory_part parts[] = {
		{wait->address - sizeof(uint32_t) * BEFORE, ret->all, sizeof(uint32_t) * BEFORE,
		 false},
		{wait->address, &ret->all[BEFORE], sizeof(uint32_t) * MUTEX_WORDS, false},
		{wait->address + sizeof(uint32_t) * MUTEX_WORDS, &ret->all[BEFORE + MUTEX_WORDS],
		 sizeof(uint32_t) * (AFTER - MUTEX_WORDS), false},
	};

	memory_read_parts(wait->tid, parts, ARRAY_SIZE(parts));
	ret->has_before = parts[0].is_read;
	ret->has_mutex = parts[1].is_read;
	ret->has_after = parts[1].is_read && parts[2].is_read;
}

static bool waits_for_value(const struct wait *wait)
{
	return wait->command == FUTEX_WAIT || wait->command == FUTEX_WAIT_BITSET;
}

/*
 * Handles robust and priority-inheriting mutexes, and musl's mutexes that
 * record their owner.
 */
static struct lock_holder_found in_lock_word(const struct wait *wait, const struct words *words)
{
	bool has_owner = wait->command == FUTEX_LOCK_PI || wait->command == FUTEX_LOCK_PI2 ||
			 (waits_for_value(wait) && wait->value & FUTEX_WAITERS);

	return has_owner ? (struct lock_holder_found){LOCK_MUTEX,
						      lock_holder_word(words, 0) & FUTEX_TID_MASK}
			 : (struct lock_holder_found){0};
}

/*
 * glibc's struct __pthread_mutex_s has lock, count, owner, users, kind. With
 * 32-bit pointers, kind comes before users.
 */
static bool is_mutex(const struct words *words, int users, int kind)
{
	enum { KINDS = 0x3f3 }; /* all kinds with their flags */

	return lock_holder_word(words, users) &&
	       !(lock_holder_word(words, kind) & ~(uint32_t)KINDS);
}

static struct lock_holder_found in_mutex(const struct wait *wait, const struct words *words)
{
	enum {
		OWNER = 2,
		USERS = 3,
		KIND = 4,
		/*
		 * The value for a priority-protected mutex, too, whose ceiling
		 * is in the upper bits.
		 */
		CONTENDED = 2,
		CONTENDED_MASK = 3,
	};
	bool has_owner = waits_for_value(wait) && (wait->value & CONTENDED_MASK) == CONTENDED &&
			 (is_mutex(words, USERS, KIND) ||
			  (wait->address <= UINT32_MAX && is_mutex(words, KIND, USERS)));

	return has_owner ? (struct lock_holder_found){LOCK_MUTEX, lock_holder_word(words, OWNER)}
			 : (struct lock_holder_found){0};
}

/*
 * When the thread ends, the kernel clears the word with its tid and wakes it as
 * a shared futex.
 */
static struct lock_holder_found in_join(const struct wait *wait, const struct words *words)
{
	return waits_for_value(wait) && !wait->is_private &&
			       lock_holder_word(words, 0) == wait->value
		       ? (struct lock_holder_found){LOCK_JOIN, wait->value}
		       : (struct lock_holder_found){0};
}

/*
 * glibc's struct __pthread_rwlock_arch_t has readers, writers, wrphase_futex,
 * writers_futex and cur_writer, on x86-64 also shared. `base` is its start
 * relative to the futex.
 */
static struct lock_holder_found in_rwlock_at(const struct words *words, int base)
{
	enum { READERS = 0, WRITE_LOCKED = 2 };
#ifdef __x86_64__
	enum { CURRENT_WRITER = 6 };
#else
	enum { CURRENT_WRITER = 7 };
#endif

	return lock_holder_word(words, base + READERS) & WRITE_LOCKED
		       ? (struct lock_holder_found){LOCK_RWLOCK,
						    lock_holder_word(words, base + CURRENT_WRITER)}
		       : (struct lock_holder_found){0};
}

/* Readers wait on wrphase_futex, writers on writers_futex. */
static struct lock_holder_found in_rwlock_of_reader(const struct wait *wait,
						    const struct words *words)
{
	return waits_for_value(wait) && words->has_before && words->has_after
		       ? in_rwlock_at(words, -2)
		       : (struct lock_holder_found){0};
}

static struct lock_holder_found in_rwlock_of_writer(const struct wait *wait,
						    const struct words *words)
{
	return waits_for_value(wait) && words->has_before && words->has_after
		       ? in_rwlock_at(words, -3)
		       : (struct lock_holder_found){0};
}

/*
 * musl's struct pthread starts with its own address. The futex is detach_state,
 * after tid and errno_val.
 */
static struct lock_holder_found in_musl_join(const struct wait *wait, const struct words *words)
{
#ifdef __x86_64__
	enum { SELF = -14, TID = -2 };
#else
	enum { SELF = -10, TID = -2 };
#endif
	bool is_thread = waits_for_value(wait) && words->has_before &&
			 two_words(words, SELF) ==
				 wait->address - (uint64_t)-SELF * sizeof(uint32_t);

	return is_thread ? (struct lock_holder_found){LOCK_JOIN, lock_holder_word(words, TID)}
			 : (struct lock_holder_found){0};
}

/*
 * glibc's lock of a FILE has lock, count and the owner's struct pthread, which
 * contains its own address.
 */
static struct lock_holder_found in_stdio_lock(const struct wait *wait, const struct words *words)
{
#ifdef __x86_64__
	enum { CONTENDED = 2, OWNER = 2, SELF_BYTES = 16, TID_BYTES = 720 };
	uint64_t owner = two_words(words, OWNER), self = 0;
	uint32_t tid = 0;
	struct memory_part parts[] = {
		{owner + SELF_BYTES, &self, sizeof(self), false},
		{owner + TID_BYTES, &tid, sizeof(tid), false},
	};

	if (!waits_for_value(wait) || wait->value != CONTENDED || !owner)
		return (struct lock_holder_found){0};
	memory_read_parts(wait->tid, parts, ARRAY_SIZE(parts));
	if (parts[0].is_read && parts[1].is_read && self == owner)
		return (struct lock_holder_found){LOCK_MUTEX, tid};
#else
	(void)wait;
	(void)words;
#endif
	return (struct lock_holder_found){0};
}

/* The most reliable first. */
static find_holder *const ways[] = {
	in_lock_word,	     in_mutex,	   in_join,	  in_rwlock_of_reader,
	in_rwlock_of_writer, in_musl_join, in_stdio_lock,
};

/* Returns false if the thread no longer exists. */
static bool lock_holder_read_name(struct thread_files *thread, char *into, size_t len)
{
	ssize_t got = thread_files_read(thread, THREAD_COMM, into, len);

	if (got > 0 && into[got - 1] == '\n')
		into[got - 1] = '\0';
	return got > 0;
}

static void lock_holder_read_thread(struct thread_files *thread, struct lock_holder *holder)
{
	char line[256];
	struct waiting_call call;

	holder->begin_ns = clock_now_ns();
	if (thread_files_read(thread, THREAD_SYSCALL, line, sizeof(line)) > 0 &&
	    waiting_call_parse(line, &call) && call.pc) {
		holder->sp = call.sp;
		holder->pc = call.pc;
		holder->stack_len = memory_read(holder->tid, call.sp, holder->stack,
						sizeof(holder->stack));
	}
	holder->end_ns = clock_now_ns();
}

/* Returns false if `found` is not the tid of another thread of the process. */
static bool lock_holder_take(pid_t pid, const struct wait *wait, struct lock_holder_found found,
			     struct kept_threads *kept, struct lock_holder *ret)
{
	struct thread_files own = {0}, *thread;
	pid_t tid = (pid_t)found.tid;

	if (!tid || found.tid > FUTEX_TID_MASK || tid == wait->tid ||
	    kept_threads_enter(kept, pid, tid, &own, &thread))
		return false;
	if (thread_files_has_our_ids(thread) &&
	    lock_holder_read_name(thread, ret->name, sizeof(ret->name))) {
		ret->kind = found.kind;
		ret->tid = tid;
		if (found.kind != LOCK_GIL)
			lock_holder_read_thread(thread, ret);
	} else {
		kept_threads_forget(kept, tid);
	}
	kept_threads_leave(&own, thread);
	return ret->kind != LOCK_UNKNOWN;
}

static void lock_holder_begin(struct lock_holder *holder)
{
	holder->kind = LOCK_UNKNOWN;
	holder->tid = 0;
	holder->name[0] = '\0';
	holder->sp = holder->pc = holder->begin_ns = holder->end_ns = 0;
	holder->stack_len = 0;
}

void lock_holder_find(pid_t pid, pid_t tid, const uint64_t args[6], struct kept_threads *kept,
		      struct lock_holder *ret)
{
	struct wait wait = {
		.tid = tid,
		.address = args[0],
		.command = (uint32_t)args[1] & FUTEX_CMD_MASK,
		.is_private = args[1] & FUTEX_PRIVATE_FLAG,
		.value = (uint32_t)args[2],
	};
	struct words words = {0};
	size_t i = 0;

	lock_holder_begin(ret);
	ret->address = wait.address;
	lock_holder_read_words(&wait, &words);
	while (words.has_mutex && i < ARRAY_SIZE(ways) &&
	       !lock_holder_take(pid, &wait, ways[i](&wait, &words), kept, ret))
		i++;
}

void lock_holder_of_gil(pid_t pid, pid_t tid, const struct runtime_holder *holder,
			struct kept_threads *kept, struct lock_holder *ret)
{
	const struct wait wait = {.tid = tid, .address = holder->lock};
	const struct lock_holder_found found = {LOCK_GIL, (uint32_t)holder->own_tid};

	lock_holder_begin(ret);
	ret->address = wait.address;
	lock_holder_take(pid, &wait, found, kept, ret);
}
