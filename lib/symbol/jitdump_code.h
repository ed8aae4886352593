/*
 * The code of a function in a jitdump as an ELF file in memory, so that it can be read as that of
 * any other: its only segment is the function, whose vaddr is its offset in the jitdump.
 */
#ifndef PROF_SYMBOL_JITDUMP_CODE_H
#define PROF_SYMBOL_JITDUMP_CODE_H

#include "base/bytes.h"
#include "elf/elf_file.h"
#include "symbol/jitdump_names.h"

/* Fails if the function is not whole in the file, which may be cut. */
MUST_CHECK struct error *jitdump_code_elf(struct bytes jitdump,
					  const struct jitdump_function *function,
					  struct elf_file **ret);

#endif
