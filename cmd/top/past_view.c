#include "cmd/top/past_view.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/ui/message.h"
#include "profile/tasks.h"
#include "segments/files.h"
#include "segments/range.h"

#include <string.h>

#define MINUTE_NS (60 * NS_PER_SECOND)

static struct error *read_range(struct past *past, struct time_range range)
{
	struct profile *profile;
	struct error *err = segment_range_read(past->directory, &range, false, message, &profile);

	if (err)
		return err;
	tasks_label(profile);
	profile_free(past->former);
	past->former = past->profile;
	past->profile = profile;
	past->range = range;
	return NULL;
}

/* Returns the minute that contains a moment; a day is not changed. */
static struct time_range widened(struct time_range range)
{
	if (range.to_ns != UINT64_MAX && range.to_ns - range.from_ns >= MINUTE_NS)
		return range;
	range.from_ns -= range.from_ns % MINUTE_NS;
	range.to_ns = range.from_ns + MINUTE_NS;
	return range;
}

/* Limits a range that is open at an end to the recorded time, so that it has a
 * length. */
static void limit_range(struct past *past)
{
	const struct profile_info *info = profile_get_info(past->profile);

	if (!past->range.from_ns)
		past->range.from_ns = info->start_unix_ns;
	if (past->range.to_ns == UINT64_MAX)
		past->range.to_ns = info->start_unix_ns + info->duration_ns;
	/* Other programs may not record how long they sampled. */
	if (past->range.to_ns <= past->range.from_ns)
		past->range.to_ns = past->range.from_ns + MINUTE_NS;
}

struct error *past_open(struct past *past, const char *directory, const char *text)
{
	struct time_range range;
	struct error *err = time_expression_range(text, clock_unix_ns(), &range);

	*past = (struct past){.directory = directory};
	if (err)
		return err;
	err = read_range(past, strstr(text, "..") ? range : widened(range));
	if (!err)
		limit_range(past);
	return err;
}

void past_close(struct past *past)
{
	profile_free(past->profile);
	profile_free(past->former);
}

static struct time_range moved(struct time_range range, int64_t lengths)
{
	int64_t by = lengths * (int64_t)(range.to_ns - range.from_ns);

	return (struct time_range){.from_ns = (uint64_t)((int64_t)range.from_ns + by),
				   .to_ns = (uint64_t)((int64_t)range.to_ns + by)};
}

/* Returns the distance to the nearest segment in a direction, in lengths of the
 * range, or 0 if there is none. */
static int64_t lengths_to_segment(const struct past *past, int direction)
{
	CLEANUP(segment_files_deinit) struct segment_files files = {0};
	CLEANUP(output_directory_close) struct output_directory directory = {0};
	struct error *err = output_directory_open_to_read(past->directory, &directory);
	int64_t length = (int64_t)(past->range.to_ns - past->range.from_ns), nearest = 0;

	if (!err)
		err = segment_files_read(&directory, &files);
	for (size_t i = 0; !err && i < files.count; i++) {
		int64_t away = (int64_t)(files.items[i].unix_ns - past->range.from_ns);
		int64_t lengths = (away < 0 ? away - length + 1 : away) / length;

		if (lengths * direction > 0 &&
		    (!nearest || lengths * direction < nearest * direction))
			nearest = lengths;
	}
	error_free(err);
	return nearest;
}

/* Replaces err, if there is one. */
static struct error *read_instead(struct past *past, int64_t lengths, struct error *err)
{
	if (!err || !lengths)
		return err;
	error_free(err);
	return read_range(past, moved(past->range, lengths));
}

struct error *past_step(struct past *past, int direction)
{
	struct error *err = read_range(past, moved(past->range, direction));
	int64_t lengths = err ? lengths_to_segment(past, direction) : 0;

	/* When going back, a segment may end in the range after the one in
	 * which it starts. */
	if (lengths < 0)
		err = read_instead(past, lengths + 1, err);
	return read_instead(past, lengths, err);
}

char *past_words(const struct past *past)
{
	char from[TIME_TEXT_BYTES], to[TIME_TEXT_BYTES];
	size_t day = strlen("2026-11-24 ");

	time_text(from, past->range.from_ns);
	time_text(to, past->range.to_ns);
	return xasprintf("%s to %s", from, to + (strncmp(from, to, day) ? 0 : day));
}
