#include "cmd/viewer.h"

#include "base/cleanup.h"
#include "base/forked_child.h"
#include "base/text.h"
#include "base/trusted_user.h"
#include "cmd/ui/message.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const char opener[] = "xdg-open";

static bool is_for_desktop(const struct output *output)
{
	return output->is_file && output->is_written && text_begins(output->format->viewer, opener);
}

/* Browsers refuse to run as root. */
static bool become_sudo_user(void)
{
	uid_t uid;
	gid_t gid;

	return !sudo_caller_ids(&uid, &gid) ||
	       (setgroups(0, NULL) == 0 && setgid(gid) == 0 && setuid(uid) == 0);
}

struct viewer_opening {
	const char *path;
	int report_fd;
};

/* Called in the child, which ignores the end of the terminal and signals to
 * prof. */
static int run_opener(void *user)
{
	const struct viewer_opening *opening = user;
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC), number;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(nothing, fd);
	if (become_sudo_user())
		execlp(opener, opener, opening->path, NULL);
	number = errno;
	return write(opening->report_fd, &number, sizeof(number)) != sizeof(number);
}

static struct error *start_opener(const char *path)
{
	int report[2], number = 0;
	struct error *err;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0)
		return error_errno(errno, "start %s", opener);
	/* The child is not waited for, because prof exits soon. */
	err = forked_child_start(FORKED_CHILD_LIVES_ON, run_opener,
				 &(struct viewer_opening){path, report[1]}, &pid);
	close(report[1]);
	/* A child that was started reports nothing. */
	if (!err && read(report[0], &number, sizeof(number)) < (ssize_t)sizeof(number))
		number = 0;
	close(report[0]);
	if (err || !number)
		return err;
	return error_hint(error_errno(number, "start %s", opener), "open %s by hand", path);
}

void viewer_open(const struct output *outputs, size_t count)
{
	struct error *err = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!is_for_desktop(&outputs[i]))
			continue;
		err = start_opener(outputs[i].path);
		if (err)
			message_error(err);
		return;
	}
	message("--open: no page was written (use -o FILE.html)");
}
