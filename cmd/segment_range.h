/*
 * Reads the samples of a range of time from a directory of segments (segment_store.h), as one
 * profile.
 *
 * A segment that lies in the range is taken whole. Of a segment that reaches beyond the range, only
 * the samples in the range are taken, if the segment has their times (PPROF_SAMPLE_TIMES); a
 * message says how many segments have none and are taken whole. A segment that cannot be read is
 * left out, and a message says so. One thread per CPU reads segments; the result does not depend on
 * their number.
 */
#ifndef PROF_CMD_SEGMENT_RANGE_H
#define PROF_CMD_SEGMENT_RANGE_H

#include "cmd/time_expression.h"
#include "profile/profile.h"

/*
 * Finds out whether a path names segments: a directory, or DIRECTORY@RANGE
 * (time_expression_range()) if there is no file of that name. since and until limit a directory
 * without @RANGE; NULL: not given. It is an error if they are given and the path names no segments.
 * *ret_directory: the caller frees it; NULL: the path names no segments.
 */
MUST_CHECK struct error *segment_range_parse(const char *path, const char *since, const char *until,
					     char **ret_directory, struct time_range *ret);

/* keeps_timestamps: the profile gets timed samples from segments that have times. Their clock is
 * CLOCK_REALTIME. */
MUST_CHECK struct error *segment_range_read(const char *directory, const struct time_range *range,
					    bool keeps_timestamps, struct profile **ret);

/*
 * Calls visit with each segment of the range, the oldest first: its samples in the range, as a
 * profile with timestamps. Only one segment is in memory at a time. tells: prints the messages
 * about segments that are taken whole or left out. An error of visit ends the loop and is returned.
 */
typedef struct error *segment_range_visit(void *user, struct profile *segment);
MUST_CHECK struct error *segment_range_each(const char *directory, const struct time_range *range,
					    bool tells, segment_range_visit *visit, void *user);

#endif
