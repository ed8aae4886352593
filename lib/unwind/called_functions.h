/*
 * Where the functions of a file without a symbol table begin: where its direct calls and the
 * pointers in its data lead (R_X86_64_RELATIVE). All code is decoded once, one instruction after
 * the other, so a target can be wrong where data lies between functions; one that does not look
 * like the start of a function is omitted. For x86-64.
 */
#ifndef PROF_UNWIND_CALLED_FUNCTIONS_H
#define PROF_UNWIND_CALLED_FUNCTIONS_H

#include "elf/elf_file.h"

/* Calls add(user, vaddr) of each target, in any order and repeatedly, until it is false. */
void called_functions_find(struct elf_file *elf, bool (*add)(void *user, uint64_t vaddr),
			   void *user);

/*
 * Code starts with a function. Returns the offset at which the last function in it starts, also if
 * no call leads to that: functions are aligned, and the code before one does not go on.
 */
size_t called_functions_last(const unsigned char *code, size_t len);

/*
 * Whether a function may end with a jump to another one, which starts `target` bytes after it: it
 * has a jump to there, or one through a register or memory.
 */
bool called_functions_may_jump(const unsigned char *code, size_t len, int64_t target);

#endif
