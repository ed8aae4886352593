#include "segments/files.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static int files_compare(const void *a, const void *b)
{
	const struct segment_file *left = a, *right = b;

	return (left->unix_ns > right->unix_ns) - (left->unix_ns < right->unix_ns);
}

static void files_add(void *user, const char *name, const struct stat *st, bool is_ours)
{
	struct segment_files *files = user;
	struct segment_file file = {0};

	if (!segment_name_time(name, &file.unix_ns))
		return;
	files->of_others += !is_ours;
	if (!is_ours)
		return;
	memcpy(file.name, name, SEGMENT_NAME_BYTES);
	file.bytes = (uint64_t)st->st_size;
	file.last_unix_ns = file.unix_ns;
	file.inode = st->st_ino;
	GROW(files->items, files->count, files->room);
	files->items[files->count++] = file;
}

struct error *segment_files_read(const struct output_directory *directory,
				 struct segment_files *ret)
{
	struct error *err;

	*ret = (struct segment_files){0};
	err = output_directory_each(directory, files_add, ret);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), files_compare);
	return err;
}

void segment_files_deinit(struct segment_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->items[i].merged_s);
	free(files->items);
	*files = (struct segment_files){0};
}

bool segment_files_has(const struct segment_files *files, const char *name)
{
	struct segment_file key = {0};

	return segment_name_time(name, &key.unix_ns) && files->count &&
	       bsearch(&key, files->items, files->count, sizeof(key), files_compare);
}

size_t segment_files_expired(const struct segment_files *files, const struct retention *retention,
			     uint64_t now_unix_ns)
{
	uint64_t bytes = 0;
	size_t first = files->count;

	/* Adds files from the newest to the oldest, until one exceeds the age
	 * or the total size. */
	for (; first; first--) {
		const struct segment_file *file = &files->items[first - 1];
		uint64_t begin_ns = file->last_unix_ns;
		uint64_t age_ns = now_unix_ns > begin_ns ? now_unix_ns - begin_ns : 0;
		bool is_newest = first == files->count;

		bytes += file->bytes;
		if (!is_newest && ((retention->keep_ns && age_ns > retention->keep_ns) ||
				   (retention->max_bytes && bytes > retention->max_bytes)))
			break;
	}
	return first;
}
