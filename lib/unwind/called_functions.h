/*
 * Where the functions of a file without a symbol table begin: where its direct calls and the
 * pointers in its data lead (R_X86_64_RELATIVE). All code is decoded once, one instruction after
 * the other, so a target can be wrong where data lies between functions; one that does not look
 * like the beginning of a function is left out. Of x86-64.
 */
#ifndef PROF_UNWIND_CALLED_FUNCTIONS_H
#define PROF_UNWIND_CALLED_FUNCTIONS_H

#include "elf/elf_file.h"

/* Calls add(user, vaddr) of each target, in any order and repeatedly, until it is false. */
void called_functions_find(struct elf_file *elf, bool (*add)(void *user, uint64_t vaddr),
			   void *user);

/*
 * In code from the beginning of a function on: where the last function begins, of those that no
 * call leads to, too. They are aligned, and the code before them does not go on.
 */
size_t called_functions_last(const unsigned char *code, size_t len);

#endif
