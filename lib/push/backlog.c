#include "push/backlog.h"

#include "base/alloc.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEW_STATE_FILE BACKLOG_STATE_FILE ".new"

struct found {
	char *name;
	struct timespec modified;
};

static struct error *open_folder(const char *directory, struct backlog *backlog)
{
	backlog->folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (backlog->folder < 0)
		return error_errno(errno, "open %s", directory);
	return NULL;
}

static struct error *lock(const char *directory, const struct backlog *backlog)
{
	if (flock(backlog->folder, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return error_hint(error_errno(EWOULDBLOCK, "%s", directory),
				  "another prof delivers the profiles of this directory");
	return NULL;
}

static bool is_profile(int folder, const char *name, struct timespec *modified)
{
	static const char extension[] = ".pb.gz";
	size_t len = strlen(name);
	struct stat st;

	if (name[0] == '.' || strchr(name, '\n') || len < sizeof(extension) ||
	    strcmp(name + len - (sizeof(extension) - 1), extension) != 0)
		return false;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return false;
	*modified = st.st_mtim;
	return true;
}

static int compare_found(const void *a, const void *b)
{
	const struct found *left = a, *right = b;

	if (left->modified.tv_sec != right->modified.tv_sec)
		return left->modified.tv_sec < right->modified.tv_sec ? -1 : 1;
	if (left->modified.tv_nsec != right->modified.tv_nsec)
		return left->modified.tv_nsec < right->modified.tv_nsec ? -1 : 1;
	return strcmp(left->name, right->name);
}

static struct error *list_files(struct backlog *backlog)
{
	CLEANUP(close_dir) DIR *dir = opendir(backlog->path);
	CLEANUP(free_ptr) struct found *found = NULL;
	size_t count = 0, room = 0;
	const struct dirent *entry;
	struct timespec modified;

	if (!dir)
		return error_errno(errno, "read %s", backlog->path);
	while ((entry = readdir(dir))) {
		if (!text_begins(entry->d_name, backlog->prefix) ||
		    !is_profile(backlog->folder, entry->d_name, &modified))
			continue;
		GROW(found, count, room);
		found[count++] = (struct found){xstrdup(entry->d_name), modified};
	}
	if (count)
		qsort(found, count, sizeof(*found), compare_found);
	backlog->files = xcalloc(count, sizeof(*backlog->files));
	backlog->count = count;
	for (size_t i = 0; i < count; i++)
		backlog->files[i] = found[i].name;
	return NULL;
}

/* The file of a line "TARGET FILE"; a target has no spaces. */
static const char *file_of(const char *line)
{
	const char *space = strchr(line, ' ');

	return space ? space + 1 : "";
}

static bool has_file(const struct backlog *backlog, const char *name)
{
	struct timespec modified;

	return is_profile(backlog->folder, name, &modified);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_done(struct backlog *backlog)
{
	int fd = openat(backlog->folder, BACKLOG_STATE_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	CLEANUP(close_file) FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	CLEANUP(free_ptr) char *line = NULL;
	size_t room = 0, line_room = 0;
	ssize_t len;

	while (in && (len = getline(&line, &line_room, in)) > 0) {
		/* One that was cut off when the machine stopped. */
		if (line[len - 1] != '\n')
			break;
		line[len - 1] = '\0';
		if (!has_file(backlog, file_of(line)))
			continue;
		GROW(backlog->done, backlog->done_count, room);
		backlog->done[backlog->done_count++] = xstrdup(line);
	}
	if (backlog->done_count)
		qsort(backlog->done, backlog->done_count, sizeof(*backlog->done), compare_lines);
}

/* Without the lines of files that are gone. */
static struct error *write_done(struct backlog *backlog)
{
	FILE *out;

	backlog->state = openat(backlog->folder, NEW_STATE_FILE,
				O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
				0600);
	out = backlog->state < 0 ? NULL : fdopen(dup(backlog->state), "a");
	if (!out)
		return error_errno(errno, "create %s/%s", backlog->path, NEW_STATE_FILE);
	for (size_t i = 0; i < backlog->done_count; i++)
		fprintf(out, "%s\n", backlog->done[i]);
	if (fclose(out) != 0 || fdatasync(backlog->state) < 0 ||
	    renameat(backlog->folder, NEW_STATE_FILE, backlog->folder, BACKLOG_STATE_FILE) < 0)
		return error_errno(errno, "write %s/%s", backlog->path, BACKLOG_STATE_FILE);
	return NULL;
}

struct error *backlog_open(const char *directory, const char *prefix, bool is_locked,
			   struct backlog *ret)
{
	struct backlog backlog = {
		.path = xstrdup(directory), .prefix = xstrdup(prefix), .folder = -1, .state = -1};
	struct error *err = open_folder(directory, &backlog);

	if (!err && !is_locked)
		err = lock(directory, &backlog);
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

void backlog_look(const char *directory, struct backlog *ret)
{
	*ret = (struct backlog){
		.path = xstrdup(directory), .prefix = xstrdup(""), .folder = -1, .state = -1};
	error_free(open_folder(directory, ret));
	read_done(ret);
}

static void free_texts(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}

void backlog_close(struct backlog *backlog)
{
	if (!backlog->path)
		return;
	free_texts(backlog->files, backlog->count);
	free_texts(backlog->done, backlog->done_count);
	free(backlog->path);
	free(backlog->prefix);
	close_fd(&backlog->state);
	close_fd(&backlog->folder);
	*backlog = (struct backlog){0};
}

bool backlog_is_done(const struct backlog *backlog, const char *target, const char *file)
{
	CLEANUP(free_ptr) char *line = xasprintf("%s %s", target, file);

	return backlog->done_count && bsearch(&line, backlog->done, backlog->done_count,
					      sizeof(*backlog->done), compare_lines);
}

static bool is_done_there(const struct backlog *backlog, const char *line, const char *file)
{
	CLEANUP(free_ptr) char *target = xstrndup(line, strcspn(line, " "));

	return backlog_is_done(backlog, target, file);
}

/* Whether the other file is done for all targets of this one. */
static bool covers(const struct backlog *backlog, const char *file, const char *other)
{
	for (size_t i = 0; i < backlog->done_count; i++)
		if (!strcmp(file_of(backlog->done[i]), file) &&
		    !is_done_there(backlog, backlog->done[i], other))
			return false;
	return true;
}

bool backlog_is_done_alike(const struct backlog *backlog, const char *file, const char *other)
{
	return covers(backlog, file, other) && covers(backlog, other, file);
}

struct error *backlog_set_done(const struct backlog *backlog, const char *target, const char *file)
{
	CLEANUP(free_ptr) char *line = xasprintf("%s %s\n", target, file);
	size_t len = strlen(line);

	if (write(backlog->state, line, len) != (ssize_t)len || fdatasync(backlog->state) < 0)
		return error_errno(errno, "write %s/%s", backlog->path, BACKLOG_STATE_FILE);
	return NULL;
}
