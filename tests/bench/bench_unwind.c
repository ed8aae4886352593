/*
 * Measures what unwinding costs: a frame whose rule is cached, on a stack that
 * alternates between this program and libc, and a row of call frame information
 * that is not cached.
 *
 *	bench_unwind [FILE]	FILE: the file with the rows; by default libc
 */
#include "unwind/unwind.h"

#include "base/alloc.h"
#include "unwind/cfi.h"
#include "unwind/cfi_entry.h"

#include "../unit/ucontext_regs.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEPTH = 12, STACK_BYTES = 32768, WALKS = 200000, ROWS = 1 << 16, ROUNDS = 8 };

struct sample {
	unsigned depth;
	struct regs regs;
	unsigned char stack[STACK_BYTES];
};

/* CPU time of this process, because the machine may be busy. */
static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void take_sample(struct sample *sample)
{
	ucontext_t context;

	getcontext(&context);
	regs_from_ucontext(&context, &sample->regs);
	memcpy(sample->stack, (const void *)sample->regs.values[arch_native()->sp], STACK_BYTES);
}

/* Compares by sorting, DEPTH deep. */
static int compare(const void *a, const void *b, void *user)
{
	struct sample *sample = user;
	int numbers[] = {2, 1};

	if (sample->depth == DEPTH)
		return (a > b) - (a < b);
	if (++sample->depth == DEPTH)
		take_sample(sample);
	else
		qsort_r(numbers, 2, sizeof(*numbers), compare, user);
	return numbers[0] - numbers[1];
}

/* Reserves stack, so that the copy does not reach beyond its end. */
__attribute__((noinline)) static void record(struct sample *sample)
{
	volatile char room[STACK_BYTES];
	int numbers[] = {2, 1};

	room[0] = 0;
	qsort_r(numbers, 2, sizeof(*numbers), compare, sample);
	numbers[0] += room[0];
}

static void measure_walk(void)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = address_spaces_new("/proc");
	CLEANUP(unwinder_cleanup)
	struct unwinder *unwinder = unwinder_new(spaces, arch_native(), false);
	CLEANUP(free_ptr) struct sample *sample = xcalloc(1, sizeof(*sample));
	struct frame frames[UNWIND_DEPTH_MAX];
	struct call_chain chain = {.frames = frames, .room = UNWIND_DEPTH_MAX};
	pid_t pid = getpid();
	struct stack_copies stacks = {.own = bytes_of(sample->stack, STACK_BYTES)};

	address_spaces_snapshot(spaces, pid, 0);
	record(sample);
	unwinder_walk(unwinder, pid, 1, &sample->regs, &stacks, &chain);
	struct unwind_counts cold = unwinder_counts(unwinder);
	uint64_t begin = cpu_ns();

	for (unsigned i = 0; i < WALKS; i++)
		unwinder_walk(unwinder, pid, 1, &sample->regs, &stacks, &chain);
	uint64_t spent_ns = cpu_ns() - begin;
	struct unwind_counts warm = unwinder_counts(unwinder);
	uint64_t walked = warm.frames - cold.frames;

	printf("warm walk: %u frames, %.1f ns a frame, %.2f us a stack, %" PRIu64 " rules missed\n",
	       chain.count, (double)spent_ns / (double)walked, (double)spent_ns / WALKS / 1000,
	       warm.rules_missed - cold.rules_missed);
}

/* Chooses addresses all over the file: starts of entries, and addresses in
 * between. */
static size_t choose_addresses(struct elf_file *image, uint64_t *vaddrs)
{
	struct elf_section found = elf_file_section(image, ".eh_frame");
	struct cfi_section section = {
		.data = found.data, .vaddr = found.vaddr, .is_eh_frame = true};
	CLEANUP(free_ptr) uint64_t *starts = NULL;
	size_t count = 0, room = 0;
	uint64_t offset = 0;
	struct cfi_fde fde;

	do {
		if (!cfi_fde_read(&section, offset, &fde))
			continue;
		GROW(starts, count, room);
		starts[count++] = fde.start + (uint64_t)random() % (fde.end - fde.start);
	} while (cfi_entry_next(&section, &offset));
	for (size_t i = 0; i < ROWS && count; i++)
		vaddrs[i] = starts[(size_t)random() % count];
	return count;
}

static void measure_rows(const char *path)
{
	CLEANUP(free_ptr) uint64_t *vaddrs = xcalloc(ROWS, sizeof(*vaddrs));
	CLEANUP(elf_file_cleanup) struct elf_file *image = NULL;
	CLEANUP(error_cleanup)
	struct error *err = elf_file_open(open(path, O_RDONLY | O_CLOEXEC), path, &image);

	if (err || !choose_addresses(image, vaddrs)) {
		printf("%s: no call frame information\n", path);
		return;
	}
	CLEANUP(cfi_cleanup) struct cfi *cfi = cfi_new(image, arch_native());
	unsigned found = 0;

	cfi_index(cfi, NULL);
	uint64_t begin = cpu_ns();

	for (unsigned i = 0; i < ROWS * ROUNDS; i++) {
		unsigned steps = UINT_MAX;
		struct cfi_rule rule;

		found += cfi_find(cfi, vaddrs[i % ROWS], &steps, &rule);
	}
	printf("a row of %s: %.0f ns, %.2f %% found\n", path,
	       (double)(cpu_ns() - begin) / (ROWS * ROUNDS), 100.0 * found / (ROWS * ROUNDS));
}

int main(int argc, char **argv)
{
	Dl_info libc;

	measure_walk();
	if (argc > 1)
		measure_rows(argv[1]);
	else if (dladdr((void *)(uintptr_t)qsort_r, &libc))
		measure_rows(libc.dli_fname);
	return 0;
}
