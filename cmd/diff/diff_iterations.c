#include "cmd/diff/diff_iterations.h"

#include "base/alloc.h"
#include "base/read_all.h"
#include "report/iteration_time.h"

#include <string.h>

enum { ESTIMATES_BYTES_MAX = 1 << 20 };

static bool read_estimates(const char *path, struct iteration_time *ret)
{
	CLEANUP(close_file) FILE *in = fopen(path, "re");
	CLEANUP(free_ptr) char *text = NULL;
	size_t len;

	return in && !read_all(in, ESTIMATES_BYTES_MAX, &text, &len) &&
	       iteration_time_read(text, len, ret);
}

/* Searches in the profile's directory and in the directory above it. */
static bool find_estimates(const char *profile, struct iteration_time *ret)
{
	const char *slash = strrchr(profile, '/');
	int length = slash ? (int)(slash - profile) : 1;
	const char *directory = slash ? profile : ".";
	CLEANUP(free_ptr)
	char *beside = xasprintf("%.*s/new/estimates.json", length, directory);
	CLEANUP(free_ptr)
	char *above = xasprintf("%.*s/../new/estimates.json", length, directory);

	return read_estimates(beside, ret) || read_estimates(above, ret);
}

static bool can_scale(const struct diff_files *files)
{
	if (!value_is_time(diff_files_event(files).kind) || files->by_samples)
		return false;
	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].label_sets || !(files->items[i].whole.weight > 0))
			return false;
	return true;
}

/* The first file's weights are not scaled, so that counts are not rounded to 0. */
static void scale_all(struct diff_files *files, const struct iteration_time *times)
{
	files->iteration_ns = times[0].ns / files->items[0].whole.weight;
	for (size_t i = 0; i < files->count; i++) {
		struct diff_file *file = &files->items[i];
		double weight = times[i].ns / files->iteration_ns;

		file->scale *= weight / file->whole.weight;
		file->whole.weight = weight;
		file->weight_error = times[i].error;
	}
}

bool diff_iterations_scale(struct diff_files *files)
{
	CLEANUP(free_ptr) struct iteration_time *times = xcalloc(files->count, sizeof(*times));

	if (!can_scale(files))
		return false;
	for (size_t i = 0; i < files->count; i++)
		if (!find_estimates(files->items[i].path, &times[i]))
			return false;
	scale_all(files, times);
	return true;
}
