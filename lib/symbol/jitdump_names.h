/*
 * Names and lines of JIT code from a jitdump (proc/jitdump_format.h), by the offset in the file of
 * the bytes of the code. Inlined functions are not in it.
 */
#ifndef PROF_SYMBOL_JITDUMP_NAMES_H
#define PROF_SYMBOL_JITDUMP_NAMES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct listed_line {
	const char *file; /* NULL: unknown */
	uint32_t line;
};

/* Whether the file is one. It is at its start then, and before. */
bool jitdump_names_is(FILE *file);

/*
 * offsets: ascending. names[i], lines[i]: in the arena; a name is NULL if there is none. Damaged
 * records are ignored. False: not all of the file was read, which has a bound (proc/jitdump.h).
 */
bool jitdump_names_find(FILE *file, const uint64_t *offsets, size_t count, struct arena *arena,
			const char **names, struct listed_line *lines);

/* A function in the file. */
struct jitdump_function {
	uint64_t start, end; /* offsets of its code */
	const char *name;    /* in the arena */
};
/*
 * The functions that have these offsets, each once. Returns their number; the caller frees the
 * array.
 */
size_t jitdump_functions_find(FILE *file, const uint64_t *offsets, size_t count,
			      struct arena *arena, struct jitdump_function **ret);

#endif
