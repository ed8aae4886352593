/*
 * Calls each function of the allocator with a different size, and prints the
 * result: "malloc 0x55… 10001 freed" (or kept). With an argument, threads and
 * children do the same.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *name, void *block, size_t bytes, int is_freed)
{
	char line[128];
	int len = snprintf(line, sizeof(line), "%d %s %p %zu %s\n", (int)getpid(), name, block,
			   bytes, is_freed ? "freed" : "kept");

	if (write(1, line, (size_t)len) != len)
		abort();
}

static void *call_all(void *unused)
{
	void *block = malloc(10001), *more;

	say("malloc", block, 10001, 1);
	free(block);
	block = calloc(10, 2000);
	say("calloc", block, 20000, 1);
	more = realloc(block, 30003);
	say("realloc", more, 30003, 1);
	block = reallocarray(more, 4, 10001);
	say("reallocarray", block, 40004, 1);
	free(block);
	block = memalign(64, 10005);
	say("memalign", block, 10005, 1);
	free(block);
	block = aligned_alloc(64, 12800);
	say("aligned_alloc", block, 12800, 1);
	free(block);
	if (posix_memalign(&block, 64, 10007))
		abort();
	say("posix_memalign", block, 10007, 1);
	free(block);
	block = valloc(10008);
	say("valloc", block, 10008, 1);
	free(block);
	block = pvalloc(10009);
	say("pvalloc", block, 10009, 1);
	free(block);
	block = malloc(10010);
	say("malloc", block, 10010, 0);
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t thread;
	void *mapped;

	(void)arguments;
	call_all(NULL);
	if (count > 1) {
		pthread_create(&thread, NULL, call_all, NULL);
		pthread_join(thread, NULL);
		if (!fork()) {
			call_all(NULL);
			_exit(0);
		}
		wait(NULL);
	}
	mapped = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	say("mmap", mapped, 1 << 20, 1);
	munmap(mapped, 1 << 20);
	return 0;
}
