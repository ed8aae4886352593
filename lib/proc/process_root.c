#include "proc/process_root.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "proc/process_links.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

char *process_root_name(const char *proc, pid_t pid, const char *path)
{
	CLEANUP(free_ptr) char *links = process_links(proc, pid);
	CLEANUP(free_ptr) char *link = xasprintf("%s/root", links);
	char root[PATH_MAX];
	ssize_t len = readlink(link, root, sizeof(root));

	/* "/" and a possibly truncated name are not prefixes. */
	if (len <= 1 || len == (ssize_t)sizeof(root))
		return xstrdup(path);
	if (strncmp(path, root, (size_t)len) != 0 || path[len] != '/')
		return xstrdup(path);
	return xstrdup(path + len);
}
