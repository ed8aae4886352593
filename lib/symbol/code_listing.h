/*
 * Disassembles functions: lists the instructions of those functions of an ELF
 * file that cover given addresses, with the names of the functions that they
 * branch to. The file can also be a jitdump (proc/jitdump_format.h), where
 * addresses are offsets in the file.
 *
 * One process writes a listing as bytes, another process reads it
 * (symbol/code_lister.h).
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
	/*
	 * Name of the function that a direct jump or call leads to. "" if there
	 * is none or it is the same function.
	 */
	const char *target;
};

struct listed_function {
	uint64_t vaddr, end;
	/* Consecutive; bytes that are not code are ".byte". */
	struct listed_instruction *items;
	size_t count;
};

/* The strings point into `bytes`. */
struct code_listing {
	struct listed_function *functions; /* ascending */
	size_t count, room;
	char *bytes;
};

/*
 * Parses a listing that may be malicious. Takes ownership of `bytes`, which
 * must come from malloc(), even on failure. Returns NULL if the bytes are not a
 * listing. Uses at most 12 * len bytes of memory.
 */
struct code_listing *code_listing_read(char *bytes, size_t len);
void code_listing_free(struct code_listing *listing);
DEFINE_CLEANUP(code_listing, code_listing_free)

struct code_listing_request {
	struct elf_file *elf; /* NULL for code in the jitdump */
	struct bytes jitdump; /* the whole file */
	const char *name;     /* file name for messages */
	struct debugfile_opener opener;
	const uint64_t *vaddrs; /* ascending */
	size_t count;
	bool intel_syntax;
};

/*
 * Returns the bytes of a listing, which the caller frees. Fails like
 * disassembly_init().
 */
MUST_CHECK struct error *code_listing_write(const struct code_listing_request *request, char **ret,
					    size_t *len);

#endif
