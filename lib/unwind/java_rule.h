/*
 * Rules for Java code on x86-64: how a frame's caller is found, from the kind of its code blob and,
 * where the frame may not be complete (a leaf in a prologue or epilogue), from the instructions at
 * the pc.
 *
 * HotSpot makes such code from a few patterns, which differ little between versions. They are
 * matched from an instruction's start, so none is found in the middle of another one. Source:
 * x86_64.ad (MachPrologNode, MachEpilogNode), c1_LIRAssembler_x86.cpp,
 * templateInterpreterGenerator_x86.cpp, interp_masm_x86.cpp, sharedRuntime_x86_64.cpp and
 * stubGenerator_x86_64.cpp of OpenJDK 11 to 25.
 */
#ifndef PROF_UNWIND_JAVA_RULE_H
#define PROF_UNWIND_JAVA_RULE_H

#include "unwind/code_cache.h"

enum java_rule_kind {
	JAVA_SIZED, /* frame_bytes above sp; the frame pointer is saved below the return address */
	JAVA_UNSAVED,	/* the same, but the frame pointer is not saved yet */
	JAVA_TOP,	/* only the return address is on the stack */
	JAVA_PUSHED,	/* the frame pointer and the return address */
	JAVA_FP,	/* a frame pointer */
	JAVA_FP_OR_TOP, /* whichever leads to code */
	JAVA_FP_OR_SIZED,
	JAVA_SIZED_OR_FP, /* those that unpack frames align their stack */
	JAVA_INTERPRETER, /* a frame pointer, and the caller's stack pointer below it */
	JAVA_ENTERED,	  /* a frame pointer; the caller's stack pointer is in r13 */
	JAVA_ENTRY,	  /* the return address on the stack or in rax; the rest as above */
	JAVA_RETURNING,	  /* the return address and the caller's stack pointer in registers */
	/*
	 * Not called: frames of a virtual thread that were copied back return here. The real caller
	 * is the first return address above.
	 */
	JAVA_BARRIER,
	JAVA_UNKNOWN,
};

enum { JAVA_ON_STACK = 0xff };

struct java_rule {
	uint8_t kind;
	/* JAVA_RETURNING: registers by DWARF number; JAVA_ON_STACK: it is on top of the stack. */
	uint8_t ra, sp;
	uint32_t frame_bytes; /* JAVA_SIZED, … */
};

/* The code around a pc; zeros where there is none. */
enum { JAVA_CODE_BEFORE = 8, JAVA_CODE_AFTER = 64 };
struct java_code {
	unsigned char before[JAVA_CODE_BEFORE];
	unsigned char after[JAVA_CODE_AFTER];
};

/* Whether the rule depends on the instructions at the pc. */
bool java_rule_needs_code(const struct code_blob *blob, bool is_return_address);
/* code: NULL if it is not needed, or cannot be read. */
struct java_rule java_rule_at(const struct code_blob *blob, const struct method_entries *entries,
			      uint64_t pc, bool is_return_address, const struct java_code *code);

#endif
