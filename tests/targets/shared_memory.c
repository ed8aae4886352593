/*
 * shared_memory HOW SECONDS
 *
 * Two processes share an address space: clone(2) with CLONE_VM and without
 * CLONE_THREAD. The kernel writes the record of a mapping for the process that
 * makes it, and the other process runs the code.
 *
 *	child   the parent maps the code, the child runs it
 *	parent  the child maps the code, the parent runs it
 *	moved   without a child: mapped code is moved with mremap(2)
 *
 *	_start … main          (or, in the child, clone …)
 *	  run
 *	    the code, named in /tmp/perf-PID.map: compiled_loop
 */
#define _GNU_SOURCE
#include "work.h"

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CODE_BYTES = 64 << 10, STACK_BYTES = 1 << 20, TURNS = 2000000 };

#if defined(__x86_64__)
/* push rbp; mov rbp, rsp; dec edi; jnz; pop rbp; ret */
static const unsigned char loop[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xcf, 0x75, 0xfc, 0x5d, 0xc3};
#elif defined(__aarch64__)
/* stp x29, x30; mov x29, sp; subs w0; b.ne; ldp; ret */
static const unsigned char loop[] = {0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91,
				     0x00, 0x04, 0x00, 0x71, 0xe1, 0xff, 0xff, 0x54,
				     0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6};
#else
static const unsigned char loop[1];
#endif

typedef void code_function(unsigned turns);

static double seconds;
static bool child_maps;
static int ready[2]; /* a pipe: the address of the code */

static void *map(void)
{
	void *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);

	memcpy(code, loop, sizeof(loop));
	__builtin___clear_cache(code, (char *)code + sizeof(loop));
	mprotect(code, CODE_BYTES, PROT_READ | PROT_EXEC);
	return code;
}

static void list(const void *code, pid_t pid)
{
	char name[64];
	FILE *file;

	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)pid);
	file = fopen(name, "w");
	fprintf(file, "%lx %zx compiled_loop\n", (unsigned long)code, sizeof(loop));
	fclose(file);
}

static NOINLINE void run(code_function *code)
{
	double end = thread_cpu_seconds() + seconds;

	while (thread_cpu_seconds() < end)
		code(TURNS);
	__asm__ volatile("");
}

static void give(pid_t runner)
{
	void *code = map();

	list(code, runner);
	write(ready[1], &code, sizeof(code));
}

static code_function *take(void)
{
	code_function *code = NULL;

	read(ready[0], &code, sizeof(code));
	return code;
}

static int child(void *unused)
{
	(void)unused;
	if (child_maps)
		give(getppid());
	else
		run(take());
	_exit(0);
}

static int share(void)
{
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pid_t pid;

	if (pipe(ready))
		return 1;
	pid = clone(child, stack + STACK_BYTES, CLONE_VM | SIGCHLD, NULL);
	if (pid < 0)
		return 1;
	if (child_maps)
		run(take());
	else
		give(pid);
	return waitpid(pid, NULL, 0) != pid;
}

static int move(void)
{
	void *place = mmap(NULL, CODE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *code = mremap(map(), CODE_BYTES, CODE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, place);

	if (code == MAP_FAILED)
		return 1;
	list(code, getpid());
	run((code_function *)code);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	seconds = strtod(argv[2], NULL);
	child_maps = !strcmp(argv[1], "parent");
	return !strcmp(argv[1], "moved") ? move() : share();
}
