/*
 * Three threads in the call tree that all programs here have:
 *
 *	run → outer → left → leaf
 *	            → right → leaf
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEEP __attribute__((noinline))

static KEEP uint64_t leaf(uint64_t seed)
{
	unsigned char text[512];
	uint64_t sum = 0;

	for (int i = 0; i < 200; i++) {
		memset(text, (int)(seed + (uint64_t)i), sizeof(text));
		sum = (sum + text[i]) * 0x9e3779b97f4a7c15 ^ sum >> 29;
		__asm__ volatile("" : : "r"(text) : "memory");
	}
	return sum;
}

static KEEP uint64_t left(uint64_t seed)
{
	return leaf(seed) + 1;
}

static KEEP uint64_t right(uint64_t seed)
{
	uint64_t *copy = malloc(64 + seed % 64);
	uint64_t sum;

	copy[0] = leaf(seed);
	sum = copy[0] + 2;
	free(copy);
	return sum;
}

static KEEP uint64_t outer(uint64_t seed)
{
	return seed % 2 ? left(seed) + 3 : right(seed) + 4;
}

static void *run(void *seconds)
{
	time_t end = time(NULL) + *(int *)seconds;
	uint64_t sum = 0;

	while (time(NULL) < end)
		for (int i = 0; i < 1000; i++)
			sum += outer(sum + (uint64_t)i);
	return (void *)(uintptr_t)(sum & 1);
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, &seconds);
	run(&seconds);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
