/*
 * Finds the threads of this program that hold locks, as if it were another
 * program.
 */
#include "base/clock.h"
#include "lacking.h"
#include "unit_test.h"
#include "waiting/thread_snapshot.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A thread that holds a lock and waits for a pipe, and a thread that wants the
 * lock. */
struct contest {
	void (*hold)(struct contest *contest);
	void (*want)(struct contest *contest);
	void (*release)(struct contest *contest);
	union {
		pthread_mutex_t mutex;
		pthread_rwlock_t rwlock;
		sem_t semaphore;
		_Atomic uint32_t words[16];
	};
	pthread_t holder, waiter;
	_Atomic pid_t holder_tid, waiter_tid;
	int pipe[2];
};

static pid_t own_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static void *run_holder(void *arg)
{
	struct contest *contest = arg;
	char byte;

	pthread_setname_np(pthread_self(), "holder");
	if (contest->hold)
		contest->hold(contest);
	atomic_store(&contest->holder_tid, own_tid());
	if (read(contest->pipe[0], &byte, 1) == 1 && contest->release)
		contest->release(contest);
	return NULL;
}

static void *run_waiter(void *arg)
{
	struct contest *contest = arg;

	atomic_store(&contest->waiter_tid, own_tid());
	contest->want(contest);
	return NULL;
}

/* It may wait for a lock of the C library first. */
static bool waits_for_that(const struct contest *contest, const struct thread_snapshot *snapshot,
			   bool is_held)
{
	if (snapshot->result != THREAD_SNAPSHOT_WAITS || strcmp(snapshot->reason, "[futex]") != 0)
		return false;
	return is_held ? snapshot->holder.kind != LOCK_UNKNOWN && snapshot->holder.pc
		       : snapshot->futex - (uintptr_t)contest < sizeof(*contest);
}

/* Finds the holder while the waiter waits, and then releases the lock. */
static struct lock_holder holder_in(struct contest *contest, bool is_held)
{
	uint64_t end_ns = clock_now_ns() + 20 * NS_PER_SECOND;
	struct kept_threads kept = {0};
	struct thread_snapshot snapshot = {0};
	struct thread_snapshot_request request = {.pid = getpid()};
	struct lock_holder holder;

	contest->holder_tid = contest->waiter_tid = 0;
	assert_int_equal(pipe(contest->pipe), 0);
	assert_int_equal(pthread_create(&contest->holder, NULL, run_holder, contest), 0);
	while (!atomic_load(&contest->holder_tid))
		usleep(1000);
	assert_int_equal(pthread_create(&contest->waiter, NULL, run_waiter, contest), 0);
	while (!(request.tid = atomic_load(&contest->waiter_tid)))
		usleep(1000);
	do {
		usleep(1000);
		thread_snapshot_take(&request, &kept, NULL, &snapshot);
	} while (!waits_for_that(contest, &snapshot, is_held) && clock_now_ns() < end_ns);
	holder = snapshot.holder;
	assert_int_equal(write(contest->pipe[1], "x", 1), 1);
	pthread_join(contest->waiter, NULL);
	if (contest->hold || contest->release)
		pthread_join(contest->holder, NULL);
	close(contest->pipe[0]);
	close(contest->pipe[1]);
	kept_threads_clear(&kept);
	thread_snapshot_deinit(&snapshot);
	return holder;
}

static void assert_holds(struct contest *contest, enum lock_kind kind)
{
	struct lock_holder holder = holder_in(contest, true);

	assert_int_equal(holder.kind, kind);
	assert_int_equal(holder.tid, contest->holder_tid);
	assert_string_equal(holder.name, "holder");
	/* The holder waits for the pipe. */
	assert_true(holder.sp && holder.pc);
	assert_true(holder.stack_len > 0);
	assert_true(holder.begin_ns && holder.begin_ns <= holder.end_ns);
}

