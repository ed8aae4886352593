#include "debuginfod/cache.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *variable(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

static char *in_home(const char *name)
{
	return xasprintf("%s/%s", variable("HOME", ""), name);
}

static char *cache_choose(void)
{
	const char *chosen = variable("DEBUGINFOD_CACHE_PATH", NULL);
	CLEANUP(free_ptr) char *old = in_home(".debuginfod_client_cache");
	CLEANUP(free_ptr) char *caches = NULL;

	if (chosen)
		return xstrdup(chosen);
	if (access(old, F_OK) == 0)
		return STEAL(old);
	caches = variable("XDG_CACHE_HOME", NULL) ? xstrdup(getenv("XDG_CACHE_HOME"))
						  : in_home(".cache");
	(void)mkdir(caches, 0700);
	return xasprintf("%s/debuginfod_client", caches);
}

int cache_open(void)
{
	CLEANUP(free_ptr) char *path = cache_choose();

	(void)mkdir(path, 0777);
	if (setenv("DEBUGINFOD_CACHE_PATH", path, 1) < 0)
		return -1;
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool is_miss(int directory, const char *name)
{
	struct stat st;

	return fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       st.st_size == 0;
}

void cache_forget_misses(int cache, const struct build_id *id)
{
	char hex[BUILD_ID_HEX_BYTES];
	struct dirent *entry;
	DIR *directory;
	int fd;

	build_id_hex(id, hex);
	fd = openat(cache, hex, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	directory = fd >= 0 ? fdopendir(fd) : NULL;
	if (!directory)
		return;
	while ((entry = readdir(directory)))
		if (is_miss(fd, entry->d_name))
			unlinkat(fd, entry->d_name, 0);
	closedir(directory);
}
