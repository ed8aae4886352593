/*
 * Presents the code of a function in a jitdump as an ELF file in memory, so
 * that it can be read like any other code. The file's only segment is the
 * function; its vaddr is its offset in the jitdump.
 */
#ifndef PROF_SYMBOL_JITDUMP_CODE_H
#define PROF_SYMBOL_JITDUMP_CODE_H

#include "base/bytes.h"
#include "elf/elf_file.h"
#include "symbol/jitdump_names.h"

/*
 * Fails if the jitdump, which may be truncated, does not contain the whole
 * function.
 */
MUST_CHECK struct error *jitdump_code_elf(struct bytes jitdump,
					  const struct jitdump_function *function,
					  struct elf_file **ret);

#endif
