#include "output/directory.h"

#include "base/alloc.h"
#include "base/trusted_user.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Opens the directory again, because an open file description has only one
 * offset. */
static int directory_open_again(int fd, int flags)
{
	return openat(fd, ".", flags | O_DIRECTORY | O_CLOEXEC);
}

/* Takes ownership of fd. */
static struct error *directory_take(int fd, const char *path, struct output_directory *ret)
{
	struct output_directory directory = {.fd = fd};
	size_t len = strlen(path);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		struct error *err = error_errno(errno, "open %s", path);

		close_fd(&fd);
		return err;
	}
	directory.is_shared = !is_trusted_user(st.st_uid) || is_writable_by_others(&st);
	while (len > 1 && path[len - 1] == '/')
		len--;
	directory.path = xstrndup(path, len);
	*ret = directory;
	return NULL;
}

static struct error *create(const struct output_place *parent, const char *path, int *ret)
{
	if (mkdirat(parent->folder, parent->name, 0700) < 0 && errno != EEXIST)
		return error_errno(errno, "create the directory %s", path);
	*ret = openat(parent->folder, parent->name,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return NULL;
}

struct error *output_directory_open(const char *path, bool creates, struct output_directory *ret)
{
	CLEANUP(output_place_deinit) struct output_place place = OUTPUT_PLACE_INIT;
	struct error *err = output_place_find_directory(path, &place);
	int fd = -1;

	if (err)
		return err;
	if (!place.name)
		fd = directory_open_again(place.folder, O_RDONLY);
	else if (creates)
		err = create(&place, path, &fd);
	else
		errno = ENOENT;
	return err ? err : directory_take(fd, path, ret);
}

struct error *output_directory_open_to_read(const char *path, struct output_directory *ret)
{
	struct error *err = directory_take(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path,
					   ret);

	if (!err)
		ret->takes_all = true;
	return err;
}

void output_directory_close(struct output_directory *directory)
{
	if (!directory->path)
		return;
	close_fd(&directory->fd);
	free(directory->path);
	*directory = (struct output_directory){0};
}

/* Accepts 0 links: the file was replaced after it was opened. */
static bool directory_is_ours(const struct output_directory *directory, const struct stat *st)
{
	return directory->takes_all ||
	       (is_trusted_user(st->st_uid) && (st->st_nlink <= 1 || !directory->is_shared));
}

struct error *output_directory_each(const struct output_directory *directory,
				    output_directory_visit *visit, void *user)
{
	int fd = directory_open_again(directory->fd, O_RDONLY);
	CLEANUP(close_dir) DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat st;

	if (!stream) {
		struct error *err = error_errno(errno, "read %s", directory->path);

		close_fd(&fd);
		return err;
	}
	while ((entry = readdir(stream)))
		if (fstatat(directory->fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			visit(user, entry->d_name, &st, directory_is_ours(directory, &st));
	return NULL;
}

int output_directory_open_file(const struct output_directory *directory, const char *name,
			       struct stat *ret)
{
	CLEANUP(close_fd)
	int fd = openat(directory->fd, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, ret) < 0)
		return -1;
	errno = S_ISREG(ret->st_mode) ? EPERM : EINVAL;
	return S_ISREG(ret->st_mode) && directory_is_ours(directory, ret) ? steal_fd(&fd) : -1;
}

bool output_directory_remove(const struct output_directory *directory, const char *name)
{
	return unlinkat(directory->fd, name, 0) == 0;
}

struct error *output_directory_place(const struct output_directory *directory, const char *name,
				     struct output_place *ret)
{
	struct output_place place = OUTPUT_PLACE_INIT;
	struct stat st;

	if (fstat(directory->fd, &st) == 0 && !st.st_nlink)
		return error_hint(error_errno(ENOENT, "write to %s", directory->path),
				  "the directory was removed; restart prof");
	/* With O_PATH, the descriptor does not share the directory's lock
	 * (flock(2)). */
	place.folder = directory_open_again(directory->fd, O_PATH);
	if (place.folder < 0)
		return error_errno(errno, "open %s", directory->path);
	place.path = xasprintf("%s/%s", directory->path, name);
	place.name = place.path + strlen(place.path) - strlen(name);
	*ret = place;
	return NULL;
}
