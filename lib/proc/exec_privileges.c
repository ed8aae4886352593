#include "proc/exec_privileges.h"

#include "base/alloc.h"

#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum exec_privileges exec_privileges_judge(const struct exec_facts *facts)
{
	const struct stat *file = &facts->file;

	if (facts->may_gain && file->st_mode & S_ISUID && file->st_uid != facts->user)
		return EXEC_SETS_USER;
	if (facts->may_gain && (file->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
	    file->st_gid != facts->group)
		return EXEC_SETS_GROUP;
	/* Root has them anyway. */
	if (facts->may_gain && facts->has_capabilities && facts->user != 0)
		return EXEC_ADDS_CAPABILITIES;
	return facts->may_read ? EXEC_KEEPS_PRIVILEGES : EXEC_FORBIDS_READING;
}

/*
 * The numbers are little-endian, which does not matter for a comparison with 0.
 */
bool exec_privileges_permits_any(const void *attribute, size_t len)
{
	struct vfs_cap_data data = {0};

	memcpy(&data, attribute, len < sizeof(data) ? len : sizeof(data));
	for (size_t i = 0; i < ARRAY_SIZE(data.data); i++)
		if (data.data[i].permitted)
			return true;
	return false;
}

static bool has_capabilities(const char *path)
{
	char attribute[sizeof(struct vfs_ns_cap_data)];
	ssize_t len = getxattr(path, "security.capability", attribute, sizeof(attribute));

	return len > 0 && exec_privileges_permits_any(attribute, (size_t)len);
}

static bool may_gain_privileges(const char *path)
{
	struct statvfs system;

	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 &&
	       (statvfs(path, &system) < 0 || !(system.f_flag & ST_NOSUID));
}

enum exec_privileges exec_privileges_of(const char *path, const struct stat *file)
{
	return exec_privileges_judge(&(struct exec_facts){
		.file = *file,
		.user = getuid(),
		.group = getgid(),
		.may_gain = may_gain_privileges(path),
		.has_capabilities = has_capabilities(path),
		.may_read = access(path, R_OK) == 0,
	});
}
