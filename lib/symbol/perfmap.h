/*
 * Names of code made at run time: /tmp/perf-PID.map, "START SIZE name" a line, in hexadecimal.
 * Later lines win. Source: tools/perf/Documentation/jit-interface.txt.
 */
#ifndef PROF_SYMBOL_PERFMAP_H
#define PROF_SYMBOL_PERFMAP_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* As kallsyms_find(). Lines that are no such lines are passed over. */
void perfmap_find(FILE *map, const uint64_t *addresses, size_t count, struct arena *arena,
		  const char **names);

#endif
