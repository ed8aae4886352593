#include "segments/heads.h"

#include "base/affinity.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "format/pprof/head.h"
#include "symbol/thread_pool.h"

#include <stdlib.h>
#include <string.h>

void segment_head_read(const struct output_directory *directory, struct segment_file *file)
{
	struct stat st;
	int fd = output_directory_open_file(directory, file->name, &st);
	CLEANUP(close_file) FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	struct pprof_head head;

	if (!in || !pprof_head_read(in, &head))
		return;
	free(file->merged_s);
	file->inode = st.st_ino;
	file->start_ns = head.start_unix_ns;
	file->end_ns = head.start_unix_ns + head.duration_ns;
	file->merged_s = head.segments;
	file->merged_count = head.segment_count;
	if (head.segment_count)
		file->last_unix_ns = head.segments[head.segment_count - 1] * NS_PER_SECOND;
}

struct heads {
	const struct output_directory *directory;
	struct segment_files *files;
};

static void heads_read_head(void *context, size_t item, unsigned thread)
{
	const struct heads *heads = context;

	(void)thread;
	segment_head_read(heads->directory, &heads->files->items[item]);
}

void segment_heads_read(const struct output_directory *directory, struct segment_files *files)
{
	thread_pool_run(&(struct thread_pool){.threads = affinity_cpu_count()}, files->count,
			heads_read_head, &(struct heads){directory, files});
}

static int compare_begin(const void *second, const void *file)
{
	uint64_t left = *(const uint64_t *)second * NS_PER_SECOND;
	uint64_t right = ((const struct segment_file *)file)->unix_ns;

	return (left > right) - (left < right);
}

/* Returns a flag per file, which the caller frees. */
static bool *heads_find_contained(const struct segment_files *files)
{
	bool *are_contained = xcalloc(files->count, sizeof(*are_contained));

	for (size_t i = 0; i < files->count; i++)
		for (size_t k = 0; k < files->items[i].merged_count; k++) {
			const struct segment_file *found =
				bsearch(&files->items[i].merged_s[k], files->items, files->count,
					sizeof(*files->items), compare_begin);

			if (found && found != &files->items[i])
				are_contained[found - files->items] = true;
		}
	return are_contained;
}

void segment_heads_take_contained(struct segment_files *files, struct segment_files *ret)
{
	CLEANUP(free_ptr) bool *are_contained = heads_find_contained(files);
	size_t kept = 0;

	*ret = (struct segment_files){0};
	for (size_t i = 0; i < files->count; i++) {
		if (!are_contained[i]) {
			files->items[kept++] = files->items[i];
			continue;
		}
		GROW(ret->items, ret->count, ret->room);
		ret->items[ret->count++] = files->items[i];
	}
	files->count = kept;
}

bool segment_heads_contain(const struct segment_files *files, uint64_t unix_ns)
{
	for (size_t i = 0; i < files->count; i++)
		for (size_t k = 0; k < files->items[i].merged_count; k++)
			if (files->items[i].merged_s[k] == unix_ns / NS_PER_SECOND)
				return true;
	return false;
}
