/*
 * Value types: what the numbers of an event measure, and how they are
 * displayed.
 *
 * An event has a name ("cpu-clock", "alloc_space"), the unit of its values
 * ("nanoseconds", "bytes", "count") and a kind. The kind determines every
 * heading and number format: only VALUE_CPU_TIME is called CPU time. Events
 * that prof records have the default unit of their kind. Files of other
 * profilers can have any unit; value_kind_of() finds the kind. Source: sample
 * types of pprof profiles,
 * https://github.com/google/pprof/blob/main/proto/README.md; of Go,
 * async-profiler, Pyroscope, Parca and Datadog.
 */
#ifndef PROF_BASE_VALUE_H
#define PROF_BASE_VALUE_H

#include "base/humanize.h"

#include <stdbool.h>
#include <stdint.h>

enum value_kind {
	VALUE_COUNT, /* a number of what the event's name means: page-faults, contentions */
	VALUE_CPU_TIME,
	VALUE_WALL_TIME,
	VALUE_OFF_CPU_TIME, /* waiting for locks, I/O, a CPU */
	VALUE_BYTES,
	VALUE_OBJECTS, /* allocated or in use */
};

/* The name of the event of this kind that prof records. */
#define VALUE_OFF_CPU_EVENT "off-cpu"
/* The event whose weights add up to the time that has passed. */
#define VALUE_ELAPSED_EVENT "elapsed"
/* The event of the chain of threads that the program's end waited for. */
#define VALUE_CRITICAL_PATH_EVENT "critical-path"
/*
 * Page faults, weighted by the bytes of a page. They show where resident memory
 * grows, whichever allocator is used. A fault that maps a huge page counts as
 * one page.
 */
#define VALUE_GROWTH_EVENT "growth"
/*
 * The event of the waits of asynchronous tasks. Its kind is wall time, because
 * a thread has many tasks.
 */
#define VALUE_AWAIT_EVENT "await"

enum { VALUE_KINDS = VALUE_OBJECTS + 1 };

/*
 * Returns the kind of an event in a file, by common names: ("cpu",
 * "nanoseconds") is CPU time. A time with an unknown name is wall time. An
 * event with another unit is a count.
 */
enum value_kind value_kind_of(const char *name, const char *unit);

/*
 * Returns the name for programs: "cpu-time", "wall-time", "off-cpu-time",
 * "bytes", "objects", "count".
 */
const char *value_kind_name(enum value_kind kind);
/*
 * Returns the unit of events of this kind that prof records: "nanoseconds",
 * "bytes", "count".
 */
const char *value_unit(enum value_kind kind);
bool value_is_time(enum value_kind kind);

/*
 * Returns the title of a column of values: "CPU time", "Bytes"; for a count the
 * event's own name.
 */
const char *value_heading(enum value_kind kind, const char *event);
/*
 * Like value_heading(), for use within a sentence: "wall time", "bytes". The
 * times that add up to the run have names of their own: "elapsed time".
 */
const char *value_words(enum value_kind kind, const char *event);

/*
 * Converts a value in this unit ("": the default of its kind) to nanoseconds or
 * bytes. A count stays as it is. The result saturates at UINT64_MAX.
 */
uint64_t value_scaled(enum value_kind kind, const char *unit, uint64_t value);
/* Formats a value: "1.25 s", "4.2 MB", "12,345". */
struct humanized value_humanize(enum value_kind kind, const char *unit, uint64_t value);

#endif
