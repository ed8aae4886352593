#include "cmd/diff/benchmarks.h"

#include "base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The maximum depth of the search. */
enum { DEPTH = 32 };

/* In order of preference. */
static const char *const extensions[] = {".pb.gz", ".pb", ".pprof", ".data", ".folded"};

/* File names that do not identify a benchmark: those of criterion's profilers,
 * prof and perf. */
static const char *const default_names[] = {"profile", "prof", "perf"};

/* A profile below a directory. */
struct benchmarks_found {
	char *path;
	char *stem;	    /* path below the directory, without the extension */
	char *name;	    /* name of the benchmark */
	size_t directory;   /* the old ones, then the new ones */
	unsigned extension; /* index of the extension */
};

struct benchmarks_search {
	struct benchmarks_found *items;
	size_t count, room;
	size_t directory;
};

static bool benchmarks_ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len > end_len && !strcmp(text + len - end_len, end);
}

/* Returns false if the name is not that of a profile. */
static bool find_extension(const char *name, unsigned *ret)
{
	for (unsigned i = 0; i < ARRAY_SIZE(extensions); i++) {
		if (!benchmarks_ends_with(name, extensions[i]))
			continue;
		*ret = i;
		return true;
	}
	return false;
}

static void cut_number(char *name)
{
	char *dot = strrchr(name, '.');

	if (dot && dot > name && dot[-1] != '/' && dot[1] &&
	    dot[1 + strspn(dot + 1, "0123456789")] == '\0')
		*dot = '\0';
}

/* Keeps a name that would become empty. */
static bool cut_default_name(char *name)
{
	char *slash = strrchr(name, '/');

	for (size_t i = 0; slash && i < ARRAY_SIZE(default_names); i++) {
		if (strcmp(slash + 1, default_names[i]) != 0)
			continue;
		*slash = '\0';
		return true;
	}
	return false;
}

static char *benchmarks_name_of(const char *stem)
{
	char *name = xstrdup(stem);

	cut_number(name);
	while (cut_default_name(name))
		;
	return name;
}

static void benchmarks_add(struct benchmarks_search *search, const char *path, const char *below,
			   unsigned extension)
{
	char *stem = xstrndup(below, strlen(below) - strlen(extensions[extension]));

	GROW(search->items, search->count, search->room);
	search->items[search->count++] = (struct benchmarks_found){.path = xstrdup(path),
								   .stem = stem,
								   .name = benchmarks_name_of(stem),
								   .directory = search->directory,
								   .extension = extension};
}

static struct error *look_into(struct benchmarks_search *search, const char *path, size_t top,
			       int depth);

/* top: the length of the searched directory's path. */
static struct error *benchmarks_look_at(struct benchmarks_search *search, const char *path,
					size_t top, int depth)
{
	const char *slash = strrchr(path, '/');
	struct stat link, status;
	unsigned extension;

	if (slash[1] == '.' || lstat(path, &link) || stat(path, &status))
		return NULL;
	if (S_ISDIR(link.st_mode))
		return look_into(search, path, top, depth + 1);
	if (S_ISREG(status.st_mode) && find_extension(slash + 1, &extension))
		benchmarks_add(search, path, path + top + 1, extension);
	return NULL;
}

static struct error *look_into(struct benchmarks_search *search, const char *path, size_t top,
			       int depth)
{
	CLEANUP(close_dir) DIR *directory = NULL;
	struct error *err = NULL;

	if (depth > DEPTH)
		return NULL;
	directory = opendir(path);
	if (!directory)
		return error_errno(errno, "open %s", path);
	for (const struct dirent *entry; !err && (entry = readdir(directory));) {
		CLEANUP(free_ptr) char *name = xasprintf("%s/%s", path, entry->d_name);

		err = benchmarks_look_at(search, name, top, depth);
	}
	return err;
}

static struct error *search_all(struct benchmarks_search *search,
				const struct option_list *directories)
{
	for (size_t i = 0; i < directories->count; i++, search->directory++) {
		size_t before = search->count;
		CLEANUP(free_ptr) char *path = xstrdup(directories->items[i]);
		struct error *err;

		for (size_t len = strlen(path); len > 1 && path[len - 1] == '/';)
			path[--len] = '\0';
		err = look_into(search, path, strlen(path), 0);
		if (err)
			return err;
		if (search->count == before)
			return error_hint(error_new("%s has no profiles", directories->items[i]),
					  "profiles are files *.pb.gz, *.folded or *.data, also in "
					  "directories below");
	}
	return NULL;
}

static int benchmarks_by_name(const void *a, const void *b)
{
	const struct benchmarks_found *left = a, *right = b;
	int order = strverscmp(left->name, right->name);

	if (!order)
		order = (left->directory > right->directory) - (left->directory < right->directory);
	if (!order)
		order = strverscmp(left->stem, right->stem);
	return order ? order : (int)left->extension - (int)right->extension;
}

static bool differs_in_extension(const struct benchmarks_found *a, const struct benchmarks_found *b)
{
	return a->directory == b->directory && !strcmp(a->stem, b->stem);
}

static struct error *benchmarks_join(struct benchmarks *benchmarks,
				     const struct benchmarks_search *search, size_t old_count)
{
	struct error *err = NULL;

	benchmarks->items = xcalloc(search->count, sizeof(*benchmarks->items));
	for (size_t i = 0; !err && i < search->count; i++) {
		const struct benchmarks_found *found = &search->items[i];
		struct benchmark *last = &benchmarks->items[benchmarks->count];

		if (i && differs_in_extension(found, found - 1))
			continue;
		if (!benchmarks->count || strcmp((last - 1)->name, found->name) != 0) {
			last->name = xstrdup(found->name);
			benchmarks->count++;
		} else {
			last--;
		}
		err = option_append(found->directory < old_count ? &last->old : &last->new,
				    found->path);
	}
	return err;
}

static void benchmarks_search_deinit(struct benchmarks_search *search)
{
	for (size_t i = 0; i < search->count; i++) {
		free(search->items[i].path);
		free(search->items[i].stem);
		free(search->items[i].name);
	}
	free(search->items);
}

struct error *benchmarks_find(struct benchmarks *benchmarks, const struct option_list *old,
			      const struct option_list *new)
{
	CLEANUP(benchmarks_search_deinit) struct benchmarks_search search = {0};
	struct error *err;

	*benchmarks = (struct benchmarks){0};
	err = search_all(&search, old);
	if (!err)
		err = search_all(&search, new);
	if (err)
		return err;
	qsort(search.items, search.count, sizeof(*search.items), benchmarks_by_name);
	return benchmarks_join(benchmarks, &search, old->count);
}

void benchmarks_deinit(struct benchmarks *benchmarks)
{
	for (size_t i = 0; i < benchmarks->count; i++) {
		free(benchmarks->items[i].name);
		option_list_deinit(&benchmarks->items[i].old);
		option_list_deinit(&benchmarks->items[i].new);
	}
	free(benchmarks->items);
}
