#include "base/path_user.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/untrusted_user.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* path_resolution(7). */
enum { LINKS_MAX = 40 };

struct walk {
	int at; /* the current directory */
	/* Others may add files there, but not replace those of its owner. */
	bool is_at_sticky;
	char *rest; /* of the path */
	unsigned links;
	uid_t user; /* the least trusted user so far */
};

static void distrust(struct walk *walk, uid_t user)
{
	if (user == 0 || user == geteuid() || user == walk->user)
		return;
	walk->user = walk->user == UNTRUSTED_USER_UNKNOWN ? user : UNTRUSTED_USER_NOBODY;
}

static bool path_user_is_writable_by_others(const struct stat *st)
{
	return st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && st->st_gid != 0);
}

/* Takes ownership of the descriptor. */
static bool path_user_enter(struct walk *walk, int fd)
{
	struct stat st;

	if (walk->at >= 0)
		close(walk->at);
	walk->at = fd;
	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	distrust(walk, st.st_uid);
	walk->is_at_sticky = path_user_is_writable_by_others(&st) && st.st_mode & S_ISVTX;
	if (path_user_is_writable_by_others(&st) && !walk->is_at_sticky)
		distrust(walk, UNTRUSTED_USER_NOBODY);
	return true;
}

static bool path_user_begin(struct walk *walk)
{
	return path_user_enter(
		walk, open(*walk->rest == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/*
 * Removes the first component from the rest and returns it. The caller frees
 * it. Returns NULL at the end of the path.
 */
static char *take_component(struct walk *walk)
{
	char *start = walk->rest + strspn(walk->rest, "/");
	size_t len = strcspn(start, "/");
	char *name = len ? xstrndup(start, len) : NULL;

	memmove(walk->rest, start + len, strlen(start + len) + 1);
	return name;
}

static bool path_user_follow(struct walk *walk, int link)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(link, "", target, sizeof(target));
	char *rest;

	if (len <= 0 || len == (ssize_t)sizeof(target) || ++walk->links > LINKS_MAX)
		return false;
	rest = xasprintf("%.*s%s", (int)len, target, walk->rest);
	free(walk->rest);
	walk->rest = rest;
	return *rest != '/' || path_user_begin(walk);
}

/* Returns false if the component cannot be followed. */
static bool path_user_step(struct walk *walk, const char *name)
{
	CLEANUP(close_fd) int fd = openat(walk->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	if (S_ISDIR(st.st_mode))
		return path_user_enter(walk, steal_fd(&fd));
	if (S_ISLNK(st.st_mode)) {
		distrust(walk, st.st_uid);
		return path_user_follow(walk, fd);
	}
	/*
	 * Another user may have created a link to a file that they cannot read.
	 */
	if (walk->is_at_sticky && st.st_nlink > 1)
		distrust(walk, UNTRUSTED_USER_NOBODY);
	return true;
}

uid_t path_user(const char *path)
{
	struct walk walk = {.at = -1, .rest = xstrdup(path), .user = UNTRUSTED_USER_UNKNOWN};
	bool is_known = path_user_begin(&walk);

	while (is_known) {
		CLEANUP(free_ptr) char *name = take_component(&walk);

		if (!name)
			break;
		is_known = path_user_step(&walk, name);
	}
	free(walk.rest);
	close_fd(&walk.at);
	return is_known ? walk.user : UNTRUSTED_USER_NOBODY;
}
