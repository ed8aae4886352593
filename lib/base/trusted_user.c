#include "base/trusted_user.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool sudo_caller_ids(uid_t *uid, gid_t *gid)
{
	const char *user = getenv("SUDO_UID"), *group = getenv("SUDO_GID");

	if (geteuid() != 0 || !user || !group)
		return false;
	*uid = (uid_t)strtoul(user, NULL, 10);
	*gid = (gid_t)strtoul(group, NULL, 10);
	return true;
}

uid_t sudo_caller(void)
{
	const char *caller = geteuid() == 0 ? getenv("SUDO_UID") : NULL;

	return caller ? (uid_t)strtoul(caller, NULL, 10) : 0;
}

/*
 * The id that a user namespace shows for every unmapped user, including root:
 * the default of /proc/sys/kernel/overflowuid.
 */
enum { OVERFLOW_USER = 65534 };

/* The owner of / is root, whatever id a user namespace shows for root. */
static bool owns_root_directory(uid_t user)
{
	struct stat root;

	return user != OVERFLOW_USER && stat("/", &root) == 0 && user == root.st_uid;
}

bool is_trusted_user(uid_t user)
{
	return user == 0 || user == geteuid() || user == sudo_caller() || owns_root_directory(user);
}

static bool is_trusted_group(gid_t group)
{
	const char *caller = geteuid() == 0 ? getenv("SUDO_GID") : NULL;

	return group == 0 || group == getegid() ||
	       (caller && group == (gid_t)strtoul(caller, NULL, 10));
}

bool is_writable_by_others(const struct stat *st)
{
	return st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && !is_trusted_group(st->st_gid));
}