static void lock(struct contest *contest)
{
	pthread_mutex_lock(&contest->mutex);
}

static void lock_within_a_minute(struct contest *contest)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 60;
	pthread_mutex_timedlock(&contest->mutex, &end);
}

static void unlock(struct contest *contest)
{
	pthread_mutex_unlock(&contest->mutex);
}

static void lock_and_unlock(struct contest *contest)
{
	lock(contest);
	unlock(contest);
}

static void lock_within_a_minute_and_unlock(struct contest *contest)
{
	lock_within_a_minute(contest);
	unlock(contest);
}

TEST(the_owner_of_a_mutex_of_any_kind_is_found)
{
	static const struct {
		int type, protocol, robust;
	} kinds[] = {
		{PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED},
		{PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED},
		{PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED},
		{PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED},
		{PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST},
		{PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST},
		{PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED},
		{PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ROBUST},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct contest contest = {.hold = lock, .want = lock_and_unlock, .release = unlock};
		pthread_mutexattr_t attr;

		pthread_mutexattr_init(&attr);
		pthread_mutexattr_settype(&attr, kinds[i].type);
		pthread_mutexattr_setprotocol(&attr, kinds[i].protocol);
		pthread_mutexattr_setrobust(&attr, kinds[i].robust);
		pthread_mutex_init(&contest.mutex, &attr);
		assert_holds(&contest, LOCK_MUTEX);
		contest.want = lock_within_a_minute_and_unlock;
		assert_holds(&contest, LOCK_MUTEX);
		pthread_mutex_destroy(&contest.mutex);
		pthread_mutexattr_destroy(&attr);
	}
}

TEST(the_owner_of_a_priority_protected_mutex_is_found)
{
	struct contest contest = {.hold = lock, .want = lock_and_unlock, .release = unlock};
	pthread_mutexattr_t attr;

	if (HAS_THREAD_SANITIZER)
		RETURN_LACKING("the thread sanitizer does not know such mutexes");
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT);
	pthread_mutexattr_setprioceiling(&attr, 1);
	pthread_mutex_init(&contest.mutex, &attr);
	if (pthread_mutex_lock(&contest.mutex))
		RETURN_LACKING("may not run at real-time priority");
	pthread_mutex_unlock(&contest.mutex);
	assert_holds(&contest, LOCK_MUTEX);
	pthread_mutexattr_destroy(&attr);
}

static void write_lock(struct contest *contest)
{
	pthread_rwlock_wrlock(&contest->rwlock);
}

static void unlock_rwlock(struct contest *contest)
{
	pthread_rwlock_unlock(&contest->rwlock);
}

static void read_and_unlock(struct contest *contest)
{
	pthread_rwlock_rdlock(&contest->rwlock);
	unlock_rwlock(contest);
}

static void write_and_unlock(struct contest *contest)
{
	write_lock(contest);
	unlock_rwlock(contest);
}

static void read_lock(struct contest *contest)
{
	pthread_rwlock_rdlock(&contest->rwlock);
}

TEST(the_writer_that_readers_and_writers_wait_for_is_found)
{
	struct contest contest = {
		.hold = write_lock, .want = read_and_unlock, .release = unlock_rwlock};

	pthread_rwlock_init(&contest.rwlock, NULL);
	assert_holds(&contest, LOCK_RWLOCK);
	contest.want = write_and_unlock;
	assert_holds(&contest, LOCK_RWLOCK);
	/* Readers do not store their identity. */
	contest.hold = read_lock;
	assert_int_equal(holder_in(&contest, false).kind, LOCK_UNKNOWN);
	pthread_rwlock_destroy(&contest.rwlock);
}

static void join_holder(struct contest *contest)
{
	pthread_join(contest->holder, NULL);
}

TEST(the_thread_whose_end_is_awaited_is_found)
{
	struct contest contest = {.want = join_holder};

	assert_holds(&contest, LOCK_JOIN);
}

