#include "segments/store.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "segments/heads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void remove_if_hidden(void *user, const char *name, const struct stat *st, bool is_ours)
{
	const struct segment_store *store = user;

	(void)st;
	if (is_ours && output_file_is_hidden_name(name))
		output_directory_remove(&store->directory, name);
}

static void store_read_files(struct segment_store *store, struct segment_files *ret)
{
	error_free(segment_files_read(&store->directory, ret));
	if (!ret->of_others || store->has_told)
		return;
	store->has_told = true;
	store->tell("%s: segments of other users are ignored: %zu", store->directory.path,
		    ret->of_others);
}

/* Removes segments that were merged by a prof that could not remove them any
 * more. */
static void remove_contained(struct segment_store *store)
{
	CLEANUP(segment_files_deinit) struct segment_files files = {0};
	CLEANUP(segment_files_deinit) struct segment_files contained = {0};

	store_read_files(store, &files);
	segment_heads_read(&store->directory, &files);
	segment_heads_take_contained(&files, &contained);
	for (size_t i = 0; i < contained.count; i++)
		output_directory_remove(&store->directory, contained.items[i].name);
}

/* If a prof was killed, its children hold the lock until they exit. */
static int wait_for_lock(int fd)
{
	enum { TRIES = 100, PAUSE_NS = 10000000 };

	for (unsigned i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
		if (errno != EWOULDBLOCK || i == TRIES)
			return -1;
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	}
	return 0;
}

/* Locks with a separate descriptor, which forked children close. */
static struct error *store_lock(struct segment_store *store)
{
	const char *path = store->directory.path;

	store->lock = openat(store->directory.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (wait_for_lock(store->lock) == 0)
		return NULL;
	if (errno == EWOULDBLOCK)
		return error_hint(error_new("another prof record writes to %s", path),
				  "stop it, or use another directory");
	return error_errno(errno, "lock %s", path);
}

struct error *segment_store_open(struct segment_store *store, const char *path)
{
	struct error *err = output_directory_open(path, true, &store->directory);

	if (!err)
		err = store_lock(store);
	if (!err)
		err = output_directory_each(&store->directory, remove_if_hidden, store);
	if (!err)
		remove_contained(store);
	return err;
}

void segment_store_close(struct segment_store *store)
{
	if (!store->directory.path)
		return;
	close_fd(&store->lock);
	output_directory_close(&store->directory);
}

void segment_store_fork(struct segment_store *store)
{
	if (store->directory.path)
		close_fd(&store->lock);
}

static void put_literally(FILE *out, const char *text)
{
	for (; *text; text++)
		fprintf(out, *text == '%' ? "%%%c" : "%c", *text);
}

static bool store_exists(const struct segment_store *store, uint64_t unix_ns)
{
	char name[SEGMENT_NAME_BYTES];
	struct stat st;

	segment_name(unix_ns, name);
	return fstatat(store->directory.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Returns the next second without a segment, including merged ones. Reads all
 * heads only if the clock was set back. */
static uint64_t next_free(struct segment_store *store, uint64_t unix_ns)
{
	CLEANUP(segment_files_deinit) struct segment_files files = {0};
	struct segment_file *newest;

	store_read_files(store, &files);
	newest = files.count ? &files.items[files.count - 1] : NULL;
	if (newest)
		segment_head_read(&store->directory, newest);
	if (!newest || newest->last_unix_ns + NS_PER_SECOND <= unix_ns)
		return unix_ns;
	segment_heads_read(&store->directory, &files);
	while (store_exists(store, unix_ns) || segment_heads_contain(&files, unix_ns))
		unix_ns += NS_PER_SECOND;
	return unix_ns;
}

char *segment_store_template(struct segment_store *store, uint64_t unix_ns)
{
	char name[SEGMENT_NAME_BYTES];
	char *template = NULL;
	size_t len;
	FILE *out;

	segment_name(next_free(store, unix_ns), name);
	out = open_memstream(&template, &len);
	put_literally(out, store->directory.path);
	fprintf(out, "/%s", name);
	fclose(out);
	return template;
}

static bool remove_segment(struct segment_store *store, const struct segment_file *file)
{
	if (!output_directory_remove(&store->directory, file->name))
		return false;
	store->removed++;
	return true;
}

/* An hourly segment is as old as the last segment in it. */
static void read_old_heads(const struct segment_store *store, struct segment_files *files,
			   uint64_t now_unix_ns)
{
	uint64_t keep_ns = store->retention.keep_ns;

	for (size_t i = 0; keep_ns && i < files->count; i++) {
		if (files->items[i].unix_ns + keep_ns >= now_unix_ns)
			break;
		segment_head_read(&store->directory, &files->items[i]);
	}
}

void segment_store_retain(struct segment_store *store, uint64_t now_unix_ns)
{
	struct segment_files files;
	size_t expired;

	store_read_files(store, &files);
	read_old_heads(store, &files, now_unix_ns);
	expired = segment_files_expired(&files, &store->retention, now_unix_ns);
	for (size_t i = 0; i < expired; i++)
		remove_segment(store, &files.items[i]);
	segment_files_deinit(&files);
}

bool segment_store_remove_oldest(struct segment_store *store, char ret_name[SEGMENT_NAME_BYTES])
{
	struct segment_files files;
	bool is_removed;

	store_read_files(store, &files);
	is_removed = files.count && remove_segment(store, &files.items[0]);
	if (is_removed)
		memcpy(ret_name, files.items[0].name, SEGMENT_NAME_BYTES);
	segment_files_deinit(&files);
	return is_removed;
}
