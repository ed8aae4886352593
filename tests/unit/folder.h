/*
 * A folder for tests. make_folder() and remove_folder() are a test's setup and
 * teardown.
 */
#ifndef PROF_TESTS_UNIT_FOLDER_H
#define PROF_TESTS_UNIT_FOLDER_H

#include "base/alloc.h"
#include "base/cleanup.h"

#include "unit_test.h"

#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/prof-test-XXXXXX";

static inline int make_folder(void **state)
{
	(void)state;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static inline int remove_folder(void **state)
{
	(void)state;
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define TEST_IN_FOLDER(name) TEST_WITH(make_folder, remove_folder, name)

/* Returns the path of a file below the folder. Creates its parent folders. The
 * caller frees the path. */
static inline char *path_of(const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);

	for (char *slash = path + strlen(folder); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
	return path;
}

static inline void write_file(const char *name, const void *data, size_t len)
{
	CLEANUP(free_ptr) char *path = path_of(name);
	CLEANUP(close_file) FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
}

static inline void link_to(const char *target, const char *name)
{
	CLEANUP(free_ptr) char *path = path_of(name);

	assert_int_equal(symlink(target, path), 0);
}

static inline void remove_file(const char *name)
{
	CLEANUP(free_ptr) char *path = path_of(name);

	assert_int_equal(remove(path), 0);
}

/* Watches for a file being opened, even if it is closed again. The caller
 * closes the descriptor. */
static inline int watch_opening(const char *path)
{
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
	return watch;
}

static inline bool was_opened(int watch)
{
	char events[4096];

	return read(watch, events, sizeof(events)) > 0;
}

#endif
