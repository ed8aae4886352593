/*
 * Hostile registers and stacks, in the address space of this very program, so that there is real
 * code and real call frame information to be led astray in.
 *
 * Input: the pc, sixteen registers, then the stack, as 64-bit words. So that they hit something, a
 * word whose first byte is 0x7c stands for a place in the code of this program, 0x75 for one in the
 * stack, by its low bytes.
 */
#include "base/alloc.h"
#include "unwind/unwind.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS_MAX = 4096, REGISTERS = 16 };
#define STACK_START UINT64_C(0x7ffd00000000)

struct walker {
	struct spaces *spaces;
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
		walker.spaces = spaces_new("/proc");
		walker.unwinder = unwinder_new(walker.spaces, arch_native());
		spaces_snapshot(walker.spaces, walker.pid, 0);
		if (!spaces_locate(walker.spaces, walker.pid, 1, here, &walker.code))
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
	default:
		return word;
	}
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
	/* Exactly as large as it is said to be, so that the address sanitizer sees a read past it.
	 */
	size_t room = bytes_left(&from) / sizeof(uint64_t);
	CLEANUP(free_ptr)
	uint64_t *stack = xcalloc(room < WORDS_MAX ? room : WORDS_MAX, sizeof(*stack));

	for (; words < room && words < WORDS_MAX; words++)
		stack[words] = next_word(with, &from);
	struct bytes copy = bytes_of(stack, words * sizeof(*stack));

	unwinder_walk(with->unwinder, with->pid, 1, &regs, copy, &chain);
	unwinder_join(with->unwinder, with->pid, 1, copy, &chain);
	if (chain.count == 0 || chain.count > UNWIND_DEPTH_MAX)
		abort();
	for (unsigned i = 0; i < chain.count; i++)
		if (frames[i].module >= spaces_module_count(with->spaces))
			abort();
	return 0;
}
