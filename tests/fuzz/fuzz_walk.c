/*
 * Fuzzes registers and stacks in the address space of this program, so that
 * wrong rules and guesses meet real code and real call frame information.
 *
 * The input consists of 64-bit words: the pc, sixteen registers, and the stack.
 * To hit something, the first byte of a word chooses where its lower bytes
 * point: into the code of this program (0x7c), into the stack (0x75), into a
 * stack that a signal handler has interrupted, which holds the same words
 * (0x74), or to the code that a signal handler returns to (0x73).
 */
#include "base/alloc.h"
#include "unwind/unwind.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS_MAX = 4096, REGISTERS = 16 };
#define STACK_START UINT64_C(0x7ffd00000000)
#define INTERRUPTED_START UINT64_C(0x7ffc00000000)

/* This is the code of the C library. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	"sigreturn_here: mov $15, %rax\n"
	"syscall\n"
	".popsection\n");
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
	"sigreturn_here: mov x8, #139\n"
	"svc #0\n"
	".popsection\n");
#endif
extern const unsigned char sigreturn_here[];

struct walker {
	struct address_spaces *spaces;
	struct unwinder *unwinder;
	pid_t pid;
	struct location code;
};

static const struct walker *walker(void)
{
	static struct walker walker;
	uint64_t here = (uint64_t)(uintptr_t)LLVMFuzzerTestOneInput;

	if (!walker.spaces) {
		walker.pid = getpid();
		walker.spaces = address_spaces_new("/proc");
		walker.unwinder = unwinder_new(walker.spaces, arch_native(), false);
		address_spaces_snapshot(walker.spaces, walker.pid, 0);
		if (!address_spaces_locate(walker.spaces, walker.pid, 1, here, &walker.code))
			abort();
	}
	return &walker;
}

static uint64_t next_word(const struct walker *walker, struct bytes *from)
{
	uint64_t word = bytes_u64(from);

	switch (word >> 56) {
	case 0x7c:
		return walker->code.start +
		       (word & 0xffffffff) % (walker->code.end - walker->code.start);
	case 0x75:
		return STACK_START + (word & 0xffff);
	case 0x74:
		return INTERRUPTED_START + (word & 0xffff);
	case 0x73:
		return (uint64_t)(uintptr_t)sigreturn_here;
	default:
		return word;
	}
}

static void check(const struct walker *with, const struct call_chain *chain)
{
	if (chain->count == 0 || chain->count > UNWIND_DEPTH_MAX)
		abort();
	for (unsigned i = 0; i < chain->count; i++)
		if (chain->frames[i].module >= address_spaces_module_count(with->spaces))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct walker *with = walker();
	struct bytes from = bytes_of(data, size);
	struct regs regs = {.pc = next_word(with, &from)};
	struct frame frames[UNWIND_DEPTH_MAX];
	struct call_chain chain = {.frames = frames, .room = UNWIND_DEPTH_MAX};
	size_t words = 0;

	for (unsigned reg = 0; reg < REGISTERS; reg++)
		regs_set(&regs, reg, next_word(with, &from));
	regs_set(&regs, arch_native()->sp, STACK_START);
	/* Exactly as large as the declared size, so that the address sanitizer
	 * detects reads beyond it. */
	size_t room = bytes_left(&from) / sizeof(uint64_t);
	CLEANUP(free_ptr)
	uint64_t *stack = xcalloc(room < WORDS_MAX ? room : WORDS_MAX, sizeof(*stack));

	for (; words < room && words < WORDS_MAX; words++)
		stack[words] = next_word(with, &from);
	struct bytes copy = bytes_of(stack, words * sizeof(*stack));
	struct stack_copies stacks = {
		.own = copy, .interrupted = copy, .interrupted_start = INTERRUPTED_START};

	unwinder_walk(with->unwinder, with->pid, 1, &regs, &stacks, &chain);
	unwinder_splice(with->unwinder, with->pid, 1, copy, &chain);
	check(with, &chain);
	regs.known = reg_bit(arch_native()->sp); /* like a thread that sleeps */
	unwinder_walk(with->unwinder, with->pid, 1, &regs, &stacks, &chain);
	check(with, &chain);
	return 0;
}
