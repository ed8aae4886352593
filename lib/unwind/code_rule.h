/*
 * Derives the rule for an address in x86-64 code without call frame information
 * from the machine code of its function. musl's C library is built without CFI,
 * for example.
 *
 * The analysis follows all paths from the function's first instruction. For
 * each path it tracks how many bytes are pushed and where callee-saved
 * registers are saved. For code that follows the psABI, a rule is correct or is
 * not returned. If the function has a frame pointer (cfi_rule.has_frame), the
 * rule is correct even if callees pop their arguments.
 *
 * There is no rule for:
 * - a function in which two paths disagree, or a path returns with bytes still
 *   pushed;
 * - code that no path reaches, such as the cases of a switch that only a jump
 *   table leads to;
 * - code after a call that may not return, in a function with a jump table,
 *   because the code may belong to another path;
 * - code that sets the stack pointer to a value known only at run time
 *   (longjmp), unless the function has a frame pointer or has copied the stack
 *   pointer to a register that it does not change, as OpenBLAS does;
 * - a function that never returns and saves no register, if it uses a register
 *   that it would have to save or has pushed nothing. It may run in the frame
 *   of another function (owners.h).
 *
 * Code that has popped its own return address and set rbp to 0 is the start of
 * a thread (clone), so its return address is undefined.
 */
#ifndef PROF_UNWIND_CODE_RULE_H
#define PROF_UNWIND_CODE_RULE_H

#include "unwind/cfi_rule.h"

#include <stddef.h>

/* Larger functions are not analyzed. */
enum { CODE_RULE_BYTES_MAX = 64 << 10 };

struct code_rule;

struct code_rule *code_rule_new(void);
void code_rule_free(struct code_rule *finder);

/*
 * Analyzes a function of `len` bytes at `code`, which is borrowed for the call.
 * is_sized: the function is known to end after `len` bytes; otherwise calls are
 * assumed not to return. *steps is the number of instructions that may be
 * decoded; it is reduced by those that were. Returns false if it reaches 0, or
 * if there are no rules.
 */
bool code_rule_analyze(struct code_rule *finder, const unsigned char *code, size_t len,
		       bool is_sized, unsigned *steps);
/* Returns the rule at an offset in the function that was analyzed last, which
 * has rules. */
bool code_rule_find(const struct code_rule *finder, size_t at, struct cfi_rule *ret);

#endif
