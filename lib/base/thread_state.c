#include "base/thread_state.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

char thread_state(const char *path)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[256];
	ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	const char *name_end;

	text[len > 0 ? len : 0] = '\0';
	/* The name in parentheses may contain any character. */
	name_end = strrchr(text, ')');
	if (!name_end || !text_begins(name_end, ") ") || !name_end[2])
		return 'X';
	return name_end[2];
}

bool thread_is_asleep(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	return tid && thread_state(path) != 'R';
}
