/*
 * The code of functions as text: the instructions of those functions of an ELF file that cover
 * given addresses, with the names of the functions that they lead to. Or of a jitdump
 * (proc/jitdump_format.h), where addresses are offsets in the file.
 *
 * One process writes a listing as bytes, another reads them (symbol/code_lister.h).
 */
#ifndef PROF_SYMBOL_CODE_LISTING_H
#define PROF_SYMBOL_CODE_LISTING_H

#include "base/bytes.h"
#include "elf/debugfile.h"

#include <stdbool.h>
#include <stdint.h>

struct listed_instruction {
	uint64_t vaddr;
	uint64_t size_bytes;
	const char *text; /* "mov\trax, rbx": printable ASCII and a tab */
	/* Name of the function that a direct jump or call leads to; "": none, or its own. */
	const char *target;
};

struct listed_function {
	uint64_t vaddr, end;
	struct listed_instruction *items; /* consecutive; all that is not code is a ".byte" */
	size_t count;
};

/* Strings point into `bytes`. */
struct code_listing {
	struct listed_function *functions; /* ascending */
	size_t count, room;
	char *bytes;
};

/*
 * Takes bytes, allocated with malloc(), also on failure, and treats them as hostile. NULL if they
 * are not a listing. Memory is at most twelve times len.
 */
struct code_listing *code_listing_read(char *bytes, size_t len);
void code_listing_free(struct code_listing *listing);
DEFINE_CLEANUP(code_listing, code_listing_free)

struct code_listing_request {
	struct elf_file *elf; /* NULL: of the jitdump */
	struct bytes jitdump; /* all of it */
	const char *name;     /* of the file, for messages */
	struct debugfile_opener opener;
	const uint64_t *vaddrs; /* ascending */
	size_t count;
	bool intel_syntax;
};

/* The bytes of a listing, which the caller frees. Fails as disassembly_init() does. */
MUST_CHECK struct error *code_listing_write(const struct code_listing_request *request, char **ret,
					    size_t *len);

#endif
