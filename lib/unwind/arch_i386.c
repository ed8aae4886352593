#include "unwind/arch.h"
#include "unwind/x86_calls.h"

/* For 32-bit processes on x86-64. */
enum { EAX, ECX, EDX, EBX, ESP, EBP, ESI, EDI, EIP };

static const uint8_t arch_i386_perf_to_dwarf[] = {EAX, EBX, ECX, EDX,	     ESI,
						  EDI, EBP, ESP, PERF_REG_PC};

/* The signal return code is in the vdso, which has CFI. */
static bool arch_i386_is_sigreturn(const unsigned char code[CODE_BYTES])
{
	(void)code;
	return false;
}

static bool arch_i386_is_after_syscall(const unsigned char code[CODE_BYTES],
				       const struct regs *regs)
{
	(void)code;
	(void)regs;
	return false;
}

static int arch_i386_pushed_words(const unsigned char code[CODE_BYTES])
{
	static const unsigned char endbr32[] = {0xf3, 0x0f, 0x1e, 0xfb};
	static const unsigned char mov_esp_ebp[] = {0x89, 0xe5};
	static const unsigned char mov_esp_ebp_other[] = {0x8b, 0xec};

	if (code[0] == 0x55 || memcmp(code, endbr32, sizeof(endbr32)) == 0) /* push %ebp */
		return 0;
	if (code[0] == 0xc3 || code[0] == 0xc2) /* ret */
		return 0;
	if (memcmp(code, mov_esp_ebp, sizeof(mov_esp_ebp)) == 0 ||
	    memcmp(code, mov_esp_ebp_other, sizeof(mov_esp_ebp_other)) == 0)
		return 1;
	if (code[0] == 0x5d && code[1] == 0xc3) /* pop %ebp; ret */
		return 1;
	return -1;
}

const struct arch arch_i386 = {
	.name = "i386",
	.word_bytes = 4,
	.register_count = 9,
	.sp = ESP,
	.fp = EBP,
	.ra = EIP,
	.preserved = 1u << EBX | 1u << EBP | 1u << ESI | 1u << EDI,
	.perf_mask = 0x1ff,
	.perf_to_dwarf = arch_i386_perf_to_dwarf,
	.perf_count = sizeof(arch_i386_perf_to_dwarf),
	.perf_sp = 7,
	.perf_pc = 8,
	.record_on_top = true,
	.ra_in_register = false,
	.pc_mask = UINT32_MAX,
	.ends_with_call = x86_ends_with_call,
	.call_target = x86_call_target,
	.has_register_jump = x86_has_register_jump,
	.pushed_words = arch_i386_pushed_words,
	.syscall_pc = -1,
	.is_after_syscall = arch_i386_is_after_syscall,
	.is_clone_child = arch_i386_is_after_syscall,
	.is_sigreturn = arch_i386_is_sigreturn,
};
