/*
 * waits SECONDS [MIN_US MAX_US [KIND…]]
 *
 * Threads wait in known ways, each in a function and a thread of its own name.
 * The thread measures how long it had no CPU in the function: CLOCK_MONOTONIC
 * minus its own CPU time. The lengths of the waits are random between MIN_US
 * and MAX_US (50 to 20,000), with a log-uniform distribution. At the end it
 * prints a line for each function, with its name, nanoseconds and number of
 * calls, and a line for the lifetimes of all threads: "threads", nanoseconds,
 * number of threads.
 *
 *	KIND    waits                          for the sleeper
 *	sleep   naps
 *	mutex   wants_lock                     holds_lock
 *	rwlock  wants_rwlock                   holds_rwlock
 *	condvar awaits_signal                  gives_signal
 *	pipe    reads_pipe                     fills_pipe
 *	poll    polls_pipe                     feeds_poll
 *	join    joins_thread                   brief_life
 *	fault   touches_page (userfaultfd(2))  serves_page
 *	burn    burns, which does not wait unless it lacks a CPU
 *	storm   asks                           answers
 *
 * Without a KIND, all except the last two are used. In main and takes_turns,
 * threads wait without being measured. The threads of a storm share one CPU and
 * switch as often as possible. SIGTERM ends all threads a second later, for a
 * storm that lasts until it is noticed.
 */
#include "work.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

enum { PAGE_BYTES = 4096, STACK_BYTES = 128 << 10, END_LOOK_MS = 20, BURNS = 100 };

/* The waits of one function. Only its thread writes it. */
struct meter {
	uint64_t ns, calls;
};

static uint64_t lives_ns, lives;

/* Shared by two threads. */
struct pair {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	sem_t held, taken; /* held: the sleeper has the lock; taken: the waiter has it */
	pthread_cond_t given;
	unsigned signals;
	int ends[2];
	char *page;
	int faults;
	struct meter waits, sleeps;
	volatile bool waiter_ended;
};

static struct {
	volatile uint64_t end_ns;
	double min_us, max_us;
} config;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void end_in_a_second(int signal)
{
	(void)signal;
	config.end_ns = clock_ns(CLOCK_MONOTONIC) + 1000000000;
}

static void add_life(uint64_t began_ns)
{
	__atomic_add_fetch(&lives_ns, clock_ns(CLOCK_MONOTONIC) - began_ns, __ATOMIC_RELAXED);
	__atomic_add_fetch(&lives, 1, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) void measured(void (*call)(struct pair *),
							   struct pair *pair, struct meter *meter)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), began = clock_ns(CLOCK_MONOTONIC);

	call(pair);
	uint64_t elapsed = clock_ns(CLOCK_MONOTONIC) - began;
	meter->ns += elapsed - (clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
	meter->calls++;
}

static inline __attribute__((always_inline)) void sleep_at_random(void)
{
	static __thread struct drand48_data seed;
	static __thread bool is_seeded;
	double uniform;

	if (!is_seeded)
		srand48_r((long)(clock_ns(CLOCK_MONOTONIC) ^ (uintptr_t)&seed), &seed);
	is_seeded = true;
	drand48_r(&seed, &uniform);
	uint64_t ns = (uint64_t)(1e3 * config.min_us * pow(config.max_us / config.min_us, uniform));
	struct timespec length = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	nanosleep(&length, NULL);
}

/* Keeps functions with the same code apart, which compilers would merge. */
#define DISTINCT(name) __asm__ volatile("# " name)

static NOINLINE void naps(struct pair *pair)
{
	DISTINCT("naps");
	sleep_at_random();
}

static NOINLINE void takes_turns(sem_t *turn)
{
	while (sem_wait(turn))
		continue;
}

static void await_holder(struct pair *pair)
{
	takes_turns(&pair->held);
}

static void await_taker(struct pair *pair)
{
	takes_turns(&pair->taken);
}

static NOINLINE void wants_lock(struct pair *pair)
{
	pthread_mutex_lock(&pair->mutex);
	pthread_mutex_unlock(&pair->mutex);
	sem_post(&pair->taken);
}

static NOINLINE void holds_lock(struct pair *pair)
{
	pthread_mutex_lock(&pair->mutex);
	sem_post(&pair->held);
	sleep_at_random();
	pthread_mutex_unlock(&pair->mutex);
}

static NOINLINE void wants_rwlock(struct pair *pair)
{
	pthread_rwlock_rdlock(&pair->rwlock);
	pthread_rwlock_unlock(&pair->rwlock);
	sem_post(&pair->taken);
}

