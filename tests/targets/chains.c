/*
 * chains KIND SECONDS
 *
 * A program that knows its own critical path. A leg of the path is the time in
 * which one thread runs one function and the end of the program depends on it.
 * Each leg takes SECONDS. The other threads run or wait at the same time and
 * are earlier, because a leg ends only when they have done their part.
 *
 *	join      main prepares → lengthy works → main finishes
 *	          A thread "quick" works half as long and is joined, too.
 *	pipeline  main prepares → source works → middle works, 3 times → sink works → main finishes
 *	          Pipes connect the stages. Source and sink work for all three items.
 *	convoy    main prepares → (a thread works, with the lock), 3 times → main finishes
 *	          Main has the lock first.
 *	barrier   main prepares → (a thread works), 3 times → main finishes
 *	          Three threads meet three times. Each is the last one once.
 *	channel   main prepares → (asks works → answers works), 2 times → main finishes
 *	          The threads wait for messages in epoll_wait(2).
 *
 * Prints a line for each leg, in order of time: the name of the thread, its
 * tid, the function, the CLOCK_MONOTONIC times of its start and its end, and the
 * time until the thread had run for 1.5 ms, so that a profiler has sampled it.
 * Times are in nanoseconds.
 */
#define _GNU_SOURCE
#include "work.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { LEGS_MAX = 32, ITEMS = 3, CREW = 3, QUESTIONS = 2 };

struct leg {
	char thread[16];
	pid_t tid;
	const char *function;
	uint64_t start_ns, end_ns, sampled_ns;
};

static struct leg legs[LEGS_MAX];
static atomic_uint leg_count;
static uint64_t leg_ns;
static atomic_uint awaits_last; /* main is about to join the last thread */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Runs for this time, and until the counter has the value. */
static inline __attribute__((always_inline)) struct leg
run(const char *function, uint64_t ns, const atomic_uint *counter, unsigned value)
{
	struct leg leg = {.tid = gettid(), .function = function, .start_ns = now_ns()};
	double sampled = thread_cpu_seconds() + 0.0015;

	leg.end_ns = leg.sampled_ns = leg.start_ns;
	while (leg.end_ns < leg.start_ns + ns || (counter && *counter < value)) {
		bool is_new = thread_cpu_seconds() < sampled;

		spin();
		leg.end_ns = now_ns();
		if (is_new)
			leg.sampled_ns = leg.end_ns;
	}
	pthread_getname_np(pthread_self(), leg.thread, sizeof(leg.thread));
	return leg;
}

static void add(struct leg leg)
{
	legs[leg_count++] = leg;
}

/* The functions differ, so that the compiler does not merge them. */
static NOINLINE struct leg prepares(void)
{
	struct leg leg = run("prepares", leg_ns, NULL, 0);

	__asm__ volatile("# prepares");
	return leg;
}

static NOINLINE struct leg finishes(void)
{
	struct leg leg = run("finishes", leg_ns, NULL, 0);

	__asm__ volatile("# finishes");
	return leg;
}

static NOINLINE struct leg works(uint64_t ns, const atomic_uint *counter, unsigned value)
{
	struct leg leg = run("works", ns, counter, value);

	__asm__ volatile("# works");
	return leg;
}

static pthread_t start(const char *name, void *(*function)(void *), void *argument)
{
	pthread_t thread;

	pthread_create(&thread, NULL, function, argument);
	pthread_setname_np(thread, name);
	return thread;
}

/* ---- join ---- */

static void *quick(void *unused)
{
	works(leg_ns / 2, NULL, 0);
	return unused;
}

static void *lengthy(void *unused)
{
	add(works(leg_ns, &awaits_last, 1));
	return unused;
}

static void join(void)
{
	pthread_t of_quick, of_lengthy;

	add(prepares());
	of_quick = start("quick", quick, NULL);
	of_lengthy = start("lengthy", lengthy, NULL);
	pthread_join(of_quick, NULL);
	awaits_last = 1;
	pthread_join(of_lengthy, NULL);
	add(finishes());
}

/* ---- pipeline ---- */

static int to_middle[2], to_sink[2];
static atomic_uint sent, received;

static void *source(void *unused)
{
	for (unsigned i = 0; i < ITEMS; i++) {
		struct leg leg = works(leg_ns * (i ? 0.4 : 1), NULL, 0);

		if (!i)
			add(leg);
		sent = i + 1;
		write(to_middle[1], "", 1);
	}
	return unused;
}

static void *middle(void *unused)
{
	char item;

	for (unsigned i = 0; i < ITEMS; i++) {
		read(to_middle[0], &item, 1);
		/* The next item is there, and the sink has none left. */
		add(works(leg_ns, i + 1 < ITEMS ? &sent : &received, i + 1 < ITEMS ? i + 2 : i));
		write(to_sink[1], "", 1);
	}
	return unused;
}

