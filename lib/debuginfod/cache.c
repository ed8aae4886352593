#include "debuginfod/cache.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

static char *choose(void)
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
	CLEANUP(free_ptr) char *path = choose();

	(void)mkdir(path, 0777);
	if (setenv("DEBUGINFOD_CACHE_PATH", path, 1) < 0)
		return -1;
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void cache_forget_miss(int cache, const struct build_id *id)
{
	char hex[BUILD_ID_HEX_BYTES];
	CLEANUP(free_ptr) char *path = NULL;
	struct stat st;

	build_id_hex(id, hex);
	path = xasprintf("%s/debuginfo", hex);
	if (fstatat(cache, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size == 0)
		unlinkat(cache, path, 0);
}
