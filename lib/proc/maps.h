/*
 * Parses /proc/PID/maps, for the executable mappings of a process. Source:
 * proc(5).
 */
#ifndef PROF_PROC_MAPS_H
#define PROF_PROC_MAPS_H

#include "base/bytes.h"
#include "base/time_share.h"
#include "proc/mapping.h"

enum { MAPS_PATH_MAX = 4096 + 16 }; /* PATH_MAX and " (deleted)" */

struct maps {
	struct bytes rest;
	bool data;	 /* also return data mappings */
	bool executable; /* the last mapping is executable */
	char path[MAPS_PATH_MAX];
};

/*
 * Returns the next executable mapping (or any, if `data` is set). Returns false
 * at the end. ret->path is borrowed until the next call.
 *
 * 	struct maps maps = {.rest = bytes_of(text, len)};
 * 	while (maps_next(&maps, &mapping))
 */
bool maps_next(struct maps *maps, struct mapping *ret);

/*
 * Returns the text of /proc/PID/maps, or of another thread's maps if the main
 * thread has ended. The text is truncated at 32 MB, and the caller frees it.
 * Returns NULL, or sets *len to 0, if the process has ended, is inaccessible,
 * or is a kernel thread.
 */
char *maps_load(const char *proc, pid_t pid, size_t *len);
/*
 * Like maps_load(), truncated after the last line that ends within max_bytes.
 */
char *maps_load_some(const char *proc, pid_t pid, size_t max_bytes, size_t *len);
/*
 * Like maps_load(), for callers that read the mappings of many processes. The
 * caller charges the time for this call, and for using the text, to `share`,
 * which allows a fifth of the time. Beyond that, only the first 64 KiB of each
 * process are read (about 500 mappings). *is_cut is set if there are more.
 */
char *maps_load_within(struct time_share *share, const char *proc, pid_t pid, size_t *len,
		       bool *is_cut);

#endif
