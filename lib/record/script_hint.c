#include "record/script_hint.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char interpreter[] = "python";

/* Whether the file starts with "#!" and the name of an interpreter. */
static bool is_script(const char *path)
{
	char line[256];
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t len = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);
	char *end;

	if (len <= 0)
		return false;
	line[len] = '\0';
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	return line[0] == '#' && line[1] == '!' && strstr(line, interpreter);
}

/* Looks the name up like a shell. */
static bool is_script_in_path(const char *name)
{
	const char *dirs = getenv("PATH");

	if (strchr(name, '/'))
		return is_script(name);
	for (size_t len; dirs && *dirs; dirs += len + (dirs[len] == ':')) {
		CLEANUP(free_ptr) char *path = NULL;

		len = strcspn(dirs, ":");
		path = xasprintf("%.*s/%s", (int)len, dirs, name);
		if (!access(path, X_OK))
			return is_script(path);
	}
	return false;
}

/* A command can be preceded by others: env, nice. */
static bool is_interpreter(char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		if (text_begins(basename(words[i]), interpreter))
			return true;
	return words[0] && is_script_in_path(words[0]);
}

static bool maps_interpreter(pid_t pid)
{
	char path[64], line[4096];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	while (!found && maps && fgets(line, sizeof(line), maps))
		found = strstr(line, interpreter);
	if (maps)
		fclose(maps);
	return found;
}

bool script_is_expected(const struct record_config *config)
{
	if (config->target.command_words && is_interpreter(config->target.command_words))
		return true;
	for (size_t i = 0; i < config->target.pid_count; i++)
		if (maps_interpreter(config->target.pids[i]))
			return true;
	for (size_t i = 0; i < config->target.tid_count; i++)
		if (maps_interpreter(config->target.tids[i]))
			return true;
	return false;
}
