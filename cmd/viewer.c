#include "cmd/viewer.h"

#include "base/cleanup.h"
#include "base/trusted_user.h"
#include "cmd/ui/message.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char opener[] = "xdg-open";

static bool is_for_desktop(const struct output *output)
{
	return output->is_file && output->is_written &&
	       !strncmp(output->format->viewer, opener, strlen(opener));
}

/* Browsers refuse to run as root. */
static bool become_sudo_user(void)
{
	uid_t uid;
	gid_t gid;

	return !sudo_caller_ids(&uid, &gid) ||
	       (setgroups(0, NULL) == 0 && setgid(gid) == 0 && setuid(uid) == 0);
}

/* In the child: an end of the terminal or a signal of prof's are nothing to it. */
static void run_opener(const char *path, int report_fd)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC), number;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(nothing, fd);
	if (become_sudo_user())
		execlp(opener, opener, path, NULL);
	number = errno;
	_exit(write(report_fd, &number, sizeof(number)) != sizeof(number));
}

static struct error *start_opener(const char *path)
{
	int report[2], number = 0;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0)
		return error_errno(errno, "start %s", opener);
	pid = fork();
	if (pid == 0)
		run_opener(path, report[1]);
	close(report[1]);
	/* Nothing comes of one that was started. */
	if (pid < 0 || read(report[0], &number, sizeof(number)) > 0)
		number = number ? number : errno;
	close(report[0]);
	if (!number)
		return NULL;
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
