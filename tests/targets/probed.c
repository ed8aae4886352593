/*
 * Functions for probes, which are hit a given number of times.
 *
 *	calls N       main -> often | seldom -> hit, N times, a third of them through seldom;
 *		      prints the CPU time of the process in nanoseconds
 *	forks N       N children, each of which calls hit ten times, half of them in a thread
 *	naps N MS     nap sleeps MS milliseconds, N times
 *	recursion D   down(D) calls itself D times, and nap for a millisecond at the bottom
 *	leaves N      escape(3) leaves by longjmp(), N times, then nap
 *	static N      the static probe shop:query, N times if its semaphore is set; prints how
 *		      often
 *	opens PATH    plugin_one_work of a library that it opens, three times
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define KEEP __asm__ volatile("" ::: "memory")

NOINLINE void hit(void)
{
	KEEP;
}

NOINLINE void often(void)
{
	hit();
	KEEP;
}

NOINLINE void seldom(void)
{
	hit();
	KEEP;
}

static inline __attribute__((always_inline)) void only_inlined(void)
{
	KEEP;
	hit();
	KEEP;
}

NOINLINE void nap(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
	KEEP;
}

NOINLINE void down(int depth)
{
	if (depth == 0)
		nap(1);
	else
		down(depth - 1);
	KEEP;
}

static jmp_buf out;

NOINLINE void escape(int depth)
{
	if (depth == 0)
		longjmp(out, 1);
	escape(depth - 1);
	KEEP;
}

/* In the format of sys/sdt.h: a nop, a note, and a counter in a section of its
 * own. */
__attribute__((section(".probes"), used)) volatile unsigned short shop_query_semaphore;

NOINLINE int query(int of)
{
	if (!shop_query_semaphore)
		return 0;
	__asm__ volatile("990: nop\n"
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"
			 ".balign 4\n"
			 ".4byte 992f-991f, 994f-993f, 3\n"
			 "991: .asciz \"stapsdt\"\n"
			 "992: .balign 4\n"
			 "993: .8byte 990b, _.stapsdt.base, shop_query_semaphore\n"
			 ".asciz \"shop\"\n"
			 ".asciz \"query\"\n"
			 ".asciz \"-4@%0\"\n"
			 "994: .balign 4\n"
			 ".popsection\n"
			 ".ifndef _.stapsdt.base\n"
			 ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
			 ".weak _.stapsdt.base\n"
			 ".hidden _.stapsdt.base\n"
			 "_.stapsdt.base: .space 1\n"
			 ".size _.stapsdt.base, 1\n"
			 ".popsection\n"
			 ".endif\n"
			 :
			 : "r"(of));
	return 1;
}

static void *hit_five_times(void *unused)
{
	for (int i = 0; i < 5; i++)
		hit();
	return unused;
}

static void fork_one(void)
{
	pthread_t thread;
	pid_t child = fork();

	if (child < 0)
		exit(1);
	if (child) {
		waitpid(child, NULL, 0);
		return;
	}
	if (pthread_create(&thread, NULL, hit_five_times, NULL))
		_exit(1);
	hit_five_times(NULL);
	pthread_join(thread, NULL);
	_exit(0);
}

static void call(long count)
{
	struct timespec used;

	for (long i = 0; i < count; i++)
		(i % 3 == 2 ? seldom : often)();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	printf("%lld\n", used.tv_sec * 1000000000LL + used.tv_nsec);
}

static void leave(long count)
{
	volatile long left = count;

	if (setjmp(out))
		left--;
	if (left)
		escape(3);
	nap(1);
}

static void ask(long count)
{
	int asked = 0;

	for (long i = 0; i < count; i++)
		asked += query((int)i);
	printf("%d\n", asked);
}

static int open_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*work)(double) = library ? (void (*)(double))dlsym(library, "plugin_one_work") : NULL;

	for (int i = 0; work && i < 3; i++)
		work(0.001);
	return !work;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0;

	if (argc < 3)
		return 2;
	only_inlined();
	if (!strcmp(argv[1], "calls"))
		call(count);
	for (long i = 0; i < count && !strcmp(argv[1], "forks"); i++)
		fork_one();
	for (long i = 0; i < count && !strcmp(argv[1], "naps"); i++)
		nap(atol(argv[3]));
	if (!strcmp(argv[1], "recursion"))
		down((int)count);
	if (!strcmp(argv[1], "leaves"))
		leave(count);
	if (!strcmp(argv[1], "static"))
		ask(count);
	return strcmp(argv[1], "opens") ? 0 : open_library(argv[2]);
}
