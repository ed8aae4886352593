/*
 * Turns what the sources of a module say about addresses into lines for people. Each thread has a
 * namer of its own, which reads every distinct linker name once.
 */
#ifndef PROF_SYMBOL_NAMER_H
#define PROF_SYMBOL_NAMER_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "symbol/source.h"

#include <stddef.h>
#include <stdint.h>

/* One function at one place. Strings live as long as the namer and the sources. */
struct named_line {
	const char *name;
	const char *system_name;
	const char *file; /* "" when unknown */
	uint32_t start_line, line;
};

/* Innermost first; count 0: nothing names the address. */
struct naming {
	const struct named_line *lines;
	unsigned count;
};

struct namer;

struct namer *namer_new(void);
void namer_free(struct namer *namer);
DEFINE_CLEANUP(namer, namer_free)

/* For what chains are allocated in: namings point into it. */
struct arena *namer_arena(struct namer *namer);

/* vaddr: in the source's file. chain: what its DWARF or Go's table says of it, maybe nothing. */
struct naming namer_name(struct namer *namer, const struct source *source, uint64_t vaddr,
			 struct inline_chain chain);
/* What a list says; name NULL: nothing. */
struct naming namer_name_listed(struct namer *namer, const char *name);

#endif
