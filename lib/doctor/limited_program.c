#include "doctor/limited_program.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/forked_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

enum { OUT_BYTES_MAX = 1 << 20 };

struct limited_program {
	char *const *argv;
	int out;
};

/* Runs in the child. */
static int limited_program_become(void *user)
{
	const struct limited_program *program = user;
	static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", locale[] = "LC_ALL=C";
	char *const environment[] = {path, locale, NULL};
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(nothing, STDIN_FILENO);
	dup2(program->out, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
	execve(program->argv[0], program->argv, environment);
	return 127;
}

/*
 * Returns false if the time is over before the end of the stream, or if there
 * is too much text.
 */
static bool read_until(int fd, uint64_t until_ns, char *text, size_t *len)
{
	for (;;) {
		uint64_t now_ns = clock_now_ns();
		struct pollfd readable = {.fd = fd, .events = POLLIN};
		ssize_t got;

		if (now_ns >= until_ns || *len == OUT_BYTES_MAX ||
		    (poll(&readable, 1, (int)((until_ns - now_ns) / NS_PER_MS) + 1) < 0 &&
		     errno != EINTR))
			return false;
		if (!readable.revents)
			continue;
		got = read(fd, text + *len, OUT_BYTES_MAX - *len);
		if (got == 0)
			return true;
		if (got < 0 && errno != EINTR)
			return false;
		*len += got > 0 ? (size_t)got : 0;
	}
}

char *limited_program_run(char *const *argv, unsigned seconds)
{
	CLEANUP(free_ptr) char *text = xmalloc(OUT_BYTES_MAX + 1);
	uint64_t until_ns = clock_now_ns() + seconds * NS_PER_SECOND;
	CLEANUP(error_cleanup) struct error *err = NULL;
	size_t len = 0;
	bool is_whole;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	err = forked_child_start(FORKED_CHILD_LIVES_ON, limited_program_become,
				 &(struct limited_program){argv, ends[1]}, &pid);
	close(ends[1]);
	is_whole = !err && read_until(ends[0], until_ns, text, &len);
	close(ends[0]);
	if (!err)
		forked_child_kill(pid);
	text[len] = '\0';
	return is_whole ? STEAL(text) : NULL;
}
