#include "cmd/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	DEFAULT_COLUMNS = 120, /* where there is no terminal */
	LEAST_COLUMNS = 60,
	MOST_COLUMNS = 1000,
};

struct error *screen_take_colours(void *field, const char *argument)
{
	enum screen_colours *colours = field;

	if (!strcmp(argument, "auto"))
		*colours = COLOURS_AUTO;
	else if (!strcmp(argument, "always"))
		*colours = COLOURS_ALWAYS;
	else if (!strcmp(argument, "never"))
		*colours = COLOURS_NEVER;
	else
		return error_new("\"%s\" is none of auto, always and never", argument);
	return NULL;
}

/* NULL, too, where it is empty. */
static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static bool is_dumb(void)
{
	const char *terminal = environment("TERM");

	return !terminal || !strcmp(terminal, "dumb");
}

static bool wants_colours(enum screen_colours colours)
{
	const char *force = environment("CLICOLOR_FORCE"), *wish = environment("CLICOLOR");

	if (colours != COLOURS_AUTO)
		return colours == COLOURS_ALWAYS;
	if (environment("NO_COLOR"))
		return false;
	if (force && strcmp(force, "0") != 0)
		return true;
	return isatty(STDOUT_FILENO) && !is_dumb() && !(wish && !strcmp(wish, "0"));
}

unsigned screen_columns(void)
{
	const char *wish = environment("COLUMNS");
	struct winsize size = {0};
	unsigned long columns = wish ? strtoul(wish, NULL, 10) : 0;

	if (!columns && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		columns = size.ws_col;
	if (!columns)
		return DEFAULT_COLUMNS;
	if (columns > MOST_COLUMNS)
		return MOST_COLUMNS;
	return columns > LEAST_COLUMNS ? (unsigned)columns : LEAST_COLUMNS;
}

static const char *pager_command(void)
{
	const char *pager = getenv("PAGER");

	return pager ? pager : "command -v less >/dev/null || exit 127; exec less";
}

static bool wants_pager(const struct screen_options *options)
{
	const char *pager = pager_command();

	return !options->no_pager && isatty(STDOUT_FILENO) && !is_dumb() && *pager &&
	       strcmp(pager, "cat") != 0;
}

void screen_open(struct screen *screen, const struct screen_options *options)
{
	*screen = (struct screen){
		.columns = screen_columns(),
		.has_colours = wants_colours(options->colours),
		.has_pager = wants_pager(options),
	};
	screen->out = open_memstream(&screen->text, &screen->len);
}

const char *screen_style(const struct screen *screen, enum screen_style style)
{
	static const char *const sequences[] = {
		[STYLE_PLAIN] = "\033[0m",   [STYLE_HEADING] = "\033[1m",
		[STYLE_FAINT] = "\033[2m",   [STYLE_HOT] = "\033[1;31m",
		[STYLE_WARM] = "\033[33m",   [STYLE_COLD] = "\033[1;32m",
		[STYLE_KERNEL] = "\033[35m", [STYLE_JIT] = "\033[32m",
	};

	return screen->has_colours ? sequences[style] : "";
}

static struct error *write_all(int fd, const char *text, size_t len)
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

/* As git calls it: colours pass through, what fits on one screen is just shown, and stays. */
static void be_pager(int in)
{
	dup2(in, STDIN_FILENO);
	setenv("LESS", "FRX", false);
	setenv("LESSCHARSET", "utf-8", false);
	execl("/bin/sh", "sh", "-c", pager_command(), (char *)NULL);
	_exit(127);
}

/* Whoever leaves the pager early wants no more: nothing that is left over is an error. */
static void feed_pager(int fd, const char *text, size_t len)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;

	sigaction(SIGPIPE, &ignore, &before);
	error_free(write_all(fd, text, len));
	close(fd);
	sigaction(SIGPIPE, &before, NULL);
}

/* False: there is no such pager. */
static bool show_in_pager(const struct screen *screen)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	int status = 0, ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		be_pager(ends[0]);
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return false;
	}
	/* Ctrl-C is the pager's. */
	sigaction(SIGINT, &ignore, &before);
	feed_pager(ends[1], screen->text, screen->len);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	sigaction(SIGINT, &before, NULL);
	return !WIFEXITED(status) || WEXITSTATUS(status) < 126;
}

struct error *screen_show(struct screen *screen)
{
	fflush(screen->out);
	if (screen->has_pager && show_in_pager(screen))
		return NULL;
	return write_all(STDOUT_FILENO, screen->text, screen->len);
}

void screen_close(struct screen *screen)
{
	if (screen->out)
		fclose(screen->out);
	free(screen->text);
	*screen = (struct screen){0};
}
