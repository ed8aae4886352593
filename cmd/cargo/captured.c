#include "cmd/cargo/captured.h"

#include "base/alloc.h"
#include "base/forked_child.h"
#include "base/line_reader.h"
#include "base/read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	OUT_BYTES_MAX = 64 << 20,
	ERRORS_BYTES_MAX = 64 << 10,
	CAPTURED_LINE_BYTES_MAX = 4 << 10,
};

void captured_deinit(struct captured *captured)
{
	free(captured->out);
	free(captured->errors);
	*captured = (struct captured){0};
}

/* The stdout of a child is a memory file, so the child never waits for the
 * reader of its stderr. */
struct channels {
	int out_fd, errors[2], report[2];
};

static void channels_deinit(struct channels *channels)
{
	close_fd(&channels->out_fd);
	for (int i = 0; i < 2; i++) {
		close_fd(&channels->errors[i]);
		close_fd(&channels->report[i]);
	}
}

static bool open_channels(struct channels *channels)
{
	channels->out_fd = memfd_create("stdout", MFD_CLOEXEC);
	return channels->out_fd >= 0 && pipe2(channels->errors, O_CLOEXEC) == 0 &&
	       pipe2(channels->report, O_CLOEXEC) == 0;
}

struct captured_program {
	char *const *argv, *const *environment;
	const struct channels *channels;
};

/* Called in the child. */
static int captured_become(void *user)
{
	const struct captured_program *program = user;
	const struct channels *channels = program->channels;
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), number;

	for (char *const *variable = program->environment; *variable; variable++)
		putenv(*variable);
	dup2(nothing, STDIN_FILENO);
	dup2(channels->out_fd, STDOUT_FILENO);
	dup2(channels->errors[1], STDERR_FILENO);
	execvp(program->argv[0], program->argv);
	number = errno;
	return write(channels->report[1], &number, sizeof(number)) != sizeof(number);
}

static char *read_errors(int fd, void (*on_line)(const char *line))
{
	CLEANUP(close_file) FILE *in = fdopen(fd, "r");
	CLEANUP(line_reader_deinit) struct line_reader lines;
	char *errors = NULL;
	size_t len;
	FILE *out = open_memstream(&errors, &len);

	line_reader_init(&lines, in, CAPTURED_LINE_BYTES_MAX, UINT64_MAX);
	while (line_reader_next(&lines)) {
		if (on_line)
			on_line(lines.line);
		if (lines.offset < ERRORS_BYTES_MAX)
			fprintf(out, "%s\n", lines.line);
	}
	fclose(out);
	return errors;
}

static void read_out(int fd, struct captured *ret)
{
	CLEANUP(close_file) FILE *in = fdopen(fd, "r");

	rewind(in);
	if (read_all(in, OUT_BYTES_MAX, &ret->out, &ret->out_len) == 0) {
		ret->out = xreallocarray(ret->out, ret->out_len + 1, 1);
		ret->out[ret->out_len] = '\0';
	} else {
		ret->out = xstrdup("");
		ret->out_len = 0;
	}
}

struct error *captured_run(char *const *argv, char *const *environment,
			   void (*on_line)(const char *line), struct captured *ret)
{
	CLEANUP(channels_deinit) struct channels channels = {-1, {-1, -1}, {-1, -1}};
	struct captured_program program = {argv, environment, &channels};
	struct error *err;
	int number = 0;
	pid_t pid;

	if (!open_channels(&channels))
		return error_errno(errno, "start %s", argv[0]);
	err = forked_child_start(FORKED_CHILD_LIVES_ON, captured_become, &program, &pid);
	if (err)
		return err;
	close(steal_fd(&channels.errors[1]));
	close(steal_fd(&channels.report[1]));
	*ret = (struct captured){.errors = read_errors(steal_fd(&channels.errors[0]), on_line)};
	ret->status = forked_child_wait(pid).status;
	/* A successful exec closes the other end, and nothing arrives. */
	if (read(channels.report[0], &number, sizeof(number)) == sizeof(number)) {
		captured_deinit(ret);
		return error_errno(number, "%s", argv[0]);
	}
	read_out(steal_fd(&channels.out_fd), ret);
	return NULL;
}
