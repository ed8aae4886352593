#include "inside/file.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Returns NULL if there is no such file. */
static char *library_path_find_beside(const char *directory, const char *from_there)
{
	CLEANUP(free_ptr)
	char *path = xasprintf("%s/%s/" INSIDE_LIBRARY_NAME, directory, from_there);

	return realpath(path, NULL);
}

/* Takes ownership of the path. */
static struct error *library_path_check(char *path, char **ret)
{
	CLEANUP(free_ptr) char *own = path;

	if (strpbrk(own, " :"))
		return error_hint(error_new("LD_PRELOAD cannot name %s: there is a space or a "
					    "colon in it",
					    own),
				  "install prof elsewhere");
	*ret = STEAL(own);
	return NULL;
}

struct error *inside_library_path(char **ret)
{
	char program[4096], *slash, *path = NULL;
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
	int number = errno;

	if (len > 0) {
		program[len] = '\0';
		slash = strrchr(program, '/');
		if (slash)
			*slash = '\0';
		path = library_path_find_beside(program, "../lib/inside/library");
		if (!path)
			path = library_path_find_beside(program, INSIDE_LIBRARY_FROM_BIN);
	}
	if (!path)
		path = realpath(INSIDE_LIBRARY_DIRECTORY "/" INSIDE_LIBRARY_NAME, NULL);
	if (!path && len < 0)
		return error_hint(
			error_errno(number, "find " INSIDE_LIBRARY_NAME ": read /proc/self/exe"),
			"mount /proc: mount -t proc proc /proc");
	if (!path)
		return error_hint(error_errno(errno, "find " INSIDE_LIBRARY_NAME
						     " in " INSIDE_LIBRARY_DIRECTORY),
				  "install prof with its library (meson install)");
	return library_path_check(path, ret);
}
