#include "format/pprof/head.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/gzip.h"
#include "format/pprof/fields.h"
#include "format/pprof/wire.h"

#include <stdlib.h>

/*
 * Enough for the sample types, the times and the longest list of segments,
 * which takes one or two bytes per segment.
 */
enum { HEAD_BYTES = 512 + 2 * PPROF_SEGMENTS_MAX };

static bool take_segments(struct pprof_head *head, struct bytes list)
{
	uint64_t second = 0;
	size_t room = 0;

	while (bytes_left(&list)) {
		uint64_t more = bytes_uleb(&list);

		if (!more || more > UINT64_MAX / 2 - second ||
		    head->segment_count == PPROF_SEGMENTS_MAX)
			return false;
		second += more;
		GROW(head->segments, head->segment_count, room);
		head->segments[head->segment_count++] = second;
	}
	return bytes_ok(&list);
}

/* Reads up to the first field that the writer puts after them, a comment. */
static bool head_take_fields(struct pprof_head *head, struct bytes message)
{
	struct wire_field field;

	while (wire_next(&message, &field) && field.number != PPROF_PROFILE_COMMENT) {
		if (field.number == PPROF_PROFILE_TIME)
			head->start_unix_ns = field.value;
		if (field.number == PPROF_PROFILE_DURATION)
			head->duration_ns = field.value;
		if (field.number == PPROF_PROFILE_SEGMENTS && !head->segments &&
		    !take_segments(head, field.bytes))
			return false;
	}
	return head->start_unix_ns && head->duration_ns;
}

bool pprof_head_read(FILE *in, struct pprof_head *ret)
{
	unsigned char first[HEAD_BYTES];
	CLEANUP(close_file) FILE *gzip = gzip_reader(in, UINT64_MAX);
	size_t len = gzip ? fread(first, 1, sizeof(first), gzip) : 0;

	*ret = (struct pprof_head){0};
	if (head_take_fields(ret, bytes_of(first, len)))
		return true;
	free(ret->segments);
	*ret = (struct pprof_head){0};
	return false;
}
