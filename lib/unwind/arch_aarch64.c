#include "unwind/arch.h"

enum { X19 = 19, AARCH64_FP = 29, AARCH64_LR = 30, AARCH64_SP = 31 };

static const uint8_t arch_aarch64_perf_to_dwarf[] = {
	0,  1,	2,  3,	4,  5,	6,  7,		8,	    9,		10,
	11, 12, 13, 14, 15, 16, 17, 18,		19,	    20,		21,
	22, 23, 24, 25, 26, 27, 28, AARCH64_FP, AARCH64_LR, AARCH64_SP, PERF_REG_PC,
};

static uint32_t last_instruction(const unsigned char code[CODE_BYTES])
{
	uint32_t last;

	memcpy(&last, code + CODE_BYTES - sizeof(last), sizeof(last));
	return last;
}

static bool ends_with_call(const unsigned char code[CODE_BYTES])
{
	uint32_t last = last_instruction(code);

	return (last & 0xfc000000) == 0x94000000 || /* bl */
	       (last & 0xfffffc1f) == 0xd63f0000 || /* blr */
	       (last & 0xfefff800) == 0xd63f0800;   /* blraa, blrab and their zero forms */
}

static bool call_target(const unsigned char code[CODE_BYTES], uint64_t return_address,
			uint64_t *ret)
{
	uint32_t last = last_instruction(code);
	int64_t words = (int64_t)((uint64_t)last << 38) >> 38; /* the low 26 bits */

	*ret = return_address - sizeof(last) + (uint64_t)words * 4;
	return (last & 0xfc000000) == 0x94000000; /* bl */
}

static bool has_register_jump(const unsigned char *code, size_t len)
{
	uint32_t word;

	for (size_t i = 0; i + sizeof(word) <= len; i += sizeof(word)) {
		memcpy(&word, code + i, sizeof(word));
		if ((word & 0xfffffc1f) == 0xd61f0000) /* br */
			return true;
	}
	return false;
}

/* A leaf's return address is in lr at every instruction. */
static int arch_aarch64_pushed_words(const unsigned char code[CODE_BYTES])
{
	(void)code;
	return -1;
}

static bool arch_aarch64_is_after_syscall(const unsigned char code[CODE_BYTES],
					  const struct regs *regs)
{
	(void)regs;
	return last_instruction(code) == 0xd4000001; /* svc #0 */
}

static bool arch_aarch64_is_clone_child(const unsigned char code[CODE_BYTES],
					const struct regs *regs)
{
	static const unsigned char mov_clone[] = {0x88, 0x1b, 0x80, 0xd2};
	static const unsigned char mov_clone3[] = {0x68, 0x36, 0x80, 0xd2};

	return arch_aarch64_is_after_syscall(code, regs) && regs->values[0] == 0 &&
	       (memcmp(code, mov_clone, sizeof(mov_clone)) == 0 ||
		memcmp(code, mov_clone3, sizeof(mov_clone3)) == 0);
}

static bool arch_aarch64_is_sigreturn(const unsigned char code[CODE_BYTES])
{
	/* mov x8, #139; svc #0 */
	static const unsigned char mov_svc[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};

	return memcmp(code, mov_svc, sizeof(mov_svc)) == 0;
}

/* The frame consists of a siginfo_t and a ucontext_t: x0 to x30, sp, pc. */
static const struct signal_frame arch_aarch64_signal_frame = {
	.regs = {312, 320, 328, 336, 344, 352, 360, 368, 376, 384, 392, 400, 408, 416, 424, 432,
		 440, 448, 456, 464, 472, 480, 488, 496, 504, 512, 520, 528, 536, 544, 552, 560},
	.pc = 568,
};

/*
 * The largest space has 52 bits. These are CONFIG_ARM64_VA_BITS of common
 * kernels.
 */
static const uint8_t smaller_spaces[] = {48, 47, 42, 39, 0};

const struct arch arch_aarch64 = {
	.name = "aarch64",
	.word_bytes = 8,
	.register_count = 32,
	.sp = AARCH64_SP,
	.fp = AARCH64_FP,
	.ra = AARCH64_LR,
	.preserved = UINT64_C(0xfff) << X19, /* x19 to x30; functions that change lr have CFI */
	.perf_mask = UINT64_C(0x1ffffffff),
	.perf_to_dwarf = arch_aarch64_perf_to_dwarf,
	.perf_count = sizeof(arch_aarch64_perf_to_dwarf),
	.perf_sp = 31,
	.perf_pc = 32,
	.record_on_top = false,
	.ra_in_register = true,
	.pc_mask = UINT64_C(0x000fffffffffffff),
	.smaller_spaces = smaller_spaces,
	.ends_with_call = ends_with_call,
	.call_target = call_target,
	.has_register_jump = has_register_jump,
	.pushed_words = arch_aarch64_pushed_words,
	.syscall_pc = -1,
	.is_after_syscall = arch_aarch64_is_after_syscall,
	.is_clone_child = arch_aarch64_is_clone_child,
	.is_sigreturn = arch_aarch64_is_sigreturn,
	.sigreturn_bytes = 4,
	.signal_frame = &arch_aarch64_signal_frame,
};
