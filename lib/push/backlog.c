#include "push/backlog.h"

#include "base/alloc.h"
#include "base/line_reader.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limits of the state file. Files whose lines are beyond them are delivered
 * again. */
enum { LINE_BYTES_MAX = 4096, STATE_BYTES_MAX = 16 << 20 };

struct backlog_found {
	char *name;
	struct timespec modified;
};

static struct error *backlog_lock(struct backlog *backlog)
{
	const struct output_directory *directory = backlog->directory;

	backlog->lock = openat(directory->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (flock(backlog->lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return error_hint(error_errno(EWOULDBLOCK, "%s", directory->path),
				  "another prof delivers the profiles of this directory");
	return NULL;
}

static bool is_profile_name(const char *name)
{
	static const char extension[] = ".pb.gz";
	size_t len = strlen(name);

	return name[0] != '.' && !strchr(name, '\n') && len >= sizeof(extension) &&
	       !strcmp(name + len - (sizeof(extension) - 1), extension);
}

static int compare_found(const void *a, const void *b)
{
	const struct backlog_found *left = a, *right = b;

	if (left->modified.tv_sec != right->modified.tv_sec)
		return left->modified.tv_sec < right->modified.tv_sec ? -1 : 1;
	if (left->modified.tv_nsec != right->modified.tv_nsec)
		return left->modified.tv_nsec < right->modified.tv_nsec ? -1 : 1;
	return strcmp(left->name, right->name);
}

struct backlog_listing {
	const char *prefix;
	struct backlog_found *found;
	size_t count, room;
};

static void backlog_add_file(void *user, const char *name, const struct stat *st, bool is_ours)
{
	struct backlog_listing *listing = user;

	if (!is_ours || !text_begins(name, listing->prefix) || !is_profile_name(name))
		return;
	GROW(listing->found, listing->count, listing->room);
	listing->found[listing->count++] = (struct backlog_found){xstrdup(name), st->st_mtim};
}

static struct error *list_files(struct backlog *backlog)
{
	struct backlog_listing listing = {.prefix = backlog->prefix};
	struct error *err = output_directory_each(backlog->directory, backlog_add_file, &listing);

	if (listing.count)
		qsort(listing.found, listing.count, sizeof(*listing.found), compare_found);
	backlog->files = xcalloc(listing.count, sizeof(*backlog->files));
	backlog->count = listing.count;
	for (size_t i = 0; i < listing.count; i++)
		backlog->files[i] = listing.found[i].name;
	free(listing.found);
	return err;
}

/* Returns the file of a line "TARGET FILE". A target contains no spaces. */
static const char *backlog_file_of(const char *line)
{
	const char *space = strchr(line, ' ');

	return space ? space + 1 : "";
}

static bool backlog_has_file(const struct backlog *backlog, const char *name)
{
	return is_profile_name(name) && !strchr(name, '/') &&
	       faccessat(backlog->directory->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int backlog_compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_done(struct backlog *backlog)
{
	struct stat st;
	int fd = output_directory_open_file(backlog->directory, BACKLOG_STATE_FILE, &st);
	CLEANUP(close_file) FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	CLEANUP(line_reader_deinit) struct line_reader lines;
	size_t room = 0;

	line_reader_init(&lines, in, LINE_BYTES_MAX, STATE_BYTES_MAX);
	while (in && line_reader_next(&lines)) {
		if (lines.is_cut || !backlog_has_file(backlog, backlog_file_of(lines.line)))
			continue;
		GROW(backlog->done, backlog->done_count, room);
		backlog->done[backlog->done_count++] = xstrdup(lines.line);
	}
	if (backlog->done_count)
		qsort(backlog->done, backlog->done_count, sizeof(*backlog->done),
		      backlog_compare_lines);
}

static struct error *backlog_fill(const struct backlog *backlog, int fd, const char *path)
{
	FILE *out = fdopen(fcntl(fd, F_DUPFD_CLOEXEC, 3), "w");

	if (!out)
		return error_errno(errno, "create %s", path);
	for (size_t i = 0; i < backlog->done_count; i++)
		fprintf(out, "%s\n", backlog->done[i]);
	if (fclose(out) != 0 || fdatasync(fd) < 0)
		return error_errno(errno, "write %s", path);
	return NULL;
}

/* Rewrites the state file without the lines of files that no longer exist. */
static struct error *write_done(struct backlog *backlog)
{
	CLEANUP(output_place_deinit) struct output_place place = OUTPUT_PLACE_INIT;
	CLEANUP(output_file_discard) struct output_file file = OUTPUT_FILE_INIT;
	struct error *err = output_directory_place(backlog->directory, BACKLOG_STATE_FILE, &place);

	if (!err)
		err = output_file_create(&place, &file);
	if (!err)
		err = backlog_fill(backlog, file.fd, place.path);
	if (!err)
		err = output_file_replace(&file, &place);
	if (!err)
		backlog->state = steal_fd(&file.fd);
	return err;
}

struct error *backlog_open(const struct output_directory *directory, const char *prefix,
			   bool is_locked, struct backlog *ret)
{
	struct backlog backlog = {
		.directory = directory, .prefix = xstrdup(prefix), .lock = -1, .state = -1};
	struct error *err = is_locked ? NULL : backlog_lock(&backlog);

	if (!err)
		err = list_files(&backlog);
	if (!err) {
		read_done(&backlog);
		err = write_done(&backlog);
	}
	if (err)
		backlog_close(&backlog);
	else
		*ret = backlog;
	return err;
}

void backlog_look(const struct output_directory *directory, struct backlog *ret)
{
	*ret = (struct backlog){
		.directory = directory, .prefix = xstrdup(""), .lock = -1, .state = -1};
	read_done(ret);
}

static void backlog_free_texts(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}

void backlog_close(struct backlog *backlog)
{
	if (!backlog->directory)
		return;
	backlog_free_texts(backlog->files, backlog->count);
	backlog_free_texts(backlog->done, backlog->done_count);
	free(backlog->prefix);
	close_fd(&backlog->state);
	close_fd(&backlog->lock);
	*backlog = (struct backlog){0};
}

bool backlog_is_done(const struct backlog *backlog, const char *target, const char *file)
{
	CLEANUP(free_ptr) char *line = xasprintf("%s %s", target, file);

	return backlog->done_count && bsearch(&line, backlog->done, backlog->done_count,
					      sizeof(*backlog->done), backlog_compare_lines);
}

static bool is_done_there(const struct backlog *backlog, const char *line, const char *file)
{
	CLEANUP(free_ptr) char *target = xstrndup(line, strcspn(line, " "));

	return backlog_is_done(backlog, target, file);
}

/* Whether the other file is done for all targets for which this one is done. */
static bool backlog_covers(const struct backlog *backlog, const char *file, const char *other)
{
	for (size_t i = 0; i < backlog->done_count; i++)
		if (!strcmp(backlog_file_of(backlog->done[i]), file) &&
		    !is_done_there(backlog, backlog->done[i], other))
			return false;
	return true;
}

bool backlog_is_done_alike(const struct backlog *backlog, const char *file, const char *other)
{
	return backlog_covers(backlog, file, other) && backlog_covers(backlog, other, file);
}

struct error *backlog_set_done(const struct backlog *backlog, const char *target, const char *file)
{
	CLEANUP(free_ptr) char *line = xasprintf("%s %s\n", target, file);
	size_t len = strlen(line);

	if (write(backlog->state, line, len) != (ssize_t)len || fdatasync(backlog->state) < 0)
		return error_errno(errno, "write %s/%s", backlog->directory->path,
				   BACKLOG_STATE_FILE);
	return NULL;
}
