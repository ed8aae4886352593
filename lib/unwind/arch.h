/*
 * Architectures: what unwinding needs to know about registers, their numbers in perf and DWARF,
 * and the machine code of calls and prologues.
 *
 * Each architecture is a file arch_<name>.c with one const struct. All are compiled on every
 * machine, so that recorded stacks of another architecture can be unwound in tests. Sources:
 * asm/perf_regs.h of the kernel; System V psABI x86-64, 3.2 and figure 3.36; DWARF for the Arm
 * 64-bit architecture (AADWARF64), 4.1, and AAPCS64, 6.1.1; struct rt_sigframe and struct
 * sigcontext of the kernel.
 */
#ifndef PROF_UNWIND_ARCH_H
#define PROF_UNWIND_ARCH_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

enum { REGS_MAX = 33 };

/* Register values by DWARF number; values[n] is valid if bit n of `known` is set. */
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
 * The kernel's signal frame: where the interrupted registers are saved, as offsets from sp after
 * the handler has returned; 0: not saved.
 */
struct signal_frame {
	uint16_t regs[REGS_MAX]; /* by DWARF number */
	uint16_t pc;
};

/* Number of bytes of machine code that the predicates below look at. */
enum { CODE_BYTES = 8 };

/* A jump in machine code. */
enum jump { JUMP_NONE, JUMP_DIRECT, JUMP_INDIRECT };

struct arch {
	const char *name;
	const struct arch *compat; /* the architecture of its 32-bit processes; NULL: not unwound */
	unsigned word_bytes;
	unsigned register_count; /* DWARF numbers below this are general registers */
	unsigned sp, fp, ra;	 /* DWARF numbers; ra: the column of the return address in CFI */
	uint64_t preserved;	 /* bit n: register n is callee-saved (psABI) */
	uint64_t perf_mask;	 /* sample_regs_user for all of them and the pc */
	const uint8_t
		*perf_to_dwarf; /* by perf number; PERF_REG_PC for the pc, PERF_REG_NONE for none */
	unsigned perf_count;
	unsigned perf_sp, perf_pc; /* perf's numbers of the stack pointer and the pc */
	unsigned perf_g;	   /* of the register in which Go keeps its g; 0: none */
	bool record_on_top;	   /* the caller's stack begins directly above the frame record */
	bool ra_in_register;	   /* a leaf's return address is in register `ra` (aarch64's lr) */
	uint64_t pc_mask;	   /* bits that an address of code can have */
	/*
	 * The numbers of bits of smaller address spaces, descending, ending with 0: above them
	 * return addresses can have a signature (pointer authentication on aarch64). NULL: none.
	 */
	const uint8_t *smaller_spaces;
	/* True if the bytes before a return address end with a call. */
	bool (*ends_with_call)(const unsigned char code[CODE_BYTES]);
	/* The target of that call; false if the instruction alone does not tell. */
	bool (*call_target)(const unsigned char code[CODE_BYTES], uint64_t return_address,
			    uint64_t *ret);
	/* True if there is a jump through a register in the code. */
	bool (*has_register_jump)(const unsigned char *code, size_t len);
	/*
	 * The numbers of bytes that a function with a frame pointer can have below its saved
	 * registers, by its code, up to `room`; and up to *alignment - 1 more. 0: they vary
	 * (alloca). NULL: unknown.
	 */
	unsigned (*frame_sizes)(const unsigned char *code, size_t len, uint64_t *sizes,
				unsigned room, unsigned *alignment);
	/*
	 * Whether the code sets up a frame pointer, and where the first time: it pushes the
	 * caller's, which its own then points to. NULL: unknown.
	 */
	bool (*sets_up_fp)(const unsigned char *code, size_t len, size_t *at);
	/* The bytes of arguments that the code after a call pops. */
	unsigned (*popped_bytes)(const unsigned char after_call[CODE_BYTES]);
	/* Whether code at this address is a jump, and where a direct one goes. NULL: unknown. */
	enum jump (*jump_at)(const unsigned char *code, size_t len, uint64_t address,
			     uint64_t *target);
	/*
	 * For functions without CFI: if the instruction at the pc belongs to a prologue or
	 * epilogue, the number of words pushed above the return address; else -1.
	 */
	int (*pushed_words)(const unsigned char code[CODE_BYTES]);
	/*
	 * True if the bytes before the pc end with a system call that is running or has just
	 * returned.
	 */
	int syscall_pc; /* the register that then holds the pc; -1: none */
	bool (*is_after_syscall)(const unsigned char code[CODE_BYTES], const struct regs *regs);
	/* True if that call is clone or clone3 and this is the new thread or process. */
	bool (*is_clone_child)(const unsigned char code[CODE_BYTES], const struct regs *regs);
	/*
	 * True if this is the code that a signal handler returns to: the system call rt_sigreturn.
	 */
	bool (*is_sigreturn)(const unsigned char code[CODE_BYTES]);
	unsigned sigreturn_bytes; /* its length */
	const struct signal_frame *signal_frame;
};

enum { PERF_REG_PC = 0xfe, PERF_REG_NONE = 0xff };

extern const struct arch arch_x86_64;
extern const struct arch arch_i386;
extern const struct arch arch_aarch64;
/* The architecture prof was built for. */
const struct arch *arch_native(void);

/*
 * Converts perf's register dump (values: u64s in the order of mask's bits). False if it is too
 * short or lacks the pc or the stack pointer.
 */
bool regs_from_perf(const struct arch *arch, uint64_t mask, struct bytes values, struct regs *ret);

#endif
