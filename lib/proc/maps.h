/*
 * Reads /proc/PID/maps: the executable mappings of a process. Source: proc(5).
 */
#ifndef PROF_PROC_MAPS_H
#define PROF_PROC_MAPS_H

#include "base/bytes.h"
#include "proc/module.h"

enum { MAPS_PATH_MAX = 4096 + 16 }; /* PATH_MAX and " (deleted)" */

struct maps {
	struct bytes rest;
	bool data;	 /* data too, not only code */
	bool executable; /* the last one is code */
	char path[MAPS_PATH_MAX];
};

/*
 * The next executable mapping (see data); false at the end. ret->path is borrowed until the next
 *call.
 *
 *	struct maps maps = {.rest = bytes_of(text, len)};
 *	while (maps_next(&maps, &mapping))
 */
bool maps_next(struct maps *maps, struct mapping *ret);

/*
 * The text of proc/PID/maps, or of a thread's where the first has ended; to be freed. NULL, or
 * len 0, when the process is gone or not ours, or a thread of the kernel.
 */
char *maps_load(const char *proc, pid_t pid, size_t *len);

#endif
