#include "proc/names.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "base/strtab.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>

/* In the table of tids, beside the string id: the thread has ended. */
#define ENDED (UINT32_C(1) << 31)

struct ended_thread {
	uint64_t time_ns;
	pid_t tid;
};

struct names {
	char *proc;	     /* NULL: of a recording */
	struct idmap by_tid; /* string ids */
	struct strtab *strings;
	struct ended_thread *ended; /* whose tids were not used again, as far as by_tid says so */
	size_t ended_count, ended_room;
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
	free(names->ended);
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
	if (name == IDMAP_NONE)
		idmap_remove(&names->by_tid, (uint64_t)tid, 0);
	else
		*idmap_put(&names->by_tid, (uint64_t)tid, 0) = name & ~ENDED;
}

void names_exit(struct names *names, pid_t tid, uint64_t time_ns)
{
	uint32_t name = idmap_get(&names->by_tid, (uint64_t)tid, 0);

	if (name == IDMAP_NONE)
		return;
	*idmap_put(&names->by_tid, (uint64_t)tid, 0) = name | ENDED;
	GROW(names->ended, names->ended_count, names->ended_room);
	names->ended[names->ended_count++] = (struct ended_thread){.time_ns = time_ns, .tid = tid};
}

void names_forget(struct names *names, uint64_t before_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < names->ended_count; i++) {
		struct ended_thread thread = names->ended[i];
		uint32_t name = idmap_get(&names->by_tid, (uint64_t)thread.tid, 0);

		if (thread.time_ns >= before_ns)
			names->ended[kept++] = thread;
		else if (name != IDMAP_NONE && name & ENDED)
			idmap_remove(&names->by_tid, (uint64_t)thread.tid, 0);
	}
	names->ended_count = kept;
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

	if (*name == IDMAP_NONE) {
		if (tid == 0)
			strcpy(comm, "swapper"); /* the idle threads, all of them */
		else if (!names->proc || !read_comm(names->proc, pid, tid, comm))
			snprintf(comm, sizeof(comm), ":%d", (int)tid);
		*name = strtab_add(names->strings, comm);
	}
	return strtab_get(names->strings, *name & ~ENDED);
}
