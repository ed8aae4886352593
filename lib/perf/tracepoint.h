/*
 * Reads the ids and formats of tracepoints from tracefs, wherever it is
 * mounted.
 *
 * roots is a NULL-terminated list of directories where tracefs may be. If it is
 * NULL, the directories are those of /proc/self/mounts and the two usual ones.
 */
#ifndef PROF_PERF_TRACEPOINT_H
#define PROF_PERF_TRACEPOINT_H

#include "base/error.h"
#include "perf/tracepoint_format.h"

#include <stdbool.h>
#include <stdint.h>

/* Maximum number for a pattern. Each needs a descriptor per CPU and thread. */
enum { TRACEPOINTS_MAX = 512 };

/* Returns whether the name is "subsystem:event" of letters, digits, '_' and
 * '-', so that it cannot escape from tracefs. */
bool tracepoint_is_name(const char *name);
/* Like tracepoint_is_name(), but also allows the wildcards '*' and '?':
 * "syscalls:sys_enter_*". */
bool tracepoint_is_pattern(const char *name);

/* Returns the perf_event_attr.config of a tracepoint in *ret. */
MUST_CHECK struct error *tracepoint_id(const char *name, const char *const *roots, uint64_t *ret);
/* The caller frees *ret with tracepoint_format_deinit(). */
MUST_CHECK struct error *tracepoint_read_format(const char *name, const char *const *roots,
						struct tracepoint_format *ret);
/* Reads a file of the events directory: "header_page",
 * "sched/sched_switch/format". The caller frees it. */
MUST_CHECK struct error *tracepoint_read_text(const char *path, const char *const *roots,
					      char **ret);

/* Zeroed: empty. */
struct tracepoint_names {
	char **items; /* "subsystem:event", sorted */
	size_t count, room;
};
void tracepoint_names_deinit(struct tracepoint_names *names);
/* Lists the matching tracepoints of all subsystems. *ret is empty if none
 * match. */
MUST_CHECK struct error *tracepoint_list(const char *pattern, const char *const *roots,
					 struct tracepoint_names *ret);

#endif
