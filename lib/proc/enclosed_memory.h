/*
 * Finds executable memory without a file among mappings of files, in the text
 * of /proc/PID/maps. Such memory may have replaced a file's text
 * (copied_text.h), and the file's other mappings are then around it.
 */
#ifndef PROF_PROC_ENCLOSED_MEMORY_H
#define PROF_PROC_ENCLOSED_MEMORY_H

#include "proc/maps.h"

/*
 * The maximum number of memory mappings between two of files. Further ones are
 * skipped.
 */
enum { ENCLOSED_MAX = 4 };

struct enclosed_memory {
	uint64_t start, end;
	/* Borrowed until the next call. NULL if there is none. */
	const struct mapping *before, *after;
};

/*
 * Private, except for the initialization: {.maps = {.rest = text, .data =
 * true}}.
 */
struct enclosed_scan {
	struct maps maps;
	struct mapping before, after;
	bool has_before, has_after;
	char path[MAPS_PATH_MAX]; /* for `before` */
	struct enclosed_memory found[ENCLOSED_MAX];
	size_t count, given;
};

/*
 * Returns the next executable memory that is adjacent to a mapping of a file,
 * or between two of the same file.
 */
bool enclosed_memory_next(struct enclosed_scan *scan, struct enclosed_memory *ret);

#endif
