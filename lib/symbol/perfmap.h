/*
 * Finds symbols of JIT-compiled code in perf-PID.map (proc/jit_map.h). The file
 * consists of lines "START SIZE name" with hexadecimal numbers. Later lines
 * take precedence, except those written after the code was replaced.
 *
 * Source: tools/perf/Documentation/jit-interface.txt.
 */
#ifndef PROF_SYMBOL_PERFMAP_H
#define PROF_SYMBOL_PERFMAP_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	/*
	 * A map grows as long as its process compiles: node's can reach tens of
	 * MB.
	 */
	PERFMAP_BYTES_MAX = 256 << 20,
	/*
	 * Longer lines are truncated. Names can contain all their type
	 * parameters.
	 */
	PERFMAP_LINE_BYTES_MAX = 4096,
	/* Limit for all returned names. Later addresses get no names. */
	PERFMAP_NAMES_BYTES_MAX = 64 << 20,
};

/*
 * Finds the name of each address. `addresses` must be ascending. names[i] is
 * allocated in the arena, or NULL if there is none. Malformed lines are
 * ignored.
 *
 * Lines beyond own_bytes describe code that came later. The first of them names
 * an address that has no other name, because some programs list their code
 * late.
 *
 * `map` must be seekable and at its start. It is read twice; the time depends
 * on its size but hardly on the number of addresses. Returns false if only the
 * first PERFMAP_BYTES_MAX bytes were read.
 */
bool perfmap_find(FILE *map, uint64_t own_bytes, const uint64_t *addresses, size_t count,
		  struct arena *arena, const char **names);

#endif
