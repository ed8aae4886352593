/*
 * The machine code of a module of a profile: its file, found again where it was recorded or where
 * separate files are kept, and its symbols.
 */
#ifndef PROF_CMD_CODE_H
#define PROF_CMD_CODE_H

#include "cmd/input.h"
#include "symbol/gopclntab.h"
#include "symbol/symtab.h"

struct code {
	struct image *image, *debug; /* debug may be NULL */
	struct symtab *symtab;
	struct gopclntab *go; /* NULL: not a Go program */
	struct arena names;
};

/* The file must have the build-id that the profile knows; where it knows none, code where the
 * profile has it. */
MUST_CHECK struct error *code_open(struct code *code, const struct profile *profile,
				   uint32_t module, const struct input_options *options);
void code_close(struct code *code);

/* The symbol that covers an address; false: none does. */
bool code_symbol(struct code *code, uint64_t vaddr, struct symbol *ret);

#endif
