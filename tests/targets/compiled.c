/*
 * compiled SECONDS [BYTES]: runs code that it has compiled itself, and lists
 * the code in /tmp/perf-PID.map. A hole makes this file BYTES long.
 *
 *	_start … main
 *	  spend
 *	    native_half     (spin inlined)
 *	    run_compiled
 *	      compiled_half
 */
#define _GNU_SOURCE
#include "work.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Counts the argument down to 0. */
static const unsigned char code[] = {
#if defined(__x86_64__)
	0xff, 0xcf, /* dec %edi */
	0x75, 0xfc, /* jnz */
	0xc3,	    /* ret */
#elif defined(__aarch64__)
	0x00, 0x04, 0x00, 0x71, /* subs w0, w0, #1 */
	0xe1, 0xff, 0xff, 0x54, /* b.ne */
	0xc0, 0x03, 0x5f, 0xd6, /* ret */
#endif
};

static void (*compiled)(unsigned);

static NOINLINE void native_half(void)
{
	spin();
}

static NOINLINE void run_compiled(void)
{
	compiled(SPINS * 4);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

static void compile(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(memory, code, sizeof(code));
	mprotect(memory, 4096, PROT_READ | PROT_EXEC);
	__builtin___clear_cache(memory, (char *)memory + sizeof(code));
	compiled = (void (*)(unsigned))memory;
}

static void list(const char *path, long bytes)
{
	FILE *map = fopen(path, "w");

	fprintf(map, "%lx %zx compiled_half\n", (unsigned long)compiled, sizeof(code));
	fflush(map);
	if (bytes)
		ftruncate(fileno(map), bytes);
	fclose(map);
}

int main(int argc, char **argv)
{
	const struct part parts[] = {{native_half, 5}, {run_compiled, 5}};
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	compile();
	list(path, argc > 2 ? atol(argv[2]) : 0);
	spend(seconds_argument(argc, argv), parts, 2);
	return 0;
}
