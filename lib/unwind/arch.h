/*
 * What differs between machines in unwinding: the registers, how perf numbers them, how DWARF does,
 * and what calls and prologues look like.
 *
 * A machine is one file arch_<name>.c with one const struct; all are compiled everywhere, so that
 * recorded stacks of another machine can be unwound in a test. Sources: asm/perf_regs.h of the
 * kernel; System V psABI x86-64, 3.2 and figure 3.36; DWARF for the Arm 64-bit architecture
 * (AADWARF64), 4.1, and AAPCS64, 6.1.1; struct rt_sigframe and struct sigcontext of the kernel.
 */
#ifndef PROF_UNWIND_ARCH_H
#define PROF_UNWIND_ARCH_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

enum { REGS_MAX = 33 };

/* Register values by DWARF number; bit n of `known` says whether values[n] is. */
struct regs {
	uint64_t values[REGS_MAX];
	uint64_t known;
	uint64_t pc;
};

static inline uint64_t reg_bit(unsigned reg)
{
	return UINT64_C(1) << reg;
}

static inline bool regs_know(const struct regs *regs, unsigned reg)
{
	return regs->known & reg_bit(reg);
}

static inline void regs_set(struct regs *regs, unsigned reg, uint64_t value)
{
	regs->values[reg] = value;
	regs->known |= reg_bit(reg);
}

/*
 * Where the frame that the kernel makes for a signal handler keeps what was interrupted: offsets
 * from sp as it is when the handler has returned; 0: not kept.
 */
struct signal_frame {
	uint16_t regs[REGS_MAX]; /* by DWARF number */
	uint16_t pc;
};

/* Machine code is looked at in pieces of so many bytes. */
enum { CODE_BYTES = 8 };

struct arch {
	const char *name;
	const struct arch *compat; /* 32-bit processes that it runs too; NULL: none are unwound */
	unsigned word_bytes;
	unsigned register_count; /* DWARF numbers below this are general registers */
	unsigned sp, fp, ra;	 /* DWARF numbers; ra: the column of the return address in CFI */
	uint64_t preserved;	 /* bit n: a call leaves register n as it was (by the psABI) */
	uint64_t perf_mask;	 /* sample_regs_user that gives all of them and the pc */
	const uint8_t
		*perf_to_dwarf; /* by perf number; PERF_REG_PC for the pc, PERF_REG_NONE for none */
	unsigned perf_count;
	unsigned perf_sp, perf_pc; /* perf's numbers of the stack pointer and the pc */
	bool record_on_top;  /* the caller's stack begins right above a frame pointer's record */
	bool ra_in_register; /* a leaf's return address is in `ra`, not on the stack (aarch64's lr)
			      */
	uint64_t pc_mask; /* bits of a return address that count (pointer authentication on aarch64)
			   */
	/* Do these bytes, the ones just before a return address, end with a call? */
	bool (*ends_with_call)(const unsigned char code[CODE_BYTES]);
	/* Where that call goes to; false when the instruction alone does not tell. */
	bool (*call_target)(const unsigned char code[CODE_BYTES], uint64_t return_address,
			    uint64_t *ret);
	/*
	 * For functions without CFI: when the instruction at the pc belongs to a prologue or an
	 * epilogue, how many words were pushed above the return address; -1 when it says nothing.
	 */
	int (*pushed_words)(const unsigned char code[CODE_BYTES]);
	/*
	 * Do the bytes just before the pc end with a system call that has just returned, or not
	 * yet?
	 */
	int syscall_pc; /* the register that then holds the pc; -1: none does */
	bool (*is_after_syscall)(const unsigned char code[CODE_BYTES], const struct regs *regs);
	/* And is it clone or clone3, on the side of the new thread (or process)? */
	bool (*is_newborn)(const unsigned char code[CODE_BYTES], const struct regs *regs);
	/* Is this what a signal handler returns to: the system call rt_sigreturn? */
	bool (*is_sigreturn)(const unsigned char code[CODE_BYTES]);
	unsigned sigreturn_bytes; /* from there to its last instruction */
	const struct signal_frame *signal_frame;
};

enum { PERF_REG_PC = 0xfe, PERF_REG_NONE = 0xff };

extern const struct arch arch_x86_64;
extern const struct arch arch_i386;
extern const struct arch arch_aarch64;
/* The machine prof was built for. */
const struct arch *arch_native(void);

/*
 * From perf's dump (values: u64s in the order of mask's bits). False: the dump is too short, or it
 * lacks the pc or the stack pointer.
 */
bool regs_from_perf(const struct arch *arch, uint64_t mask, struct bytes values, struct regs *ret);

#endif
