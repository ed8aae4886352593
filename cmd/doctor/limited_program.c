#include "cmd/doctor/limited_program.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

enum { OUT_BYTES_MAX = 1 << 20 };

/* In the child. */
__attribute__((noreturn)) static void become(char *const *argv, int out)
{
	static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", locale[] = "LC_ALL=C";
	char *const environment[] = {path, locale, NULL};
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(nothing, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
	execve(argv[0], argv, environment);
	_exit(127);
}

/* False: the time was over before the end of the stream, or there was too much. */
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
	size_t len = 0;
	bool is_whole;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	pid = fork();
	if (pid == 0)
		become(argv, ends[1]);
	close(ends[1]);
	is_whole = pid > 0 && read_until(ends[0], until_ns, text, &len);
	close(ends[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	text[len] = '\0';
	return is_whole ? STEAL(text) : NULL;
}
