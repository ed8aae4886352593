/*
 * The rule of an address in x86-64 code without call frame information, from the machine code of
 * its function: all paths from the function's first instruction are followed, with the number of
 * bytes that each has pushed and where it saved callee-saved registers. musl's C library is built
 * so.
 *
 * A rule is either right or not given, for code that keeps to the psABI. There is none
 *  - for a function in which two paths disagree, or reach a return with bytes that were not popped;
 *  - for code that no path reaches (only a jump table leads to the cases of many a switch), and in
 * a function with a jump table after a call that perhaps does not return: the code after it may
 * belong to another path;
 *  - for code that sets the stack pointer to what only runs tell (longjmp), unless the function
 *    has a frame pointer;
 *  - in a function that neither returns nor saves a register, but uses one that it would have to
 *    save, or has pushed nothing: it may run in the frame of another one (owners.h).
 * Code that has popped its own return address and set rbp to 0 is a thread's start (clone): its
 * return address is undefined.
 */
#ifndef PROF_UNWIND_CODE_RULE_H
#define PROF_UNWIND_CODE_RULE_H

#include "unwind/cfi_rule.h"

#include <stddef.h>

/* Larger functions are not looked at. */
enum { CODE_RULE_BYTES_MAX = 8 << 10 };

struct code_rule;

struct code_rule *code_rule_new(void);
void code_rule_free(struct code_rule *finder);

/*
 * code: of a function, `len` bytes of it; `at`: where in it. is_sized: the function is known to end
 * there; else calls are not taken to return. *steps is the number of instructions that may be
 * looked at, and then is what is left of them: with 0 left the result is false.
 */
bool code_rule_find(struct code_rule *finder, const unsigned char *code, size_t len, bool is_sized,
		    size_t at, unsigned *steps, struct cfi_rule *ret);

#endif
