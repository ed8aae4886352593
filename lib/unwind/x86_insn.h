/*
 * One instruction of x86-64: its length, where it leads, and what it does to the stack pointer and
 * to the frame pointer. Source: Intel SDM, volume 2, appendix A. What compilers never emit is not
 * decoded: it fails.
 */
#ifndef PROF_UNWIND_X86_INSN_H
#define PROF_UNWIND_X86_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x86_effect {
	X86_NOTHING,	 /* to rsp, and goes on to the next instruction */
	X86_PUSH,	 /* `reg`, or what else: X86_NO_REG */
	X86_POP,	 /* into `reg` */
	X86_ADD,	 /* `value` to rsp */
	X86_FROM_FP,	 /* rsp becomes rbp + `value` */
	X86_SET_FP,	 /* rbp becomes rsp */
	X86_ZERO_FP,	 /* rbp becomes 0 */
	X86_LEAVE,	 /* rsp becomes rbp, and rbp is popped */
	X86_SET_SP,	 /* to what is not known */
	X86_STORE,	 /* `reg` at rsp + `value` */
	X86_STORE_BY_FP, /* `reg` at rbp + `value` */
	X86_LOAD,	 /* `reg` from rsp + `value` */
	X86_LOAD_BY_FP,	 /* `reg` from rbp + `value` */
	X86_CALL,
	X86_BRANCH, /* to the next instruction, or to next + `value` */
	X86_JUMP,   /* to next + `value` */
	X86_JUMP_INDIRECT,
	X86_RETURN,
	X86_END, /* does not go on: hlt, ud2, int3 */
};

enum { X86_NO_REG = 16 };

struct x86_insn {
	unsigned length;
	enum x86_effect effect;
	unsigned reg; /* as instructions number them: 4 is rsp, 5 rbp */
	int64_t value;
	bool names_saved; /* perhaps: has a callee-saved register as an operand */
};

/* False if it is not known, or not all in the code. */
bool x86_insn_decode(const unsigned char *code, size_t len, struct x86_insn *ret);

#endif
