/*
 * A range of time of a directory of segments (segment_store.h) as one profile.
 *
 * Segments that lie in the range count whole. Of those at its ends the samples count that were
 * taken in it, if the segment tells their times (PPROF_SAMPLE_TIMES); a line says how many do not,
 * which count whole. Segments that cannot be read are left out, and a line says so. They are read
 * by a thread per CPU; the result does not depend on the number of threads.
 */
#ifndef PROF_CMD_SEGMENT_RANGE_H
#define PROF_CMD_SEGMENT_RANGE_H

#include "cmd/time_expression.h"
#include "profile/profile.h"

/*
 * Whether a path names segments: a directory, or DIRECTORY@RANGE (time_expression_range()) if there
 * is no file of that name. since and until are for the former; NULL: not given; with a path that
 * names no segments they are an error. *ret_directory: to be freed; NULL: it names none.
 */
MUST_CHECK struct error *segment_range_parse(const char *path, const char *since, const char *until,
					     char **ret_directory, struct time_range *ret);

/* keeps_timestamps: the profile has timed samples, as far as segments have; their clock is the real
 * time. */
MUST_CHECK struct error *segment_range_read(const char *directory, const struct time_range *range,
					    bool keeps_timestamps, struct profile **ret);

/*
 * Calls visit for each segment that has a part in the range, the oldest first, with that part as a
 * profile with timestamps: memory does not grow with the number of segments. tells: prints the
 * lines about segments that count whole or are left out. An error of visit ends it.
 */
typedef struct error *segment_range_visit(void *user, struct profile *segment);
MUST_CHECK struct error *segment_range_each(const char *directory, const struct time_range *range,
					    bool tells, segment_range_visit *visit, void *user);

#endif