static NOINLINE void holds_rwlock(struct pair *pair)
{
	pthread_rwlock_wrlock(&pair->rwlock);
	sem_post(&pair->held);
	sleep_at_random();
	pthread_rwlock_unlock(&pair->rwlock);
}

static NOINLINE void awaits_signal(struct pair *pair)
{
	pthread_mutex_lock(&pair->mutex);
	while (!pair->signals)
		pthread_cond_wait(&pair->given, &pair->mutex);
	pair->signals = 0;
	pthread_mutex_unlock(&pair->mutex);
}

static NOINLINE void gives_signal(struct pair *pair)
{
	sleep_at_random();
	pthread_mutex_lock(&pair->mutex);
	pair->signals++;
	pthread_mutex_unlock(&pair->mutex);
	pthread_cond_signal(&pair->given);
}

static NOINLINE void reads_pipe(struct pair *pair)
{
	char byte;

	if (read(pair->ends[0], &byte, 1) != 1)
		exit(1);
}

static NOINLINE void fills_pipe(struct pair *pair)
{
	DISTINCT("fills_pipe");
	sleep_at_random();
	if (write(pair->ends[1], "", 1) != 1)
		exit(1);
}

static NOINLINE void polls_pipe(struct pair *pair)
{
	struct pollfd reader = {pair->ends[0], POLLIN, 0};
	char byte;

	poll(&reader, 1, -1);
	if (read(pair->ends[0], &byte, 1) != 1)
		exit(1);
}

static NOINLINE void feeds_poll(struct pair *pair)
{
	DISTINCT("feeds_poll");
	sleep_at_random();
	if (write(pair->ends[1], "", 1) != 1)
		exit(1);
}

static NOINLINE void brief_life(struct pair *pair)
{
	DISTINCT("brief_life");
	sleep_at_random();
}

static void *live(void *argument)
{
	uint64_t born_ns = clock_ns(CLOCK_MONOTONIC);
	struct pair *pair = argument;

	pthread_setname_np(pthread_self(), "brief_life");
	measured(brief_life, pair, &pair->sleeps);
	add_life(born_ns);
	return NULL;
}

static NOINLINE void joins_thread(struct pair *pair)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	if (pthread_create(&thread, &attributes, live, pair))
		exit(1);
	pthread_join(thread, NULL);
}

static NOINLINE void burns(struct pair *pair)
{
	for (unsigned i = 0; i < BURNS; i++)
		spin();
}

static NOINLINE void asks(struct pair *pair)
{
	sem_post(&pair->held);
	takes_turns(&pair->taken);
}

static NOINLINE void answers(struct pair *pair)
{
	takes_turns(&pair->held);
	sem_post(&pair->taken);
}

static void share_cpu(const pthread_t threads[2])
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	for (unsigned i = 0; i < 2; i++)
		pthread_setaffinity_np(threads[i], sizeof(one), &one);
}

/* The page is on a slow device: the page fault ends when the other thread has
 * copied the page. */
static NOINLINE void touches_page(struct pair *pair)
{
	madvise(pair->page, PAGE_BYTES, MADV_DONTNEED);
	*(volatile char *)pair->page;
}

static void await_fault(struct pair *pair)
{
	struct pollfd faults = {pair->faults, POLLIN, 0};

	while (!pair->waiter_ended && poll(&faults, 1, END_LOOK_MS) == 0)
		continue;
}

/* The kernel wakes the other thread. */
static NOINLINE void serves_page(struct pair *pair)
{
	static char page[PAGE_BYTES];
	struct uffdio_copy copy = {
		.src = (uintptr_t)page, .dst = (uintptr_t)pair->page, .len = PAGE_BYTES};
	struct uffd_msg message;

	if (read(pair->faults, &message, sizeof(message)) != sizeof(message))
		return; /* the other has ended */
	sleep_at_random();
	if (ioctl(pair->faults, UFFDIO_COPY, &copy))
		exit(1);
}

/* Returns false because of vm.unprivileged_userfaultfd, or in kernels before
 * 5.11. */
static bool open_faults(struct pair *pair)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register pages = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	pair->faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	if (pair->faults < 0 || ioctl(pair->faults, UFFDIO_API, &api))
		return false;
	pair->page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
	pages.range.start = (uintptr_t)pair->page;
	pages.range.len = PAGE_BYTES;
	return !ioctl(pair->faults, UFFDIO_REGISTER, &pages);
}

/* before: work that is not measured. */
struct role {
	const char *name;
	void (*before)(struct pair *pair), (*run)(struct pair *pair);
};

