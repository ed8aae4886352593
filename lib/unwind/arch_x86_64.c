#include "unwind/arch.h"
#include "unwind/x86_64_registers.h"
#include "unwind/x86_calls.h"
#include "unwind/x86_frames.h"

static const uint8_t arch_x86_64_perf_to_dwarf[] = {
	RAX,
	RBX,
	RCX,
	RDX,
	RSI,
	RDI,
	RBP,
	RSP,
	PERF_REG_PC,
	PERF_REG_NONE, /* flags */
	PERF_REG_NONE, /* cs */
	PERF_REG_NONE, /* ss */
	PERF_REG_NONE, /* ds */
	PERF_REG_NONE, /* es */
	PERF_REG_NONE, /* fs */
	PERF_REG_NONE, /* gs */
	R8,
	9,
	10,
	11,
	R12,
	13,
	14,
	15,
};

static int arch_x86_64_pushed_words(const unsigned char code[CODE_BYTES])
{
	static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const unsigned char mov_rsp_rbp[] = {0x48, 0x89, 0xe5};
	static const unsigned char mov_rsp_rbp_other[] = {0x48, 0x8b, 0xec};

	if (code[0] == 0x55 || memcmp(code, endbr64, sizeof(endbr64)) == 0) /* push %rbp */
		return 0;
	if (code[0] == 0xc3 || code[0] == 0xc2) /* ret */
		return 0;
	if (memcmp(code, mov_rsp_rbp, sizeof(mov_rsp_rbp)) == 0 ||
	    memcmp(code, mov_rsp_rbp_other, sizeof(mov_rsp_rbp_other)) == 0)
		return 1;
	if (code[0] == 0x5d && code[1] == 0xc3) /* pop %rbp; ret */
		return 1;
	return -1;
}

static bool arch_x86_64_is_after_syscall(const unsigned char code[CODE_BYTES],
					 const struct regs *regs)
{
	/* A syscall instruction leaves its return address in rcx. */
	return code[CODE_BYTES - 2] == 0x0f && code[CODE_BYTES - 1] == 0x05 &&
	       regs->values[RCX] == regs->pc;
}

static bool arch_x86_64_is_clone_child(const unsigned char code[CODE_BYTES],
				       const struct regs *regs)
{
	static const unsigned char mov_clone[] = {0xb8, 0x38, 0, 0, 0, 0x0f, 0x05};
	static const unsigned char mov_clone3[] = {0xb8, 0xb3, 0x01, 0, 0, 0x0f, 0x05};
	const unsigned char *last = code + CODE_BYTES - sizeof(mov_clone);

	return (memcmp(last, mov_clone, sizeof(mov_clone)) == 0 ||
		memcmp(last, mov_clone3, sizeof(mov_clone3)) == 0) &&
	       regs->values[RAX] == 0 && regs->values[RCX] == regs->pc;
}

static bool arch_x86_64_is_sigreturn(const unsigned char code[CODE_BYTES])
{
	static const unsigned char mov_rax[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f};
	static const unsigned char mov_eax[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};

	return memcmp(code, mov_rax, sizeof(mov_rax)) == 0 ||
	       memcmp(code, mov_eax, sizeof(mov_eax)) == 0;
}

/*
 * The frame is a ucontext_t: r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp,
 * rip.
 */
static const struct signal_frame arch_x86_64_signal_frame = {
	.regs = {144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96},
	.pc = 168,
};

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.compat = &arch_i386,
	.word_bytes = 8,
	.register_count = 17,
	.sp = RSP,
	.fp = RBP,
	.ra = RETURN_ADDRESS,
	.preserved = 1u << RBX | 1u << RBP | 0xfu << R12,
	.perf_mask = 0xff01ff,
	.perf_to_dwarf = arch_x86_64_perf_to_dwarf,
	.perf_count = sizeof(arch_x86_64_perf_to_dwarf),
	.perf_sp = 7,
	.perf_pc = 8,
	.perf_g = 22, /* r14 */
	.record_on_top = true,
	.ra_in_register = false,
	.pc_mask = UINT64_MAX,
	.ends_with_call = x86_ends_with_call,
	.call_target = x86_call_target,
	.has_register_jump = x86_has_register_jump,
	.frame_sizes = x86_frame_sizes,
	.sets_up_fp = x86_sets_up_fp,
	.may_set_fp = x86_may_set_fp,
	.popped_bytes = x86_popped_bytes,
	.jump_at = x86_jump_at,
	.pushed_words = arch_x86_64_pushed_words,
	.syscall_pc = RCX,
	.is_after_syscall = arch_x86_64_is_after_syscall,
	.is_clone_child = arch_x86_64_is_clone_child,
	.is_sigreturn = arch_x86_64_is_sigreturn,
	.sigreturn_bytes = 7,
	.signal_frame = &arch_x86_64_signal_frame,
};
