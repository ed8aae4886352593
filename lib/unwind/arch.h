/*
 * Describes an architecture for the unwinder: its registers with their numbers
 * in perf and DWARF, and the machine code of its calls and prologues.
 *
 * Each architecture has a file arch_<name>.c with one const struct. All of them
 * are compiled on every machine, so that tests can unwind recorded stacks of
 * another architecture.
 *
 * Sources: asm/perf_regs.h of the kernel; System V psABI x86-64, 3.2 and figure
 * 3.36; DWARF for the Arm 64-bit architecture (AADWARF64), 4.1, and AAPCS64,
 * 6.1.1; struct rt_sigframe and struct sigcontext of the kernel.
 */
#ifndef PROF_UNWIND_ARCH_H
#define PROF_UNWIND_ARCH_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

enum { REGS_MAX = 33 };

/*
 * Register values by DWARF number. values[n] is valid if bit n of `known` is
 * set.
 */
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
 * The layout of the kernel's signal frame. Each value is the offset of a saved
 * register from sp after the handler has returned, or 0 if the register is not
 * saved.
 */
struct signal_frame {
	uint16_t regs[REGS_MAX]; /* by DWARF number */
	uint16_t pc;
};

/* Number of code bytes that the predicates below read. */
enum { CODE_BYTES = 8 };

/* Kinds of jumps in machine code. */
enum jump { JUMP_NONE, JUMP_DIRECT, JUMP_INDIRECT };

struct arch {
	const char *name;
	/*
	 * Architecture of the 32-bit processes, or NULL if they are not
	 * unwound.
	 */
	const struct arch *compat;
	unsigned word_bytes;
	/* Registers below this DWARF number are general registers. */
	unsigned register_count;
	unsigned sp, fp, ra; /* DWARF numbers; ra is the CFI column of the return address */
	uint64_t preserved;  /* bit n is set if register n is callee-saved (psABI) */
	uint64_t perf_mask;  /* sample_regs_user for the general registers and the pc */
	/* DWARF number, PERF_REG_PC or PERF_REG_NONE by perf number. */
	const uint8_t *perf_to_dwarf;
	unsigned perf_count;
	unsigned perf_sp, perf_pc; /* perf's numbers of the stack pointer and the pc */
	unsigned perf_g;	   /* perf's number of the register that holds Go's g, or 0 */
	bool record_on_top;	   /* the caller's stack starts directly above the frame record */
	/* A leaf keeps its return address in register `ra` (aarch64's lr). */
	bool ra_in_register;
	uint64_t pc_mask; /* bits that a code address can have */
	/*
	 * Address widths in bits of the smaller address spaces, descending,
	 * terminated by 0. The bits of a return address above the width can
	 * hold a signature (pointer authentication on aarch64). NULL if there
	 * are no such signatures.
	 */
	const uint8_t *smaller_spaces;
	/* Returns true if the bytes before a return address end with a call. */
	bool (*ends_with_call)(const unsigned char code[CODE_BYTES]);
	/*
	 * Finds the target of that call. Returns false if the instruction alone
	 * does not determine it.
	 */
	bool (*call_target)(const unsigned char code[CODE_BYTES], uint64_t return_address,
			    uint64_t *ret);
	/* Returns true if the code contains a jump through a register. */
	bool (*has_register_jump)(const unsigned char *code, size_t len);
	/*
	 * Finds the frame sizes that a function with a frame pointer can have,
	 * from its code. A frame size is the number of bytes below the saved
	 * registers; up to *alignment - 1 bytes of padding may be added to it.
	 * Returns the number of sizes, at most `room`, or 0 if the size varies
	 * (alloca). The pointer is NULL if the architecture does not support
	 * this.
	 */
	unsigned (*frame_sizes)(const unsigned char *code, size_t len, uint64_t *sizes,
				unsigned room, unsigned *alignment);
	/*
	 * Returns true if the code sets up a frame pointer: it pushes the
	 * caller's and points its own to the pushed value. *at is the offset of
	 * the first place. NULL if unsupported.
	 */
	bool (*sets_up_fp)(const unsigned char *code, size_t len, size_t *at);
	/*
	 * Returns true if the code may copy the stack pointer to the frame
	 * pointer. NULL if unsupported.
	 */
	bool (*may_set_fp)(const unsigned char *code, size_t len);
	/*
	 * Returns the number of argument bytes that the code after a call pops.
	 */
	unsigned (*popped_bytes)(const unsigned char after_call[CODE_BYTES]);
	/*
	 * Returns the kind of jump at this address, and the target of a direct
	 * jump. NULL if unsupported.
	 */
	enum jump (*jump_at)(const unsigned char *code, size_t len, uint64_t address,
			     uint64_t *target);
	/*
	 * For functions without CFI. If the instruction at the pc belongs to a
	 * prologue or epilogue, returns the number of words pushed above the
	 * return address, otherwise -1.
	 */
	int (*pushed_words)(const unsigned char code[CODE_BYTES]);
	/* Register that holds the pc during and after a system call, or -1. */
	int syscall_pc;
	/*
	 * Returns true if the bytes before the pc end with a system call that
	 * is running or has just returned.
	 */
	bool (*is_after_syscall)(const unsigned char code[CODE_BYTES], const struct regs *regs);
	/*
	 * Returns true if that system call is clone or clone3 and this is the
	 * new thread or process.
	 */
	bool (*is_clone_child)(const unsigned char code[CODE_BYTES], const struct regs *regs);
	/*
	 * Returns true if this is the code that a signal handler returns to:
	 * the rt_sigreturn system call.
	 */
	bool (*is_sigreturn)(const unsigned char code[CODE_BYTES]);
	unsigned sigreturn_bytes; /* length of the sigreturn code */
	const struct signal_frame *signal_frame;
};

enum { PERF_REG_PC = 0xfe, PERF_REG_NONE = 0xff };

extern const struct arch arch_x86_64;
extern const struct arch arch_i386;
extern const struct arch arch_aarch64;
/* Returns the architecture that prof was built for. */
const struct arch *arch_native(void);

/*
 * Converts perf's register dump. `values` holds one u64 per bit of `mask`, in
 * the order of the bits. Returns false if the dump is too short or lacks the pc
 * or the stack pointer.
 */
bool regs_from_perf(const struct arch *arch, uint64_t mask, struct bytes values, struct regs *ret);

#endif
