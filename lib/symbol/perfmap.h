/*
 * Symbols of JIT-compiled code from perf-PID.map (proc/jit_map.h): lines of "START SIZE name" in
 * hexadecimal; later lines win, but those after the code was replaced. Source:
 * tools/perf/Documentation/jit-interface.txt.
 */
#ifndef PROF_SYMBOL_PERFMAP_H
#define PROF_SYMBOL_PERFMAP_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	/* A map grows for as long as its process compiles: node's reach tens of MB in a day. */
	PERFMAP_BYTES_MAX = 256 << 20,
	/* Longer lines are cut: names with all their type parameters. */
	PERFMAP_LINE_BYTES_MAX = 4096,
	/* Of the names that are given; later addresses get none. A million of the usual length. */
	PERFMAP_NAMES_BYTES_MAX = 64 << 20,
};

/*
 * own_bytes: later lines are of code that came later; of these the first names an address that has
 * no other, as some programs list their code late. addresses: ascending. names[i]: in the arena;
 * NULL if none. Malformed lines are ignored. map: seekable, at its start; it is read twice, in time
 * that grows with its size but hardly with the number of addresses. False: only its first
 * PERFMAP_BYTES_MAX were read.
 */
bool perfmap_find(FILE *map, uint64_t own_bytes, const uint64_t *addresses, size_t count,
		  struct arena *arena, const char **names);

#endif
