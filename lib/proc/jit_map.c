#include "proc/jit_map.h"

#include "base/alloc.h"
#include "base/text.h"
#include "proc/process_links.h"

#include <string.h>
#include <sys/stat.h>

/* 32 levels of nested namespaces, the kernel's maximum, need 360 bytes. */
enum { STATUS_LINE_BYTES = 512 };

struct process {
	uid_t user; /* effective user */
	pid_t pid;  /* in its own namespace */
};

static bool jit_map_read_process(const char *proc, pid_t pid, struct process *ret)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%d/status", proc, pid);
	CLEANUP(close_file) FILE *status = fopen(path, "re");
	char line[STATUS_LINE_BYTES];
	unsigned user;

	*ret = (struct process){.user = UNTRUSTED_USER_UNKNOWN, .pid = pid};
	while (status && fgets(line, sizeof(line), status)) {
		const char *last = strrchr(line, '\t');

		if (sscanf(line, "Uid:\t%*u\t%u", &user) == 1)
			ret->user = user;
		if (text_begins(line, "NSpid:") && last)
			ret->pid = (pid_t)strtol(last, NULL, 10);
	}
	return status;
}

/*
 * The kernel keeps the owner of /proc/PID equal to the effective user even of
 * undumpable processes, because reading the status takes several times as long.
 */
uid_t process_user(const char *proc, pid_t pid)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%d", proc, pid);
	struct stat st;

	return stat(path, &st) == 0 ? st.st_uid : UNTRUSTED_USER_UNKNOWN;
}

pid_t process_own_pid(const char *proc, pid_t pid)
{
	struct process process;

	jit_map_read_process(proc, pid, &process);
	return process.pid;
}

int jit_map_open(struct timed_caller *caller, const char *proc, pid_t pid, uid_t last_user)
{
	struct process process;
	bool exists = jit_map_read_process(proc, pid, &process);
	uid_t user = exists ? process.user : last_user;
	CLEANUP(free_ptr) char *links = process_links(proc, pid);
	CLEANUP(free_ptr) char *root = xasprintf("%s/root", links);
	CLEANUP(free_ptr) char *theirs = xasprintf("/tmp/perf-%d.map", process.pid);
	CLEANUP(free_ptr) char *ours = xasprintf("/tmp/perf-%d.map", pid);
	const struct untrusted_name names[] = {
		{.root = root,
		 .path = theirs,
		 .user = user,
		 .must_be_owned = true,
		 .must_not_be_link = true},
		{.path = ours, .user = user, .must_be_owned = true, .must_not_be_link = true},
	};

	return timed_open(caller, names, ARRAY_SIZE(names), 0, NULL);
}

int jit_map_open_below(struct timed_caller *caller, int root, pid_t own_pid, uid_t user)
{
	CLEANUP(free_ptr) char *base = xasprintf("/proc/self/fd/%d", root);
	CLEANUP(free_ptr) char *path = xasprintf("/tmp/perf-%d.map", own_pid);
	const struct untrusted_name name = {.root = base,
					    .path = path,
					    .user = user,
					    .must_be_owned = true,
					    .must_not_be_link = true};

	return timed_open(caller, &name, 1, 0, NULL);
}

int jit_dump_open(struct timed_caller *caller, const char *proc, pid_t pid, const char *path)
{
	uid_t user = process_user(proc, pid);
	CLEANUP(free_ptr) char *links = process_links(proc, pid);
	CLEANUP(free_ptr) char *root = xasprintf("%s/root", links);
	const struct untrusted_name names[] = {
		{.root = root,
		 .path = path,
		 .user = user,
		 .must_be_owned = true,
		 .must_not_be_link = true},
		{.path = path, .user = user, .must_be_owned = true, .must_not_be_link = true},
	};

	return timed_open(caller, names, ARRAY_SIZE(names), 0, NULL);
}
