#include "sandbox/connected.h"

#include "base/known_user.h"
#include "sandbox/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void connected_set_signals(void)
{
	for (int number = 1; number < NSIG; number++)
		if (number != SIGINT && number != SIGHUP && number != SIGUSR2)
			signal(number, SIG_DFL);
	/* A write beyond the limit then fails. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

/* Discards output, which libraries or servers could produce. */
static struct error *set_files(unsigned channel)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return error_errno(errno, "open /dev/null");
	for (unsigned fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fd != channel)
			dup2(null, (int)fd);
	privileges_close_others(STDERR_FILENO + 1, channel);
	return NULL;
}

static struct error *connected_set_limits(const struct connected *connected)
{
	uint64_t data = connected->present.data_bytes + connected->memory_bytes;
	struct error *err = privileges_limit(RLIMIT_FSIZE, "RLIMIT_FSIZE", connected->file_bytes,
					     connected->file_bytes);

	if (!err)
		err = privileges_limit(RLIMIT_DATA, "RLIMIT_DATA", data, data);
	if (!err)
		err = privileges_limit(RLIMIT_CORE, "RLIMIT_CORE", 0, 0);
	if (!err)
		err = privileges_limit(RLIMIT_NOFILE, "RLIMIT_NOFILE", connected->descriptors,
				       connected->descriptors);
	if (!err)
		err = privileges_limit(RLIMIT_CPU, "RLIMIT_CPU", connected->cpu_seconds,
				       connected->cpu_seconds + 1);
	return err;
}

static struct error *become_caller(uid_t caller)
{
	const struct passwd *user;
	struct error *err;

	if (!caller || geteuid() != 0)
		return NULL;
	user = known_user_by_id(caller);
	if (!user)
		return error_new("user %u has no home directory", (unsigned)caller);
	if (setenv("HOME", user->pw_dir, 1) < 0)
		return error_errno(errno, "set HOME");
	err = privileges_drop_user(caller, user->pw_gid);
	if (!err && (getuid() != caller || geteuid() != caller))
		err = error_new("become user %u", (unsigned)caller);
	return err;
}

struct error *connected_enter(const struct connected *connected)
{
	struct error *err;

	connected_set_signals();
	err = set_files((unsigned)connected->channel);
	if (!err)
		err = connected_set_limits(connected);
	if (!err)
		err = become_caller(connected->caller);
	if (!err)
		err = privileges_drop_capabilities();
	if (!err)
		err = privileges_set_attributes(connected->parent);
	return err;
}
