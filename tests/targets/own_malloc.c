/* A program with its own allocator, which never releases memory. Prints how
 * often the allocator was called. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static char *next, *end;
static size_t calls, freed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *malloc(size_t bytes)
{
	size_t room = (bytes + 31) / 16 * 16;
	char *block;

	pthread_mutex_lock(&lock);
	calls++;
	if (room > (size_t)(end - next)) {
		size_t fresh = room > 1 << 20 ? room : 1 << 20;

		next = mmap(NULL, fresh, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
		end = next + fresh;
	}
	block = next + 16;
	*(size_t *)next = bytes;
	next += room;
	pthread_mutex_unlock(&lock);
	return block;
}

void free(void *block)
{
	__atomic_fetch_add(&freed, block != NULL, __ATOMIC_RELAXED);
}

void *calloc(size_t count, size_t bytes)
{
	return memset(malloc(count * bytes), 0, count * bytes);
}

void *realloc(void *block, size_t bytes)
{
	void *fresh = malloc(bytes);
	size_t former = block ? *(size_t *)((char *)block - 16) : 0;

	if (former)
		memcpy(fresh, block, former < bytes ? former : bytes);
	return fresh;
}

static void *run(void *unused)
{
	for (int i = 0; i < 1000; i++) {
		char *text = strdup("of its own allocator");

		text = realloc(text, 100 + (size_t)i);
		if (strcmp(text, "of its own allocator"))
			return text;
		free(text);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[4];
	int failures = 0;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < 4; i++) {
		void *failure;

		pthread_join(threads[i], &failure);
		failures += failure != NULL;
	}
	printf("%d of 4 failed, own allocator %s\n", failures,
	       calls >= 8000 && freed >= 4000 ? "used" : "idle");
	return failures;
}
