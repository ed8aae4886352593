#include "unwind/arch.h"

enum { X19 = 19, FP = 29, LR = 30, SP = 31 };

static const uint8_t perf_to_dwarf[] = {
	0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10, 11, 12, 13, 14, 15,		 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, FP, LR, SP, PERF_REG_PC,
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

/* The return address of a leaf is in lr, whatever the instruction. */
static int pushed_words(const unsigned char code[CODE_BYTES])
{
	(void)code;
	return -1;
}

const struct arch arch_aarch64 = {
	.name = "aarch64",
	.register_count = 32,
	.sp = SP,
	.fp = FP,
	.ra = LR,
	.preserved = UINT64_C(0xfff) << X19, /* x19 to x30: who spoils lr says where it is saved */
	.perf_mask = UINT64_C(0x1ffffffff),
	.perf_to_dwarf = perf_to_dwarf,
	.perf_count = sizeof(perf_to_dwarf),
	.ra_in_register = true,
	/* User addresses have 48 bits; above them stands the signature. */
	.pc_mask = UINT64_C(0x0000ffffffffffff),
	.ends_with_call = ends_with_call,
	.call_target = call_target,
	.pushed_words = pushed_words,
};
