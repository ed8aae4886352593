/*
 * Does things that real programs do but few libraries expect. Its output must
 * be the same with and without a library in it: unusual MODE [PLUGIN]. The
 * table at the end lists the modes. Hostile behaviour is in hostile.c.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

extern char **environ;
static char **arguments;

static void allocate(int rounds)
{
	static _Thread_local void *volatile kept[64];

	for (int i = 0; i < rounds; i++) {
		free(kept[i % 64]);
		kept[i % 64] = malloc(16 + (size_t)i % 4096);
	}
	for (int i = 0; i < 64; i++) {
		free(kept[i]);
		kept[i] = NULL;
	}
}

static void burn(double seconds)
{
	struct timespec from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (now.tv_sec - from.tv_sec + (now.tv_nsec - from.tv_nsec) / 1e9 < seconds);
}

static int ended_well(pid_t child)
{
	int status;

	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* ---- Signals ---- */

static volatile sig_atomic_t ticks, values[65];

static void on_value(int number, siginfo_t *info, void *context)
{
	values[number] += info->si_value.sival_int;
}

static void on_tick(int number)
{
	ticks++;
}

/* Uses SIGPROF for its own profiler, all real-time signals with values, and
 * timers that send them. */
static int own_signals(void)
{
	struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	struct sigaction value = {.sa_sigaction = on_value, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct itimerval often = {{0, 10000}, {0, 10000}};

	sigaction(SIGPROF, &tick, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
		struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
		struct itimerspec soon = {.it_value.tv_nsec = 1000};
		timer_t timer;

		sigaction(number, &value, NULL);
		event.sigev_value.sival_int = 1000;
		if (sigqueue(getpid(), number, (union sigval){number}) ||
		    timer_create(CLOCK_MONOTONIC, &event, &timer) ||
		    timer_settime(timer, 0, &soon, NULL))
			return 1;
		while (values[number] < 1000 + number)
			allocate(1);
		timer_delete(timer);
	}
	while (ticks < 5)
		allocate(1000);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		if (values[number] != 1000 + number)
			return 2;
	return 0;
}

static void *wait_for_signals(void *sum)
{
	sigset_t all;
	int number;

	sigfillset(&all);
	do {
		if (sigwait(&all, &number))
			return NULL;
		*(int *)sum += number;
		allocate(100);
	} while (number != SIGRTMIN + 9);
	return sum;
}

/* Blocks all signals and receives them in one thread, like a server. */
static int signal_thread(void)
{
	int sum = 0, expected = 0;
	pthread_t thread;
	sigset_t all;
	void *result;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_create(&thread, NULL, wait_for_signals, &sum);
	for (int i = 0; i < 10; i++) {
		burn(0.02);
		sigqueue(getpid(), SIGRTMIN + i, (union sigval){i});
		expected += SIGRTMIN + i;
	}
	pthread_join(thread, &result);
	return result != &sum || sum != expected;
}

static sigjmp_buf out;

static void leave(int number)
{
	siglongjmp(out, number);
}

static __attribute__((noinline)) int recurse(int depth)
{
	volatile char room[4096];

	room[depth % 4096] = 1;
	return recurse(depth + 1) + room[0];
}

static void work(int number)
{
	burn(0.2);
}

/* Survives a stack overflow, and then works for a long time on the smallest
 * stack for handlers. */
static int own_handler_stack(void)
{
	size_t bytes = 2048 + getauxval(AT_MINSIGSTKSZ);
	stack_t stack = {.ss_sp = malloc(bytes), .ss_size = bytes};
	struct sigaction overflow = {.sa_handler = leave, .sa_flags = SA_ONSTACK};
	struct sigaction long_work = {.sa_handler = work, .sa_flags = SA_ONSTACK};

	if (sigaltstack(&stack, NULL))
		return 1;
	sigaction(SIGSEGV, &overflow, NULL);
	sigaction(SIGUSR1, &long_work, NULL);
	/* Bind what the handlers call. With AVX-512, that takes more than the stack. */
	burn(0);
	if (!sigsetjmp(out, 1))
		leave(1);
	for (volatile int i = 0; i < 20; i++) {
		if (!sigsetjmp(out, 1))
			recurse(0);
		allocate(100);
	}
	raise(SIGUSR1);
	return 0;
}

/* ---- Processes ---- */

static int storm(void)
{
	char *const words[] = {arguments[0], "small", NULL};

	for (int i = 0; i < 1000; i++) {
		pid_t child = 0;

		if (i % 3 == 0 && posix_spawn(&child, arguments[0], NULL, NULL, words, environ))
			return 1;
		if (i % 3) {
			child = i % 3 == 1 ? fork() : vfork();
			if (!child) {
				execv(arguments[0], words);
				_exit(1);
			}
		}
		if (!ended_well(child))
			return 2;
	}
	return 0;
}

/* Uses all attributes for a child. */
static int spawns(void)
{
	char *const words[] = {arguments[0], "small", NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t all, none;
	pid_t child;

	sigfillset(&all);
	sigemptyset(&none);
	for (int i = 0; i < 20; i++) {
		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_addclose(&actions, 0);
		posix_spawn_file_actions_addopen(&actions, 5, "/dev/null", 0, 0);
		posix_spawnattr_init(&attributes);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF |
							      POSIX_SPAWN_SETSIGMASK |
							      POSIX_SPAWN_SETPGROUP);
		posix_spawnattr_setsigdefault(&attributes, &all);
		posix_spawnattr_setsigmask(&attributes, i % 2 ? &all : &none);
		if (posix_spawn(&child, arguments[0], &actions, &attributes, words, environ) ||
		    !ended_well(child) || system("exit 7") != 7 << 8)
			return 1;
		posix_spawn_file_actions_destroy(&actions);
		posix_spawnattr_destroy(&attributes);
	}
	return 0;
}

static int empty_environment(void)
{
	char *const words[] = {arguments[0], "count_environment", NULL};
	char *const none[] = {NULL};

	fflush(stdout);
	execve(arguments[0], words, none);
	return 1;
}

static int count_environment(void)
{
	int count = 0;

	while (environ && environ[count])
		count++;
	allocate(1000);
	return count;
}

static int run_clone(void *rounds)
{
	allocate(*(int *)rounds);
	return 0;
}

/* Uses glibc's clone(), which does not call the handlers of pthread_atfork(3). */
static int clones(void)
{
	size_t bytes = 64 << 10;
	char *stack = malloc(bytes);
	int rounds = 1000;

	for (int i = 0; i < 20; i++)
		if (!ended_well(clone(run_clone, stack + bytes,
				      i % 2 ? SIGCHLD : SIGCHLD | CLONE_VM | CLONE_VFORK, &rounds)))
			return 1;
	free(stack);
	return 0;
}

/* ---- Threads and stacks ---- */

static void *run_thread(void *rounds)
{
	if (errno)
		return "errno";
	allocate((int)(intptr_t)rounds);
	return NULL;
}

static int many_threads(void)
{
	for (int i = 0; i < 10000; i++) {
		pthread_t thread;
		void *failure;

		if (pthread_create(&thread, NULL, run_thread, (void *)(intptr_t)(i % 10)) ||
		    pthread_join(thread, &failure) || failure)
			return 1;
	}
	return 0;
}

static ucontext_t main_context, contexts[4];

static void run_context(int number)
{
	for (int i = 0; i < 200; i++) {
		allocate(20);
		burn(0.0002);
		swapcontext(&contexts[number], &contexts[(number + 1) % 4]);
	}
}

static int own_contexts(void)
{
	for (int i = 0; i < 4; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = malloc(32 << 10);
		contexts[i].uc_stack.ss_size = 32 << 10;
		contexts[i].uc_link = &main_context;
		makecontext(&contexts[i], (void (*)(void))run_context, 1, i);
	}
	return swapcontext(&main_context, &contexts[0]);
}

static pthread_key_t key;

static void end_value(void *value)
{
	static _Thread_local int rounds;

	free(value);
	allocate(100);
	if (rounds++ < 3)
		pthread_setspecific(key, malloc(1000));
}

static void *leave_value(void *unused)
{
	pthread_setspecific(key, malloc(1000));
	return unused;
}

static void *wait_to_be_cancelled(void *unused)
{
	leave_value(NULL);
	pthread_cleanup_push(free, malloc(5000));
	pause();
	pthread_cleanup_pop(0);
	return unused;
}

static void at_exit(void)
{
	allocate(1000);
	printf("at exit\n");
}

static __attribute__((destructor)) void at_end(void)
{
	allocate(1000);
}

static int late_allocations(void)
{
	pthread_key_create(&key, end_value);
	atexit(at_exit);
	for (int i = 0; i < 200; i++) {
		pthread_t thread;
		void *result;

		pthread_create(&thread, NULL, i % 2 ? leave_value : wait_to_be_cancelled, NULL);
		if (i % 2 == 0)
			pthread_cancel(thread);
		pthread_join(thread, &result);
		if (result != (i % 2 ? NULL : PTHREAD_CANCELED))
			return 1;
	}
	leave_value(NULL);
	return 0;
}

/* ---- The allocator ---- */

static int failures(void)
{
	void *volatile block = malloc(100), *volatile huge;
	volatile size_t limit = PTRDIFF_MAX;
	void *aligned;

	for (int i = 0; i < 1000; i++) {
		errno = 0;
		huge = malloc(limit);
		if (huge || errno != ENOMEM)
			return 1;
		errno = 0;
		huge = calloc(limit, 16);
		if (huge || errno != ENOMEM)
			return 2;
		errno = 0;
		huge = realloc(block, limit);
		if (huge || errno != ENOMEM)
			return 3;
		errno = 77;
		if (posix_memalign(&aligned, 3, 100) != EINVAL || errno != 77)
			return 4;
		errno = 77;
		free(malloc((size_t)i * 100));
		if (errno != 77)
			return 5;
		block = realloc(block, 100 + (size_t)i);
	}
	huge = realloc(block, 0);
	return huge != NULL;
}

/* With a constructor and a destructor that allocate. */
static int plugins(void)
{
	for (int i = 0; i < 300; i++) {
		void *object = dlopen(arguments[2], i % 2 ? RTLD_NOW : RTLD_LAZY | RTLD_GLOBAL);
		char *(*make)(void) = object ? (char *(*)(void))dlsym(object, "make_text") : NULL;
		char *text = make ? make() : NULL;

		if (!text || strcmp(text, "of a plugin"))
			return 1;
		if (dlclose(object) || dlopen(arguments[2], RTLD_LAZY | RTLD_NOLOAD))
			return 2;
		free(text);
	}
	return 0;
}

/* Libraries that were loaded with the program stay, however often they are
 * closed. */
static int closes_libraries(void)
{
	static const char *const names[] = {NULL, "libc.so.6", "libpthread.so.0", "libdl.so.2"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *object = dlopen(names[i], RTLD_NOW);

		for (int closed = 0; object && closed < 3; closed++)
			dlclose(object);
		dlerror();
		allocate(1000);
	}
	return 0;
}

static int small(void)
{
	free(malloc(100));
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} modes[] = {
	{"own_signals", own_signals},
	{"signal_thread", signal_thread},
	{"own_handler_stack", own_handler_stack},
	{"storm", storm},
	{"spawns", spawns},
	{"empty_environment", empty_environment},
	{"clones", clones},
	{"many_threads", many_threads},
	{"own_contexts", own_contexts},
	{"late_allocations", late_allocations},
	{"failures", failures},
	{"plugins", plugins},
	{"closes_libraries", closes_libraries},
	{"small", small},
	{"count_environment", count_environment},
};

int main(int count_of_arguments, char **all_arguments)
{
	arguments = all_arguments;
	for (size_t i = 0; count_of_arguments > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(modes[i].name, arguments[1])) {
			int result = modes[i].run();

			if (modes[i].run != small)
				printf("%s %d\n", modes[i].name, result);
			return result;
		}
	return 99;
}
