/*
 * Rules that find the caller of Java frames on x86-64. A rule follows from the
 * kind of the code blob. If the frame may be incomplete (a leaf in a prologue
 * or epilogue), it also depends on the instructions at the pc.
 *
 * HotSpot generates such code from a few patterns that differ little between
 * versions. The patterns are matched at the start of an instruction, so they
 * cannot match in the middle of another one.
 *
 * Source: x86_64.ad (MachPrologNode, MachEpilogNode), c1_LIRAssembler_x86.cpp,
 * templateInterpreterGenerator_x86.cpp, interp_masm_x86.cpp,
 * sharedRuntime_x86_64.cpp and stubGenerator_x86_64.cpp of OpenJDK 11 to 25.
 */
#ifndef PROF_UNWIND_JAVA_RULE_H
#define PROF_UNWIND_JAVA_RULE_H

#include "unwind/code_cache.h"

enum java_rule_kind {
	/*
	 * The frame ends frame_bytes above sp. The frame pointer is saved below
	 * the return address.
	 */
	JAVA_SIZED,
	/* Like JAVA_SIZED, but the frame pointer is not saved yet. */
	JAVA_UNSAVED,
	JAVA_TOP, /* only the return address is on the stack */
	/* The frame pointer and the return address are on the stack. */
	JAVA_PUSHED,
	JAVA_FP, /* found by the frame pointer */
	/*
	 * By the frame pointer or the top of the stack, whichever leads to
	 * code.
	 */
	JAVA_FP_OR_TOP,
	JAVA_FP_OR_SIZED,
	/* For routines that unpack frames: they align their stack. */
	JAVA_SIZED_OR_FP,
	/*
	 * By the frame pointer. The caller's stack pointer is saved below it.
	 */
	JAVA_INTERPRETER,
	/* By the frame pointer. The caller's stack pointer is in r13. */
	JAVA_ENTERED,
	/*
	 * The return address is on the stack or in rax; otherwise like
	 * JAVA_ENTERED.
	 */
	JAVA_ENTRY,
	/*
	 * The return address and the caller's stack pointer are in registers.
	 */
	JAVA_RETURNING,
	/*
	 * Not called: frames of a virtual thread that were copied back return
	 * here. The real caller is the first return address above.
	 */
	JAVA_BARRIER,
	JAVA_UNKNOWN,
};

enum { JAVA_ON_STACK = 0xff };

struct java_rule {
	uint8_t kind;
	/*
	 * For JAVA_RETURNING: DWARF numbers of registers, or JAVA_ON_STACK for
	 * the value on top of the stack.
	 */
	uint8_t ra, sp;
	uint32_t frame_bytes; /* for the kinds with a frame size */
};

/* The code around a pc. Bytes that cannot be read are zero. */
enum { JAVA_CODE_BEFORE = 8, JAVA_CODE_AFTER = 64 };
struct java_code {
	unsigned char before[JAVA_CODE_BEFORE];
	unsigned char after[JAVA_CODE_AFTER];
};

/* Returns true if the rule depends on the instructions at the pc. */
bool java_rule_needs_code(const struct code_blob *blob, bool is_return_address);
/* `code` may be NULL if it is not needed or cannot be read. */
struct java_rule java_rule_at(const struct code_blob *blob, const struct method_entries *entries,
			      uint64_t pc, bool is_return_address, const struct java_code *code);

#endif
