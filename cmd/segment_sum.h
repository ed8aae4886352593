/*
 * Segments added up to one profile: for a range of time (segment_range.h), or for a merged file
 * (segment_merging.h).
 *
 * Equal files, frames, stacks and label sets become one. The sum has the command, host and kernel
 * of the first segment.
 */
#ifndef PROF_CMD_SEGMENT_SUM_H
#define PROF_CMD_SEGMENT_SUM_H

#include "base/idmap.h"
#include "cmd/segment_files.h"
#include "cmd/time_expression.h"
#include "profile/profile.h"

struct segment_sum {
	struct profile *profile;
	struct idmap modules;
	struct profile_info info;     /* but for its duration */
	struct event_quality *events; /* of its quality */
	size_t event_count, event_room;
	bool is_cut; /* only a part of a segment was added */
	uint64_t end_unix_ns;
	size_t segments;
	size_t whole; /* of them, that reach beyond the range and count whole */
};

void segment_sum_init(struct segment_sum *sum, bool keeps_timestamps);
void segment_sum_deinit(struct segment_sum *sum);

/* Reads a segment of a directory into an empty profile. Fails with ESTALE if the file is another
 * one than that of the listing. */
MUST_CHECK struct error *segment_read(const struct output_directory *directory,
				      const struct segment_file *file, struct profile *profile);

/* Adds the samples of a segment that were taken in the range, if it tells when that was; otherwise
 * all, if it reaches into the range. */
void segment_sum_add(struct segment_sum *sum, const struct profile *segment,
		     const struct time_range *range);
/*
 * Reads and adds a whole segment at once, in half of the time. After an error the sum must not be
 * used: the segment is damaged, or of a user who is not trusted; segment_read() and
 * segment_sum_add() can do without it, or take it.
 */
MUST_CHECK struct error *segment_sum_read(struct segment_sum *sum,
					  const struct output_directory *directory,
					  const struct segment_file *file);
/* Adds another sum. */
void segment_sum_add_sum(struct segment_sum *sum, const struct segment_sum *more);
/* Completes the profile. */
void segment_sum_finish(struct segment_sum *sum);

#endif
