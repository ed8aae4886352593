/*
 * kernel_reader [now]: waits for SIGUSR1, unless `now` is given. Then one
 * thread reads from the kernel for 600 ms of CPU time, and another one for 200
 * ms. Nearly all of this time is spent in the kernel. Then writes the file
 * "used" with a line per thread, "TID NANOSECONDS". If it has waited for the
 * signal, all threads then wait to be killed.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct shared {
	pthread_barrier_t have_read;
	bool waits;
};

struct reader {
	struct shared *shared;
	uint64_t least_ns, used_ns;
	long tid;
};

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * UINT64_C(1000000000) + time.tv_nsec;
}

static void *read_zeroes(void *user)
{
	static char bytes[1 << 20];
	struct reader *reader = user;
	int zero = open("/dev/zero", O_RDONLY);

	reader->tid = syscall(SYS_gettid);
	while (cpu_ns() < reader->least_ns)
		read(zero, bytes, sizeof(bytes));
	reader->used_ns = cpu_ns();
	pthread_barrier_wait(&reader->shared->have_read);
	if (reader->shared->waits)
		pause();
	return NULL;
}

static void wait_for_signal(void)
{
	sigset_t awaited;
	int number;

	sigemptyset(&awaited);
	sigaddset(&awaited, SIGUSR1);
	sigprocmask(SIG_BLOCK, &awaited, NULL);
	puts("ready");
	fflush(stdout);
	sigwait(&awaited, &number);
}

int main(int argc, char **argv)
{
	struct shared shared = {.waits = argc == 1};
	struct reader readers[] = {{&shared, .least_ns = 600000000},
				   {&shared, .least_ns = 200000000}};
	pthread_t thread;
	FILE *out;

	(void)argv;
	pthread_barrier_init(&shared.have_read, NULL, 3);
	if (shared.waits)
		wait_for_signal();
	for (int i = 0; i < 2; i++)
		pthread_create(&thread, NULL, read_zeroes, &readers[i]);
	pthread_barrier_wait(&shared.have_read);
	out = fopen("used.part", "w");
	for (int i = 0; i < 2; i++)
		fprintf(out, "%ld %" PRIu64 "\n", readers[i].tid, readers[i].used_ns);
	fclose(out);
	rename("used.part", "used");
	if (shared.waits)
		pause();
	return 0;
}
