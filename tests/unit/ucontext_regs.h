/* Converts the registers that getcontext(3) stores, and a signal handler gets,
 * to DWARF numbers. */
#ifndef PROF_TESTS_UCONTEXT_REGS_H
#define PROF_TESTS_UCONTEXT_REGS_H

#include "unwind/arch.h"

#include <ucontext.h>

#if defined(__x86_64__)

static inline void regs_from_ucontext(const ucontext_t *context, struct regs *regs)
{
	static const int by_dwarf[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				       REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
				       REG_R12, REG_R13, REG_R14, REG_R15};

	*regs = (struct regs){.pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP]};
	for (unsigned reg = 0; reg < sizeof(by_dwarf) / sizeof(by_dwarf[0]); reg++)
		regs_set(regs, reg, (uint64_t)context->uc_mcontext.gregs[by_dwarf[reg]]);
}

#elif defined(__aarch64__)

static inline void regs_from_ucontext(const ucontext_t *context, struct regs *regs)
{
	*regs = (struct regs){.pc = context->uc_mcontext.pc};
	for (unsigned reg = 0; reg < 31; reg++)
		regs_set(regs, reg, context->uc_mcontext.regs[reg]);
	regs_set(regs, arch_aarch64.sp, context->uc_mcontext.sp);
}

#endif

#endif
