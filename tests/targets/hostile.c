/*
 * Does things that a library in the program may not survive. Its output must be
 * the same with and without the library: hostile MODE [PLUGIN|DIRECTORY]. The
 * table at the end lists the modes.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
extern void *mallocx(size_t bytes, int flags) __attribute__((weak));

static char **arguments;

static void allocate(int rounds)
{
	static void *volatile kept[64];

	for (int i = 0; i < rounds; i++) {
		free(kept[i % 64]);
		kept[i % 64] = malloc(16 + (size_t)i % 4096);
	}
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void burn(double seconds)
{
	double end = cpu_seconds() + seconds;

	while (cpu_seconds() < end)
		;
}

/* Returns 0 if all children have ended with status 0. */
static int wait_for_all(void)
{
	int status, failures = 0;

	while (wait(&status) > 0)
		failures += status != 0;
	return failures;
}

/* ---- Allocators ---- */

static pthread_barrier_t barrier;

static void *call_first(void *argument)
{
	void *block = NULL;
	long which = (long)argument % 4;

	pthread_barrier_wait(&barrier);
	if (which == 0)
		block = memalign(64, 100);
	else if (which == 1)
		block = valloc(100);
	else if (which == 2)
		block = aligned_alloc(64, 128);
	else if (posix_memalign(&block, 64, 100))
		block = NULL;
	free(block);
	return block;
}

static int first_calls(void)
{
	pthread_t threads[16];

	pthread_barrier_init(&barrier, NULL, 16);
	for (long i = 0; i < 16; i++)
		pthread_create(&threads[i], NULL, call_first, (void *)i);
	for (int i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int weak_mallocx(void)
{
	return mallocx != NULL && !mallocx(10, 0);
}

static int plugin(void)
{
	for (int i = 0; i < 2; i++) {
		void *object = dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
		int (*run)(void) = object ? (int (*)(void))dlsym(object, "run") : NULL;

		if (!run || run() != 7)
			return 1;
		dlclose(object);
	}
	return 0;
}

/* ---- Resources of the library ---- */

static int close_descriptors(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	allocate(20000);
	if (!fork()) {
		execl(arguments[0], arguments[0], "plain", NULL);
		_exit(1);
	}
	return wait_for_all();
}

/* Returns false if there is no shared memory. */
static int find_shared(unsigned long *start, unsigned long *end)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];
	int found = 0;

	while (!found && fgets(line, sizeof(line), maps))
		found = strstr(line, "prof-inside (deleted)") &&
			sscanf(line, "%lx-%lx", start, end) == 2;
	fclose(maps);
	return found;
}

static int unmap(void)
{
	unsigned long start, end;

	if (find_shared(&start, &end))
		munmap((void *)start, end - start);
	allocate(20000);
	return 0;
}

/* Writes random bytes, and flips some bits, all over the shared memory. */
static int garbage(void)
{
	unsigned long start = 0, end = 0, random = 88172645463325252;

	find_shared(&start, &end);
	for (int i = 0; i < 40; i++) {
		for (unsigned long *at = (void *)start; at < (unsigned long *)end; at++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			if (i % 2)
				*at = random;
			else if (random % 64 == 0)
				*at ^= 1ul << random / 64 % 64;
		}
		allocate(2000);
		burn(0.01);
	}
	return 0;
}

/* Loads libraries until the loader is out of static thread-local storage. */
static int fill_tls(void)
{
	char path[4096];
	void *object;
	int loaded = 0;

	do {
		snprintf(path, sizeof(path), "%s/%d.so", arguments[2], loaded);
		object = dlopen(path, RTLD_NOW);
		if (object)
			((void (*)(void))dlsym(object, "fill"))();
		allocate(100);
	} while (object && ++loaded);
	printf("%d loaded: ", loaded);
	return 0;
}

/* ---- Signals ---- */

static sigjmp_buf out;
static volatile sig_atomic_t caught;

static void jump_out(int number)
{
	allocate(100);
	siglongjmp(out, number);
}

