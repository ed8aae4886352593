#include "cmd/segment_files.h"

#include "base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int compare(const void *a, const void *b)
{
	const struct segment_file *left = a, *right = b;

	return (left->unix_ns > right->unix_ns) - (left->unix_ns < right->unix_ns);
}

static void add(struct segment_files *files, int directory, const char *name)
{
	struct segment_file file = {0};
	struct stat st;

	if (!segment_name_time(name, &file.unix_ns) ||
	    fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return;
	memcpy(file.name, name, SEGMENT_NAME_BYTES);
	file.bytes = (uint64_t)st.st_size;
	file.last_unix_ns = file.unix_ns;
	file.inode = st.st_ino;
	GROW(files->items, files->count, files->room);
	files->items[files->count++] = file;
}

struct error *segment_files_read(const char *directory, struct segment_files *ret)
{
	DIR *stream = opendir(directory);
	const struct dirent *entry;

	*ret = (struct segment_files){0};
	if (!stream)
		return error_errno(errno, "open %s", directory);
	while ((entry = readdir(stream)))
		add(ret, dirfd(stream), entry->d_name);
	closedir(stream);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare);
	return NULL;
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
	       bsearch(&key, files->items, files->count, sizeof(key), compare);
}

size_t segment_files_expired(const struct segment_files *files, const struct retention *retention,
			     uint64_t now_unix_ns)
{
	uint64_t bytes = 0;
	size_t first = files->count;

	/* From the newest one on, until one is too old, or one too many. */
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
