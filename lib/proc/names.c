#include "proc/names.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "base/strtab.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>

/* In the table of tids, which forgets none: still to be found out. */
#define NO_NAME (IDMAP_NONE - 1)

struct names {
	char *proc;	     /* NULL: of a recording */
	struct idmap by_tid; /* string ids */
	struct strtab *strings;
};

struct names *names_new(const char *proc)
{
	struct names *names = xcalloc(1, sizeof(*names));

	names->proc = proc ? xstrdup(proc) : NULL;
	names->strings = strtab_new();
	return names;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	free(names->proc);
	idmap_deinit(&names->by_tid);
	strtab_free(names->strings);
	free(names);
}

void names_set(struct names *names, pid_t tid, const char *comm)
{
	*idmap_put(&names->by_tid, (uint64_t)tid, 0) = strtab_add(names->strings, comm);
}

void names_fork(struct names *names, pid_t parent_tid, pid_t tid)
{
	uint32_t name = idmap_get(&names->by_tid, (uint64_t)parent_tid, 0);

	/* Of an unknown parent the child inherits nothing; least of all a former tid's name. */
	*idmap_put(&names->by_tid, (uint64_t)tid, 0) = name == IDMAP_NONE ? NO_NAME : name;
}

/* The kernel puts a newline behind the name; any other is part of it. */
static bool read_comm(const char *proc, pid_t pid, pid_t tid, char comm[64])
{
	CLEANUP(free_ptr)
	char *path = xasprintf("%s/%d/task/%d/comm", proc, (int)pid, (int)tid);
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, comm, 63);

	if (len <= 0)
		return false;
	if (comm[len - 1] == '\n')
		len--;
	comm[len] = '\0';
	return true;
}

const char *names_get(struct names *names, pid_t pid, pid_t tid)
{
	uint32_t *name = idmap_put(&names->by_tid, (uint64_t)tid, 0);
	char comm[64];

	if (*name == IDMAP_NONE || *name == NO_NAME) {
		if (tid == 0)
			strcpy(comm, "swapper"); /* the idle threads, all of them */
		else if (!names->proc || !read_comm(names->proc, pid, tid, comm))
			snprintf(comm, sizeof(comm), ":%d", (int)tid);
		*name = strtab_add(names->strings, comm);
	}
	return strtab_get(names->strings, *name);
}