static int jumps(void)
{
	signal(SIGUSR1, jump_out);
	for (volatile int i = 0; i < 2000; i++)
		if (!sigsetjmp(out, 1))
			raise(SIGUSR1);
	return 0;
}

static void allocate_once(int number)
{
	caught = number;
	allocate(1);
}

static int handlers(void)
{
	static unsigned char own_stack[65536];
	stack_t stack = {.ss_sp = own_stack, .ss_size = sizeof(own_stack)};
	struct sigaction action = {.sa_handler = allocate_once, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 20000; i++)
		raise(SIGUSR1);
	burn(0.2);
	return caught != SIGUSR1;
}

static int default_signals(void)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	for (int number = 1; number < 65; number++) {
		signal(number, SIG_DFL);
		sigaction(number, &action, NULL);
	}
	burn(0.3);
	return 0;
}

static volatile sig_atomic_t counts[65];

static void count(int number)
{
	counts[number]++;
}

static int every_signal(void)
{
	struct sigaction action = {.sa_handler = count}, former;

	for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
		sigaction(number, &action, &former);
		if (former.sa_handler != SIG_DFL)
			return 1;
		sigaction(number, NULL, &former);
		if (former.sa_handler != count)
			return 2;
		raise(number);
	}
	burn(0.3);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		if (counts[number] != 1)
			return 3;
	return 0;
}

static int waits_for_signals(void)
{
	struct timespec now = {0};
	struct signalfd_siginfo told;
	siginfo_t info;
	sigset_t all;
	int fd;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	fd = signalfd(-1, &all, SFD_NONBLOCK);
	burn(0.3);
	if (sigtimedwait(&all, &info, &now) >= 0 || read(fd, &told, sizeof(told)) > 0)
		return 1;
	raise(SIGUSR1);
	return sigtimedwait(&all, &info, &now) != SIGUSR1;
}

/* ---- Processes ---- */

static void *fork_often(void *unused)
{
	for (int i = 0; i < 25; i++) {
		pid_t child = fork();
		int status;

		if (!child) {
			allocate(1000);
			if (i % 2)
				execl(arguments[0], arguments[0], "plain", NULL);
			_exit(0);
		}
		if (waitpid(child, &status, 0) != child || status)
			return "failed";
	}
	return unused;
}

static void *allocate_always(void *ends)
{
	while (!__atomic_load_n((int *)ends, __ATOMIC_RELAXED))
		for (int i = 0; i < 1000; i++)
			free(malloc(1000));
	return NULL;
}

static int storm(void)
{
	pthread_t threads[4], busy;
	int ends = 0, failures = 0;
	void *failure;

	pthread_create(&busy, NULL, allocate_always, &ends);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, fork_often, NULL);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &failure);
		failures += failure != NULL;
	}
	__atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
	pthread_join(busy, NULL);
	return failures;
}

/* Makes children without the C library's fork(), some of which share the
 * memory. */
static int other_children(void)
{
	char *const words[] = {arguments[0], "plain", NULL};
	pid_t child;

	for (int i = 0; i < 20; i++) {
		child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (!child) {
			for (int j = 0; j < 1000; j++)
				free(malloc(5000));
			syscall(SYS_exit_group, 0);
		}
		if (posix_spawn(&child, arguments[0], NULL, NULL, words, environ))
			return 1;
		child = vfork();
		if (!child) {
			execve(arguments[0], words, environ);
			_exit(1);
		}
	}
	return wait_for_all();
}

static int another_user(void)
{
	if (!geteuid() && (setgid(65534) || setuid(65534)))
		return 1;
	allocate(20000);
	return fork_often(NULL) != NULL;
}

