/*
 * Unwinds programs in the states in which they were stopped, and reports
 * callers that differ from the recorded ones.
 *
 *	replay_stops FOLDER [SYMFS]
 *
 * FOLDER/maps is the /proc/PID/maps of the program. Its files are below SYMFS.
 * FOLDER/stops has, in 64-bit words, the e_machine of its ELF files, and for
 * each stop
 *
 *	pc, registers by DWARF number (16 on x86-64, 32 on aarch64),
 *	the number of frames and the pc of each, starting with the leaf,
 *	the number of bytes of the stack, and these, from the stack pointer on
 *
 * If FOLDER/.outcome exists, each stop is also walked with sp and pc alone
 * (like a sleeping thread), with a part of its stack, and with damaged stacks.
 * The file has the hash of the results.
 *
 * Prints a line for each stop that differs, and then the numbers of: stops that
 * differ; stops that agree and reach the root where the recorded chain ends
 * earlier; and stops where neither chain reaches the root, which only prof
 * reports.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "proc/maps.h"
#include "unwind/unwind.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { PID = 1, NOW = 1, DAMAGES = 16 };

struct replay {
	const struct arch *arch;
	unsigned register_count; /* number of registers per stop */
	struct address_spaces *spaces;
	struct unwinder *unwinder;
};

struct stop {
	struct regs regs;
	struct bytes stack;
	struct bytes truth; /* pcs, starting with the leaf */
};

struct walked {
	enum unwind_stop stop;
	struct call_chain chain;
	struct frame frames[UNWIND_DEPTH_MAX];
};

/* Maps the file until the program ends. */
static struct bytes load(const char *folder, const char *name)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", folder, name);
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0 ||
	    (data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(2);
	}
	return bytes_of(data, (size_t)st.st_size);
}

static bool choose_arch(struct replay *replay, uint64_t machine)
{
	replay->arch = machine == EM_X86_64 ? &arch_x86_64 : &arch_aarch64;
	replay->register_count = machine == EM_X86_64 ? 16 : 32;
	return machine == EM_X86_64 || machine == EM_AARCH64;
}

static void map_files(struct replay *replay, const char *folder)
{
	struct maps maps = {.rest = load(folder, "maps")};
	struct mapping mapping;

	while (maps_next(&maps, &mapping))
		address_spaces_map(replay->spaces, PID, 0, &mapping);
}

static bool read_stop(const struct replay *replay, struct bytes *from, struct stop *ret)
{
	*ret = (struct stop){.regs.pc = bytes_u64(from)};
	for (unsigned reg = 0; reg < replay->register_count; reg++)
		regs_set(&ret->regs, reg, bytes_u64(from));
	ret->truth = bytes_sub(from, bytes_u64(from) * sizeof(uint64_t));
	ret->stack = bytes_sub(from, bytes_u64(from));
	return bytes_ok(from);
}

static void walk(struct replay *replay, const struct stop *stop, struct walked *walked)
{
	walked->chain = (struct call_chain){.frames = walked->frames, .room = UNWIND_DEPTH_MAX};
	walked->stop = unwinder_walk(replay->unwinder, PID, NOW, &stop->regs,
				     &(struct stack_copies){.own = stop->stack}, &walked->chain);
}

/* Prints the place of pc, in words: "libc.so.6+0x27241". */
static void print_place(struct replay *replay, uint64_t pc)
{
	struct location at;
	const char *path, *name;

	if (!address_spaces_locate(replay->spaces, PID, NOW, pc, &at)) {
		printf(" 0x%" PRIx64, pc);
		return;
	}
	path = address_spaces_module(replay->spaces, at.module)->path;
	name = strrchr(path, '/');
	printf(" %s+0x%" PRIx64, name ? name + 1 : path, at.offset);
}

static bool is_frame(struct replay *replay, const struct frame *frame, uint64_t pc)
{
	struct location at;

	address_spaces_locate(replay->spaces, PID, NOW, pc - frame->is_return_address, &at);
	return frame->module == at.module && frame->offset == at.offset + frame->is_return_address;
}

/* Returns the number of correct frames, starting with the leaf. */
static unsigned true_frames(struct replay *replay, const struct stop *stop,
			    const struct walked *walked)
{
	struct bytes truth = stop->truth;
	unsigned count = 0;

	while (count < walked->chain.count && bytes_left(&truth) &&
	       is_frame(replay, &walked->frames[count], bytes_u64(&truth)))
		count++;
	return count;
}

static void print_difference(struct replay *replay, unsigned number, const struct stop *stop,
			     const struct walked *walked, unsigned same)
{
	static const char *const ends[] = {"root", "truncated", "lost"};

	printf("stop %u, %s, from frame %u on:", number, ends[walked->stop], same);
	for (unsigned i = 0; i < walked->chain.count; i++) {
		const struct frame *frame = &walked->frames[i];
		const char *path = address_spaces_module(replay->spaces, frame->module)->path;
		const char *name = strrchr(path, '/');

		printf(" %s+0x%" PRIx64, name ? name + 1 : path, frame->offset);
	}
	printf(" | instead of");
	for (struct bytes truth = stop->truth; bytes_left(&truth);)
		print_place(replay, bytes_u64(&truth));
	printf("\n");
}

