#include "cmd/ui/pager.h"

#include "base/cleanup.h"
#include "base/forked_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PAGER_DEFAULT_COLUMNS = 120, /* without a terminal */
	PAGER_LEAST_COLUMNS = 60,
	MOST_COLUMNS = 1000,
};

unsigned pager_columns(void)
{
	const char *wish = getenv("COLUMNS");
	struct winsize size = {0};
	unsigned long columns = wish ? strtoul(wish, NULL, 10) : 0;

	if (!columns && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		columns = size.ws_col;
	if (!columns)
		return PAGER_DEFAULT_COLUMNS;
	if (columns > MOST_COLUMNS)
		return MOST_COLUMNS;
	return columns > PAGER_LEAST_COLUMNS ? (unsigned)columns : PAGER_LEAST_COLUMNS;
}

static const char *pager_command(void)
{
	const char *pager = getenv("PAGER");

	return pager ? pager : "command -v less >/dev/null || exit 127; exec less";
}

static bool wants_pager(const struct pager_options *options)
{
	const char *pager = pager_command();

	return !options->no_pager && isatty(STDOUT_FILENO) && !terminal_is_dumb() && *pager &&
	       strcmp(pager, "cat") != 0;
}

void pager_open(struct pager *pager, const struct pager_options *options)
{
	*pager = (struct pager){
		.columns = pager_columns(),
		.has_colours = colour_is_used(options->colours),
		.is_used = wants_pager(options),
	};
	pager->out = open_memstream(&pager->text, &pager->len);
}

const char *pager_sequence(const struct pager *pager, enum style style)
{
	return pager->has_colours ? style_sequence(style) : "";
}

static struct error *pager_write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t written = write(fd, text, len);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return error_errno(errno, "write to stdout");
		text += written;
		len -= (size_t)written;
	}
	return NULL;
}

/* Uses git's options for less: colours pass through; if all text fits, less
 * ends by itself and leaves it on the screen. */
static int be_pager(void *user)
{
	const int *in = user;

	dup2(*in, STDIN_FILENO);
	setenv("LESS", "FRX", false);
	setenv("LESSCHARSET", "utf-8", false);
	execl("/bin/sh", "sh", "-c", pager_command(), (char *)NULL);
	return 127;
}

/* The user may leave the pager before it has read everything. That is not an
 * error. */
static void feed_pager(int fd, const char *text, size_t len)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;

	sigaction(SIGPIPE, &ignore, &before);
	error_free(pager_write_all(fd, text, len));
	close(fd);
	sigaction(SIGPIPE, &before, NULL);
}

/* Returns false if the pager could not be started. */
static bool show_in_pager(const struct pager *pager)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	CLEANUP(error_cleanup) struct error *err = NULL;
	int status, ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	err = forked_child_start(FORKED_CHILD_LIVES_ON, be_pager, &ends[0], &pid);
	close(ends[0]);
	if (err) {
		close(ends[1]);
		return false;
	}
	/* Ctrl-C is meant for the pager. */
	sigaction(SIGINT, &ignore, &before);
	feed_pager(ends[1], pager->text, pager->len);
	status = forked_child_wait(pid).status;
	sigaction(SIGINT, &before, NULL);
	return !WIFEXITED(status) || WEXITSTATUS(status) < 126;
}

struct error *pager_show(struct pager *pager)
{
	fflush(pager->out);
	if (pager->is_used && show_in_pager(pager))
		return NULL;
	return pager_write_all(STDOUT_FILENO, pager->text, pager->len);
}

void pager_close(struct pager *pager)
{
	if (pager->out)
		fclose(pager->out);
	free(pager->text);
	*pager = (struct pager){0};
}
