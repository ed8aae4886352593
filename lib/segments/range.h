/*
 * Reads the samples of a time range from a directory of segments
 * (segments/store.h), as one profile.
 *
 * A segment inside the range is added whole. If a segment reaches beyond the
 * range and contains sample times (PPROF_SAMPLE_TIMES), only its samples in the
 * range are added. If it has no sample times, it is added whole, and the number
 * of such segments is reported. A segment that cannot be read is omitted and
 * reported. One thread per CPU reads segments. The result does not depend on
 * the number of threads.
 */
#ifndef PROF_SEGMENTS_RANGE_H
#define PROF_SEGMENTS_RANGE_H

#include "profile/profile.h"
#include "segments/files.h"
#include "segments/time_expression.h"

/*
 * Parses a path that may name segments: a directory, or DIRECTORY@RANGE
 * (time_expression_range()) if no file has that name. since and until limit a
 * directory without @RANGE; NULL means not given. Fails if one of them is given
 * and the path names no segments.
 *
 * Sets *ret_directory to NULL if the path names no segments. The caller frees
 * it.
 */
MUST_CHECK struct error *segment_range_parse(const char *path, const char *since, const char *until,
					     char **ret_directory, struct time_range *ret);

/* With keeps_timestamps, the profile has timed samples from the segments that
 * contain sample times. Their clock is CLOCK_REALTIME. */
MUST_CHECK struct error *segment_range_read(const char *directory, const struct time_range *range,
					    bool keeps_timestamps, segment_tell *tell,
					    struct profile **ret);

/*
 * Calls visit for each segment of the range, oldest first, with a profile of
 * its samples in the range, including timestamps. Only one segment is in memory
 * at a time. If tell is NULL, segments that are added whole or omitted are not
 * reported. An error from visit ends the loop and is returned.
 */
typedef struct error *segment_range_visit(void *user, struct profile *segment);
MUST_CHECK struct error *segment_range_each(const char *directory, const struct time_range *range,
					    segment_tell *tell, segment_range_visit *visit,
					    void *user);

#endif
