/*
 * Names of code made at run time: perf-PID.map, "START SIZE name" a line, in hexadecimal. Later
 * lines win. Source: tools/perf/Documentation/jit-interface.txt.
 */
#ifndef PROF_SYMBOL_PERFMAP_H
#define PROF_SYMBOL_PERFMAP_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * The map that process pid has written: /tmp/perf-PID.map by its own view of the file system and by
 * its own pid (the last NSpid of PROC/PID/status); once it is gone, ours. NULL: there is none.
 * proc: usually "/proc".
 */
FILE *perfmap_open(const char *proc, pid_t pid);

/* addresses: ascending. names[i]: in the arena; NULL: none. Lines that are no such lines are passed
 * over. */
void perfmap_find(FILE *map, const uint64_t *addresses, size_t count, struct arena *arena,
		  const char **names);

#endif
