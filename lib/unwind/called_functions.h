/*
 * Finds where functions start in an x86-64 file without a symbol table.
 *
 * Function starts are the targets of direct calls and of the pointers in the
 * file's data (R_X86_64_RELATIVE). The code is decoded linearly, once. Data
 * between functions can therefore produce wrong targets. Targets that do not
 * look like the start of a function are dropped.
 */
#ifndef PROF_UNWIND_CALLED_FUNCTIONS_H
#define PROF_UNWIND_CALLED_FUNCTIONS_H

#include "elf/elf_file.h"

/*
 * Calls add(user, vaddr) for each target until it returns false. Targets come
 * in any order and may repeat.
 */
void called_functions_find(struct elf_file *elf, bool (*add)(void *user, uint64_t vaddr),
			   void *user);

/*
 * Returns the offset of the last function start in `code`, which starts with a
 * function. It finds functions that are never called directly, too: functions
 * are aligned, and the code before one does not fall through.
 */
size_t called_functions_last(const unsigned char *code, size_t len);

/*
 * Returns true if a function may end with a jump to another function that
 * starts `target` bytes after it. The function must contain a jump to that
 * offset, or a jump through a register or memory.
 */
bool called_functions_may_jump(const unsigned char *code, size_t len, int64_t target);

#endif
