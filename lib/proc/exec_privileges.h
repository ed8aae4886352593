/*
 * Determines how the privileges of a process change when it executes a file.
 *
 * If they change, or if the user may not read the file, the process becomes
 * non-dumpable: other processes of the user may not inspect it, and the kernel
 * removes the perf events of its threads. Sources: execve(2), capabilities(7),
 * "Dumpable" in proc(5); begin_new_exec() in fs/exec.c.
 */
#ifndef PROF_PROC_EXEC_PRIVILEGES_H
#define PROF_PROC_EXEC_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum exec_privileges {
	EXEC_KEEPS_PRIVILEGES,
	EXEC_SETS_USER,		/* set-user-ID to another user */
	EXEC_SETS_GROUP,	/* set-group-ID to another group */
	EXEC_ADDS_CAPABILITIES, /* file capabilities */
	EXEC_FORBIDS_READING,
};

/* The facts on which it depends. */
struct exec_facts {
	struct stat file;
	uid_t user; /* the user who executes the file */
	gid_t group;
	bool may_gain; /* no nosuid mount or PR_SET_NO_NEW_PRIVS prevents it */
	bool has_capabilities;
	bool may_read;
};

/* `file` is the stat(2) of the path. */
enum exec_privileges exec_privileges_of(const char *path, const struct stat *file);

/* Like exec_privileges_of(), with given facts. Pure. */
enum exec_privileges exec_privileges_judge(const struct exec_facts *facts);

/*
 * Returns whether the value of the attribute "security.capability" permits any
 * capability.
 */
bool exec_privileges_permits_any(const void *attribute, size_t len);

#endif
