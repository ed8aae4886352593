#include "cmd/record/segments.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct written_file {
	char *path;
	struct stat st;
};

struct segment {
	struct written_file *files;
	size_t count;
	uint64_t bytes;
};

static void segment_deinit(struct segment *segment)
{
	for (size_t i = 0; i < segment->count; i++)
		free(segment->files[i].path);
	free(segment->files);
}

static void segments_forget_oldest(struct segments *segments)
{
	segments->bytes -= segments->items[0].bytes;
	segment_deinit(&segments->items[0]);
	segments->count--;
	memmove(segments->items, segments->items + 1, segments->count * sizeof(*segments->items));
}

void segments_deinit(struct segments *segments)
{
	while (segments->count)
		segments_forget_oldest(segments);
	free(segments->items);
}

static void segments_add_file(struct segment *segment, const struct output *output)
{
	struct written_file file = {0};

	if (fstat(output->checkpoint, &file.st) < 0)
		return;
	file.path = xstrdup(output->target);
	segment->bytes += (uint64_t)file.st.st_size;
	segment->files = xreallocarray(segment->files, segment->count + 1, sizeof(file));
	segment->files[segment->count++] = file;
}

uint64_t segments_take(struct segments *segments, struct outputs *outputs)
{
	struct segment segment = {0};

	for (size_t i = 0; i < outputs->count; i++)
		if (output_take_prepared(&outputs->items[i]))
			segments_add_file(&segment, &outputs->items[i]);
	segments->bytes += segment.bytes;
	if (!segment.count || !segments->are_removable) {
		segment_deinit(&segment);
		return segment.bytes;
	}
	GROW(segments->items, segments->count, segments->room);
	segments->items[segments->count++] = segment;
	return segment.bytes;
}

bool segments_remove_oldest(struct segments *segments)
{
	bool any = false;

	for (size_t i = 0; segments->count && i < segments->items[0].count; i++)
		any |= output_file_remove(segments->items[0].files[i].path,
					  &segments->items[0].files[i].st);
	segments->removed += any;
	if (segments->count)
		segments_forget_oldest(segments);
	return any;
}

void segments_keep(struct segments *segments, uint64_t count)
{
	while (segments->count > count)
		segments_remove_oldest(segments);
}

static bool is_there(const struct written_file *file)
{
	struct stat st;

	return lstat(file->path, &st) == 0 && st.st_ino == file->st.st_ino &&
	       st.st_dev == file->st.st_dev;
}

void segments_look_again(struct segments *segments)
{
	while (segments->count && !is_there(&segments->items[0].files[0])) {
		segments->removed++;
		segments_forget_oldest(segments);
	}
}
