/*
 * Adds up segments to one profile, for a time range (segments/range.h) or a
 * merged file (segment_merging.h).
 *
 * Equal files, frames, stacks and label sets are merged. The sum has the
 * command, host and kernel of the first segment.
 */
#ifndef PROF_SEGMENTS_SUM_H
#define PROF_SEGMENTS_SUM_H

#include "base/idmap.h"
#include "profile/profile.h"
#include "segments/files.h"
#include "segments/time_expression.h"

struct segment_sum {
	struct profile *profile;
	struct idmap modules;
	struct profile_info info;     /* complete except for the duration */
	struct event_quality *events; /* of its quality */
	size_t event_count, event_room;
	bool is_cut; /* only a part of a segment was added */
	uint64_t end_unix_ns;
	size_t segments;
	size_t whole; /* segments that reach beyond the range but were added whole */
};

void segment_sum_init(struct segment_sum *sum, bool keeps_timestamps);
void segment_sum_deinit(struct segment_sum *sum);

/* Reads a segment of a directory into an empty profile. Fails with ESTALE if
 * the file is not the one that was listed. */
MUST_CHECK struct error *segment_read(const struct output_directory *directory,
				      const struct segment_file *file, struct profile *profile);

/* Adds the samples of a segment that were taken in the range. If the segment
 * has no sample times, adds all samples if it overlaps the range. */
void segment_sum_add(struct segment_sum *sum, const struct profile *segment,
		     const struct time_range *range);
/*
 * Reads and adds a whole segment in one pass, which takes half of the time.
 * After an error the sum must not be used. The segment is then damaged or
 * belongs to an untrusted user. In that case use a new sum with segment_read()
 * and segment_sum_add().
 */
MUST_CHECK struct error *segment_sum_read(struct segment_sum *sum,
					  const struct output_directory *directory,
					  const struct segment_file *file);
/* Adds another sum. */
void segment_sum_add_sum(struct segment_sum *sum, const struct segment_sum *more);
/* Completes the profile. */
void segment_sum_finish(struct segment_sum *sum);

#endif
