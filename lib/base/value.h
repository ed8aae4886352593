/*
 * Value types: what the numbers of an event measure, and how people read them.
 *
 * An event has a name ("cpu-clock", "alloc_space"), the unit of its values ("nanoseconds", "bytes",
 * "count") and a kind. The kind decides every heading and every figure: nothing is called CPU time
 * that is not VALUE_CPU_TIME. What prof records has the usual unit of its kind; other profilers'
 * files have any unit, whose kind value_kind_of() finds.
 * Source: sample types of pprof profiles,
 * https://github.com/google/pprof/blob/main/proto/README.md; of Go, async-profiler, Pyroscope,
 * Parca and Datadog.
 */
#ifndef PROF_BASE_VALUE_H
#define PROF_BASE_VALUE_H

#include "base/humanize.h"

#include <stdbool.h>
#include <stdint.h>

enum value_kind {
	VALUE_COUNT, /* of what the event is called after: page-faults, contentions */
	VALUE_CPU_TIME,
	VALUE_WALL_TIME,
	VALUE_OFF_CPU_TIME, /* waiting: for locks, I/O, a CPU */
	VALUE_BYTES,
	VALUE_OBJECTS, /* allocated or in use */
};

/* The name of the event of this kind that prof records. */
#define VALUE_OFF_CPU_EVENT "off-cpu"
/* Page faults, weighed by the bytes of a page: where resident memory grows, whatever allocates it.
 * A fault that maps a huge page counts as one page. */
#define VALUE_GROWTH_EVENT "growth"
/* The event of what asynchronous tasks wait for. Its kind is wall time: a thread has many tasks. */
#define VALUE_AWAIT_EVENT "await"

enum { VALUE_KINDS = VALUE_OBJECTS + 1 };

/* The kind of an event of a file, by the names in use: ("cpu", "nanoseconds") is CPU time. A time
 * of an unknown name is wall time; what has another unit is a count. */
enum value_kind value_kind_of(const char *name, const char *unit);

/* For programs: "cpu-time", "wall-time", "off-cpu-time", "bytes", "objects", "count". */
const char *value_kind_name(enum value_kind kind);
/* The unit of what prof records of this kind: "nanoseconds", "bytes", "count". */
const char *value_unit(enum value_kind kind);
bool value_is_time(enum value_kind kind);

/* The title of a column of values: "CPU time", "Bytes"; of a count the event's own name. */
const char *value_heading(enum value_kind kind, const char *event);
/* The same within a sentence: "wall time", "bytes". */
const char *value_words(enum value_kind kind, const char *event);

/* A value of this unit ("" is the usual one of its kind) in nanoseconds or bytes; a count is
 * itself. UINT64_MAX is as much or more. */
uint64_t value_scaled(enum value_kind kind, const char *unit, uint64_t value);
/* "1.25 s", "4.2 MB", "12,345". */
struct humanized value_humanize(enum value_kind kind, const char *unit, uint64_t value);

#endif