static void *sink(void *unused)
{
	char item;

	for (unsigned i = 0; i < ITEMS; i++) {
		read(to_sink[0], &item, 1);
		if (i + 1 < ITEMS)
			works(leg_ns * 0.4, NULL, 0);
		else
			add(works(leg_ns, &awaits_last, 1));
		received = i + 1;
	}
	return unused;
}

static void pipeline(void)
{
	pthread_t threads[3];

	pipe(to_middle);
	pipe(to_sink);
	add(prepares());
	threads[0] = start("source", source, NULL);
	threads[1] = start("middle", middle, NULL);
	threads[2] = start("sink", sink, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	awaits_last = 1;
	pthread_join(threads[2], NULL);
	add(finishes());
}

/* ---- convoy ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint arrived;

static void *locker(void *unused)
{
	arrived++;
	pthread_mutex_lock(&lock);
	add(works(leg_ns, &arrived, CREW));
	pthread_mutex_unlock(&lock);
	return unused;
}

static void convoy(void)
{
	static const char *const names[CREW] = {"locker a", "locker b", "locker c"};
	pthread_t threads[CREW];

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < CREW; i++)
		threads[i] = start(names[i], locker, NULL);
	add(prepares());
	pthread_mutex_unlock(&lock);
	for (unsigned i = 0; i < CREW; i++)
		pthread_join(threads[i], NULL);
	add(finishes());
}

/* ---- barrier ---- */

static pthread_barrier_t barrier;

static void *meets(void *argument)
{
	uintptr_t number = (uintptr_t)argument;

	for (unsigned round = 0; round < CREW; round++) {
		if (round == number) {
			add(works(leg_ns, &arrived, round * CREW + CREW - 1));
		} else {
			works(leg_ns / 4, NULL, 0);
		}
		arrived++;
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void barriers(void)
{
	static const char *const names[CREW] = {"member a", "member b", "member c"};
	pthread_t threads[CREW];

	pthread_barrier_init(&barrier, NULL, CREW);
	add(prepares());
	for (uintptr_t i = 0; i < CREW; i++)
		threads[i] = start(names[i], meets, (void *)i);
	for (unsigned i = 0; i < CREW; i++)
		pthread_join(threads[i], NULL);
	add(finishes());
}

/* ---- channel ---- */

static int questions, answers;

/* Waits for a message in an event loop. */
static void receive(int epoll, int channel)
{
	struct epoll_event event = {.events = EPOLLIN};
	uint64_t message;

	epoll_ctl(epoll, EPOLL_CTL_ADD, channel, &event);
	epoll_wait(epoll, &event, 1, -1);
	read(channel, &message, sizeof(message));
	epoll_ctl(epoll, EPOLL_CTL_DEL, channel, NULL);
}

static void send(int channel)
{
	uint64_t message = 1;

	write(channel, &message, sizeof(message));
}

static void *asker(void *unused)
{
	int epoll = epoll_create1(0);

	for (unsigned i = 0; i < QUESTIONS; i++) {
		add(works(leg_ns, NULL, 0));
		send(questions);
		receive(epoll, answers);
	}
	return unused;
}

static void *answerer(void *unused)
{
	int epoll = epoll_create1(0);

	for (unsigned i = 0; i < QUESTIONS; i++) {
		receive(epoll, questions);
		add(works(leg_ns, NULL, 0));
		send(answers);
	}
	return unused;
}

static void channel(void)
{
	pthread_t of_asker, of_answerer;

	questions = eventfd(0, 0);
	answers = eventfd(0, 0);
	add(prepares());
	of_answerer = start("answers", answerer, NULL);
	of_asker = start("asks", asker, NULL);
	pthread_join(of_asker, NULL);
	pthread_join(of_answerer, NULL);
	add(finishes());
}

/* ---- The program ---- */

static int by_start(const void *a, const void *b)
{
	const struct leg *left = a, *right = b;

	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {
		{"join", join},	       {"pipeline", pipeline}, {"convoy", convoy},
		{"barrier", barriers}, {"channel", channel},
	};

	if (argc != 3)
		return 2;
	leg_ns = (uint64_t)(strtod(argv[2], NULL) * 1e9);
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, argv[1]))
			kinds[i].run();
	qsort(legs, leg_count, sizeof(*legs), by_start);
	for (unsigned i = 0; i < leg_count; i++)
		printf("%s;%d;%s;%" PRIu64 ";%" PRIu64 ";%" PRIu64 "\n", legs[i].thread,
		       legs[i].tid, legs[i].function, legs[i].start_ns, legs[i].end_ns,
		       legs[i].sampled_ns - legs[i].start_ns);
	return !leg_count;
}
