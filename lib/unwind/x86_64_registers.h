/*
 * DWARF numbers of the registers of x86-64. Source: psABI x86-64, figure 3.36.
 */
#ifndef PROF_UNWIND_X86_64_REGISTERS_H
#define PROF_UNWIND_X86_64_REGISTERS_H

enum {
	RAX,
	RDX,
	RCX,
	RBX,
	RSI,
	RDI,
	RBP,
	RSP,
	R8,
	R12 = 12,
	R13,
	RETURN_ADDRESS = 16,
};

#endif