static const struct kind {
	const char *name;
	struct role waits, sleeps;
} kinds[] = {
	{"sleep", {"naps", NULL, naps}},
	{"mutex",
	 {"wants_lock", await_holder, wants_lock},
	 {"holds_lock", await_taker, holds_lock}},
	{"rwlock",
	 {"wants_rwlock", await_holder, wants_rwlock},
	 {"holds_rwlock", await_taker, holds_rwlock}},
	{"condvar", {"awaits_signal", NULL, awaits_signal}, {"gives_signal", NULL, gives_signal}},
	{"pipe", {"reads_pipe", NULL, reads_pipe}, {"fills_pipe", NULL, fills_pipe}},
	{"poll", {"polls_pipe", NULL, polls_pipe}, {"feeds_poll", NULL, feeds_poll}},
	{"join", {"joins_thread", NULL, joins_thread}, {"brief_life"}},
	{"fault", {"touches_page", NULL, touches_page}, {"serves_page", await_fault, serves_page}},
	{"burn", {"burns", NULL, burns}},
	{"storm", {"asks", NULL, asks}, {"answers", NULL, answers}},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static struct pair pairs[KINDS];

static void *wait_until_the_end(void *argument)
{
	uint64_t born_ns = clock_ns(CLOCK_MONOTONIC);
	struct pair *pair = argument;
	const struct role *role = &kinds[pair - pairs].waits;

	pthread_setname_np(pthread_self(), role->name);
	while (clock_ns(CLOCK_MONOTONIC) < config.end_ns) {
		if (role->before)
			role->before(pair);
		measured(role->run, pair, &pair->waits);
	}
	pair->waiter_ended = true;
	sem_post(&pair->taken);
	sem_post(&pair->held);
	add_life(born_ns);
	return NULL;
}

static void *sleep_until_nobody_waits(void *argument)
{
	uint64_t born_ns = clock_ns(CLOCK_MONOTONIC);
	struct pair *pair = argument;
	const struct role *role = &kinds[pair - pairs].sleeps;

	pthread_setname_np(pthread_self(), role->name);
	while (!pair->waiter_ended) {
		if (role->before)
			role->before(pair);
		measured(role->run, pair, &pair->sleeps);
	}
	add_life(born_ns);
	return NULL;
}

static bool is_wanted(const char *kind, char **wanted)
{
	if (!*wanted)
		return strcmp(kind, "burn") != 0 && strcmp(kind, "storm") != 0;
	for (; *wanted; wanted++)
		if (!strcmp(kind, *wanted))
			return true;
	return false;
}

/* Returns the number of threads. */
static unsigned start(struct pair *pair, const struct kind *kind, pthread_t threads[2])
{
	pthread_mutex_init(&pair->mutex, NULL);
	pthread_rwlock_init(&pair->rwlock, NULL);
	pthread_cond_init(&pair->given, NULL);
	sem_init(&pair->held, 0, 0);
	sem_init(&pair->taken, 0, 1);
	if (pipe(pair->ends))
		exit(1);
	if (!strcmp(kind->name, "fault") && !open_faults(pair))
		return 0;
	pthread_create(&threads[0], NULL, wait_until_the_end, pair);
	if (!kind->sleeps.run)
		return 1;
	pthread_create(&threads[1], NULL, sleep_until_nobody_waits, pair);
	if (!strcmp(kind->name, "storm"))
		share_cpu(threads);
	return 2;
}

static void print(const char *name, const struct meter *meter)
{
	if (meter->calls)
		printf("%s %llu %llu\n", name, (unsigned long long)meter->ns,
		       (unsigned long long)meter->calls);
}

int main(int argc, char **argv)
{
	pthread_t threads[2 * KINDS];
	unsigned count = 0;
	uint64_t born_ns = clock_ns(CLOCK_MONOTONIC);

	config.end_ns = born_ns + (uint64_t)(seconds_argument(argc, argv) * 1e9);
	config.min_us = argc > 3 ? strtod(argv[2], NULL) : 50;
	config.max_us = argc > 3 ? strtod(argv[3], NULL) : 20000;
	signal(SIGTERM, end_in_a_second);
	for (unsigned i = 0; i < KINDS; i++)
		if (is_wanted(kinds[i].name, argv + (argc > 4 ? 4 : argc)))
			count += start(&pairs[i], &kinds[i], threads + count);
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < KINDS; i++) {
		print(kinds[i].waits.name, &pairs[i].waits);
		print(kinds[i].sleeps.name, &pairs[i].sleeps);
	}
	add_life(born_ns);
	print("threads", &(struct meter){lives_ns, lives});
	return 0;
}
