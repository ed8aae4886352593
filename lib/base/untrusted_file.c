#include "base/untrusted_file.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/path_user.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Group "nogroup". The group of a user's files is not necessarily a group of
 * the user.
 */
enum { NO_GROUP = 65534 };

enum {
	LOOK_UP_FLAGS = O_PATH | O_CLOEXEC,
	OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
	ATTEMPTS = 8,
};

/* The thread's ids and groups, to be restored. */
struct rights {
	bool is_changed;
	uid_t user;
	gid_t group;
	gid_t *groups;
	int group_count;
};

/*
 * The system call changes only this thread; the C library's function changes
 * all threads.
 */
static bool set_groups(const gid_t *groups, int count)
{
	return syscall(SYS_setgroups, (size_t)count, groups) == 0;
}

static void untrusted_file_restore(struct rights *own)
{
	int error = errno;

	if (own->is_changed) {
		setfsuid(own->user);
		setfsgid(own->group);
		set_groups(own->groups, own->group_count);
	}
	free(own->groups);
	errno = error;
}

/*
 * Returns false if this is not permitted. A user other than root also loses,
 * with root's id, the capabilities that override file permissions.
 */
static bool take_rights_of(uid_t user, struct rights *own)
{
	if (geteuid() != 0 || user == 0 || user == UNTRUSTED_USER_UNKNOWN)
		return true;
	own->group_count = getgroups(0, NULL);
	own->groups = xcalloc((size_t)own->group_count, sizeof(*own->groups));
	own->group_count = getgroups(own->group_count, own->groups);
	if (own->group_count < 0 || !set_groups(NULL, 0))
		return false;
	own->is_changed = true;
	own->group = (gid_t)setfsgid(NO_GROUP);
	own->user = (uid_t)setfsuid(user);
	return (uid_t)setfsuid(UNTRUSTED_USER_UNKNOWN) == user;
}

/*
 * For kernels without openat2(): no component may be a symbolic link or "..".
 */
static int untrusted_file_walk(int base, const char *path)
{
	CLEANUP(free_ptr) char *copy = xstrdup(path);
	CLEANUP(close_fd) int at = fcntl(base, F_DUPFD_CLOEXEC, 0);
	struct stat st;
	char *state = NULL;

	for (char *part = strtok_r(copy, "/", &state); part; part = strtok_r(NULL, "/", &state)) {
		int next = openat(at, part, LOOK_UP_FLAGS | O_NOFOLLOW);

		if (next < 0)
			return -1;
		close(at);
		at = next;
		if (fstat(at, &st) < 0 || S_ISLNK(st.st_mode) || strcmp(part, "..") == 0) {
			errno = ELOOP;
			return -1;
		}
	}
	return steal_fd(&at);
}

static int untrusted_file_open_below(int base, const char *path, int flags, uint64_t resolve)
{
	const struct open_how how = {.flags = (uint64_t)flags, .resolve = resolve};
	int fd = -1;

	/* EAGAIN: a directory was renamed while ".." was followed. */
	for (unsigned i = 0; i < ATTEMPTS && fd < 0 && (!i || errno == EAGAIN); i++)
		fd = (int)syscall(SYS_openat2, base, path, &how, sizeof(how));
	/* EPERM: from a system call filter that is older than openat2(). */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM) && flags & O_PATH)
		fd = untrusted_file_walk(base, path);
	return fd;
}

/* Opens the directory where a path starts. */
static int open_base(const struct untrusted_name *name)
{
	const char *base = name->root ? name->root : *name->path == '/' ? "/" : ".";

	return open(base, LOOK_UP_FLAGS | O_DIRECTORY);
}

static int open_name(const struct untrusted_name *name, int base, const struct rights *own,
		     int flags)
{
	const char *path = name->path + strspn(name->path, "/");
	uint64_t resolve = 0;

	if (name->must_not_be_link)
		flags |= O_NOFOLLOW;
	/* Links of /proc bypass directories that a user may not enter. */
	if (own->is_changed || name->root || name->distrusts_path)
		resolve |= RESOLVE_NO_MAGICLINKS;
	if (name->root)
		resolve |= RESOLVE_IN_ROOT;
	return resolve ? untrusted_file_open_below(base, path, flags, resolve)
		       : openat(base, path, flags);
}

static bool is_allowed(const struct untrusted_name *name, const struct stat *st)
{
	bool is_owned = st->st_uid == 0 || st->st_uid == geteuid() || st->st_uid == name->user;

	errno = S_ISREG(st->st_mode) ? EPERM : EINVAL;
	return S_ISREG(st->st_mode) && (is_owned || !name->must_be_owned);
}

/* Opens the file of an O_PATH descriptor. */
static int untrusted_file_open_again(const struct untrusted_name *name, int base,
				     const struct rights *own, int at, const struct stat *st)
{
	char path[32];
	struct stat opened;
	CLEANUP(close_fd) int fd = -1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
	fd = open(path, OPEN_FLAGS);
	if (fd >= 0 || errno != ENOENT)
		return steal_fd(&fd);
	fd = open_name(name, base, own, OPEN_FLAGS);
	errno = ESTALE;
	if (fd < 0 || fstat(fd, &opened) < 0 || opened.st_dev != st->st_dev ||
	    opened.st_ino != st->st_ino)
		return -1;
	return steal_fd(&fd);
}

static int untrusted_file_open_checked(const struct untrusted_name *name, int base,
				       const struct rights *own)
{
	CLEANUP(close_fd) int at = open_name(name, base, own, LOOK_UP_FLAGS);
	CLEANUP(close_fd) int fd = -1;
	struct stat st;

	if (at < 0 || fstat(at, &st) < 0 || !is_allowed(name, &st))
		return -1;
	fd = untrusted_file_open_again(name, base, own, at, &st);
	if (fd >= 0 && name->accepts && !name->accepts(fd)) {
		errno = EPERM;
		return -1;
	}
	return steal_fd(&fd);
}

static uid_t untrusted_file_user_of(const struct untrusted_name *name)
{
	bool is_own = name->user == 0 || name->user == UNTRUSTED_USER_UNKNOWN;

	return geteuid() == 0 && is_own && name->distrusts_path ? path_user(name->path)
								: name->user;
}

int untrusted_file_open(const struct untrusted_name *name)
{
	CLEANUP(close_fd) int base = open_base(name);
	CLEANUP(untrusted_file_restore) struct rights own = {0};

	if (base < 0)
		return -1;
	if (take_rights_of(untrusted_file_user_of(name), &own))
		return untrusted_file_open_checked(name, base, &own);
	errno = EACCES;
	return -1;
}
