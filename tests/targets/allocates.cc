/*
 * Allocates known amounts of memory, and keeps some of it until its end:
 *
 *	main → work → keep_small    1 of 10 rounds, 100 to 149 bytes, kept
 *	            → keep_large    1 of 1,000 rounds, 100,000 bytes by operator new, kept
 *	            → churn         every round, 1,000 to 1,999 bytes, freed at once
 *
 * The argument is the number of rounds (1,000,000). At the end it prints the
 * bytes and blocks that each function has allocated: "keep_small 12450000
 * 100000".
 */
#include <cstdio>
#include <cstdlib>

#define APART __attribute__((noinline, noclone))

struct sum {
	unsigned long bytes, blocks;
};

static sum small, large, churned;
static void **kept;
static size_t kept_count;

static void *counted(sum &sum, size_t bytes, void *block)
{
	sum.bytes += bytes;
	sum.blocks++;
	asm volatile("" : "+r"(block) : : "memory");
	return block;
}

APART static void *keep_small(unsigned long i)
{
	size_t bytes = 100 + i / 10 % 50;

	return counted(small, bytes, malloc(bytes));
}

APART static void *keep_large()
{
	size_t bytes = 100000;

	return counted(large, bytes, operator new(bytes));
}

APART static void churn(unsigned long i)
{
	size_t bytes = 1000 + i % 1000;

	free(counted(churned, bytes, malloc(bytes)));
	asm volatile("");
}

APART static void work(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++) {
		if (i % 10 == 0)
			kept[kept_count++] = keep_small(i);
		if (i % 1000 == 0)
			kept[kept_count++] = keep_large();
		churn(i);
	}
	asm volatile("");
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], nullptr, 10) : 1000000;

	kept = static_cast<void **>(calloc(rounds / 5 + 10, sizeof(*kept)));
	work(rounds);
	printf("keep_small %lu %lu\nkeep_large %lu %lu\nchurn %lu %lu\n", small.bytes, small.blocks,
	       large.bytes, large.blocks, churned.bytes, churned.blocks);
}
