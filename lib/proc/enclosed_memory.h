/*
 * Finds executable memory without a file among the mappings of files, in the text of
 * /proc/PID/maps: memory can have replaced a file's text (copied_text.h), and then the other
 * mappings of the file are around it.
 */
#ifndef PROF_PROC_ENCLOSED_MEMORY_H
#define PROF_PROC_ENCLOSED_MEMORY_H

#include "proc/maps.h"

/* Mappings of memory between two of files; of more, the others are skipped. */
enum { ENCLOSED_MAX = 4 };

struct enclosed_memory {
	uint64_t start, end;
	/* Borrowed until the next call; NULL: none. */
	const struct mapping *before, *after;
};

/* Private but for the initialization: {.maps = {.rest = text, .data = true}}. */
struct enclosed_scan {
	struct maps maps;
	struct mapping before, after;
	bool has_before, has_after;
	char path[MAPS_PATH_MAX]; /* of before */
	struct enclosed_memory found[ENCLOSED_MAX];
	size_t count, given;
};

/*
 * The next executable memory that borders on a mapping of a file, or is between two of the same
 * file.
 */
bool enclosed_memory_next(struct enclosed_scan *scan, struct enclosed_memory *ret);

#endif
