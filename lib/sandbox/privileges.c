#include "sandbox/privileges.h"

#include "base/cleanup.h"
#include "base/forked_child.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void close_between(unsigned first, unsigned last)
{
	struct rlimit limit;

	if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
		return;
	/* Needed before Linux 5.9. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= last)
		last = (unsigned)limit.rlim_cur;
	for (unsigned fd = first; fd < last; fd++)
		close((int)fd);
}

void privileges_close_others(unsigned first, unsigned fd)
{
	if (fd > first)
		close_between(first, fd - 1);
	close_between(fd < first ? first : fd + 1, ~0U);
}

struct error *privileges_limit(int resource, const char *name, uint64_t soft, uint64_t hard)
{
	struct rlimit present, wanted = {soft, hard};

	if (getrlimit(resource, &present) < 0)
		return error_errno(errno, "read %s", name);
	if (wanted.rlim_max > present.rlim_max)
		wanted.rlim_max = present.rlim_max;
	if (wanted.rlim_cur > wanted.rlim_max)
		wanted.rlim_cur = wanted.rlim_max;
	if (setrlimit(resource, &wanted) < 0)
		return error_errno(errno, "set %s", name);
	return NULL;
}

/* Ignores calls that prof may not make (EPERM), or that no process in its user
 * namespace may make (EINVAL). */
static bool failed_where_possible(int result)
{
	return result < 0 && errno != EPERM && errno != EINVAL;
}

struct error *privileges_drop_user(uid_t uid, gid_t gid)
{
	if (geteuid() == 0 && (failed_where_possible(setgroups(0, NULL)) ||
			       failed_where_possible(setresgid(gid, gid, gid)) ||
			       failed_where_possible(setresuid(uid, uid, uid))))
		return error_errno(errno, "become user %u", (unsigned)uid);
	return NULL;
}

struct error *privileges_drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capset, &header, none) < 0)
		return error_errno(errno, "drop capabilities");
	return NULL;
}

struct error *privileges_set_attributes(pid_t parent)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_errno(errno, "set no_new_privs");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return error_errno(errno, "become undumpable");
	return forked_child_end_with(parent) ? NULL : error_new("the parent has ended");
}
