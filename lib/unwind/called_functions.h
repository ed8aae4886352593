/*
 * Where the functions of a file without a symbol table begin: where its direct calls lead. All code
 * is decoded once, one instruction after the other, so a target can be wrong where data lies
 * between functions; one that does not look like the beginning of a function is left out. Of
 * x86-64.
 */
#ifndef PROF_UNWIND_CALLED_FUNCTIONS_H
#define PROF_UNWIND_CALLED_FUNCTIONS_H

#include "elf/elf_file.h"

/* Calls add(user, vaddr) of each target, in any order and repeatedly, until it is false. */
void called_functions_find(struct elf_file *elf, bool (*add)(void *user, uint64_t vaddr),
			   void *user);

#endif
