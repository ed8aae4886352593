#include "base/hung_processes.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* Enough for the first lines of /proc/PID/status. */
enum { STATUS_BYTES = 512 };

/* No user has this id, see setreuid(2). */
#define HUNG_USER_UNKNOWN ((uid_t)-1)

/*
 * The name of the process precedes it on a line of its own, in which the kernel
 * escapes line breaks.
 */
bool hung_processes_user(const char *status, uid_t *ret)
{
	const char *line = strstr(status, "\nUid:\t");
	unsigned user;

	if (!line || sscanf(line, "\nUid:\t%*u\t%u", &user) != 1)
		return false;
	*ret = user;
	return true;
}

/*
 * Returns 0 for root and prof's own user, because they do not attack: one
 * of their processes is not evidence against the others. Returns HUNG_USER_UNKNOWN
 * if the process has ended.
 */
static uid_t untrusted_user_of(pid_t pid)
{
	char path[64], text[STATUS_BYTES];
	ssize_t len = 0;
	uid_t user = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		len = read(fd, text, sizeof(text) - 1);
	if (len <= 0)
		return HUNG_USER_UNKNOWN;
	text[len] = '\0';
	return hung_processes_user(text, &user) && user != geteuid() ? user : 0;
}

bool hung_processes_add(struct hung_processes *hung, pid_t pid)
{
	size_t count = atomic_load(&hung->count);

	if (count == HUNG_PROCESSES_MAX)
		return false;
	atomic_store(&hung->items[count].pid, pid);
	atomic_store(&hung->items[count].user, untrusted_user_of(pid));
	atomic_store(&hung->count, count + 1);
	return true;
}

bool hung_processes_have(const struct hung_processes *hung, pid_t pid)
{
	size_t count = atomic_load(&hung->count);
	uid_t user = count ? untrusted_user_of(pid) : 0;

	for (size_t i = 0; i < count; i++) {
		uid_t hung_user = atomic_load(&hung->items[i].user);

		if (atomic_load(&hung->items[i].pid) == pid ||
		    (user && (hung_user == user || hung_user == HUNG_USER_UNKNOWN)))
			return true;
	}
	return false;
}
