/*
 * Decodes one x86-64 instruction: its length, where it branches to, and its
 * effect on the stack pointer and the frame pointer. Instructions that
 * compilers never emit are not decoded. Source: Intel SDM, volume 2, appendix
 * A.
 */
#ifndef PROF_UNWIND_X86_INSN_H
#define PROF_UNWIND_X86_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x86_effect {
	X86_NOTHING,	 /* no effect on rsp; continues with the next instruction */
	X86_PUSH,	 /* pushes `reg`, or another value if it is X86_NO_REG */
	X86_POP,	 /* pops into `reg` */
	X86_ADD,	 /* adds `value` to rsp */
	X86_FROM_FP,	 /* sets rsp to rbp + `value` */
	X86_COPY_SP,	 /* sets `reg`, which is callee-saved and not rbp, to rsp */
	X86_FROM_COPY,	 /* sets rsp to `reg`, which is callee-saved and not rbp */
	X86_SET_FP,	 /* sets rbp to rsp */
	X86_ZERO_FP,	 /* sets rbp to 0 */
	X86_LEAVE,	 /* sets rsp to rbp and pops rbp */
	X86_SET_SP,	 /* sets rsp to an unknown value */
	X86_STORE,	 /* stores `reg` at rsp + `value` */
	X86_STORE_BY_FP, /* stores `reg` at rbp + `value` */
	X86_LOAD,	 /* loads `reg` from rsp + `value` */
	X86_LOAD_BY_FP,	 /* loads `reg` from rbp + `value` */
	X86_CALL,
	/* Continues at the next instruction or at next + `value`. */
	X86_BRANCH,
	X86_JUMP, /* continues at next + `value` */
	X86_JUMP_INDIRECT,
	X86_RETURN,
	X86_END, /* does not continue: hlt, ud2, int3 */
};

enum { X86_NO_REG = 16 };

struct x86_insn {
	unsigned length;
	enum x86_effect effect;
	unsigned reg; /* register number in instruction encodings: 4 is rsp, 5 is rbp */
	int64_t value;
	/* The instruction may have a callee-saved register as an operand. */
	bool names_saved;
	/* The registers that the instruction may change, one bit each. rsp, rbp
	 * and registers that are not in its encoding can be missing. */
	uint16_t changes;
};

/* Returns false if the instruction is unknown or not completely in the code. */
bool x86_insn_decode(const unsigned char *code, size_t len, struct x86_insn *ret);

#endif
