/* Parses /proc/PID/maps: the executable mappings of a process. Source: proc(5). */
#ifndef PROF_PROC_MAPS_H
#define PROF_PROC_MAPS_H

#include "base/bytes.h"
#include "base/time_share.h"
#include "proc/mapping.h"

enum { MAPS_PATH_MAX = 4096 + 16 }; /* PATH_MAX and " (deleted)" */

struct maps {
	struct bytes rest;
	bool data;	 /* also yield data mappings */
	bool executable; /* the last mapping is executable */
	char path[MAPS_PATH_MAX];
};

/*
 * The next executable mapping (any, if `data` is set); false at the end. ret->path is borrowed
 * until the next call.
 *
 *	struct maps maps = {.rest = bytes_of(text, len)};
 *	while (maps_next(&maps, &mapping))
 */
bool maps_next(struct maps *maps, struct mapping *ret);

/*
 * The text of /proc/PID/maps, or of a thread's if the first thread has ended; the caller frees it.
 * Cut at 32 MB.
 * NULL, or len 0, if the process has ended, is not accessible, or is a kernel thread.
 */
char *maps_load(const char *proc, pid_t pid, size_t *len);
/* The same, cut after the last line that ends within max_bytes. */
char *maps_load_some(const char *proc, pid_t pid, size_t max_bytes, size_t *len);
/*
 * Loads the text for those who read the mappings of many processes: a fifth of the time may be
 * spent, by the caller, on what this takes and on what is done with the text. Beyond that, the
 * first 64 KiB of each process are read, which are 500 mappings. is_cut: there are more than were
 * read.
 */
char *maps_load_within(struct time_share *share, const char *proc, pid_t pid, size_t *len,
		       bool *is_cut);

#endif