struct counts {
	unsigned stops, different, longer, cut;
};

/* An FNV-1a hash of all walks. */
static uint64_t outcome = UINT64_C(0xcbf29ce484222325);

static void note(uint64_t value)
{
	for (unsigned i = 0; i < 64; i += 8)
		outcome = (outcome ^ (value >> i & 0xff)) * UINT64_C(0x100000001b3);
}

static void note_walk(struct replay *replay, const struct stop *stop)
{
	static struct walked walked;

	walk(replay, stop, &walked);
	note(walked.stop);
	note(walked.chain.count);
	note(walked.chain.needed_bytes);
	note(walked.chain.unmapped_pc);
	for (unsigned i = 0; i < walked.chain.count; i++)
		note(walked.frames[i].offset * 2 + walked.frames[i].is_return_address);
}

/* Repeats the walk as for a sleeping thread, which has no other known register. */
static void note_walks(struct replay *replay, struct stop stop)
{
	note_walk(replay, &stop);
	stop.regs.known = reg_bit(replay->arch->sp);
	note_walk(replay, &stop);
}

/* Replaces a word of the stack by another one, at the same place each time. */
static void note_damaged(struct replay *replay, struct stop stop)
{
	size_t words = bytes_left(&stop.stack) / sizeof(uint64_t);
	CLEANUP(free_ptr) uint64_t *stack = xcalloc(words, sizeof(*stack));
	uint64_t random = words;

	memcpy(stack, stop.stack.at, words * sizeof(*stack));
	stop.stack = bytes_of(stack, words * sizeof(*stack));
	for (unsigned i = 0; words && i < DAMAGES; i++) {
		uint64_t *at, before;

		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		at = &stack[(random >> 33) % words];
		before = *at;
		*at = i % 2 ? stack[(random >> 17) % words] : before ^ UINT64_C(1) << random % 48;
		note_walks(replay, stop);
		*at = before;
	}
}

/* The results for a stop, for a part of its stack, and for a damaged stack must
 * not change. */
static void note_stop(struct replay *replay, struct stop stop)
{
	size_t len = bytes_left(&stop.stack);

	note_walks(replay, stop);
	note_damaged(replay, stop);
	for (unsigned part = 2; part <= 8; part *= 2) {
		stop.stack.end = stop.stack.at + len / part / sizeof(uint64_t) * sizeof(uint64_t);
		note_walks(replay, stop);
	}
}

static void check(struct replay *replay, const struct stop *stop, struct counts *counts)
{
	static struct walked walked;
	unsigned same, all = (unsigned)(bytes_left(&stop->truth) / sizeof(uint64_t));

	walk(replay, stop, &walked);
	same = true_frames(replay, stop, &walked);
	if (walked.stop == UNWIND_ROOT && same == all) {
		counts->longer += same < walked.chain.count;
	} else if (walked.chain.count == all && same == all) {
		counts->cut++;
	} else {
		print_difference(replay, counts->stops, stop, &walked, same);
		counts->different++;
	}
}

static bool read_outcome(const char *folder, uint64_t *before)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/.outcome", folder);
	CLEANUP(close_file) FILE *file = fopen(path, "r");

	return file && fscanf(file, "%" SCNx64, before) == 1;
}

int main(int argc, char **argv)
{
	const struct recorded_files files = {.symfs = argc > 2 ? argv[2] : NULL,
					     .same_kernel = true};
	struct replay replay = {0};
	struct counts counts = {0};
	bool has_outcome;
	uint64_t before;
	struct bytes from;
	struct stop stop;

	if (argc < 2)
		return 2;
	has_outcome = read_outcome(argv[1], &before);
	from = load(argv[1], "stops");
	if (!choose_arch(&replay, bytes_u64(&from)))
		return 2;
	replay.spaces = address_spaces_new_recorded(&files);
	replay.unwinder = unwinder_new(replay.spaces, replay.arch, false);
	map_files(&replay, argv[1]);
	while (bytes_left(&from) && read_stop(&replay, &from, &stop)) {
		check(&replay, &stop, &counts);
		if (has_outcome)
			note_stop(&replay, stop);
		counts.stops++;
	}
	printf("%u stops, %u different, %u longer, %u cut\n", counts.stops, counts.different,
	       counts.longer, counts.cut);
	unwinder_free(replay.unwinder);
	address_spaces_free(replay.spaces);
	if (!bytes_ok(&from) || !counts.stops)
		return 2;
	if (has_outcome && outcome != before)
		printf("the outcome has changed: %016" PRIx64 "\n", outcome);
	return counts.different > 0 || (has_outcome && outcome != before);
}
