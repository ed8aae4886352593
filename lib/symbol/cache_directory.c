#include "symbol/cache_directory.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/trusted_user.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Only files with this suffix are removed. */
#define CACHE_SUFFIX ".names"

enum { CACHE_BYTES_MAX = 32 << 20, CACHE_FILES_MAX = 2048 };

struct cached_file {
	char *name;
	int64_t written_s;
	uint64_t size_bytes;
};

struct cached_files {
	struct cached_file *items;
	size_t count, room;
	uint64_t size_bytes;
};

/* Takes ownership of fd. Returns it, or -1 if the directory is not the user's. */
static int cache_directory_checked(int fd)
{
	CLEANUP(close_fd) int directory = fd;
	struct stat st;

	if (directory < 0 || fstat(directory, &st) < 0 || st.st_uid != geteuid() ||
	    is_writable_by_others(&st))
		return -1;
	return steal_fd(&directory);
}

static int cache_directory_parent(void)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	const char *caches = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	CLEANUP(close_fd) int fd = -1;

	/* Relative paths are ignored: XDG Base Directory Specification. */
	if (caches && *caches == '/')
		return cache_directory_checked(open(caches, flags));
	fd = cache_directory_checked(home && *home == '/' ? open(home, flags) : -1);
	if (fd < 0)
		return -1;
	(void)mkdirat(fd, ".cache", 0700);
	return cache_directory_checked(openat(fd, ".cache", flags));
}

int cache_directory_open(void)
{
	CLEANUP(close_fd) int parent = sudo_caller() ? -1 : cache_directory_parent();

	if (parent < 0)
		return -1;
	(void)mkdirat(parent, "prof", 0700);
	return cache_directory_checked(
		openat(parent, "prof", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

static bool cache_directory_is_readable(int fd, size_t bytes_max, size_t *len)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_mode & 022 || st.st_size <= 0 || (uint64_t)st.st_size > bytes_max)
		return false;
	*len = (size_t)st.st_size;
	return true;
}

void *cache_directory_read(int directory, const char *name, size_t bytes_max, size_t *len)
{
	CLEANUP(free_ptr) char *visible = xasprintf("%s" CACHE_SUFFIX, name);
	CLEANUP(close_fd)
	int fd = openat(directory, visible, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	CLEANUP(free_ptr) void *data = NULL;

	if (fd < 0 || !cache_directory_is_readable(fd, bytes_max, len))
		return NULL;
	data = xmalloc(*len);
	return read(fd, data, *len) == (ssize_t)*len ? STEAL(data) : NULL;
}

void cache_directory_write(int directory, const char *name, const void *data, size_t len)
{
	CLEANUP(free_ptr)
	char *hidden = xasprintf(".%d-%" PRIu64 CACHE_SUFFIX, (int)getpid(), clock_now_ns());
	CLEANUP(free_ptr) char *visible = xasprintf("%s" CACHE_SUFFIX, name);
	CLEANUP(close_fd)
	int fd = openat(directory, hidden, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);

	if (fd < 0)
		return;
	if (write(fd, data, len) != (ssize_t)len ||
	    renameat(directory, hidden, directory, visible) < 0)
		unlinkat(directory, hidden, 0);
}

static bool cache_directory_owns(const char *name)
{
	size_t len = strlen(name), suffix = strlen(CACHE_SUFFIX);

	return len > suffix && !strcmp(name + len - suffix, CACHE_SUFFIX);
}

static void cache_directory_add(struct cached_files *files, int directory, const char *name)
{
	struct stat st;

	if (!cache_directory_owns(name) || fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return;
	GROW(files->items, files->count, files->room);
	files->items[files->count++] = (struct cached_file){.name = xstrdup(name),
							    .written_s = st.st_mtim.tv_sec,
							    .size_bytes = (uint64_t)st.st_size};
	files->size_bytes += (uint64_t)st.st_size;
}

static struct cached_files cache_directory_list(int directory)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(close_dir) DIR *listing = fd < 0 ? NULL : fdopendir(fd);
	struct cached_files files = {0};
	const struct dirent *entry;

	while (listing && (entry = readdir(listing)))
		cache_directory_add(&files, directory, entry->d_name);
	return files;
}

static int cache_directory_compare(const void *left, const void *right)
{
	const struct cached_file *a = left, *b = right;

	return (a->written_s > b->written_s) - (a->written_s < b->written_s);
}

void cache_directory_trim(int directory)
{
	struct cached_files files = cache_directory_list(directory);
	size_t left = files.count;

	if (files.count)
		qsort(files.items, files.count, sizeof(*files.items), cache_directory_compare);
	for (size_t i = 0; i < files.count; i++) {
		if (files.size_bytes > CACHE_BYTES_MAX || left > CACHE_FILES_MAX) {
			unlinkat(directory, files.items[i].name, 0);
			files.size_bytes -= files.items[i].size_bytes;
			left--;
		}
		free(files.items[i].name);
	}
	free(files.items);
}
