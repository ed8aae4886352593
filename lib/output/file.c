#include "output/file.h"

#include "base/alloc.h"
#include "base/forked_child.h"
#include "base/trusted_user.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* If this fails, the file remains root's, which is safe. */
static void give_to_sudo_user(int fd)
{
	uid_t uid;
	gid_t gid;

	if (sudo_caller_ids(&uid, &gid) && fchown(fd, uid, gid) < 0)
		return;
}

#define HIDDEN ".prof."

static char *hidden_name(void)
{
	uint64_t number = 0;

	/* A number that is not random only collides more often. */
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = (uint64_t)getpid();
	return xasprintf(HIDDEN "%016" PRIx64, number);
}

bool output_file_is_hidden_name(const char *name)
{
	size_t prefix = strlen(HIDDEN);

	return !strncmp(name, HIDDEN, prefix) && strlen(name) == prefix + 16 &&
	       strspn(name + prefix, "0123456789abcdef") == 16;
}

/* For file systems without O_TMPFILE, such as NFS, and for containers without
 * /proc, which is needed to link a nameless file. */
static int create_hidden(int folder, char **ret)
{
	CLEANUP(free_ptr) char *name = hidden_name();
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0)
		*ret = STEAL(name);
	return fd;
}

struct error *output_file_create(const struct output_place *place, struct output_file *ret)
{
	struct output_file file = OUTPUT_FILE_INIT;

	if (access("/proc/self/fd", X_OK) == 0)
		file.fd = openat(place->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file.fd < 0)
		file.fd = create_hidden(place->folder, &file.name);
	if (file.fd < 0)
		return error_errno(errno, "create %s", place->path);
	if (file.name)
		file.folder = fcntl(place->folder, F_DUPFD_CLOEXEC, 3);
	give_to_sudo_user(file.fd);
	*ret = file;
	return NULL;
}

void output_file_discard(struct output_file *file)
{
	if (file->name)
		unlinkat(file->folder, file->name, 0);
	free(STEAL(file->name));
	close_fd(&file->folder);
	close_fd(&file->fd);
	*file = (struct output_file)OUTPUT_FILE_INIT;
}

/* Links a nameless file to this name. Fails with EEXIST if the name exists. */
static int link_as(const struct output_file *file, int folder, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	return linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW);
}

/* Moves the new file from NAME.old to a hidden name: a file that has lost its
 * last name cannot be linked again. */
static void output_file_hide(struct output_file *file, const struct output_place *place,
			     const char *old)
{
	CLEANUP(free_ptr) char *hidden = hidden_name();

	if (renameat(place->folder, old, place->folder, hidden) < 0) {
		unlinkat(place->folder, old, 0);
		return;
	}
	file->name = STEAL(hidden);
	file->folder = fcntl(place->folder, F_DUPFD_CLOEXEC, 3);
}

/* Links the new file as NAME.old and then exchanges both names atomically. At
 * no time is an additional name needed, unless the exchange fails. */
static bool exchange_with_old(struct output_file *file, const struct output_place *place,
			      const char *old)
{
	if (file->name || link_as(file, place->folder, old) < 0)
		return false;
	if (renameat2(place->folder, old, place->folder, place->name, RENAME_EXCHANGE) == 0)
		return true;
	output_file_hide(file, place, old);
	return false;
}

/*
 * Keeps the old file as NAME.old. The old file also keeps its own name until
 * the new file replaces it, unless the file system supports neither
 * RENAME_EXCHANGE nor hard links. Sets *replaced if the new file has its name
 * already.
 */
static struct error *keep_old(struct output_file *file, const struct output_place *place,
			      bool *replaced)
{
	CLEANUP(free_ptr) char *old = xasprintf("%s.old", place->name);
	int folder = place->folder;

	if (unlinkat(folder, old, 0) < 0 && errno != ENOENT)
		return error_errno(errno, "replace %s.old", place->path);
	*replaced = exchange_with_old(file, place, old);
	if (*replaced || linkat(folder, place->name, folder, old, 0) == 0 ||
	    renameat(folder, place->name, folder, old) == 0)
		return NULL;
	return error_errno(errno, "keep the old %s", place->path);
}

static int rename_hidden(const struct output_file *file, const struct output_place *place)
{
	return renameat(place->folder, file->name, place->folder, place->name);
}

/* Links a nameless file to a hidden name, then renames that. */
static int link_and_rename(const struct output_file *file, const struct output_place *place)
{
	CLEANUP(free_ptr) char *hidden = hidden_name();
	int number;

	if (link_as(file, place->folder, hidden) < 0)
		return -1;
	if (renameat(place->folder, hidden, place->folder, place->name) == 0)
		return 0;
	number = errno;
	unlinkat(place->folder, hidden, 0);
	errno = number;
	return -1;
}

struct output_file_replacement {
	const struct output_file *file;
	const struct output_place *place;
};

static int output_file_replace_named(void *user)
{
	const struct output_file_replacement *replacement = user;

	return link_and_rename(replacement->file, replacement->place) < 0 ? errno : 0;
}

/* Runs in a child, so that a SIGKILL of prof between both steps does not leave
 * the hidden name behind the new file. */
static int replace_nameless(const struct output_file *file, const struct output_place *place)
{
	CLEANUP(error_cleanup) struct error *err = NULL;
	int status;
	pid_t child;

	err = forked_child_start(FORKED_CHILD_LIVES_ON, output_file_replace_named,
				 &(struct output_file_replacement){file, place}, &child);
	if (err)
		return link_and_rename(file, place);
	status = forked_child_wait(child).status;
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
	return errno ? -1 : 0;
}

struct error *output_file_replace(struct output_file *file, const struct output_place *place)
{
	if ((file->name ? rename_hidden(file, place) : replace_nameless(file, place)) < 0)
		return error_errno(errno, "write %s", place->path);
	free(STEAL(file->name));
	return NULL;
}

bool output_file_is_at(int fd, const struct output_place *place)
{
	struct stat file, there;

	return fd >= 0 && fstat(fd, &file) == 0 &&
	       fstatat(place->folder, place->name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       file.st_dev == there.st_dev && file.st_ino == there.st_ino;
}

bool output_file_remove(const char *path, const struct stat *st)
{
	CLEANUP(output_place_deinit) struct output_place place = OUTPUT_PLACE_INIT;
	CLEANUP(error_cleanup) struct error *err = output_place_find(path, &place);
	struct stat there;

	return !err && place.folder >= 0 &&
	       fstatat(place.folder, place.name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       there.st_dev == st->st_dev && there.st_ino == st->st_ino &&
	       unlinkat(place.folder, place.name, 0) == 0;
}

static bool output_file_exists(const struct output_place *place)
{
	return faccessat(place->folder, place->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

struct error *output_file_publish(struct output_file *file, const struct output_place *place,
				  int own, struct error **old_lost)
{
	bool replaced = false;

	*old_lost = NULL;
	if (!file->name && link_as(file, place->folder, place->name) == 0)
		return NULL;
	if (output_file_exists(place) && !output_file_is_at(own, place))
		*old_lost = keep_old(file, place, &replaced);
	return replaced ? NULL : output_file_replace(file, place);
}
