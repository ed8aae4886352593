/*
 * recompiled SECONDS dump|map [removed]: runs three functions that it has
 * compiled itself, one after the other at the same address. Reports them in
 * jit-PID.dump in its working directory, or in /tmp/perf-PID.map. With
 * `removed`, removes the map at its end if another process has opened it.
 *
 *	_start … main
 *	  run_first       30 %
 *	    first           recompiled.jit:10, 11
 *	  run_second      40 %
 *	    second          recompiled.jit:20, 21
 *	  run_moved       15 %, and then 15 % at the address of the others
 *	    moved
 */
#define _GNU_SOURCE
#include "work.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <unistd.h>

/* Count the argument down to 0. */
#if defined(__x86_64__)
enum { MACHINE = 62, INSN = 2 };
static const unsigned char first[] = {0xff, 0xcf, 0x75, 0xfc, 0xc3};
static const unsigned char second[] = {0x90, 0xff, 0xcf, 0x75, 0xfc, 0xc3};
static const unsigned char moved[] = {0x90, 0x90, 0xff, 0xcf, 0x75, 0xfc, 0xc3};
#elif defined(__aarch64__)
enum { MACHINE = 183, INSN = 4 };
#define LOOP 0x00, 0x04, 0x00, 0x71, 0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6
#define NOP 0x1f, 0x20, 0x03, 0xd5
static const unsigned char first[] = {LOOP};
static const unsigned char second[] = {NOP, LOOP};
static const unsigned char moved[] = {NOP, NOP, LOOP};
#endif

enum { ELSEWHERE = 1024 };

struct function {
	const char *name;
	const unsigned char *code;
	size_t size;
	/* line of the first counting instruction; 0 if no lines are reported */
	unsigned line;
};

static unsigned char *memory;
static FILE *report;
static char held[4096];
static size_t held_bytes;
static const char *mode;
static uint64_t loads;

static bool is_mode(const char *name)
{
	return strcmp(mode, name) == 0;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + time.tv_nsec + loads;
}

static void flush_held(void)
{
	fwrite(held, 1, held_bytes, report);
	fflush(report);
	held_bytes = 0;
}

static void put(const void *bytes, size_t len)
{
	memcpy(held + held_bytes, bytes, len);
	held_bytes += len;
}

static void put_u32(uint32_t value)
{
	put(&value, sizeof(value));
}

static void put_u64(uint64_t value)
{
	put(&value, sizeof(value));
}

static void put_record(uint32_t kind, size_t size)
{
	put_u32(kind);
	put_u32((uint32_t)(16 + size));
	put_u64(now());
}

static void open_dump(void)
{
	char path[64];

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	report = fopen(path, "w+");
	put_u32(0x4a695444);
	put_u32(1);
	put_u32(40);
	put_u32(MACHINE);
	put_u32(0);
	put_u32((uint32_t)getpid());
	put_u64(now());
	put_u64(0);
	flush_held();
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(report), 0);
}

static void put_line(uint64_t address, unsigned line, const char *file)
{
	put_u64(address);
	put_u32(line);
	put_u32(0);
	put(file, strlen(file) + 1);
}

static void dump(const struct function *function, const unsigned char *at)
{
	static const char file[] = "recompiled.jit";
	size_t name = strlen(function->name) + 1;
	uint64_t counts = (uint64_t)at + function->size - (MACHINE == 62 ? 5 : 12);

	loads++;
	if (function->line) {
		put_record(2, 16 + 16 + sizeof(file) + 16 + 2);
		put_u64((uint64_t)at);
		put_u64(2);
		put_line(counts, function->line, file);
		put_line(counts + INSN, function->line + 1, "\xff");
	}
	put_record(0, 40 + name + function->size);
	put_u32((uint32_t)getpid());
	put_u32((uint32_t)getpid());
	put_u64((uint64_t)at);
	put_u64((uint64_t)at);
	put_u64(function->size);
	put_u64(loads);
	put(function->name, name);
	put(function->code, function->size);
}

static void dump_move(const unsigned char *from, const unsigned char *to, size_t size)
{
	put_record(1, 48);
	put_u32((uint32_t)getpid());
	put_u32((uint32_t)getpid());
	put_u64((uint64_t)to);
	put_u64((uint64_t)from);
	put_u64((uint64_t)to);
	put_u64(size);
	put_u64(loads);
}

static void place(const struct function *function, unsigned char *at)
{
	mprotect(memory, 4096, PROT_READ | PROT_WRITE);
	memcpy(at, function->code, function->size);
	mprotect(memory, 4096, PROT_READ | PROT_EXEC);
	__builtin___clear_cache((char *)at, (char *)at + function->size);
}

static void compile(const struct function *function, unsigned char *at)
{
	place(function, at);
	if (is_mode("map"))
		held_bytes += sprintf(held + held_bytes, "%lx %zx %s\n", (unsigned long)at,
				      function->size, function->name);
	else
		dump(function, at);
	flush_held();
}

static void move(const struct function *function, unsigned char *from, unsigned char *to)
{
	if (is_mode("map")) {
		compile(function, to);
		return;
	}
	place(function, to);
	dump_move(from, to, function->size);
	flush_held();
}

/* Runs the code for a share of the CPU time. */
static inline __attribute__((always_inline)) void run(const unsigned char *at, double seconds)
{
	void (*compiled)(unsigned) = (void (*)(unsigned))at;
	double end = thread_cpu_seconds() + seconds;

	while (thread_cpu_seconds() < end) {
		compiled(SPINS * 4);
		__asm__ volatile("" ::: "memory");
	}
}

static NOINLINE void run_first(double seconds)
{
	run(memory, seconds);
}

static NOINLINE void run_second(double seconds)
{
	run(memory, seconds);
	__asm__ volatile("nop"); /* otherwise it would be merged with run_first() */
}

static NOINLINE void run_moved(const unsigned char *at, double seconds)
{
	run(at, seconds);
}

static void remove_opened(const char *path, int watch)
{
	struct inotify_event event;

	while (read(watch, &event, sizeof(event)) < 0 && errno == EINTR)
		;
	unlink(path);
}

int main(int argc, char **argv)
{
	static const struct function functions[] = {
		{"first", first, sizeof(first), 10},
		{"second", second, sizeof(second), 20},
		{"moved", moved, sizeof(moved), 0},
	};
	double seconds = seconds_argument(argc, argv);
	bool is_removed = argc > 3;
	int watch = inotify_init1(IN_CLOEXEC);
	char path[64];

	mode = argc > 2 ? argv[2] : "dump";
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	if (is_mode("map"))
		report = fopen(path, "w");
	else
		open_dump();
	if (is_removed)
		inotify_add_watch(watch, path, IN_OPEN);
	compile(&functions[0], memory);
	run_first(seconds * 0.3);
	compile(&functions[1], memory);
	run_second(seconds * 0.4);
	compile(&functions[2], memory + ELSEWHERE);
	run_moved(memory + ELSEWHERE, seconds * 0.15);
	move(&functions[2], memory + ELSEWHERE, memory);
	run_moved(memory, seconds * 0.15);
	flush_held();
	fclose(report);
	if (is_removed)
		remove_opened(path, watch);
	return 0;
}