static void lock_standard_output(struct contest *contest)
{
	(void)contest;
	flockfile(stdout);
}

static void unlock_standard_output(struct contest *contest)
{
	(void)contest;
	funlockfile(stdout);
}

static void want_standard_output(struct contest *contest)
{
	lock_standard_output(contest);
	unlock_standard_output(contest);
}

TEST(the_thread_that_has_locked_a_stream_is_found)
{
	struct contest contest = {.hold = lock_standard_output,
				  .want = want_standard_output,
				  .release = unlock_standard_output};

#ifndef __x86_64__
	RETURN_LACKING("is known of x86-64 alone");
#endif
	assert_holds(&contest, LOCK_MUTEX);
}

static void wait_for_semaphore(struct contest *contest)
{
	sem_wait(&contest->semaphore);
}

static void post_semaphore(struct contest *contest)
{
	sem_post(&contest->semaphore);
}

TEST(a_semaphore_has_no_holder)
{
	struct contest contest = {.want = wait_for_semaphore, .release = post_semaphore};

	sem_init(&contest.semaphore, 0, 0);
	assert_int_equal(holder_in(&contest, false).kind, LOCK_UNKNOWN);
	sem_destroy(&contest.semaphore);
}

/* A lock like those of Rust: 0, 1 or, with waiters, 2. The protected data
 * follows. */
static void wait_for_word(struct contest *contest)
{
	uint32_t value = contest->words[0];

	contest->words[2] = (uint32_t)contest->holder_tid;
	while (contest->words[0] == value)
		syscall(SYS_futex, &contest->words[0], FUTEX_WAIT_PRIVATE, value, NULL);
}

static void change_word(struct contest *contest)
{
	contest->words[0] = 0;
	syscall(SYS_futex, &contest->words[0], FUTEX_WAKE_PRIVATE, INT_MAX);
}

TEST(what_a_lock_protects_is_not_taken_for_its_owner)
{
	struct contest contest = {.want = wait_for_word, .release = change_word};

	contest.words[0] = 2;
	assert_int_equal(holder_in(&contest, false).kind, LOCK_UNKNOWN);
}

/* Makes it look like a recursive mutex of musl. */
static void own_word(struct contest *contest)
{
	contest->words[0] = (uint32_t)own_tid() | FUTEX_WAITERS;
}

TEST(a_lock_word_with_the_id_of_a_thread_names_its_owner)
{
	struct contest contest = {.hold = own_word, .want = wait_for_word, .release = change_word};

	assert_holds(&contest, LOCK_MUTEX);
}

TEST(an_owner_that_is_not_of_the_process_is_none)
{
	static const uint32_t owners[] = {1, 0, FUTEX_TID_MASK};

	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
		struct contest contest = {.want = wait_for_word, .release = change_word};

		contest.words[0] = owners[i] | FUTEX_WAITERS;
		assert_int_equal(holder_in(&contest, false).kind, LOCK_UNKNOWN);
	}
}

TEST(memory_that_cannot_be_read_has_no_holder)
{
	static const uint64_t addresses[] = {0, 4, 60, UINT64_MAX - 8, UINT64_C(1) << 63};
	static const uint32_t commands[] = {FUTEX_WAIT, FUTEX_LOCK_PI, FUTEX_WAIT_BITSET, 127};
	struct kept_threads kept = {0};
	struct lock_holder holder;

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		for (size_t j = 0; j < sizeof(commands) / sizeof(commands[0]); j++) {
			uint64_t args[6] = {addresses[i], commands[j], UINT32_MAX};

			lock_holder_find(getpid(), own_tid(), args, &kept, &holder);
			assert_int_equal(holder.kind, LOCK_UNKNOWN);
		}
	}
}

int main(void)
{
	if (!has_process_vm_readv())
		return lacking_all("process_vm_readv(2) is missing");
	return unit_tests_run();
}
