/*
 * Finds names and lines of JIT code in a jitdump (proc/jitdump_format.h).
 * Addresses are the offsets of code bytes in the file. A jitdump does not
 * contain inlined functions.
 */
#ifndef PROF_SYMBOL_JITDUMP_NAMES_H
#define PROF_SYMBOL_JITDUMP_NAMES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct listed_line {
	const char *file; /* NULL if unknown */
	uint32_t line;
};

/*
 * Returns true if the file is a jitdump. The file must be positioned at its
 * start and stays there.
 */
bool jitdump_names_is(FILE *file);

/*
 * Finds the name and line of each offset. `offsets` must be ascending. Results
 * are allocated in the arena; names[i] is NULL if there is no name. Malformed
 * records are ignored. Returns false if only a part of the file was read
 * because it is too large (proc/jitdump.h).
 */
bool jitdump_names_find(FILE *file, const uint64_t *offsets, size_t count, struct arena *arena,
			const char **names, struct listed_line *lines);

/* A function in a jitdump. */
struct jitdump_function {
	uint64_t start, end; /* offsets of its code */
	const char *name;    /* allocated in the arena */
};
/*
 * Finds the functions that cover these offsets, without duplicates. Returns
 * their number. The caller frees the array.
 */
size_t jitdump_functions_find(FILE *file, const uint64_t *offsets, size_t count,
			      struct arena *arena, struct jitdump_function **ret);

#endif