#define ALLOW(name)                                                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                                     \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD_NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* Any system call that this does not need ends the process. */
static int seccomp(void)
{
	struct sock_filter filter[] = {
		LOAD_NUMBER,  ALLOW(write),	   ALLOW(exit_group),	 ALLOW(brk),
		ALLOW(mmap),  ALLOW(munmap),	   ALLOW(mremap),	 ALLOW(madvise),
		ALLOW(futex), ALLOW(rt_sigreturn), ALLOW(clock_gettime), ALLOW(newfstatat),
		KILL,
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	allocate(1); /* the first call requests random numbers */
	printf("the filter: ");
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 1;
	allocate(100000);
	burn(0.3);
	return 0;
}

static void *allocate_in_thread(void *unused)
{
	allocate(20000);
	return unused;
}

/* Installs a filter that allows what the C library needs for threads and
 * children. */
static int filtered_start(bool by_prctl)
{
	struct sock_filter filter[] = {
		LOAD_NUMBER,
		ALLOW(write),
		ALLOW(exit),
		ALLOW(exit_group),
		ALLOW(brk),
		ALLOW(mmap),
		ALLOW(munmap),
		ALLOW(mremap),
		ALLOW(madvise),
		ALLOW(mprotect),
		ALLOW(futex),
		ALLOW(rt_sigreturn),
		ALLOW(rt_sigprocmask),
		ALLOW(rt_sigaction),
		ALLOW(rseq),
		ALLOW(set_robust_list),
		ALLOW(clone),
		ALLOW(clone3),
		ALLOW(wait4),
		ALLOW(sched_getaffinity),
		ALLOW(getrandom),
		ALLOW(openat),
		ALLOW(read),
		ALLOW(close),
		KILL,
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
	pthread_t thread;
	int status;
	pid_t child;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	printf("the filter: ");
	if (by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
		     : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		return 1;
	if (pthread_create(&thread, NULL, allocate_in_thread, NULL))
		return 2;
	pthread_join(thread, NULL);
	child = fork();
	if (!child) {
		allocate(20000);
		_exit(5);
	}
	return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5 ? 0 : 3;
}

static int filtered_by_prctl(void)
{
	return filtered_start(true);
}

static int filtered_by_seccomp(void)
{
	return filtered_start(false);
}

/* Strict mode allows few system calls, and not the time-stamp counter. */
static int strict_end(int failure)
{
	static const char text[] = "strict\n";

	if (failure)
		return 1;
	for (int i = 0; i < 100000; i++)
		allocate(1);
	syscall(SYS_exit, write(1, text, sizeof(text) - 1) < 0);
	return 2;
}

static int strict_by_prctl(void)
{
	allocate(10000);
	return strict_end(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
}

static int strict_by_seccomp(void)
{
	allocate(10000);
	return strict_end((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL));
}

/* Only x86-64 has the option. */
static int forbids_tsc(void)
{
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	allocate(100000);
	return 0;
}

static int forbids_tsc_by_syscall(void)
{
	syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	allocate(100000);
	return 0;
}

static int keeps_errno(void)
{
	for (int i = 0; i < 20000; i++) {
		void *volatile block;

		errno = 77;
		block = malloc(100);
		free(block);
		if (errno != 77)
			return 1;
	}
	return 0;
}

static int plain(void)
{
	allocate(1000);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} modes[] = {
	{"plain", plain},
	{"keeps_errno", keeps_errno},
	{"first_calls", first_calls},
	{"weak_mallocx", weak_mallocx},
	{"plugin", plugin},
	{"close_descriptors", close_descriptors},
	{"unmap", unmap},
	{"garbage", garbage},
	{"fill_tls", fill_tls},
	{"jumps", jumps},
	{"handlers", handlers},
	{"default_signals", default_signals},
	{"every_signal", every_signal},
	{"waits_for_signals", waits_for_signals},
	{"storm", storm},
	{"other_children", other_children},
	{"another_user", another_user},
	{"seccomp", seccomp},
	{"filtered_by_prctl", filtered_by_prctl},
	{"filtered_by_seccomp", filtered_by_seccomp},
	{"strict_by_prctl", strict_by_prctl},
	{"strict_by_seccomp", strict_by_seccomp},
	{"forbids_tsc", forbids_tsc},
	{"forbids_tsc_by_syscall", forbids_tsc_by_syscall},
};

int main(int count_of_arguments, char **all_arguments)
{
	arguments = all_arguments;
	for (size_t i = 0; count_of_arguments > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(modes[i].name, arguments[1])) {
			int result = modes[i].run();

			printf("%s %d\n", modes[i].name, result);
			return result;
		}
	return 99;
}
