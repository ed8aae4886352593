#include "symbol/perfmap.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "base/text.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* The pid by which the process knows itself; 0 when it is gone. */
static pid_t own_pid(const char *proc, pid_t pid)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%d/status", proc, pid);
	CLEANUP(close_file) FILE *status = fopen(path, "re");
	CLEANUP(free_ptr) char *line = NULL;
	size_t room = 0;

	while (status && getline(&line, &room, status) > 0) {
		const char *last = strrchr(line, '\t');

		if (!strncmp(line, "NSpid:", 6) && last)
			return (pid_t)strtol(last, NULL, 10);
	}
	return 0;
}

/* Anybody may put a pipe there, which must not hold us up. */
static FILE *open_regular(const char *path)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	return fdopen(steal_fd(&fd), "r");
}

FILE *perfmap_open(const char *proc, pid_t pid)
{
	pid_t inside = own_pid(proc, pid);
	CLEANUP(free_ptr)
	char *theirs = xasprintf("%s/%d/root/tmp/perf-%d.map", proc, pid, inside ? inside : pid);
	CLEANUP(free_ptr) char *ours = xasprintf("/tmp/perf-%d.map", pid);
	FILE *map = open_regular(theirs);

	return map ? map : open_regular(ours);
}

struct line {
	uint64_t start, size_bytes;
	const char *name;
	size_t name_len;
};

static bool parse_line(const char *at, struct line *ret)
{
	if (!text_hex(&at, &ret->start) || *at++ != ' ')
		return false;
	if (!text_hex(&at, &ret->size_bytes) || *at++ != ' ')
		return false;
	ret->name = at;
	ret->name_len = strcspn(at, "\n");
	return ret->name_len > 0;
}

void perfmap_find(FILE *map, const uint64_t *addresses, size_t count, struct arena *arena,
		  const char **names)
{
	CLEANUP(free_ptr) char *text = NULL;
	struct line line;
	size_t room = 0;

	memset(names, 0, count * sizeof(*names));
	while (getline(&text, &room, map) > 0) {
		const char *name = NULL;

		if (!parse_line(text, &line))
			continue;
		for (size_t i = search_first(addresses, count, line.start);
		     i < count && addresses[i] - line.start < line.size_bytes; i++) {
			if (!name)
				name = arena_strndup(arena, line.name, line.name_len);
			names[i] = name;
		}
	}
}
