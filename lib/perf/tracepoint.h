/*
 * Tracepoints: their numbers and formats, read from tracefs, where it is mounted.
 *
 * roots: directories where tracefs may be, NULL-terminated; NULL: those of /proc/self/mounts, and
 * the usual two.
 */
#ifndef PROF_PERF_TRACEPOINT_H
#define PROF_PERF_TRACEPOINT_H

#include "base/error.h"
#include "perf/tracepoint_format.h"

#include <stdbool.h>
#include <stdint.h>

/* Of one pattern. Each needs a descriptor per CPU and thread of the target. */
enum { TRACEPOINTS_MAX = 512 };

/* Whether it is "subsystem:event" of letters, digits, '_' and '-', so that it cannot lead out of
 * tracefs. */
bool tracepoint_is_name(const char *name);
/* The same with '*' and '?' for any letters or one: "syscalls:sys_enter_*". */
bool tracepoint_is_pattern(const char *name);

/* The perf_event_attr.config of a tracepoint. */
MUST_CHECK struct error *tracepoint_id(const char *name, const char *const *roots, uint64_t *ret);
/* *ret is to be freed with tracepoint_format_deinit(). */
MUST_CHECK struct error *tracepoint_read_format(const char *name, const char *const *roots,
						struct tracepoint_format *ret);
/* A file of the directory of events: "header_page", "sched/sched_switch/format". The caller frees
 * it. */
MUST_CHECK struct error *tracepoint_read_text(const char *path, const char *const *roots,
					      char **ret);

/* Zeroed: empty. */
struct tracepoint_names {
	char **items; /* "subsystem:event", sorted */
	size_t count, room;
};
void tracepoint_names_deinit(struct tracepoint_names *names);
/* The tracepoints that match, of all subsystems; *ret is empty if there are none. */
MUST_CHECK struct error *tracepoint_list(const char *pattern, const char *const *roots,
					 struct tracepoint_names *ret);

#endif
